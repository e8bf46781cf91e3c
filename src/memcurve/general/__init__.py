"""Memory and forecasting of the general problem: any input, noise, several inputs, readouts."""

from memcurve.general.modes import Modes, modes_of
from memcurve.general.problem import Outcome, Problem
from memcurve.general.solution import realization_of, solve

__all__ = ["Modes", "Outcome", "Problem", "modes_of", "realization_of", "solve"]
