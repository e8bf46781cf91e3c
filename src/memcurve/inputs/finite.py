"""FiniteLags: processes whose autocovariance is zero beyond some lag."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memcurve.inputs import trigonometric
from memcurve.inputs.process import Floats, InputProcess


@dataclass(frozen=True, eq=False, repr=False)
class FiniteLags(InputProcess):
    """A process with γ(k) = ``values[k]`` for k ≤ M and zero beyond; f is a cosine polynomial."""

    values: Floats

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lags={self.finite_lags}, variance={self.variance:g})"

    @property
    def variance(self) -> float:
        """γ(0)."""
        return float(self.values[0])

    @property
    def finite_lags(self) -> int:
        """The last lag M at which γ is not zero."""
        return len(self.values) - 1

    def density_bounds(self) -> tuple[float, float]:
        """Return the minimum and the maximum of f over all ω, rounded outward.

        They are off by the rounding of f, some ``ε·Σ_k (8 + |k|) |γ(k)|``; a minimum within that of
        zero is given as 0.
        """
        return self._extrema

    @cached_property
    def _extrema(self) -> tuple[float, float]:
        if self.is_white:
            return self.variance, self.variance
        slack = trigonometric.rounding(self.values)
        least = trigonometric.minimum(self.values)[1] - slack
        most = -trigonometric.minimum(-self.values)[1] + slack
        return max(0.0, least), most

    def _autocovariance(self, count: int) -> Floats:
        gamma = np.zeros(count)
        known = self.values[:count]
        gamma[: len(known)] = known
        return gamma

    def _density(self, omega: Floats) -> Floats:
        return np.maximum(trigonometric.values(self.values, omega), 0)

    def _draw(self, count: int, channels: int, rng: np.random.Generator) -> Floats:
        """Filter white noise on a circle so long that its two ends do not meet.

        A circle of L ≥ max(count + M, 2M + 1) points with autocovariance γ(k) + γ(L − k) has the
        spectrum f(2πj/L) ≥ 0, so its square root exists, and ``count`` consecutive points have
        autocovariance γ exactly.
        """
        from scipy.fft import next_fast_len

        lags = self.finite_lags
        size = 2 * next_fast_len((max(count + lags, 2 * lags + 1) + 1) // 2, real=True)
        gains = np.sqrt(np.maximum(trigonometric.on_grid(self.values, size), 0))
        series = np.empty((count, channels))
        for column in series.T:
            noise = rng.standard_normal(size)
            column[:] = np.fft.irfft(gains * np.fft.rfft(noise), size)[:count]
        return series
