"""Why the numbers are what they are: eigenvalues, Krylov squeezing, and rounding of the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.inputs import processes_for
from memcurve.krylov import arnoldi_basis, krylov_matrix
from memcurve.memory import ask
from memcurve.network import LinearNetwork
from memcurve.result import Complexes, Floats
from memcurve.solve.analysis import Analysis
from memcurve.solve.question import Question

#: Beyond this condition number floating point sees noise.
WORST_CONDITION = 1e15
#: Correlations of states with a larger condition number cannot be inverted to any purpose.
HOPELESS = 1e12
#: States up to which squeezing is measured, and the weights are rounded.
MOST_STATES = 1000


@dataclass(frozen=True, eq=False)
class Eigenvalues:
    """All eigenvalues of A, and those that count; None where they cannot be told apart."""

    all: Complexes
    counting: Complexes | None

    @property
    def all_count(self) -> bool:
        """Whether every eigenvalue counts, as far as it is known."""
        return self.counting is None or len(self.counting) == len(self.all)

    @property
    def radius(self) -> float:
        """Largest modulus among those that count, or of all where these are not known."""
        counted = self.all if self.counting is None else self.counting
        return float(np.abs(counted).max(initial=0.0))


def eigenvalues_of(network: LinearNetwork) -> Eigenvalues:
    """The spectrum as a picture shows it."""
    analysis = Analysis.of(network)
    if network.inputs > 1 or network.readout is not None:
        return Eigenvalues(analysis.eigenvalues, None)
    poles = analysis.spectrum().poles
    return Eigenvalues(analysis.eigenvalues, poles)


@dataclass(frozen=True, eq=False)
class Squeezing:
    """How fast A^jC runs out of new directions.

    Attributes
    ----------
    components : (n,) array
        ‖θ_j‖/‖C‖: the part of A^{j−1}C orthogonal to the columns before it.
    below_rounding : int or None
        The first j from which it is below eps: what comes later is invisible to formulas that
        form the Gramian of the states or the Krylov matrix.
    numerical_rank : int
        Rank of the Krylov matrix of 5N columns as ``numpy.linalg.matrix_rank`` sees it.
    condition : float
        Condition number of the correlation matrix of the states, among the directions they vary
        in; at most ``WORST_CONDITION``, beyond which floating point cannot tell.
    """

    components: Floats
    below_rounding: int | None
    numerical_rank: int
    condition: float


def squeezing_of(network: LinearNetwork, rank: int) -> Squeezing | None:
    """Measure the squeezing of a network with one input; None where there is nothing to see.

    ``rank`` is the exact rank of its Krylov matrix: beyond it Arnoldi's steps are rounding noise.
    It is the rank of a network that is read everywhere; of another one it is found here.
    """
    A, C = network.real_pair()
    if C.shape[1] != 1 or len(C) > MOST_STATES:
        return None
    if network.readout is not None:  # what is read of the states does not change how they move
        rank = Analysis.of(network).rank
    if rank == 0:
        return None
    mask = C[:, 0] / np.abs(C).max()
    with np.errstate(under="ignore"):
        _, lengths = arnoldi_basis(A, mask, rank)
        components = np.cumprod(lengths) / np.linalg.norm(mask)
        singular = np.linalg.svd(krylov_matrix(A, mask, 5 * len(mask)), compute_uv=False)
    # where Arnoldi's steps end before the rank, the rest of them underflowed
    components = np.pad(components, (0, rank - len(components)))
    below = np.flatnonzero(components < np.finfo(float).eps)
    cut = singular[0] * 5 * len(mask) * np.finfo(float).eps
    return Squeezing(
        components=components,
        below_rounding=int(below[0]) + 1 if len(below) else None,
        numerical_rank=int((singular > cut).sum()),
        condition=_condition(network, rank),
    )


def _condition(network: LinearNetwork, rank: int) -> float:
    """Condition number of the states' correlations; scales of states are no one's difficulty."""
    analysis = Analysis.of(network)
    white = processes_for(None, network.inputs)
    G = analysis.direct_covariance(analysis.reached, white)[1]
    size = np.sqrt(np.diag(G))
    if not np.all(size > 0):
        return WORST_CONDITION
    values = np.linalg.eigvalsh(G / np.outer(size, size))[::-1]
    return float(
        min(values[0] / max(values[rank - 1], values[0] / WORST_CONDITION), WORST_CONDITION)
    )


@dataclass(frozen=True)
class RoundedWeights:
    """What the curve does when A and C are rounded to single precision.

    ``moved`` is the largest change of a value; ``rank`` that of the rounded network; ``reason``
    says why they are not known, where they are not.
    """

    moved: float = float("nan")
    rank: int | None = None
    reason: str = ""


def rounded_weights(network: LinearNetwork, curve: MemoryCurve, input: Any) -> RoundedWeights:
    """Round the weights to single precision and look again: how sensitive is the curve to them?"""
    if network.states > MOST_STATES:
        return RoundedWeights(reason=f"not computed for more than {MOST_STATES} states")
    single = np.complex64 if network.is_complex else np.float32
    with np.errstate(over="ignore"):
        A, C = network.A.astype(single), network.C.astype(single)
    try:
        other = ask(Question.of(network.replace(A=A, C=C), len(curve), input=input), warn=False)
    except (UnstableNetworkError, UncertainResultError, ValueError) as error:
        return RoundedWeights(reason=str(error))
    return RoundedWeights(float(np.abs(other.values - curve.values).max()), other.rank)
