"""Which modes the mask excites, in floating point: the Popov–Belevitch–Hautus (PBH) test.

A mode λ with unit left eigenvector w (w*A = λw*) is controllable if w*C ≠ 0; |w*C| / ‖C‖ is its
*excitation*, the relative change of the mask that would silence it. Rounding moves it by::

    |δ(w_k*C)| ≤ ‖δA‖ Σ_{j≠k} κ_j |w_j*C| / |λ_k − λ_j|,      κ_j = ‖w_j‖‖v_j‖ / |w_j*v_j|

to first order, v_j the right eigenvectors. All of it is done after scaling A, so that rows and
columns are alike in size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from memcurve.solve.errors import Sensitivity
from memcurve.types import EPS, Complexes, Floats

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

    def likely_poles(self) -> Complexes:
        """About the poles that count: without those of least modulus."""
        poles = self.poles[np.argsort(-np.abs(self.poles), kind="stable")]
        return poles[: len(poles) - self.shift]


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
        them out.
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
    find_poles : callable or None
        Where the poles have not been asked for yet: what finds them, and how well they are known.
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
    find_poles: Callable[[], tuple[Complexes | None, Sensitivity]] | None = None
    lost: tuple[LostModes, ...] = ()


class Screening(NamedTuple):
    """Outcome of the PBH test of all modes.

    ``poles`` are the eigenvalues as LAPACK finds them for A; ``values``, in the order of the other
    figures, may have gone through one more rounding: ``disc`` says how far each may be off.
    ``noise`` is what rounding does to the excitations. ``sure``: every mode counts beyond doubt.
    ``likely``: as far as rounding allows to tell, so that the rank up to rounding is full, but the
    exact rank is to be asked. ``symmetric``: A is.
    """

    poles: Complexes
    values: Complexes
    excitation: Floats
    noise: Floats
    disc: Floats
    symmetric: bool
    sure: bool = False
    likely: bool = False
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
    room = room_between(look.values, disc)
    beyond_doubt = look.excitation > np.maximum(CLEAR**2 * look.noise, LEAST_EXCITATION)
    return look._replace(
        disc=disc,
        symmetric=all(part.symmetric for part in parts),
        sure=bool(beyond_doubt.all()) and room > wide,
        likely=bool(clear.all()) and room > 1,
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
    numbers = values if values.imag.any() else values.real  # real ones are quicker
    for rows in np.array_split(np.arange(len(values)), max(1, len(values) ** 2 // 2**21)):
        gap = np.abs(numbers[rows, None] - numbers)
        gap[np.arange(len(rows)), rows] = np.inf
        yield rows, gap


def _blur(values: Complexes, weight: Floats) -> Floats:
    """Σ_{j≠k} weight_j / |λ_k − λ_j| for every k."""
    blur = np.empty(len(values))
    for rows, gap in _gaps(values):
        blur[rows] = (weight / gap).sum(axis=1)
    return np.where(np.isfinite(blur), blur, np.inf)


def room_between(values: Complexes, radius: Floats) -> float:
    """Factor by which the discs around the eigenvalues could grow before two of them touch."""
    least = np.inf
    for rows, gap in _gaps(values):
        room = gap / (radius[rows, None] + radius)
        least = min(least, float(np.where(np.isnan(room), 0.0, room).min()))
    return least


def touching(values: Complexes, radius: Floats) -> list[Indices]:
    """Groups of values whose discs touch, one those of the next."""
    from scipy.sparse import csr_array

    return separate_parts(csr_array(np.abs(values[:, None] - values) <= radius[:, None] + radius))


def unit_norm(C: Floats) -> Floats:
    C = C / np.abs(C).max()  # first, so that no square overflows
    return C / float(np.sqrt((C**2).sum()))


def robust_rank(A: Floats, C: Floats) -> int:
    """The rank up to rounding: how many modes the mask excites further than rounding does.

    Of eigenvalues that rounding cannot tell apart, all but one of their independent left
    eigenvectors are lost to a single input; they are independent where a defective eigenvalue has
    no part in it. States are scaled to responses of unit size first.
    """
    size, x, above, peak = len(A), C, np.abs(C), np.abs(C)
    for _ in range(size):
        x, above = A @ x, np.abs(A) @ above
        peak = np.maximum(peak, np.where(np.abs(x) > size * DISC * above, np.abs(x), 0.0))
    exponents = np.rint(np.log2(np.where((peak > 0) & (peak < np.inf), peak, 1.0))).astype(int)
    A, C = np.ldexp(A, exponents - exponents[:, None]), unit_norm(np.ldexp(C, -exponents))
    norm = float(np.sqrt((A**2).sum()))
    try:
        values, W = np.linalg.eig(A.T)
        condition = np.linalg.norm(np.linalg.inv(W), axis=1)
    except np.linalg.LinAlgError:
        return size
    radius = np.minimum(DISC * norm * condition, norm * DISC**0.5)
    lost = 0
    for cluster in touching(values, radius):
        U, lengths, _ = np.linalg.svd(W[:, cluster], full_matrices=False)
        directions = int(np.count_nonzero(lengths > DISC**0.25))
        apart = np.abs(values[cluster, None] - np.delete(values, cluster)).min(initial=norm)
        blur = DISC * norm * size**0.5 * float(condition[cluster].max()) / apart
        driven = np.linalg.norm(U[:, :directions].T @ C) > min(blur, SMALL_ROUNDING)
        lost += directions - bool(driven)
    return size - lost


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
    figures, went through one more rounding. None where eigenvectors are nearly parallel. A that
    falls into parts would be permuted by LAPACK, and the last row with it.
    """
    factor = schur_with_mask(A, C)
    if factor is None:
        return None
    T, poles = factor
    basis = _EigenvectorsOfT.of(T[:-1, :-1])
    if basis is None:
        return None
    left, right = (np.sqrt(np.einsum("ij,ij->j", X, X)) for X in (basis.inverse.T, basis.X))
    driven, first = basis.inverse @ T[:-1, -1], basis.first
    for packed in (left, right, driven):  # a pair a ± ib is stored as a, b
        packed[first] = packed[first + 1] = np.hypot(packed[first], packed[first + 1])
    condition, excitation = left * right, np.abs(driven) / left
    condition[first] /= 2
    condition[first + 1] /= 2
    # the condition of X with columns of unit length is at most √(N Σκ²)
    rounding = EPS * len(A) * float(np.sqrt((condition**2).sum()))
    allowed = np.clip(1e-3 * excitation.min(), SMALL_ROUNDING, 100 * SMALL_ROUNDING)
    # NaN where two eigenvalues are the same
    return (poles, basis.values, excitation, condition) if rounding <= allowed else None


def schur_with_mask(A: Floats, C: Floats) -> tuple[Floats, Complexes] | None:
    """The Schur factor T = ZᵀAZ with ZᵀC as its last column and zeros below, and the eigenvalues.

    None where LAPACK fails, or moves the last row, which it may where A falls into parts.
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
    return T, re[:size] + 1j * im[:size]


def diagonal_values(T: Floats) -> Complexes:
    """Eigenvalues of a real Schur form, as LAPACK leaves it: pairs in blocks [a b; c a], bc < 0."""
    values = np.diag(T).astype(complex)
    first = np.flatnonzero(np.diag(T, -1))
    imaginary = np.sqrt(np.abs(T[first, first + 1])) * np.sqrt(np.abs(T[first + 1, first]))
    values[first] += 1j * imaginary
    values[first + 1] -= 1j * imaginary
    return values


class _EigenvectorsOfT:
    """X and X⁻¹ of a quasi-triangular T, filled in from the diagonal outwards.

    As LAPACK packs them: a pair a ± ib in two columns a, b, where ``first`` has the place of a;
    ``values`` are the eigenvalues of the blocks on the diagonal.
    """

    def __init__(self, T: Floats) -> None:
        self.T = T
        self.X = np.zeros(T.shape, order="F")
        self.inverse = np.zeros(T.shape, order="F")
        self.values = np.zeros(len(T), dtype=complex)

    @classmethod
    def of(cls, T: Floats) -> _EigenvectorsOfT | None:
        """All of them; None where some are parallel."""
        basis = cls(T)
        return basis if basis._fill(0, len(T)) else None

    @property
    def first(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.values.imag > 0)

    def _fill(self, start: int, stop: int, leaf: int = 64) -> bool:
        """Blocks of the size of a leaf are left to LAPACK."""
        from scipy.linalg.blas import dgemm

        if stop - start <= leaf:
            return self._fill_leaf(slice(start, stop))
        middle = (start + stop) // 2
        middle += self.T[middle, middle - 1] != 0  # never between the two of a pair
        if not self._fill(start, middle) or not self._fill(middle, stop):
            return False
        one, two = slice(start, middle), slice(middle, stop)
        coupling = dgemm(
            1.0, self.inverse[one, one], dgemm(1.0, self.T[one, two], self.X[two, two])
        )
        Y = _divided(coupling, self.values[one], self.values[two])
        self.X[one, two] = dgemm(1.0, self.X[one, one], Y)
        self.inverse[one, two] = dgemm(-1.0, Y, self.inverse[two, two])
        return True

    def _fill_leaf(self, own: slice) -> bool:
        from scipy.linalg import lapack

        re, im, _, X, info = lapack.dgeev(self.T[own, own], compute_vl=0, compute_vr=1)
        try:
            inverse = np.linalg.inv(X)
        except np.linalg.LinAlgError:
            return False
        if info != 0:
            return False
        self.values[own] = re + 1j * im
        self.X[own, own], self.inverse[own, own] = X, inverse
        return True


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
