"""Regress the states on the lagged input, not the input on the states.

With X = ZB + E, B the impulse response (FIR) of k lags and E what the past k inputs do not explain,
the covariance of the states is BᵀB + Σ_E for white input of unit variance, and the memory of lag τ
is the *leverage* of row τ in K = [B; √θ·R_E; s·I], R_E the factor of E and s a noise floor: between
0 and 1, and summing to at most N. θ takes out the part of Σ_E that noise in B counts twice. Lags
beyond k have the responses of the residuals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.data.factor import Factor

Floats = NDArray[np.float64]

#: θ stays above this share even where k is close to the number of rows.
LEAST_SHARE = 1e-3
#: The estimate is never inflated by more than 1/LEAST_ROOM.
LEAST_ROOM = 0.05


class Fit(NamedTuple):
    """States whitened by the regression, and the impulse response in their coordinates.

    Attributes
    ----------
    length : int
        k, the number of lags of the FIR model.
    freedom : int
        n − k.
    response : (lags, N) array
        b_τ, the whitened impulse response; its squared length is the raw memory of lag τ.
    residual : (N, N) array
        Covariance W of the whitened residuals.
    B : (k, N) array
        The impulse response itself.
    unwhiten : (N, N) array
        R with whitened states X R⁻¹.
    """

    length: int
    freedom: int
    response: Floats
    residual: Floats
    B: Floats
    unwhiten: Floats

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
        """What residuals that were fitted are too small by."""
        return 1 / max(1 - self.unexplained / self.freedom, LEAST_ROOM)


def regress(factor: Factor, noise_floor: float) -> Fit:
    """Fit the FIR model, its length chosen by generalised cross-validation."""
    R, n, lags = factor.R, factor.rows, factor.lags
    N = R.shape[1] - lags
    k = _length(R, n, lags)
    freedom = n - k
    inverse = np.linalg.inv(R[:k, :k]) if k else np.zeros((0, 0))
    B = inverse @ R[:k, lags:]
    left = R[k:, lags:]
    theta = max(1 - float((inverse**2).sum()), LEAST_SHARE) / freedom
    stacked = np.vstack([B, np.sqrt(theta) * left, noise_floor * np.eye(N)])
    Q, unwhiten = np.linalg.qr(stacked)
    whitened_left = Q[k : k + len(left)] / np.sqrt(theta)
    beyond = R[k:, k:lags]
    energy = (beyond**2).sum(axis=0)
    tail = (whitened_left.T @ beyond / energy).T
    residual = whitened_left.T @ whitened_left / freedom
    return Fit(k, freedom, np.vstack([Q[:k], tail]), residual, B, unwhiten)


def _length(R: Floats, rows: int, lags: int) -> int:
    """The k that minimises tr(residual)/(n − k)², in coordinates where the states are white."""
    states = np.linalg.qr(R[:, lags:])[0]
    explained = np.concatenate([[0.0], np.cumsum((states[:lags] ** 2).sum(axis=1))])
    N = R.shape[1] - lags
    left = np.maximum(N - explained, 1e-30)
    k = np.arange(lags + 1)
    score = np.where(k < rows - N - 2, left / (rows - k).clip(1) ** 2, np.inf)
    return int(np.argmin(score))
