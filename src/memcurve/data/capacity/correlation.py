"""Sums Σ_t q_t w_{t−τ} for all lags at once: one Fourier transform a block of time."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: A block is this many times as long as the lags it must overlap: longer ones waste less on the
#: overlap, shorter ones leave the sums to matrix products. Measured best from 4 to 8.
BLOCK_PER_LAG = 6
#: Shortest block: below it the overhead of many small transforms shows.
SHORTEST_BLOCK = 256


class Correlator:
    """Correlations of fixed columns q with any series w, over the lags 0 … ``lags``.

    With blocks b of ``step`` rows and F ≥ step + lags points of the transform,

        Σ_t q_t w_{t−τ} = F⁻¹[ Σ_b conj(F q_b) · F w_b ](lags − τ),

    and the sum over blocks is, at every frequency, one product of matrices.

    Parameters
    ----------
    fixed : (n, k) array
        The columns q.
    lags : int
        The longest lag.
    """

    def __init__(self, fixed: Floats, lags: int) -> None:
        from scipy.fft import next_fast_len, rfft

        self.rows, self.lags = len(fixed), lags
        self.points = int(next_fast_len(max(BLOCK_PER_LAG * (lags + 1), SHORTEST_BLOCK), real=True))
        self.step = self.points - lags
        self.blocks = -(-self.rows // self.step)
        padded = np.zeros((self.blocks * self.step, fixed.shape[1]))
        padded[: self.rows] = fixed
        blocks = padded.reshape(self.blocks, self.step, -1)
        transform = rfft(blocks, self.points, axis=1)
        self._fixed = np.ascontiguousarray(transform.transpose(1, 2, 0).conj())

    def sums(self, series: Floats, chosen: slice = slice(None)) -> Floats:
        """Return Σ_t q_t w_{t−τ} as a (lags + 1, k, m) array.

        Parameters
        ----------
        series : (m, lags + n) array
            The series w, each with the ``lags`` values before the first row of q in front.
        chosen : slice
            The columns of q that are wanted.
        """
        from scipy.fft import irfft, rfft

        length = self.blocks * self.step + self.lags
        padded = np.zeros((len(series), length))
        padded[:, : series.shape[1]] = series
        row, item = padded.strides
        shape = (self.blocks, len(series), self.points)
        overlapping = as_strided(padded, shape, (self.step * item, row, item), writeable=False)
        transform = rfft(overlapping, axis=2)
        product = np.matmul(self._fixed[:, chosen], transform.transpose(2, 0, 1))
        return np.asarray(irfft(product, self.points, axis=0)[self.lags :: -1], dtype=np.float64)


def sliding_sums(series: Floats, rows: int) -> Floats:
    """Σ_{t<rows} w_{t+j} for every start j, as a (lags + 1, m) array ordered by lag.

    ``series`` is (m, lags + rows); lag τ starts at j = lags − τ.
    """
    ends = np.zeros((len(series), series.shape[1] + 1))
    np.cumsum(series, axis=1, out=ends[:, 1:])
    return np.ascontiguousarray((ends[:, rows:] - ends[:, : ends.shape[1] - rows]).T[::-1])
