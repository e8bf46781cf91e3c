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
from memcurve.solve.modes import (
    CLEAR,
    DISC,
    blur_of,
    room_between,
    triangular_modes,
    unit_norm,
)
from memcurve.solve.modular import sparse_if_few
from memcurve.solve.sensitivity import EPS

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: No quantity above this, relative to its scale, is taken for rounding.
LARGEST_ROUNDING = 1e-8
TINY = float(np.finfo(float).tiny)
#: A defective eigenvalue that appears m times moves by the m-th root of rounding; with m above this
#: it is not known at all.
MOST_DEFECTIVE = 5
#: Pivots below this, relative to the norm, are taken for zero when zeros are split off.
ZERO = 1e-11
#: Impulse responses have peaked where none has risen for so many steps.
SETTLED = 50
#: Directions at an angle below this to a space are taken to lie in it.
ANGLE = 1e-9
#: A step of a staircase this much shorter than the one before is a drop, not gradual decay.
SUDDEN_DROP = 1e-4


class Cluster(NamedTuple):
    """Eigenvalues that rounding cannot tell apart, and how many of them the mask excites.

    ``clear``: none is excited, as far as rounding allows to tell, or those that are said to be are
    far beyond rounding, which may be larger than what is taken for it: a silent mode next to an
    excited one picks up much of that one. With the exact number, no other counts.
    ``projector`` is the norm of the spectral projector, for several.
    """

    values: Complexes
    rank: int
    excitation: float
    uncertainty: float
    clear: bool = True
    projector: float = 1.0

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.values)

    @property
    def centre(self) -> complex:
        """Their mean."""
        return complex(self.values.mean())


def judged_clusters(A: Floats, C: Floats, nonzero: int, driven: int) -> list[Cluster] | None:
    """Judge every mode, cluster by cluster.

    ``nonzero`` is the exact number of those that are not zero, of which ``driven`` count.

    LAPACK scatters a multiple zero widely, so zeros are split off first: left eigenvectors of the
    others are orthogonal to the kernel of Aⁿ, those of zero span the kernel of Aᵀⁿ. None where
    numbers of very different size leave the range of float64.
    """
    from scipy.linalg import qr

    A, unit = in_units(A)
    try:
        A, C = _unit_size(A, C)
        C = unit_norm(C)
        norm = float(np.sqrt((A**2).sum()))
        if not np.isfinite(norm) or not np.isfinite(C).all():
            return None
        found, zeros = [], len(A) - nonzero
        kernels = [_kernel_of_powers(matrix, zeros, norm) for matrix in (A, A.T)] if zeros else []
        if zeros and kernels[0] is not None and kernels[1] is not None:
            (K, rows, part), L = kernels[0], kernels[1][0]
            V = qr(part)[0][:, part.shape[1] :] if part.shape[1] else np.eye(len(rows))
            error = DISC * len(A) ** 0.5
            stairs = _small_staircase(L.T @ A @ L, L.T @ C, error, error * norm)
            found = [Cluster(np.zeros(zeros, complex), *stairs[:2], 0.0, stairs[2])]
            if nonzero:
                # a right eigenvector Vg + Kh is orthogonal to L
                overlap = np.asarray(-np.linalg.solve(L.T @ K, L[rows].T @ V), np.float64)
                pair = V.T @ A[np.ix_(rows, rows)] @ V, V.T @ C[rows]
                found += _judged(*pair, norm, overlap, driven == nonzero)
        else:
            found = _judged(A, C, norm, None)
    except (np.linalg.LinAlgError, ValueError):  # no Schur form of numbers so different in size
        return None
    return [c._replace(values=unit * c.values, uncertainty=unit * c.uncertainty) for c in found]


def _placed(X: Floats, rows: NDArray[np.intp], size: int) -> Floats:
    whole = np.zeros((size, X.shape[1]))
    whole[rows] = X
    return whole


def _kernel_of_powers(
    A: Floats, dimension: int, norm: float
) -> tuple[Floats, NDArray[np.intp], Floats] | None:
    """Orthonormal basis of the kernel of Aⁿ, of known dimension: unit vectors, and some rows.

    Also these rows, and the part of the basis that is not zero there.

    Ax = y has solutions for those y of ker Aᵏ that are orthogonal to the left kernel of A, and then
    these x and ker A make up ker Aᵏ⁺¹: one factor of A serves for all k.
    """
    from scipy.linalg import qr, solve_triangular

    # nodes that drive nothing, and then those that only drive these, need no arithmetic
    kept, edges = np.arange(len(A)), A != 0
    while not (alive := edges[np.ix_(kept, kept)].any(axis=0)).all():
        kept = kept[alive]
    B, size = A[np.ix_(kept, kept)], len(kept)
    Q, R, order = qr(B, pivoting=True)
    rank = int((np.abs(np.diag(R)) > ZERO * norm).sum())
    R, R12 = R[:rank, :rank], R[:rank, rank:]

    def solved(Y: NDArray[Any]) -> Floats:
        X = np.zeros((size, Y.shape[1]))
        X[order[:rank]] = solve_triangular(R, Y)
        return X

    null = solved(-R12)
    null[order[rank:]] = np.eye(size - rank)
    left, K = Q[:, rank:], np.zeros((size, 0))
    new: NDArray[Any] = null
    # directions of the left kernel that elements of ker Aᵏ have, and these elements
    seen, own = np.zeros((size - rank, 0)), np.zeros((size, 0))
    while new.shape[1] and K.shape[1] < size:
        for _ in range(2):
            new = new - K @ (K.T @ new)
            new = np.linalg.qr(new)[0]
        K = np.hstack([K, new])
        part = left.T @ new
        share = seen.T @ part
        part, new = part - seen @ share, new - own @ share
        U, singular, Vh = np.linalg.svd(part, full_matrices=True)
        met = int((singular > ANGLE).sum())
        seen = np.hstack([seen, U[:, :met]])
        own = np.hstack([own, new @ (Vh[:met].T / singular[:met])])
        new = solved(Q[:, :rank].T @ (new @ Vh[met:].T))
    image = B @ K
    off = float(np.abs(image - K @ (K.T @ image)).max(initial=0.0))
    if len(A) - size + K.shape[1] != dimension or off > ANGLE * norm:
        return None
    kernel = np.delete(np.eye(len(A)), kept, axis=1)
    return np.hstack([kernel, _placed(K, kept, len(A))]), kept, K


def _judged(
    A: Floats, C: Floats, norm: float, overlap: Floats | None, all_count: bool = False
) -> list[Cluster]:
    """Judge the modes of A, a matrix or its compression to a left invariant subspace.

    ``overlap`` of the latter tells how far right eigenvectors leave it, and how much worse they are
    conditioned. Where it is known that ``all_count``, modes that stand apart need not be clear.
    """
    from scipy.linalg import rsf2csf, schur

    if norm == 0:
        return [Cluster(np.zeros(len(A), complex), 1, 1.0, 0.0)]
    # left invariant subspaces of A are right ones of Aᵀ
    T, real_Z = schur(A.T)
    quick = triangular_modes(T, real_Z.T @ C) if all_count else None
    if quick is not None:
        values, condition, excitation = quick
        disc = np.minimum(DISC * norm * condition, norm)
        blur = EPS * norm * blur_of(values, condition * excitation)
        apart = room_between(values, np.maximum(disc, DISC * np.abs(values))) > 1
        if apart and np.all(excitation > CLEAR * (blur + EPS)):
            columns = (values, excitation.tolist(), disc.tolist())
            return [Cluster(np.array([v]), 1, e, d) for v, e, d in zip(*columns, strict=True)]
    S, Z = rsf2csf(T, real_Z)
    values, most = np.diag(S).conj(), _largest_disc(norm, len(S))
    excitation, condition, disc = _triangular_modes(S, Z, C, norm, overlap)
    radius, found, single, others = np.minimum(disc, most), [], [], 0.0
    for cluster in _clusters(values, radius):
        if len(cluster) == 1:
            single.append(int(cluster[0]))
            continue
        pair = _invariant_pair(S, Z, cluster, C, norm)
        rank, excited, clear = _small_staircase(pair.M, pair.c, pair.error_c, pair.error_block)
        clear = clear and max(pair.error_c, pair.error_block / norm) < LARGEST_ROUNDING
        clear = clear and bool(np.all(disc[cluster] <= most))
        spread = float(np.abs(values[cluster] - values[cluster].mean()).max())
        uncertainty = spread + float(radius[cluster].max())
        found.append(Cluster(values[cluster], rank, excited, uncertainty, clear, pair.projector))
        # single members may be conditioned as badly as can be: all together are as they stand apart
        others += pair.projector * excited / max(pair.separation, TINY)
    blur = EPS * norm * (blur_of(values[single], (condition * excitation)[single]) + others)
    for k, doubt in zip(single, DISC * len(A) ** 0.5 + 10 * blur, strict=True):
        excited = float(excitation[k])
        rank = int(excited > min(doubt, LARGEST_ROUNDING))
        clear = bool((rank == 0 or excited > CLEAR * doubt) and disc[k] <= most)
        found.append(Cluster(values[[k]], rank, excited, float(radius[k]), clear))
    return found


def clearly_driven(A: Floats, C: Floats) -> bool:
    """Whether several inputs drive every mode much further than rounding does.

    Otherwise directions in which inputs enter a mode are anything in floating point, and modes that
    are the same may be taken for two that differ; changes of A and C in the last digits need not
    show it. A cluster is as far from being driven by fewer inputs than it takes as the least
    singular value of [M − λ, c]; next to the circle even little counts.
    """
    from scipy.linalg import rsf2csf, schur

    C = C / float(np.abs(C).max())
    C = C / float(np.sqrt((C**2).sum(axis=0).max()))
    norm = float(np.sqrt((A**2).sum()))
    try:
        S, Z = rsf2csf(*schur(A.T))
    except (np.linalg.LinAlgError, ValueError):
        return False
    values = np.diag(S).conj()
    if not norm > 0 or not np.abs(values).max() < 1:
        return False
    excitation, condition, disc = _triangular_modes(S, Z, C, norm, None)
    blur = EPS * norm * blur_of(values, condition * excitation)
    for cluster in _clusters(values, np.minimum(disc, _largest_disc(norm, len(S)))):
        if len(cluster) == 1:
            driven = float(excitation[cluster[0]])
            doubt = DISC * len(A) ** 0.5 + 10 * float(blur[cluster[0]])
        else:
            M, c, error_c, error_block, _, _ = _invariant_pair(S, Z, cluster, C, norm)
            if max(error_c, error_block / norm) >= LARGEST_ROUNDING:
                return False
            points = (*np.diag(M), values[cluster].mean())
            driven = min(_least_singular_value(M - z * np.eye(len(M)), norm, c) for z in points)
            doubt = (error_c + error_block / norm) / (1 - float(np.abs(values[cluster]).max()))
        if not driven > CLEAR * doubt:
            return False
    return True


def _least_singular_value(M: Complexes, norm: float, c: Complexes) -> float:
    return float(np.linalg.svd(np.hstack([M / norm, c]), compute_uv=False)[-1])


def _unit_size(A: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Scale the states by powers of two (no rounding) so that impulse responses peak near 1.

    Responses that may be nothing but rounding are left as they are.
    """
    matrix = sparse_if_few(A)
    magnitude = abs(matrix)
    x, rounding = C, np.zeros(len(C))
    peak, changed = np.abs(x), 0
    for step in range(max(len(A), 50)):
        rounding = magnitude @ (rounding + len(A) * EPS * np.abs(x))
        x = matrix @ x
        size = np.abs(x)
        higher = (size > peak) & (size > 10 * rounding)
        if higher.any():
            peak[higher], changed = size[higher], step
        if not x.any() or (step > changed + SETTLED and peak.all()):
            break
    usable = (peak > 0) & np.isfinite(peak)
    d = np.ldexp(1.0, np.rint(np.log2(np.where(usable, peak, 1.0))).astype(int))
    return A * (d[None, :] / d[:, None]), C / d


def _triangular_modes(
    S: Complexes, Z: Complexes, C: Floats, norm: float, overlap: Floats | None
) -> tuple[Floats, Floats, Floats]:
    """Excitations, conditions, and discs of uncertainty, from the Schur form ZSZ* of Aᵀ."""
    from scipy.linalg import eig

    decomposition: Any = eig(S, left=True, right=True)
    _, left, right = decomposition
    condition = 1 / np.maximum(np.abs(np.einsum("ij,ij->j", left.conj(), right)), TINY)
    if overlap is not None:
        condition *= np.sqrt(1 + (np.abs((overlap @ Z) @ left) ** 2).sum(axis=0))
    driven = right.conj().T @ (Z.conj().T @ C.reshape(len(Z), -1))
    excitation = np.sqrt((np.abs(driven) ** 2).sum(axis=1))
    return excitation, condition, DISC * norm * condition


def _largest_disc(norm: float, size: int) -> float:
    """Beyond this an eigenvalue is not known at all, and its disc would swallow all others."""
    return float(DISC ** (1 / MOST_DEFECTIVE) * norm / size**0.5)


def _clusters(values: Complexes, radius: Floats) -> list[NDArray[np.intp]]:
    from scipy.sparse import csr_array

    touching = np.abs(values[:, None] - values) <= radius[:, None] + radius
    return separate_parts(csr_array(touching.astype(float)))


class _Pair(NamedTuple):
    """A and C on the left invariant subspace of a cluster, with their errors.

    ``projector`` is the norm of the spectral projector, ``separation`` that from all other modes.
    """

    M: Complexes
    c: Complexes
    error_c: float
    error_block: float
    projector: float
    separation: float


def _invariant_pair(
    S: Complexes, Z: Complexes, cluster: NDArray[np.intp], C: Floats, norm: float
) -> _Pair:
    from scipy.linalg.lapack import ztrsen

    size, count = len(S), len(cluster)
    separation, overlap = norm, 1.0
    if count < size:
        chosen = np.zeros(size, np.int32)
        chosen[cluster] = 1
        S, Z, _, _, overlap, separation, _ = ztrsen(
            chosen, S, Z, job=b"B", lwork=max(1, 2 * count * (size - count))
        )
    error_c = min(DISC * max(norm / max(separation, TINY), size**0.5), LARGEST_ROUNDING)
    error_block = norm * min(DISC * size / max(overlap, TINY), LARGEST_ROUNDING)
    M, c = S[:count, :count].conj().T, Z[:, :count].conj().T @ C
    return _Pair(M, c, error_c, error_block, 1 / max(overlap, TINY), separation)


def _small_staircase(
    M: NDArray[Any], c: NDArray[Any], error_c: float, error_block: float
) -> tuple[int, float, bool]:
    """Krylov staircase of a small pair: its rank, |c|, and whether all steps are beyond doubt.

    In the Hessenberg form that starts at c the sub-diagonal tells how far each step leads out of
    the space so far. One that shrinks gradually is decay, not loss: only a sudden drop to the size
    of its error ends the staircase.
    """
    from scipy.linalg import hessenberg

    length = float(np.linalg.norm(c))
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
    clear = length > CLEAR * error_c and bool(np.all(steps[: rank - 1] > CLEAR * error_block))
    return rank, length, clear
