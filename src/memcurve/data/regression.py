"""Memory from a regression of the states on the lagged input, with its bias and intervals.

docs/theory/data_estimation.md has the derivation. In short: the triangular factor R of
[1 | lagged inputs Z | states X] is updated chunk by chunk (TSQR), R ← qr([R; chunk]); products
would bury what lies below 1e-8 of the largest state. The impulse response B of X = ZB + E, k lags
long, gives the memory of lag τ as the *leverage* of row τ in [B; √θ·R_E; s·I], R_E the factor of E
and s a noise floor. Rows kept on the way, in coordinates where the states are white, give bias
and influence functions: there g_t is the part of the state that the input explains, e_t the
rest, u_t = e_t·b_τ and r_t = z_{t−τ} − (g_t + e_t)·b_τ.

*Several inputs* stand side by side in Z, each in units of its own deviation, lag after lag, and are
taken for independent. *Rows that are missing* are left out of R, and zeros in sums over pairs.

A total over all lags would be mostly the noise of those without memory. It ends where no sum over
later lags is significant (after Lepski), which finds thin tails that no single lag shows; its
interval allows for undetected memory beyond.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.notes import Note, counted
from memcurve.core.progress import Progress, tracked
from memcurve.core.types import TINY, Floats
from memcurve.data.prose import fault, note
from memcurve.data.tails import variance_of_mean
from memcurve.io import Source, lagged_chunks, present, require_rows
from memcurve.memory import MemoryCurve

#: Rows of a chunk, in units of the number of columns, and at least: the update then costs little
#: beside its QR. Doubled: more memory.
CHUNK = 8
LEAST_ROWS = 4096
#: Rows that are kept for intervals at most, one column per lag. Doubled: twice the memory and time.
SAMPLED_ROWS = 30_000
#: Chance that a lag without memory counts as significant. Doubled: ``last_lag`` is later.
NULL_LEVEL = 1e-3
#: A sum over lags that exceeds this many standard deviations of noise is memory.
STANDS_OUT = 2.5
#: Memory after the end may go unseen: this share of the variance there belongs to the total's.
UNSEEN = 0.25
#: A lagged input of which less than this is its own, as a share of its deviation, has no response:
#: rounding, times the inverse, would be the numbers.
DEPENDENT = 1e-7
#: Variances of the response may be this many times those of uncorrelated inputs (the usual rule for
#: variance inflation factors) before intervals are widened by the root of that.
MOST_INFLATION = 10.0
#: Noise floors of the profile, relative to each state's deviation.
PROFILE = tuple(float(x) for x in np.logspace(-15, 0, 31))
#: Rows per state from which on intervals hold. Doubled: 400 rows of 20 states have twice the width.
ROWS_FOR_ANY = 20
#: The same for a network whose memory is a long thin tail. Doubled: twice the width below 120.
ROWS_FOR_SLOW = 60
#: Rows per lagged input of the fit: with so many, intervals of 90 % cover 0.87 of the totals; with
#: three, 0.73 (measured). Doubled: long responses have twice the width.
ROWS_PER_INPUT = 5
#: Intervals of a slow network are wider by the square of this over the rows per lagged input: 3
#: times at five rows, 1.4 times at eleven (measured). Doubled: four times the widening.
SLOW_WIDENING = 7.0
#: Memory of a slow network beyond the lags of the fit is uncertain by this share of it: lag by lag
#: it is below the noise, and up to a third was missed (measured). Doubled: twice that error.
THIN_TAIL = 0.6


def regression_curve(
    recording: Source, lags: int, start: int, noise_floor: float, level: float, progress: Progress
) -> MemoryCurve:
    """The curve with its intervals of ``level``, from row ``start`` ≥ ``lags`` − 1 on."""
    from scipy.stats import norm

    factor, sample = triangular_factor(recording, lags, start, progress)
    fit = regress(factor, noise_floor)
    inference = infer(fit, sample, factor.rows)
    width = float(norm.isf((1 - level) / 2))
    rounding = 1e-9 * factor.states  # what is not statistical: rounding, and lags cut off
    total, listed = (width * deviation + rounding for deviation in inference.sum_errors)
    channels, error = inference.memory.reshape(lags, -1), width * inference.lag_error
    memory, several = channels.sum(axis=1), channels.shape[1]
    # cut off where no memory can be, but for the estimate itself: noise may move it
    ends = np.clip(np.stack([memory - error, memory + error], axis=1), 0.0, several)
    ends[:, 0], ends[:, 1] = np.minimum(ends[:, 0], memory), np.maximum(ends[:, 1], memory)
    by_channel = {}
    if several > 1:
        by_channel["channel_totals"] = channels[: inference.end + 1].sum(axis=0).tolist()
        by_channel["channel_errors"] = (width * inference.channel_error).tolist()
    sigma = np.linalg.svd(factor.R[:, factor.lags :], compute_uv=False)
    left_out = recording.length - start - factor.rows
    return MemoryCurve(
        lags=np.arange(lags),
        values=memory,
        error=error,
        loss=several - memory,
        total=float(memory[: inference.end + 1].sum()),
        total_error=total,
        rank=None,
        channels=channels,
        bands=ends,
        method="data",
        notes=tuple(_notes(factor, fit, inference, level, left_out)),
        options={"noise_floor": noise_floor, "level": level, "estimator": "regression"},
        diagnostics={
            "rows": factor.rows,
            "rows_wanted": inference.rows_wanted,
            "states": factor.states,
            "end_lag": inference.end,
            "total_listed": float(memory.sum()),
            "total_listed_error": listed,
            "last_lag": inference.last,
            **by_channel,
            "fir_length": fit.length,
            "unexplained": fit.unexplained,
            "singular_values": (sigma / np.sqrt(factor.rows)).tolist(),
            "profile": dict(zip(map(repr, PROFILE), _profile(fit, inference), strict=True)),
        },
    )


class Factor(NamedTuple):
    """R of the centred [Z | X], with unit mean square inputs and states of unit deviation."""

    R: Floats
    rows: int  # time steps
    lags: int  # columns of Z: lags, of several inputs one column each
    mean: Floats  # of the columns of [Z | X]; this and the following were taken out
    scale: Floats
    inputs: int

    @property
    def states(self) -> int:
        """The number of states N."""
        return len(self.mean) - self.lags


class Sample(NamedTuple):
    """Rows of (Z, X), standardised; those that are missing are zero, so that distances stay."""

    Z: Floats
    X: Floats
    valid: NDArray[np.bool_]


def triangular_factor(
    source: Source, lags: int, start: int, progress: Progress = False
) -> tuple[Factor, Sample]:
    """Read the recording from row ``start`` on, which must be at least ``lags`` − 1."""
    width = 1 + lags * source.channels + source.columns
    size = max(CHUNK * width, LEAST_ROWS)
    R, count, row = np.zeros((0, width)), 0, start
    total = -(-(source.length - start + lags - 1) // size)
    chunks = lagged_chunks(source, lags, start, size)
    lags *= source.channels
    low, high = np.full(source.channels, np.inf), np.full(source.channels, -np.inf)
    stretches, parts = _stretches(start, source.length), list[Floats]()
    for Z, X in tracked(chunks, "reading", total, progress):
        block, valid = np.hstack([np.ones((len(Z), 1)), Z, X]), present(Z, X)
        parts += [block[max(a - row, 0) : max(b - row, 0), 1:].copy() for a, b in stretches]
        row += len(block)
        block = block if valid.all() else block[valid]
        newest = block[:, 1 : 1 + source.channels]
        low = np.minimum(low, newest.min(axis=0, initial=np.inf))
        high = np.maximum(high, newest.max(axis=0, initial=-np.inf))
        R = np.asarray(np.linalg.qr(np.concatenate([R, block]), mode="r"))
        count += len(block)
    require_rows(count, source.columns)
    if count <= lags:  # gaps and several inputs leave fewer than those that were asked for
        raise ValueError(fault("gaps", rows=count, lags=lags))
    require_varying(low, high)
    mean, R = R[0, 1:] / R[0, 0], R[1:, 1:]
    scale = np.sqrt((R**2).sum(axis=0) / count)
    scale[:lags] = np.sqrt((R[:, :lags] ** 2).sum() / (lags * count))
    factor = Factor(R / scale, count, lags, mean, scale, source.channels)
    if not np.isfinite(factor.R).all():
        raise ValueError(
            "the recording has constant columns, or numbers too large to be squared; remove them."
        )
    rows = (np.concatenate(parts) - mean) / scale
    Z, X = rows[:, :lags], rows[:, lags:]
    valid = present(Z, X)
    rows[~valid] = 0.0
    return factor, Sample(Z, X, valid)


def _stretches(start: int, stop: int) -> list[tuple[int, int]]:
    """The rows to keep, from … to: all, or stretches spread over a long recording."""
    if stop - start <= SAMPLED_ROWS:
        return [(start, stop)]
    length = SAMPLED_ROWS // 6
    firsts = np.linspace(start, stop - length, 6).astype(int).tolist()
    return [(first, first + length) for first in firsts]


def require_varying(low: Floats, high: Floats) -> None:
    """Refuse inputs whose extremes are equal."""
    still = np.flatnonzero(low == high)
    if len(still):
        raise ValueError(fault("constant_input", input=still[0], value=low[still[0]]))


def _require_independent(factor: Factor) -> None:
    """Refuse linearly dependent lagged inputs: their responses cannot be separated."""
    Z = factor.R[: factor.lags, : factor.lags]
    independent_share = np.abs(np.diag(Z)) / np.maximum(np.sqrt((Z**2).sum(axis=0)), TINY)
    dependent = np.flatnonzero(independent_share < DEPENDENT)
    if len(dependent):
        lag, channel = divmod(int(dependent[0]), factor.inputs)
        which = f" of input {channel}" if factor.inputs > 1 else ""
        raise ValueError(fault("dependent_inputs", lag=lag, which=which))


class Fit(NamedTuple):
    """States whitened by the regression, and the impulse response in their coordinates."""

    length: int  # k, the number of lags of the FIR model
    freedom: int  # n − k
    response: Floats  # (lags, N): b_τ, whose squared length is the raw memory of lag τ
    residual: Floats  # (N, N): covariance W of the whitened residuals
    B: Floats  # (k, N): the impulse response itself
    unwhiten: Floats  # (N, N): R with whitened states X R⁻¹
    inputs: int
    collinearity: float  # mean variance inflation factor of the response

    @property
    def raw(self) -> Floats:
        """Leverages, biased upwards by about tr(W)/n."""
        return np.asarray((self.response**2).sum(axis=1))

    @property
    def unexplained(self) -> float:
        """tr(W): the number of dimensions that the lagged inputs do not explain."""
        return float(np.trace(self.residual))

    @property
    def inflation(self) -> float:
        """The factor by which fitted residuals are too small."""
        return 1 / max(1 - self.unexplained / self.freedom, 0.05)

    @property
    def widening(self) -> float:
        """How much wider intervals are for nearly collinear lagged inputs."""
        return float(np.sqrt(self.collinearity)) if self.collinearity > MOST_INFLATION else 1.0


def regress(factor: Factor, noise_floor: float) -> Fit:
    """Fit the FIR model, its length chosen by generalised cross-validation."""
    _require_independent(factor)
    R, n, lags, N = factor.R, factor.rows, factor.lags, factor.states
    k = _length(R, n, lags)
    freedom = n - k
    inverse = np.linalg.inv(R[:k, :k]) if k else np.zeros((0, 0))
    B = inverse @ R[:k, lags:]
    left = R[k:, lags:]
    spread = float((inverse**2).sum())  # k/(n − k − 1) for uncorrelated inputs
    theta = max(1 - spread, 1e-3) / freedom
    stacked = np.vstack([B, np.sqrt(theta) * left, noise_floor * np.eye(N)])
    Q, unwhiten = np.linalg.qr(stacked)
    whitened_left = Q[k : k + len(left)] / np.sqrt(theta)
    beyond = R[k:, k:lags]
    tail = (whitened_left.T @ beyond / (beyond**2).sum(axis=0)).T
    residual = whitened_left.T @ whitened_left / freedom
    response, collinearity = np.vstack([Q[:k], tail]), spread * (freedom - 1) / max(k, 1)
    return Fit(k, freedom, response, residual, B, unwhiten, factor.inputs, collinearity)


def _length(R: Floats, rows: int, lags: int) -> int:
    """The k that minimises tr(residual)/(n − k)², in coordinates where the states are white."""
    states = np.linalg.qr(R[:, lags:])[0]
    explained = np.concatenate([[0.0], np.cumsum((states[:lags] ** 2).sum(axis=1))])
    N = R.shape[1] - lags
    left = np.maximum(N - explained, 1e-30)
    k = np.arange(lags + 1)
    score = np.where(k < rows - N - 2, left / (rows - k).clip(1) ** 2, np.inf)
    return int(np.argmin(score))


class Inference(NamedTuple):
    """Memory with its bias taken out, and standard errors."""

    memory: Floats
    bias: Floats
    lag_error: Floats  # standard errors; of several inputs, of their sum
    channel_error: Floats  # of the sum of each input up to ``end``
    sum_errors: tuple[float, float]  # of the sums up to ``end``, and over all lags
    last: int  # the last lag that is significant by itself, −1 if there is none
    end: int  # the lag after which no sum over lags is
    slow: bool  # whether memory is spread thin over many lags
    rows_wanted: int  # from which on intervals hold; with fewer they are wider in proportion
    wider: float  # times that errors were multiplied by


class _Rows(NamedTuple):
    """Quantities of each row: explained g and unexplained e part, u and r of every lag."""

    g: Floats
    e: Floats
    u: Floats
    r: Floats
    leverage: Floats
    valid: NDArray[np.bool_]  # the others are zero, and add nothing to sums

    def pairs(self, j: int) -> int:
        """How many pairs of rows that are there lie j apart; at j = 0, how many rows."""
        return int((self.valid[: len(self.valid) - j] & self.valid[j:]).sum())


def infer(fit: Fit, sample: Sample, rows: int) -> Inference:
    """Bias and standard errors of a fit, from a sample of the ``rows`` or all of them."""
    inverse = np.linalg.inv(fit.unwhiten)
    g = sample.Z[:, : fit.length] @ (fit.B @ inverse)
    e = sample.X @ inverse - g
    u = e @ fit.response.T
    leverage = np.minimum((e**2).sum(axis=1) / fit.freedom, 0.9)
    part = _Rows(g, e, u, sample.Z - g @ fit.response.T - u, leverage, sample.valid)
    null = _null_cut(fit)
    bias = _row_bias(fit, part, rows)
    last = _last_significant(fit.raw - bias, null)
    bias[: last + 1] += _serial_bias(fit, part, last + 1)
    memory = fit.raw - bias
    last = _last_significant(memory, null)
    chance = _chance(fit, part)
    end = _end(memory, chance, last, fit.inputs)
    last, end = last // fit.inputs, end // fit.inputs  # with all inputs of that lag
    influence = _influence(fit, part, sample.Z, rows)
    error, by_channel, total, listed = _errors(fit, part, influence, memory, chance, end, rows)
    by_lag = memory.reshape(-1, fit.inputs).sum(axis=1)[: end + 1]
    # mean lag over total: a rectangle has its mean lag at half its total, a decay at the total
    slowness = float(by_lag @ np.arange(end + 1)) / max(float(by_lag.sum()), 1.0) ** 2
    slow = slowness > 1
    states, length = sample.X.shape[1], fit.length
    wanted = max((ROWS_FOR_SLOW if slow else ROWS_FOR_ANY) * states, ROWS_PER_INPUT * length)
    widening = float(np.clip(slowness - 0.5, 0, 1)) * (SLOW_WIDENING * length / rows) ** 2
    wider = max(1 + widening, wanted / rows) * fit.widening
    thin = float(np.clip(slowness - 1, 0, 1))
    tail = thin * THIN_TAIL * max(float(by_lag[length // fit.inputs :].sum()), 0.0)
    unseen = (UNSEEN + (1 - UNSEEN) * thin) * max(listed**2 - total**2, 0.0)
    return Inference(
        memory=memory,
        bias=bias,
        lag_error=wider * error,
        channel_error=wider * by_channel,
        sum_errors=(
            wider * np.hypot(np.hypot(total, tail), np.sqrt(unseen)),
            wider * np.hypot(listed, tail),
        ),
        last=last,
        end=end,
        slow=slow,
        rows_wanted=wanted,
        wider=wider,
    )


def _row_bias(fit: Fit, part: _Rows, rows: int) -> Floats:
    """The part of serial lag 0."""
    weight = (part.leverage / (1 - part.leverage))[:, None]
    gg = (part.g**2).sum(axis=1)[:, None]
    ge = (part.g * part.e).sum(axis=1)[:, None]
    first = (weight * part.r**2).sum(axis=0) / part.pairs(0) * (rows / fit.freedom)
    mixed = (gg * part.u**2 - 2 * ge * part.u * part.r).sum(axis=0) / part.pairs(0)
    square = ((fit.response @ fit.residual) ** 2).sum(axis=1)
    # b_τ of a lag without memory is noise, and what it adds is none: its real share counts
    real = np.clip(1 - first / np.maximum(fit.raw, TINY), 0, 1)
    return np.asarray(first + real * (mixed - square) / fit.freedom * fit.inflation)


def _serial_bias(fit: Fit, part: _Rows, count: int) -> Floats:
    """The part of serial lags j ≥ 1, for the first ``count`` lags, with a flat-top window."""
    bias = np.zeros(count)
    if count == 0:
        return bias
    sample = part.pairs(0)
    depth = min(max(8, fit.length), sample // 8, 100)
    square = ((fit.response[:count] @ fit.residual) ** 2).sum(axis=1)
    raw, scale = fit.raw[:count], fit.inflation / fit.freedom
    g, e, u, r = part.g, part.e, part.u[:, :count], part.r[:, :count]
    terms = ((1, e, e, r, r), (1, g, g, u, u), (-1, g, e, u, r), (-1, e, g, r, u))
    for j in range(1, depth + 1):
        sums = -square * part.pairs(j)
        for sign, a, b, x, y in terms:
            products = np.einsum("ti,ti->t", a[:-j], b[j:])
            sums += sign * np.einsum("t,ti,ti->i", products, x[:-j], y[j:])
        ee = np.einsum("ti,ti->t", e[:-j], e[j:])
        # residuals within the sample have E r_t r_{t+j} = −e_t·e_{t+j}/n
        term = (sums + (1 - raw) * float((ee**2).sum()) * scale) / sample
        bias += 2 * min(1.0, 2 * (1 - j / (depth + 1))) * term * scale
    return bias


def _null_cut(fit: Fit) -> float:
    """The value that a lag without memory exceeds with probability NULL_LEVEL, after correction."""
    from scipy.stats import chi2

    K = fit.unexplained
    if K <= 1e-12:
        return 1e-12
    freedom = K**2 / max(float((fit.residual**2).sum()), TINY)
    excess = float(chi2.isf(NULL_LEVEL, freedom)) / freedom - 1
    return K / fit.freedom * fit.inflation * excess


def _last_significant(memory: Floats, null: float) -> int:
    """Last lag above the threshold, without isolated late ones."""
    for last in np.flatnonzero(memory > null)[::-1].tolist():
        if last == 0 or memory[max(0, last - 4) : last + 1].mean() >= null / 2:
            return int(last)
    return -1


def _influence(fit: Fit, part: _Rows, Z: Floats, rows: int) -> Floats:
    """Influence function of every lag, centred, at every row."""
    lift = 1 / (1 - part.leverage)[:, None]
    influence = (2 * part.u * part.r * lift + part.u**2) * lift * np.sqrt(rows / fit.freedom)
    influence += (Z[:, : fit.inputs] ** 2 - 1) @ _scale_weights(fit)
    influence -= influence[part.valid].mean(axis=0)
    influence[~part.valid] = 0.0
    return np.asarray(influence)


def _scale_weights(fit: Fit) -> Floats:
    """At [i, m], how the memory of column m changes with the variance of input i, estimated too.

    With K_i = Σ_m b_m b_mᵀ over the columns of input i, its own variance adds b_m·(1 − K_i) b_m,
    and that of another takes b_m·K_i b_m; of a single input, b_m·W b_m is left.
    """
    b, d, channel = fit.response, fit.inputs, np.arange(len(fit.response)) % fit.inputs
    parts = [b[k : fit.length : d] for k in range(d)]
    shared = np.array([((b @ (part.T @ part)) * b).sum(axis=1) for part in parts])
    shared[channel, np.arange(len(b))] = 0.0
    along = ((b @ fit.residual) * b).sum(axis=1)
    return np.where(channel == np.arange(d)[:, None], along + shared.sum(axis=0), -shared)


def _errors(
    fit: Fit, part: _Rows, influence: Floats, memory: Floats, chance: Floats, end: int, rows: int
) -> tuple[Floats, Floats, float, float]:
    """Standard errors of every lag, and of sums: each input's, all up to ``end``, all listed."""
    d, count = fit.inputs, part.pairs(0)
    share = np.clip(memory / np.maximum(fit.raw, TINY), 0, 1)
    by_lag = chance[:, 0].reshape(-1, d)
    weighted = (influence * np.sqrt(share)).reshape(len(influence), -1, d).sum(axis=2)
    error = np.sqrt(variance_of_mean(weighted, count, rows) + by_lag.sum(axis=1))
    by_input = (influence * share).reshape(len(influence), -1, d)[:, : end + 1].sum(axis=1)
    by_channel = np.sqrt(variance_of_mean(by_input, count, rows) + by_lag[: end + 1].sum(axis=0))
    stops = [(end + 1) * d, len(memory)]
    sums = np.pad(np.cumsum(influence * share, axis=1), [(0, 0), (1, 0)])[:, stops]
    noise = np.pad(_variance_of_sums(chance, 0, d), (1, 0))[stops]
    total, listed = np.sqrt(variance_of_mean(sums, count, rows) + noise).tolist()
    # tails are fitted to each sum: a longer one is no more certain for it
    return error, by_channel, total, max(total, listed)


def _chance(fit: Fit, part: _Rows) -> Floats:
    """What lag τ adds by noise to the variance of a sum along with lags τ − j … τ − 1, at [τ, j].

    From the serial correlation of the residuals, 2·Σ C_j² between lags that are j apart, of the
    same input: those of different ones are independent.
    """
    d, left = fit.inputs, 1 - fit.raw
    part = part._replace(e=part.e[:20_000], valid=part.valid[:20_000])
    depth = max(1, min(len(left) // d, 80, len(part.e) // 4))
    shares = np.zeros((len(left), depth))
    shares[:, 0] = 2 * float((fit.residual**2).sum()) * left**2
    for j in range(1, depth):
        pairs = max(1, part.pairs(j))
        C = part.e[:-j].T @ part.e[j:] / pairs
        excess = float((C**2).sum()) - fit.unexplained**2 / pairs
        shares[j * d :, j] = 4 * max(excess, 0.0) * left[j * d :] * left[: -j * d]
    return np.asarray(np.cumsum(shares, axis=1) * (fit.inflation / fit.freedom) ** 2)


def _variance_of_sums(chance: Floats, first: int, inputs: int) -> Floats:
    """Variance of the sums over columns ``first`` … by noise alone, for every one from there on."""
    columns = np.arange(len(chance) - first)
    distance = np.minimum(columns // inputs, chance.shape[1] - 1)
    return np.asarray(np.cumsum(chance[first + columns, distance]))


def _end(memory: Floats, chance: Floats, last: int, inputs: int) -> int:
    """The lag after which no sum of memory is significant, ``last`` or a later one."""
    for end in range(last, len(memory) - 1):
        sums = np.cumsum(memory[end + 1 :])
        if not np.any(sums > STANDS_OUT * np.sqrt(_variance_of_sums(chance, end + 1, inputs))):
            return end
    return len(memory) - 1


def _profile(fit: Fit, inference: Inference) -> list[float]:
    """Total against the noise floor: one decomposition serves all."""
    lags = slice((inference.end + 1) * fit.inputs)
    U, sigma, _ = np.linalg.svd(fit.unwhiten)
    squares = (fit.response[lags] @ U) ** 2
    residual = np.diag(U.T @ fit.residual @ U)
    scale = fit.inflation / fit.freedom
    # what independent rows would give is known for every floor; the rest shrinks with the noise
    rest = inference.bias[lags] - fit.unexplained * scale * (1 - fit.raw[lags])
    shares = sigma[:, None] ** 2 / (sigma[:, None] ** 2 + np.square(PROFILE))
    raw, unexplained = squares @ shares, residual @ shares
    left = unexplained / max(fit.unexplained, TINY)
    totals = raw - unexplained * scale * (1 - raw) - left * rest[:, None]
    return [float(total) for total in totals.sum(axis=0)]


def _notes(
    factor: Factor, fit: Fit, inference: Inference, level: float, left_out: int
) -> Iterator[Note]:
    """Caveats to read before quoting the numbers."""
    rows, lags = factor.rows, factor.lags // factor.inputs
    kind = "zero" if inference.end < 0 else "end" if inference.end < lags - 1 else "all"
    yield note(f"total.{kind}", rows=rows, level=level, lags=lags, end=inference.end)
    if kind == "all" and inference.memory[-factor.inputs :].sum() > 1e-6:
        yield note("last_lag")
    if left_out:
        yield note("missing", rows=counted(left_out, "row"), lags=lags)
    if rows < inference.rows_wanted:
        facts = {"length": fit.length, "wider": inference.wider, "lags": inference.end + 1}
        facts |= {"per_state": rows / factor.states, "per_input": rows / max(fit.length, 1)}
        wanted = {"any": ROWS_FOR_ANY, "slow": ROWS_FOR_SLOW, "input": ROWS_PER_INPUT}
        yield note("few_rows.slow" if inference.slow else "few_rows", **facts, **wanted)
    if fit.widening > 1:
        yield note("collinear", inflation=fit.collinearity, wider=fit.widening)
    if fit.unexplained > 0.5:
        unexplained = min(fit.unexplained, factor.states)  # an estimate, which may be more
        facts = {"unexplained": unexplained, "states": factor.states, "length": fit.length}
        yield note("unexplained", explained=round(factor.states - unexplained, 6), **facts)
