"""The picture of a sweep, chosen from its axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve.memory import METHODS
from memcurve.rendering import plot
from memcurve.rendering.report.document import Chart, Series
from memcurve.studies.sweeping.cases import QUANTITIES, number_of_states
from memcurve.studies.sweeping.cases import label as label_of
from memcurve.studies.sweeping.store import TEXTS
from memcurve.studies.sweeping.tables import CaseTable, is_numeric, number_text, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Methods as audits call them, by their labels in tables.
_METHODS = {label_of(m.name, v.options): v.name for m in METHODS.values() for v in m.variants}
#: Numbers across, on a logarithmic axis, that are all named. Doubled: they run into each other.
_MOST_TICKS = 12
#: Colours and line styles at most. Doubled: some look the same.
_MOST_HUES = 14


@dataclass(frozen=True)
class Picture:
    """The layout of a plot: the x axis, axes shown by colour, the quantities, lines or bars."""

    x: str
    hues: tuple[str, ...]
    quantities: tuple[str, ...]
    is_lines: bool


def chosen_picture(table: CaseTable, quantity: str | None = None) -> Picture:
    """The picture that suits the axes: lines over numbers where there are any, else bars."""
    axes = [axis for axis in table.axes if axis not in ("seed", "lags")]
    numbers = [axis for axis in axes if is_numeric(table.columns()[axis])]
    numbers.sort(key=lambda axis: axis == "size")  # that memory grows with the size is no news
    words = [axis for axis in axes if axis not in numbers]
    x = next(iter(numbers + words), "seed")
    finished = table.finished

    def is_flat(name: str) -> bool:
        return finished.counts_states(name) or len({*finished.columns()[name]}) < 2

    bounded = [name for name in table.quantities if QUANTITIES[name].bounded]
    names = sorted(bounded or table.quantities, key=is_flat)
    # sizes before other numbers: a mean over them says nothing
    others = [axis for axis in (*words, *sorted(numbers, key=lambda a: a != "size")) if axis != x]
    quantities = (quantity,) if quantity else tuple(names[: 1 if others else 6])
    hues, count = list[str](), len(quantities)
    for axis in others:
        if count * math.prod(len(table.values(one)) for one in (*hues, axis)) <= _MOST_HUES:
            hues.append(axis)
    return Picture(x, tuple(hues), quantities, x in numbers)


def draw(sweep: CaseTable, quantity: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the rows of a sweep, see :meth:`memcurve.Sweep.plot`."""
    table = sweep.finished
    if quantity is not None and quantity not in table.quantities:
        quantities = ", ".join(table.quantities)
        raise ValueError(f"`quantity` must be one that was kept, {quantities}; got {quantity!r}.")
    picture = chosen_picture(sweep, quantity)
    if all(value is None for name in picture.quantities for value in table.columns()[name]):
        named = ", ".join(picture.quantities)
        raise ValueError(f"a finished case must have a {named} to draw it, and none has.")
    ax = plot.new_figure(8.6, 4.4).add_subplot() if ax is None else ax
    (_draw_lines if picture.is_lines else _draw_bars)(table, picture, ax)
    ax.set_title(table.study.title, fontsize=11, loc="left", pad=8)
    return ax


def _series(table: CaseTable, picture: Picture) -> list[tuple[str, str, dict[str, Any]]]:
    """Lines or bars: label, quantity and the axis values that its rows share."""
    series = []
    for values in itertools.product(*map(table.values, picture.hues)):
        at = dict(zip(picture.hues, values, strict=True))
        hue = ", ".join(_hue_label(axis, value) for axis, value in at.items())
        for quantity in picture.quantities:
            label = "" if hue and len(picture.quantities) == 1 else QUANTITIES[quantity].label
            series.append((": ".join(filter(None, (hue, label))), quantity, at))
    return series


def _spreads(table: CaseTable, quantity: str, at: dict[str, Any], x: str) -> list[Any]:
    """Means, least and greatest along the axis ``x``."""
    spreads = [table.spread(quantity, **at, **{x: value}) for value in table.values(x)]
    return [np.array([one[name] for one in spreads]) for name in ("mean", "min", "max")]


def _draw_lines(table: CaseTable, picture: Picture, ax: Axes) -> None:
    """Means over all cases that share a point, with bands from the least to the greatest."""
    across, lines = table.values(picture.x), list[Series]()
    for name, quantity, at in _series(table, picture):
        spreads = _spreads(table, quantity, at, picture.x)
        finite = np.isfinite(spreads[0])
        mean, low, high = (values[finite] for values in spreads)
        points = np.array(across, dtype=float)[finite]
        lines.append(Series(name, points, mean, low, high))
    above = [value for value in across if value > 0]
    log_x = _wants_log(above)
    plot.chart(Chart("", "", "", tuple(lines), log_x=log_x), ax=ax)
    _finish(table, picture, ax)
    if log_x and len(above) <= _MOST_TICKS:
        ax.set_xticks(above, [number_text(value) for value in above])
        ax.minorticks_off()
    if log_x and len(above) < len(across):
        ax.set_xlabel(f"{ax.get_xlabel()}; 0 is not shown")


def _draw_bars(table: CaseTable, picture: Picture, ax: Axes) -> None:
    """Groups of bars of means, with whiskers from the least to the greatest."""
    across, series = table.values(picture.x), _series(table, picture)
    width = 0.8 / len(series)
    style: Any = {"fmt": "none", "ecolor": "0.25", "elinewidth": 1, "capsize": 2, "zorder": 3}
    for k, (name, quantity, at) in enumerate(series):
        mean, low, high = _spreads(table, quantity, at, picture.x)
        positions = np.arange(len(across)) + (k - (len(series) - 1) / 2) * width
        colour = plot.COLOURS[k % len(plot.COLOURS)]
        ax.bar(positions, mean, 0.9 * width, color=colour, label=name, zorder=2)
        # equal numbers may differ in rounding
        ax.errorbar(positions, mean, np.maximum([mean - low, high - mean], 0.0), **style)
    labels = [text.replace("_", " ") for text in texts(across).values()]
    crowded = max(map(len, labels)) * len(labels) > 70
    turn: Any = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    ax.set_xticks(range(len(across)), labels, **turn)
    _finish(table, picture, ax)
    if not is_numeric(across):  # the words at the ticks say it
        ax.set_xlabel("")
    ax.grid(visible=False, axis="x")


def _finish(table: CaseTable, picture: Picture, ax: Axes) -> None:
    """Names, the number of states as a dashed line, and the legend beside the data."""
    quantities, x = picture.quantities, picture.x
    bounded = [QUANTITIES[quantity].bounded for quantity in quantities]
    if quantities == ("total",) and all(row.case.get("noise") for row in table.rows):
        name = "usable memory"
    elif len(quantities) == 1:
        name = QUANTITIES[quantities[0]].label
    else:
        name = "memory" if all(bounded) else "lags, or memory"
    ax.set(xlabel=TEXTS["axes"].get(x, x), ylabel=name)
    if ax.dataLim.y0 >= 0:
        ax.set_ylim(bottom=0)
    if any(bounded):
        _draw_bound(table, x, ax)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    _legend(table, picture, ax)


def _legend(table: CaseTable, picture: Picture, ax: Axes) -> None:
    """Beside the axes, where it cannot cover data; what is averaged and what is missing above."""
    columns, remarks = table.columns(), list[str]()
    shown = (picture.x, *picture.hues)
    rest = [axis for axis in table.axes if axis not in shown]
    over = [f"{len({*columns[axis]})} {TEXTS['plurals'].get(axis, f'{axis}s')}" for axis in rest]
    if over:
        remarks.append(f"mean and range of {' × '.join(over)}")
    for quantity in picture.quantities:  # a mean without them may mislead
        if count := columns[quantity].count(None):
            why = QUANTITIES[quantity].missing
            remarks.append(f"{count:,} of {len(table.rows):,} {why}, not drawn")
    if (above := ax.get_legend()) is not None:
        above.remove()
    if len(ax.get_legend_handles_labels()[0]) > 1 or remarks:
        legend = ax.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0, fontsize=9,
            title="\n".join(dict.fromkeys(remarks)) or None, title_fontsize=8, alignment="left",
        )  # fmt: skip
        legend.get_title().set_color("0.35")


def _draw_bound(table: CaseTable, x: str, ax: Axes) -> None:
    """The number of states, which memory of white input never exceeds."""
    cases = [row.case for row in table.rows]
    states = [number_of_states(case) for case in cases]
    if not cases or any(case.get("input") for case in cases):
        return  # under coloured input N is no bound
    style: Any = {"color": plot.COLOURS[6], "lw": 1, "ls": "--", "zorder": 1}
    if len({*states}) == 1:
        ax.axhline(states[0], label=f"N = {states[0]}", **style)
        ax.set_ylim(top=max(ax.get_ylim()[1], 1.06 * states[0]))
    elif x == "size":
        ends = [min(states), max(states)]
        ax.plot(ends, ends, label="N", **style)


def _wants_log(values: Sequence[float]) -> bool:
    """Whether numbers above 0 are spaced rather by factors than by steps."""
    if len(values) < 4 or values[-1] / values[0] < 30:
        return False
    steps = np.diff(np.asarray(values, dtype=float))
    return bool(steps.max() > 5 * steps.min())


def _hue_label(axis: str, value: Any) -> str:
    """A value of an axis shown by colour."""
    if axis == "method":
        return _METHODS.get(value, str(value))
    if isinstance(value, str):
        return value.replace("_", " ")
    name = {"spectral_radius": "ρ =", "size": "N ="}.get(axis, axis)
    return f"{name} {'default' if value is None else number_text(value)}"
