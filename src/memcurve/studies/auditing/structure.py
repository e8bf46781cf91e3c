"""Structure behind the numbers: eigenvalues and the condition of the states."""

from dataclasses import dataclass

import numpy as np

from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.types import Complexes
from memcurve.memory import cached_gramian
from memcurve.network import LinearNetwork
from memcurve.solve import Analysis, Problem

#: Beyond this condition number floating point sees noise.
WORST_CONDITION = 1e15
#: Correlations of states with a larger condition number cannot be inverted to any purpose.
HOPELESS = 1e12


@dataclass(frozen=True, eq=False)
class Eigenvalues:
    """All eigenvalues of A, and the controllable ones; None where that cannot be decided."""

    all: Complexes
    counting: Complexes | None

    @property
    def all_count(self) -> bool:
        """Whether every eigenvalue is known to be controllable."""
        return self.counting is None or len(self.counting) == len(self.all)

    @property
    def radius(self) -> float:
        """Largest modulus among the controllable ones, or of all where these are not known."""
        values = self.all if self.counting is None else self.counting
        return float(np.abs(values).max(initial=0.0))


def eigenvalues_of(network: LinearNetwork) -> Eigenvalues:
    """The spectrum as a picture shows it."""
    analysis = Analysis.of(network)
    if network.inputs > 1 or network.readout is not None:
        return Eigenvalues(analysis.all_eigenvalues, None)
    return Eigenvalues(analysis.all_eigenvalues, analysis.spectrum.poles)


def condition_of(problem: Problem, rank: int) -> float:
    """Condition number of the correlations of the states, in the directions they vary in."""
    network, analysis = problem.network, problem.analysis
    if network.inputs != 1 or not rank:
        return float("nan")
    if network.readout is not None:
        # what is read of the states does not change how they move
        problem, rank = Problem.of(network.replace(readout=None), problem.lags), analysis.rank
    try:  # the one that standard methods invert
        G = cached_gramian(problem)[1]
    except (UnstableNetworkError, UncertainResultError, np.linalg.LinAlgError):
        return WORST_CONDITION
    G = G[np.ix_(analysis.nodes, analysis.nodes)]
    size = np.sqrt(np.maximum(np.diag(G), 0.0))
    if not np.all(size > 0):
        return WORST_CONDITION
    values = np.linalg.eigvalsh(G / np.outer(size, size))[::-1]
    least = max(values[rank - 1], values[0] / WORST_CONDITION)
    return float(min(values[0] / least, WORST_CONDITION))
