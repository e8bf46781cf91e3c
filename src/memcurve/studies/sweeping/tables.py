"""The rows of a sweep as columns, with means over seeds and by axis."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from memcurve.core.notes import Note, NoteTexts, counted
from memcurve.studies.sweeping.cases import QUANTITIES, label, number_of_states
from memcurve.studies.sweeping.store import TEXTS, CaseResult
from memcurve.studies.sweeping.studies import AXES, Study

#: Totals that differ by less count as equal. Doubled: hardly a change.
SAME = 1e-6
_note = NoteTexts(TEXTS["notes"])
#: Values of fields that a case leaves out.
DEFAULTS = {"noise": 0.0, "input": "white", "inputs": 1, "mask": "own"}
STATISTICS = ("mean", "sd", "min", "max")


class CaseTable:
    """Rows of a sweep."""

    rows: Sequence[CaseResult]
    study: Study

    def __init__(self, rows: Sequence[CaseResult], study: Study) -> None:
        self.rows, self.study = rows, study

    @cached_property
    def finished(self) -> CaseTable:
        """The rows that are done."""
        return CaseTable([row for row in self.rows if row.status == "done"], self.study)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many cases are done, failed and pending."""
        counts = Counter(row.status for row in self.rows)
        return {status: counts[status] for status in ("done", "failed", "pending")}

    @cached_property
    def quantities(self) -> tuple[str, ...]:
        """What was kept, in the order of the documentation."""
        return tuple(name for name in QUANTITIES if name in self.study.keep)

    @property
    def axes(self) -> tuple[str, ...]:
        """What varies between the cases."""
        return self.study.varied

    def columns(self) -> Mapping[str, list[Any]]:
        """All rows as columns of equal length: the case, its values, status, error and time.

        None stands for what a case leaves at its default, and for what is not known.
        """
        return self._columns

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        cases = [_labelled(row.case) for row in self.rows]
        table: dict[str, list[Any]] = {}
        for axis in AXES:
            column = [case.get(axis) for case in cases]
            if axis in self.axes or any(value is not None for value in column):
                table[axis] = aligned(axis, column)
        for name in self.quantities:
            table[name] = [(row.values or {}).get(name) for row in self.rows]
        for name in ("status", "error", "seconds", "run", "memcurve_version", "key"):
            table[name] = [getattr(row, name) for row in self.rows]
        return table

    @cached_property
    def _groups(self) -> dict[tuple[str, ...], dict[tuple[Any, ...], list[int]]]:
        return {}

    def groups(self, *axes: str) -> Mapping[tuple[Any, ...], list[int]]:
        """Where each combination of values of the axes stands among the rows."""
        if axes not in self._groups:
            groups = self._groups[axes] = {}
            for index in range(len(self.rows)):
                values = tuple(self._columns[axis][index] for axis in axes)
                groups.setdefault(values, []).append(index)
        return self._groups[axes]

    def values(self, axis: str) -> list[Any]:
        """What an axis takes, numbers in order and words as they come."""
        values = list(dict.fromkeys(self._columns[axis]))
        return sorted(values) if is_numeric(values) else values

    def spread(self, quantity: str, **at: Any) -> dict[str, float]:
        """Mean, standard deviation, least and greatest there; NaN where that is not known."""
        column, indices = self._columns[quantity], self.groups(*at).get(tuple(at.values()), [])
        spread = _spread([column[k] for k in indices if column[k] is not None])
        return {name: math.nan if value is None else value for name, value in spread.items()}

    def counts_states(self, quantity: str) -> bool:
        """Whether every case has as much of a quantity as states."""
        states = [number_of_states(row.case) for row in self.rows]
        return QUANTITIES[quantity].counts_states and all(
            v is not None and abs(v - n) <= SAME * n
            for v, n in zip(self._columns[quantity], states, strict=True)
        )

    def summary(self, quantities: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Count, mean, standard deviation, minimum and maximum over the seeds.

        Returns
        -------
        list of dict
            One per quantity and combination of all axes but the seed, in the study's order, with
            the number of failed cases, and of those that finished without a value (``unknown``).
            ``pandas.DataFrame(sweep.summary())`` makes a table of them.
        """
        axes = [axis for axis in self.axes if axis != "seed"]
        summary = []
        for name in self.quantities if quantities is None else quantities:
            if name not in self.quantities:
                listed = ", ".join(self.quantities)
                raise ValueError(f"`quantities` must be among {listed}; got {name!r}.")
            for group, indices in self.groups(*axes).items():
                column = [self._columns[name][k] for k in indices]
                numbers = [number for number in column if number is not None]
                status = Counter(self.rows[k].status for k in indices)
                entry: dict[str, Any] = {"quantity": name, **dict(zip(axes, group, strict=True))}
                entry |= {"count": len(numbers), "unknown": status["done"] - len(numbers)}
                summary.append(entry | {"failed": status["failed"]} | _spread(numbers))
        return summary

    def cells(self, limit: int | None = None) -> list[tuple[str, ...]]:
        """The summary as text, header first; at most ``limit`` rows, from both ends."""
        entries = self.summary()
        axes = [axis for axis in self.axes if axis != "seed"]
        words = {axis: texts(entry[axis] for entry in entries) for axis in axes}
        failed = ["failed"] if any(entry["failed"] for entry in entries) else []
        table = [(*axes, "count", *failed, *self.quantities)]
        groups = len(entries) // max(1, len(self.quantities))
        for group in (entries[k::groups] for k in range(groups)):
            first = group[0]
            counts = [first["count"] + first["unknown"], *([first["failed"]] if failed else [])]
            values = (words[axis][first[axis]] for axis in axes)
            table.append((*values, *map(str, counts), *map(_mean_and_deviation, group)))
        if limit is None or len(table) <= limit + 1:
            return table
        gap = (f"… {len(table) - 1 - limit:,} more", *[""] * (len(table[0]) - 1))
        return [*table[: 1 + limit // 2], gap, *table[len(table) - limit // 2 :]]

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Caveats to read before quoting the numbers: failures, gaps, differing versions."""
        notes = []
        if count := self.counts["failed"]:
            errors = Counter(row.error for row in self.rows if row.status == "failed")
            [(error, times)] = errors.most_common(1)
            others = TEXTS["words"]["other_errors"].format(count=len(errors) - 1)
            others *= len(errors) > 1
            facts = {"times": times, "error": error, "others": others}
            notes.append(_note("failed", cases=counted(count, "case"), **facts))
        if count := self.counts["pending"]:
            notes.append(_note("pending", count=count))
        for name in self.quantities:
            entries = self.summary([name])
            unknown, count = (sum(entry[n] for entry in entries) for n in ("unknown", "count"))
            facts = {"name": name, "unknown": unknown, "finished": unknown + count}
            if unknown and name.startswith("horizon"):
                notes.append(_note("lags", **facts))
            elif any(entry["unknown"] and entry["count"] for entry in entries):
                notes.append(_note("unknown", **facts))
        by = Counter(row.memcurve_version for row in self.rows if row.status != "pending")
        if len(by) > 1:
            parts = (f"{v or 'not known'} ({counted(count, 'case')})" for v, count in by.items())
            notes.append(_note("versions", versions=", ".join(parts)))
        return tuple(notes)


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether all values are numbers, so that they have an order and a place on an axis."""
    return all(isinstance(value, int | float) for value in values)


def number_text(value: float) -> str:
    """A number in six digits, or in as many as it takes to read it back."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def texts(values: Iterable[Any]) -> dict[Any, str]:
    """Each value as text."""
    named = {v: number_text(v) if isinstance(v, float) else str(v) for v in values}
    return named | ({None: "—"} if None in named else {})


def _labelled(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a case, ensemble and method with their options."""
    names = (("ensemble", "ensemble_options"), ("method", "options"))
    labels = {
        name: label(case[name], case.get(options, {})) for name, options in names if name in case
    }
    return {**case, **labels}


def aligned(axis: str, column: Sequence[Any]) -> list[Any]:
    """A column of one type, with defaults for None: all text if any entry is text."""
    filled: list[Any] = [DEFAULTS.get(axis) if v is None else v for v in column]
    if any(isinstance(value, str) for value in filled):
        return [v if v is None or isinstance(v, str) else number_text(v) for v in filled]
    return filled


def _spread(numbers: Sequence[float]) -> dict[str, float | None]:
    """Mean, standard deviation (of a sample), least and greatest."""
    if not numbers:
        return dict.fromkeys(STATISTICS)
    low, high = min(numbers), max(numbers)
    mean = low if low == high else statistics.fmean(numbers)  # without the rounding of a mean
    deviation = statistics.stdev(numbers, mean) if len(numbers) > 1 else None
    return {"mean": float(mean), "sd": deviation, "min": low, "max": high}


def _mean_and_deviation(entry: dict[str, Any]) -> str:
    mean, deviation, count = entry["mean"], entry["sd"], entry["count"]
    if mean is None:
        return "—"
    is_seen = deviation is not None and deviation > 1e-4 * abs(mean)
    spread = f" ± {deviation:.2g}" if is_seen else ""
    of = f" ({count} of {count + entry['unknown']})" if entry["unknown"] else ""
    return f"{mean:.4g}{spread}{of}"
