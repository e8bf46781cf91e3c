"""Why the numbers are what they are: eigenvalues and Krylov squeezing."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np

from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.types import EPS, Complexes, Floats
from memcurve.memory import kept_gramian
from memcurve.network import LinearNetwork
from memcurve.network.krylov import arnoldi_basis, krylov_matrix
from memcurve.solve import Analysis, Problem, krylov_model, responses_to

#: Beyond this condition number floating point sees noise.
WORST_CONDITION = 1e15
#: Correlations of states with a larger condition number cannot be inverted to any purpose.
HOPELESS = 1e12
#: Directions are looked at down to this share of the mask, far below rounding.
INVISIBLE = 1e-17
#: States up to which squeezing is measured. Doubled: half a minute for 2,000.
MOST_STATES = 1000


@dataclass(frozen=True, eq=False)
class Eigenvalues:
    """All eigenvalues of A, and the controllable ones; None where that cannot be decided."""

    all: Complexes
    counting: Complexes | None

    @property
    def all_count(self) -> bool:
        """Whether every eigenvalue is controllable, as far as it is known."""
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


@dataclass(frozen=True, eq=False)
class Squeezing:
    """How fast A^jC runs out of new directions.

    ``components`` are ‖θ_j‖/‖C‖: the norm of the component of A^{j−1}C orthogonal to the preceding
    Krylov vectors. From j = ``below_rounding`` on it is below eps, invisible to methods that form
    the Gramian of the states or the Krylov matrix.
    ``numerical_rank`` is the rank of the Krylov matrix of 5N columns as
    ``numpy.linalg.matrix_rank`` sees it, ``condition`` the condition number of the correlation
    matrix of the states, among the directions they vary in; at most ``WORST_CONDITION``, beyond
    which floating point cannot tell.
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
    analysis = Analysis.of(network)
    if network.inputs != 1 or network.states > MOST_STATES:
        return None
    if network.readout is not None:  # what is read of the states does not change how they move
        rank = analysis.rank
    if rank == 0:
        return None
    columns = 5 * network.states
    values = _krylov(analysis, rank, columns)
    if values is None:
        return None
    steps, singular = values
    with np.errstate(over="ignore", under="ignore"):
        components = np.asarray(np.cumprod(steps[:rank]), dtype=float)
    below = np.flatnonzero(components < EPS)
    cut = singular[0] * columns * EPS
    return Squeezing(
        components=components,
        below_rounding=int(below[0]) + 1 if len(below) else None,
        numerical_rank=int((singular > cut).sum()),
        condition=_condition(network, rank),
    )


def _krylov(analysis: Analysis, rank: int, columns: int) -> tuple[Floats, Floats] | None:
    """Lengths of Arnoldi's steps and singular values of K, from the directions that are seen."""
    with contextlib.suppress(UncertainResultError), np.errstate(over="ignore", invalid="ignore"):
        model = krylov_model(analysis, INVISIBLE)
        R = responses_to(model.H, model.c / np.sqrt((model.c**2).sum()), columns)
        if np.isfinite(R).all():
            singular = np.linalg.svd(R, compute_uv=False)
            steps = np.concatenate([[1.0], np.abs(np.diag(model.H, -1))])
            return steps, np.asarray(singular, dtype=float)
    # no decay to speak of: all directions are needed
    A, mask = analysis.stored, analysis.mask[:, 0]
    mask = mask / np.linalg.norm(mask / np.abs(mask).max()) / np.abs(mask).max()
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        _, steps = arnoldi_basis(A, mask, rank)
        K = krylov_matrix(A, mask, columns)
    if not np.isfinite(K).all():  # powers of A beyond all numbers
        return None
    return steps, np.asarray(np.linalg.svd(K, compute_uv=False), dtype=float)


def _condition(network: LinearNetwork, rank: int) -> float:
    """Condition number of the states' correlations; scales of states are no one's difficulty."""
    analysis = Analysis.of(network)
    try:  # the one that standard methods invert
        plain = network.replace(readout=None) if network.readout is not None else network
        G = kept_gramian(Problem.of(plain, 2 * network.states + 1))[1]
    except (UnstableNetworkError, UncertainResultError, np.linalg.LinAlgError):
        return WORST_CONDITION
    G = G[np.ix_(analysis.nodes, analysis.nodes)]
    size = np.sqrt(np.maximum(np.diag(G), 0.0))
    if not np.all(size > 0):
        return WORST_CONDITION
    values = np.linalg.eigvalsh(G / np.outer(size, size))[::-1]
    least = max(values[rank - 1], values[0] / WORST_CONDITION)
    return float(min(values[0] / least, WORST_CONDITION))
