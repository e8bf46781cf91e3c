"""Charts as Vega-Lite specifications: plain dictionaries, complete without any script.

Long series are decimated: no more points are drawn than the eye needs.
"""

from __future__ import annotations

import itertools
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import Floats
from memcurve.rendering.report.document import Chart, Series

Spec = dict[str, Any]

#: A line of more points is decimated: a screen has no more columns.
MOST_POINTS = 2000
#: Height of a chart of lines, and side of the square of a disc where the page gives no other.
HEIGHT, SIDE = 300, 380
#: A chart of lines is as wide as what holds it.
WIDE_CHART: Spec = {
    "width": "container", "height": HEIGHT, "autosize": {"type": "fit-x", "contains": "padding"},
}  # fmt: skip
#: A plot at least this wide is no phone's.
WIDE = 560
#: A line of no more points than this gets a dot at each.
MOST_DOTS = 60
#: Shapes of the points of a disc, as SVG has them: colours alone would not tell series apart.
SHAPES = {
    "circle": "<circle cx='6' cy='6' r='4'/>",
    "diamond": "<path d='M6 1l4 5-4 5-4-5z'/>",
    "triangle-up": "<path d='M6 2l5 8H1z'/>",
    "square": "<path d='M2 2h8v8H2z'/>",
}
#: Dashes and gaps of a dashed line, and of the lines that share a colour with an earlier one.
DASHED, DOTTED, SOLID = [6, 4], [2, 2], [1, 0]

# height of one row of labels above a chart, of a line of a title, and width of an average letter
_ROW, _LINE, _LETTER = 16, 15, 6.6
# a label across lines: what keeps them off, and the words
_LABEL = ("halo", "label")
# widths of plots for which labels above them are arranged: a phone's, and any other
_WIDTHS = {"narrow": 300.0, "wide": 660.0}


def specification(chart: Chart, most: int = MOST_POINTS) -> Spec:
    """A chart as a Vega-Lite specification; series of more than ``most`` points are decimated.

    Its parameter ``hidden`` lists the series that are switched off, by number; ``zoom`` is the
    part of the axes that is shown. Colours are left to a config.
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
    kinds = {"lines": _lines, "disc": _disc, "strip": _strip}
    return common | kinds[chart.kind](chart, points)


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
        kept = "every peak stays" if chart.kind == "lines" else "the outline stays"
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


def _by_series(chart: Chart, values: list[Any] | None = None, **symbols: Any) -> Spec:
    """Values by number of the series; by default colours, which the config has in order."""
    names = json.dumps([series.name for series in chart.series])
    shown = [k for k, series in enumerate(chart.series) if series.shown]
    legend = {"labelExpr": f"{names}[datum.value]", "values": shown, "title": None} | symbols
    scale: Spec = {"domain": list(range(len(chart.series)))}
    scale |= {} if values is None else {"range": values}
    return {"field": "s", "type": "nominal", "scale": scale, "legend": legend}


# Charts: layers from the back to the front

_ZOOM = {"params": [{"name": "zoom", "select": {"type": "interval"}, "bind": "scales"}]}


def _layer(kind: str, encoding: Spec, more: Spec, **mark: Any) -> Spec:
    return {"mark": {"type": kind} | mark, "encoding": encoding} | more


def _lines(chart: Chart, points: list[Points]) -> Spec:
    dotted = [k for k, line in enumerate(points) if 0 < line.x.size <= MOST_DOTS]
    # first and last dots would be cut in half
    values = [line.x for line in points]
    marks, domain, places = _placed(chart.marks, values, chart.log_x, pad=bool(dotted))
    rows = label_rows([label for label, _ in marks], places)
    x = {"field": "x"} | x_axis(chart, chart.x_range or domain)
    tall = {kind: max(r, default=-1) + 1 for kind, r in rows.items()}
    y = {"field": "y"} | y_axis(chart, points, tall)
    encoding = {"x": x, "y": y, "color": _by_series(chart)}
    layers = _levels(chart, points, y)
    if marks:
        layers += _marks(marks, rows, x)
    if any(line.low is not None for line in points):
        band = encoding | {"y": y | {"field": "lo"}, "y2": {"field": "hi"}}
        known = {"transform": [{"filter": "isValid(datum.lo)"}]}
        layers.append(_layer("area", band, known, opacity=0.2, clip=True, line=False))
    lines = encoding | {
        "strokeDash": _by_series(chart, [dash(chart, k) for k in range(len(chart.series))]),
        # the first series is what the others are compared with: it shows below them
        "strokeWidth": {"condition": {"test": "datum.s === 0", "value": 2.6}, "value": 1.7},
    }
    layers.append(_layer("line", lines, _ZOOM, clip=True, strokeCap="butt", strokeJoin="round"))
    if dotted:
        few = {"transform": [{"filter": f"indexof({dotted}, datum.s) >= 0"}]}
        layers.append(_layer("point", encoding, few, filled=True, size=22, opacity=1, clip=True))
    return WIDE_CHART | {"layer": layers}


def _marks(marks: list[tuple[str, float]], rows: dict[str, list[int]], x: Spec) -> list[Spec]:
    """Rules across the plot, with labels above it."""
    data = [
        {"x": value, "label": label, "w": round(_label_width(label))}
        | {kind: row[k] for kind, row in rows.items()}
        for k, (label, value) in enumerate(marks)
    ]
    top = {"expr": f"-{_ROW} * (width < {WIDE} ? datum.narrow : datum.wide) - 4"}
    # above the plot, where clipping would hide them, they go out with their place on the axis
    common: Spec = {"clip": False, "opacity": _while_shown("x"), "y": top}
    flag = common | {  # on its rule, moved to the left where it would leave the picture
        "style": "mark-label", "align": "left", "baseline": "bottom",
        "dx": {"expr": "min(-1, width - scale('x', datum.x) - datum.w)"},
    }  # fmt: skip
    drawn = {"data": {"values": data}}
    return [
        _layer("rule", {"x": x}, drawn, style="mark", y2="height", **common),
        _layer("text", {"x": x, "text": {"field": "label"}}, drawn, **flag),
    ]


def _while_shown(axis: str) -> Spec:
    return {"expr": f"inrange(datum.{axis}, domain('{axis}')) ? 1 : 0"}


def _levels(chart: Chart, points: list[Points], y: Spec) -> list[Spec]:
    """Rules from side to side, with labels at their right ends, or left where that is taken."""
    levels, _, places = _placed(chart.levels, [line.y for line in points], chart.log_y)
    if not levels:
        return []
    data = []
    right_is_free_above = -1.0
    for k in sorted(range(len(levels)), key=places.__getitem__):
        right = places[k] > right_is_free_above
        right_is_free_above = places[k] + 0.06 if right else right_is_free_above
        data.append({"y": levels[k][1], "label": levels[k][0], "right": right})
    drawn = {"data": {"values": data}}
    label: Spec = {
        "clip": False, "baseline": "middle", "opacity": _while_shown("y"),
        # below its rule at the top of the chart, where labels of marks are
        "dy": {"expr": "scale('y', datum.y) < 18 ? 10 : -9"},
        "x": {"expr": "datum.right ? width : 0"}, "dx": {"expr": "datum.right ? -4 : 4"},
        "align": {"expr": "datum.right ? 'right' : 'left'"},
    }  # fmt: skip
    words = {"y": y, "text": {"field": "label"}}
    return [
        _layer("rule", {"y": y}, drawn, style="level", clip=True, x=0, x2="width"),
        *(_layer("text", words, drawn, style=f"level-{part}", **label) for part in _LABEL),
    ]


def _strip(chart: Chart, points: list[Points]) -> Spec:
    marks, domain, places = _placed(chart.marks, [line.x for line in points], chart.log_x, pad=True)
    rows = label_rows([label for label, _ in marks], places)
    x = {"field": "x"} | x_axis(chart, domain)
    names = json.dumps([series.name for series in chart.series])
    count = len(points)
    y = {
        "field": "y", "type": "quantitative", "title": None,
        "scale": {"domain": [-0.6, count - 0.4], "reverse": True, "nice": False, "zero": False},
        "axis": {
            "values": list(range(count)), "labelExpr": f"{names}[datum.value]", "grid": False,
        },
    }  # fmt: skip
    encoding = {"x": x, "y": y, "color": _by_series(chart, symbolType="circle")}
    dots = _layer("point", encoding, _ZOOM, filled=True, size=20, opacity=0.55, clip=True)
    return WIDE_CHART | {"height": 40 + 60 * count, "layer": [*_marks(marks, rows, x), dots]}


def _disc(chart: Chart, points: list[Points]) -> Spec:
    reach = max([1.0, *(float(np.abs(v).max(initial=0)) for p in points for v in (p.x, p.y))])
    scale = {"domain": [-1.08 * reach, 1.08 * reach], "nice": False, "zero": False}
    axis = {"labelExpr": _number_label("datum.value"), "tickCount": 5}
    x = {
        "field": "x", "type": "quantitative", "title": title_lines(chart.x_label, WIDE),
        "scale": scale, "axis": axis | {"titleAnchor": "end"},
    }  # fmt: skip
    raised = y_axis(chart, points, {"narrow": 0, "wide": 0})
    y = x | {"field": "y", "title": raised["title"], "axis": raised["axis"] | axis}
    arc = 2 * np.pi / 120
    sides = {
        "data": {"sequence": {"start": 0, "stop": 6.29, "step": arc, "as": "t"}},
        "transform": [
            {"calculate": f"{f}(datum.t)", "as": axis} for axis, f in (("x", "cos"), ("y", "sin"))
        ],
    }
    around = {"x": x, "y": y, "order": {"field": "t"}}
    circle = _layer("line", around, sides, style="circle", clip=True)
    shapes = list(itertools.islice(itertools.cycle(SHAPES), len(chart.series)))
    symbols: Spec = {"symbolType": "circle", "symbolSize": 60}
    encoding = {
        "x": x, "y": y, "color": _by_series(chart, **symbols),
        "shape": _by_series(chart, shapes, **symbols),
    }  # fmt: skip
    dots = _layer("point", encoding, _ZOOM, filled=True, size=42, opacity=0.85, clip=True)
    return {"width": SIDE, "height": SIDE, "layer": [circle, dots]}


# Axes: ranges, titles, and expressions by which Vega writes numbers


def x_axis(chart: Chart, domain: tuple[float, float]) -> Spec:
    """The x axis of a chart of lines; its range is fixed, whatever is switched off."""
    is_whole = not chart.log_x and all(np.all(s.x == np.rint(s.x)) for s in chart.series)
    return {
        "type": "quantitative",
        "title": title_lines(chart.x_label, WIDE),
        "scale": _scale(chart.log_x, zero=False) | {"domain": list(domain), "nice": False},
        "axis": {
            "grid": False, "labelExpr": _axis_label("x", chart.log_x), "labelFlush": True,
            "tickCount": {"expr": "ceil(width / 90)"}, "titleAnchor": "end", "titlePadding": 8,
            **({"tickMinStep": 1} if is_whole else {}),
        },
    }  # fmt: skip


def y_axis(chart: Chart, points: Iterable[Points], rows: dict[str, int]) -> Spec:
    """The y axis of a chart of lines; its title stands above it, over any labels of marks."""
    title = title_lines(chart.y_label, WIDE)
    low = 10 + _ROW * rows["narrow"] + _LINE * (len(title_lines(chart.y_label)) - 1)
    wide = 10 + _ROW * rows["wide"] + _LINE * (len(title) - 1)
    values = np.concatenate([np.zeros(0), *(line.y[np.isfinite(line.y)] for line in points)])
    near_zero = values.size > 0 and bool(0 <= values.min() <= 0.6 * values.max())
    ends = {"nice": True} if chart.y_range is None else {"domain": list(chart.y_range)}
    return {
        "type": "quantitative",
        "title": title,
        "scale": _scale(chart.log_y, zero=near_zero) | ends,
        "axis": {
            "labelExpr": _axis_label("y", chart.log_y), "tickCount": {"expr": "ceil(height / 55)"},
            "titleAngle": 0, "titleAlign": "left", "titleAnchor": "start",
            "titleBaseline": "bottom", "titleX": 0, "titleLineHeight": _LINE,
            "titleY": {"expr": f"width < {WIDE} ? {-low} : {-wide}"},
        },
    }  # fmt: skip


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


def _placed(
    labelled: Iterable[tuple[str, float]], values: list[Floats], log: bool, *, pad: bool = False
) -> tuple[list[tuple[str, float]], tuple[float, float], list[float]]:
    """Labelled values that an axis can show, its ends, and where between these they lie, 0 … 1."""
    shown = [(label, v) for label, v in labelled if np.isfinite(v) and (v > 0 or not log)]
    places = np.array([v for _, v in shown])
    known = np.concatenate([places, *values])
    known = known[np.isfinite(known) & ((known > 0) | (not log))]
    low, high = (1.0, 10.0) if log else (0.0, 1.0)
    if known.size:
        low, high = float(known.min()), float(known.max())
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    low, high = padded(low, high, log) if pad else (low, high)
    scaled = np.array([low, high, *places])
    start, end, *where = np.log(scaled) if log else scaled
    return shown, (low, high), [float((place - start) / (end - start)) for place in where]


def _axis_label(scale: str, log: bool) -> str:
    """The Vega expression of labels; on a logarithmic axis powers of ten, others if few."""
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
    found = {}
    for kind, width in _WIDTHS.items():
        rows = [0] * len(labels)
        spans: dict[int, tuple[float, float]] = {}
        for k in sorted(range(len(labels)), key=where.__getitem__, reverse=True):
            size = _label_width(labels[k])
            start = min(where[k] * width, width - size)
            for j, (left, right) in spans.items():
                below = start - 4 < where[j] * width < start + size
                overlaps = start < right + 4 and left < start + size + 4
                if below or overlaps:
                    rows[k] = max(rows[k], rows[j] + 1)
            spans[k] = (start, start + size)
        found[kind] = rows
    return found


# Decimation: the points that an axis can show, and no more than the eye needs


@dataclass(frozen=True, eq=False)
class Points:
    """Points ready to be drawn; y is NaN where a line is interrupted.

    ``there`` is how many points the series has that the axes can show, ``dropped`` how many
    values a logarithmic axis has no place for.
    """

    x: Floats
    y: Floats
    low: Floats | None
    high: Floats | None
    there: int
    dropped: int


def decimated(chart: Chart, series: Series, most: int = MOST_POINTS) -> Points:
    """The points of a series that its chart draws, from left to right."""
    given = [v for v in (series.x, series.y, series.low, series.high) if v is not None]
    x, y, *band = (np.array(values, dtype=np.float64).ravel() for values in given)
    if chart.kind != "lines":
        keep = np.isfinite(x) & np.isfinite(y)
        x, y = x[keep], y[keep]
        chosen = _outline(x, y, most)
        return Points(x[chosen], y[chosen], None, None, x.size, 0)
    nowhere_x = chart.log_x & (x <= 0)
    nowhere_y = chart.log_y & (y <= 0) & ~nowhere_x
    dropped = int(nowhere_x.sum() + nowhere_y.sum())
    y = np.where(np.isfinite(y) & ~nowhere_y, y, np.nan)
    order = np.argsort(x, kind="stable")
    order = order[(np.isfinite(x) & ~nowhere_x)[order]]
    x, y = x[order], y[order]
    if band:
        band = _band(band[0][order], band[1][order], y, chart.log_y)
    chosen = np.arange(x.size)
    if x.size > most:
        chosen = _extremes(np.log(x) if chart.log_x else x, [y, *band], most)
    low, high = (ends[chosen] for ends in band) if band else (None, None)
    return Points(x[chosen], y[chosen], low, high, x.size, dropped)


def _band(low: Floats, high: Floats, y: Floats, log: bool) -> list[Floats]:
    """A band is drawn where both of its ends are; on a logarithmic axis zero is its lower end."""
    known = np.isfinite(low) & np.isfinite(high)
    if log:
        known &= high > 0
        positive = np.concatenate([y[y > 0], high[known], low[known & (low > 0)]])
        floor = positive.min() if positive.size else 1.0
        low = np.maximum(low, floor)
    return [np.where(known, ends, np.nan) for ends in (low, high)]


def _extremes(x: Floats, curves: list[Floats], most: int) -> NDArray[np.intp]:
    """Indices of the first, last, lowest, highest and missing points of each of many strips.

    A line through them covers the same pixels as the whole line, as long as a strip is no wider
    than a pixel.
    """
    strips = max(1, most // (2 + 3 * len(curves)))
    strip = np.searchsorted(np.linspace(x[0], x[-1], strips + 1)[1:-1], x)
    starts = np.unique(strip, return_index=True)[1]
    chosen = [starts, np.append(starts[1:], x.size) - 1]
    for curve in curves:
        missing = np.flatnonzero(np.isnan(curve))
        chosen.append(missing[np.unique(strip[missing], return_index=True)[1]])
        chosen += [np.lexsort((values, strip))[starts] for values in (curve, -curve)]
    return np.unique(np.concatenate(chosen))


def _outline(x: Floats, y: Floats, most: int) -> NDArray[np.intp]:
    """Indices of points that look like all of them: one in each cell of a grid fine enough."""
    if x.size <= most:
        return np.arange(x.size)
    width = max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    first = np.arange(0)
    for cells in (512, 256, 128, 64, 48, 32, 16, 8):
        place = np.floor(np.stack([x - x.min(), y - y.min()]) * (cells / width)).astype(np.int64)
        first = np.unique(place[0] * (cells + 1) + place[1], return_index=True)[1]
        if first.size < most:
            break
    return np.unique(np.append(first, np.argmax(np.hypot(x, y))))


# Colours: Okabe and Ito's, moved until they stand out from a white and from a dark page

# on a light and on a dark page: lines need a contrast of 3 with what is behind them, text one of
# 4.5; the light colours of series are chosen to stand out from dark notebooks as well
_COLOURS = {
    "page": ("#f6f7f9", "#0f1216"),
    "surface": ("#ffffff", "#171b21"),
    "ink": ("#1c2430", "#eef1f5"),
    "muted": ("#566170", "#a3aebb"),
    "edge": ("#dce1e7", "#2d343d"),
    "grid": ("#e9ecf0", "#262c34"),
    "link": ("#0b63ad", "#7cc0ff"),
    "good": ("#0a7a4b", "#3fcf8e"),
    "bad": ("#b3261e", "#ff8a80"),
    "neutral": ("#566170", "#a3aebb"),
    "series-0": ("#0072b2", "#4aa8e8"),
    "series-1": ("#d55e00", "#ff8a4c"),
    "series-2": ("#00926b", "#2cc79a"),
    "series-3": ("#c25f98", "#e79ac6"),
    "series-4": ("#b47a00", "#f0b840"),
    "series-5": ("#3a92c8", "#93d2f8"),
    "series-6": ("#1c2430", "#eef1f5"),
}
LIGHT: Mapping[str, str] = {name: light for name, (light, _) in _COLOURS.items()}
DARK: Mapping[str, str] = {name: dark for name, (_, dark) in _COLOURS.items()}
#: Pictures within a page of unknown colours: text and axes take the colour of the text around.
AROUND: Mapping[str, str] = {
    **LIGHT,
    **dict.fromkeys(("ink", "muted", "edge", "series-6"), "currentColor"),
    "surface": "transparent",
    "grid": "#80808033",
}
#: How many series have a colour of their own.
COLOURS = 7

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def config(colours: Mapping[str, str], font: str = FONT) -> dict[str, Any]:
    """How Vega-Lite draws: everything that depends on the colours of the page."""
    ink, muted, surface = colours["ink"], colours["muted"], colours["surface"]
    return {
        "background": surface,
        "font": font,
        "aria": False,  # the page itself describes each chart, once
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "domainColor": colours["edge"], "gridColor": colours["grid"], "ticks": False,
            "labelColor": muted, "labelFontSize": 12, "labelPadding": 7,
            "titleColor": muted, "titleFontSize": 12, "titleFontWeight": "normal",
            "titleLimit": 1000,
        },
        "axisY": {"domain": False},
        "legend": {
            "labelColor": ink, "labelFontSize": 12, "labelLimit": 1000,
            "columns": 2, "orient": "bottom", "title": None,
            "symbolOpacity": 1, "symbolType": "stroke", "symbolSize": 240,
            "symbolStrokeWidth": 2.4,
        },
        "title": {"color": ink, "fontSize": 15, "anchor": "start", "offset": 12},
        "range": {"category": [colours[f"series-{k}"] for k in range(COLOURS)]},
        "style": {
            "mark": {"color": muted, "strokeDash": [2, 3], "strokeWidth": 1},
            "mark-label": {"color": muted, "fontSize": 12},
            "level": {"color": muted, "strokeDash": [6, 4], "strokeWidth": 1},
            "level-label": {"color": muted, "fontSize": 12},
            "level-halo": {
                "color": surface, "stroke": surface, "strokeWidth": 4, "strokeJoin": "round",
                "fontSize": 12,
            },
            "circle": {"color": muted, "strokeWidth": 1.2},
        },
    }  # fmt: skip
