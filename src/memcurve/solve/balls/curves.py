"""Lags, horizons and totals in white coordinates, where few bits suffice.

With γ scaled to γ(0) = 1 and p_τ = Cov(x_t, z_{t−τ}) = Σ_{i≥0} γ(i − τ) A^i C for all τ ∈ Z::

    p_τ = A p_{τ−1} + C γ(τ),        MC_τ = ‖B p_τ‖²

in coordinates B that whiten what is read. p_τ, |τ| ≤ m, follow this recursion, and those beyond a
linear recurrence. An ARMA input has γ(k) = Σ_l ar_l γ(k − l) for k > q; with m =
max(p, q) and the companion matrix Φ of ar::

    (p_τ, γ(τ), …, γ(τ−p+1)) ← F (p_τ, …),  F = [[A, C·ar], [0, Φ]]        (F = A for a finite γ)
    p_{−k} = G (Φᵀ)^{k−m} e₁,  G = [p_{−m}, …, p_{−m+p−1}]                   (0 for a finite γ)
    G − A G Φᵀ = C [γ(m), …, γ(m − p + 1)]

and Σ p_τ p_τᵀ over what it yields solves a Stein equation.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

from memcurve.inputs import ARMA, InputProcess
from memcurve.inputs.arma import first_lags
from memcurve.solve.balls import arithmetic as balls
from memcurve.solve.balls.arithmetic import Powers


class Autocovariances(NamedTuple):
    """γ(0) = 1, …, γ(m) and the recurrence beyond: the companion matrix Φ, or None for zeros."""

    gamma: list[Any]
    companion: Powers | None

    @property
    def reach(self) -> int:
        """The m up to which γ is listed."""
        return len(self.gamma) - 1

    @property
    def order(self) -> int:
        """The order p of the recurrence beyond."""
        return 0 if self.companion is None else self.companion.F.nrows()

    @property
    def newest(self) -> list[Any]:
        """γ(m), …, γ(m − p + 1): what the recurrence goes on from."""
        return self.gamma[self.reach - self.order + 1 :][::-1]


def autocovariances(process: InputProcess, bits: int) -> Autocovariances:
    """γ/γ(0) of the process as its own numbers define it, at the current precision."""
    from flint import arb, arb_mat

    if process.is_white:
        return Autocovariances([arb(1)], None)
    if isinstance(process, ARMA):
        numbers = first_lags(process.ar, process.ma, bits)
    elif process.finite_lags is not None:
        numbers = [arb(v) for v in process.autocovariance(process.finite_lags + 1).tolist()]
    else:
        raise TypeError(
            f"{process.name} has neither a finite autocovariance nor ARMA weights; give it as "
            f"inputs.Autocovariance of its first lags."
        )
    gamma = [arb(1)] + [ball / numbers[0] for ball in numbers[1:]]
    weights = process.ar.tolist() if isinstance(process, ARMA) else []
    if not weights:
        return Autocovariances(gamma, None)
    shift = [[int(i == j) for j in range(len(weights))] for i in range(len(weights) - 1)]
    return Autocovariances(gamma, Powers(arb_mat([weights, *shift])))


def history(A: Powers, C: Any, given: Autocovariances) -> Any:
    """Columns p_{−m}, …, p_0: covariances of the states with the present input and later ones."""
    from flint import arb_mat

    gamma, m = given.gamma, given.reach
    if given.companion is None:
        return driven(A, C, gamma[::-1], arb_mat(C.nrows(), 1))
    G = balls.solve_stein(A, given.companion, C * arb_mat([given.newest]))
    last = balls.columns_of(G, [given.order - 1])
    return balls.beside(G, driven(A, C, gamma[m - given.order :: -1], last))


def driven(A: Powers, C: Any, drive: list[Any], start: Any) -> Any:
    """Columns p_i = A p_{i−1} + C g_i for i = 0, 1, … with p_{−1} = ``start``.

    In blocks of w: within a block, [C, AC, …, A^{w−1}C] times a Toeplitz matrix of g; from block to
    block A^w. Step by step the balls would grow with the powers of |A|.
    """
    from flint import arb, arb_mat

    if not drive:
        return arb_mat(C.nrows(), 0)
    step = isqrt(len(drive) - 1).bit_length()
    width = 1 << step
    responses, parts = A.krylov(C, width), []
    for first in range(0, len(drive), width):
        g = drive[first : first + width]
        toeplitz = [[g[j - i] if j >= i else arb(0) for j in range(len(g))] for i in range(width)]
        parts.append(responses * arb_mat(toeplitz) + A.krylov(A.F * start, len(g)))
        if len(g) == width:
            start = A.square(step) * start + responses * arb_mat([[x] for x in reversed(g)])
    return balls.beside(*parts)


class Readout(NamedTuple):
    """u = B p with B = None for the identity; capacities are ‖u‖² times a ball around one."""

    B: Any | None
    factor: Any

    def after(self, T: Any) -> Readout:
        """The readout of q where p = T q."""
        return self._replace(B=T if self.B is None else self.B * T)

    def capacities(self, columns: Any) -> list[Any]:
        """‖B p‖² for every column p."""
        read = columns if self.B is None else self.B * columns
        return [balls.inner(u, u) * self.factor for u in read.transpose().tolist()]

    def of_sum(self, total: Any) -> Any:
        """Tr B P Bᵀ for a sum P of products p pᵀ."""
        if self.B is None:
            return total.trace() * self.factor
        return balls.inner((self.B * total).entries(), self.B.entries()) * self.factor


class Curve:
    """Capacities of the first lags or horizons, and those of F s, F² s, … for all later ones."""

    step = 6

    def __init__(self, listed: Any, readout: Readout, F: Powers, start: Any, later: Readout):
        self.balls = readout.capacities(listed)
        self.F, self.start, self.readout, self._listed = F, start, later, len(self.balls)

    def extend(self, count: int) -> None:
        """Append capacities until there are at least ``count``.

        Every block starts from a product of few powers F^(2^k), so that its balls stay small.
        """
        while len(self.balls) < count:
            k = self.step
            block = (len(self.balls) - self._listed) >> k
            start = self.F.F * self.start
            while block:
                start = self.F.square(k) * start if block & 1 else start
                block, k = block >> 1, k + 1
            self.balls += self.readout.capacities(self.F.krylov(start, 1 << self.step))

    def before(self) -> Any:
        """Sum of those that are listed first."""
        from flint import arb

        return sum(self.balls[: self._listed], arb(0))


def memory_and_forecasts(
    A: Powers, C: Any, given: Autocovariances, past: Any, readout: Readout
) -> tuple[Curve, Curve]:
    """Memory of one input, lag by lag, and its forecasts, horizon by horizon."""
    from flint import arb_mat

    m, order, size = given.reach, given.order, C.nrows()
    now, before = balls.columns_of(past, [m]), balls.columns_of(past, range(m - 1, -1, -1))
    lags = balls.beside(now, driven(A, C, given.gamma[1:], now))
    last = balls.columns_of(lags, [m])
    if given.companion is None:
        none = Powers(arb_mat(1, 1))
        nothing = readout.after(arb_mat(size, 1))
        ahead = Curve(before, readout, none, arb_mat(1, 1), nothing)
        return Curve(lags, readout, A, last, readout), ahead
    companion = given.companion.F
    top = balls.beside(A.F, C * balls.rows_of(companion, [0])).tolist()
    bottom = balls.beside(arb_mat(order, size), companion).tolist()
    start = arb_mat(last.tolist() + [[value] for value in given.newest])
    states = readout.after(balls.beside(balls.diagonal([1] * size), arb_mat(size, order)))
    memory = Curve(lags, readout, Powers(arb_mat(top + bottom)), start, states)
    unit, G = (
        balls.columns_of(balls.diagonal([1] * order), [0]),
        balls.columns_of(past, range(order)),
    )
    backwards = Powers(companion.transpose())
    return memory, Curve(before, readout, backwards, unit, readout.after(G))


def total(curves: list[Curve]) -> Any:
    """Sum of all capacities; those with one recurrence are summed at once."""
    from flint import arb

    summed, groups = arb(0), dict[Powers, list[Curve]]()
    for curve in curves:
        summed += curve.before()
        groups.setdefault(curve.F, []).append(curve)
    for F, group in groups.items():
        later = F.F * balls.beside(*(curve.start for curve in group))
        summed += group[0].readout.of_sum(balls.solve_stein(F, F, later * later.transpose()))
    return summed
