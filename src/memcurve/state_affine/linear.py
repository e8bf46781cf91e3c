"""Words of a network whose p is constant: functions of single delayed inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import Floats
from memcurve.memory import MemoryCurve
from memcurve.state_affine.tree import Word


class LinearWords:
    """Capacities of (0, …, 0, k) from a memory curve with an input for each degree k."""

    def __init__(self, curve: MemoryCurve, degrees: tuple[int, ...]) -> None:
        self.curve, self.degrees = curve, degrees
        pairs = [
            ((0,) * lag + (k,), float(curve.channels[lag, place]))
            for lag in range(len(curve))
            for place, k in enumerate(degrees)
        ]
        self.words = sorted((p for p in pairs if p[1] > 0), key=lambda pair: -pair[1])
        rest = curve.total - float(curve.values.sum())
        self._rest = max(rest, 0.0)

    def capacity(self, word: Word) -> float:
        """Of one word: a product of two inputs has none."""
        if any(word[:-1]) or word[-1] not in self.degrees:
            return 0.0
        lag = len(word) - 1
        if lag >= len(self.curve):
            if self._rest > 1e-9:
                raise UncertainResultError(
                    f"the curve has {len(self.curve)} lags, and lag {lag} is not among them; give "
                    f"`lags` of at least {lag + 1}."
                )
            return 0.0
        return float(self.curve.channels[lag, self.degrees.index(word[-1])])

    def first(self, count: int) -> Sequence[tuple[Word, float]]:
        """The largest ones."""
        return self.words[:count]

    def above(self, level: float) -> Sequence[tuple[Word, float]]:
        """All words with at least this capacity."""
        if self._rest >= level:
            raise UncertainResultError("`above` is below what lies beyond the lags; give `lags`.")
        return [pair for pair in self.words if pair[1] >= level]

    def by_degree(self, total: float) -> dict[int, float]:
        """Total degree → capacity."""
        if len(self.degrees) == 1:
            return {self.degrees[0]: total}
        sums = self.curve.channels.sum(axis=0)
        return dict(zip(self.degrees, sums.tolist(), strict=True))

    def by_delay(self) -> Floats:
        """Totals of what lies at least so many steps back."""
        return np.asarray(self.curve.total - np.append(0.0, np.cumsum(self.curve.values))[:-1])

    def table(self, lags: int = 40) -> Floats:
        """Totals (degrees, lags)."""
        found = np.zeros((max(self.degrees), min(lags, len(self.curve))))
        for place, k in enumerate(self.degrees):
            found[k - 1] = self.curve.channels[: found.shape[1], place]
        return found
