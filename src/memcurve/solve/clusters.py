"""The modes that count up to rounding: a closer look, cluster by cluster.

Modes that rounding cannot tell apart form a cluster, which is judged as a whole by a small
staircase on its invariant subspace; see :mod:`memcurve.solve.modes` for single modes. States are
scaled to unit size first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.network.graph import in_units, separate_parts
from memcurve.result import EPS, TINY, Complexes, Floats
from memcurve.solve.modes import (
    CLEAR,
    DISC,
    blur_of,
    complex_schur,
    diagonal_values,
    schur_with_mask,
    triangular_modes,
    unit_norm,
)
from memcurve.solve.modular import sparse_if_few

#: No quantity above this, relative to its scale, is taken for rounding.
LARGEST_ROUNDING = 1e-8
#: A defective eigenvalue that appears m times moves by the m-th root of rounding; with m above this
#: it is not known at all.
MOST_DEFECTIVE = 5
#: Pivots below this, relative to the norm, are taken for zero when zeros are split off.
ZERO = 1e-11
#: Impulse responses have peaked where none has risen for so many steps.
SETTLED = 50
#: Directions at an angle below this to a space are taken to lie in it; where none does and there
#: must be some, those below the wider one.
ANGLE, WIDER_ANGLE = 1e-9, 1e-7
#: Eigenvalues closer than this, relative to the largest, are looked at closely, then those that
#: turn out to be too close to each other, in so many attempts; if all others make up at least such
#: a share.
NEARLY_THE_SAME, ATTEMPTS, SHARE_APART = 1e-6, 3, 0.3
#: Zeros are told from other eigenvalues by their modulus where the least of these is so many times
#: the largest of those; otherwise some of these, one in so many at most, are left among the zeros,
#: where there is at least the lower ratio.
WELL_ABOVE, ABOVE, SHARE_AMONG_ZEROS = 2.0, 1.5, 1 / 16
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


class SchurForm(NamedTuple):
    """The Schur form ZTZᵀ of Aᵀ, or of its part that is not zero, with the mask and ‖A‖_F.

    ``zeros`` are the modes that were split off, and ``overlap`` tells how far right eigenvectors
    of the others leave their part, and how much worse they are conditioned. ``split``: no zeros
    are left; ``unit`` is that of the eigenvalues.
    """

    zeros: list[Cluster]
    T: Floats
    Z: Floats
    C: Floats
    norm: float
    overlap: Floats | None
    split: bool
    unit: float


def schur_form(A: Floats, C: Floats, nonzero: int) -> SchurForm | None:
    """Make ready for a judgement of the modes, of which an exact number is not zero.

    LAPACK scatters a multiple zero widely, so zeros are split off: left eigenvectors of the others
    are orthogonal to the kernel of Aⁿ, those of zero span the kernel of Aᵀⁿ. None where numbers of
    very different size leave the range of float64.
    """
    from scipy.linalg import qr, schur

    A, unit = in_units(A)
    try:
        A, C = _unit_size(A, C)
        C = unit_norm(C)
        norm = float(np.sqrt((A**2).sum()))
        if not np.isfinite(norm) or not np.isfinite(C).all():
            return None
        found, zeros, overlap = list[Cluster](), len(A) - nonzero, None
        if norm == 0:
            found, A, C = [Cluster(np.zeros(zeros, complex), 1, 1.0, 0.0)], A[:0, :0], C[:0]
        kernels = [_kernel_of_powers(M, zeros, norm) for M in (A, A.T)] if zeros and norm else []
        split = all(kernel is not None for kernel in kernels)
        if kernels and kernels[0] is not None and kernels[1] is not None:
            (K, rows, part), L = kernels[0], kernels[1][0]
            V = qr(part)[0][:, part.shape[1] :] if part.shape[1] else np.eye(len(rows))
            error = DISC * len(A) ** 0.5
            stairs = _small_staircase(L.T @ A @ L, L.T @ C, error, error * norm)
            found = [Cluster(np.zeros(zeros, complex), *stairs[:2], 0.0, stairs[2])]
            if nonzero:  # a right eigenvector Vg + Kh is orthogonal to L
                overlap = np.asarray(-np.linalg.solve(L.T @ K, L[rows].T @ V), np.float64)
            A, C = V.T @ A[np.ix_(rows, rows)] @ V, V.T @ C[rows]
        # left invariant subspaces of A are right ones of Aᵀ
        T, Z = schur(A.T) if len(A) else (A, A)
    except (np.linalg.LinAlgError, ValueError):  # no Schur form of numbers so different in size
        return None
    return SchurForm(found, T, Z, C, norm, overlap, split, unit)


def ordered_form(A: Floats, C: Floats, nonzero: int, zeros: int) -> SchurForm | None:
    """The same in less time, where the moduli of eigenvalues tell how LAPACK scatters zeros.

    Zeros come last in the Schur form. With T₁₁R − RT₂₂ = −T₁₂ they have the left invariant subspace
    [R; I], and right eigenvectors y of the others go on as −Rᵀy. Some of these may be left among
    the zeros, in one cluster, of which no more than these and ``zeros`` count. None where that
    cannot be done; a zero among the others would not be told from its neighbours, and be noticed.
    """
    from scipy.linalg import lapack, solve_triangular

    A, unit = in_units(A)
    A, C = _unit_size(A, C)
    C = unit_norm(C)
    size, norm = len(A), float(np.sqrt((A**2).sum()))
    usable = nonzero > 0 and 0 < norm < np.inf and np.isfinite(C).all()
    found = schur_with_mask(A.T, C) if usable else None
    if found is None:
        return None
    (T, values), split_off, R = found, list[Cluster](), None
    order = np.argsort(-np.abs(values), kind="stable")
    moduli = np.append(np.abs(values)[order], 0.0)
    fewest = max(1, int((1 - SHARE_AMONG_ZEROS) * nonzero))
    ratios = moduli[fewest - 1 : nonzero] / moduli[fewest : nonzero + 1]
    count = nonzero if ratios[-1] > WELL_ABOVE else fewest + int(np.argmax(ratios))
    if not ratios[count - fewest] > ABOVE:
        return None
    if count < size:
        chosen = np.zeros(size + 1, np.int32)
        chosen[order[:count]] = 1
        T, _, _, _, _, _, _, failed = lapack.dtrsen(
            chosen, T, np.zeros_like(T), job=b"N", wantq=0, lwork=size + 1, overwrite_t=1
        )
        if failed or T[count, count - 1] != 0:
            return None
        T12, T22 = T[:count, count:size], T[count:size, count:size]
        R, scale, _ = lapack.dtrsyl(T[:count, :count], T22, -T12, isgn=-1)
        R /= scale
        if not np.isfinite(R).all():
            return None
        # in an orthonormal basis, [R; I] by the inverse of its triangle
        triangle: Any = np.linalg.qr(np.vstack([R, np.eye(size - count)]), mode="r")

        def times(x: Floats) -> Floats:
            return np.asarray(solve_triangular(triangle, T22.T @ (triangle.T @ x), trans="T"))

        mask = solve_triangular(triangle, T[:count, size] @ R + T[count:size, size], trans="T")
        error, most = DISC * size**0.5, zeros + nonzero - count
        stairs = _steps_up(times, mask, most, error, error * norm)
        split_off = [Cluster(np.zeros(size - count, complex), *stairs[:2], 0.0, stairs[2])]
    overlap = None if R is None else -R.T
    whole = np.eye(count)
    return SchurForm(
        split_off, T[:count, :count], whole, T[:count, size], norm, overlap, split=True, unit=unit
    )


def judged_clusters(form: SchurForm) -> list[Cluster] | None:
    """Judge every mode, cluster by cluster; None where there is no complex Schur form."""
    found, T, Z, C, norm, overlap, _, unit = form
    try:
        if len(T):
            found = found + _judged_closely(_both_forms(T, Z), C, norm, overlap)
    except (np.linalg.LinAlgError, ValueError):
        return None
    return _in_units(found, unit)


def counted_clusters(form: SchurForm, driven: int, zeros: int) -> list[Cluster] | None:
    """The same in less time, where as many as should count do so; some may be called unclear.

    ``driven`` is the exact number of those that are not split off and count, ``zeros`` that of
    those that are. What other modes do to those that are close to each other is taken to be worse
    than it is. Where all count, zeros may be as close to the others as they like. None where the
    numbers differ, or that takes as long.
    """
    if driven == len(form.T):
        form = form._replace(overlap=None)
    values = diagonal_values(form.T)
    first = np.flatnonzero(values.imag > 0)
    gap = np.abs(values[:, None] - values)
    gap[np.diag_indices(len(values))] = np.inf
    closest = gap.min(axis=1, initial=np.inf) / float(np.abs(values).max(initial=0.0))
    near = closest <= NEARLY_THE_SAME
    try:
        for _ in range(ATTEMPTS if form.split and len(values) else 0):
            if np.count_nonzero(~near) < SHARE_APART * len(near):
                break
            found, doubtful = _judged_apart(form, near)
            if found is not None and sum(k.rank for k in found) == driven:
                split_off = [c._replace(rank=min(c.rank, zeros)) for c in form.zeros]
                return _in_units(split_off + found, form.unit)
            if len(doubtful) == 0:
                break
            near[np.abs(values[:, None] - doubtful).argmin(axis=0)] = True
            near[first] = near[first + 1] = near[first] | near[first + 1]
    except (np.linalg.LinAlgError, ValueError):
        pass
    return None


def _in_units(found: list[Cluster], unit: float) -> list[Cluster]:
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
    wanted = dimension - (len(A) - size)
    while new.shape[1] and K.shape[1] < wanted:
        for _ in range(2):
            new = new - K @ (K.T @ new)
            new = np.linalg.qr(new)[0]
        K = np.hstack([K, new])
        part = left.T @ new
        share = seen.T @ part
        part, new = part - seen @ share, new - own @ share
        U, singular, Vh = np.linalg.svd(part, full_matrices=True)
        met = int((singular > ANGLE).sum())
        if met == new.shape[1] and K.shape[1] < wanted:
            met = int((singular > WIDER_ANGLE).sum())
        seen = np.hstack([seen, U[:, :met]])
        own = np.hstack([own, new @ (Vh[:met].T / singular[:met])])
        new = solved(Q[:, :rank].T @ (new @ Vh[met:].T))
    image = B @ K
    off = float(np.abs(image - K @ (K.T @ image)).max(initial=0.0))
    if K.shape[1] != wanted or off > ANGLE * norm:
        return None
    kernel = np.delete(np.eye(len(A)), kept, axis=1)
    return np.hstack([kernel, _placed(K, kept, len(A))]), kept, K


def _judged_apart(
    form: SchurForm, near: NDArray[np.bool_]
) -> tuple[list[Cluster] | None, Complexes]:
    """Judge modes, only those ``near`` others closely; or None, and which of the others are near.

    In the Schur form, modes that stand apart come first. With T₁₁R − RT₂₂ = −T₁₂ the others have
    the invariant subspace [R; I], and left eigenvectors y of T₁₁ go on as −Rᵀy.
    """
    from scipy.linalg import lapack, schur

    _, T, Z, C, norm, overlap, _, _ = form
    size, separation, none = len(T), norm, np.zeros(0, complex)
    apart = size - int(np.count_nonzero(near))
    R = np.zeros((apart, size - apart))
    if apart < size:
        room = 2 * apart * (size - apart)
        T, Z, _, _, _, _, separation, failed = lapack.dtrsen(
            (~near).astype(np.int32), T, Z, job=b"B", lwork=room, liwork=room
        )
        if failed or T[apart, apart - 1] != 0:
            return None, none
        T22 = T[apart:, apart:]
        R, scale, _ = lapack.dtrsyl(T[:apart, :apart], T22, -T[:apart, apart:], isgn=-1)
        R /= scale
    mask, outside = Z.T @ C, np.zeros((0, size)) if overlap is None else overlap @ Z
    beyond = np.vstack([-R.T, outside[:, :apart] - outside[:, apart:] @ R.T])
    quick = triangular_modes(T[:apart, :apart], mask[:apart], beyond)
    if quick is None:
        return None, none
    values, condition, excitation, trusted = quick
    if not trusted.all():
        return None, values[~trusted]
    disc = np.minimum(DISC * norm * condition, norm)
    touching = _touching(values, np.maximum(disc, DISC * np.abs(values)))
    if touching.any():
        return None, values[touching]
    found, others, weight = list[Cluster](), 0.0, condition * excitation
    if apart < size:
        Q, triangle = np.linalg.qr(np.vstack([R, np.eye(size - apart)]))
        small, c = triangle @ T22 @ np.linalg.inv(triangle), Q.T @ mask
        rights = np.vstack([np.zeros((apart, size - apart)), triangle.T])
        leaving = np.vstack([rights - Q @ (Q.T @ rights), outside @ rights])
        others = float(np.sqrt((1 + (R**2).sum()) * (c @ c))) / max(separation, TINY)
        rest = Elsewhere(size, separation, float(weight.sum()) / max(separation, TINY))
        found = _judged_closely(_both_forms(*schur(small)), c, norm, leaving, rest)
        reach = np.concatenate([np.full(k.size, k.uncertainty) for k in found])
        distance = np.abs(values[:, None] - np.concatenate([k.values for k in found]))
        reached = ~np.all(distance > disc[:, None] + reach, axis=1)
        if reached.any():
            return None, values[reached]
    blur = EPS * norm * (blur_of(values, weight) + others)
    return found + _single_modes(values, excitation, disc, DISC * size**0.5 + 10 * blur), none


def _touching(values: Complexes, radius: Floats) -> NDArray[np.bool_]:
    """Eigenvalues whose disc touches another that is no larger."""
    gap = np.abs(values[:, None] - values)
    gap[np.diag_indices(len(values))] = np.inf
    apart = gap > radius[:, None] + radius
    return np.asarray(~np.all(apart | (radius[:, None] < radius), axis=1))


def _single_modes(
    values: Complexes, excitation: Floats, radius: Floats, doubt: Floats
) -> list[Cluster]:
    """Modes that stand apart: they count where they are excited by more than rounding."""
    counts = (excitation > np.minimum(doubt, LARGEST_ROUNDING)).astype(int)
    clear = (counts == 0) | (excitation > CLEAR * doubt)
    columns = (counts.tolist(), excitation.tolist(), radius.tolist(), clear.tolist())
    return [Cluster(values[[k]], *mode) for k, mode in enumerate(zip(*columns, strict=True))]


class Elsewhere(NamedTuple):
    """What is left of a network of some size: its separation, and its blur in units of rounding."""

    size: int
    separation: float
    blur: float


class BothForms(NamedTuple):
    """The Schur form ZTZᵀ of Aᵀ, and the complex one QSQ*, with eigenvalues at the same places.

    ``conjugate`` tells where the conjugate of each eigenvalue is.
    """

    T: Floats
    Z: Floats
    S: Complexes
    Q: Complexes
    conjugate: NDArray[np.intp]


def _both_forms(T: Floats, Z: Floats) -> BothForms:
    conjugate, first = np.arange(len(T)), np.flatnonzero(np.diag(T, -1))
    conjugate[first], conjugate[first + 1] = first + 1, first
    T, Z = np.asfortranarray(T), np.asfortranarray(Z)  # as LAPACK wants them, once for all clusters
    return BothForms(T, Z, *complex_schur(T, Z), conjugate)


def _judged_closely(
    forms: BothForms,
    C: Floats,
    norm: float,
    overlap: Floats | None,
    rest: Elsewhere | None = None,
) -> list[Cluster]:
    """Judge modes by their Schur forms, those that rounding cannot tell apart together."""
    size, apart, others = rest or Elsewhere(len(forms.S), np.inf, 0.0)
    values, most = np.diag(forms.S).conj(), _largest_disc(norm, size)
    excitation, condition, disc = _triangular_modes(forms.S, forms.Q, C, norm, overlap)
    radius, single = np.minimum(disc, most), list[int]()
    found, judged = list[Cluster](), dict[tuple[int, ...], tuple[_Pair, int, float, bool]]()
    for cluster in _clusters(values, radius):
        if len(cluster) == 1:
            single.append(int(cluster[0]))
            continue
        key = tuple(sorted(forms.conjugate[cluster].tolist()))
        if key not in judged:  # else what is the conjugate of a cluster is driven as that is
            key = tuple(sorted(cluster.tolist()))
            pair = _invariant_pair(forms, cluster, C, norm, apart)
            stairs = _small_staircase(pair.M, pair.c, pair.error_c, pair.error_block)
            judged[key] = pair, *stairs
        pair, rank, excited, clear = judged[key]
        clear = clear and max(pair.error_c, pair.error_block / norm) < LARGEST_ROUNDING
        clear = clear and bool(np.all(disc[cluster] <= most))
        spread = float(np.abs(values[cluster] - values[cluster].mean()).max())
        uncertainty = spread + float(radius[cluster].max())
        found.append(Cluster(values[cluster], rank, excited, uncertainty, clear, pair.projector))
        # single members may be conditioned as badly as can be: all together are as they stand apart
        others += pair.projector * excited / max(pair.separation, TINY)
    blur = EPS * norm * (blur_of(values[single], (condition * excitation)[single]) + others)
    doubt = DISC * size**0.5 + 10 * blur
    modes = _single_modes(values[single], excitation[single], radius[single], doubt)
    known = (disc[single] <= most).tolist()
    return found + [m._replace(clear=m.clear and k) for m, k in zip(modes, known, strict=True)]


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
        forms = _both_forms(*schur(A.T))
    except (np.linalg.LinAlgError, ValueError):
        return False
    values = np.diag(forms.S).conj()
    if not norm > 0 or not np.abs(values).max() < 1:
        return False
    excitation, condition, disc = _triangular_modes(forms.S, forms.Q, C, norm, None)
    blur = EPS * norm * blur_of(values, condition * excitation)
    doubts = DISC * len(A) ** 0.5 + 10 * blur
    # where rounding of a strong input hides in which direction a weak one drives modes, these are
    # told apart by their eigenvalues alone
    hidden = CLEAR * doubts / excitation
    nearest = np.abs(values[:, None] - values) + 2 * np.eye(len(A))
    for cluster in _clusters(values, np.minimum(disc, _largest_disc(norm, len(A)))):
        if len(cluster) == 1:
            driven = float(excitation[cluster[0]])
            if nearest[cluster[0]].min() < hidden[cluster[0]]:
                return False
            doubt = float(doubts[cluster[0]])
        else:
            M, c, error_c, error_block, _, _ = _invariant_pair(forms, cluster, C, norm)
            if max(error_c, error_block / norm) >= LARGEST_ROUNDING:
                return False
            points = (*np.linalg.eigvals(M), values[cluster].mean())
            driven = min(_least_singular_value(M - z * np.eye(len(M)), norm, c) for z in points)
            doubt = (error_c + error_block / norm) / (1 - float(np.abs(values[cluster]).max()))
        if not driven > CLEAR * doubt:
            return False
    return True


def _least_singular_value(M: NDArray[Any], norm: float, c: NDArray[Any]) -> float:
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

    M: NDArray[Any]
    c: NDArray[Any]
    error_c: float
    error_block: float
    projector: float
    separation: float


def _invariant_pair(
    forms: BothForms,
    cluster: NDArray[np.intp],
    C: Floats,
    norm: float,
    apart: float = np.inf,
) -> _Pair:
    """In real numbers, which take a quarter of the time, where conjugates are in the cluster."""
    from scipy.linalg.lapack import dtrsen, ztrsen

    T, Z, S, Q, conjugate = forms
    size, count = len(S), len(cluster)
    separation, overlap = norm, 1.0
    if count < size:
        chosen, room = np.zeros(size, np.int32), max(1, 2 * count * (size - count))
        chosen[cluster] = 1
        is_real = bool(chosen[conjugate[cluster]].all())
        if is_real:  # LAPACK may be unable to swap blocks
            S, Q, _, _, _, overlap, separation, failed = dtrsen(
                chosen, T, Z, job=b"B", lwork=room, liwork=room
            )
            is_real = not failed
        if not is_real:
            S, Q, _, _, overlap, separation, _ = ztrsen(
                chosen, forms.S, forms.Q, job=b"B", lwork=room
            )
    separation = min(separation, apart)
    error_c = min(DISC * max(norm / max(separation, TINY), size**0.5), LARGEST_ROUNDING)
    error_block = norm * min(DISC * size / max(overlap, TINY), LARGEST_ROUNDING)
    M, c = S[:count, :count].conj().T, Q[:, :count].conj().T @ C
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
    return _judged_steps(length, steps, error_c, error_block)


def _judged_steps(
    length: float, steps: Floats, error_c: float, error_block: float
) -> tuple[int, float, bool]:
    before = np.concatenate([[np.inf], steps])[: len(steps)]
    ends = np.flatnonzero((steps <= error_block) & ~(steps > SUDDEN_DROP * before))
    rank = int(ends[0]) + 1 if len(ends) else len(steps) + 1
    clear = length > CLEAR * error_c and bool(np.all(steps[: rank - 1] > CLEAR * error_block))
    return rank, length, clear


def _steps_up(
    times: Callable[[Floats], Floats], c: Floats, most: int, error_c: float, error_block: float
) -> tuple[int, float, bool]:
    """The same by products, for a rank of at most ``most``: Arnoldi's steps are that diagonal."""
    length = float(np.linalg.norm(c))
    if length <= error_c or most == 0:
        return 0, length, True
    basis, steps = [c / length], list[float]()
    while len(basis) < min(most, len(c)):
        x, Q = times(basis[-1]), np.array(basis)
        for _ in range(2):
            x = x - (Q @ x) @ Q
        steps.append(float(np.linalg.norm(x)))
        if not steps[-1] > 0:
            break
        basis.append(x / steps[-1])
    return _judged_steps(length, np.array(steps), error_c, error_block)
