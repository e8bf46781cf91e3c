"""Memory and forecasting of the general problem: any input, noise, several inputs, readouts."""

from memcurve.general.problem import Outcome, Problem
from memcurve.general.solution import Modes, realization_of, solve

__all__ = ["Modes", "Outcome", "Problem", "realization_of", "solve"]
