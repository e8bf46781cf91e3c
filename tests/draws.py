"""How many draws a test takes, few in every run and many in slow ones; what is drawn, scaled."""

from typing import Any

import numpy as np
import pytest


def seeds(few: int, many: int) -> list[Any]:
    """Seeds 0 … ``few`` − 1 for every run, and the others up to ``many`` − 1 for slow ones."""
    return [*range(few), *(pytest.param(k, marks=pytest.mark.slow) for k in range(few, many))]


def of_radius(A: np.ndarray, radius: float = 0.9) -> np.ndarray:
    """A matrix of this spectral radius."""
    scaled: np.ndarray = A * (radius / np.abs(np.linalg.eigvals(A)).max())
    return scaled
