"""Finished cases by the values of their axes, for pictures and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memcurve.sweeping.summary import spread

if TYPE_CHECKING:
    from memcurve.sweeping.results import Sweep


class FinishedRows:
    """The rows that are done; each question about some axes goes through them once."""

    def __init__(self, sweep: Sweep) -> None:
        self.sweep = sweep
        self.rows = [row for row in sweep.rows if row.status == "done"]
        columns = sweep.columns()
        done = [k for k, status in enumerate(columns["status"]) if status == "done"]
        self.columns = {name: [column[k] for k in done] for name, column in columns.items()}
        self._places: dict[tuple[str, ...], dict[tuple[Any, ...], list[int]]] = {}

    def values(self, axis: str) -> list[Any]:
        """What an axis takes, numbers in order and words as they come."""
        found = list(dict.fromkeys(self.columns[axis]))
        return sorted(found) if is_numeric(found) else found

    def places(self, **at: Any) -> list[int]:
        """Where the axes have these values."""
        axes = tuple(at)
        if axes not in self._places:
            found: dict[tuple[Any, ...], list[int]] = {}
            for k in range(len(self.rows)):
                found.setdefault(tuple(self.columns[axis][k] for axis in axes), []).append(k)
            self._places[axes] = found
        return self._places[axes].get(tuple(at.values()), [])

    def numbers(self, quantity: str, **at: Any) -> list[float]:
        """What is known of a quantity there."""
        column = self.columns[quantity]
        return [column[k] for k in self.places(**at) if column[k] is not None]

    def spread(self, quantity: str, **at: Any) -> dict[str, float]:
        """Mean, deviation, least and greatest; NaN where nothing is known."""
        found = spread(self.numbers(quantity, **at))
        return {name: math.nan if value is None else value for name, value in found.items()}

    def means(self, axis: str, quantity: str, **at: Any) -> dict[Any, float]:
        """Means by the values of an axis, where anything is known."""
        found = {v: self.spread(quantity, **at, **{axis: v})["mean"] for v in self.values(axis)}
        return {value: mean for value, mean in found.items() if not math.isnan(mean)}


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether all values are numbers, so that they have an order and a place on an axis."""
    return all(isinstance(value, int | float) for value in values)
