"""The map from white states ξ to the network's states x = Tξ, by a Stein equation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.spectrum.sensitivity import EPS
from memcurve.stein import stein

Floats = NDArray[np.float64]


class StateMap(NamedTuple):
    """An input-normal realization (A', C') and the map T from its states ξ to the network's."""

    A: Floats
    C: Floats
    T: Floats


def stein_state_map(A: Floats, C: Floats, realization: tuple[Floats, Floats]) -> StateMap:
    """T = E[x ξᵀ] = Σ_k A^k C C'ᵀ (A'^k)ᵀ for a realization of the network (A, C)."""
    A1, C1 = realization
    return StateMap(A1, C1, stein(A, C @ C1.T, A1))


def residuals(A: Floats, C: Floats, found: StateMap) -> tuple[float, float]:
    """‖AT − TA'‖_F and ‖C − TC'‖_F: how far the map is from one between the two systems."""
    dynamics = A @ found.T - found.T @ found.A
    entry = C - found.T @ found.C
    return float(np.sqrt((dynamics**2).sum())), float(np.sqrt((entry**2).sum()))


def map_error(A: Floats, C: Floats, found: StateMap, power_sum: float) -> float:
    """Bound on √E‖x − Tξ‖² for white input of unit variance.

    What is left, ε = x − Tξ, obeys ε_t = Aε_{t−1} + (AT − TA')ξ_{t−1} + (C − TC')z_t, and is at
    most Σ_k ‖A^k‖ times what enters at each step; ``power_sum`` bounds the former.
    """
    dynamics, entry = residuals(A, C, found)
    size = np.sqrt((found.T**2).sum())
    rounding = EPS * np.sqrt(len(A)) * (np.sqrt((A**2).sum()) + 2) * size
    return float(power_sum * (np.hypot(dynamics, entry) + rounding))
