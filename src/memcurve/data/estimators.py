"""Standard estimators, for comparison: regressions of past inputs on the states.

Each takes states X (n, N) and lagged inputs Z (n, lags) and returns one value per lag. What they
estimate is not always the memory; a note says so.
"""

from collections.abc import Callable

import numpy as np

from memcurve.core.types import Floats
from memcurve.data.autocorrelation import beta_cut, correlations
from memcurve.data.prose import note
from memcurve.io import Source, lagged, present, require_rows
from memcurve.memory import MemoryCurve


def in_sample(X: Floats, Z: Floats) -> Floats:
    """R² of the regression of z_{t−τ} on the states, on the rows it was fitted to."""
    X, Z = X - X.mean(axis=0), Z - Z.mean(axis=0)
    Q = np.linalg.qr(X)[0]
    return np.asarray(((Q.T @ Z) ** 2).sum(axis=0) / (Z**2).sum(axis=0))


def ezekiel(X: Floats, Z: Floats) -> Floats:
    """1 − (1 − R²)(n − 1)/(n − N − 1), unbiased for fixed states and independent errors."""
    n, N = X.shape
    return np.asarray(1 - (1 - in_sample(X, Z)) * (n - 1) / (n - N - 1))


def split(X: Floats, Z: Floats) -> Floats:
    """Squared correlation of a readout's output with its target on the last 30 % of the rows."""
    cut = int(0.7 * len(X))
    return correlations(_predicted(X[:cut], Z[:cut], X[cut:]), Z[cut:]) ** 2


def k_fold(X: Floats, Z: Floats) -> Floats:
    """1 − (squared error on rows left out)/(variance), over five folds of consecutive rows."""
    squared = np.zeros(Z.shape[1])
    for rows in np.array_split(np.arange(len(X)), 5):
        rest = np.setdiff1d(np.arange(len(X)), rows, assume_unique=True)
        squared += ((Z[rows] - _predicted(X[rest], Z[rest], X[rows])) ** 2).sum(axis=0)
    return np.asarray(1 - squared / ((Z - Z.mean(axis=0)) ** 2).sum(axis=0))


def thresholded(X: Floats, Z: Floats) -> Floats:
    """In-sample R² where it exceeds what one in 10⁴ unrelated targets does, zero elsewhere."""
    n, N = X.shape
    raw = in_sample(X, Z)
    return np.where(raw > beta_cut(N, n, 1e-4), raw, 0.0)


def r2_above_shifted(X: Floats, Z: Floats) -> tuple[Floats, float]:
    """In-sample R² above that of inputs shifted out of reach, which is returned too.

    Ezekiel's correction removes the chance level of the shifted inputs. Rows are consecutive: the
    sums Σ_t Q_t z_{t+s} of all circular shifts s come from one Fourier transform.
    """
    n, lags = Z.shape
    Q, z = np.linalg.qr(X - X.mean(axis=0))[0], Z[:, 0] - Z[:, 0].mean()
    transform = np.fft.rfft(z)
    energy = np.zeros(n)
    for column in Q.T:  # one at a time: memory stays that of the states
        energy += np.fft.irfft(np.conj(np.fft.rfft(column)) * transform, n) ** 2
    shifted = energy / float(z @ z)
    far = shifted[2 * lags : n - 2 * lags] if n > 6 * lags else shifted[lags : n - lags]
    null = float(far.mean()) if len(far) else float(Q.shape[1] / n)
    return 1 - (1 - in_sample(X, Z)) / (1 - null), null


def _predicted(X: Floats, Z: Floats, new: Floats) -> Floats:
    """Least-squares prediction of Z for new states."""
    mean, offset = X.mean(axis=0), Z.mean(axis=0)
    weights = np.linalg.lstsq(X - mean, Z - offset, rcond=None)[0]
    return np.asarray((new - mean) @ weights + offset)


ESTIMATORS: dict[str, Callable[[Floats, Floats], Floats]] = {
    function.__name__: function for function in (in_sample, ezekiel, split, k_fold, thresholded)
}


def estimated(recording: Source, lags: int, start: int, estimator: str) -> MemoryCurve:
    """The curve of one estimator; the recording is loaded whole."""
    Z, X = lagged(recording, lags, start, recording.length)
    valid = present(Z, X)
    Z, X = Z[valid], X[valid]
    require_rows(*X.shape)
    channels = ESTIMATORS[estimator](X, Z).reshape(lags, -1)
    values = channels.sum(axis=1)
    return MemoryCurve(
        lags=np.arange(lags),
        values=values,
        error=np.full(lags, np.nan),
        loss=channels.shape[1] - values,
        total=float(values.sum()),
        rank=None,
        channels=channels,
        method=f"data: {estimator}",
        notes=(note(estimator), note("no_error")),
        options={"estimator": estimator},
        diagnostics={"rows": len(X), "states": X.shape[1]},
    )
