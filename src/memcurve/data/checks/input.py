"""Checks of the input alone: whether it varies, repeats, and is independent in time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memcurve.data.checks.findings import EPS, LEAST, Finding, Floats
from memcurve.data.innovations import fit_autoregression


class Signal(NamedTuple):
    """The input as the test of alignment needs it."""

    targets: tuple[Floats, ...]
    coloured: bool
    period: int | None


def check_input(z: Floats, level: float, found: list[Finding]) -> Signal | None:
    """What the test of alignment may use of the input, None where it is constant."""
    letters = len(np.unique(z))
    if np.ptp(z) <= 4 * EPS * abs(z).max():
        message = f"the input is constant, {z[0]:g}: there is nothing to remember"
        found.append(Finding("error", "constant_input", message, "drive with independent input"))
        return None
    period = _period(_clipped(z), level)
    if period:
        message = f"the input repeats after {period} steps: a sample of {period}, not {len(z)}, and"
        message += f" lags from {period} on repeat the first ones"
        remedy = "drive with input that does not repeat, or keep one period"
        found.append(Finding("warning", "repeated", message, remedy))
        z = z[: max(period, LEAST)]  # what repeats is no further sample
    h = min(50, len(z) // 5)
    white = _clipped(z)
    r, p = _portmanteau(white, white, h)
    coloured, settled, order = p < level, True, 0
    if coloured:
        innovations, order = _innovations(z, h)
        white = _clipped(innovations)
        settled = _portmanteau(white[order:], white[order:], h, order)[1] >= level
        message = f"the input is not white: autocorrelation {r[0]:.3f} at lag 1 (Ljung–Box over "
        message += f"{h} lags, p = {p:.1e}); memory at neighbouring lags is shared"
        remedy = "compute the memory of its innovations" + (
            f", e.g. of an AR({order}) model" if settled else ", or drive with independent input"
        )
        found.append(Finding("warning", "coloured", message, remedy))
    targets: tuple[Floats, ...] = (white,) if settled else ()
    if letters == 2:
        remedy = "nothing to do; squares and other even powers of it are constant"
        found.append(Finding("info", "two_valued", "the input takes two values", remedy))
    elif settled:
        square = white**2 - (white[order:] ** 2).mean()
        square[:order] = 0
        p = _portmanteau(square[order:], square[order:], h)[1]
        chaos = _portmanteau(square[order:], np.sign(white[order:]), h)[1]
        targets = (white, square)
        if min(p, chaos) < level:
            what = "later ones and squares of" if chaos < level else "squares of later and"
            message = "the innovations of the input are" if coloured else "the input is"
            message += f" uncorrelated but not independent: {what} earlier ones correlate "
            message += f"(p = {min(p, chaos):.1e})"
            remedy = "mind the standard errors, which assume independence; drive with iid input"
            found.append(Finding("warning", "dependent", message, remedy))
            # of volatile inputs the signs are still a coin's; what the past tells is no null
            targets = () if chaos < level or coloured else (np.sign(white),)
    return Signal(targets, coloured, period)


def _clipped(z: Floats) -> Floats:
    """z, centred, its 0.5 % largest and smallest cut back: tests hold under heavy tails too."""
    clipped = np.clip(z, *np.quantile(z, [0.005, 0.995]))
    clipped = z if np.ptp(clipped) == 0 else clipped
    return np.asarray(clipped - clipped.mean())


def _correlation(one: Floats, other: Floats) -> Floats:
    """Σ_t one_t other_{t+k} for k = 0 … n − 1."""
    size = 2 * len(one)
    product = np.fft.rfft(one, size).conj() * np.fft.rfft(other, size)
    return np.fft.irfft(product, size)[: len(one)]


def _portmanteau(one: Floats, other: Floats, h: int, fitted: int = 0) -> tuple[Floats, float]:
    """Correlations r_k of one_t and other_{t+k}, k ≤ h, and p of Q = n(n+2) Σ r_k²/(n − k)."""
    from scipy import stats

    n, h = len(one), h + fitted
    scale = np.sqrt((one @ one) * (other @ other))
    r = _correlation(one, other)[1 : h + 1] / (scale or 1.0)
    q = n * (n + 2) * float((r**2 / (n - np.arange(1, h + 1))).sum())
    wide = 1 + 2 * h / n  # Q scatters by this more than χ² (measured): scale, at the same mean
    return r, float(stats.chi2.sf(q / wide, (h - fitted) / wide))


def _innovations(z: Floats, most: int) -> tuple[Floats, int]:
    """Residuals of the autoregression of least BIC, zero where the past is not known; its order."""
    model = fit_autoregression(z, most)
    residuals, order = model.innovations(z), len(model.weights)
    residuals[:order] = 0.0
    return residuals, order


def _period(z: Floats, level: float) -> int | None:
    """The first lag, after the correlation has died down, at which it comes back to near one.

    Bernstein's inequality keeps few large values that happen to meet from being a repetition.
    """
    n = len(z)
    last = 4 * n // 5
    energy = np.cumsum(z**2)
    lags = np.arange(1, last)
    r = _correlation(z, z)[1:last] / np.sqrt(energy[n - 1 - lags] * (energy[-1] - energy[lags - 1]))
    tail, peak = np.log(n / level), float((z**2).max() / (z**2).mean())
    b, overlap = 2 * peak * tail / 3, n - lags
    cut = np.maximum((b + np.sqrt(b**2 + 8 * overlap * tail)) / (2 * overlap), 0.5)
    if abs(r[:5]).max() > 0.3:  # slow or narrow-band input nearly comes back
        cut = np.where(lags <= n // 2, np.maximum(cut, 0.98), np.inf)
    died = int(np.argmax(r < 0.5))
    back = np.flatnonzero((r >= np.minimum(cut, 0.99)) & (lags > died + 1) & (cut < 1))
    if len(back) == 0:
        return None
    first = int(back[0])
    while first + 1 < len(r) and r[first + 1] > r[first]:
        first += 1
    return int(lags[first])
