"""Lags, horizons and totals in white coordinates, where few bits suffice.

With u_τ = B p_τ in coordinates that make what is read white, MC_τ = ‖u_τ‖². The first p_τ,
|τ| ≤ m, follow the recursion driven by γ. Beyond, a linear recurrence goes on without end,

    (p_τ, γ(τ), …, γ(τ−p+1)) ← F (p_τ, …),  F = [[A, C·ar], [0, Φ]]        (F = A for a finite γ)
    p_{−k} = G (Φᵀ)^{k−m} e₁,  G = [p_{−m}, …, p_{−m+p−1}]                   (0 for a finite γ)

and Σ p_τ p_τᵀ over what it yields solves a Stein equation.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

from memcurve.inputs import ARMA, InputProcess
from memcurve.inputs.arma import first_lags
from memcurve.solve.balls.arithmetic import beside, block, energy, krylov, power_two, solve_stein


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
    """Memory and forecasts of one input, as many as are asked for.

    So many lags as the ``width``, a power of two, are computed together.
    """

    def __init__(
        self,
        states: Propagator,
        C: Any,
        known: BallsOfGamma,
        G: Any | None,
        readout: Readout,
        *,
        width: int = 64,
    ) -> None:
        A, m, self._width = states.F, known.reach, width
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
        powers, width = self.propagator.powers, self._width
        shift = width.bit_length() - 1
        while len(self.memory) < count:
            b = (len(self.memory) - self.explicit_count) // width
            if b == 0:
                columns = krylov(self.propagator.F, self.propagator.F * self.last, width, powers)
            else:
                low = b & -b
                columns = power_two(powers, shift + low.bit_length() - 1) * self._blocks[b - low]
                # those that later blocks start from are b with some of its lowest bits cleared
                kept = {b & ~((1 << k) - 1) for k in range(b.bit_length() + 1)}
                self._blocks = {key: self._blocks[key] for key in kept & self._blocks.keys()}
            self._blocks[b] = columns
            p = block(columns, range(self.size), range(width))
            self.memory += self.readout.capacities(p)

    def extend_forecast(self, count: int) -> None:
        """Append horizons until there are at least ``count``."""
        from flint import arb

        missing = count - len(self.forecast)
        if missing <= 0:
            return
        if self.G is None:
            self.forecast += [arb(0)] * missing
            return
        backwards = self.known.companion.transpose()
        first = block(backwards, range(backwards.nrows()), [0])
        columns = self.G * krylov(backwards, first, count - self.known.reach)
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
        unit = arb_mat([[int(i == 0)] for i in range(backwards.F.nrows())])
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


def _augmented(A: Any, C: Any, known: BallsOfGamma, last: Any) -> tuple[Propagator, Any]:
    """F and its start (p_m, γ(m), …, γ(m − p + 1)), which goes on to all later lags."""
    from flint import arb_mat

    companion = known.companion
    size, order = A.nrows(), companion.nrows()
    weights = arb_mat([companion.tolist()[0]])
    top = beside(A, C * weights).tolist()
    bottom = beside(arb_mat(order, size), companion).tolist()
    gamma = [[value] for value in known.newest]
    return Propagator(arb_mat(top + bottom)), arb_mat(last.tolist() + gamma)


# --- Autocovariances of the inputs as balls, and what the network makes of them.
#
# With γ scaled to γ(0) = 1 and p_τ = Cov(x_t, z_{t−τ}) = Σ_{i≥0} γ(i − τ) A^i C for all τ ∈ Z::
#
#     p_τ = A p_{τ−1} + C γ(τ)
#
# Beyond the reach m of a finite γ, p_{−k} = 0. An ARMA input has γ(k) = Σ_l ar_l γ(k − l) for k >
# q, so that G = [p_{−m}, p_{−m+1}, …, p_{−m+p−1}] with m = max(p, q) solves a Stein equation, G − A
# G Φᵀ = C [γ(m), …, γ(m − p + 1)], where Φ is the companion matrix of ar.


class BallsOfGamma(NamedTuple):
    """γ(0) = 1, …, γ(m) and the recurrence beyond: its companion matrix Φ, or None for zeros."""

    gamma: list[Any]
    companion: Any  # None where there is none
    energy: Any

    @property
    def newest(self) -> list[Any]:
        """γ(m), …, γ(m − p + 1): what the recurrence goes on from."""
        return self.around(self.reach - self.companion.nrows() + 1, self.reach)[::-1]

    @property
    def reach(self) -> int:
        """The m up to which γ is listed."""
        return len(self.gamma) - 1

    def around(self, first: int, last: int) -> list[Any]:
        """γ(first), …, γ(last) for lags of modulus at most m."""
        return [self.gamma[abs(k)] for k in range(first, last + 1)]


def autocovariance(process: InputProcess, bits: int) -> BallsOfGamma:
    """γ/γ(0) of the process as its own numbers define it, at the current precision."""
    from flint import arb, arb_mat

    if process.is_white:
        return BallsOfGamma([arb(1)], None, arb(0))
    if isinstance(process, ARMA):
        balls = first_lags(process.ar, process.ma, bits)
        order = len(process.ar)
    elif process.finite_lags is not None:
        values = process.autocovariance(process.finite_lags + 1)
        balls, order = [arb(value) for value in values.tolist()], 0
    else:
        raise TypeError(
            f"{process.name} has neither a finite autocovariance nor ARMA weights; give it as "
            f"inputs.Autocovariance of its first lags."
        )
    gamma = [arb(1)] + [ball / balls[0] for ball in balls[1:]]
    if order == 0:
        return BallsOfGamma(gamma, None, arb(0))
    companion = arb_mat(order, order)
    for i, weight in enumerate(process.ar.tolist()):  # type: ignore[attr-defined]
        companion[0, i] = weight
    for i in range(1, order):
        companion[i, i - 1] = 1
    return BallsOfGamma(gamma, companion, energy(companion))


def future(A: Any, C: Any, known: BallsOfGamma, energy_of_A: Any) -> Any | None:
    """G = [p_{−m}, …, p_{−m+p−1}] for an ARMA input; None for a finite autocovariance."""
    from flint import arb_mat

    if known.companion is None:
        return None
    driven_by = C * arb_mat([known.newest])
    return solve_stein(A, known.companion, driven_by, (energy_of_A, known.energy))


def present(A: Any, C: Any, known: BallsOfGamma, G: Any | None) -> Any:
    """p_0 = Cov(x_t, z_t), a column."""
    if G is not None:
        start = -known.reach + G.ncols() - 1
        p = block(G, range(G.nrows()), [G.ncols() - 1])
        for lag in range(start + 1, 1):
            p = A * p + C * known.gamma[-lag]
        return p
    # Σ_i γ(i) A^i C by baby steps i < s and giant steps A^s, whose balls hardly grow
    from flint import arb, arb_mat

    count = len(known.gamma)
    step = 1 << max(0, isqrt(count - 1).bit_length())
    turns = -(-count // step)
    padded = known.gamma + [arb(0)] * (turns * step - count)
    powers = [A]
    table = arb_mat([[padded[t * step + i] for t in range(turns)] for i in range(step)])
    sums = krylov(A, C, step, powers) * table
    p = block(sums, range(sums.nrows()), [turns - 1])
    if turns > 1:
        giant = power_two(powers, step.bit_length() - 1)
        for t in range(turns - 2, -1, -1):
            p = giant * p + block(sums, range(sums.nrows()), [t])
    return p


def driven(A: Any, C: Any, drive: list[Any], start: Any | None, powers: list[Any]) -> Any:
    """Columns p_i = A p_{i−1} + C g_i for i = 0, 1, … with p_{−1} = ``start`` (or zero).

    In blocks of w: within a block, [C, AC, …, A^{w−1}C] times a Toeplitz matrix of g; from block to
    block A^w. Step by step the balls would grow with the powers of |A|.
    """
    from flint import arb, arb_mat

    size, count = A.nrows(), len(drive)
    width = 1 << max(0, isqrt(count - 1).bit_length() if count > 1 else 0)
    blocks = -(-count // width)
    padded = drive + [arb(0)] * (blocks * width - count)
    toeplitz = arb_mat(width, blocks * width)
    for b in range(blocks):
        for i in range(width):
            for j in range(i + 1):
                toeplitz[j, b * width + i] = padded[b * width + i - j]
    forced = krylov(A, C, width, powers) * toeplitz
    step = width.bit_length() - 1
    ends = [arb_mat(size, 1) if start is None else start]
    for b in range(blocks - 1):
        from_before = power_two(powers, step) * ends[-1]
        ends.append(from_before + block(forced, range(size), [b * width + width - 1]))
    free = krylov(A, A * beside(*ends), width, powers)
    places = [i * blocks + b for b in range(blocks) for i in range(width)]
    free = block(free, range(size), places)
    return block(forced + free, range(size), range(count))
