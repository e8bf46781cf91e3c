"""Axes of charts: their ranges, and expressions by which Vega writes numbers on them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from memcurve.report.document import Chart
from memcurve.report.thinning import Drawn

#: Height of one row of labels above a chart.
ROW = 16
#: Width of an average letter of a label.
_LETTER = 6.6
#: Widths of plots for which labels above them are arranged: a phone's, and any other.
_WIDTHS = {"narrow": 300.0, "wide": 660.0}
#: Height of the lines of a title.
_LINE = 15
#: A plot at least this wide is no phone's.
WIDE = 560


def written(value: str) -> str:
    """A number as a reader would write it: 0.25, 12,000, 1.5×10⁻¹².

    ``value`` and the result are Vega expressions.
    """
    size = f"abs({value})"
    power = f"floor(log({size}) / LN10 + 1e-9)"
    scaled = f"format({value} / pow(10, {power}), '.4~g') + '×10' + {_raised(power)}"
    plain = f"format({value}, ',.9~g')"
    return f"{value} == 0 || ({size} >= 1e-4 && {size} < 1e6) ? {plain} : {scaled}"


def written_on_log(scale: str) -> str:
    """Powers of ten; what lies between them only where there are few."""
    low, high = f"domain('{scale}')[0]", f"domain('{scale}')[1]"
    power = "log(datum.value) / LN10"
    is_power = f"abs({power} - round({power})) < 1e-9"
    plain = f"({low} >= 9e-4 && {high} <= 1.1e5)"
    short = f"({high} / {low} < 30)"
    return (
        f"{is_power} ? ({plain} ? format(datum.value, ',~g') : '10' + {_raised(f'round({power})')})"
        f" : ({short} ? ({written('datum.value')}) : '')"
    )


def _raised(number: str) -> str:
    text = f"('' + {number})"
    for plain, raised in zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True):
        text = f"replace({text}, regexp('{plain}', 'g'), '{raised}')"
    return text


def title_lines(title: str, width: float = _WIDTHS["narrow"]) -> list[str]:
    """The title of an axis in lines that fit a plot of some width."""
    return textwrap.wrap(title, int(width / _LETTER)) or [""]


def across(chart: Chart, domain: tuple[float, float]) -> dict[str, Any]:
    """The x axis of a chart of lines; its range is fixed, whatever is switched off."""
    return {
        "type": "quantitative",
        "title": title_lines(chart.across, WIDE),
        "scale": _scale(chart.log_x, zero=False) | {"domain": list(domain), "nice": False},
        "axis": {
            "grid": False,
            "labelExpr": written_on_log("x") if chart.log_x else written("datum.value"),
            "labelFlush": True,
            "tickCount": {"expr": "ceil(width / 90)"},
            "titleAnchor": "end",
            "titlePadding": 8,
        },
    }


def up(chart: Chart, lines: Iterable[Drawn], rows: dict[str, int]) -> dict[str, Any]:
    """The y axis of a chart of lines; its title stands above it, over any labels of marks."""
    title = title_lines(chart.up, WIDE)
    low = 10 + ROW * rows["narrow"] + _LINE * (len(title_lines(chart.up)) - 1)
    wide = 10 + ROW * rows["wide"] + _LINE * (len(title) - 1)
    return {
        "type": "quantitative",
        "title": title,
        "scale": _scale(chart.log_y, zero=_near_zero(lines)) | {"nice": True},
        "axis": {
            "labelExpr": written_on_log("y") if chart.log_y else written("datum.value"),
            "tickCount": {"expr": "ceil(height / 55)"},
            "titleAngle": 0,
            "titleAlign": "left",
            "titleAnchor": "start",
            "titleBaseline": "bottom",
            "titleX": 0,
            "titleLineHeight": _LINE,
            "titleY": {"expr": f"width < {WIDE} ? {-low} : {-wide}"},
        },
    }


def _scale(log: bool, *, zero: bool) -> dict[str, Any]:
    return {"type": "log"} if log else {"type": "linear", "zero": zero}


def _near_zero(lines: Iterable[Drawn]) -> bool:
    values = np.concatenate([np.zeros(0), *(line.y[np.isfinite(line.y)] for line in lines)])
    if not values.size or values.min() < 0:
        return False
    return bool(values.min() <= 0.6 * values.max())


def extent(values: Iterable[float], log: bool) -> tuple[float, float]:
    """The smallest and the largest value that an axis can show, never the same."""
    known = np.array([v for v in values if np.isfinite(v) and (v > 0 or not log)])
    if not known.size:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(known.min()), float(known.max())
    if low < high:
        return low, high
    return (low / 2, high * 2) if log else (low - 0.5, high + 0.5)


def places(values: list[float], low: float, high: float, log: bool) -> list[float]:
    """Where values lie between the ends of an axis, from 0 to 1."""
    if log:
        ends = np.log([low, high])
        return [float((np.log(v) - ends[0]) / (ends[1] - ends[0])) for v in values]
    return [(v - low) / (high - low) for v in values]


def padded(low: float, high: float, log: bool) -> tuple[float, float]:
    """A range with a little room at both ends."""
    room = 0.012
    if log:
        factor = (high / low) ** room
        return low / factor, high * factor
    return low - room * (high - low), high + room * (high - low)


def label_width(label: str) -> float:
    """About how wide a label is, in pixels."""
    return _LETTER * len(label) + 4


def label_rows(labels: list[str], where: list[float]) -> dict[str, list[int]]:
    """Rows for labels above a plot so that none covers another, on a phone and elsewhere.

    A label begins where its rule is, like a flag, and the rule goes up to it. Rules further to
    the right must end below.
    """
    return {
        kind: _rows(labels, [w * width for w in where], width) for kind, width in _WIDTHS.items()
    }


def _rows(labels: list[str], starts: list[float], width: float) -> list[int]:
    rows = dict.fromkeys(range(len(labels)), -1)
    spans: dict[int, tuple[float, float]] = {}
    for k in sorted(rows, key=starts.__getitem__, reverse=True):
        size = label_width(labels[k])
        start = min(starts[k], width - size)
        for j, (left, right) in spans.items():
            below = start - 4 < starts[j] < start + size
            overlaps = start < right + 4 and left < start + size + 4
            if below or overlaps:
                rows[k] = max(rows[k], rows[j])
        rows[k] += 1
        spans[k] = (start, start + size)
    return list(rows.values())
