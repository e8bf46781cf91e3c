"""Recordings with coloured input: the memory of what is new in it, and raw R² against a null.

A coloured input is predictable from its own past, and states can "remember" lags that they only
guess: ΣR² may exceed N. The *innovations* e_t = z_t − Σ_i a_i z_{t−i} of an autoregression are
white, and their memory obeys the theory of white input: it sums to at most N.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.data.sources import Source

Floats = NDArray[np.float64]


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


def fit_autoregression(z: Floats) -> Autoregression:
    """Levinson's recursion on the biased autocovariance, the order chosen by BIC."""
    n, mean = len(z), float(z.mean())
    most = max(1, min(int(10 * np.log10(n)), n // 10))
    gamma = _autocovariance(z - mean, most)
    weights, variance = np.zeros(0), float(gamma[0])
    best, best_score = weights, n * np.log(max(variance, np.finfo(float).tiny))
    for order in range(1, most + 1):
        reflection = (gamma[order] - weights @ gamma[order - 1 : 0 : -1]) / variance
        weights = np.append(weights - reflection * weights[::-1], reflection)
        variance *= (1 - reflection) * (1 + reflection)
        if not variance > 0:
            break
        score = n * np.log(variance) + order * np.log(n)
        if score < best_score:
            best, best_score = weights, score
    return Autoregression(best, mean)


def _autocovariance(z: Floats, count: int) -> Floats:
    spectrum = np.fft.rfft(z, 2 * len(z))
    return np.asarray(np.fft.irfft(np.abs(spectrum) ** 2)[: count + 1] / len(z))


@dataclass(frozen=True, eq=False)
class WithInputs:
    """A recording whose input is replaced, and whose first rows are left out."""

    source: Source
    inputs: Floats
    first: int = 0

    @property
    def length(self) -> int:
        """Rows left."""
        return self.source.length - self.first

    @property
    def columns(self) -> int:
        """Number of states."""
        return self.source.columns

    @property
    def name(self) -> str:
        """Name of the recording."""
        return self.source.name

    def chunks(self, rows: int, start: int = 0) -> Iterator[tuple[Floats, Floats]]:
        """Consecutive states with the new inputs."""
        done = start + self.first
        for X, _ in self.source.chunks(rows, done):
            yield X, self.inputs[done : done + len(X)]
            done += len(X)


class Calibrated(NamedTuple):
    """Raw in-sample R² of every lag, and its mean over inputs shifted out of reach."""

    raw: Floats
    null: float


def calibrated_r2(X: Floats, z: Floats, lags: int) -> Calibrated:
    """R² of z_{t−τ} on the states, τ = 0 … lags − 1, with circularly shifted inputs as the null.

    ``X`` are consecutive rows and ``z`` their inputs; the sums Σ_t Q_t z_{t−s} of all shifts s come
    from one Fourier transform.
    """
    X, z = X - X.mean(axis=0), z - z.mean()
    Q = np.linalg.qr(X)[0]
    n = len(z)
    transform = np.fft.rfft(z)
    energy = np.zeros(n)
    for column in Q.T:  # one at a time: memory stays that of the states
        energy += np.fft.irfft(np.conj(np.fft.rfft(column)) * transform, n) ** 2
    # entry s of the correlation is Σ_t Q_t z_{t+s}: lag τ is shift −τ
    r2 = energy / float(z @ z)
    lagged = r2[-np.arange(lags) % n]
    far = r2[2 * lags : n - 2 * lags] if n > 6 * lags else r2[lags : n - lags]
    return Calibrated(lagged, float(far.mean()) if len(far) else float(Q.shape[1] / n))
