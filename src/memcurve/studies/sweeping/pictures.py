"""The picture of a sweep, chosen from its axes or by the ``[picture]`` table of its study."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve.rendering import plot
from memcurve.rendering.report.document import Chart, Series
from memcurve.studies.sweeping.cases import QUANTITIES, number_of_states
from memcurve.studies.sweeping.studies import Picture
from memcurve.studies.sweeping.tables import CaseTable, is_numeric, number_text, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_AXIS_LABELS = {
    "size": "number of nodes N",
    "spectral_radius": "spectral radius ρ",
    "density": "density (share of non-zero weights)",
    "noise": "standard deviation of the noise (input of unit variance)",
    "inputs": "number of inputs",
    "lags": "number of lags",
}
_PLURALS = {
    "density": "densities", "spectral_radius": "radii", "lags": "lags", "inputs": "inputs",
    "noise": "noise levels", "leak": "leak rates",
}  # fmt: skip
#: Colours and line styles at most. Doubled: some look the same.
_MOST_HUES = 14


def chosen_picture(table: CaseTable) -> Picture:
    """The picture that the study asks for, with what it leaves open chosen from its axes."""
    asked = table.study.picture
    axes = [axis for axis in table.axes if axis != "seed"]
    numbers = [axis for axis in axes if is_numeric(table.columns()[axis])]
    numbers.sort(key=lambda axis: axis == "size")  # that memory grows with the size is no news
    words = [axis for axis in axes if axis not in numbers]
    kind, x = asked.kind, asked.x
    if kind is None:
        across = x or next(iter(numbers or words), None)
        kind = "bars" if across in words or across is None else "lines"
    x = x or next(iter(words + numbers if kind == "bars" else numbers + words), "seed")
    hue = asked.hue or next((axis for axis in [*words, *numbers] if axis != x), None)
    finished = table.finished

    def is_flat(name: str) -> bool:
        return finished.counts_states(name) or len({*finished.columns()[name]}) < 2

    bounded = [name for name in table.quantities if QUANTITIES[name].bounded]
    names = sorted(bounded or table.quantities, key=is_flat)
    quantity = asked.quantity or tuple(names[: 1 if hue else 6])
    return asked.model_copy(update={"kind": kind, "x": x, "hue": hue, "quantity": quantity})


def draw(sweep: CaseTable, picture: Picture | None = None, ax: Axes | None = None) -> Axes:
    """Draw the rows of a sweep, see :meth:`memcurve.Sweep.plot`."""
    table = sweep.finished
    if not table.rows:
        raise ValueError(
            "a sweep must have a finished case to draw, and all failed or are pending."
        )
    chosen = picture or chosen_picture(sweep)
    _require_readable(table, chosen)
    ax = plot.new_figure(8.6, 4.4).add_subplot() if ax is None else ax
    (_draw_bars if chosen.kind == "bars" else _draw_lines)(table, chosen, ax)
    ax.set_title(table.study.title, fontsize=11, loc="left", pad=8)
    return ax


def _require_readable(table: CaseTable, picture: Picture) -> None:
    """Raise for a picture that cannot be drawn, or that nobody could read."""
    quantities = picture.quantity or ()
    remedy = "change the study's [picture] table."
    for quantity in quantities:
        if all(value is None for value in table.columns()[quantity]):
            raise ValueError(
                f"no finished case has a {quantity!r}, so it cannot be drawn; {remedy}"
            )
    if picture.kind == "lines" and not is_numeric(table.values(picture.x or "seed")):
        raise ValueError(
            f'kind = "lines" needs an axis of numbers, but {picture.x!r} has words; take "bars".'
        )
    lines = len(quantities) * (len(table.values(picture.hue)) if picture.hue else 1)
    if lines > _MOST_HUES:
        raise ValueError(
            f"the picture would have {lines} lines, more than the {_MOST_HUES} that can be told "
            f"apart; {remedy}"
        )


def _coloured(table: CaseTable, picture: Picture) -> list[str]:
    """The axes shown by colour: ``hue``, and others that would else be averaged, where they fit.

    Sizes come first: a mean over them says nothing.
    """
    axes = [picture.hue] if picture.hue else []
    shown = (picture.x, picture.hue, "seed", "lags")
    rest = sorted((a for a in table.axes if a not in shown), key=lambda axis: axis != "size")
    count = len(picture.quantity or ())
    for axis in rest:
        if count * math.prod(len(table.values(one)) for one in (*axes, axis)) <= _MOST_HUES:
            axes.append(axis)
    return axes


def _series(table: CaseTable, picture: Picture) -> list[tuple[str, str, dict[str, Any]]]:
    """Lines or bars: label, quantity and the axis values that its rows share."""
    axes, quantities = _coloured(table, picture), picture.quantity or ()
    series = []
    for values in itertools.product(*map(table.values, axes)):
        at = dict(zip(axes, values, strict=True))
        hue = ", ".join(_hue_label(picture, axis, value) for axis, value in at.items())
        for quantity in quantities:
            label = "" if hue and len(quantities) == 1 else QUANTITIES[quantity].label
            series.append((": ".join(filter(None, (hue, label))), quantity, at))
    return series


def _spreads(table: CaseTable, quantity: str, at: dict[str, Any], x: str) -> list[Any]:
    """Means, least and greatest along the axis ``x``."""
    spreads = [table.spread(quantity, **at, **{x: value}) for value in table.values(x)]
    return [np.array([one[name] for one in spreads]) for name in ("mean", "min", "max")]


def _draw_lines(table: CaseTable, picture: Picture, ax: Axes) -> None:
    """Means over all cases that share a point, with bands from the least to the greatest."""
    x = picture.x or "seed"
    across, lines = table.values(x), list[Series]()
    for name, quantity, at in _series(table, picture):
        spreads = _spreads(table, quantity, at, x)
        finite = np.isfinite(spreads[0])
        mean, low, high = (values[finite] for values in spreads)
        points = np.array(across, dtype=float)[finite]
        lines.append(Series(name, points, mean, low, high))
    above = [value for value in across if value > 0]
    log_x = _wants_log(above)
    plot.chart(Chart("", "", "", tuple(lines), log_x=log_x), ax=ax)
    _finish(table, picture, ax)
    if log_x and len(above) < len(across):
        ax.set_xlabel(f"{ax.get_xlabel()}; 0 is not shown")


def _draw_bars(table: CaseTable, picture: Picture, ax: Axes) -> None:
    """Groups of bars of means, with whiskers from the least to the greatest."""
    x = picture.x or "seed"
    across, series = table.values(x), _series(table, picture)
    width = 0.8 / len(series)
    style: Any = {"fmt": "none", "ecolor": "0.25", "elinewidth": 1, "capsize": 2, "zorder": 3}
    for k, (name, quantity, at) in enumerate(series):
        mean, low, high = _spreads(table, quantity, at, x)
        places = np.arange(len(across)) + (k - (len(series) - 1) / 2) * width
        colour = plot.COLOURS[k % len(plot.COLOURS)]
        ax.bar(places, mean, 0.9 * width, color=colour, label=name, zorder=2)
        # equal numbers may differ in rounding
        ax.errorbar(places, mean, np.maximum([mean - low, high - mean], 0.0), **style)
    labels = [picture.labels.get(text, text.replace("_", " ")) for text in texts(across).values()]
    crowded = max(map(len, labels)) * len(labels) > 70
    turn: Any = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    ax.set_xticks(range(len(across)), labels, **turn)
    _finish(table, picture, ax)
    if not is_numeric(across):  # the words at the ticks say it
        ax.set_xlabel("")
    ax.grid(visible=False, axis="x")


def _finish(table: CaseTable, picture: Picture, ax: Axes) -> None:
    """Names, the number of states as a dashed line, and the legend beside the data."""
    quantities, x = picture.quantity or (), picture.x or "seed"
    bounded = [QUANTITIES[quantity].bounded for quantity in quantities]
    if quantities == ("total",) and all(row.case.get("noise") for row in table.rows):
        name = "usable memory"
    elif len(quantities) == 1:
        name = QUANTITIES[quantities[0]].label
    else:
        name = "memory" if all(bounded) else "lags, or memory"
    ax.set(xlabel=_AXIS_LABELS.get(x, x), ylabel=name)
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
    shown = (picture.x, *_coloured(table, picture))
    rest = [axis for axis in table.axes if axis not in shown]
    over = [f"{len({*columns[axis]})} {_PLURALS.get(axis, f'{axis}s')}" for axis in rest]
    if over:
        remarks.append(f"mean and range of {' × '.join(over)}")
    for quantity in picture.quantity or ():  # a mean without them may mislead
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


def _hue_label(picture: Picture, axis: str, value: Any) -> str:
    """A value of an axis shown by colour, by the label that the study gives it."""
    if isinstance(value, str):
        return picture.labels.get(value, value.replace("_", " "))
    name = {"spectral_radius": "ρ =", "size": "N ="}.get(axis, axis)
    return f"{name} {'default' if value is None else number_text(value)}"
