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

from dataclasses import replace
from typing import Any

import numpy as np

from memcurve.core.errors import UnstableNetworkError
from memcurve.core.types import Floats
from memcurve.solve.answer import MOST_DEFAULT_LAGS, Answer, Lags
from memcurve.solve.balls import arithmetic as balls
from memcurve.solve.balls.arithmetic import FIRST_BITS, UNSTABLE
from memcurve.solve.balls.pivots import find_pivots


def enclose(A: Floats, C: Floats, lags: int | None) -> Answer:
    """The plain question, for a pair that is all reachable."""
    from flint import arb_mat

    none = np.zeros(len(C))
    nodes = find_pivots(A, C[:, None], none, none, range(len(C))).nodes
    exact_A, exact_C = arb_mat(A.tolist()), arb_mat(C[:, None].tolist())

    def attempt() -> tuple[Floats, Floats, Floats]:
        polynomial = _minimal_polynomial(exact_A, exact_C, nodes)
        _require_stable(polynomial)
        return _curve_of_polynomial(polynomial, lags)

    curve, bits = balls.with_rising_bits(attempt, max(FIRST_BITS, 5 * len(nodes)))
    memory, loss, error = (part[:, None] for part in curve)
    answer = Answer.of_memory(memory, error, len(nodes), 0.0, loss)
    return replace(answer, rank=len(nodes), diagnostics={"bits": bits})


def _minimal_polynomial(A: Any, C: Any, nodes: list[int]) -> list[Any]:
    """Coefficients, lowest first, of the monic minimal polynomial."""
    from flint import arb

    rank, powers = len(nodes), [C]
    for _ in range(rank):
        powers.append(A * powers[-1])
    K = balls.beside(*powers[:-1])
    x = balls.solved(balls.rows_of(K, nodes), balls.rows_of(powers[-1], nodes))
    balls.require_zero(powers[-1] - K * x, rank)
    return [-entry for entry in x.entries()] + [arb(1)]


def _require_stable(polynomial: list[Any]) -> None:
    """Schur–Cohn test: all roots of the polynomial are inside the unit disc."""
    a = list(polynomial)
    while len(a) > 1:
        reflection = a[0] / a[-1]
        if abs(reflection) >= 1:
            raise UnstableNetworkError(UNSTABLE)
        balls.require(abs(reflection) < 1)
        a = [a[i + 1] - reflection * a[-2 - i] for i in range(len(a) - 1)]


def _curve_of_polynomial(polynomial: list[Any], lags: int | None) -> tuple[Floats, Floats, Floats]:
    """Memory, loss and error as floats."""
    count = lags or max(64, 4 * len(polynomial))
    while True:
        held, lost = _series_energy(polynomial, count)
        memory, error = balls.rounded(held, 1.0)
        listed = Lags(lags, len(polynomial) - 1)
        if listed.enough(memory):
            shown = slice(listed.count)
            return memory[shown], balls.rounded(lost, 1.0)[0][shown], error[shown]
        count = min(4 * count, MOST_DEFAULT_LAGS)


def _series_energy(
    polynomial: list[Any], count: int, *, largest_radius: float = 2.0**-90
) -> tuple[list[Any], list[Any]]:
    """1 − Σ_{j≤τ} b_j² and Σ_{j≤τ} b_j² for the first lags τ."""
    from flint import arb, arb_series, ctx

    before, ctx.cap = ctx.cap, count
    try:
        b = arb_series(polynomial, prec=count) / arb_series(polynomial[::-1], prec=count)
    finally:
        ctx.cap = before
    lost, total = [], arb(0)
    for lag in range(count):
        total += b[lag] * b[lag]  # arb's ** gives NaN for balls around zero
        lost.append(total)
    balls.require(all(ball.rad() <= largest_radius for ball in lost))
    return [1 - ball for ball in lost], lost
