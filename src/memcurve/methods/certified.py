"""Proven enclosures by ball arithmetic, for the very numbers stored in the network.

The minimal polynomial p of C with respect to A, of degree r, solves the Krylov system
[C, AC, …, A^{r−1}C]·x = A^r C on r pivot rows (found modulo two 62-bit primes). For real networks
the all-pass filter is B(z) = p(z)/(z^r p(1/z)) = Σ_j b_j z^j, a power series, and
MC_τ = 1 − Σ_{j≤τ} b_j². Every step is carried out on balls (midpoint ± radius) that contain the
true numbers; the precision is raised until the radii are negligible and the Schur–Cohn test proves
all roots of p inside the unit disc. What the system's condition costs is paid in precision, not in
accuracy.

A full rank is proven. A deficient one is a proven lower bound: it is found modulo two 62-bit
primes, and the rows that were not solved for are checked too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.allpass import MOST_DEFAULT_LAGS, enough_lags
from memcurve.arguments import require_size
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.general import Problem
from memcurve.methods.general import certified_answer, curves_of
from memcurve.methods.result import problem_options, single_channel_curve
from memcurve.network import LinearNetwork
from memcurve.spectrum.modular import dyadic

Floats = NDArray[np.float64]

#: Two primes far from powers of two (modulo 2^61 − 1, say, 1 and 2^61 would coincide).
PRIMES = (3141592653589793239, 2718281828459045269)
LARGEST_RADIUS = 2.0**-90
_UNSTABLE = (
    "the network is unstable: proven in ball arithmetic, an eigenvalue that the mask excites has "
    "modulus ≥ 1. Scale `A` below spectral radius 1."
)
MOST_BITS = 2**15


def certified(
    network: LinearNetwork,
    lags: int | None,
    *,
    input: Any = None,
    noise: Any = None,
    max_size: int = 1000,
) -> MemoryCurve:
    """Enclose the memory curve rigorously; ``error`` is a proven bound.

    Parameters
    ----------
    network : LinearNetwork
        A stable network.
    lags : int or None
        Number of lags; None chooses enough to hold all but 1e-12 of the memory.
    input, noise
        As for :func:`memcurve.memory_curve`; a single noise level. Anything but white input without
        noise into a single input, read everywhere, goes through :mod:`memcurve.enclosure`.
    max_size : int
        Refuse more reachable states than this. The time grows a little faster than the fourth
        power of the size: 0.1 s at 100 states, 2 s at 200, about a minute at 500.
    """
    max_size = require_size(max_size, "max_size")
    problem = Problem.of(network, lags, input=input, noise=noise)
    nodes = problem.reachable
    if len(nodes) > max_size:
        raise UncertainResultError(
            f"method 'certified' is limited to `max_size`={max_size} reachable states, since its "
            f"time grows with their fourth power, got {len(nodes)}. Raise the limit if you can "
            f"wait, or use method='exact'."
        )
    if not problem.is_plain:
        found = certified_answer(problem)
        options = problem_options(problem) | {"max_size": max_size}
        [curve] = curves_of(problem, found, method="certified", options=options)
        return curve
    memory, loss, error, rank, bits = enclose(problem.A, problem.C[:, 0], lags)
    notes = []
    if rank < len(nodes):
        notes.append(
            f"rank {rank} of {len(nodes)} reachable states: proven as a lower bound, and equal "
            f"unless a non-zero integer is divisible by two given 62-bit primes"
        )
    return single_channel_curve(
        network,
        method="certified",
        memory=memory,
        loss=loss,
        error=error,
        rank=rank,
        capped=lags is None and len(memory) == MOST_DEFAULT_LAGS,
        notes=notes,
        options={"max_size": max_size},
        diagnostics={"reachable": len(nodes), "bits": bits},
    )


def enclose(A: Floats, C: Floats, lags: int | None) -> tuple[Floats, Floats, Floats, int, int]:
    """Memory, loss, proven error, rank and precision in bits, for a pair that is all reachable."""
    from flint import arb_mat, ctx

    if len(C) == 0:
        none = np.zeros(1 if lags is None else lags)
        return none, none + 1, none, 0, 0
    rank, rows, reciprocal = max(
        (_krylov_pivots(A, C, prime) for prime in PRIMES), key=lambda found: found[0]
    )
    if rank == 0:
        raise UncertainResultError("the mask vanishes modulo a prime; scale `C` and try again.")
    if reciprocal:
        raise UnstableNetworkError(_UNSTABLE)
    exact_A, exact_C = arb_mat(A.tolist()), arb_mat(C[:, None].tolist())
    bits = max(192, 5 * rank)
    while bits <= MOST_BITS:
        with ctx.workprec(bits):
            polynomial = _minimal_polynomial(exact_A, exact_C, rank, rows)
            stable = None if polynomial is None else _is_stable(polynomial)
            if stable is False:
                raise UnstableNetworkError(_UNSTABLE)
            curve = _curve_of_polynomial(polynomial, lags) if polynomial and stable else None
        if curve is not None:
            return *curve, rank, bits
        bits = int(bits * 1.6)
    raise UncertainResultError(
        f"no enclosure was found with {MOST_BITS} bits: the spectral radius is 1 up to that "
        f"precision, or the Krylov matrix is too ill-conditioned. Scale `A` further below 1."
    )


def _krylov_pivots(A: Floats, C: Floats, prime: int) -> tuple[int, list[int], bool]:
    """Rank r of the Krylov matrix modulo a prime, and r rows on which r columns have it.

    Also whether the minimal polynomial has two roots λ and 1/λ (or λ = ±1), so that one of them is
    not inside the unit disc: balls alone cannot tell a root on the circle from one near it.
    """
    from flint import nmod_mat, nmod_poly

    size = len(C)
    matrix = nmod_mat(size, size, _residues(A, prime), prime)
    v = nmod_mat(size, 1, _residues(C, prime), prime)
    columns: list[int] = []
    for _ in range(size + 1):
        columns += [int(entry) for entry in v.entries()]
        v = matrix * v
    rank = int(nmod_mat(size, size, columns[: size * size], prime).rank())  # one power a row
    # the first r powers are independent, so their echelon form has r pivots
    echelon, _ = nmod_mat(rank, size, columns[: rank * size], prime).rref()
    rows, row = [], 0
    for node in range(size):
        if row < rank and int(echelon[row, node]) != 0:
            rows.append(node)
            row += 1
    if rank == 0:
        return 0, [], False
    powers = [[columns[k * size + node] for k in range(rank + 1)] for node in rows]
    krylov = nmod_mat(rank, rank, [x for power in powers for x in power[:rank]], prime)
    x = krylov.solve(nmod_mat(rank, 1, [power[rank] for power in powers], prime))
    coefficients = [-int(entry) % prime for entry in x.entries()] + [1]
    polynomial, reverse = nmod_poly(coefficients, prime), nmod_poly(coefficients[::-1], prime)
    return rank, rows, polynomial.gcd(reverse).degree() > 0


def _residues(x: Floats, prime: int) -> list[int]:
    """Float64 numbers m·2^e modulo the prime."""
    integers, exponents = (part.tolist() for part in dyadic(x.ravel()))
    powers = {e: pow(2, e, prime) for e in set(exponents)}
    return [m * powers[e] % prime for m, e in zip(integers, exponents, strict=True)]


def _minimal_polynomial(A: Any, C: Any, rank: int, rows: list[int]) -> list[Any] | None:
    """Coefficients, lowest first, of the monic minimal polynomial; None if precision is short."""
    from flint import arb, arb_mat

    powers, v = [], C
    for _ in range(rank + 1):
        powers.append(v)
        v = A * v
    chosen = [[power[i, 0] for power in powers] for i in rows]
    try:
        x = arb_mat([row[:rank] for row in chosen]).solve(arb_mat([[row[rank]] for row in chosen]))
    except ZeroDivisionError:
        return None
    solved = set(rows)
    for i in range(C.nrows()):
        if i in solved:
            continue
        rest = powers[rank][i, 0] - sum((x[k, 0] * powers[k][i, 0] for k in range(rank)), arb(0))
        if not rest.contains(0):
            raise UncertainResultError(
                f"the rank {rank} found modulo two primes is too low for this network, which is "
                f"made so that they fail; scale `C` by a factor that is no power of two."
            )
    return [-x[k, 0] for k in range(rank)] + [arb(1)]


def _is_stable(polynomial: list[Any]) -> bool | None:
    """Schur–Cohn test: True and False are proven, None means that the balls are too wide."""
    a = list(polynomial)
    while len(a) > 1:
        reflection = a[0] / a[-1]
        if abs(reflection) >= 1:
            return False
        if not abs(reflection) < 1:
            return None
        a = [a[i + 1] - reflection * a[-2 - i] for i in range(len(a) - 1)]
    return True


def _curve_of_polynomial(
    polynomial: list[Any], lags: int | None
) -> tuple[Floats, Floats, Floats] | None:
    """Memory, loss and error as floats; None if some radius is above LARGEST_RADIUS."""
    count = lags or max(64, 4 * len(polynomial))
    rank = len(polynomial) - 1
    while True:
        curve = _series_energy(polynomial, count)
        if curve is None or lags is not None:
            return curve
        enough = enough_lags(curve[0], rank) or (count if count >= MOST_DEFAULT_LAGS else None)
        if enough is not None:
            memory, loss, error = curve
            return memory[:enough], loss[:enough], error[:enough]
        count = min(4 * count, MOST_DEFAULT_LAGS)


def _series_energy(polynomial: list[Any], count: int) -> tuple[Floats, Floats, Floats] | None:
    from flint import arb, arb_series, ctx

    before, ctx.cap = ctx.cap, count
    try:
        reversed_polynomial = polynomial[::-1]
        b = arb_series(polynomial, prec=count) / arb_series(reversed_polynomial, prec=count)
    finally:
        ctx.cap = before
    memory, loss, error = np.empty(count), np.empty(count), np.empty(count)
    lost = arb(0)
    for lag in range(count):
        lost += b[lag] * b[lag]  # arb's ** gives NaN for balls around zero
        held = 1 - lost
        if not float(held.rad()) <= LARGEST_RADIUS:
            return None
        memory[lag] = min(1.0, max(0.0, float(held.mid())))
        loss[lag] = min(1.0, max(0.0, float(lost.mid())))
        error[lag] = float((held - memory[lag]).abs_upper())
    return memory, loss, np.nextafter(error, np.inf)
