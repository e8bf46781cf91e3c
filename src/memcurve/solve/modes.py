"""Which modes the mask excites, in floating point: the Popov–Belevitch–Hautus (PBH) test.

A mode λ with unit left eigenvector w (w*A = λw*) is controllable if w*C ≠ 0; |w*C| / ‖C‖ is its
*excitation*, the relative change of the mask that would silence it. Rounding moves it by::

    |δ(w_k*C)| ≤ ‖δA‖ Σ_{j≠k} κ_j |w_j*C| / |λ_k − λ_j|,      κ_j = ‖w_j‖‖v_j‖ / |w_j*v_j|

to first order, v_j the right eigenvectors. All of it is done after scaling A, so that rows and
columns are alike in size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import EPS, Complexes, Floats
from memcurve.network.graph import (
    Indices,
    balanced,
    has_no_zeros,
    in_units,
    is_symmetric,
    separate_parts,
    strong_components,
    submatrix,
)

#: Eigenvalues are told apart when discs of this many backward errors around them are disjoint.
#: Doubled: more networks are judged by their exact rank.
DISC = 10 * EPS
#: A mode counts when its excitation exceeds its blur by this factor; beyond doubt, by its square.
#: Doubled: the exact rank is asked for more often, and more modes are called a matter of rounding.
CLEAR = 100.0
#: No mode excited less than this counts beyond doubt. Doubled: the exact rank is asked more often.
LEAST_EXCITATION = 1e-6
#: Eigenvectors are trusted where rounding in them, √N·eps·κ(X), is at most this, or a thousandth of
#: the least excitation up to a hundred times this. Doubled: fewer are computed a second time.
SMALL_ROUNDING = 1e-8


class Ring(NamedTuple):
    """Poles zero, ``tail`` times, and the roots of λ^length = p, 0 < |p| < 1; none for length 0.

    ``log_square`` is log p² and ``complement`` 1 − p², each known to its last digits.
    """

    tail: int
    length: int
    log_square: float
    complement: float


class Response(NamedTuple):
    """Poles of which ``shift`` zeros do not count, without saying which of them are the zeros.

    A pole at zero delays the all-pass filter by one step: B = z^m B_counting. ``sensitivity`` is
    that of the curve to rounding in them.
    """

    poles: Complexes
    shift: int
    sensitivity: float


class LostModes(NamedTuple):
    """Eigenvalues that appear so often each, and of which so many count.

    ``blocks`` are the strong components they belong to, where these are small.
    """

    values: Complexes
    appears: int
    counts: int
    blocks: tuple[int, ...] = ()

    @property
    def missing(self) -> int:
        """How many are lost."""
        return len(self.values) * (self.appears - self.counts)


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The controllable spectrum of a single-input network.

    Attributes
    ----------
    poles : complex array or None
        The eigenvalues that count, with multiplicity; None where floating point cannot single
        them out. Where ``response`` is given, those of least modulus are left out.
    rank : int
        Exact rank of [C, AC, A²C, …] for the stored numbers: the total memory.
    rank_robust : int
        The rank up to rounding: modes that a change in the last digits would silence left out.
        Judged where the rank is full; the rank elsewhere.
    reachable : int array
        States that the input reaches along the edges of the network.
    margin : float
        Smallest excitation ``|w*C|/‖C‖`` among the modes, in scaled coordinates: the relative
        change of the mask that would silence one. NaN where it was not looked at: for most
        networks of deficient rank, and where zero is a multiple eigenvalue by the wiring.
    sensitivity : float
        Bound on ``|δMC_τ| / √(min(MC_τ, 1 − MC_τ))`` due to rounding in the poles.
    gap : float
        Bound on the sine of the largest angle by which that rounding turns the space of inputs
        that the states remember.
    ring : Ring or None
        Where all poles count and are zero or the roots of one number, that number.
    assumed : bool
        Whether all modes were taken to count without being asked.
    response : Response or None
        Where the curve is known without the poles, or better: more poles than count, and the lags
        by which those that do not, all of them zero, delay their filter.
    lost : tuple of LostModes
        Reachable modes that do not count, as far as it is known which these are.
    """

    poles: Complexes | None
    rank: int
    rank_robust: int
    reachable: Indices
    margin: float
    sensitivity: float
    gap: float
    ring: Ring | None = None
    assumed: bool = False
    response: Response | None = None
    lost: tuple[LostModes, ...] = ()


class Screening(NamedTuple):
    """Outcome of the PBH test of all modes.

    ``poles`` are the eigenvalues as LAPACK finds them for A; ``values``, in the order of the other
    figures, may have gone through one more rounding: ``disc`` says how far each may be off.
    ``noise`` is what rounding does to the excitations. ``sure``: every mode counts beyond doubt;
    else the exact rank is to be asked. ``symmetric``: A is.
    """

    poles: Complexes
    values: Complexes
    excitation: Floats
    noise: Floats
    disc: Floats
    symmetric: bool
    sure: bool = False
    unstable_radius: float | None = None


def screen(A: Any, C: Floats, *, wide: float = 1e4) -> Screening:
    """Eigenvalues and excitations; whether every mode surely counts, or one is surely unstable.

    Eigenvalues are told apart beyond doubt, second-order effects included, where discs that much
    wider are disjoint; wider ones would have the exact rank asked for more often.
    """
    C = unit_norm(C)
    parts = [_screened(submatrix(A, n), C[n]) for n in separate_parts(A)]
    joined: list[Any] = [np.concatenate([part[k] for part in parts]) for k in range(5)]
    look = parts[0]._replace(**dict(zip(Screening._fields, joined, strict=False)))
    clear = look.excitation > CLEAR * look.noise
    outside = np.abs(look.values[clear & (np.abs(look.values) - look.disc >= 1)])
    # a single node's eigenvalue is exact, but its last digit may be another, as any weight's
    disc = np.maximum(look.disc, DISC * np.abs(look.values))
    beyond_doubt = look.excitation > np.maximum(CLEAR**2 * look.noise, LEAST_EXCITATION)
    return look._replace(
        disc=disc,
        symmetric=all(part.symmetric for part in parts),
        sure=bool(beyond_doubt.all()) and room_between(look.values, disc) > wide,
        unstable_radius=float(outside.max()) if len(outside) else None,
    )


def _screened(A: Floats, C: Floats) -> Screening:
    """The same of one block, in units in which its squares neither vanish nor overflow."""
    (A, unit), size, symmetric = in_units(A), len(A), is_symmetric(A)
    if size == 1:
        value = np.asarray(unit * A.ravel(), np.complex128)
        return Screening(value, value, np.abs(C), np.full(1, EPS), np.zeros(1), symmetric=True)
    if symmetric:
        real_values, W = np.linalg.eigh(A)
        values, excitation = real_values.astype(complex), np.abs(W.T @ C)
        modes = values, values, excitation, np.ones(size)
        norm = float(np.abs(values).max()) * size**0.5
    else:
        share = float(np.sqrt((C**2).sum()))
        A, scale = balanced(A)
        C = unit_norm(C / scale) * share if share > 0 else C
        norm = float(np.sqrt((A**2).sum()))
        is_one = has_no_zeros(A) or len(strong_components(A)) == 1
        modes = (schur_modes(A, C) if is_one else None) or _eigenvector_modes(A, C)
    poles, values, excitation, condition = modes
    noise = EPS * norm * _blur(values, condition * excitation) + EPS
    if unit > 1 and len(strong_components(A)) > 1:  # links that large drown every other weight
        noise = np.full(size, np.inf)
    disc = unit * np.minimum(DISC * norm * condition, norm)
    poles, values = (np.asarray(unit * each, np.complex128) for each in (poles, values))
    return Screening(poles, values, excitation, noise, disc, symmetric)


Modes = tuple[Complexes, Complexes, Floats, Floats]


def _eigenvector_modes(A: Floats, C: Floats) -> Modes:
    """Eigenvalues, twice, excitations and condition numbers from unit left eigenvectors."""
    values, W = np.linalg.eig(A.T)
    try:
        condition = np.linalg.norm(np.linalg.inv(W), axis=1)
    except np.linalg.LinAlgError:  # some of them are parallel
        condition = np.full(len(A), np.inf)
    condition = np.where(np.isfinite(condition), condition, np.inf)
    return values.astype(complex), values.astype(complex), np.abs(W.T @ C), condition


def _gaps(values: Complexes) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Distances |λ_k − λ_j|, some rows k at a time so that they fit; infinite for j = k."""
    for rows in np.array_split(np.arange(len(values)), max(1, len(values) ** 2 // 2**21)):
        gap = np.abs(values.real[rows, None] - values.real)
        if values.imag.any():  # faster than moduli of complex numbers
            gap = np.sqrt(gap**2 + (values.imag[rows, None] - values.imag) ** 2)
        gap[np.arange(len(rows)), rows] = np.inf
        yield rows, gap


def _blur(values: Complexes, weight: Floats) -> Floats:
    """Σ_{j≠k} weight_j / |λ_k − λ_j| for every k."""
    blur = np.concatenate([(weight / gap).sum(axis=1) for _, gap in _gaps(values)])
    return np.where(np.isfinite(blur), blur, np.inf)


def room_between(values: Complexes, radius: Floats) -> float:
    """Factor by which the discs around the eigenvalues could grow before two of them touch."""
    rooms = (gap / (radius[rows, None] + radius) for rows, gap in _gaps(values))
    return min(float(np.where(np.isnan(room), 0.0, room).min()) for room in rooms)


def touching(values: Complexes, radius: Floats) -> list[Indices]:
    """Groups of values whose discs touch, one those of the next."""
    from scipy.sparse import csr_array

    return separate_parts(csr_array(np.abs(values[:, None] - values) <= radius[:, None] + radius))


def unit_norm(C: Floats) -> Floats:
    C = C / np.abs(C).max()  # first, so that no square overflows
    return C / float(np.sqrt((C**2).sum()))


def robust_rank(look: Screening) -> int:
    """How many modes the mask excites beyond rounding, of eigenvalues that rounding tells apart.

    All of them where some are nearly defective: these are not judged.
    """
    size = len(look.values)
    largest = float(np.abs(look.values).max(initial=0.0)) * size**0.5
    if not np.all(look.disc <= DISC**0.5 * largest):
        return size
    groups, clear = touching(look.values, look.disc), look.excitation > CLEAR * look.noise
    return sum(1 for group in groups if len(group) > 1 or clear[group[0]])


# --- Condition numbers and excitations of all modes without eigenvectors of A itself.
#
# The Schur factor T = ZᵀAZ alone takes hardly longer than the eigenvalues: it is the orthogonal Z
# that is expensive. All that is needed of Z is ZᵀC, and that comes for free as the last column of
# the Schur factor of [A C; 0 0], whose last row is left alone.
#
# The eigenvectors of T = [T₁ T₁₂; 0 T₂] follow from those of its parts, T_iX_i = X_iD_i::
#
#     X = [X₁ X₁Y; 0 X₂],    X⁻¹ = [X₁⁻¹ −YX₂⁻¹; 0 X₂⁻¹],    D₁Y − YD₂ = −X₁⁻¹T₁₂X₂
#
# which is a few matrix products and a division entry by entry, as the D are diagonal. Row k of X⁻¹
# is the left eigenvector, so that ‖X e_k‖ and ‖e_kᵀX⁻¹‖ give the condition of mode k, and X⁻¹ZᵀC
# how far it is excited.


def schur_modes(A: Floats, C: Floats) -> Modes | None:
    """Poles, values, excitations |w*C| and condition numbers of a strongly connected A.

    ``poles`` are the eigenvalues as LAPACK finds them for A; ``values``, in the order of the other
    figures, went through one more rounding. None where LAPACK fails, moves the last row, as it may
    where A falls into parts, or eigenvectors are nearly parallel.
    """
    from scipy.linalg import lapack

    size = len(A)
    joint = np.zeros((size + 1, size + 1), order="F")
    joint[:size, :size], joint[:size, size] = A, C
    lwork = int(lapack.dgeev_lwork(size + 1, compute_vl=1, compute_vr=0)[0])
    T, _, re, im, _, _, info = lapack.dgees(
        lambda *_: 0, joint, compute_v=0, lwork=lwork, overwrite_a=1
    )
    mask = T[:size, size]
    moved = abs(float(mask @ mask) - float(C @ C)) > SMALL_ROUNDING * float(C @ C)
    if info != 0 or moved or T[size, size] != 0:
        return None
    try:
        values, X, inverse = _eigenvectors(T[:size, :size])
    except np.linalg.LinAlgError:
        return None
    left, right = np.sqrt(np.einsum("ij,ij->i", inverse, inverse)), np.sqrt((X**2).sum(axis=0))
    driven, first = inverse @ mask, np.flatnonzero(values.imag > 0)
    for packed in (left, right, driven):  # a pair a ± ib is stored as a, b
        packed[first] = packed[first + 1] = np.hypot(packed[first], packed[first + 1])
    condition, excitation = left * right, np.abs(driven) / left
    condition[first] /= 2
    condition[first + 1] /= 2
    # the condition of X with columns of unit length is at most √(N Σκ²)
    rounding = EPS * size * float(np.sqrt((condition**2).sum()))
    allowed = np.clip(1e-3 * excitation.min(), SMALL_ROUNDING, 100 * SMALL_ROUNDING)
    poles = re[:size] + 1j * im[:size]
    # NaN where two eigenvalues are the same
    return (poles, values, excitation, condition) if rounding <= allowed else None


def _eigenvectors(T: Floats, *, leaf: int = 64) -> tuple[Complexes, Floats, Floats]:
    """Eigenvalues of a quasi-triangular T, X and X⁻¹, from the diagonal outwards.

    As LAPACK packs them: a pair a ± ib in two columns a, b. Blocks of the size of a leaf are left
    to LAPACK. Raises LinAlgError where eigenvectors are parallel.
    """
    from scipy.linalg import lapack

    size = len(T)
    if size <= leaf:
        re, im, _, X, info = lapack.dgeev(T, compute_vl=0, compute_vr=1)
        if info != 0:
            raise np.linalg.LinAlgError
        return re + 1j * im, X, np.linalg.inv(X)
    middle = size // 2
    middle += T[middle, middle - 1] != 0  # never between the two of a pair
    one, two = slice(middle), slice(middle, size)
    (first, X1, inverse1), (second, X2, inverse2) = (
        _eigenvectors(T[own, own], leaf=leaf) for own in (one, two)
    )
    Y = _divided(inverse1 @ (T[one, two] @ X2), first, second)
    X, inverse = np.zeros((size, size)), np.zeros((size, size))
    X[one, one], X[two, two], X[one, two] = X1, X2, X1 @ Y
    inverse[one, one], inverse[two, two], inverse[one, two] = inverse1, inverse2, -Y @ inverse2
    return np.concatenate([first, second]), X, inverse


def _divided(M: Floats, rows: Complexes, columns: Complexes) -> Floats:
    """The Y with D₁Y − YD₂ = −M, where D has the blocks [α β; −β α] for a pair α ± iβ.

    The eigenvectors of such a block are (1, ±i): with rows and columns combined accordingly the
    equation is one for each entry. The row of a lower eigenvalue is the conjugate of the upper
    one's, and is left out.
    """
    first, second = np.flatnonzero(rows.imag > 0), np.flatnonzero(columns.imag > 0)
    upper = np.flatnonzero(rows.imag >= 0)
    entries = M[upper].astype(complex)
    in_pair = rows.imag[upper] > 0
    entries[in_pair] = (M[first] - 1j * M[first + 1]) / 2
    a, b = entries[:, second], 1j * entries[:, second + 1]
    entries[:, second], entries[:, second + 1] = a + b, a - b
    entries /= columns - rows[upper, None]
    a, b = entries[:, second], entries[:, second + 1]
    entries[:, second], entries[:, second + 1] = (a + b) / 2, (a - b) / 2j
    Y = np.empty(M.shape, order="F")
    Y[upper] = entries.real
    Y[first] *= 2
    Y[first + 1] = -2 * entries.imag[in_pair]
    return Y
