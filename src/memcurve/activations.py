"""Activations of nonlinear networks, and their slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Activation = Callable[[Any], Any]

#: Step of the five-point derivative, which balances its error h⁴ against rounding eps/h.
DERIVATIVE_STEP = float(np.finfo(float).eps ** 0.2)
#: Slopes on the two sides of a point that differ by more, relative to one, make a kink.
KINK = 1e-7

ACTIVATIONS: dict[str, Activation] = {
    "tanh": np.tanh,
    "identity": lambda field: field,
    "relu": lambda field: np.maximum(field, 0),
}
_SLOPES: dict[str, Activation] = {
    "tanh": lambda field: 1 - np.tanh(field) ** 2,
    "identity": np.ones_like,
    "relu": lambda field: np.where(field == 0, np.nan, field > 0),
}


def require_activation(function: Activation, size: int) -> None:
    """Raise unless ``function`` maps an array of states to real numbers of the same shape."""
    given = np.zeros((2, size))
    with np.errstate(all="ignore"):  # what matters is told by the values
        values = np.asarray(function(given.copy()))
    real = values.dtype.kind in "biuf"
    if values.shape != given.shape or not real or not np.isfinite(values).all():
        raise ValueError(
            f"`activation` must map an array to finite real numbers of the same shape, got "
            f"{values!r} from zeros of shape {given.shape}."
        )


def slopes_of(activation: str | Activation, field: Floats) -> Floats:
    """f′ at every entry of ``field``, NaN at a kink; of a callable by five-point differences."""
    if isinstance(activation, str):
        return np.asarray(_SLOPES[activation](field), dtype=np.float64)
    h = DERIVATIVE_STEP * np.maximum(1, np.abs(field))
    points = np.stack([field - 2 * h, field - h, field, field + h, field + 2 * h])
    values = np.asarray(activation(points), dtype=np.float64)
    slopes = np.array([1, -8, 0, 8, -1]) @ values / (12 * h)
    # slopes on both sides differ by f″·h where f is smooth, so by half at half the step; at a kink
    # they differ as much at any step
    far = np.array([1, 0, -2, 0, 1]) @ values / (2 * h)
    near = np.array([0, 1, -2, 1, 0]) @ values / h
    return np.where(np.abs(far - 2 * near) > KINK * np.maximum(1, np.abs(slopes)), np.nan, slopes)
