"""Which modes the mask excites, in floating point: the Popov–Belevitch–Hautus (PBH) test.

A mode λ with unit left eigenvector w (w*A = λw*) is driven if w*C ≠ 0; |w*C| / ‖C‖ is its
*excitation*, the relative change of the mask that would silence it. Rounding blurs it by::

    |δ(w_k*C)| ≤ ‖δA‖ Σ_{j≠k} κ_j |w_j*C| / |λ_k − λ_j|,      κ_j = ‖w_j‖‖v_j‖ / |w_j*v_j|

to first order, v_j the right eigenvectors. Modes that rounding cannot tell apart form a cluster,
which is judged as a whole by a small staircase on its invariant subspace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.graph import separate_parts, submatrix
from memcurve.spectrum.sensitivity import EPS

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Eigenvalues are told apart when discs of this many backward errors around them are disjoint.
DISC = 10 * EPS
#: An isolated mode surely counts when its excitation exceeds its blur by this factor.
CLEAR = 100.0
#: No quantity above this, relative to its scale, is taken for rounding.
LARGEST_ROUNDING = 1e-8


class Screening(NamedTuple):
    """Outcome of the first, cheap look at all modes."""

    values: Complexes
    excitation: Floats
    all_count: bool
    unstable_radius: float | None


def screen(A: Any, C: Floats) -> Screening:
    """Eigenvalues and excitations; whether every mode surely counts, or one is surely unstable."""
    C = _unit_norm(C)
    parts = [_left_modes(submatrix(A, n), C[n]) for n in separate_parts(A)]
    lam, excited, blurred, disc = (np.concatenate(part) for part in zip(*parts, strict=True))
    clear = excited > CLEAR * (blurred + EPS)
    outside = np.abs(lam[clear & (np.abs(lam) - disc >= 1)])
    return Screening(
        lam,
        excited,
        bool(clear.all()) and _all_isolated(lam, disc),
        float(outside.max()) if len(outside) else None,
    )


def _left_modes(A: Floats, C: Floats) -> tuple[Complexes, Floats, Floats, Floats]:
    """Eigenvalues, excitations |w*C| (unit w), their blur, and discs of eigenvalue uncertainty."""
    from scipy.linalg import lapack
    from scipy.linalg.blas import dgemv

    size = len(A)
    if size == 1:
        return A.ravel().astype(complex), np.abs(C), np.zeros(1), np.zeros(1)
    norm = float(np.sqrt((A**2).sum()))
    if np.array_equal(A, A.T):
        real_values, W = np.linalg.eigh(A)
        values, excitation = real_values.astype(complex), np.abs(W.T @ C)
        condition = np.ones(size)
    else:
        lwork = int(lapack.dgeev_lwork(size, compute_vl=1, compute_vr=0)[0])
        re, im, W, _, info = lapack.dgeev(
            np.asfortranarray(A), compute_vl=1, compute_vr=0, lwork=lwork, overwrite_a=1
        )
        if info != 0:
            unknown = np.full(size, np.inf)
            return re + 1j * im, np.zeros(size), unknown, unknown
        values = re + 1j * im
        # LAPACK packs a pair of vectors a ± ib into the columns a, b
        first = np.flatnonzero(im > 0)
        excitation = np.abs(dgemv(1.0, W, C, trans=True))
        excitation[first] = excitation[first + 1] = np.hypot(
            excitation[first], excitation[first + 1]
        )
        condition = _conditions(W, first)
    blur = EPS * norm * _blur(values, condition * excitation)
    return values, excitation, blur, np.minimum(DISC * norm * condition, norm)


def _blur(values: Complexes, weight: Floats) -> Floats:
    """Σ_{j≠k} weight_j / |λ_k − λ_j| for every k."""
    blur = np.empty(len(values))
    for rows in np.array_split(np.arange(len(values)), max(1, len(values) ** 2 // 2**21)):
        gap = np.abs(values[rows, None] - values)
        gap[np.arange(len(rows)), rows] = np.inf
        blur[rows] = (weight / gap).sum(axis=1)
    return np.where(np.isfinite(blur), blur, np.inf)


def _conditions(W: Floats, first: NDArray[np.intp]) -> Floats:
    """κ of each eigenvalue from the packed unit left eigenvectors, which are overwritten.

    The rows α, β of W⁻¹ that belong to a pair give its right eigenvector (α + iβ)/2.
    """
    from scipy.linalg import lapack

    size = len(W)
    factors, pivots, info = lapack.dgetrf(W, overwrite_a=1)
    if info != 0:
        return np.full(size, np.inf)
    lwork = int(lapack.dgetri_lwork(size)[0])
    inverse, _ = lapack.dgetri(factors, pivots, lwork=lwork, overwrite_lu=1)
    condition = np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
    condition[first] = condition[first + 1] = np.hypot(condition[first], condition[first + 1]) / 2
    return np.where(np.isfinite(condition), condition, np.inf)


def _all_isolated(values: Complexes, radius: Floats) -> bool:
    if not np.isfinite(radius).all():
        return False
    for rows in np.array_split(np.arange(len(values)), max(1, len(values) ** 2 // 2**21)):
        touching = np.abs(values[rows, None] - values) <= radius[rows, None] + radius
        if np.count_nonzero(touching) > len(rows):
            return False
    return True


class RobustModes(NamedTuple):
    """The modes that count up to rounding, from the closer look.

    ``projector_norm`` belongs to the clusters that lost modes: it is how much more than rounding
    the separation of lost and counted modes can move the latter.
    """

    values: Complexes
    margin: float
    projector_norm: float


def robust_modes(A: Floats, C: Floats) -> RobustModes | None:
    """Judge every mode, cluster by cluster, after scaling the states to about unit size.

    None where numbers of very different size leave the range of float64.
    """
    from scipy.linalg import schur

    A, C = _unit_size(A, C)
    norm, scale = float(np.sqrt((A**2).sum())), float(np.sqrt((C**2).sum()))
    if not np.isfinite(norm) or not np.isfinite(scale):
        return None
    if norm == 0:
        return RobustModes(np.zeros(1, complex), 1.0, 1.0)
    # left invariant subspaces of A are right ones of Aᵀ
    S, Z = schur(A.T.astype(complex), output="complex")
    values = np.diag(S).conj()
    excitation, blur, radius = _triangular_modes(S, Z.conj().T @ C / scale, norm)
    tolerance = np.minimum(DISC * len(A) ** 0.5 + 10 * blur, LARGEST_ROUNDING)
    kept, margin, reduced = [], np.inf, np.zeros(len(A), bool)
    for cluster in _clusters(values, radius):
        if len(cluster) == 1:
            excited = float(excitation[cluster[0]])
            rank, found = int(excited > tolerance[cluster[0]]), values[cluster]
        else:
            pair = _invariant_pair(S, Z, cluster, C / scale, norm)
            rank, block, excited = _small_staircase(*pair)
            found = np.linalg.eigvals(block)
        kept.append(found[:rank])
        reduced[cluster] = rank < len(cluster)
        if rank:
            margin = min(margin, excited)
    return RobustModes(np.concatenate(kept), margin, _projector_norm(S, Z, reduced))


def _unit_norm(C: Floats) -> Floats:
    C = C / np.abs(C).max()  # first, so that no square overflows
    return C / float(np.sqrt((C**2).sum()))


def _unit_size(A: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Scale the states by powers of two (no rounding) so that impulse responses peak near 1."""
    x = C
    peak = np.abs(x)
    for _ in range(max(len(A), 50)):
        x = A @ x
        peak = np.maximum(peak, np.abs(x))
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
    excitation = np.abs(right.conj().T @ c)
    blur = EPS * norm * _blur(np.diag(S), condition * excitation)
    return excitation, blur, np.minimum(DISC * norm * condition, norm / 2)


def _clusters(values: Complexes, radius: Floats) -> list[NDArray[np.intp]]:
    from scipy.sparse import csr_array

    touching = np.abs(values[:, None] - values) <= radius[:, None] + radius
    return separate_parts(csr_array(touching.astype(float)))


def _invariant_pair(
    S: Complexes, Z: Complexes, cluster: NDArray[np.intp], C: Floats, norm: float
) -> tuple[Complexes, Complexes, float, float]:
    """A and unit C compressed to the left invariant subspace of a cluster, and their errors."""
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
    error_c = min(DISC * max(norm / max(separation, tiny), size**0.5), LARGEST_ROUNDING)
    error_block = norm * min(DISC * size / max(overlap, tiny), LARGEST_ROUNDING)
    return S[:count, :count].conj().T, Z[:, :count].conj().T @ C, error_c, error_block


def _small_staircase(
    M: Complexes, c: Complexes, tolerance_c: float, tolerance_block: float
) -> tuple[int, Complexes, float]:
    """Krylov staircase of a small pair: rank, compressed matrix, and |c|.

    In the Hessenberg form that starts at c the sub-diagonal tells how far each step leads out of
    the space so far. One that shrinks gradually is decay, not loss: only a sudden drop below the
    tolerance ends the staircase.
    """
    from scipy.linalg import hessenberg

    sudden = 1e-4
    length = float(np.linalg.norm(c))
    if length <= tolerance_c:
        return 0, M[:0, :0], length
    # Householder reflection that turns c into a multiple of the first unit vector
    h = c / length
    h[0] += h[0] / abs(h[0]) if h[0] != 0 else 1.0
    h /= np.linalg.norm(h)
    M = M - 2 * np.outer(h, h.conj() @ M)
    M = M - 2 * np.outer(M @ h, h.conj())
    H: Complexes = np.asarray(hessenberg(M) if len(M) > 2 else M, dtype=complex)
    steps = np.abs(np.diag(H, -1))
    before = np.concatenate([[np.inf], steps])[: len(steps)]
    ends = np.flatnonzero((steps <= tolerance_block) & ~(steps > sudden * before))
    rank = int(ends[0]) + 1 if len(ends) else len(M)
    return rank, H[:rank, :rank], length


def _projector_norm(S: Complexes, Z: Complexes, chosen: NDArray[np.bool_]) -> float:
    """Norm of the spectral projector on the chosen modes, and so of the one on all others."""
    from scipy.linalg.lapack import ztrsen

    count = int(chosen.sum())
    if count in (0, len(S)):
        return 1.0
    lwork = max(1, 2 * count * (len(S) - count))
    overlap = ztrsen(chosen.astype(np.int32), S, Z, job=b"E", lwork=lwork)[4]
    return float(1 / max(overlap, np.finfo(float).tiny))
