"""Means over seeds, as numbers and as the cells of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memcurve.sweeping.columns import texts

if TYPE_CHECKING:
    from memcurve.sweeping.results import Sweep


def summary(sweep: Sweep, quantities: Sequence[str]) -> list[dict[str, Any]]:
    """One entry a quantity and combination of all axes but the seed, in the study's order."""
    table = sweep.columns()
    for name in quantities:
        if name not in sweep.quantities:
            raise ValueError(
                f"`quantities` must be among those kept, {', '.join(sweep.quantities)}; got "
                f"{name!r}."
            )
    found = []
    for name in quantities:
        for group, places in groups(sweep, table).items():
            numbers = [table[name][k] for k in places if table[name][k] is not None]
            failed = sum(table["status"][k] == "failed" for k in places)
            unknown = sum(table["status"][k] == "done" for k in places) - len(numbers)
            entry: dict[str, Any] = {"quantity": name, **dict(group), "count": len(numbers)}
            found.append(entry | {"unknown": unknown, "failed": failed} | spread(numbers))
    return found


def groups(
    sweep: Sweep, table: dict[str, list[Any]], apart: Sequence[str] = ("seed",)
) -> dict[tuple[tuple[str, Any], ...], list[int]]:
    """The places of the rows that differ in the axes ``apart`` alone."""
    axes = [axis for axis in sweep.axes if axis not in apart]
    found: dict[tuple[tuple[str, Any], ...], list[int]] = {}
    for k in range(len(sweep.rows)):
        found.setdefault(tuple((axis, table[axis][k]) for axis in axes), []).append(k)
    return found


def spread(numbers: Sequence[float]) -> dict[str, float | None]:
    """Mean, standard deviation (of a sample), least and greatest."""
    if not numbers:
        return dict.fromkeys(("mean", "sd", "min", "max"))
    if len(numbers) > 1 and min(numbers) == max(numbers):  # without the rounding of a mean
        return {"mean": numbers[0], "sd": 0.0, "min": numbers[0], "max": numbers[0]}
    mean = math.fsum(numbers) / len(numbers)
    squares = math.fsum((number - mean) ** 2 for number in numbers)
    deviation = math.sqrt(squares / (len(numbers) - 1)) if len(numbers) > 1 else None
    return {"mean": mean, "sd": deviation, "min": min(numbers), "max": max(numbers)}


def cells(sweep: Sweep, most: int | None = None) -> list[tuple[str, ...]]:
    """The summary as text, its head first; with ``most`` the middle is left out.

    One quantity is shown with mean, deviation, least and greatest; several as mean ± deviation.
    """
    entries = sweep.summary()
    axes = [axis for axis in sweep.axes if axis != "seed"]
    failed = ["failed"] if any(entry["failed"] for entry in entries) else []
    grouped: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for entry in entries:
        place = tuple(entry.get(axis) for axis in axes)
        grouped.setdefault(place, {})[entry["quantity"]] = entry
    words = [texts(entry.get(axis) for entry in entries) for axis in axes]
    one = sweep.quantities[0] if len(sweep.quantities) == 1 else None
    tail = [f"mean {one}", "sd", "min", "max"] if one else list(sweep.quantities)
    table = [(*axes, "count", *failed, *tail)]
    for place, found in grouped.items():
        first = next(iter(found.values()))
        finished = first["count"] + first["unknown"]
        partly = one and first["unknown"]
        counts = [f"{first['count']} of {finished}" if partly else str(finished)]
        counts += [str(first["failed"])] if failed else []
        if one:
            numbers = [_text(first[head]) for head in ("mean", "sd", "min", "max")]
        else:
            numbers = [_mean_and_deviation(found[name]) for name in sweep.quantities]
        labels = [text[value] for text, value in zip(words, place, strict=True)]
        table.append((*labels, *counts, *numbers))
    if most is None or len(table) <= most + 1:
        return table
    gap = (f"… {len(table) - 1 - most:,} more", *[""] * (len(table[0]) - 1))
    return [*table[: 1 + most // 2], gap, *table[len(table) - most // 2 :]]


def _mean_and_deviation(entry: dict[str, Any]) -> str:
    if entry["mean"] is None:
        return "—"
    seen = entry["sd"] is not None and entry["sd"] > 1e-4 * abs(entry["mean"])
    spread = f" ± {entry['sd']:.2g}" if seen else ""
    known = (
        f" ({entry['count']} of {entry['count'] + entry['unknown']})" if entry["unknown"] else ""
    )
    return f"{entry['mean']:.4g}{spread}{known}"


def _text(value: Any) -> str:
    if value is None:
        return "—"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
