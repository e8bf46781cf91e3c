"""Inputs that depend on their own past: autocorrelation, its test, and innovations.

A coloured input is predictable from its own past, and states can "remember" lags that they only
predict: ΣR² may exceed N. The *innovations* e_t = z_t − Σ_i a_i z_{t−i} of an autoregression are
white, and their memory obeys the theory of white input: it sums to at most N.
"""

from typing import NamedTuple

import numpy as np

from memcurve.core.types import EPS, TINY, Floats


def correlation(one: Floats, other: Floats) -> Floats:
    """Σ_t one_t other_{t+k} for k = 0 … n − 1."""
    from scipy.signal import correlate

    return np.asarray(correlate(other, one, method="fft")[len(one) - 1 :])


def correlations(a: Floats, b: Floats) -> Floats:
    """Correlations of the columns of a with those of b, one by one; 0 where one is constant."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    aa, bb, ab = (np.einsum("ij,ij->j", p, q) for p, q in ((a, a), (b, b), (a, b)))
    scale = np.sqrt(aa * bb)
    return np.asarray(np.where(scale > 0, ab / np.where(scale > 0, scale, 1), 0))


def beta_cut(rank: int, rows: int, threshold: float) -> float:
    """R² that unrelated targets exceed with probability ``threshold``: Beta(r/2, (n − 1 − r)/2)."""
    from scipy.stats import beta

    return float(beta.isf(threshold, rank / 2, (rows - 1 - rank) / 2))


def ljung_box(one: Floats, other: Floats, h: int, fitted: int = 0) -> tuple[Floats, float]:
    """Correlations r_k of one_t and other_{t+k}, k ≤ h, and p of Q = n(n+2) Σ r_k²/(n − k)."""
    from scipy import stats

    n, h = len(one), h + fitted
    scale = np.sqrt((one @ one) * (other @ other))
    r = correlation(one, other)[1 : h + 1] / (scale or 1.0)
    q = n * (n + 2) * float((r**2 / (n - np.arange(1, h + 1))).sum())
    # Q scatters by this more than χ² (the first measured): scale, at the same mean. Products of
    # rare or large values have the product of their kurtoses, and r² varies by that over n more.
    fourth = _kurtosis(one) * _kurtosis(other)
    wide = 1 + 2 * h / n + fourth / (2 * n)
    return r, float(stats.chi2.sf(q / wide, (h - fitted) / wide))


def _kurtosis(z: Floats) -> float:
    """Fourth moment over the square of the second, of a centred series; 0 where it is zero."""
    square = z**2
    return float((square @ square) * len(z) / max(square.sum() ** 2, TINY))


class Autoregression(NamedTuple):
    """Weights a_1 … a_p of an autoregression, and the mean of the series."""

    weights: Floats
    mean: float

    def innovations(self, z: Floats) -> Floats:
        """e_t = (z_t − mean) − Σ_i a_i (z_{t−i} − mean); the first p values are not meaningful."""
        return np.convolve(z - self.mean, np.append(1.0, -self.weights))[: len(z)]

    def settling(self) -> int:
        """Steps, up to 1000, until all but 1e-9 of an innovation's energy is in the series."""
        from scipy.signal import lfilter, unit_impulse

        energy = lfilter([1.0], np.append(1.0, -self.weights), unit_impulse(1000)) ** 2
        left = np.cumsum(energy[::-1])[::-1] > 1e-9 * energy.sum()
        return int(np.count_nonzero(left))


def fit_autoregression(z: Floats, largest: int | None = None) -> Autoregression:
    """Levinson's recursion, of stable models, up to the order, at most ``largest``, of best BIC."""
    n, mean = len(z), float(z.mean())
    if largest is None:
        largest = max(1, min(int(10 * np.log10(n)), n // 10))
    gamma = correlation(z - mean, z - mean)[: largest + 1] / n
    weights, variance = np.zeros(0), float(gamma[0])
    best, best_score = weights, n * np.log(max(variance, TINY))
    for order in range(1, largest + 1):
        reflection = (gamma[order] - weights @ gamma[order - 1 : 0 : -1]) / variance
        weights = np.append(weights - reflection * weights[::-1], reflection)
        variance *= (1 - reflection) * (1 + reflection)
        if not variance > EPS * gamma[0]:
            break
        score = n * np.log(variance) + order * np.log(n)
        if score < best_score:
            best, best_score = weights, score
    return Autoregression(best, mean)
