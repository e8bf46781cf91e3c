"""How far rounding in the eigenvalues can move the memory curve.

A change δA moves log det(z − A) by −tr((z − A)⁻¹ δA) to first order. On |z| = 1 that is a change of
the phase of the all-pass filter, and hence (Parseval, Cauchy–Schwarz)::

    |δMC_τ| ≤ 4·√(min(MC_τ, 1 − MC_τ)) · ‖δA‖_F · √(Σ_k ‖Aᵏ‖_F²)

Eigenvalue condition numbers do not appear: clusters may be hopeless while the curve is not.

The same change of phase, at its largest, bounds the *gap* between the spaces of past inputs that
the true and the computed poles span: the sine of the largest angle between them is at most::

    sup |δ log B| ≤ 2 ‖δA‖_F · Σ_k ‖Aᵏ‖_F
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.limits import TooLargeError
from memcurve.network.device import DeviceMatrix
from memcurve.network.graph import Indices, balanced, strong_components, submatrix
from memcurve.network.operator import Operator
from memcurve.network.places import HOST, Tall, place_of
from memcurve.result import EPS, Complexes, Floats
from memcurve.solve.basis import Basis, require_room_at

#: LAPACK's eigenvalues are those of A + δA with ‖δA‖_F of at most about this times √N·‖A‖_F.
BACKWARD_ERROR = 4 * EPS
#: A first-order bound is trusted where ‖δA‖ times the resolvent on the unit circle is below this.
FIRST_ORDER = 0.05
#: From here on Σ‖Aᵏ‖² is estimated from random probes where that is cheaper.
PROBES_FROM_SIZE = 200
PROBES = 32
#: The sum is settled where the next power has ‖Aᵏ‖_F² below this: so much is left at most.
SMALL_REST = 0.5
#: Σ‖Aᵏ‖² up to this times N is found in single precision.
SMALL_GROWTH = 1e3
#: How far ‖A^m‖ may exceed what A^m does to so many random vectors, ‖A^m‖_F in the mean square: for
#: powers of rank one, the worst case, that is too little once in 270 draws.
POWER_MARGIN, FEW_PROBES = 1.5, 8
#: The same of one vector, from so many states on, where products are dear: too little once in 300
#: draws. On average over vectors it is so many times as large at most.
SINGLE_MARGIN, SINGLE_AVERAGE, MANY_STATES = 250.0, 4.0, 5000
#: Powers that are followed.
MOST_POWERS = 4096
#: Powers of this size are of no use to large networks: what they pass on is above all rounding.
HOPELESS = EPS**-2
#: After so many powers of A with entries a basis is tried, where so many more are foreseen: a step
#: takes time of its own. Where A is known by its products only, it is tried at once.
PLAIN, WORTH_A_BASIS = 32, 700
#: The vector is looked at there after so many steps, and followed to so many powers, of which
#: rounding tells nothing where they get so large. What is left then, and what leaves the space,
#: times the margin:
LOOKS = (8, 12, 16, 20, 24, 28, 32, 36, 40, 45, 50, 56, 63, 70, 80, 90, 100, 115, 130, 160, 256)
MOST_BY_BASIS, NOT_ROUNDING, LITTLE_LEFT, LITTLE_LEAVES = 40_000, 1e8, 0.1, 0.5
#: From so many steps on it is foreseen, from how it went since so many looks before, whether so
#: many will do, or a basis is given up: on a circle little is lost.
PATIENCE, LOOKS_BEFORE, REACH = 90, 4, 333
#: Bytes of columns that sparse matrices are multiplied by at a time.
CACHE = 8_000_000
_SEED = 20230501


class Sensitivity(NamedTuple):
    """What rounding in the poles can do.

    ``curve`` bounds |δMC_τ| / √(min(MC_τ, 1 − MC_τ)), ``gap`` the sine of the largest angle by
    which the space of remembered inputs turns.
    """

    curve: float
    gap: float

    def times(self, factor: float) -> Sensitivity:
        """The same for errors ``factor`` times as large."""
        return Sensitivity(self.curve * factor, self.gap * factor)

    def plus(self, other: Sensitivity) -> Sensitivity:
        """Of errors from two sources."""
        return Sensitivity(self.curve + other.curve, self.gap + other.gap)


UNKNOWN = Sensitivity(np.inf, np.inf)


class GrowingPowersError(UncertainResultError):
    """The powers of A grow beyond all use; A may still be stable, if far from normal."""


class PowerNorms(NamedTuple):
    """Σ_{k≥0} ‖Aᵏ‖_F² and Σ_{k≥0} ‖Aᵏ‖_F, infinite where the sums do not settle."""

    squares: float
    sum: float


def pole_sensitivity(A: Any, components: Sequence[Indices] | None = None) -> Sensitivity:
    """What computing the eigenvalues of A in float64 can do to the curve and the space behind it.

    Summed over strongly connected components, as the eigenvalues are computed one component at a
    time; nodes on no cycle have exact eigenvalues. Infinite where rounding may be too large for a
    first-order bound, or may even move an eigenvalue across the unit circle: on it the resolvent
    is at most Σ_k ‖Aᵏ‖_F.
    """
    curve = gap = 0.0
    for nodes in strong_components(A) if components is None else components:
        if len(nodes) > 1:
            block = np.asfortranarray(balanced(submatrix(A, nodes))[0])
            rounding = backward_error(block)
            norms = power_norms(block)
            if not rounding * norms.sum <= FIRST_ORDER:
                return UNKNOWN
            curve += 4 * rounding * np.sqrt(norms.squares)
            gap += 2 * rounding * norms.sum
    return Sensitivity(float(curve), float(gap))


def symmetric_sensitivity(values: Complexes) -> Sensitivity:
    """The same for a symmetric A, or several side by side: ‖A‖_F² = Σλ²."""
    norm = float(np.sqrt((np.abs(values) ** 2).sum()))
    return normal_sensitivity(values, BACKWARD_ERROR * len(values) ** 0.5 * norm)


def normal_sensitivity(values: Complexes, rounding: float) -> Sensitivity:
    """The same for a normal A with these eigenvalues, of which ‖δA‖_F bounds the error.

    ‖Aᵏ‖_F² = Σ_i |λ_i|^{2k}: the powers need not be formed.
    """
    norms = _normal_power_norms(np.abs(values) + rounding)
    if not rounding * norms.sum <= FIRST_ORDER:
        return UNKNOWN
    return Sensitivity(4 * rounding * float(np.sqrt(norms.squares)), 2 * rounding * norms.sum)


def backward_error(A: Floats) -> float:
    """Bound on ‖δA‖_F such that LAPACK's eigenvalues of A are those of A + δA."""
    return float(BACKWARD_ERROR * np.sqrt(len(A) * (A**2).sum()))


def uncertain_poles_sensitivity(poles: Complexes, uncertainty: Floats | float) -> Sensitivity:
    """The same for poles known up to δ_k each: 4 Σ δ_k / √(1 − |λ_k|²), 2 Σ δ_k / (1 − |λ_k|)."""
    room = 1 - np.abs(poles) - uncertainty
    if np.any(room <= 0):
        return UNKNOWN
    return Sensitivity(
        float((4 * uncertainty / np.sqrt(room)).sum()), float((2 * uncertainty / room).sum())
    )


def curve_error(memory: Floats, loss: Floats, sensitivity: float, size: int) -> Floats:
    """Per-lag error: poles off by rounding (first and second order) and the lattice's own."""
    slope = np.sqrt(np.minimum(memory, loss))
    drift = 2 * np.sqrt(np.arange(1, len(memory) + 1)) * slope
    lattice = EPS * ((8 + 4 * size + drift) * slope + 2 * memory)
    error = sensitivity * slope + sensitivity**2 + lattice
    return np.minimum(1.0, np.where(np.isfinite(error), error, 1.0))


def power_norms(A: Floats) -> PowerNorms:
    """Σ_{k≥0} ‖Aᵏ‖_F² and Σ_{k≥0} ‖Aᵏ‖_F, from above."""
    with np.errstate(over="ignore", invalid="ignore"):
        norms = _probed_norms(A) if len(A) >= PROBES_FROM_SIZE else None
        return _doubled_norms(A) if norms is None else norms


class PowerSums(NamedTuple):
    """Σ_m ‖A^m‖, Σ_m ‖A^m‖², and Σ_m ‖A^m v‖² of vectors v of length one, on average."""

    norms: float
    squares: float
    lasting: float


def sums_of_powers(A: Any) -> PowerSums:
    """Sums over the powers of A, by what they do to random vectors, with a margin.

    A is anything that can be multiplied by a matrix. Powers are followed to where one is below ½,
    Σ_m ‖A^m‖ ≤ Σ_{m<M} ‖A^m‖/(1 − ‖A^M‖), or within a basis. Raises UncertainResultError where they
    do not get there, a GrowingPowersError where they grow.
    """
    large, place = A.shape[0] >= MANY_STATES, place_of(A)
    count, margin, average = FEW_PROBES, POWER_MARGIN, POWER_MARGIN
    if large:
        count, margin, average = 1, SINGLE_MARGIN, SINGLE_AVERAGE
    # single precision is enough, where A has it
    probes = place.normal(np.random.default_rng(_SEED), A.shape[0], count, A.dtype)
    norms, ended = [1.0], False
    products_only = not getattr(A, "has_entries", True)
    tried = not (large or products_only)
    while len(norms) < MOST_POWERS and not ended:
        if not tried and (products_only or (len(norms) > PLAIN and _left(norms) > WORTH_A_BASIS)):
            tried = True
            sums = place.same(_sums_by_basis(A, probes[:, 0], norms))
            if sums is not None:
                return PowerSums(*sums)
        made = powers_times(A, probes, min(place.ahead, MOST_POWERS - len(norms)))
        probes = made[:, -count:]
        for size in margin * np.sqrt(place.squares(made).reshape(-1, count).max(axis=1)):
            if not np.isfinite(size):
                ended = True
                break
            norms.append(float(size))
            if size <= 0.5:
                share = average**2 / (margin**2 * A.shape[0])
                return PowerSums(*place.same(_summed(np.array(norms), share)))
            if large and size > HOPELESS:
                ended = True
                break
    steps, half = len(norms) - 1, len(norms) // 2
    rate = (norms[-1] / norms[half]) ** (1 / max(1, steps - half))
    if rate > 1 and (norms[-1] > 1 / EPS or steps < MOST_POWERS - 1):
        raise GrowingPowersError(
            f"the powers of A grow, by a factor of {rate:.6g} a step after {steps:,} steps."
        )
    raise UncertainResultError(
        f"the powers of A decay too slowly, by a factor of {rate:.6g} a step after {steps:,} steps."
    )


def _left(norms: list[float]) -> float:
    """Steps until ½, as they went in the second half of these; none where they grow."""
    half = len(norms) // 2
    slope = np.log(norms[-1] / norms[half]) / (len(norms) - 1 - half)
    return float(np.log(0.5 / norms[-1]) / slope) if slope < 0 else 0.0


def _summed(sizes: Floats, share: float) -> PowerSums:
    """Sums over all powers, from the sizes of those up to one below one.

    What becomes of vectors of length one is a share of their squares, on average.
    """
    later = 1 - sizes[-1] ** 2
    lasting = 1 + float((sizes[1:] ** 2).sum() / later) * share
    norms = float(sizes[:-1].sum() / (1 - sizes[-1]))
    return PowerSums(norms, float((sizes[:-1] ** 2).sum() / later), lasting)


def _sums_by_basis(A: Any, v: Tall, norms: list[float]) -> PowerSums | None:
    """The sums from a basis of the Krylov space of a probe v; None where that gets too large.

    With AQ = QH + β q eᵀ the probe becomes A^m v = Q H^m c + Σ_{j<m} A^j q·s_{m−1−j}, where s_m is
    what leaves the space. So with the margin μ the sizes a_m = ‖A^m‖ are, beyond those known, at
    most μ·(‖H^m c‖ + Σ_j a_j s_{m−1−j}), and of norms of sequences (Young's inequality)::

        ‖a‖ ≤ ‖known, μ‖H^m c‖‖ / (1 − μ·Σs)

    What is left where H^m c is small counts as leaving. Few steps make Σs small, where eigenvalues
    are real or few are large; a space that is exhausted has nothing leave.
    """
    place, leaving, size = place_of(A), list[float](), A.shape[0]
    if not isinstance(v, np.ndarray) and A.dtype != np.float64:
        return None
    try:
        require_room_at(place, size, LOOKS[-1], "a basis")
        fits = True
    except TooLargeError:
        fits = False
    if not place.same(fits):
        return None
    basis = Basis(size, LOOKS[-1] + 1, place)
    start = float(basis.add(_double(v))[0])
    H = np.zeros((basis.capacity + 1, LOOKS[-1]))
    for k in range(1, LOOKS[-1] + 1):
        q = basis.column(k - 1)
        step = A @ (q.astype(np.float32) if A.dtype == np.float32 else q)
        H[:-1, k - 1] = basis.add(_double(step))
        ended = basis.count == k
        if k not in LOOKS and not ended:
            continue
        sizes, leaves = _recursion(H[: k + 1, :k], start)
        leaving.append(SINGLE_MARGIN * leaves)
        if leaving[-1] <= LITTLE_LEAVES:
            a, average = (
                np.append(norms, margin * sizes) / (1 - leaving[-1])
                for margin in (SINGLE_MARGIN, SINGLE_AVERAGE)
            )
            lasting = 1 + float((average[1:] ** 2).sum()) / size
            return PowerSums(float(a.sum()), float((a**2).sum()), lasting)
        if ended:
            return None
        if k >= PATIENCE:
            earlier = len(leaving) - 1 - LOOKS_BEFORE
            fall = np.log(leaving[earlier] / leaving[-1]) / (k - LOOKS[earlier])
            if not np.log(leaving[-1] / LITTLE_LEAVES) <= (REACH - k) * fall:
                return None
    return None


def _double(x: Tall) -> Tall:
    return x.astype(float) if isinstance(x, np.ndarray) else x


def _recursion(H: Floats, start: float) -> tuple[Floats, float]:
    """‖H^m c‖, m = 1, 2, …, and the sum of what leaves the space, with what is left in the end.

    An infinite sum where it grows or does not decay.
    """
    k = H.shape[1]
    r = np.zeros(k)
    r[0], leaving, sizes = start, 0.0, list[float]()
    while len(sizes) < MOST_BY_BASIS:
        leaving += H[k, k - 1] * abs(r[-1])
        r = H[:k] @ r
        sizes.append(float(np.sqrt(r @ r)))
        if not SINGLE_MARGIN * sizes[-1] <= NOT_ROUNDING * max(1.0, start):
            break
        if SINGLE_MARGIN * sizes[-1] <= LITTLE_LEFT:
            return np.array(sizes), leaving + sizes[-1]
    return np.array(sizes), np.inf


def times(A: Any, X: Tall) -> Tall:
    """A·X; of sparse matrices as many columns at a time as the cache has room for."""
    if isinstance(A, np.ndarray):
        return np.asarray(A @ X)
    if place_of(A) is not HOST:
        return A @ X
    product = np.empty(X.shape, dtype=X.dtype, order="F")
    step = 1 if isinstance(A, Operator) else max(1, CACHE // (X.itemsize * len(X)))
    for j in range(0, X.shape[1], step):
        # a wide product takes half the time of narrow ones, in the cache; beyond it, longer
        some = np.ascontiguousarray(X[:, j : j + step])
        product[:, j : j + step] = A @ some if step > 1 else (A @ some[:, 0])[:, None]
    return product


def powers_times(A: Any, X: Tall, count: int) -> Tall:
    """[AX, A²X, …] side by side, made without a look at them."""
    made: list[Tall] = []
    if isinstance(A, DeviceMatrix):  # vectors one by one, as nothing else is asked for so quickly
        columns = [X[:, j] for j in range(X.shape[1])]
        for _ in range(count):
            columns = [A @ x for x in columns]
            made += columns
        return A.place.stacked(made)
    for _ in range(count):
        X = times(A, X)
        made.append(X)
    return X if count == 1 else place_of(A).joined(made)


def _normal_power_norms(moduli: Floats) -> PowerNorms:
    """From the moduli r of the eigenvalues, in blocks of powers from m to 2m − 1.

    A block has Σ‖Aᵏ‖² = Σ_i r_i^{2m} (1 − r_i^{2m})/(1 − r_i²), and Σ‖Aᵏ‖ is at most √m times its
    root.
    """
    if not np.all(moduli < 1):
        return PowerNorms(np.inf, np.inf)
    complement = (1 - moduli) * (1 + moduli)
    total, power, count = float(np.sqrt(len(moduli))), moduli**2, 1
    while power.sum() > SMALL_REST:
        total += float(np.sqrt(count * (power * (1 - power) / complement).sum()))
        power, count = power**2, 2 * count
    return PowerNorms(float((1 / complement).sum()), total / (1 - float(np.sqrt(power.sum()))))


# SciPy's BLAS, as LAPACK is called through SciPy too: NumPy's has threads of its own, and the two
# pools get in each other's way (N = 300 on two cores: 1.9 × eigvals with one pool, 3 × with both).


def _doubled_norms(A: Floats) -> PowerNorms:
    """Doubling in single precision, which is enough, unless the powers grow far first."""
    from scipy.linalg.blas import dgemm, sgemm

    norms = _doubled(A.astype(np.float32, order="F"), sgemm)
    return norms if norms.squares < SMALL_GROWTH * len(A) else _doubled(A, dgemm)


def _doubled(A: NDArray[Any], gemm: Any) -> PowerNorms:
    """X ← X + PᵀXP, P ← P², which adds the second half of 2^j powers at once.

    The norms of the 2^j powers added in a step sum to at most √(2^j Σ‖Aᵏ‖²).
    """
    X = np.eye(len(A), dtype=A.dtype, order="F") + gemm(1.0, A, A, trans_a=True)
    squares = float(np.trace(X))
    total, added = np.sqrt(len(A)) + np.sqrt(squares - len(A)), 1
    for _ in range(60):
        A = gemm(1.0, A, A)
        rest = float((A**2).sum())  # the powers not yet added hold at most this share of the sum
        if not np.isfinite(rest):
            break
        if rest <= SMALL_REST:
            return PowerNorms(squares / (1 - rest), float(total) / (1 - np.sqrt(rest)))
        X += gemm(1.0, A, gemm(1.0, X, A), trans_a=True)
        added *= 2
        before, squares = squares, float(np.trace(X))
        total += np.sqrt(added * max(0.0, squares - before))
    return PowerNorms(np.inf, np.inf)


def _probed_norms(A: Floats) -> PowerNorms | None:
    """E‖AᵏΩ‖_F² = ‖Aᵏ‖_F²·probes for normal Ω; None where the powers decay too slowly for it.

    Single precision is enough here too, unless the powers grow far first.
    """
    from scipy.linalg.blas import dgemm, sgemm

    norms = _probed(A.astype(np.float32, order="F"), sgemm)
    if norms is None or norms.squares < SMALL_GROWTH * len(A):
        return norms
    return _probed(A, dgemm)


def _probed(A: NDArray[Any], gemm: Any) -> PowerNorms | None:
    probes = np.random.default_rng(_SEED).standard_normal((len(A), PROBES))
    probes = probes.astype(A.dtype, order="F")
    squares, total = float(len(A)), float(np.sqrt(len(A)))
    for _ in range(len(A) // 4):  # beyond this, doubling costs less
        probes = gemm(1.0, A, probes)
        rest = float((probes**2).sum()) / PROBES
        squares += rest
        total += np.sqrt(rest)
        if rest <= SMALL_REST:
            # even for powers of rank one, 32 probes miss half of the sum once in a thousand draws
            return PowerNorms(2 * squares / (1 - rest), 2 * total / (1 - np.sqrt(rest)))
    return None


# --- measured: rounding is imitated, and the computation repeated

#: A measured change is taken this many times to be an error. Doubled: errors twice as large; halved,
#: some of 100,000 hostile draws lay outside.
SAFETY = 20.0
#: Where an error comes out above this no digit is known: another change may do far more. Doubled:
#: larger errors are believed.
NOT_SMALL = 1e-4
#: Rounding of sums of squares and of decompositions, in units of eps·√n. Doubled: so are the
#: smallest errors, of some eps.
ARITHMETIC = 8.0


class Truncation(NamedTuple):
    """What was left out of K, in the units of the noise; zero where nothing was.

    ``missing`` bounds what is left out within the lags, ``tail`` what lies beyond (without noise:
    both relative to the least direction that is read), ``outside`` is the square of what rounding
    leads to beyond the directions. ``gain`` and ``uncertainty`` are those of the input's filter.
    """

    missing: float = 0.0
    tail: float = 0.0
    outside: float = 0.0
    gain: float = 1.0
    uncertainty: float = 0.0


class Bounded(NamedTuple):
    """Memory and forecasts (levels, lags, inputs), totals (levels,), each with its error.

    ``sum_error`` and ``ahead_sum_error`` (levels, lags) are those of sums over inputs.
    """

    memory: Floats
    error: Floats
    sum_error: Floats
    ahead: Floats
    ahead_error: Floats
    ahead_sum_error: Floats
    total: Floats
    total_error: Floats
    total_ahead: Floats
    total_ahead_error: Floats


def measured(
    systems: Sequence[Any], levels: Floats, rank: int, inputs: int, left: Truncation
) -> Bounded:
    """The memory of the first singular system, with errors from those of changed networks.

    Rounding makes the answer that of a network changed by as much; what that does is measured: the
    whole is repeated for networks changed at random by as much, and :data:`SAFETY` times the
    largest difference is the error. Directions that rounding alone lifts above the noise are there
    in every changed network too: that their sizes differ gives them away.
    """
    base, *others = systems
    factors = base.filter_factors(levels, rank)
    memory, total = _by_lag(factors @ base.squares.T, inputs), factors @ base.held
    ahead, total_ahead = _by_lag(factors @ base.ahead.T, inputs), factors @ base.held_ahead
    changes, moved = np.zeros((3, len(levels))), np.zeros((2, len(levels)))
    summed, blur = np.zeros((2, len(levels))), np.zeros(len(base.sigma))
    for other in others:
        again = other.filter_factors(levels, min(rank, len(other.sigma)))
        pairs = ((base.squares, other.squares, memory), (base.ahead, other.ahead, ahead))
        for k, (_, squares, values) in enumerate(pairs):
            difference = _difference(_by_lag(again @ squares.T, inputs), values)
            changes[k] = np.maximum(changes[k], np.abs(difference).max(axis=(1, 2), initial=0.0))
            both = np.abs(difference.sum(axis=2)).max(axis=1, initial=0.0)
            summed[k] = np.maximum(summed[k], both)
            moved[k] = np.maximum(moved[k], np.abs(difference).sum(axis=(1, 2)))
        moved[0] = np.maximum(moved[0], np.abs(again @ other.held - total))
        moved[1] = np.maximum(moved[1], np.abs(again @ other.held_ahead - total_ahead))
        count = min(len(blur), len(other.sigma))
        shift = np.where(np.isinf(base.sigma), 0.0, base.sigma)
        with np.errstate(invalid="ignore"):
            shift[:count] = np.abs(other.sigma[:count] - base.sigma[:count])
        blur = np.maximum(blur, np.nan_to_num(shift, nan=0.0))
    unknown = SAFETY * np.maximum(changes[0], moved[0] / np.maximum(total, 1.0)) > NOT_SMALL
    changes[:, unknown], summed[:, unknown] = 1.0, float(inputs)
    moved[:, unknown] = max(1.0, float(min(rank, len(base.sigma))))
    floor = np.where(levels > 0, levels, base.sigma[min(rank, len(base.sigma)) - 1])
    missing = _share(left.gain * left.missing, floor)
    tail = _share(left.gain * left.tail, np.where(levels > 0, levels, 1.0))
    if left.gain != 1.0:  # lags beyond are correlated with those before
        missing, tail = missing + tail, 0.0 * tail
    # what is left out moves a value by at most twice its size relative to the noise; lags beyond
    # are noise to the reader, of which the square counts. A change of the inputs' density by a
    # share of it moves past inputs and states by half as much each, and what one has of the other
    outside = left.gain**2 * _share(left.outside, floor**2)
    cut = 2 * missing + missing**2 + tail**2 + 4 * left.uncertainty + outside
    rounding = ARITHMETIC * EPS * np.sqrt(len(base.sigma) + 1)
    spread = base.uncertainty(levels, rank, SAFETY * blur)
    # where a direction is in doubt altogether, so are those that it is mixed with
    mixed = np.where(spread.max(axis=1) > NOT_SMALL, spread.max(axis=1), 0.0)

    def error(values: Floats, squares: Floats, change: Floats) -> Floats:
        own = _by_lag(spread @ squares.T, inputs)
        rest = (SAFETY * change + cut + mixed)[:, None, None]
        return np.minimum(1.0, rest + own + rounding * np.sqrt(values) + EPS)

    slope = np.sqrt((factors * (1 - factors)).sum(axis=1))
    second = (missing**2 + tail**2) * len(base.sigma)
    # d tr(MMᵀ(MMᵀ + s²)⁻¹) = 2 tr(s²(MMᵀ + s²)⁻² M dMᵀ); a direction holds gain² at most
    common = left.gain**2 * (2 * missing * np.maximum(slope, levels == 0) + second)
    common += left.gain**2 * 4 * left.uncertainty * factors.sum(axis=1) + outside
    total_error = SAFETY * moved[0] + rounding * np.maximum(total, 1.0) + spread @ base.held
    ahead_error = SAFETY * moved[1] + rounding * total_ahead + spread @ base.held_ahead
    first = error(memory, base.squares, changes[0])
    later = error(ahead, base.ahead, changes[1])
    return Bounded(
        np.clip(memory, 0.0, 1.0), first, _of_sums(first, changes[0], summed[0]),
        np.clip(ahead, 0.0, 1.0), later, _of_sums(later, changes[1], summed[1]),
        total, total_error + common, total_ahead, ahead_error + common,
    )  # fmt: skip


def turned(found: Bounded, gap: float, span: float) -> Bounded:
    """The same where rounding turns the space of remembered inputs by an angle of sine ``gap``.

    ``span`` is about how many lags matter: Σ_τ √MC_τ is at most √(span·ΣMC_τ).
    """

    def more(values: Floats) -> Floats:
        return np.asarray(2 * gap * np.sqrt(np.clip(values * (1 - values), 0, 1)) + gap**2)

    past, ahead = more(found.memory), more(found.ahead)
    totals = [2 * gap * np.sqrt(np.maximum(x, 0) * span) for x in (found.total, found.total_ahead)]
    return found._replace(
        error=np.minimum(found.error + past, 1.0),
        sum_error=found.sum_error + past.sum(axis=2),
        ahead_error=np.minimum(found.ahead_error + ahead, 1.0),
        ahead_sum_error=found.ahead_sum_error + ahead.sum(axis=2),
        total_error=found.total_error + totals[0],
        total_ahead_error=found.total_ahead_error + totals[1],
    )


def _of_sums(error: Floats, change: Floats, summed: Floats) -> Floats:
    """Errors of sums over inputs: what inputs share is known better than who has which part."""
    parts = SAFETY * (np.minimum(change, 1.0) * error.shape[2] - summed)[:, None]
    total = error.sum(axis=2)
    return np.asarray(np.where(error.max(axis=2) < 1, total - np.maximum(parts, 0.0), total))


def _share(size: float, of: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(size / of, nan=0.0, posinf=1e300) if size > 0 else 0.0 * np.ones(len(of))


def _by_lag(values: Floats, width: int) -> Floats:
    """Values (levels, lags·inputs) as (levels, lags, inputs)."""
    return values.reshape(len(values), values.shape[1] // width, width)


def _difference(one: Floats, other: Floats) -> Floats:
    """Of curves of different lengths (levels, lags, inputs), continued by nothing."""
    lags = max(one.shape[1], other.shape[1])
    whole = np.zeros((len(one), lags, one.shape[2]))
    whole[:, : one.shape[1]] += one
    whole[:, : other.shape[1]] -= other
    return whole
