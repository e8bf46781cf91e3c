"""What is said about a fit besides its curve: the profile, the singular values, the notes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memcurve.data.factor import Factor
from memcurve.data.inference import Inference
from memcurve.data.regression import Fit

Floats = NDArray[np.float64]

#: Noise floors of the profile, relative to each state's deviation.
PROFILE = tuple(float(x) for x in np.logspace(-15, 0, 31))
#: The total of a network with a long thin tail needs this many rows a state, any other 20.
ROWS_FOR_SLOW, ROWS_FOR_ANY = 60, 20
#: Memory of the last lag from which on later ones are worth asking for.
WORTH_MORE_LAGS = 1e-6


def singular_values(factor: Factor) -> Floats:
    """Of the standardised states, as deviations."""
    values = np.linalg.svd(factor.R[:, factor.lags :], compute_uv=False)
    return np.asarray(values / np.sqrt(factor.rows))


def profile(fit: Fit, found: Inference) -> list[float]:
    """Total against the noise floor: one decomposition serves all."""
    lags = slice(found.end + 1)
    U, sigma, _ = np.linalg.svd(fit.unwhiten)
    squares = (fit.response[lags] @ U) ** 2
    residual = np.diag(U.T @ fit.residual @ U)
    scale = fit.inflation / fit.freedom
    # what independent rows would give is known for every floor; the rest shrinks with the noise
    rest = found.bias[lags] - fit.unexplained * scale * (1 - fit.raw[lags])
    totals = []
    for floor in PROFILE:
        shares = sigma**2 / (sigma**2 + floor**2)
        raw, unexplained = squares @ shares, float(residual @ shares)
        left = unexplained / max(fit.unexplained, np.finfo(float).tiny)
        totals.append(float((raw - unexplained * scale * (1 - raw) - left * rest).sum()))
    return totals


def notes_on(factor: Factor, fit: Fit, found: Inference, level: float) -> list[str]:
    """What one should know before quoting the numbers."""
    N = factor.R.shape[1] - factor.lags
    total = float(found.memory[: found.end + 1].sum())
    notes = [
        f"estimated from {factor.rows} rows; errors are half the {level:.0%} intervals. Of the "
        f"{factor.lags} lags listed, the total is over 0 … {found.end}: no sum over later ones "
        f"stands out from noise"
    ]
    # a rectangle has its mean lag at half of its total, an exponential decay at the total
    mean_lag = float(found.memory[: found.end + 1] @ np.arange(found.end + 1)) / max(total, 1.0)
    if mean_lag > total and factor.rows < ROWS_FOR_SLOW * N:
        notes.append(
            f"a slow network: memory spread thin over {found.end + 1} lags. Its total needs "
            f"about {ROWS_FOR_SLOW} rows a state, and there are {factor.rows / N:.3g}; its "
            f"interval is too narrow"
        )
    elif factor.rows < ROWS_FOR_ANY * N:
        notes.append(
            f"{factor.rows / N:.3g} rows a state, below {ROWS_FOR_ANY}: intervals may be too narrow"
        )
    if found.last == factor.lags - 1 and found.memory[-1] > WORTH_MORE_LAGS:
        notes.append("memory is significant up to the last lag: ask for more `lags`")
    if fit.unexplained > 0.5:
        notes.append(
            f"noise-limited at {N - fit.unexplained:.3g}: {fit.unexplained:.3g} of {N} dimensions "
            f"of the states are not explained by the last {fit.length} inputs, but by noise, "
            f"nonlinearity, or older inputs"
        )
    return notes
