"""The modes that count up to rounding: a closer look, cluster by cluster.

Modes that rounding cannot tell apart form a cluster, which is judged as a whole by a small
staircase on its invariant subspace; see :mod:`memcurve.solve.modes` for single modes. States are
scaled to unit size first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.network.graph import in_units, separate_parts
from memcurve.solve.modes import CLEAR, DISC, blur_of, unit_norm
from memcurve.solve.sensitivity import EPS

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: No quantity above this, relative to its scale, is taken for rounding.
LARGEST_ROUNDING = 1e-8
#: A step of a staircase this much shorter than the one before is a drop, not gradual decay.
SUDDEN_DROP = 1e-4


class RobustModes(NamedTuple):
    """The modes that count up to rounding, from the closer look, and how well each is known."""

    values: Complexes
    uncertainty: Floats
    margin: float


class Cluster(NamedTuple):
    """Eigenvalues that rounding cannot tell apart, and how many of them the mask excites.

    ``clear``: none is excited, as far as rounding allows to tell, or those that are said to be are
    so far beyond rounding, which may be larger than what is taken for it
    (:data:`LARGEST_ROUNDING`): where a silent mode lies next to an excited one, it picks up much
    of that one. The exact number of modes that count then tells that no other does.
    """

    values: Complexes
    rank: int
    excitation: float
    uncertainty: float
    clear: bool = True

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.values)

    @property
    def centre(self) -> complex:
        """Their mean."""
        return complex(self.values.mean())


def robust_modes(clusters: list[Cluster]) -> RobustModes:
    """The modes that count up to rounding."""
    # a part of a cluster is known as well as its members agree, and as they are conditioned
    kept = [c.values if c.rank == c.size else np.full(c.rank, c.centre) for c in clusters]
    uncertainty = [np.full(c.rank, c.uncertainty) for c in clusters]
    margin = min((c.excitation for c in clusters if c.rank), default=np.inf)
    return RobustModes(np.concatenate(kept), np.concatenate(uncertainty), margin)


def judged_clusters(A: Floats, C: Floats) -> list[Cluster] | None:
    """Judge every mode, cluster by cluster.

    None where numbers of very different size leave the range of float64.
    """
    A, unit = in_units(A)
    try:
        found = _judged_in_units(A, C)
    except (np.linalg.LinAlgError, ValueError):  # no Schur form of numbers so different in size
        return None
    if found is None or unit == 1:
        return found
    return [c._replace(values=unit * c.values, uncertainty=unit * c.uncertainty) for c in found]


def _judged_in_units(A: Floats, C: Floats) -> list[Cluster] | None:
    from scipy.linalg import schur

    A, C = _unit_size(A, C)
    C = unit_norm(C)
    norm = float(np.sqrt((A**2).sum()))
    if not np.isfinite(norm) or not np.isfinite(C).all():
        return None
    if norm == 0:
        return [Cluster(np.zeros(len(A), complex), 1, 1.0, 0.0)]
    # left invariant subspaces of A are right ones of Aᵀ
    S, Z = schur(A.T.astype(complex), output="complex")
    values = np.diag(S).conj()
    excitation, blur, radius = _triangular_modes(S, Z.conj().T @ C, norm)
    rounding = DISC * len(A) ** 0.5 + 10 * blur
    found = []
    for cluster in _clusters(values, radius):
        if len(cluster) == 1:
            excited, doubt = float(excitation[cluster[0]]), float(rounding[cluster[0]])
            rank, clear = int(excited > min(doubt, LARGEST_ROUNDING)), excited > CLEAR * doubt
        else:
            rank, excited, clear = _small_staircase(*_invariant_pair(S, Z, cluster, C, norm))
        spread = float(np.abs(values[cluster] - values[cluster].mean()).max())
        uncertainty = spread + float(radius[cluster].max())
        found.append(Cluster(values[cluster], rank, excited, uncertainty, rank == 0 or clear))
    return found


def clearly_driven(A: Floats, C: Floats) -> bool:
    """Whether several inputs drive every mode much further than rounding does.

    Otherwise directions in which inputs enter a mode are anything in floating point, and modes that
    are the same may be taken for two that differ; changes of A and C in the last digits need not
    show it. A cluster is as far from being driven by fewer inputs than it takes as the least
    singular value of [M − λ, c]; next to the circle even little counts.
    """
    from scipy.linalg import schur

    C = C / float(np.abs(C).max())
    C = C / float(np.sqrt((C**2).sum(axis=0).max()))
    norm = float(np.sqrt((A**2).sum()))
    try:
        S, Z = schur(A.T.astype(complex), output="complex")
    except (np.linalg.LinAlgError, ValueError):
        return False
    values = np.diag(S).conj()
    if not norm > 0 or not np.abs(values).max() < 1:
        return False
    excitation, blur, radius = _triangular_modes(S, Z.conj().T @ C, norm)
    for cluster in _clusters(values, radius):
        if len(cluster) == 1:
            k = cluster[0]
            driven, doubt = excitation[k], DISC * len(A) ** 0.5 + 10 * blur[k]
        else:
            M, c, errors, _ = _invariant_pair(S, Z, cluster, C, norm)
            identity = np.eye(len(M))
            driven = min(
                np.linalg.svd(np.hstack([(M - z * identity) / norm, c]), compute_uv=False)[-1]
                for z in (*values[cluster], values[cluster].mean())
            )
            doubt = (errors[0] + errors[1] / norm) / (1 - np.abs(values[cluster]).max())
        if not driven > CLEAR * doubt:
            return False
    return True


def _unit_size(A: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Scale the states by powers of two (no rounding) so that impulse responses peak near 1.

    Responses that may be nothing but rounding are left as they are.
    """
    magnitude = np.abs(A)
    x, rounding = C, np.zeros(len(C))
    peak = np.abs(x)
    for _ in range(max(len(A), 50)):
        rounding = magnitude @ (rounding + len(A) * EPS * np.abs(x))
        x = A @ x
        peak = np.where(np.abs(x) > 10 * rounding, np.maximum(peak, np.abs(x)), peak)
        if not x.any():
            break
    usable = (peak > 0) & np.isfinite(peak)
    d = np.ldexp(1.0, np.rint(np.log2(np.where(usable, peak, 1.0))).astype(int))
    return A * (d[None, :] / d[:, None]), C / d


def _triangular_modes(S: Complexes, c: Complexes, norm: float) -> tuple[Floats, Floats, Floats]:
    """Excitations, their blur, and uncertainty discs from the triangular Schur factor of Aᵀ."""
    from scipy.linalg import eig

    decomposition: Any = eig(S, left=True, right=True)
    _, left, right = decomposition
    overlap = np.abs(np.einsum("ij,ij->j", left.conj(), right))
    condition = 1 / np.maximum(overlap, np.finfo(float).tiny)
    excitation = np.sqrt((np.abs(right.conj().T @ c.reshape(len(S), -1)) ** 2).sum(axis=1))
    blur = EPS * norm * blur_of(np.diag(S), condition * excitation)
    return excitation, blur, np.minimum(DISC * norm * condition, norm / 2)


def _clusters(values: Complexes, radius: Floats) -> list[NDArray[np.intp]]:
    from scipy.sparse import csr_array

    touching = np.abs(values[:, None] - values) <= radius[:, None] + radius
    return separate_parts(csr_array(touching.astype(float)))


def _invariant_pair(
    S: Complexes, Z: Complexes, cluster: NDArray[np.intp], C: Floats, norm: float
) -> tuple[Complexes, Complexes, tuple[float, float], float]:
    """A and unit C compressed to a cluster's left invariant subspace, their errors, and ‖A‖."""
    from scipy.linalg.lapack import ztrsen

    size, count = len(S), len(cluster)
    separation, overlap = norm, 1.0
    if count < size:
        chosen = np.zeros(size, np.int32)
        chosen[cluster] = 1
        S, Z, _, _, overlap, separation, _ = ztrsen(
            chosen, S, Z, job=b"B", lwork=max(1, 2 * count * (size - count))
        )
    tiny = float(np.finfo(float).tiny)
    error_c = DISC * max(norm / max(separation, tiny), size**0.5)
    error_block = norm * DISC * size / max(overlap, tiny)
    return S[:count, :count].conj().T, Z[:, :count].conj().T @ C, (error_c, error_block), norm


def _small_staircase(
    M: Complexes, c: Complexes, errors: tuple[float, float], norm: float
) -> tuple[int, float, bool]:
    """Krylov staircase of a small pair: its rank, |c|, and whether all steps are beyond rounding.

    In the Hessenberg form that starts at c the sub-diagonal tells how far each step leads out of
    the space so far. One that shrinks gradually is decay, not loss: only a sudden drop to the size
    of its error ends the staircase.
    """
    from scipy.linalg import hessenberg

    length = float(np.linalg.norm(c))
    error_c, error_block = np.minimum(errors, [LARGEST_ROUNDING, norm * LARGEST_ROUNDING])
    if length <= error_c:
        return 0, length, True
    # Householder reflection that turns c into a multiple of the first unit vector
    h = c / length
    h[0] += h[0] / abs(h[0]) if h[0] != 0 else 1.0
    h /= np.linalg.norm(h)
    M = M - 2 * np.outer(h, h.conj() @ M)
    M = M - 2 * np.outer(M @ h, h.conj())
    steps = np.abs(np.diag(hessenberg(M) if len(M) > 2 else M, -1))
    before = np.concatenate([[np.inf], steps])[: len(steps)]
    ends = np.flatnonzero((steps <= error_block) & ~(steps > SUDDEN_DROP * before))
    rank = int(ends[0]) + 1 if len(ends) else len(M)
    clear = length > CLEAR * errors[0] and bool(np.all(steps[: rank - 1] > CLEAR * errors[1]))
    return rank, length, clear
