"""The plain question in ball arithmetic, for the very numbers stored in the network.

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

from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.solve.balls.arithmetic import UNSTABLE
from memcurve.solve.balls.pivots import single_pivots
from memcurve.solve.lags import MOST_DEFAULT_LAGS, Lags
from memcurve.types import Floats


def enclose(
    A: Floats, C: Floats, lags: int | None, *, most_bits: int = 2**15
) -> tuple[Floats, Floats, Floats, int, int]:
    """Memory, loss, proven error, rank and precision in bits, for a pair that is all reachable."""
    from flint import arb_mat, ctx

    if len(C) == 0:
        none = np.zeros(1 if lags is None else lags)
        return none, none + 1, none, 0, 0
    rows, reciprocal = single_pivots(A, C)
    rank = len(rows)
    if rank == 0:
        raise UncertainResultError("the mask vanishes modulo a prime; scale `C` and try again.")
    if reciprocal:
        raise UnstableNetworkError(UNSTABLE)
    exact_A, exact_C = arb_mat(A.tolist()), arb_mat(C[:, None].tolist())
    bits = max(192, 5 * rank)
    while bits <= most_bits:
        with ctx.workprec(bits):
            polynomial = _minimal_polynomial(exact_A, exact_C, rank, rows)
            stable = None if polynomial is None else _is_stable(polynomial)
            if stable is False:
                raise UnstableNetworkError(UNSTABLE)
            curve = _curve_of_polynomial(polynomial, lags) if polynomial and stable else None
        if curve is not None:
            return *curve, rank, bits
        bits = int(bits * 1.6)
    raise UncertainResultError(
        f"no enclosure was found with {most_bits} bits: the spectral radius is 1 up to that "
        f"precision, or the Krylov matrix is too ill-conditioned. Scale `A` further below 1."
    )


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
    """Memory, loss and error as floats; None if some radius is too large."""
    count = lags or max(64, 4 * len(polynomial))
    while True:
        curve = _series_energy(polynomial, count)
        if curve is None:
            return None
        listed = Lags(lags, len(polynomial) - 1)
        if listed.enough(curve[0]):
            memory, loss, error = (part[: listed.count] for part in curve)
            return memory, loss, error
        count = min(4 * count, MOST_DEFAULT_LAGS)


def _series_energy(
    polynomial: list[Any], count: int, *, largest_radius: float = 2.0**-90
) -> tuple[Floats, Floats, Floats] | None:
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
        if not float(held.rad()) <= largest_radius:
            return None
        memory[lag] = min(1.0, max(0.0, float(held.mid())))
        loss[lag] = min(1.0, max(0.0, float(lost.mid())))
        error[lag] = float((held - memory[lag]).abs_upper())
    return memory, loss, np.nextafter(error, np.inf)
