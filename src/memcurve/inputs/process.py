"""InputProcess: the interface of stationary inputs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from memcurve.core.arguments import Seed, exact_array, generator, require_size
from memcurve.core.limits import require_room, require_room_for_array
from memcurve.core.types import Floats

#: What a ball takes in FLINT, which ends the process where it finds no memory.
BYTES_PER_LAG = 250


class InputProcess(ABC):
    """A weakly stationary real process of mean zero, known by its autocovariance γ.

    A new kind of input is a subclass that fills in the abstract parts; arguments have been
    checked before they reach them.

    Examples
    --------
    >>> from memcurve import inputs
    >>> process = inputs.ARMA(ar=[0.5])
    >>> process.is_white, process.simulate(3, seed=1).shape
    (False, (3,))
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """A short label for tables and plots."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """γ(0)."""

    @property
    @abstractmethod
    def finite_lags(self) -> int | None:
        """The M from which on γ(k) = 0 exactly, k > M; None where no such M is known."""

    @property
    def is_white(self) -> bool:
        """Whether γ(k) = 0 exactly for all k > 0."""
        return self.finite_lags == 0

    def autocovariance(self, count: int) -> Floats:
        """Return γ(0), …, γ(count − 1)."""
        count = require_size(count, "count")
        require_room(BYTES_PER_LAG * count, f"`count`={count}", "Ask for fewer lags.")
        return self._autocovariance(count)

    @abstractmethod
    def density_bounds(self) -> tuple[float, float]:
        """The minimum and the maximum of f(ω) = Σ_k γ(k) e^{−ikω} over all ω, rounded outward."""

    def simulate(self, count: int, *, seed: Seed, channels: int | None = None) -> Floats:
        """Draw independent Gaussian series with this autocovariance, stationary from the start.

        An array (count, channels), or (count,) where ``channels`` is None.
        """
        count = require_size(count, "count")
        columns = 1 if channels is None else require_size(channels, "channels")
        require_room_for_array((count, columns), f"`count`={count}")
        series = self._draw(count, columns, generator(seed))
        return series[:, 0] if channels is None else series

    @abstractmethod
    def _autocovariance(self, count: int) -> Floats:
        """γ(0), …, γ(count − 1) as a new array."""

    @abstractmethod
    def _draw(self, count: int, channels: int, rng: np.random.Generator) -> Floats:
        """Draw a (count, channels) array, one series per column."""


def real_vector(value: Any, argument: str, least: int = 0) -> Floats:
    """Return ``value`` as a new read-only (n,) float64 array with n ≥ ``least``."""
    vector = exact_array(value, argument)
    if vector.dtype.kind == "c":
        raise TypeError(f"`{argument}` must be real, got complex numbers; pass the real part.")
    if vector.ndim != 1:
        raise ValueError(
            f"`{argument}` must be a one-dimensional sequence of numbers, got shape "
            f"{vector.shape}; a single number goes in brackets, a column through .ravel()."
        )
    if len(vector) < least:
        raise ValueError(
            f"`{argument}` must have at least {least} value{'s' * (least > 1)}, "
            f"got {len(vector)}; give more."
        )
    return frozen(vector)


def frozen(array: Floats) -> Floats:
    """Return ``array``, made read-only."""
    array.flags.writeable = False
    return array
