"""Sums over the norms of powers of A, Σ_k ‖Aᵏ‖: how far the network passes an error on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.limits import TooLargeError
from memcurve.network.device import DeviceMatrix
from memcurve.network.operator import Operator
from memcurve.network.places import HOST, Tall, place_of
from memcurve.result import EPS, Floats
from memcurve.solve.basis import Basis, require_room_at

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


class GrowingPowersError(UncertainResultError):
    """The powers of A grow beyond all use; A may still be stable, if far from normal."""


class PowerNorms(NamedTuple):
    """Σ_{k≥0} ‖Aᵏ‖_F² and Σ_{k≥0} ‖Aᵏ‖_F, infinite where the sums do not settle."""

    squares: float
    sum: float


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


def normal_power_norms(moduli: Floats) -> PowerNorms:
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
