"""Charts as Vega-Lite specifications: plain dictionaries, complete without any script."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np

from memcurve.report.decimation import MOST_POINTS, Points, decimated
from memcurve.report.document import Chart
from memcurve.report.palette import COLOURS

Spec = dict[str, Any]

#: Height of a chart of lines, and side of the square of a disc where the page gives no other.
HEIGHT, SIDE = 300, 380
#: A plot at least this wide is no phone's.
WIDE = 560
#: A line of no more points than this gets a dot at each.
MOST_DOTS = 60
#: The shapes of the points of a disc, by series: colours alone would not tell them apart.
SHAPES = ("circle", "diamond", "triangle-up", "square")
#: Dashes and gaps of a dashed line, and of the lines that share a colour with an earlier one.
DASHED, DOTTED, SOLID = [6, 4], [2, 2], [1, 0]

# height of one row of labels above a chart, of a line of a title, and width of an average letter
_ROW, _LINE, _LETTER = 16, 15, 6.6
# widths of plots for which labels above them are arranged: a phone's, and any other
_WIDTHS = {"narrow": 300.0, "wide": 660.0}
# the unit circle has 120 sides
_ARC = 2 * np.pi / 120


def specification(chart: Chart, most: int = MOST_POINTS) -> Spec:
    """A chart as a Vega-Lite specification.

    Parameters
    ----------
    chart : Chart
        What to draw.
    most : int, optional
        Points of one series that are drawn; longer series are decimated.

    Returns
    -------
    dict
        The specification. Its parameter ``hidden`` lists the series that are switched off, by
        number; ``zoom`` is the part of the axes that is shown. Colours are left to a config.
    """
    points = [decimated(chart, series, most) for series in chart.series]
    hidden = [k for k, series in enumerate(chart.series) if not series.shown]
    common: Spec = {
        "description": described(chart),
        "title": chart.title,
        "params": [{"name": "hidden", "value": hidden}],
        "data": {"name": "rows", "values": _rows(points)},
        "transform": [{"filter": "indexof(hidden, datum.s) < 0"}],
    }
    return common | (_disc(chart, points) if chart.kind == "disc" else _lines(chart, points))


def described(chart: Chart) -> str:
    """A chart in one sentence, for those who cannot see it."""
    names = ", ".join(series.name for series in chart.series)
    places = "".join(f"; {label} at {value:.3g}" for label, value in chart.marks + chart.levels)
    axes = f"{chart.y_label} over {chart.x_label}"
    if chart.kind == "disc":
        axes = "Points in the complex plane, with the unit circle"
    return f"{chart.title}. {axes}: {names}{places}."


def remarks(chart: Chart, most: int = MOST_POINTS) -> list[str]:
    """What a reader should know about how a chart is drawn."""
    points = [decimated(chart, series, most) for series in chart.series]
    thinned = [line for line in points if line.x.size < line.there]
    said = []
    if thinned:
        count, there = sum(line.x.size for line in thinned), sum(line.there for line in thinned)
        kept = "the outline stays" if chart.kind == "disc" else "every peak stays"
        said.append(f"{count:,} of {there:,} points are drawn, chosen so that {kept}.")
    dropped = sum(line.dropped for line in points)
    if dropped:
        which = "One value is" if dropped == 1 else f"{dropped:,} values are"
        have = "has" if dropped == 1 else "have"
        said.append(f"{which} not positive and {have} no place on the logarithmic axis.")
    return said


def _rows(points: list[Points]) -> list[Spec]:
    """One row a point, series by series and from left to right."""
    rows = []
    for k, line in enumerate(points):
        for j in range(line.x.size):
            row = {"x": _number(line.x[j], 9), "y": _number(line.y[j]), "s": k}
            if line.low is not None and line.high is not None:
                row |= {"lo": _number(line.low[j]), "hi": _number(line.high[j])}
            rows.append(row)
    return rows


def _number(value: float, digits: int = 6) -> float | int | None:
    """Rounded: the digits nobody can see would double the size of a page."""
    if not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


# Series: what tells them apart


def dash(chart: Chart, k: int) -> list[int]:
    """Dashes and gaps of a line."""
    if chart.series[k].dashed:
        return DASHED
    return DOTTED if k >= COLOURS else SOLID


def shape(k: int) -> str:
    """The shape of the points of a series."""
    return SHAPES[k % len(SHAPES)]


def _by_series(scale: Spec, legend: Spec) -> Spec:
    return {"field": "s", "type": "nominal", "scale": scale, "legend": legend}


def _colour(chart: Chart, legend: Spec) -> Spec:
    """Colours by number: the config has them in order, and repeats them as needed."""
    return _by_series({"domain": list(range(len(chart.series)))}, legend)


def _legend(chart: Chart) -> Spec:
    names = json.dumps([series.name for series in chart.series])
    shown = [k for k, series in enumerate(chart.series) if series.shown]
    return {"labelExpr": f"{names}[datum.value]", "values": shown, "title": None}


# Charts: layers from the back to the front


def _lines(chart: Chart, points: list[Points]) -> Spec:
    marks = _on_axis(chart.marks, chart.log_x)
    values = np.concatenate([np.zeros(0), *(line.x for line in points)])
    domain = _extent([*values.tolist(), *(v for _, v in marks)], chart.log_x)
    dotted = [k for k, line in enumerate(points) if 0 < line.x.size <= MOST_DOTS]
    if dotted:  # whose first and last dots would be cut in half
        domain = padded(*domain, chart.log_x)
    places = _positions([v for _, v in marks], domain, chart.log_x)
    rows = label_rows([label for label, _ in marks], places)
    x = {"field": "x"} | x_axis(chart, domain)
    tall = {kind: max(r, default=-1) + 1 for kind, r in rows.items()}
    y = {"field": "y"} | y_axis(chart, points, tall)
    legend = _legend(chart)
    colour = _colour(chart, legend)
    layers = _levels(chart, points, y)
    if marks:
        layers += _marks(marks, rows, x)
    if any(line.low is not None for line in points):
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.lo)"}],
                "mark": {"type": "area", "opacity": 0.2, "clip": True, "line": False},
                "encoding": {
                    "x": x, "y": y | {"field": "lo"}, "y2": {"field": "hi"}, "color": colour,
                },
            }
        )  # fmt: skip
    dashes = [dash(chart, k) for k in range(len(chart.series))]
    layers.append(
        {
            "params": [{"name": "zoom", "select": {"type": "interval"}, "bind": "scales"}],
            "mark": {"type": "line", "clip": True, "strokeCap": "butt", "strokeJoin": "round"},
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "strokeDash": _by_series(
                    {"domain": list(range(len(dashes))), "range": dashes}, legend
                ),
                # the first series is what the others are compared with: it shows below them
                "strokeWidth": {"condition": {"test": "datum.s === 0", "value": 2.6}, "value": 1.7},
            },
        }
    )
    if dotted:
        layers.append(
            {
                "transform": [{"filter": f"indexof({dotted}, datum.s) >= 0"}],
                "mark": {"type": "point", "filled": True, "size": 22, "opacity": 1, "clip": True},
                "encoding": {"x": x, "y": y, "color": colour},
            }
        )
    return {
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": layers,
    }


def _on_axis(labelled: Iterable[tuple[str, float]], log: bool) -> list[tuple[str, float]]:
    """Those labelled values that an axis can show."""
    return [(label, v) for label, v in labelled if np.isfinite(v) and (v > 0 or not log)]


def _marks(marks: list[tuple[str, float]], rows: dict[str, list[int]], x: Spec) -> list[Spec]:
    """Rules across the plot, with labels above it."""
    data = [
        {"x": value, "label": label, "w": round(_label_width(label))}
        | {kind: row[k] for kind, row in rows.items()}
        for k, (label, value) in enumerate(marks)
    ]
    top = {"expr": f"-{_ROW} * (width < {WIDE} ? datum.narrow : datum.wide) - 4"}
    # above the plot, where clipping would hide them, they go out with their place on the axis
    common = {"clip": False, "opacity": {"expr": "inrange(datum.x, domain('x')) ? 1 : 0"}, "y": top}
    rule = {"type": "rule", "style": "mark", "y2": "height"}
    flag = {  # on its rule, moved to the left where it would leave the picture
        "type": "text",
        "style": "mark-label",
        "align": "left",
        "baseline": "bottom",
        "dx": {"expr": "min(-1, width - scale('x', datum.x) - datum.w)"},
    }
    return [
        {"data": {"values": data}, "mark": common | mark, "encoding": {"x": x} | more}
        for mark, more in ((rule, {}), (flag, {"text": {"field": "label"}}))
    ]


def _levels(chart: Chart, points: list[Points], y: Spec) -> list[Spec]:
    """Rules from side to side, with labels at their right ends, or left where that is taken."""
    levels = _on_axis(chart.levels, chart.log_y)
    if not levels:
        return []
    values = np.concatenate([line.y for line in points] or [np.zeros(0)])
    ends = _extent([*values.tolist(), *(v for _, v in levels)], chart.log_y)
    places = _positions([v for _, v in levels], ends, chart.log_y)
    data = []
    right_is_free_above = -1.0
    for k in sorted(range(len(levels)), key=places.__getitem__):
        right = places[k] > right_is_free_above
        right_is_free_above = places[k] + 0.06 if right else right_is_free_above
        data.append({"y": levels[k][1], "label": levels[k][0], "right": right})
    layers: list[Spec] = [
        {
            "data": {"values": data},
            "mark": {"type": "rule", "style": "level", "clip": True, "x": 0, "x2": "width"},
            "encoding": {"y": y},
        }
    ]
    for style in ("level-halo", "level-label"):
        layers += [
            {
                "data": {"values": [d for d in data if d["right"] == right]},
                "mark": {
                    "type": "text",
                    "style": style,
                    "clip": False,
                    "baseline": "middle",
                    "x": "width" if right else 0,
                    "align": "right" if right else "left",
                    "dx": -4 if right else 4,
                    # below its rule at the top of the chart, where labels of marks are
                    "dy": {"expr": "scale('y', datum.y) < 18 ? 10 : -9"},
                    "opacity": {"expr": "inrange(datum.y, domain('y')) ? 1 : 0"},
                },
                "encoding": {"y": y, "text": {"field": "label"}},
            }
            for right in (True, False)
            if any(d["right"] == right for d in data)
        ]
    return layers


def _disc(chart: Chart, points: list[Points]) -> Spec:
    reach = max([1.0, *(float(np.abs(v).max(initial=0)) for p in points for v in (p.x, p.y))])
    scale = {"domain": [-1.08 * reach, 1.08 * reach], "nice": False, "zero": False}
    axis = {"labelExpr": _number_label("datum.value"), "tickCount": 5}
    x = {
        "field": "x",
        "type": "quantitative",
        "title": title_lines(chart.x_label, WIDE),
        "scale": scale,
        "axis": axis | {"titleAnchor": "end"},
    }
    raised = y_axis(chart, points, {"narrow": 0, "wide": 0})
    y = x | {"field": "y", "title": raised["title"], "axis": raised["axis"] | axis}
    shapes = [shape(k) for k in range(len(chart.series))]
    legend = _legend(chart) | {"symbolType": "circle", "symbolSize": 60}
    circle = {
        "data": {"sequence": {"start": 0, "stop": 6.29, "step": _ARC, "as": "t"}},
        "transform": [
            {"calculate": "cos(datum.t)", "as": "x"},
            {"calculate": "sin(datum.t)", "as": "y"},
        ],
        "mark": {"type": "line", "style": "circle", "clip": True},
        "encoding": {"x": x, "y": y, "order": {"field": "t"}},
    }
    dots = {
        "params": [{"name": "zoom", "select": {"type": "interval"}, "bind": "scales"}],
        "mark": {"type": "point", "filled": True, "size": 42, "opacity": 0.85, "clip": True},
        "encoding": {
            "x": x,
            "y": y,
            "color": _colour(chart, legend),
            "shape": _by_series({"domain": list(range(len(shapes))), "range": shapes}, legend),
        },
    }
    return {"width": SIDE, "height": SIDE, "layer": [circle, dots]}


# Axes: ranges, titles, and expressions by which Vega writes numbers


def x_axis(chart: Chart, domain: tuple[float, float]) -> Spec:
    """The x axis of a chart of lines; its range is fixed, whatever is switched off."""
    return {
        "type": "quantitative",
        "title": title_lines(chart.x_label, WIDE),
        "scale": _scale(chart.log_x, zero=False) | {"domain": list(domain), "nice": False},
        "axis": {
            "grid": False,
            "labelExpr": _axis_label("x", chart.log_x),
            "labelFlush": True,
            "tickCount": {"expr": "ceil(width / 90)"},
            "titleAnchor": "end",
            "titlePadding": 8,
        },
    }


def y_axis(chart: Chart, points: Iterable[Points], rows: dict[str, int]) -> Spec:
    """The y axis of a chart of lines; its title stands above it, over any labels of marks."""
    title = title_lines(chart.y_label, WIDE)
    low = 10 + _ROW * rows["narrow"] + _LINE * (len(title_lines(chart.y_label)) - 1)
    wide = 10 + _ROW * rows["wide"] + _LINE * (len(title) - 1)
    return {
        "type": "quantitative",
        "title": title,
        "scale": _scale(chart.log_y, zero=_near_zero(points)) | {"nice": True},
        "axis": {
            "labelExpr": _axis_label("y", chart.log_y),
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


def title_lines(title: str, width: float = _WIDTHS["narrow"]) -> list[str]:
    """The title of an axis in lines that fit a plot of some width."""
    return textwrap.wrap(title, int(width / _LETTER)) or [""]


def padded(low: float, high: float, log: bool) -> tuple[float, float]:
    """A range with a little room at both ends."""
    room = 0.012
    if log:
        factor = (high / low) ** room
        return low / factor, high * factor
    return low - room * (high - low), high + room * (high - low)


def _scale(log: bool, *, zero: bool) -> Spec:
    return {"type": "log"} if log else {"type": "linear", "zero": zero}


def _near_zero(points: Iterable[Points]) -> bool:
    values = np.concatenate([np.zeros(0), *(line.y[np.isfinite(line.y)] for line in points)])
    if not values.size or values.min() < 0:
        return False
    return bool(values.min() <= 0.6 * values.max())


def _extent(values: Iterable[float], log: bool) -> tuple[float, float]:
    """The smallest and the largest value that an axis can show, never the same."""
    known = np.array([v for v in values if np.isfinite(v) and (v > 0 or not log)])
    if not known.size:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(known.min()), float(known.max())
    if low < high:
        return low, high
    return (low / 2, high * 2) if log else (low - 0.5, high + 0.5)


def _positions(values: list[float], ends: tuple[float, float], log: bool) -> list[float]:
    """Where values lie between the ends of an axis, from 0 to 1."""
    low, high = np.log(ends) if log else ends
    where = np.log(values) if log else np.array(values)
    return ((where - low) / (high - low)).tolist()  # type: ignore[no-any-return]


def _axis_label(scale: str, log: bool) -> str:
    """The Vega expression of an axis's labels.

    On a logarithmic axis these are powers of ten, and what lies between them only where there are
    few.
    """
    if not log:
        return _number_label("datum.value")
    low, high = f"domain('{scale}')[0]", f"domain('{scale}')[1]"
    power = "log(datum.value) / LN10"
    is_power = f"abs({power} - round({power})) < 1e-9"
    plain = f"({low} >= 9e-4 && {high} <= 1.1e5)"
    short = f"({high} / {low} < 30)"
    raised = _superscript(f"round({power})")
    return (
        f"{is_power} ? ({plain} ? format(datum.value, ',~g') : '10' + {raised})"
        f" : ({short} ? ({_number_label('datum.value')}) : '')"
    )


def _number_label(value: str) -> str:
    """The Vega expression of a number as a reader would write it: 0.25, 12,000, 1.5×10⁻¹²."""
    size = f"abs({value})"
    power = f"floor(log({size}) / LN10 + 1e-9)"
    scaled = f"format({value} / pow(10, {power}), '.4~g') + '×10' + {_superscript(power)}"
    plain = f"format({value}, ',.9~g')"
    return f"{value} == 0 || ({size} >= 1e-4 && {size} < 1e6) ? {plain} : {scaled}"


def _superscript(number: str) -> str:
    text = f"('' + {number})"
    for plain, raised in zip("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True):
        text = f"replace({text}, regexp('{plain}', 'g'), '{raised}')"
    return text


def _label_width(label: str) -> float:
    """About how wide a label is, in pixels."""
    return _LETTER * len(label) + 4


def label_rows(labels: list[str], where: list[float]) -> dict[str, list[int]]:
    """Rows for labels above a plot so that none covers another, on a phone and elsewhere.

    A label begins where its rule is, like a flag, and the rule goes up to it. Rules further to
    the right must end below.
    """
    return {
        kind: _label_rows(labels, [w * width for w in where], width)
        for kind, width in _WIDTHS.items()
    }


def _label_rows(labels: list[str], starts: list[float], width: float) -> list[int]:
    rows = dict.fromkeys(range(len(labels)), -1)
    spans: dict[int, tuple[float, float]] = {}
    for k in sorted(rows, key=starts.__getitem__, reverse=True):
        size = _label_width(labels[k])
        start = min(starts[k], width - size)
        for j, (left, right) in spans.items():
            below = start - 4 < starts[j] < start + size
            overlaps = start < right + 4 and left < start + size + 4
            if below or overlaps:
                rows[k] = max(rows[k], rows[j])
        rows[k] += 1
        spans[k] = (start, start + size)
    return list(rows.values())
