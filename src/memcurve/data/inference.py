"""Bias and intervals: a second look at the rows, in coordinates where the states are white.

With g_t the part of the whitened state that the input explains, e_t the rest, u_t = e_t·b_τ and
r_t = z_{t−τ} − (g_t + e_t)·b_τ the residual of lag τ, the raw memory is too high by::

    bias_τ ≈ (1/n) Σ_j Cov(ξ_t, ξ_{t+j}),        ξ_t = e_t r_t − g_t u_t + W b_τ

over serial lags j. At j = 0 each row counts with its leverage h/(1 − h); other j matter only up to
the last lag that is significant, since beyond it r is the white input itself. Intervals come from
the long-run variance (Bartlett's window) of the influence function of each lag, and of their sum.

A total over all lags would be mostly the noise of those without memory. It ends where no sum over
the lags that follow stands out from noise (after Lepski), which finds thin tails that no lag shows
by itself; its interval allows for what may be left there unseen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.data.regression import Fit

Floats = NDArray[np.float64]

#: Chance that a lag without memory counts as significant.
NULL_LEVEL = 1e-3
#: A sum over lags that exceeds this many standard deviations of noise is memory.
STANDS_OUT = 2.5
#: Memory after the end may go unseen: this share of the variance there belongs to the total's.
UNSEEN = 0.25
#: Serial lags are summed up to here at most.
MOST_SERIAL_LAGS = 100
#: Serial correlation of residuals enters the variance of the total up to here.
MOST_VARIANCE_LAGS = 80
LARGEST_LEVERAGE = 0.9


class Inference(NamedTuple):
    """Memory with its bias taken out, and standard errors.

    ``last`` is the last lag that is significant by itself, −1 if there is none, ``end`` the one
    after which no sum over lags is; ``null`` the value that a lag without memory exceeds once in a
    thousand. Sums up to ``last``, ``end`` and the last lag listed have errors of their own.
    """

    memory: Floats
    bias: Floats
    standard_error: Floats
    cut_error: float
    total_error: float
    listed_error: float
    last: int
    end: int
    null: float


class _Rows(NamedTuple):
    """Quantities of each row: explained g and unexplained e part, u and r of every lag."""

    g: Floats
    e: Floats
    u: Floats
    r: Floats
    leverage: Floats


def infer(fit: Fit, Z: Floats, X: Floats, rows: int) -> Inference:
    """Correct and judge a fit by rows (Z, X) of the recording, all of its ``rows`` or a sample."""
    part = _rows(fit, Z, X)
    null = _null_cut(fit)
    bias = _row_bias(fit, part, rows)
    last = _last_significant(fit.raw - bias, null)
    if last >= 0:
        bias[: last + 1] += _serial_bias(fit, part, last + 1)
    memory = fit.raw - bias
    last = _last_significant(memory, null)
    chance = _chance(fit, part)
    end = _end(memory, chance, last)
    stops = [last, end, len(memory) - 1]
    error, of_sums = _errors(fit, part, Z, memory, chance, stops, rows)
    cut, total, listed = of_sums
    total = float(np.sqrt(total**2 + UNSEEN * max(listed**2 - total**2, 0.0)))
    return Inference(memory, bias, error, cut, total, listed, last, end, null)


def _rows(fit: Fit, Z: Floats, X: Floats) -> _Rows:
    inverse = np.linalg.inv(fit.unwhiten)
    g = Z[:, : fit.length] @ (fit.B @ inverse)
    e = X @ inverse - g
    u = e @ fit.response.T
    r = Z - g @ fit.response.T - u
    leverage = np.minimum((e**2).sum(axis=1) / fit.freedom, LARGEST_LEVERAGE)
    return _Rows(g, e, u, r, leverage)


def _row_bias(fit: Fit, part: _Rows, rows: int) -> Floats:
    """The part of serial lag 0."""
    weight = (part.leverage / (1 - part.leverage))[:, None]
    gg = (part.g**2).sum(axis=1)[:, None]
    ge = (part.g * part.e).sum(axis=1)[:, None]
    first = (weight * part.r**2).mean(axis=0) * (rows / fit.freedom)
    mixed = (gg * part.u**2 - 2 * ge * part.u * part.r).mean(axis=0)
    square = ((fit.response @ fit.residual) ** 2).sum(axis=1)
    # b_τ of a lag without memory is noise, and what it adds is none: its real share counts
    real = np.clip(1 - first / np.maximum(fit.raw, np.finfo(float).tiny), 0, 1)
    return np.asarray(first + real * (mixed - square) / fit.freedom * fit.inflation)


def _serial_bias(fit: Fit, part: _Rows, count: int) -> Floats:
    """The part of serial lags j ≥ 1, for the first ``count`` lags, with a flat-top window."""
    sample = len(part.e)
    depth = min(max(8, fit.length), sample // 8, MOST_SERIAL_LAGS)
    square = ((fit.response[:count] @ fit.residual) ** 2).sum(axis=1)
    raw, scale = fit.raw[:count], fit.inflation / fit.freedom
    u, r = part.u[:, :count], part.r[:, :count]
    bias = np.zeros(count)
    for j in range(1, depth + 1):
        g0, g1, e0, e1 = part.g[:-j], part.g[j:], part.e[:-j], part.e[j:]
        ee = np.einsum("ti,ti->t", e0, e1)
        r0, r1, u0, u1 = r[:-j], r[j:], u[:-j], u[j:]
        sums = _weighted(ee, r0, r1) + _weighted(np.einsum("ti,ti->t", g0, g1), u0, u1)
        sums -= _weighted(np.einsum("ti,ti->t", g0, e1), u0, r1)
        sums -= _weighted(np.einsum("ti,ti->t", e0, g1), r0, u1)
        term = (sums - square * (sample - j)) / sample
        # residuals within the sample have E r_t r_{t+j} = −e_t·e_{t+j}/n
        term += (1 - raw) * float((ee**2).sum()) / sample * scale
        bias += 2 * min(1.0, 2 * (1 - j / (depth + 1))) * term * scale
    return bias


def _weighted(weights: Floats, one: Floats, other: Floats) -> Floats:
    """Σ_t w_t a_tτ b_tτ, without the arrays in between."""
    return np.asarray(np.einsum("t,ti,ti->i", weights, one, other))


def _null_cut(fit: Fit) -> float:
    """What a lag without memory exceeds with probability NULL_LEVEL, after the correction."""
    from scipy.stats import chi2

    K = fit.unexplained
    if K <= 1e-12:
        return 1e-12
    freedom = K**2 / max(float((fit.residual**2).sum()), np.finfo(float).tiny)
    excess = float(chi2.isf(NULL_LEVEL, freedom)) / freedom - 1
    return K / fit.freedom * fit.inflation * excess


def _last_significant(memory: Floats, null: float) -> int:
    """Last lag above the cut, leaving out late ones that stand alone."""
    above = np.flatnonzero(memory > null)
    while len(above):
        last = int(above[-1])
        if last == 0 or memory[max(0, last - 4) : last + 1].mean() >= null / 2:
            return last
        above = above[:-1]
    return -1


def _errors(
    fit: Fit, part: _Rows, Z: Floats, memory: Floats, chance: _Chance, stops: list[int], rows: int
) -> tuple[Floats, list[float]]:
    """Standard errors of every lag, and of the sums up to each of the lags ``stops``."""
    lift = 1 / (1 - part.leverage)[:, None]
    influence = (2 * part.u * part.r * lift + part.u**2) * lift * np.sqrt(rows / fit.freedom)
    along = ((fit.response @ fit.residual) * fit.response).sum(axis=1)
    influence += along * (Z[:, :1] ** 2 - 1)
    influence -= influence.mean(axis=0)
    window = int(np.ceil(1.3 * len(Z) ** (1 / 3)))
    share = np.clip(memory / np.maximum(fit.raw, np.finfo(float).tiny), 0, 1)
    error = np.sqrt(_long_run(influence, window) / rows * share + chance.single)
    sums = np.pad(np.cumsum(influence * share, axis=1), [(0, 0), (1, 0)])[:, np.add(stops, 1)]
    noise = np.pad(chance.upto(0), (1, 0))[np.add(stops, 1)]
    return error, np.sqrt(_long_run(sums, window) / rows + noise).tolist()


class _Chance(NamedTuple):
    """Variance of sums over lags without memory, by noise alone.

    ``shares[τ, j]`` is what lag τ adds to the variance of a sum along with lags τ − j … τ − 1.
    """

    shares: Floats

    def upto(self, first: int) -> Floats:
        """Variance of the sums over lags ``first`` … τ, for every τ from there on."""
        lags = np.arange(len(self.shares) - first)
        depth = np.minimum(lags, self.shares.shape[1] - 1)
        return np.asarray(np.cumsum(self.shares[first + lags, depth]))

    @property
    def single(self) -> Floats:
        """Variance of every lag by itself."""
        return self.shares[:, 0]


def _chance(fit: Fit, part: _Rows) -> _Chance:
    """From the serial correlation of the residuals, 2·Σ C_j² between lags that are j apart."""
    left, e = 1 - fit.raw, part.e[:20_000]
    depth = max(1, min(len(left), MOST_VARIANCE_LAGS, len(e) // 4))
    shares = np.zeros((len(left), depth))
    shares[:, 0] = 2 * float((fit.residual**2).sum()) * left**2
    for j in range(1, depth):
        C = e[:-j].T @ e[j:] / (len(e) - j)
        excess = float((C**2).sum()) - fit.unexplained**2 / (len(e) - j)
        shares[j:, j] = 4 * max(excess, 0.0) * left[j:] * left[:-j]
    return _Chance(np.cumsum(shares, axis=1) * (fit.inflation / fit.freedom) ** 2)


def _end(memory: Floats, chance: _Chance, last: int) -> int:
    """The lag after which no sum of memory stands out from noise, ``last`` or a later one."""
    for end in range(last, len(memory) - 1):
        sums = np.cumsum(memory[end + 1 :])
        if not np.any(sums > STANDS_OUT * np.sqrt(chance.upto(end + 1))):
            return end
    return len(memory) - 1


def _long_run(series: Floats, window: int) -> Floats:
    """Long-run variance of each column, with Bartlett's window."""
    variance = (series**2).sum(axis=0)
    for j in range(1, window + 1):
        variance = variance + 2 * (1 - j / (window + 1)) * (series[j:] * series[:-j]).sum(axis=0)
    return np.asarray(np.maximum(variance, 0.0) / len(series))
