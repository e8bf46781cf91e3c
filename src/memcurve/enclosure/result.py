"""Enclosure: what is known for certain, as float64 numbers with proven radii."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Memory and forecasting capacity with proven errors.

    Attributes
    ----------
    memory, memory_error : (lags, d) arrays
        MC_τ,j of input j at lag τ = 0, 1, …, and how far it may be from the truth.
    forecast, forecast_error : (horizons, d) arrays
        FC_h,j at horizon h = 1, 2, ….
    total, total_error : float
        Sum of the memory over all inputs and all lags τ ≥ 0, not only those listed.
    total_forecast, total_forecast_error : float
        Sum of the forecasting capacity over all inputs and all h ≥ 1.
    rank : int
        Dimension of what the input excites of the states that are read. A full rank is proven, a
        deficient one holds unless a non-zero integer is divisible by two given 62-bit primes;
        with less than full rank the other numbers share that proviso.
    bits : int
        Precision that was needed.
    """

    memory: Floats
    memory_error: Floats
    forecast: Floats
    forecast_error: Floats
    total: float
    total_error: float
    total_forecast: float
    total_forecast_error: float
    rank: int
    bits: int


def rounded(balls: Sequence[Any], most: float = np.inf) -> tuple[Floats, Floats]:
    """Midpoints of the balls, clipped to [0, most], and upper bounds on the distance to them."""
    values = np.clip([float(ball.mid()) for ball in balls], 0.0, most)
    pairs = zip(balls, values.tolist(), strict=True)
    bounds = [(ball - value).abs_upper() for ball, value in pairs]
    # only a difference that is exactly zero needs no room for the rounding of its bound
    error = [0.0 if bound == 0 else np.nextafter(float(bound), np.inf) for bound in bounds]
    return values, np.array(error)
