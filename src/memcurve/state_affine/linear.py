"""Words of a linear network: delayed inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.memory import MemoryCurve
from memcurve.state_affine.tree import Word

#: What all lags that are not listed may have together to be taken for nothing; it is part of the
#: error. Doubled: errors twice as large.
NO_MEMORY = 1e-11


class LinearWords:
    """Capacities of (0, …, 0, 1) from a memory curve; ``rest`` is that of lags not listed."""

    def __init__(self, curve: MemoryCurve) -> None:
        self.curve = curve
        self.rest = max(curve.total - float(curve.values.sum()), 0.0)
        self._order = np.argsort(-curve.values, kind="stable")

    def capacity(self, word: Word) -> float:
        """Of one word: a product of two inputs has none."""
        lag = len(word) - 1
        if any(word[:-1]) or word[-1] != 1:
            return 0.0
        if lag < len(self.curve):
            return float(self.curve.values[lag])
        if self.rest > NO_MEMORY:
            raise UncertainResultError(
                f"the curve has {len(self.curve)} lags, and lag {lag} is not among them; give "
                f"`lags` of at least {lag + 1}."
            )
        return 0.0

    def first(self, count: int) -> Sequence[tuple[Word, float]]:
        """The largest ones."""
        values = self.curve.values
        chosen = [int(lag) for lag in self._order[:count] if values[lag] > 0]
        return [((0,) * lag + (1,), float(values[lag])) for lag in chosen]

    def above(self, level: float) -> Sequence[tuple[Word, float]]:
        """All words with at least this capacity."""
        if self.rest >= level:
            raise UncertainResultError("`above` is below what lies beyond the lags; give `lags`.")
        return self.first(int((self.curve.values >= level).sum()))
