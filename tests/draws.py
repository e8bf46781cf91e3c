"""How many draws a test takes, few in every run and many in slow ones; what is drawn, scaled."""

from typing import Any

import numpy as np
import pytest


def seeds(few: int, many: int) -> list[Any]:
    """Seeds 0 … ``few`` − 1 for every run, and the others up to ``many`` − 1 for slow ones."""
    return [*range(few), *(pytest.param(k, marks=pytest.mark.slow) for k in range(few, many))]


def of_radius(A: np.ndarray, radius: float = 0.9) -> np.ndarray:
    """A matrix of this spectral radius."""
    return A * (radius / np.abs(np.linalg.eigvals(A)).max())


def drawn_poles(rng: np.random.Generator, count: int, radius: float) -> np.ndarray:
    """Poles of a real network: pairs within the radius, a third as many on the real line."""
    upper = np.sqrt(rng.random(count)) * radius * np.exp(1j * rng.uniform(0, np.pi, count))
    real = rng.uniform(-radius, radius, count // 3)
    return np.concatenate([upper, upper.conj(), real]).astype(complex)


def normal_stack(count: int, size: int, seed: int = 0, radius: float = 0.9) -> np.ndarray:
    """So many matrices of normal numbers, all of this spectral radius."""
    A = np.random.default_rng(seed).standard_normal((count, size, size))
    return np.array([of_radius(each, radius) for each in A]).reshape(A.shape)


#: Nodes in units of 10⁸, 1 and 10⁻⁸.
UNITS = np.array([1e8, 1.0, 1e-8])
BADLY_SCALED = (
    np.multiply.outer(UNITS, 1 / UNITS)
    * [[0.2, -0.4, -0.1], [-0.6, -0.4, -0.5], [-0.1, -0.4, 0.1]],
    UNITS,
)
