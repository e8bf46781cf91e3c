"""Answer: numbers with their errors, notes to read before quoting them, how many lags."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.notes import Note
from memcurve.core.types import EPS, Floats

#: Memory, summed over all later lags, that the lags chosen by default may leave out. Doubled: some
#: three lags in a hundred fewer.
NEGLIGIBLE_MEMORY = 1e-12
#: No more lags than this are chosen by default, however close the poles are to the unit circle.
#: Doubled: such curves take twice the time and memory.
MOST_DEFAULT_LAGS = 100_000
#: Numbers of an answer that have an entry for every noise level.
BY_LEVEL = (
    "memory", "memory_error", "forecast", "forecast_error", "total", "total_error",
    "total_forecast", "total_forecast_error",
)  # fmt: skip


@dataclass(eq=False)
class Answer:
    """Numbers for every noise level: memory (levels, lags, inputs), forecasts (…, horizons, …).

    With bounds on their errors; totals (levels,) are over all lags and horizons. ``loss`` is
    1 − memory where it is known to more digits, ``rank`` that of what is read, ``bands`` quantiles
    (lags, 2) of methods that average. Where errors are not ``bounded``, notes say what there is.
    """

    memory: Floats
    memory_error: Floats
    forecast: Floats
    forecast_error: Floats
    total: Floats
    total_error: Floats
    total_forecast: Floats
    total_forecast_error: Floats
    loss: Floats | None = None
    rank: int | None = None
    notes: list[Note] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    bands: Floats | None = None
    bounded: bool = True

    @classmethod
    def of_memory(
        cls, memory: Floats, error: Floats, total: Any, total_error: Any, loss: Floats | None = None
    ) -> Answer:
        """One noise level and no forecasts; ``memory`` has shape (lags, inputs)."""
        none = np.zeros(1)
        ahead = np.zeros((1, 0, memory.shape[1]))
        return cls(
            memory[None], error[None], ahead, ahead, np.array([float(total)]),
            np.array([float(total_error)]), none, none, None if loss is None else loss[None],
        )  # fmt: skip

    @classmethod
    def nothing(cls, levels: int, lags: int, horizons: int, inputs: int) -> Answer:
        """No memory at all, for certain; the rank is zero."""
        memory, ahead = np.zeros((levels, lags, inputs)), np.zeros((levels, horizons, inputs))
        none = np.zeros(levels)
        return cls(memory, memory, ahead, ahead, none, none, none, none, rank=0)

    @classmethod
    def stacked(cls, answers: list[Answer]) -> Answer:
        """Several levels as one."""
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(one, name) for one in answers]) for name in BY_LEVEL
        }
        return cls(**joined)

    @property
    def largest_error(self) -> Floats:
        """The largest error of each level; totals relative to their size."""
        total = self.total_error / np.maximum(1.0, self.total)
        ahead = self.total_forecast_error / np.maximum(1.0, self.total_forecast)
        memory = self.memory_error.max(axis=(1, 2))
        forecast = self.forecast_error.max(axis=(1, 2), initial=0.0)
        return np.asarray(np.max([memory, forecast, total, ahead], axis=0))

    def shared(self, shares: Floats) -> Answer:
        """The answer for (d,) inputs, each of which is a share of one of these; shares (·, d)."""
        rounding = 4 * EPS
        return replace(
            self,
            memory=self.memory @ shares,
            memory_error=(self.memory_error + rounding * self.memory) @ shares,
            forecast=self.forecast @ shares,
            forecast_error=(self.forecast_error + rounding * self.forecast) @ shares,
            loss=None,
        )

    def better_of(self, other: Answer) -> Answer:
        """Level by level, the answer with the smaller largest error."""
        mine = self.largest_error <= other.largest_error
        if mine.all():
            return self
        chosen = {}
        for name in (*BY_LEVEL, "loss"):
            values, rival = getattr(self, name), getattr(other, name)
            if values is not None and rival is not None:
                chosen[name] = np.where(mine.reshape(-1, *[1] * (values.ndim - 1)), values, rival)
        return Answer(**chosen)

    def put(self, levels: NDArray[np.bool_], other: Answer) -> None:
        """Take some noise levels from another answer."""
        for name in BY_LEVEL:
            values = getattr(self, name).copy()
            values[levels] = getattr(other, name)
            setattr(self, name, values)

    @staticmethod
    def error_of_sum(parts: Floats, errors: Floats) -> Floats:
        """Errors of sums over inputs, the last axis, as they are rounded."""
        rounding = EPS * (parts.shape[-1] - 1)
        return np.asarray((errors + rounding / 2 * np.abs(parts)).sum(axis=-1) * (1 + 2 * rounding))


class Lags:
    """How many lags to list, found as memory is computed block by block.

    A mode of time constant T adds about 1/T to each of T lags: the memory beyond lag m is less than
    m·MC_m once that is small. Time constants beyond 1e12 escape this, so that lags go on while a
    share ``visible`` of the ``total`` over all lags, of one curve or several, is missing. ``count``
    is the number of lags: what is ``asked`` for, or None until it is known.
    """

    def __init__(self, asked: int | None, total: Any, *, visible: float = 1e-9) -> None:
        self.count, self._total, self._visible = asked, total, visible
        self._seen, self._held = 0, np.zeros(np.shape(total))

    def enough(self, block: Floats) -> bool:
        """Add the memory of the next lags (..., m) of all curves; whether no more are needed."""
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
