"""Lags, horizons and totals in white coordinates, where few bits suffice.

With γ scaled to γ(0) = 1 and p_τ = Cov(x_t, z_{t−τ}) = Σ_{i≥0} γ(i − τ) A^i C for all τ ∈ Z::

    p_τ = A p_{τ−1} + C γ(τ),        MC_τ = ‖B p_τ‖²

in coordinates B that make what is read white. p_τ, |τ| ≤ m, follow this recursion. Beyond, a linear
recurrence goes on without end. An ARMA input has γ(k) = Σ_l ar_l γ(k − l) for k > q; with m =
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
from memcurve.solve.balls.arithmetic import (
    Powers,
    beside,
    columns_of,
    inner,
    rows_of,
    solve_stein,
)

#: Lags that are computed together, a power of two. Doubled: short curves take a little longer.
BLOCK = 64


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


def autocovariances(process: InputProcess, bits: int) -> Autocovariances:
    """γ/γ(0) of the process as its own numbers define it, at the current precision."""
    from flint import arb, arb_mat

    if process.is_white:
        return Autocovariances([arb(1)], None)
    if isinstance(process, ARMA):
        balls = first_lags(process.ar, process.ma, bits)
    elif process.finite_lags is not None:
        balls = [arb(v) for v in process.autocovariance(process.finite_lags + 1).tolist()]
    else:
        raise TypeError(
            f"{process.name} has neither a finite autocovariance nor ARMA weights; give it as "
            f"inputs.Autocovariance of its first lags."
        )
    gamma = [arb(1)] + [ball / balls[0] for ball in balls[1:]]
    weights = process.ar.tolist() if isinstance(process, ARMA) else []
    if not weights:
        return Autocovariances(gamma, None)
    shift = [[int(i == j) for j in range(len(weights))] for i in range(len(weights) - 1)]
    return Autocovariances(gamma, Powers(arb_mat([weights, *shift])))


def history(A: Powers, C: Any, given: Autocovariances) -> Any:
    """Columns p_{−m}, …, p_0: what the states have to do with inputs to come, and with this one."""
    from flint import arb_mat

    gamma, m = given.gamma, given.reach
    if given.companion is None:
        return driven(A, C, gamma[::-1], arb_mat(C.nrows(), 1))
    order = given.order
    newest = arb_mat([gamma[m - order + 1 :][::-1]])
    G = solve_stein(A, given.companion, C * newest)
    return beside(G, driven(A, C, gamma[m - order :: -1], columns_of(G, [order - 1])))


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
    return beside(*parts)


class Readout(NamedTuple):
    """u = B p with B = None for the identity; capacities are ‖u‖² times a ball around one."""

    B: Any | None
    factor: Any

    def capacities(self, columns: Any) -> list[Any]:
        """‖B p‖² for every column p."""
        read = columns if self.B is None else self.B * columns
        return [inner(u, u) * self.factor for u in read.transpose().tolist()]

    def of_sum(self, total: Any) -> Any:
        """Tr B P Bᵀ for a sum P of products p pᵀ."""
        if self.B is None:
            return total.trace() * self.factor
        return inner((self.B * total).entries(), self.B.entries()) * self.factor


class InputCurve:
    """Memory and forecasts of one input, as many as are asked for."""

    def __init__(
        self, A: Powers, C: Any, given: Autocovariances, past: Any, readout: Readout
    ) -> None:
        from flint import arb_mat

        m, order = given.reach, given.order
        self._given, self._readout, self.size = given, readout, C.nrows()
        now = columns_of(past, [m])
        explicit = beside(now, driven(A, C, given.gamma[1:], now))
        self.memory = readout.capacities(explicit)
        self.forecast = readout.capacities(columns_of(past, range(m - 1, -1, -1)))
        self._explicit = len(self.memory)
        self._G = columns_of(past, range(order))
        #: The recurrence and its start (p_m, γ(m), …, γ(m − p + 1)), which goes on to later lags.
        self.later, self.last = A, columns_of(explicit, [m])
        if given.companion is not None:
            companion = given.companion.F
            top = beside(A.F, C * rows_of(companion, [0])).tolist()
            bottom = beside(arb_mat(order, self.size), companion).tolist()
            newest = [[value] for value in given.gamma[m - order + 1 :][::-1]]
            self.later = Powers(arb_mat(top + bottom))
            self.last = arb_mat(self.last.tolist() + newest)

    def extend_memory(self, count: int) -> None:
        """Append lags until there are at least ``count``.

        Every block starts from a product of few powers F^(2^k), so that its balls stay small.
        """
        while len(self.memory) < count:
            block, k = (len(self.memory) - self._explicit) // BLOCK, BLOCK.bit_length() - 1
            start = self.later.F * self.last
            while block:
                start = self.later.square(k) * start if block & 1 else start
                block, k = block >> 1, k + 1
            columns = self.later.krylov(start, BLOCK)
            self.memory += self._readout.capacities(rows_of(columns, range(self.size)))

    def extend_forecast(self, count: int) -> None:
        """Append horizons until there are at least ``count``."""
        from flint import arb

        missing = count - len(self.forecast)
        if missing <= 0:
            return
        if self._given.companion is None:
            self.forecast += [arb(0)] * missing
            return
        backwards = Powers(self._given.companion.F.transpose())
        columns = backwards.krylov(columns_of(backwards.F, [0]), count - self._given.reach)
        self.forecast += self._readout.capacities(self._G * columns)[-missing:]

    def memory_before(self) -> Any:
        """Sum of the memory before the recurrence sets in."""
        from flint import arb

        return sum(self.memory[: self._explicit], arb(0))

    def total_forecast(self) -> Any:
        """Sum of the forecasts over all horizons."""
        from flint import arb

        total = sum(self.forecast[: self._given.reach], arb(0))
        if self._given.companion is None:
            return total
        backwards = Powers(self._given.companion.F.transpose())
        summed = solve_stein(backwards, backwards, _square(columns_of(backwards.F, [0])))
        return total + self._readout.of_sum(self._G * summed * self._G.transpose())


def total_memory(curves: list[InputCurve], readout: Readout) -> Any:
    """Sum of the memory over all lags and inputs; those with one recurrence are summed at once."""
    from flint import arb

    total = arb(0)
    groups: dict[Powers, list[InputCurve]] = {}
    for curve in curves:
        total += curve.memory_before()
        groups.setdefault(curve.later, []).append(curve)
    for later, group in groups.items():
        starts = beside(*(curve.last for curve in group))
        tail = solve_stein(later, later, _square(later.F * starts))
        states = range(group[0].size)
        total += readout.of_sum(rows_of(columns_of(tail, states), states))
    return total


def _square(V: Any) -> Any:
    return V * V.transpose()
