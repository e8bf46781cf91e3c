"""Lags, horizons and totals in white coordinates, where few bits suffice.

With u_τ = B p_τ in coordinates that make what is read white, MC_τ = ‖u_τ‖². The first p_τ,
|τ| ≤ m, follow the recursion driven by γ. Beyond, a linear recurrence goes on without end,

    (p_τ, γ(τ), …, γ(τ−p+1)) ← F (p_τ, …),  F = [[A, C·ar], [0, Φ]]        (F = A for a finite γ)
    p_{−k} = G (Φᵀ)^{k−m} e₁,  G = [p_{−m}, …, p_{−m+p−1}]                   (0 for a finite γ)

and Σ p_τ p_τᵀ over what it yields solves a Stein equation.
"""

from __future__ import annotations

from typing import Any

from memcurve.enclosure.balls import beside, block, krylov, power_two
from memcurve.enclosure.spectra import Spectrum, driven
from memcurve.enclosure.stein import energy, solve_stein

#: Lags that are computed together: matrix products of this width.
WIDTH = 64


class Propagator:
    """A matrix F with its powers F^(2^k) and the bound Σ_k ‖F^k‖², each computed when needed."""

    def __init__(self, F: Any) -> None:
        self.F = F
        self.powers = [F]
        self._energy: Any = None

    def summed(self, starts: Any) -> Any:
        """Σ_{k≥1} F^k V Vᵀ (F^k)ᵀ for the columns V."""
        if self._energy is None:
            self._energy = energy(self.F)
        first = self.F * starts
        return solve_stein(self.F, self.F, first * first.transpose(), (self._energy,) * 2)


class Readout:
    """u = B p with B = None for the identity; capacities are ‖u‖² up to the factor 1 ± slack."""

    def __init__(self, B: Any | None, slack: Any) -> None:
        from flint import arb

        self.B = B
        self.factor = 1 + arb(0, slack)

    def capacities(self, columns: Any) -> list[Any]:
        """‖B p‖² for every column p; further entries of a column are not part of p."""
        from flint import arb

        values = []
        for column in self._read(columns).transpose().tolist():
            total = arb(0)
            for entry in column:
                total += entry * entry  # arb's ** gives NaN for balls around zero
            values.append(total * self.factor)
        return values

    def of_sum(self, total: Any) -> Any:
        """Tr B P Bᵀ for a sum P of products p pᵀ."""
        from flint import arb

        if self.B is None:
            return total.trace() * self.factor
        read = (self.B * total).tolist()
        trace = arb(0)
        for left, right in zip(read, self.B.tolist(), strict=True):
            for x, y in zip(left, right, strict=True):
                trace += x * y
        return trace * self.factor

    def _read(self, columns: Any) -> Any:
        return columns if self.B is None else self.B * columns


class InputCurve:
    """Memory and forecasts of one input, as many as are asked for."""

    def __init__(
        self, states: Propagator, C: Any, known: Spectrum, G: Any | None, readout: Readout
    ) -> None:
        A, m = states.F, known.reach
        self.size, self.readout, self.known, self.G = A.nrows(), readout, known, G
        everything = range(self.size)
        given = 0 if G is None else G.ncols()
        start = None if G is None else block(G, everything, [given - 1])
        explicit = driven(A, C, known.around(given - m, m), start, states.powers)
        if G is not None:
            explicit = beside(G, explicit)
        self.memory = readout.capacities(block(explicit, everything, range(m, 2 * m + 1)))
        before = block(explicit, everything, range(m - 1, -1, -1)) if m else None
        self.forecast = [] if before is None else readout.capacities(before)
        self.explicit_count = len(self.memory)
        last = block(explicit, everything, [2 * m])
        self.propagator, self.last = states, last
        if known.companion is not None:
            self.propagator, self.last = _augmented(A, C, known, last)
        self._blocks: dict[int, Any] = {}

    def extend_memory(self, count: int) -> None:
        """Append lags until there are at least ``count``.

        Block b of the recurrence is F^(w·l) times block b − l, l the lowest bit of b, so that
        every block is a product of few powers and its balls stay small.
        """
        powers = self.propagator.powers
        shift = WIDTH.bit_length() - 1
        while len(self.memory) < count:
            b = (len(self.memory) - self.explicit_count) // WIDTH
            if b == 0:
                columns = krylov(self.propagator.F, self.propagator.F * self.last, WIDTH, powers)
            else:
                low = b & -b
                columns = power_two(powers, shift + low.bit_length() - 1) * self._blocks[b - low]
                # those that later blocks start from are b with some of its lowest bits cleared
                kept = {b & ~((1 << k) - 1) for k in range(b.bit_length() + 1)}
                self._blocks = {key: self._blocks[key] for key in kept & self._blocks.keys()}
            self._blocks[b] = columns
            p = block(columns, range(self.size), range(WIDTH))
            self.memory += self.readout.capacities(p)

    def extend_forecast(self, count: int) -> None:
        """Append horizons until there are at least ``count``."""
        from flint import arb, arb_mat

        missing = count - len(self.forecast)
        if missing <= 0:
            return
        if self.G is None:
            self.forecast += [arb(0)] * missing
            return
        backwards = self.known.companion.transpose()
        unit = arb_mat(backwards.nrows(), 1)
        unit[0, 0] = 1
        beyond = count - self.known.reach
        columns = self.G * krylov(backwards, backwards * unit, beyond)
        self.forecast += self.readout.capacities(columns)[-missing:]

    def memory_before(self) -> Any:
        """Sum of the memory before the recurrence sets in."""
        from flint import arb

        return sum(self.memory[: self.explicit_count], arb(0))

    def total_forecast(self) -> Any:
        """Sum of the forecasts over all horizons."""
        from flint import arb, arb_mat

        total = sum(self.forecast[: self.known.reach], arb(0))
        if self.G is None:
            return total
        backwards = Propagator(self.known.companion.transpose())
        unit = arb_mat(backwards.F.nrows(), 1)
        unit[0, 0] = 1
        return total + self.readout.of_sum(self.G * backwards.summed(unit) * self.G.transpose())


def total_memory(curves: list[InputCurve], readout: Readout) -> Any:
    """Sum of the memory over all lags and inputs."""
    from flint import arb

    total = arb(0)
    groups: dict[int, list[InputCurve]] = {}
    for curve in curves:
        total += curve.memory_before()
        groups.setdefault(id(curve.propagator), []).append(curve)
    for group in groups.values():
        tail = group[0].propagator.summed(beside(*(curve.last for curve in group)))
        states = range(group[0].size)
        total += readout.of_sum(block(tail, states, states))
    return total


def _augmented(A: Any, C: Any, known: Spectrum, last: Any) -> tuple[Propagator, Any]:
    """F and its start (p_m, γ(m), …, γ(m − p + 1)), which goes on to all later lags."""
    from flint import arb_mat

    companion = known.companion
    size, order = A.nrows(), companion.nrows()
    weights = arb_mat([companion.tolist()[0]])
    top = beside(A, C * weights).tolist()
    bottom = beside(arb_mat(order, size), companion).tolist()
    gamma = [[known.gamma[abs(known.reach - i)]] for i in range(order)]
    return Propagator(arb_mat(top + bottom)), arb_mat(last.tolist() + gamma)
