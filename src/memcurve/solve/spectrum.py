"""The controllable eigenvalues of a network, found in several ways.

The Popov–Belevitch–Hautus (PBH) test. A mode λ with unit left eigenvector w (w*A = λw*) is
controllable if w*C ≠ 0; |w*C| / ‖C‖ is its *excitation*, the relative change of the mask that
makes it uncontrollable. Rounding moves it by::

    |δ(w_k*C)| ≤ ‖δA‖ Σ_{j≠k} κ_j |w_j*C| / |λ_k − λ_j|,      κ_j = ‖w_j‖‖v_j‖ / |w_j*v_j|

to first order, v_j the right eigenvectors, for a balanced A. Which way is taken is decided in
:mod:`memcurve.solve.analysis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import EPS, TINY, Complexes, Floats
from memcurve.network.graph import (
    Indices,
    balanced,
    eigenvalues,
    has_no_zeros,
    is_symmetric,
    separate_parts,
    strong_components,
    submatrix,
)
from memcurve.network.modular import UncontrollableModes
from memcurve.solve.errors import (
    FIRST_ORDER,
    Sensitivity,
    backward_error,
    uncertain_poles_sensitivity,
)
from memcurve.solve.factor import hessenberg
from memcurve.solve.powers import power_norms

#: Eigenvalues are distinct when discs of this many backward errors around them are disjoint.
#: Doubled: more networks are judged by their exact rank.
DISC = 10 * EPS
#: A mode is controllable if its excitation exceeds its rounding by this factor; surely, by its
#: square. Doubled: the exact rank is asked for more often, and more modes are called a matter of
#: rounding.
CLEAR = 100.0
#: Quantities below this, relative to their scale, may be nothing but rounding; above, they are not.
#: Doubled: hardly anything, as what is exactly zero comes out below 1e-13.
NOT_ROUNDING = 1e-9


class Poles(NamedTuple):
    """Poles, of which ``shift`` zeros are uncontrollable, and how well they are known.

    A pole at zero delays the all-pass filter by one step: B = z^m B_controllable.
    """

    values: Complexes
    sensitivity: Sensitivity
    shift: int = 0
    uncontrollable: tuple[UncontrollableModes, ...] = ()


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The controllable spectrum of a single-input network.

    Attributes
    ----------
    poles : complex array or None
        The controllable eigenvalues, with multiplicity; None where floating point cannot single
        them out. Where ``response`` is given, those of least modulus are left out.
    rank, rank_robust : int
        Exact rank of [C, AC, A²C, …] for the stored numbers, the total memory; and without modes
        that a change in the last digits would make uncontrollable, judged where the rank is full.
    reachable : int array
        States that the input reaches along the edges of the network.
    margin : float
        Smallest excitation ``|w*C|/‖C‖`` among the modes, in scaled coordinates: the relative
        change of the mask that makes one uncontrollable. NaN where it was not computed.
    sensitivity, gap : float
        Bounds on ``|δMC_τ| / √(min(MC_τ, 1 − MC_τ))`` due to rounding in the poles, and on the sine
        of the largest angle by which it turns the space of inputs that the states remember.
    response : Poles or None
        Where the curve is known without the poles, or better: more poles than are controllable, and
        the lags by which the others, all of them zero, delay their filter.
    uncontrollable : tuple of UncontrollableModes
        Reachable modes that are uncontrollable, as far as it is known which these are.
    """

    poles: Complexes | None
    rank: int
    rank_robust: int
    reachable: Indices
    margin: float
    sensitivity: float
    gap: float
    response: Poles | None = None
    uncontrollable: tuple[UncontrollableModes, ...] = ()


# --- the PBH test


class PBHTest(NamedTuple):
    """Outcome of the PBH test of all modes.

    ``poles`` are the eigenvalues as LAPACK finds them for A; ``values``, in the order of the other
    figures, may have gone through one more rounding: ``disc`` says how far each may be off.
    ``noise`` is what rounding does to the excitations. ``sure``: every mode is surely controllable;
    else the exact rank is to be asked.
    """

    poles: Complexes
    values: Complexes
    excitation: Floats
    noise: Floats
    disc: Floats
    sure: bool = False

    @property
    def unstable_radius(self) -> float:
        """The largest modulus of modes that are excited, and outside the circle, for sure; or 0."""
        outside = np.abs(self.values) - self.disc >= 1
        sure = outside & (self.excitation > CLEAR * self.noise)
        return float(np.abs(self.values[sure]).max(initial=0.0))

    @property
    def robust_rank(self) -> int:
        """How many modes are excited beyond rounding; all where some are nearly defective."""
        size = len(self.values)
        largest = float(np.abs(self.values).max(initial=0.0)) * size**0.5
        if not np.all(self.disc <= DISC**0.5 * largest):
            return size
        clear = self.excitation > CLEAR * self.noise
        groups = touching(self.values, self.disc)
        return sum(1 for group in groups if len(group) > 1 or clear[group[0]])


def pbh_test(A: Any, C: Floats, *, wide: float = 1e4, least_excitation: float = 1e-6) -> PBHTest:
    """Eigenvalues and excitations; whether every mode is surely controllable.

    Eigenvalues are surely distinct, second-order effects included, where discs that much
    ``wide``\\ r are disjoint, and a mode is surely excited by ``least_excitation`` at least:
    with larger ones the exact rank would be asked for more often.
    """
    C = unit_norm(C)
    parts: tuple[PBHTest, ...]
    parts, rooms = zip(*(_tested(submatrix(A, n), C[n]) for n in separate_parts(A)), strict=True)
    joined: list[Any] = [np.concatenate([part[k] for part in parts]) for k in range(5)]
    test = parts[0]._replace(**dict(zip(PBHTest._fields, joined, strict=False)))
    clearly = test.excitation > np.maximum(CLEAR**2 * test.noise, least_excitation)
    sure = bool(clearly.all()) and min(rooms) > wide
    if sure and len(parts) > 1:
        sure = _surroundings(test.values, test.disc, test.disc)[1] > wide
    return test._replace(sure=sure)


def _tested(A: Floats, C: Floats) -> tuple[PBHTest, float]:
    """The same of one block, and by which factor discs around its eigenvalues can grow."""
    size = len(A)
    if size == 1:
        # its eigenvalue is exact, but its last digit may be another, as any weight's
        value, last = A.ravel().astype(complex), DISC * np.abs(A.ravel())
        return PBHTest(value, value, np.abs(C), np.full(1, EPS), last), np.inf
    if is_symmetric(A):
        modes = _eigenvector_modes(A, C)
        norm = float(np.abs(modes[0]).max()) * size**0.5
    else:
        share = float(np.sqrt((C**2).sum()))
        A, scale = balanced(A)
        C = unit_norm(C / scale) * share if share > 0 else C
        norm = float(np.sqrt((A**2).sum()))
        is_one = has_no_zeros(A) or len(strong_components(A)) == 1
        modes = (schur_modes(A, C) if is_one else None) or _eigenvector_modes(A, C)
    poles, values, excitation, condition = modes
    disc = np.maximum(np.minimum(DISC * norm * condition, norm), DISC * np.abs(values))
    uncertainty, room = _surroundings(values, condition * excitation, disc)
    return PBHTest(poles, values, excitation, EPS * norm * uncertainty + EPS, disc), room


Modes = tuple[Complexes, Complexes, Floats, Floats]


def _eigenvector_modes(A: Floats, C: Floats) -> Modes:
    """Eigenvalues, twice, excitations and condition numbers from unit left eigenvectors."""
    values, W, condition = _left_eigenvectors(A)
    return values, values, np.abs(W.T @ C), condition


def _left_eigenvectors(A: Floats) -> tuple[Complexes, NDArray[Any], Floats]:
    """Eigenvalues, unit left eigenvectors, condition numbers."""
    if is_symmetric(A):
        real_values, W = np.linalg.eigh(A)
        return real_values.astype(complex), W, np.ones(len(A))
    values, W = np.linalg.eig(A.T)
    try:
        condition = np.linalg.norm(np.linalg.inv(W), axis=1)
    except np.linalg.LinAlgError:  # some of them are parallel
        condition = np.full(len(A), np.inf)
    condition = np.where(np.isfinite(condition), condition, np.inf)
    return values.astype(complex), W, condition


def _surroundings(
    values: Complexes, weight: Floats, radius: Floats, *, block: int = 2**15
) -> tuple[Floats, float]:
    """Σ_{j≠k} weight_j / |λ_k − λ_j| for every k, and min |λ_k − λ_j| / (radius_k + radius_j).

    Some rows at a time, a ``block`` in the cache, and the upper one of each pair.
    """
    sums, room = np.zeros(len(values)), np.inf
    re, im = values.real.copy(), values.imag.copy()
    upper = np.flatnonzero(im >= 0)
    with np.errstate(all="ignore"):
        for rows in np.array_split(upper, max(1, len(upper) * len(values) // block)):
            gap = np.abs(re[rows, None] - re)
            if im.any():  # faster than moduli of complex numbers
                gap = np.sqrt(gap**2 + (im[rows, None] - im) ** 2)
            gap[np.arange(len(rows)), rows] = np.inf
            sums[rows] = (weight / gap).sum(axis=1)
            rooms = gap / (radius[rows, None] + radius)
            room = min(room, float(np.where(np.isnan(rooms), 0.0, rooms).min(initial=np.inf)))
    sums[np.flatnonzero(im < 0)] = sums[np.flatnonzero(im > 0)]  # LAPACK has them side by side
    return np.where(np.isfinite(sums), sums, np.inf), room


def touching(values: Complexes, radius: Floats) -> list[Indices]:
    """Groups of values whose discs touch, one those of the next."""
    from scipy.sparse import csr_array

    return separate_parts(csr_array(np.abs(values[:, None] - values) <= radius[:, None] + radius))


def unit_norm(C: Floats) -> Floats:
    C = C / np.abs(C).max()  # first, so that no square overflows
    return C / float(np.sqrt((C**2).sum()))


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


def schur_modes(A: Floats, C: Floats, *, small: float = 1e-8) -> Modes | None:
    """Poles, values, excitations |w*C| and condition numbers of a strongly connected A.

    None where LAPACK fails, moves the last row, as it may where A falls into parts, or eigenvectors
    are nearly parallel: rounding in them, √N·eps·κ(X), is to be ``small``, or a thousandth of the
    least excitation up to a hundred times that.
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
    moved = abs(float(mask @ mask) - float(C @ C)) > small * float(C @ C)
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
    allowed = np.clip(1e-3 * excitation.min(), small, 100 * small)
    poles = re[:size] + 1j * im[:size]
    # NaN where two eigenvalues are the same
    return (poles, values, excitation, condition) if rounding <= allowed else None


def _eigenvectors(T: Floats, *, leaf: int = 64) -> tuple[Complexes, Floats, Floats]:
    """Eigenvalues of a quasi-triangular T, X and X⁻¹, pairs a ± ib as columns a, b (LAPACK's way).

    Blocks of the size of a leaf are LAPACK's. LinAlgError where eigenvectors are parallel.
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

    With rows and columns combined to eigenvectors (1, ±i) it is one equation an entry; rows of
    lower eigenvalues, the conjugates, are left out.
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


# --- the ways to the poles of networks of deficient rank


def krylov_space(A: Floats, C: Floats, rank: int) -> Poles | None:
    """The Krylov space, where it ends after as many steps as the exact rank says.

    A step of the Hessenberg form by rounding alone ends it. Rounding in an early direction
    is passed on divided by the steps between: where their product is small, it is not known.
    """
    size, H = len(A), hessenberg(A, unit_norm(C)[:, None]).H
    norm = max(float(np.sqrt((A**2).sum())), TINY)
    steps = np.abs(np.diag(H, -1)) / norm
    product, out = float(np.prod(steps[: rank - 1])), steps[rank - 1 : rank].max(initial=0.0)
    leakage = rank * max(EPS * size**0.5, float(out)) / product if product > 0 else np.inf
    if not leakage <= NOT_ROUNDING:
        return None
    H = np.asfortranarray(H[:rank, :rank])
    rounding, norms = backward_error(H) + leakage * norm, power_norms(H)
    if not rounding * norms.norms <= FIRST_ORDER:
        return None
    curve = 4 * rounding * float(np.sqrt(norms.squares))
    return Poles(eigenvalues(H), Sensitivity(curve, 2 * rounding * norms.norms))


def unexcited(A: Floats, C: Floats, zeros: int, excited: int) -> list[UncontrollableModes] | None:
    """Uncontrollable eigenvalues but ``zeros``, where as many as are ``excited`` stand out.

    Of eigenvalues whose discs touch, as of one that is repeated, the mask excites a combination:
    its projection on their left eigenvectors. None where they do not stand out.
    """
    A, scale = balanced(A)
    C, rounding = unit_norm(C / scale), backward_error(A)
    values, W, condition = _left_eigenvectors(A)
    at_zero = np.argsort(np.abs(values), kind="stable")[:zeros]
    groups = [g for g in touching(values, rounding * condition) if not np.isin(g, at_zero).all()]
    if sum(map(len, groups)) != len(A) - zeros or len(groups) < excited:
        return None
    bases = [W[:, g] if len(g) == 1 else np.linalg.qr(W[:, g])[0] for g in groups]
    excitation = np.array([np.linalg.norm(basis.conj().T @ C) for basis in bases])
    chosen = np.zeros(len(groups), int)
    chosen[np.argsort(-excitation, kind="stable")[:excited]] = 1
    rest = excitation[chosen == 0].max(initial=0.0)
    least = excitation[chosen == 1].min(initial=1.0)
    if not (rest <= NOT_ROUNDING and least > CLEAR * max(rest, EPS)):
        return None
    modes = []
    for g, controllable in zip(groups, chosen.tolist(), strict=True):
        centre, off = complex(values[g].mean()), float(rounding * condition[g].max())
        own = np.array([centre, centre.conjugate()])
        if abs(centre.imag) <= 2 * off:
            own = np.array([complex(centre.real)])
        if len(g) > controllable and own[0].imag >= 0:
            modes.append(UncontrollableModes(own, len(g), controllable, uncertainty=off))
    return modes


def without_uncontrollable(
    poles: Complexes, modes: Sequence[UncontrollableModes]
) -> tuple[Complexes, Sensitivity]:
    """The poles but those next to uncontrollable eigenvalues other than zero; what that may do."""
    more = Sensitivity(0.0, 0.0)
    roots = [(root, m) for m in modes for root in m.values.tolist() if root.imag >= 0 and root]
    for root, each in roots:
        own = np.array([root, root.conjugate()][: 2 if root.imag else 1])
        for _ in range(each.times):
            nearest = int(np.argmin(np.abs(poles - root)))
            pole, poles = poles[nearest], np.delete(poles, nearest)
            if pole.imag:
                partner = int(np.argmin(np.abs(poles - pole.conjugate())))
                if root.imag:
                    poles = np.delete(poles, partner)
                else:  # a pair around a real root: one of it is left
                    poles[partner] = 2 * pole.real - root.real
            error = 2 * abs(pole - root) + each.uncertainty + 4 * EPS * abs(root)
            more = more.plus(uncertain_poles_sensitivity(own, np.full(len(own), error)))
    return poles, more


def with_exact_zeros(
    poles: Complexes, rank: int, modes: Sequence[UncontrollableModes]
) -> Complexes:
    """The poles of largest modulus, and for the rest the controllable zeros."""
    zeros = sum(each.controllable for each in modes if not each.values.any())
    largest = np.argsort(-np.abs(poles), kind="stable")[: rank - zeros]
    return np.concatenate([poles[largest], np.zeros(zeros)])
