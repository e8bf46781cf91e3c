"""The general problem: any stationary inputs, noise on states and observations, some rows read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.types import Floats
from memcurve.inputs import InputProcess, White
from memcurve.solve.analysis import state_units
from memcurve.solve.answer import Answer, Lags
from memcurve.solve.balls import arithmetic as balls
from memcurve.solve.balls.arithmetic import FIRST_BITS, Powers, TooWideError
from memcurve.solve.balls.curves import (
    Autocovariances,
    Readout,
    autocovariances,
    history,
    memory_and_forecasts,
    total,
)
from memcurve.solve.balls.pivots import Pivots, find_pivots, with_state_noise
from memcurve.solve.balls.plain import enclose
from memcurve.solve.fisher import scaled, unit_mask
from memcurve.solve.problem import Problem

#: Seconds for every bit of precision, times n³ (15 s at n = 300 with 740 bits). Doubled: it is
#: believed to be slower, and left out for networks of a fifth fewer states.
SECONDS_PER_BIT = 8e-10
#: Seconds of the plain question, times n⁴ (0.35 s at n = 120). Doubled: it is believed to be
#: slower, and left out for networks of a sixth fewer states.
PLAIN_SECONDS = 1.7e-9


def enclose_any(
    problem: Enclosable,
    lags: int | None,
    horizons: int = 0,
    *,
    max_bits: int = 2**15,
) -> Answer:
    """Enclose memory and forecasting capacity rigorously.

    With p_τ,j = Cov(x_t, z_j,t−τ) and the covariance N of y_t = x_t[rows] + noise,

        MC_τ,j = p_τ,j[rows]ᵀ N⁻¹ p_τ,j[rows],        FC_h,j = MC_−h,j

    and the pseudo-inverse of N where it is singular. All float64 numbers count as exact. A full
    rank of what the input excites of the states that are read is proven, a deficient one holds
    unless a non-zero integer is divisible by two given 62-bit primes; the other numbers then share
    that proviso.

    With None as many ``lags`` as matter. No more than ``max_bits`` are tried.
    """
    from flint import ctx

    if not problem.channels or not problem.pivots.outputs:
        return Answer.nothing(1, lags or 1, horizons, problem.inputs)
    low, bits = FIRST_BITS, FIRST_BITS + problem.more_bits
    while True:
        white, bits = balls.with_rising_bits(lambda: _whitened(problem, low), bits, max_bits)  # noqa: B023
        with ctx.workprec(low), contextlib.suppress(TooWideError):
            answer = _answer(problem, white, lags, horizons)
            return replace(answer, rank=problem.pivots.rank, diagnostics={"bits": bits})
        low, bits = 2 * low, bits + low


class _WhiteCoordinates(NamedTuple):
    """The network in coordinates in which its states are white, and the total where it is known."""

    A: Any
    columns: list[Any]
    given: list[Autocovariances]
    pasts: list[Any]
    readout: Readout
    total: Any


def _whitened(problem: Enclosable, low: int) -> _WhiteCoordinates:
    """Whiten the states and what is read, to balls for ``low`` bits.

    The states are whitened with M = Γ + S, where Γ − A Γ Aᵀ = Σ_j (p_0 C_jᵀ + C_j p_0ᵀ − C_j C_jᵀ)
    and S has the noise. Any M > 0 would do, so all of the observation noise may go into it.
    """
    from flint import arb, ctx

    nodes, outputs = problem.pivots.nodes, problem.pivots.outputs
    matrix, C, T = problem.reduced()
    A, Q = Powers(matrix), balls.diagonal(problem.exact.state[i] for i in nodes)
    columns = [balls.columns_of(C, [j]) for j in range(C.ncols())]
    given = [autocovariances(process, ctx.prec) for process in problem.processes]
    pasts = [history(A, c, g) for c, g in zip(columns, given, strict=True)]
    if not problem.fisher:
        for c, past in zip(columns, pasts, strict=True):
            cross = balls.columns_of(past, [past.ncols() - 1]) * c.transpose()
            Q = Q + cross + cross.transpose() - c * c.transpose()
    of_states = balls.solve_stein(A, A, Q)
    close = 2.0 ** (-5 * low // 8)
    output = metric = balls.whitening(
        of_states + balls.diagonal(problem.exact.own[i] for i in nodes), close
    )
    B = None
    if outputs != nodes:
        H, noise = (
            balls.rows_of(T, outputs),
            balls.diagonal(problem.exact.observation[i] for i in outputs),
        )
        output = balls.whitening(H * of_states * H.transpose() + noise, close)
        B = metric.transformed(H, output)
    readout = Readout(B, 1 + arb(0, output.slack))
    total = None
    if problem.is_plain:
        total = arb(problem.pivots.rank)
    elif problem.is_white:  # all of the covariance but the noise is memory
        squares = [balls.inner(column, column) for column in output.W.transpose().tolist()]
        noise = balls.inner(squares, [problem.exact.observation[i] for i in outputs])
        total = len(outputs) - noise * readout.factor
    white_A, columns = metric.transformed(A.F), [metric.W * c for c in columns]
    pasts = [metric.W * past for past in pasts]
    for part in (white_A, B, *columns, *pasts):
        balls.require(part is None or balls.spread(part) < balls.power_of_two(40 - low))
    return _WhiteCoordinates(white_A, columns, given, pasts, readout, total)


def _answer(
    problem: Enclosable, white: _WhiteCoordinates, lags: int | None, horizons: int
) -> Answer:
    """Everything asked for, at the current precision."""
    A, parts = Powers(white.A), zip(white.columns, white.given, white.pasts, strict=True)
    pairs = [memory_and_forecasts(A, *part, white.readout) for part in parts]
    curves, forecasts = ([pair[k] for pair in pairs] for k in range(2))
    memory_total = total(curves) if white.total is None else white.total
    ahead = total(forecasts)
    unit = float(memory_total.mid()) if problem.fisher else 1.0
    _require_narrow([memory_total, ahead], unit)
    listed, count = Lags(lags, float(memory_total) / unit), 0
    while True:
        for curve in curves:
            curve.extend(lags or count + count // 2 + 1)
        first, count = count, lags or min(len(curve.balls) for curve in curves)
        blocks = [curve.balls[first:count] for curve in curves]
        _require_narrow([ball for block in blocks for ball in block], unit)
        if listed.enough(np.sum([[float(v) / unit for v in block] for block in blocks], axis=0)):
            break
    for curve in forecasts:
        curve.extend(horizons)
        _require_narrow(curve.balls[:horizons], unit)
    values, errors = (part[:, None] for part in balls.rounded([memory_total, ahead]))
    return Answer(
        *_table(problem, [curve.balls[: listed.count] for curve in curves]),
        *_table(problem, [curve.balls[:horizons] for curve in forecasts]),
        values[0],
        errors[0],
        values[1],
        errors[1],
    )


def _require_narrow(numbers: Iterable[Any], unit: float) -> None:
    """Radii of 2^−80 at most."""
    balls.require(all(ball.rad() < 2.0**-80 * unit for ball in numbers))


def _table(problem: Enclosable, numbers: list[list[Any]]) -> tuple[Floats, Floats]:
    """Values and errors with one column for each input; those without influence stay zero."""
    values = np.zeros((1, len(numbers[0]), problem.inputs))
    error = np.zeros_like(values)
    largest = np.inf if problem.fisher else 1.0
    for channel, column in zip(problem.channels, numbers, strict=True):
        values[0, :, channel], error[0, :, channel] = balls.rounded(column, largest)
    return values, error


# --- The problem in exact numbers, reduced to states that are excited independently of each other.


class _Exact(NamedTuple):
    """A, C, and variances: of noise on what is read, of that which whitens, of state noise."""

    A: Any
    C: Any
    observation: list[Any]
    own: list[Any]
    state: list[Any]


class Enclosable:
    """x_t = A x_{t−1} + C z_t + noise, in exact numbers, scaled by powers of two.

    That changes no capacity. Inputs that have no influence are left out.

    ``processes`` are independent of each other, each scaled to unit variance; ``observation`` and
    ``state`` (n,) are standard deviations of white noise on what is read, and entering the
    recursion; ``rows`` are read. ``fisher``: N is the covariance of the noise alone.
    """

    def __init__(
        self,
        A: Floats,
        C: Floats,
        *,
        processes: Sequence[InputProcess],
        observation: Floats,
        state: Floats,
        rows: Sequence[int],
        fisher: bool = False,
    ) -> None:
        self.inputs, self.fisher = C.shape[1], fisher
        self.channels = np.flatnonzero(C.any(axis=0)).tolist()
        self.processes = [processes[j] for j in self.channels]
        read = sorted(set(rows))
        # States that are not read may get any noise, and some makes them well-conditioned.
        own = np.full(len(A), observation[read].min() if read else 0.0)
        own[read] = observation[read]
        self._stored = A, C[:, self.channels], state, observation, read
        self._units = state_units(A, with_state_noise(C, state))
        self._deviations = np.stack([observation, own, state])

    @cached_property
    def pivots(self) -> Pivots:
        """States and outputs that are independent of each other."""
        return find_pivots(*self._stored)

    @cached_property
    def exact(self) -> _Exact:
        """The numbers as balls of radius zero."""
        from flint import arb_mat, ctx

        A, C = self._stored[:2]
        units = np.array([[balls.power_of_two(e)] for e in self._units.tolist()], dtype=object)
        with ctx.workprec(128):  # enough for these products to be exact
            scaled = (A.astype(object) * units.T / units, C.astype(object) / units)
            deviations = self._deviations.astype(object) / units.T
            return _Exact(
                *(arb_mat(M.tolist()) for M in scaled), *(deviations * deviations).tolist()
            )

    @property
    def more_bits(self) -> int:
        """What the condition of the covariance costs: variances are at most that of the noise.

        Without noise eight bits for each state and input, by experience.
        """
        noise_free = 128 + 8 * len(self._units) // max(1, len(self.channels))
        with np.errstate(divide="ignore"):
            least = np.min(np.log2(self._deviations[1:].max(axis=0)) - self._units)
        return int(np.clip(32 - 2 * least, 0, noise_free))

    @property
    def seconds(self) -> float:
        """About how long an enclosure takes."""
        return SECONDS_PER_BIT * len(self._units) ** 3 * (FIRST_BITS + self.more_bits)

    @property
    def is_white(self) -> bool:
        """Whether the states have no noise, and the inputs no memory."""
        noisy = any(variance != 0 for variance in self.exact.state)
        return not noisy and all(process.is_white for process in self.processes)

    @property
    def is_plain(self) -> bool:
        """Whether, besides, what is read has no noise."""
        return self.is_white and all(self.exact.observation[i] == 0 for i in self.pivots.outputs)

    def reduced(self) -> tuple[Any, Any, Any]:
        """A and C of the pivot nodes R, and T = K (K[R])⁻¹ with x = T x[R], K the Krylov matrix."""
        nodes, exact = self.pivots.nodes, self.exact
        size = exact.A.nrows()
        if len(nodes) == size:
            return exact.A, exact.C, balls.diagonal([1] * size)
        noise = balls.diagonal(variance.sqrt() for variance in exact.state)
        noisy = [i for i, variance in enumerate(exact.state) if variance != 0]
        masks = balls.beside(exact.C, balls.columns_of(noise, noisy))
        powers = 1 + max(self.pivots.columns) // masks.ncols()
        K = balls.columns_of(Powers(exact.A).krylov(masks, powers), self.pivots.columns)
        T = balls.solved(balls.rows_of(K, nodes).transpose(), K.transpose()).transpose()
        A, C = balls.rows_of(exact.A, nodes) * T, balls.rows_of(exact.C, nodes)
        balls.require_zero(exact.A * T - T * A, len(nodes))
        balls.require_zero(exact.C - T * C, len(nodes))
        return A, C, T


# --- problems


def seconds_in_balls(
    problem: Problem,
    levels: Floats,
    lags: int,
    *,
    if_deficient: float = 30.0,
    for_lags: float = 5e-8,
) -> float:
    """About how long ball arithmetic takes for these noise levels, and so many lags.

    States that depend on others are eliminated first, at so many times the cost. Each lag takes
    n² + 2000 times as long as ``for_lags`` says.
    """
    size = len(problem.states)
    if problem.is_plain:
        return PLAIN_SECONDS * size**4
    seconds = sum(each.seconds for each in enclosables(problem, levels))
    seconds += for_lags * (size**2 + 2000) * lags * problem.analysis.inputs * len(levels)
    deficient = problem.kind != "Fisher" and problem.analysis.rank < size
    return seconds * (if_deficient if deficient else 1.0)


def enclosables(problem: Problem, levels: Floats) -> list[Enclosable]:
    """The problem at these noise levels in exact numbers; that of Fisher memory at unit noise."""
    if problem.kind == "Fisher":
        C, unit = unit_mask(problem)[0], np.ones(len(problem.states))
        inputs = [White()] * C.shape[1]
        return [
            Enclosable(
                problem.states.dense, C, processes=inputs, observation=0 * unit, state=unit,
                rows=range(len(unit)), fisher=True,
            )
        ]  # fmt: skip
    return [
        Enclosable(
            problem.A, problem.C, processes=problem.processes,
            observation=level * problem.observation, state=level * problem.state,
            rows=problem.rows.tolist(),
        )
        for level in levels.tolist()
    ]  # fmt: skip


def solve_in_balls(
    problem: Problem, *, levels: Floats | None = None, lags: int | None = None
) -> Answer:
    """Enclose the answer to any question, at all its noise levels or at those given."""
    lags = problem.lags if lags is None else lags
    if problem.is_plain:
        return enclose(problem.A, problem.C[:, 0], lags)
    enclosed = list[Answer]()
    for each in enclosables(problem, problem.levels if levels is None else levels):
        enclosed.append(enclose_any(each, lags, problem.horizons))
        lags = enclosed[-1].memory.shape[1]  # the same for all levels
    answer = Answer.stacked(enclosed)
    if problem.kind == "Fisher":
        numbers = answer.memory[0], answer.memory_error[0], answer.total[0], answer.total_error[0]
        return scaled(*numbers, unit_mask(problem)[1])
    bits = max(each.diagnostics.get("bits", 0) for each in enclosed)
    return replace(answer, rank=enclosed[0].rank, diagnostics={"bits": bits})
