"""Sums over powers of A: Stein equations, and Σ_k ‖Aᵏ‖, how much a network amplifies errors.

X = A X Bᵀ + Q is the sum Σ_k A^k Q (B^k)ᵀ. X ← X + P X Rᵀ, P ← P², R ← R² adds as many terms as
there are already. Each step is a product of powers that have decayed, so nothing grows that does
not grow in the sum itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import TooLargeError
from memcurve.core.types import EPS, SEED, TINY, Floats
from memcurve.network.device import DeviceMatrix
from memcurve.network.operator import Operator
from memcurve.network.tall import HOST, Tall, backend_of
from memcurve.solve.basis import Basis, require_room_at

#: From so many states on Σ‖Aᵏ‖² is estimated from random probes where that is cheaper. Doubled:
#: networks of 200 to 400 states take longer.
PROBES_FROM_SIZE = 200
#: Random vectors of that estimate. Doubled: it takes twice the time, and misses two thirds of the
#: sum for powers of rank one, the worst case, once in 7,000 draws instead of once in 160.
PROBES = 16
#: The sum is settled where the next power has ‖Aᵏ‖_F² below this: so much is left at most. Doubled:
#: bounds of what is left are infinite.
SMALL_REST = 0.5
#: States from which on products are dear: one vector is followed. Doubled: networks in between take
#: several times as long, with tighter bounds.
MANY_STATES = 5000
#: Time constants beyond so many doublings, 2^72 steps, are taken for infinite. Doubled: networks on
#: the unit circle take twice as long to be told from others.
MOST_DOUBLINGS = 72


class GrowingPowersError(UncertainResultError):
    """The powers of A grow beyond all use; A may still be stable, if far from normal."""


class PowerSums(NamedTuple):
    """Bounds on Σ_m ‖A^m‖, Σ_m ‖A^m‖², and Σ_m ‖A^m v‖² for unit v on average; may be infinite."""

    norms: float
    squares: float
    lasting: float = np.inf


def power_norms(A: Floats, *, growth: float = 1e3) -> PowerSums:
    """Sums over the powers of a dense A.

    In single precision up to Σ‖Aᵏ‖² of ``growth`` times N. By SciPy's BLAS, as LAPACK's: threads of
    two pools get in each other's way (N = 300 on two cores: 1.9 × eigvals with one, 3 with two).
    """
    from scipy.linalg.blas import dgemm, sgemm

    A = A if A.flags.f_contiguous else np.asfortranarray(A.T)  # whose powers are as long
    with np.errstate(over="ignore", invalid="ignore"):
        sums = _dense_sums(A.astype(np.float32), sgemm)
        return sums if sums.squares < growth * len(A) else _dense_sums(A, dgemm)


def _dense_sums(A: NDArray[Any], gemm: Any) -> PowerSums:
    """X ← X + PᵀXP, P ← P²: a step adds 2^j norms, which sum to at most √(2^j Σ‖Aᵏ‖²)."""
    sums = _probed(A, gemm) if len(A) >= PROBES_FROM_SIZE else None
    if sums is not None:
        return sums
    X = np.eye(len(A), dtype=A.dtype, order="F") + gemm(1.0, A, A, trans_a=True)
    squares = float(np.trace(X))
    total, added = np.sqrt(len(A)) + np.sqrt(squares - len(A)), 1
    for _ in range(60):
        A = gemm(1.0, A, A)
        rest = float((A**2).sum())  # the powers not yet added hold at most this share of the sum
        if not np.isfinite(rest):
            break
        if rest <= SMALL_REST:
            return PowerSums(float(total) / (1 - np.sqrt(rest)), squares / (1 - rest))
        X += gemm(1.0, A, gemm(1.0, X, A), trans_a=True)
        added *= 2
        before, squares = squares, float(np.trace(X))
        total += np.sqrt(added * max(0.0, squares - before))
    return PowerSums(np.inf, np.inf)


def _probed(A: NDArray[Any], gemm: Any) -> PowerSums | None:
    """E‖AᵏΩ‖_F² = ‖Aᵏ‖_F²·probes for normal Ω; None where the powers decay too slowly for it."""
    probes = np.random.default_rng(SEED).standard_normal((len(A), PROBES))
    probes = probes.astype(A.dtype, order="F")
    squares, total = float(len(A)), float(np.sqrt(len(A)))
    for _ in range(len(A) // 4):  # beyond this, doubling costs less
        probes = gemm(1.0, A, probes)
        rest = float((probes**2).sum()) / PROBES
        squares += rest
        total += np.sqrt(rest)
        if rest <= SMALL_REST:
            # thrice, as even for powers of rank one probes seldom miss two thirds of the sum
            return PowerSums(3 * total / (1 - np.sqrt(rest)), 3 * squares / (1 - rest))
    return None


def sums_of_powers(
    A: Any,
    *,
    count: int = 8,
    margin: float = 1.5,
    average: float = 1.5,
    most: int = 4096,
    few_entries: int = 50_000,
    plain: int = 32,
    worth_a_basis: int = 700,
) -> PowerSums:
    """Sums over the powers of A, by what they do to random vectors, with a margin.

    Powers are followed to where one is below ½, Σ_m ‖A^m‖ ≤ Σ_{m<M} ‖A^m‖/(1 − ‖A^M‖), or within a
    basis. Raises UncertainResultError where they do not get there, a GrowingPowersError where they
    grow.

    A is anything that can be multiplied by a matrix. ``margin`` is how far ‖A^m‖ may exceed what
    A^m does to ``count`` vectors, ‖A^m‖_F in the mean square: for powers of rank one, the worst
    case, that is too little once in 270 draws. From :data:`MANY_STATES` states on, unless A has
    ``few_entries``, and where A is known by its products only, it is one vector, a margin of 250,
    four times as much on ``average``, and ten times as many powers. After ``plain`` of these a
    basis is tried where ``worth_a_basis`` more are foreseen, as a step takes time of its own; of
    products only, at once.
    """
    backend, products_only = backend_of(A), not getattr(A, "has_entries", True)
    cheap = backend is HOST and not isinstance(A, np.ndarray | Operator) and A.nnz <= few_entries
    largest, untried = float(np.finfo(float).max), False
    if products_only or (A.shape[0] >= MANY_STATES and not cheap):
        count, margin, average, most = 1, 250.0, 4.0, 10 * most
        largest = EPS**-2  # what larger powers pass on is rounding above all
        untried = A.dtype == np.float64
    share = average**2 / (margin**2 * A.shape[0])
    # single precision is enough, where A has it
    probes = backend.normal(np.random.default_rng(SEED), A.shape[0], count, A.dtype)
    norms, ended = [1.0], False
    while len(norms) < most and not ended:
        if untried and (products_only or (len(norms) > plain and _left(norms) > worth_a_basis)):
            untried = False
            sizes = backend.broadcast(_sizes_in_a_basis(A, probes[:, 0], norms, margin, most))
            if sizes is not None:
                return _summed(sizes, share)
        made = powers_times(A, probes, min(backend.ahead, most - len(norms)))
        probes = made[:, -count:]
        for size in margin * np.sqrt(backend.squares(made).reshape(-1, count).max(axis=1)):
            if np.isfinite(size):
                norms.append(float(size))
            if size <= 0.5:
                return PowerSums(*backend.broadcast(_summed(np.array(norms), share)))
            ended = not size <= largest
            if ended:
                break
    steps, half = len(norms) - 1, len(norms) // 2
    rate = (norms[-1] / norms[half]) ** (1 / max(1, steps - half))
    if rate > 1 and (norms[-1] > 1 / EPS or steps < most - 1):
        raise GrowingPowersError(
            f"the powers of A grow, by a factor of {rate:.6g} per step after {steps:,} steps."
        )
    raise UncertainResultError(
        f"the powers of A decay too slowly, by a factor of {rate:.6g} per step after {steps:,}."
    )


def _left(norms: list[float]) -> float:
    """Steps until ½, as they went in the second half of these; none where they grow."""
    half = len(norms) // 2
    slope = np.log(norms[-1] / norms[half]) / (len(norms) - 1 - half)
    return float(np.log(0.5 / norms[-1]) / slope) if slope < 0 else 0.0


def _summed(sizes: Floats, share: float) -> PowerSums:
    """Sums over all powers, from sizes up to one below one; a ``share`` is that of vectors."""
    later = 1 - sizes[-1] ** 2
    lasting = 1 + float((sizes[1:] ** 2).sum() / later) * share
    norms = float(sizes[:-1].sum() / (1 - sizes[-1]))
    return PowerSums(norms, float((sizes[:-1] ** 2).sum() / later), lasting)


def _sizes_in_a_basis(
    A: Any,
    v: Tall,
    norms: list[float],
    margin: float,
    most: int,
    *,
    largest: int = 256,
    look: int = 16,
    patience: int = 96,
    reach: int = 336,
    little_leaves: float = 0.5,
) -> Floats | None:
    """Sizes with the sums of ‖A^m‖, from a basis of the Krylov space of v; None where it is large.

    With AQ = QH + β q eᵀ, A^m v = Q H^m c + Σ_{j<m} A^j q·s_{m−1−j}, where s_m leaves the space:
    with the margin μ, a_m = ‖A^m‖ ≤ μ·(‖H^m c‖ + Σ_j a_j s_{m−1−j}) beyond those known (Young)::

        ‖a‖ ≤ ‖known, μ‖H^m c‖‖ / (1 − μ·Σs)

    Few steps make Σs small where eigenvalues are real or few are large. From ``patience`` steps on
    it is foreseen whether ``reach`` of them will do, or the basis is given up: as on a circle.
    """
    backend, size, before = backend_of(A), A.shape[0], np.inf
    try:
        require_room_at(backend, size, largest, "a basis")
        fits = True
    except TooLargeError:
        fits = False
    if not backend.broadcast(fits):
        return None
    basis = Basis(size, largest + 1, backend)
    start = float(basis.add(v)[0])
    H = np.zeros((basis.capacity + 1, largest))
    for k in range(1, largest + 1):
        H[:-1, k - 1] = basis.add(A @ basis.column(k - 1))
        ended = basis.count == k
        if k % look and not ended:
            continue
        sizes, leaving = _recursion(H[: k + 1, :k], start, margin, most)
        if leaving <= little_leaves:
            return np.concatenate([norms, sizes, [0.0]]) / (1 - leaving)
        foreseen = leaving * min(1.0, leaving / before) ** ((reach - k) / look)
        if ended or (k >= patience and not foreseen <= little_leaves):
            return None
        before = leaving
    return None


def _recursion(
    H: Floats, start: float, margin: float, most: int, *, little_left: float = 0.1
) -> tuple[Floats, float]:
    """Sizes ‖H^m c‖, m = 1, 2, …, and the sum of what leaves the space, both with the margin.

    Infinite where H^m c does not get small, or what grew leaves nothing but rounding.
    """
    k = H.shape[1]
    r = np.zeros(k)
    r[0], leaving, sizes = margin * start, 0.0, list[float]()
    while len(sizes) < most:
        leaving += float(H[k, k - 1] * abs(r[-1]))
        r = H[:k] @ r
        sizes.append(float(np.sqrt(r @ r)))
        if not sizes[-1] <= 1e8 * max(1.0, start):
            break
        if sizes[-1] <= little_left:
            return np.array(sizes), leaving + sizes[-1]
    return np.array(sizes), np.inf


def times(A: Any, X: Tall, *, cache: int = 8_000_000) -> Tall:
    """A·X; of sparse matrices as many columns at a time as a ``cache`` of so many bytes holds."""
    if isinstance(A, np.ndarray):
        return np.asarray(A @ X)
    if backend_of(A) is not HOST:
        return A @ X
    product = np.empty(X.shape, dtype=X.dtype, order="F")
    step = 1 if isinstance(A, Operator) else max(1, cache // (X.itemsize * len(X)))
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
        return A.backend.stacked(made)
    for _ in range(count):
        X = times(A, X)
        made.append(X)
    return X if count == 1 else backend_of(A).joined(made)


# --- Stein equations


def squarings(
    A: Floats, B: Floats, *, negligible: float = 2.0**-60
) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield A^(2^k), B^(2^k), k = 0, 1, …, and the product of the norms of those that come next.

    In units of what is ``negligible``: callers break below one, and silence overflow.
    """
    same = A is B
    for _ in range(MOST_DOUBLINGS):
        next_A = A @ A
        next_B = next_A if same else B @ B
        size = float(np.sqrt((next_A**2).sum() * (next_B**2).sum()))
        yield A, B, size / negligible
        if not np.isfinite(size):
            break
        A, B = next_A, next_B
    raise UncertainResultError(
        "a sum over the powers of `A` does not settle in floating point; scale `A` further below "
        "spectral radius 1."
    )


def solve_stein(A: Any, Q: Floats, B: Any = None) -> Floats:
    """Return X with X = A X Bᵀ + Q (B = A by default), for A and B of spectral radius below one.

    To rounding of the smallest row and column, which may be the only one that is read.
    """
    A = np.asarray(A)
    B = A if B is None else np.asarray(B)
    X: Floats = np.array(Q)
    with np.errstate(over="ignore", invalid="ignore"):
        for left, right, rest in squarings(A, B):
            X += left @ X @ right.T
            if rest <= 1 and rest <= _range(X):
                break
    return np.asarray((X + X.T) / 2 if A is B else X)


def _range(X: Floats) -> float:
    """Shortest row and column that are not zero, relative to the longest."""
    if not X.any():
        return 1.0
    squares = [(X**2).sum(axis=axis) for axis in (0, 1)]
    least = [length.min(where=length > 0, initial=np.inf) / length.max() for length in squares]
    return float(np.sqrt(least[0] * least[1]))


def _norm(A: Floats) -> float:
    """The spectral norm of A, by some steps of the power method and a margin."""
    x: Any = np.random.default_rng(len(A)).standard_normal(A.shape[1])
    size = 0.0
    for _ in range(12):
        y = A @ x
        size = float(np.sqrt(float(y @ y) / max(float(x @ x), TINY)))
        x = np.asarray(A.T @ y) / max(size, TINY)
    return 1.5 * size


def residual_norm(A: Floats, X: Floats, Q: Floats) -> float:
    """Bound r on ‖X − A X Aᵀ − Q‖₂, rounding included: X is off by at most r·Σ_k A^k (A^k)ᵀ."""
    rest = X - A @ X @ A.T - Q
    growth = 1 + np.square(_norm(A))
    rounding = 8 * EPS * growth * np.sqrt((X**2).sum())
    return float(np.sqrt((rest**2).sum()) + rounding)
