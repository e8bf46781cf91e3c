"""Lag windows w(x), x = k/(M + 1): both have non-negative Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def bartlett(x: Floats) -> Floats:
    """w(x) = 1 − x."""
    return 1 - x


def parzen(x: Floats) -> Floats:
    """w(x) = 1 − 6x² + 6x³ up to ½, 2(1 − x)³ beyond."""
    return np.where(x <= 0.5, 1 - 6 * x**2 * (1 - x), 2 * (1 - x) ** 3)


TAPERS: dict[str, Callable[[Floats], Floats]] = {"bartlett": bartlett, "parzen": parzen}


def tapered(gamma: Floats, taper: str) -> Floats:
    """Return γ(k) w(k/(M + 1)), k = 0 … M."""
    return gamma * TAPERS[taper](np.arange(len(gamma)) / len(gamma))
