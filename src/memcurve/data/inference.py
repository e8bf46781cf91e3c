"""Bias and intervals: a second look at the rows, in coordinates where the states are white.

With g_t the part of the whitened state that the input explains, e_t the rest, u_t = e_t·b_τ and
r_t = z_{t−τ} − (g_t + e_t)·b_τ the residual of lag τ, the raw memory is too high by::

    bias_τ ≈ (1/n) Σ_j Cov(ξ_t, ξ_{t+j}),        ξ_t = e_t r_t − g_t u_t + W b_τ

over serial lags j. At j = 0 each row counts with its leverage h/(1 − h); other j matter only up to
the last lag that is significant, since beyond it r is the white input itself. Intervals come from
the long-run variance (Bartlett's window) of the influence function of each lag, and of their sum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.data.regression import Fit

Floats = NDArray[np.float64]

#: Chance that a lag without memory counts as significant.
NULL_LEVEL = 1e-3
#: Serial lags are summed up to here at most.
MOST_SERIAL_LAGS = 100
#: Serial correlation of residuals enters the variance of the total up to here.
MOST_VARIANCE_LAGS = 80
LARGEST_LEVERAGE = 0.9


class Inference(NamedTuple):
    """Memory with its bias taken out, and standard errors.

    ``last`` is the last significant lag, −1 if there is none; ``null`` the value that a lag without
    memory exceeds once in a thousand.
    """

    memory: Floats
    bias: Floats
    standard_error: Floats
    total_error: float
    cut_error: float
    last: int
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
    part = _rows(fit, Z, X, rows)
    null = _null_cut(fit)
    bias = _row_bias(fit, part)
    last = _last_significant(fit.raw - bias, null)
    if last >= 0:
        bias[: last + 1] += _serial_bias(fit, part, last + 1, rows)
    memory = fit.raw - bias
    last = _last_significant(memory, null)
    error, total_error, cut_error = _errors(fit, part, Z, memory, last, rows)
    return Inference(memory, bias, error, total_error, cut_error, last, null)


def _rows(fit: Fit, Z: Floats, X: Floats, rows: int) -> _Rows:
    inverse = np.linalg.inv(fit.unwhiten)
    g = Z[:, : fit.length] @ (fit.B @ inverse)
    e = X @ inverse - g
    u = e @ fit.response.T
    r = Z - g @ fit.response.T - u
    leverage = np.minimum((e**2).sum(axis=1) / fit.freedom, LARGEST_LEVERAGE)
    return _Rows(g, e, u, r, leverage)


def _row_bias(fit: Fit, part: _Rows) -> Floats:
    """The part of serial lag 0."""
    weight = (part.leverage / (1 - part.leverage))[:, None]
    gg = (part.g**2).sum(axis=1)[:, None]
    ge = (part.g * part.e).sum(axis=1)[:, None]
    share = len(part.e) / (len(part.e) - fit.length) if len(part.e) > fit.length else 1.0
    first = (weight * part.r**2).mean(axis=0) * share
    mixed = (gg * part.u**2 - 2 * ge * part.u * part.r).mean(axis=0)
    square = ((fit.response @ fit.residual) ** 2).sum(axis=1)
    # u² and |Wb|² of a lag without memory are noise: only the share of b_τ that is not enters
    real = np.clip(1 - first / np.maximum(fit.raw, np.finfo(float).tiny), 0, 1)
    return np.asarray(first + real * (mixed - square) / fit.freedom * fit.inflation)


def _serial_bias(fit: Fit, part: _Rows, count: int, rows: int) -> Floats:
    """The part of serial lags j ≥ 1, for the first ``count`` lags, with a flat-top window."""
    sample = len(part.e)
    depth = min(max(8, fit.length), sample // 8, MOST_SERIAL_LAGS)
    square = ((fit.response[:count] @ fit.residual) ** 2).sum(axis=1)
    raw, scale = fit.raw[:count], fit.inflation / fit.freedom
    u, r = part.u[:, :count], part.r[:, :count]
    bias = np.zeros(count)
    for j in range(1, depth + 1):
        g0, g1, e0, e1 = part.g[:-j], part.g[j:], part.e[:-j], part.e[j:]
        ee = (e0 * e1).sum(axis=1)[:, None]
        ge = (g0 * e1).sum(axis=1)[:, None]
        eg = (e0 * g1).sum(axis=1)[:, None]
        gg = (g0 * g1).sum(axis=1)[:, None]
        r0, r1, u0, u1 = r[:-j], r[j:], u[:-j], u[j:]
        products = ee * r0 * r1 - ge * u0 * r1 - eg * r0 * u1 + gg * u0 * u1
        term = products.sum(axis=0) / sample - square * (sample - j) / sample
        # residuals within the sample have E r_t r_{t+j} = −e_t·e_{t+j}/n
        term += (1 - raw) * float((ee**2).sum()) / sample * scale
        bias += 2 * min(1.0, 2 * (1 - j / (depth + 1))) * term * scale
    return bias


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
    fit: Fit, part: _Rows, Z: Floats, memory: Floats, last: int, rows: int
) -> tuple[Floats, float, float]:
    """Standard errors of every lag, of the total, and of the total up to the last lag."""
    lift = 1 / (1 - part.leverage)[:, None]
    influence = (2 * part.u * part.r * lift + part.u**2) * lift * np.sqrt(rows / fit.freedom)
    along = ((fit.response @ fit.residual) * fit.response).sum(axis=1)
    influence += along * (Z[:, :1] ** 2 - 1)
    influence -= influence.mean(axis=0)
    window = int(np.ceil(1.3 * len(Z) ** (1 / 3)))
    share = np.clip(memory / np.maximum(fit.raw, np.finfo(float).tiny), 0, 1)
    scale = (fit.inflation / fit.freedom) ** 2
    noise = 2 * float((fit.residual**2).sum()) * scale
    left = 1 - fit.raw
    error = np.sqrt(_long_run(influence, window) / rows * share + noise * left**2)
    sums = np.stack([(influence * share).sum(axis=1),
                     (influence * share)[:, : last + 1].sum(axis=1)], axis=1)  # fmt: skip
    whole, cut = _long_run(sums, window) / rows
    whole += noise * float((left**2).sum())
    cut += noise * float((left[: last + 1] ** 2).sum())
    serial = _serial_variance(fit, part, left) * scale
    counted = np.arange(len(left)) <= last
    return (
        error,
        float(np.sqrt(whole + serial)),
        float(np.sqrt(cut + _serial_variance(fit, part, left * counted) * scale)),
    )


def _serial_variance(fit: Fit, part: _Rows, left: Floats) -> float:
    """What serial correlation of the residuals adds to the variance of a sum over lags."""
    e = part.e[:20_000]
    total = 0.0
    for j in range(1, min(len(left), MOST_VARIANCE_LAGS, len(e) // 4)):
        C = e[:-j].T @ e[j:] / (len(e) - j)
        excess = float((C**2).sum()) - fit.unexplained**2 / (len(e) - j)
        total += 4 * max(excess, 0.0) * float((left[j:] * left[:-j]).sum())
    return total


def _long_run(series: Floats, window: int) -> Floats:
    """Long-run variance of each column, with Bartlett's window."""
    variance = (series**2).sum(axis=0)
    for j in range(1, window + 1):
        variance = variance + 2 * (1 - j / (window + 1)) * (series[j:] * series[:-j]).sum(axis=0)
    return np.asarray(np.maximum(variance, 0.0) / len(series))
