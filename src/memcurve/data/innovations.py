"""Recordings with coloured input: the memory of what is new in it, and raw R² against a null.

A coloured input is predictable from its own past, and states can "remember" lags that they only
guess: ΣR² may exceed N. The *innovations* e_t = z_t − Σ_i a_i z_{t−i} of an autoregression are
white, and their memory obeys the theory of white input: it sums to at most N.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The share of an innovation's energy that may come later than the lags added for it.
SETTLED = 1e-9
#: Lags that are added at most.
MOST_SETTLING = 1000


class Autoregression(NamedTuple):
    """Weights a_1 … a_p of an autoregression, and the mean of the series."""

    weights: Floats
    mean: float

    def innovations(self, z: Floats) -> Floats:
        """e_t = (z_t − mean) − Σ_i a_i (z_{t−i} − mean); the first p values are not meaningful."""
        e = z - self.mean
        centred = e.copy()
        for i, weight in enumerate(self.weights.tolist(), 1):
            e[i:] -= weight * centred[:-i]
        return e

    def settling(self) -> int:
        """Steps until all but SETTLED of an innovation's energy has come out in the series."""
        from scipy.signal import lfilter

        impulse = np.zeros(MOST_SETTLING)
        impulse[0] = 1.0
        energy = lfilter([1.0], np.concatenate([[1.0], -self.weights]), impulse) ** 2
        left = np.cumsum(energy[::-1])[::-1] > SETTLED * energy.sum()
        return int(np.count_nonzero(left))


def fit_autoregression(z: Floats, most: int | None = None) -> Autoregression:
    """Levinson's recursion on the biased autocovariance, the order up to ``most`` chosen by BIC.

    The models of that recursion are all stable; it ends where nothing but rounding is left.
    """
    n, mean = len(z), float(z.mean())
    if most is None:
        most = max(1, min(int(10 * np.log10(n)), n // 10))
    gamma = _autocovariance(z - mean, most)
    weights, variance = np.zeros(0), float(gamma[0])
    best, best_score = weights, n * np.log(max(variance, np.finfo(float).tiny))
    for order in range(1, most + 1):
        reflection = (gamma[order] - weights @ gamma[order - 1 : 0 : -1]) / variance
        weights = np.append(weights - reflection * weights[::-1], reflection)
        variance *= (1 - reflection) * (1 + reflection)
        if not variance > np.finfo(float).eps * gamma[0]:
            break
        score = n * np.log(variance) + order * np.log(n)
        if score < best_score:
            best, best_score = weights, score
    return Autoregression(best, mean)


def _autocovariance(z: Floats, count: int) -> Floats:
    spectrum = np.fft.rfft(z, 2 * len(z))
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2)[: count + 1] / len(z))


class Calibrated(NamedTuple):
    """Raw in-sample R² of every lag, and its mean over inputs shifted out of reach."""

    raw: Floats
    null: float


def calibrated_r2(X: Floats, Z: Floats) -> Calibrated:
    """R² of the lagged inputs, columns of Z, on the states, with shifted inputs as the null.

    Rows are consecutive; the sums Σ_t Q_t z_{t+s} of all circular shifts s come from one Fourier
    transform.
    """
    X, Z = X - X.mean(axis=0), Z - Z.mean(axis=0)
    Q = np.linalg.qr(X)[0]
    n, lags = Z.shape
    raw = ((Q.T @ Z) ** 2).sum(axis=0) / (Z**2).sum(axis=0)
    transform = np.fft.rfft(Z[:, 0])
    energy = np.zeros(n)
    for column in Q.T:  # one at a time: memory stays that of the states
        energy += np.fft.irfft(np.conj(np.fft.rfft(column)) * transform, n) ** 2
    shifted = energy / float(Z[:, 0] @ Z[:, 0])
    far = shifted[2 * lags : n - 2 * lags] if n > 6 * lags else shifted[lags : n - lags]
    return Calibrated(raw, float(far.mean()) if len(far) else float(Q.shape[1] / n))
