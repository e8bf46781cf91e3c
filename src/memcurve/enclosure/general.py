"""The general problem: any stationary inputs, noise on states and observations, some rows read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.allpass import MOST_DEFAULT_LAGS, enough_lags
from memcurve.enclosure.balls import Floats, block, is_tight
from memcurve.enclosure.curves import InputCurve, Propagator, Readout, total_memory
from memcurve.enclosure.problem import Problem, Reduced, prepared
from memcurve.enclosure.result import Enclosure, rounded
from memcurve.enclosure.spectra import future, present, spectrum
from memcurve.enclosure.stein import energy, solve_stein
from memcurve.enclosure.whitening import in_white_coordinates, whitening
from memcurve.errors import UncertainResultError
from memcurve.inputs import InputProcess

#: Precision in white coordinates: the first try, and the last.
FIRST_LOW, LAST_LOW = 192, 1 << 13
#: Values with larger radii are computed again with more bits.
LARGEST_RADIUS = 2.0**-80
#: Bits that the condition of the covariance costs for each state and input, by experience.
BITS_PER_STATE = 8


class _White(NamedTuple):
    """The network in coordinates in which its states are white."""

    A: Any
    columns: list[Any]
    futures: list[Any | None]
    spectra: list[Any]
    B: Any | None
    slack: Any


class _Curves(NamedTuple):
    memory: list[list[Any]]
    forecast: list[list[Any]]
    total: Any
    total_forecast: Any


def enclose_any(
    A: Floats,
    C: Floats,
    *,
    processes: Sequence[InputProcess],
    lags: int | None,
    horizons: int = 0,
    observation: Floats,
    state: Floats,
    rows: Sequence[int],
    max_bits: int = 2**15,
) -> Enclosure:
    """Enclose memory and forecasting capacity of x_t = A x_{t−1} + C z_t + noise rigorously.

    With p_τ,j = Cov(x_t, z_j,t−τ) and the covariance N of y_t = x_t[rows] + noise,

        MC_τ,j = p_τ,j[rows]ᵀ N⁻¹ p_τ,j[rows],        FC_h,j = MC_−h,j

    and the pseudo-inverse of N where it is singular. All float64 numbers count as exact.

    Parameters
    ----------
    A : (n, n) array
        How states drive states.
    C : (n, d) array
        How inputs drive states.
    processes : sequence of d InputProcess
        The inputs, independent of each other, each scaled to unit variance.
    lags : int or None
        Number of lags; None chooses enough that what lies beyond is negligible.
    horizons : int
        Number of forecasting horizons h = 1, 2, ….
    observation, state : (n,) arrays
        Standard deviations of white noise on what is read, and on the states, where it enters the
        recursion.
    rows : sequence of int
        The states that are read.
    max_bits : int
        Give up beyond this precision.
    """
    C = np.asarray(C, dtype=float).reshape(len(A), -1)
    problem = prepared(A, C, processes, observation, state, rows)
    if not problem.channels or not problem.pivots.outputs:
        return _nothing(problem, lags, horizons)
    bits, low = _first_bits(problem), FIRST_LOW
    while bits <= max_bits and low <= LAST_LOW:
        white = _in_white_coordinates(problem, bits, low)
        if white is None:
            bits = int(1.6 * bits)
            continue
        found = _curves(problem, white, lags, horizons, low)
        if found is not None:
            return _result(problem, found, bits)
        low, bits = 2 * low, bits + low
    raise UncertainResultError(
        f"no enclosure was found with {max_bits} bits: the covariance of the states is too "
        f"ill-conditioned. Add observation noise, or read fewer states."
    )


def _first_bits(problem: Problem) -> int:
    if problem.is_noisy:
        return FIRST_LOW + 192
    states, inputs = len(problem.pivots.nodes), len(problem.channels)
    return FIRST_LOW + 128 + BITS_PER_STATE * states // inputs


def _in_white_coordinates(problem: Problem, bits: int, low: int) -> _White | None:
    """Whiten the states and what is read, or return None if that takes more bits.

    The states are whitened with M = Γ + S, where Γ − A Γ Aᵀ = Σ_j (p_0 C_jᵀ + C_j p_0ᵀ − C_j C_jᵀ)
    and S has the noise. Any M > 0 would do, so all of the observation noise may go into it.
    """
    from flint import ctx

    with ctx.workprec(bits):
        reduced = problem.reduced()
        if reduced is None:
            return None
        A, C = reduced.A, reduced.C
        everything = range(A.nrows())
        decay = energy(A)
        columns = [block(C, everything, [j]) for j in range(C.ncols())]
        spectra = [spectrum(process, bits) for process in problem.processes]
        futures = [future(A, c, s, decay) for c, s in zip(columns, spectra, strict=True)]
        Q = reduced.state
        for c, s, G in zip(columns, spectra, futures, strict=True):
            cross = present(A, c, s, G) * c.transpose()
            Q = Q + cross + cross.transpose() - c * c.transpose()
        of_states = solve_stein(A, A, Q, (decay, decay))
        return _whitened(reduced, of_states, columns, futures, spectra, low)


def _whitened(
    reduced: Reduced,
    of_states: Any,
    columns: list[Any],
    futures: list[Any | None],
    spectra: list[Any],
    low: int,
) -> _White | None:
    from flint import arb

    metric = whitening(of_states + reduced.own_noise)
    if metric is None:
        return None
    A = in_white_coordinates(metric, reduced.A)
    B, slack = None, metric.slack()
    if not reduced.reads_all:
        H = reduced.readout
        output = whitening(H * of_states * H.transpose() + reduced.noise)
        if output is None:
            return None
        B, slack = in_white_coordinates(metric, H, output), output.slack()
    columns = [metric.W * c for c in columns]
    futures = [None if G is None else metric.W * G for G in futures]
    parts = [A, *columns, *(G for G in futures if G is not None), *([] if B is None else [B])]
    if not all(is_tight(part, low - 40) for part in parts):
        return None
    return _White(A, columns, futures, spectra, B, arb(slack))


def _curves(
    problem: Problem, white: _White, lags: int | None, horizons: int, low: int
) -> _Curves | None:
    """Everything asked for, or None if ``low`` bits leave some radius too wide."""
    from flint import arb, ctx

    with ctx.workprec(low):
        readout, states = Readout(white.B, white.slack), Propagator(white.A)
        curves = [
            InputCurve(states, c, s, G, readout)
            for c, s, G in zip(white.columns, white.spectra, white.futures, strict=True)
        ]
        total = arb(problem.pivots.rank) if problem.is_plain else total_memory(curves, readout)
        ahead = sum((curve.total_forecast() for curve in curves), arb(0))
        if not (_is_narrow(total) and _is_narrow(ahead)):
            return None
        count = 1 if lags is None else lags
        while True:
            for curve in curves:
                curve.extend_memory(count)
                if not all(_is_narrow(value) for value in curve.memory[:count]):
                    return None
            if lags is not None:
                break
            count = min(MOST_DEFAULT_LAGS, *(len(curve.memory) for curve in curves))
            summed = np.sum([[float(v) for v in c.memory[:count]] for c in curves], axis=0)
            enough = enough_lags(summed, float(total))
            if enough is not None or count == MOST_DEFAULT_LAGS:
                count = enough or count
                break
            count = min(MOST_DEFAULT_LAGS, count + count // 2 + 1)
        for curve in curves:
            curve.extend_forecast(horizons)
            if not all(_is_narrow(value) for value in curve.forecast[:horizons]):
                return None
        return _Curves(
            [curve.memory[:count] for curve in curves],
            [curve.forecast[:horizons] for curve in curves],
            total,
            ahead,
        )


def _is_narrow(ball: Any) -> bool:
    return bool(ball.rad() < LARGEST_RADIUS)


def _result(problem: Problem, found: _Curves, bits: int) -> Enclosure:
    memory, memory_error = _table(problem, found.memory)
    forecast, forecast_error = _table(problem, found.forecast)
    (total, ahead), (total_error, ahead_error) = rounded([found.total, found.total_forecast])
    return Enclosure(
        memory,
        memory_error,
        forecast,
        forecast_error,
        float(total),
        float(total_error),
        float(ahead),
        float(ahead_error),
        problem.pivots.rank,
        bits,
    )


def _table(problem: Problem, balls: list[list[Any]]) -> tuple[Floats, Floats]:
    """Values and errors with one column for each input; those without influence stay zero."""
    values = np.zeros((len(balls[0]), problem.inputs))
    error = np.zeros_like(values)
    for channel, column in zip(problem.channels, balls, strict=True):
        values[:, channel], error[:, channel] = rounded(column, 1.0)
    return values, error


def _nothing(problem: Problem, lags: int | None, horizons: int) -> Enclosure:
    memory = np.zeros((1 if lags is None else lags, problem.inputs))
    forecast = np.zeros((horizons, problem.inputs))
    return Enclosure(memory, memory, forecast, forecast, 0.0, 0.0, 0.0, 0.0, 0, 0)
