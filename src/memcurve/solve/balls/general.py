"""The general problem: any stationary inputs, noise on states and observations, some rows read."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.inputs import InputProcess
from memcurve.network.graph import balanced, eigenvalues
from memcurve.solve.answer import Outcome
from memcurve.solve.balls.arithmetic import (
    UNSTABLE,
    TooWideError,
    block,
    diagonal,
    energy,
    identity,
    in_white_coordinates,
    is_tight,
    krylov,
    power_of_two,
    solve_stein,
    whitening,
)
from memcurve.solve.balls.curves import (
    InputCurve,
    Propagator,
    Readout,
    autocovariance,
    future,
    present,
    total_memory,
)
from memcurve.solve.balls.pivots import Pivots, find_pivots, has_reciprocal_eigenvalues
from memcurve.solve.lags import Lags
from memcurve.types import Floats


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
    first_low: int = 192,
    last_low: int = 1 << 13,
) -> tuple[Outcome, int, int]:
    """Enclose memory and forecasting capacity of x_t = A x_{t−1} + C z_t + noise rigorously.

    With p_τ,j = Cov(x_t, z_j,t−τ) and the covariance N of y_t = x_t[rows] + noise,

        MC_τ,j = p_τ,j[rows]ᵀ N⁻¹ p_τ,j[rows],        FC_h,j = MC_−h,j

    and the pseudo-inverse of N where it is singular. All float64 numbers count as exact. Returns
    the numbers, the rank of what the input excites of the states that are read, and the precision
    that was needed. A full rank is proven, a deficient one holds unless a non-zero integer is
    divisible by two given 62-bit primes; the other numbers then share that proviso.

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
    first_low, last_low : int
        Precision in white coordinates: the first try, and the last.
    """
    C = np.asarray(C, dtype=float).reshape(len(A), -1)
    problem = prepared(A, C, processes, observation, state, rows)
    if not problem.channels or not problem.pivots.outputs:
        return Outcome.nothing(1, lags or 1, horizons, problem.inputs), 0, 0
    bits, low = first_low + _more_bits(problem), first_low
    while bits <= max_bits and low <= last_low:
        white, found = None, None
        with contextlib.suppress(TooWideError):
            white = _in_white_coordinates(problem, bits, low)
        if white is None:
            bits = int(1.6 * bits)
            continue
        with contextlib.suppress(TooWideError):
            found = _curves(problem, white, lags, horizons, low)
        if found is not None:
            return _outcome(problem, found), problem.pivots.rank, bits
        low, bits = 2 * low, bits + low
    raise UncertainResultError(
        f"no enclosure was found with {max_bits} bits: the covariance of the states is too "
        f"ill-conditioned. Add observation noise, or read fewer states."
    )


def _more_bits(problem: ExactProblem, *, per_state: int = 8) -> int:
    """What the condition of the covariance costs for each state and input, by experience."""
    if problem.is_noisy:
        return 192
    return 128 + per_state * len(problem.pivots.nodes) // len(problem.channels)


def _in_white_coordinates(problem: ExactProblem, bits: int, low: int) -> _White | None:
    """Whiten the states and what is read, or return None if that takes more bits.

    The states are whitened with M = Γ + S, where Γ − A Γ Aᵀ = Σ_j (p_0 C_jᵀ + C_j p_0ᵀ − C_j C_jᵀ)
    and S has the noise. Any M > 0 would do, so all of the observation noise may go into it.
    """
    from flint import arb, ctx

    with ctx.workprec(bits):
        reduced = problem.reduced()
        if reduced is None:
            return None
        A, C = reduced.A, reduced.C
        everything = range(A.nrows())
        decay = energy(A)
        columns = [block(C, everything, [j]) for j in range(C.ncols())]
        spectra = [autocovariance(process, bits) for process in problem.processes]
        futures = [future(A, c, s, decay) for c, s in zip(columns, spectra, strict=True)]
        Q = reduced.state
        for c, s, G in zip(columns, spectra, futures, strict=True):
            cross = present(A, c, s, G) * c.transpose()
            Q = Q + cross + cross.transpose() - c * c.transpose()
        of_states = solve_stein(A, A, Q, (decay, decay))
        metric = whitening(of_states + reduced.own_noise)
        if metric is None:
            return None
        B, slack = None, metric.slack()
        if not reduced.reads_all:
            H = reduced.readout
            output = whitening(H * of_states * H.transpose() + reduced.noise)
            if output is None:
                return None
            B, slack = in_white_coordinates(metric, H, output), output.slack()
        A = in_white_coordinates(metric, A)
        columns = [metric.W * c for c in columns]
        futures = [None if G is None else metric.W * G for G in futures]
        parts = (part for part in (A, B, *columns, *futures) if part is not None)
        if not all(is_tight(part, low - 40) for part in parts):
            return None
        return _White(A, columns, futures, spectra, B, arb(slack))


def _curves(
    problem: ExactProblem, white: _White, lags: int | None, horizons: int, low: int
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
        listed, count = Lags(lags, float(total)), 0
        while True:
            for curve in curves:
                curve.extend_memory(lags or count + count // 2 + 1)
            first, count = count, lags or min(len(curve.memory) for curve in curves)
            for curve in curves:
                if not all(_is_narrow(value) for value in curve.memory[first:count]):
                    return None
            summed = [[float(v) for v in curve.memory[first:count]] for curve in curves]
            if listed.enough(np.sum(summed, axis=0)):
                count = listed.count or count
                break
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


def _is_narrow(ball: Any, *, largest_radius: float = 2.0**-80) -> bool:
    """Whether the ball need not be computed again with more bits."""
    return bool(ball.rad() < largest_radius)


def _outcome(problem: ExactProblem, found: _Curves) -> Outcome:
    memory, memory_error = _table(problem, found.memory)
    forecast, forecast_error = _table(problem, found.forecast)
    (total, ahead), (total_error, ahead_error) = rounded([found.total, found.total_forecast])
    return Outcome(
        memory[None],
        memory_error[None],
        forecast[None],
        forecast_error[None],
        np.array([total]),
        np.array([total_error]),
        np.array([ahead]),
        np.array([ahead_error]),
    )


def _table(problem: ExactProblem, balls: list[list[Any]]) -> tuple[Floats, Floats]:
    """Values and errors with one column for each input; those without influence stay zero."""
    values = np.zeros((len(balls[0]), problem.inputs))
    error = np.zeros_like(values)
    for channel, column in zip(problem.channels, balls, strict=True):
        values[:, channel], error[:, channel] = rounded(column, 1.0)
    return values, error


# --- The problem in exact numbers, reduced to states that are excited independently of each other.


class PivotProblem(NamedTuple):
    """x_t = A x_{t−1} + C z_t + state noise, read as ``readout``·x_t + noise, in balls.

    ``state`` and ``noise`` are covariances. ``own_noise`` is the observation noise of the states
    themselves, read or not; where ``reads_all``, it is ``noise`` and the readout is the identity.
    """

    A: Any
    C: Any
    state: Any
    readout: Any
    noise: Any
    own_noise: Any
    reads_all: bool


class ExactProblem(NamedTuple):
    """Exact matrices, scaled by powers of two, without the inputs that have no influence."""

    A: Any
    C: Any
    observation: list[Any]
    own: list[Any]
    state: list[Any]
    processes: list[InputProcess]
    channels: list[int]
    inputs: int
    pivots: Pivots
    is_noisy: bool
    is_plain: bool

    def reduced(self) -> PivotProblem | None:
        """Keep the pivot nodes R only: x = T x[R] with T = K (K[R])⁻¹, K the Krylov matrix.

        Modes that nothing excites disappear, and may be unstable. None if K[R] cannot be inverted
        at the current precision.
        """
        nodes, outputs = self.pivots.nodes, self.pivots.outputs
        noise = diagonal(self.observation[i] for i in outputs)
        own = diagonal(self.own[i] for i in nodes)
        state = diagonal(self.state[i] for i in nodes)
        size = self.A.nrows()
        if len(nodes) == size:
            readout = block(identity(size), outputs, range(size))
            reads_all = len(outputs) == size
            return PivotProblem(self.A, self.C, state, readout, noise, own, reads_all)
        T = self._from_nodes()
        if T is None:
            return None
        A = block(self.A, nodes, range(size)) * T
        C = block(self.C, nodes, range(self.C.ncols()))
        for rest in (self.A * T - T * A, self.C - T * C):
            if not all(entry.contains(0) for entry in rest.entries()):
                raise UncertainResultError(
                    f"the rank {len(nodes)} found modulo two primes is too low for this network, "
                    f"which is made so that they fail; scale `C` by a factor that is no power of "
                    f"two."
                )
        readout = block(T, outputs, range(len(nodes)))
        return PivotProblem(A, C, state, readout, noise, own, outputs == nodes)

    def _from_nodes(self) -> Any | None:
        from flint import arb_mat

        size, nodes = self.A.nrows(), self.pivots.nodes
        noisy = [i for i in range(size) if self.state[i] != 0]
        unit = [[self.state[i].sqrt() if i == j else 0 for j in noisy] for i in range(size)]
        masks = arb_mat([c + u for c, u in zip(self.C.tolist(), unit, strict=True)])
        powers = 1 + max(power for power, _ in self.pivots.columns)
        places = [power * masks.ncols() + channel for power, channel in self.pivots.columns]
        K = block(krylov(self.A, masks, powers), range(size), places)
        chosen = block(K, nodes, range(len(nodes)))
        try:
            return chosen.transpose().solve(K.transpose()).transpose()
        except ZeroDivisionError:
            return None


def prepared(
    A: Floats,
    C: Floats,
    processes: Sequence[InputProcess],
    observation: Floats,
    state: Floats,
    rows: Sequence[int],
    *,
    visible_noise: float = 1e-20,
    near_circle: float = 1e-6,
) -> ExactProblem:
    """Scale by powers of two, which changes no capacity, and find the pivots.

    Noise is ``visible`` where, relative to the input's effect, it makes the covariance
    well-conditioned; eigenvalues in float64 may lie on the unit circle where they are near it.
    """
    from flint import arb, arb_mat, ctx

    size, inputs = C.shape
    observation, state = (np.asarray(noise, dtype=float) for noise in (observation, state))
    channels = np.flatnonzero(C.any(axis=0)).tolist()
    read = sorted({int(row) for row in rows})
    # States that are not read may get any noise, and some makes them well-conditioned.
    floor = float(observation[read].min()) if read else 0.0
    own = np.full(size, floor)
    own[read] = observation[read]
    pivots = find_pivots(A, C[:, channels], state, observation, read)
    # balls cannot tell an eigenvalue on the unit circle from one next to it
    if pivots.nodes and float(np.abs(eigenvalues(A)).max()) > 1 - near_circle:
        masks = np.hstack([C[:, channels], np.diag(state)[:, state > 0]])
        if has_reciprocal_eigenvalues(A, masks, pivots):
            raise UnstableNetworkError(UNSTABLE)
    exponents = _exponents(A, np.hstack([C, state[:, None]]))
    up = [power_of_two(int(e)) for e in exponents]
    down = [power_of_two(-int(e)) for e in exponents]
    with ctx.workprec(128):  # enough for these products to be exact
        exact_A = [
            arb(a) * up[j] * down[i] for i, row in enumerate(A.tolist()) for j, a in enumerate(row)
        ]
        exact_C = [arb(c) * down[i] for i, row in enumerate(C[:, channels].tolist()) for c in row]
        variances = {
            name: [arb(x) * arb(x) * down[i] * down[i] for i, x in enumerate(noise.tolist())]
            for name, noise in {"observation": observation, "own": own, "state": state}.items()
        }
    driving = [processes[j] for j in channels]
    return ExactProblem(
        A=arb_mat(size, size, exact_A),
        C=arb_mat(size, len(channels), exact_C),
        observation=variances["observation"],
        own=variances["own"],
        state=variances["state"],
        processes=driving,
        channels=channels,
        inputs=inputs,
        pivots=pivots,
        is_noisy=floor > 0 and floor >= visible_noise * float(np.abs(C).max()),
        is_plain=not observation[read].any()
        and not state.any()
        and all(process.is_white for process in driving),
    )


def _exponents(A: Floats, masks: Floats) -> list[int]:
    """Integers e such that x_i·2^−e_i are of similar size, as far as that is easily had.

    The least e with 2^e_i ≥ |masks_ij| and 2^e_i ≥ |A_ij|·2^e_j, the size of what reaches node i
    on the best path; it makes long chains harmless. Cycles that amplify have none: then those that
    balance A.
    """
    size = len(A)
    with np.errstate(divide="ignore"):
        gains, reached = (np.log2(np.abs(x)) for x in (A, masks))
    level = reached.max(axis=1)
    for _ in range(size + 1):
        further = np.maximum(level, (gains + level).max(axis=1))
        if np.array_equal(further, level):
            return [int(e) for e in np.ceil(np.where(np.isfinite(level), level, 0))]
        level = further
    scale = balanced(A)[1]
    usable = bool(np.isfinite(scale).all() and np.all(scale > 0))
    return [int(e) for e in np.rint(np.log2(scale))] if usable else [0] * size


def rounded(balls: Sequence[Any], most: float = np.inf) -> tuple[Floats, Floats]:
    """Midpoints of the balls, clipped to [0, most], and upper bounds on the distance to them."""
    values = np.clip([float(ball.mid()) for ball in balls], 0.0, most)
    pairs = zip(balls, values.tolist(), strict=True)
    bounds = [(ball - value).abs_upper() for ball, value in pairs]
    # only a difference that is exactly zero needs no room for the rounding of its bound
    error = [0.0 if bound == 0 else np.nextafter(float(bound), np.inf) for bound in bounds]
    return values, np.array(error)
