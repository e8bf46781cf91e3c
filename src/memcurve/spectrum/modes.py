"""Which modes the mask excites, in floating point: the Popov–Belevitch–Hautus (PBH) test.

A mode λ with unit left eigenvector w (w*A = λw*) is driven if w*C ≠ 0; |w*C| / ‖C‖ is its
*excitation*, the relative change of the mask that would silence it. Rounding blurs it by::

    |δ(w_k*C)| ≤ ‖δA‖ Σ_{j≠k} κ_j |w_j*C| / |λ_k − λ_j|,      κ_j = ‖w_j‖‖v_j‖ / |w_j*v_j|

to first order, v_j the right eigenvectors. Modes that rounding cannot tell apart form a cluster,
which is judged as a whole by a small staircase on its invariant subspace. All of it is done after
scaling: of A, so that rows and columns are alike in size, or of the states to unit size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.graph import balanced, separate_parts, submatrix
from memcurve.spectrum.sensitivity import EPS

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Eigenvalues are told apart when discs of this many backward errors around them are disjoint.
DISC = 10 * EPS
#: They are told apart beyond doubt, second-order effects included, with discs this much wider.
WIDE = 1e4
#: A mode counts when its excitation exceeds its blur by this factor; beyond doubt, by its square.
CLEAR = 100.0
#: No mode excited less than this counts beyond doubt.
LEAST_EXCITATION = 1e-6
#: No quantity above this, relative to its scale, is taken for rounding.
LARGEST_ROUNDING = 1e-8
#: A step of a staircase this much shorter than the one before is a drop, not gradual decay.
SUDDEN_DROP = 1e-4


class EigenBasis(NamedTuple):
    """A = V diag(values) V⁻¹ as LAPACK packs it: a conjugate pair v, v̄ in two real columns.

    ``columns[:, k]`` is a real eigenvector, or for k in ``first`` twice the real part of one, with
    twice its imaginary part in the next; ``mask`` is V⁻¹C, where C was scaled to unit length.
    """

    values: Complexes
    columns: Floats
    first: NDArray[np.intp]
    mask: Complexes


class Screening(NamedTuple):
    """Outcome of the first, cheap look at all modes.

    ``sure``: every mode counts beyond doubt. ``likely``: as far as rounding allows to tell, so
    that the rank up to rounding is full, but the exact rank is to be asked.
    """

    values: Complexes
    excitation: Floats
    sure: bool
    likely: bool
    unstable_radius: float | None
    basis: EigenBasis | None


def screen(A: Any, C: Floats, *, keep_basis: bool = False) -> Screening:
    """Eigenvalues and excitations; whether every mode surely counts, or one is surely unstable.

    ``keep_basis`` keeps the eigenvectors too, where A is one piece and not symmetric.
    """
    C = _unit_norm(C)
    parts = [_left_modes(submatrix(A, n), C[n], keep_basis) for n in separate_parts(A)]
    basis = parts[0].basis if len(parts) == 1 else None
    lam, excited, blurred, disc = (
        np.concatenate([part[k] for part in parts]) for k in range(len(LeftModes._fields) - 1)
    )
    noise = blurred + EPS
    clear = excited > CLEAR * noise
    outside = np.abs(lam[clear & (np.abs(lam) - disc >= 1)])
    room = _room(lam, disc)
    beyond_doubt = excited > np.maximum(CLEAR**2 * noise, LEAST_EXCITATION)
    return Screening(
        lam,
        excited,
        sure=bool(beyond_doubt.all()) and room > WIDE,
        likely=bool(clear.all()) and room > 1,
        unstable_radius=float(outside.max()) if len(outside) else None,
        basis=basis,
    )


class LeftModes(NamedTuple):
    """Eigenvalues, excitations |w*C| (unit w), their blur, and discs of eigenvalue uncertainty."""

    values: Complexes
    excitation: Floats
    blur: Floats
    disc: Floats
    basis: EigenBasis | None = None


def _left_modes(A: Floats, C: Floats, keep_basis: bool) -> LeftModes:
    from scipy.linalg import lapack
    from scipy.linalg.blas import dgemv

    size = len(A)
    if size == 1:
        return LeftModes(A.ravel().astype(complex), np.abs(C), np.zeros(1), np.zeros(1))
    basis = None
    if np.array_equal(A, A.T):
        real_values, W = np.linalg.eigh(A)
        values, excitation = real_values.astype(complex), np.abs(W.T @ C)
        condition, norm = np.ones(size), float(np.abs(real_values).max()) * size**0.5
    else:
        share = float(np.sqrt((C**2).sum()))
        A, scale = balanced(A)
        C = _unit_norm(C / scale) * share if share > 0 else C
        norm = float(np.sqrt((A**2).sum()))
        lwork = int(lapack.dgeev_lwork(size, compute_vl=1, compute_vr=0)[0])
        re, im, W, _, info = lapack.dgeev(A, compute_vl=1, compute_vr=0, lwork=lwork, overwrite_a=1)
        if info != 0:
            unknown = np.full(size, np.inf)
            return LeftModes(re + 1j * im, np.zeros(size), unknown, unknown)
        values = re + 1j * im
        # LAPACK packs a pair of vectors a ± ib into the columns a, b
        first = np.flatnonzero(im > 0)
        mask = dgemv(1.0, W, C, trans=True).astype(complex)
        mask[first] -= 1j * mask[first + 1].real
        mask[first + 1] = mask[first].conj()
        excitation = np.abs(mask)
        inverse = _inverse(W)
        condition = _conditions(inverse, first, size)
        if keep_basis and inverse is not None:
            basis = EigenBasis(values, scale[:, None] * inverse.T, first, mask)
    blur = EPS * norm * _blur(values, condition * excitation)
    disc = np.minimum(DISC * norm * condition, norm)
    return LeftModes(values, excitation, blur, disc, basis)


def _gaps(values: Complexes) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Distances |λ_k − λ_j|, some rows k at a time so that they fit; infinite for j = k."""
    for rows in np.array_split(np.arange(len(values)), max(1, len(values) ** 2 // 2**21)):
        gap = np.abs(values[rows, None] - values)
        gap[np.arange(len(rows)), rows] = np.inf
        yield rows, gap


def _blur(values: Complexes, weight: Floats) -> Floats:
    """Σ_{j≠k} weight_j / |λ_k − λ_j| for every k."""
    blur = np.empty(len(values))
    for rows, gap in _gaps(values):
        blur[rows] = (weight / gap).sum(axis=1)
    return np.where(np.isfinite(blur), blur, np.inf)


def _inverse(W: Floats) -> Floats | None:
    """W⁻¹, which overwrites W; None where W is singular."""
    from scipy.linalg import lapack

    factors, pivots, info = lapack.dgetrf(W, overwrite_a=1)
    if info != 0:
        return None
    lwork = int(lapack.dgetri_lwork(len(W))[0])
    inverse, _ = lapack.dgetri(factors, pivots, lwork=lwork, overwrite_lu=1)
    return np.asarray(inverse)


def _conditions(inverse: Floats | None, first: NDArray[np.intp], size: int) -> Floats:
    """κ of each eigenvalue from the inverse of the packed unit left eigenvectors.

    Its rows α, β that belong to a pair give the right eigenvector (α + iβ)/2.
    """
    if inverse is None:
        return np.full(size, np.inf)
    condition = np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
    condition[first] = condition[first + 1] = np.hypot(condition[first], condition[first + 1]) / 2
    return np.where(np.isfinite(condition), condition, np.inf)


def _room(values: Complexes, radius: Floats) -> float:
    """Factor by which the discs around the eigenvalues could grow before two of them touch."""
    least = np.inf
    for rows, gap in _gaps(values):
        room = gap / (radius[rows, None] + radius)
        least = min(least, float(np.where(np.isnan(room), 0.0, room).min()))
    return least


class RobustModes(NamedTuple):
    """The modes that count up to rounding, from the closer look, and how well each is known."""

    values: Complexes
    uncertainty: Floats
    margin: float


def robust_modes(A: Floats, C: Floats) -> RobustModes | None:
    """Judge every mode, cluster by cluster.

    None where numbers of very different size leave the range of float64.
    """
    from scipy.linalg import schur

    A, C = _unit_size(A, C)
    C = _unit_norm(C)
    norm = float(np.sqrt((A**2).sum()))
    if not np.isfinite(norm) or not np.isfinite(C).all():
        return None
    if norm == 0:
        return RobustModes(np.zeros(1, complex), np.zeros(1), 1.0)
    # left invariant subspaces of A are right ones of Aᵀ
    S, Z = schur(A.T.astype(complex), output="complex")
    values = np.diag(S).conj()
    excitation, blur, radius = _triangular_modes(S, Z.conj().T @ C, norm)
    tolerance = np.minimum(DISC * len(A) ** 0.5 + 10 * blur, LARGEST_ROUNDING)
    kept, uncertainty, margin = [], [], np.inf
    for cluster in _clusters(values, radius):
        if len(cluster) == 1:
            excited = float(excitation[cluster[0]])
            rank = int(excited > tolerance[cluster[0]])
        else:
            rank, excited = _small_staircase(*_invariant_pair(S, Z, cluster, C, norm))
        centre = values[cluster].mean()
        # a part of a cluster is known as well as its members agree, and as they are conditioned
        spread = float(np.abs(values[cluster] - centre).max())
        whole = rank == len(cluster)
        kept.append(values[cluster] if whole else np.full(rank, centre))
        uncertainty.append(np.full(rank, spread + float(radius[cluster].max())))
        if rank:
            margin = min(margin, excited)
    return RobustModes(np.concatenate(kept), np.concatenate(uncertainty), margin)


def _unit_norm(C: Floats) -> Floats:
    C = C / np.abs(C).max()  # first, so that no square overflows
    return C / float(np.sqrt((C**2).sum()))


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
    M: Complexes, c: Complexes, error_c: float, error_block: float
) -> tuple[int, float]:
    """Krylov staircase of a small pair: its rank, and |c|.

    In the Hessenberg form that starts at c the sub-diagonal tells how far each step leads out of
    the space so far. One that shrinks gradually is decay, not loss: only a sudden drop to the size
    of its error ends the staircase.
    """
    from scipy.linalg import hessenberg

    length = float(np.linalg.norm(c))
    if length <= error_c:
        return 0, length
    # Householder reflection that turns c into a multiple of the first unit vector
    h = c / length
    h[0] += h[0] / abs(h[0]) if h[0] != 0 else 1.0
    h /= np.linalg.norm(h)
    M = M - 2 * np.outer(h, h.conj() @ M)
    M = M - 2 * np.outer(M @ h, h.conj())
    steps = np.abs(np.diag(hessenberg(M) if len(M) > 2 else M, -1))
    before = np.concatenate([[np.inf], steps])[: len(steps)]
    ends = np.flatnonzero((steps <= error_block) & ~(steps > SUDDEN_DROP * before))
    return (int(ends[0]) + 1 if len(ends) else len(M)), length
