"""How many lags to list: those asked for, or enough to hold nearly all of the memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.core.types import Floats

#: Memory, summed over all later lags, that may lie beyond the lags chosen by default. Doubled: some
#: three lags in a hundred fewer.
NEGLIGIBLE_MEMORY = 1e-12
#: No more lags than this are chosen by default, however close the poles are to the unit circle.
#: Doubled: such curves take twice the time and memory.
MOST_DEFAULT_LAGS = 100_000


class Lags:
    """Counts lags as they are computed, block by block, until there are enough.

    A pole with time constant T adds about 1/T to each of T lags, so what lies beyond lag m is below
    m·MC_m once that is small. That cannot see time constants beyond 1e12, so nothing is enough
    while a visible share of the ``total`` over all lags is missing.

    ``count`` is the number of lags to list, once it is known; what is ``asked`` for, if anything.
    While a share ``visible`` of the ``total`` is missing, of one curve or of several, more are
    taken in any case.
    """

    def __init__(self, asked: int | None, total: Any, *, visible: float = 1e-9) -> None:
        self.count, self._total, self._visible = asked, total, visible
        self._seen, self._held = 0, np.zeros(np.shape(total))

    def enough(self, block: Floats) -> bool:
        """Take note of the next lags (..., m) of all curves; whether no more are needed."""
        if self.count is None:
            self.count = self._ending(block)
        self._seen += block.shape[-1]
        self._held = self._held + block.sum(axis=-1)
        if self.count is None and self._seen >= MOST_DEFAULT_LAGS:
            self.count = MOST_DEFAULT_LAGS
        return self.count is not None and self._seen >= self.count

    def _ending(self, block: Floats) -> int | None:
        missing = self._total - self._held - block.sum(axis=-1)
        if np.any(missing > self._visible * np.asarray(self._total)):
            return None
        lags = self._seen + 1 + np.arange(block.shape[-1])
        curves = (lags * block).reshape(-1, len(lags))
        large = np.flatnonzero(np.any(curves > NEGLIGIBLE_MEMORY, axis=0))
        enough = int(large[-1]) + 2 if len(large) else 1
        return self._seen + enough if enough <= len(lags) else None
