"""Why the numbers are what they are: eigenvalues, Krylov squeezing, and rounding of the weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.curve import MemoryCurve
from memcurve.errors import RankWarning, UncertainResultError, UnstableNetworkError
from memcurve.graph import eigenvalues
from memcurve.krylov import arnoldi_basis, krylov_matrix
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.spectrum import controllable_spectrum

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: States up to which squeezing is measured, and the weights are rounded.
MOST_STATES = 1000


@dataclass(frozen=True, eq=False)
class Eigenvalues:
    """All eigenvalues of A, and those that count; None where they cannot be told apart."""

    all: Complexes
    counting: Complexes | None

    @property
    def radius(self) -> float:
        """Largest modulus."""
        return float(np.abs(self.all).max(initial=0.0))


def eigenvalues_of(network: LinearNetwork) -> Eigenvalues:
    """The spectrum as a picture shows it."""
    A, C = network.real_pair()
    if C.shape[1] > 1 or network.readout is not None:
        return Eigenvalues(eigenvalues(A), None)
    return Eigenvalues(eigenvalues(A), controllable_spectrum(network).poles)


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
        Lower bound on the condition number of the states' covariance: the Krylov matrix has a
        column of length ‖C‖ and one at a distance of only ‖θ_n‖ from the others, n its rank, so
        that it is at least (‖C‖/‖θ_n‖)².
    """

    components: Floats
    below_rounding: int | None
    numerical_rank: int
    condition: float


def squeezing_of(network: LinearNetwork, rank: int) -> Squeezing | None:
    """Measure the squeezing of a network with one input; None where there is nothing to see.

    ``rank`` is the exact rank of its Krylov matrix: beyond it Arnoldi's steps are rounding noise.
    """
    A, C = network.real_pair()
    if C.shape[1] != 1 or rank == 0 or len(C) > MOST_STATES:
        return None
    mask = C[:, 0] / np.abs(C).max()
    with np.errstate(under="ignore"):
        _, lengths = arnoldi_basis(A, mask, rank)
        components = np.cumprod(lengths) / np.linalg.norm(mask)
        singular = np.linalg.svd(krylov_matrix(A, mask, 5 * len(mask)), compute_uv=False)
    below = np.flatnonzero(components < np.finfo(float).eps)
    smallest, cut = float(components[-1]), singular[0] * 5 * len(mask) * np.finfo(float).eps
    return Squeezing(
        components=components,
        below_rounding=int(below[0]) + 1 if len(below) else None,
        numerical_rank=int((singular > cut).sum()),
        condition=1 / smallest**2 if smallest > 1e-150 else float("inf"),
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            other = memory_curve(network.replace(A=A, C=C), len(curve), input=input)
    except (UnstableNetworkError, UncertainResultError, ValueError) as error:
        return RoundedWeights(reason=str(error))
    return RoundedWeights(float(np.abs(other.values - curve.values).max()), other.rank)
