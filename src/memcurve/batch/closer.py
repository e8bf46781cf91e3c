"""Networks of a stack that need a closer look: one by one, on the CPU, by memory_curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]


def closer_look(
    A: Floats, C: Floats, numbers: NDArray[np.intp], lags: int | None
) -> list[MemoryCurve]:
    """Exact curves of the networks (B, N, N) with the masks (B, N), whose numbers messages give."""
    return [_one(*given, lags) for given in zip(A, C, numbers.tolist(), strict=True)]


def _one(A: Floats, C: Floats, number: int, lags: int | None) -> MemoryCurve:
    try:
        return memory_curve(LinearNetwork(A, C), lags)
    except (UnstableNetworkError, UncertainResultError) as error:
        raise type(error)(f"network {number} of the stack: {error}") from error


def continued(curve: MemoryCurve, lags: int) -> tuple[Floats, Floats, Floats]:
    """Values, loss and error at so many lags, where the curve's own number was its choice.

    The curve never rises: what follows lies between zero and its last value, which is negligible.
    """
    missing = max(0, lags - len(curve))
    last = float(curve.values[-1] + curve.error[-1])
    return (
        np.concatenate([curve.values[:lags], np.zeros(missing)]),
        np.concatenate([curve.loss[:lags], np.ones(missing)]),
        np.concatenate([curve.error[:lags], np.full(missing, last)]),
    )
