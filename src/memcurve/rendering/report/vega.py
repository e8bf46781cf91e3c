"""Charts as Vega-Lite specifications: plain dictionaries, complete without any script.

Long series are decimated: no more points are drawn than the eye needs.
"""

import itertools
import json
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.notes import text_beside
from memcurve.core.types import Floats
from memcurve.rendering.report.document import Chart, Series

Spec = dict[str, Any]

#: A series of more points is decimated: a screen has no more columns. Doubled: pages of 3 MB.
MOST_POINTS = 1000
#: Height of a chart of lines. Doubled: one chart fills a screen.
HEIGHT = 300
#: Side of the square of a disc where the page gives no other. Doubled: wider than a phone.
SIDE = 380
#: A chart of lines is as wide as what holds it.
WIDE_CHART: Spec = {
    "width": "container", "height": HEIGHT, "autosize": {"type": "fit-x", "contains": "padding"},
}  # fmt: skip
#: A line of no more points than this gets a dot at each. Doubled: dots that touch.
MOST_DOTS = 60
#: Letters in a line of the title of an axis, which fits a phone. Doubled: titles that are cut.
TITLE_LETTERS = 45
#: Shapes of the points of a disc, as SVG: colours alone would not distinguish series.
SHAPES = {
    "circle": "<circle cx='6' cy='6' r='4'/>",
    "diamond": "<path d='M6 1l4 5-4 5-4-5z'/>",
    "triangle-up": "<path d='M6 2l5 8H1z'/>",
    "square": "<path d='M2 2h8v8H2z'/>",
}
#: Dashes and gaps of a dashed line, and of the lines that share a colour with an earlier one.
DASHED = [6, 4]
DOTTED = [2, 2]
SOLID = [1, 0]
# a label across lines: what keeps them off, and the words
_LABEL = ("halo", "label")
_ZOOM = {"params": [{"name": "zoom", "select": {"type": "interval"}, "bind": "scales"}]}


def specification(chart: Chart) -> Spec:
    """A chart in Vega-Lite, decimated; parameters: ``hidden`` series by number, and ``zoom``."""
    points = [decimated(chart, series) for series in chart.series]
    rows = []
    for k, line in enumerate(points):
        for j in range(line.x.size):
            row = {"x": _number(line.x[j], 9), "y": _number(line.y[j]), "s": k}
            if line.low is not None and line.high is not None:
                row |= {"lo": _number(line.low[j]), "hi": _number(line.high[j])}
            rows.append(row)
    hidden = [k for k, series in enumerate(chart.series) if not series.shown]
    common: Spec = {
        "description": described(chart),
        "title": chart.title,
        "params": [{"name": "hidden", "value": hidden}],
        "data": {"name": "rows", "values": rows},
        "transform": [{"filter": "indexof(hidden, datum.s) < 0"}],
    }
    return common | {"lines": _lines, "disc": _disc, "strip": _strip}[chart.kind](chart, points)


def _number(value: float, digits: int = 6) -> float | int | None:
    """Rounded: the digits nobody can see would double the size of a page."""
    if not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def described(chart: Chart) -> str:
    """A chart in one sentence, for those who cannot see it."""
    names = ", ".join(series.name for series in chart.series)
    labels = "".join(f"; {label} at {value:.3g}" for label, value in chart.marks + chart.levels)
    axes = f"{chart.y_label} over {chart.x_label}"
    if chart.kind == "disc":
        axes = "Points in the complex plane, with the unit circle"
    return f"{chart.title}. {axes}: {names}{labels}."


def remarks(chart: Chart) -> list[str]:
    """Remarks on how a chart is drawn."""
    drawn = sum(decimated(chart, series).x.size for series in chart.series)
    count = sum(visible(chart, series).x.size for series in chart.series)
    not_positive = sum(
        int(np.sum((chart.log_x & (series.x <= 0)) | (chart.log_y & (series.y <= 0))))
        for series in chart.series
    )
    stays = "every peak stays" if chart.kind == "lines" else "the outermost stay"
    thinned = f"{drawn:,} of {count:,} points are drawn, chosen so that {stays}."
    dropped = f"Values that are not positive are not on the logarithmic axis: {not_positive:,}."
    return [thinned] * (drawn < count) + [dropped] * (not_positive > 0)


# Charts: layers from the back to the front


def dash(chart: Chart, k: int) -> list[int]:
    """Dashes and gaps of a line."""
    return DASHED if chart.series[k].dashed else DOTTED if k >= COLOURS else SOLID


def _by_series(chart: Chart, values: list[Any] | None = None, **symbols: Any) -> Spec:
    """Values by number of the series; by default colours, which the config has in order."""
    names = json.dumps([series.name for series in chart.series])
    shown = [k for k, series in enumerate(chart.series) if series.shown]
    legend = {"labelExpr": f"{names}[datum.value]", "values": shown, "title": None} | symbols
    scale: Spec = {"domain": list(range(len(chart.series)))}
    scale |= {} if values is None else {"range": values}
    return {"field": "s", "type": "nominal", "scale": scale, "legend": legend}


def _layer(kind: str, encoding: Spec, more: Spec, **mark: Any) -> Spec:
    return {"mark": {"type": kind} | mark, "encoding": encoding} | more


def _lines(chart: Chart, points: list[Series]) -> Spec:
    has_dots = [0 < line.x.size <= MOST_DOTS for line in points]
    dotted = [k for k, series in enumerate(chart.series) if series.shown and has_dots[k]]
    x, y = x_axis(chart, points, pad=0.012 if dotted else 0.0), y_axis(chart, points)
    encoding = {"x": x, "y": y, "color": _by_series(chart)}
    layers = [*_rules(chart, "levels", x, y), *_rules(chart, "marks", x, y)]
    if any(line.low is not None for line in points):
        band = encoding | {"y": y | {"field": "lo"}, "y2": {"field": "hi"}}
        banded = {"transform": [{"filter": "isValid(datum.lo)"}]}
        layers.append(_layer("area", band, banded, opacity=0.2, clip=True, line=False))
    lines = encoding | {
        "strokeDash": _by_series(chart, [dash(chart, k) for k in range(len(chart.series))]),
        # the first series is what the others are compared with: it shows below them
        "strokeWidth": {"condition": {"test": "datum.s === 0", "value": 2.6}, "value": 1.7},
    }
    layers.append(_layer("line", lines, _ZOOM, clip=True, strokeCap="butt", strokeJoin="round"))
    if dotted:
        among = {"transform": [{"filter": f"indexof({dotted}, datum.s) >= 0"}]}
        layers.append(_layer("point", encoding, among, filled=True, size=22, opacity=1, clip=True))
    return WIDE_CHART | {"layer": layers}


def _rules(chart: Chart, kind: str, x: Spec, y: Spec) -> list[Spec]:
    """Rules at levels or marks, and labels whose sides alternate, so that they do not meet."""
    upright = kind == "marks"
    log = chart.log_x if upright else chart.log_y
    shown = [(n, v) for n, v in getattr(chart, kind) if _has_place(np.array(v), log)]
    if not shown:
        return []
    ordered = sorted(shown, key=lambda one: one[1])
    data = [{"v": v, "label": n, "second": k % 2} for k, (n, v) in enumerate(ordered)]
    drawn = {"data": {"values": data}}
    encoding = (x if upright else y) | {"field": "v"}
    name, end = ("x", "height") if upright else ("y", "width")
    ends = {"y": 0, "y2": "height"} if upright else {"x": 0, "x2": "width"}
    far = "datum.second" if upright else "!datum.second"
    label: Spec = {
        "clip": False, "baseline": "bottom", "dy": -3,
        "opacity": {"expr": f"inrange(datum.v, domain('{name}')) ? 1 : 0"},
        "y" if upright else "x": {"expr": f"{far} ? {end} : 0"},
        "dx": {"expr": f"({far} ? 1 : -1) * {4 if upright else -4}"},
        "align": {"expr": f"({far}) == {str(not upright).lower()} ? 'right' : 'left'"},
    } | ({"angle": 270} if upright else {})  # fmt: skip
    words = {name: encoding, "text": {"field": "label"}}
    return [
        _layer("rule", {name: encoding}, drawn, style=kind, clip=True, **ends),
        *(_layer("text", words, drawn, style=f"rule-{part}", **label) for part in _LABEL),
    ]


def _strip(chart: Chart, points: list[Series]) -> Spec:
    x, count = x_axis(chart, points, pad=0.045), len(points)
    names = json.dumps([series.name for series in chart.series])
    y = {
        "field": "y", "type": "quantitative", "title": None,
        "scale": {"domain": [-0.6, count - 0.4], "reverse": True, "nice": False, "zero": False},
        "axis": {
            "values": list(range(count)), "labelExpr": f"{names}[datum.value]", "grid": False,
        },
    }  # fmt: skip
    encoding = {"x": x, "y": y, "color": _by_series(chart, symbolType="circle")}
    dots = _layer("point", encoding, _ZOOM, filled=True, size=20, opacity=0.55, clip=True)
    layers = [*_rules(chart, "marks", x, y), dots]
    return WIDE_CHART | {"height": 40 + 60 * count, "layer": layers}


def _disc(chart: Chart, points: list[Series]) -> Spec:
    reach = max([1.0, *(float(np.abs(v).max(initial=0)) for p in points for v in (p.x, p.y))])
    square = {"domain": [-1.08 * reach, 1.08 * reach], "nice": False, "zero": False}
    x, y = x_axis(chart, points), y_axis(chart, points)
    for axis in (x, y):
        axis |= {"scale": square, "axis": axis["axis"] | {"tickCount": 5, "grid": True}}
    sides = {
        "data": {"sequence": {"start": 0, "stop": 6.29, "step": np.pi / 60, "as": "t"}},
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


# Axes: ranges, titles, and how Vega writes numbers


def x_axis(chart: Chart, points: Iterable[Series], *, pad: float = 0.0) -> Spec:
    """The x axis, whatever is switched off; with ``pad`` no dot at its ends is cut in half."""
    low, high = chart.x_range or _ends([line.x for line in points], chart.marks, chart.log_x)
    if pad and chart.x_range is None:
        low, high = padded(low, high, chart.log_x, pad)
    return {
        "field": "x",
        "type": "quantitative",
        "title": _title(chart.x_label),
        "scale": _scale(chart.log_x, zero=False) | {"domain": [low, high], "nice": False},
        "axis": {
            "grid": False, "labelExpr": _tick_label("x", chart.log_x), "labelFlush": True,
            "tickCount": {"expr": "ceil(width / 90)"}, "titleAnchor": "end", "titlePadding": 8,
            **({"tickMinStep": 1} if chart.counts else {}),
        },
    }  # fmt: skip


def y_axis(chart: Chart, points: Iterable[Series]) -> Spec:
    """The y axis of a chart; its title stands above it."""
    title = _title(chart.y_label)
    ends = {"nice": True} if chart.y_range is None else {"domain": list(chart.y_range)}
    return {
        "field": "y",
        "type": "quantitative",
        "title": title,
        "scale": _scale(chart.log_y, zero=chart.from_zero) | ends,
        "axis": {
            "labelExpr": _tick_label("y", chart.log_y), "tickCount": {"expr": "ceil(height / 55)"},
            "titleAngle": 0, "titleAlign": "left", "titleAnchor": "start",
            "titleBaseline": "bottom", "titleX": 0, "titleY": 5 - 15 * len(title),
            "titleLineHeight": 15,
        },
    }  # fmt: skip


def _title(text: str) -> list[str]:
    return textwrap.wrap(text, TITLE_LETTERS) or [""]


def padded(low: float, high: float, log: bool, margin: float = 0.012) -> tuple[float, float]:
    """A range with so much room at both ends, as a share."""
    if log:
        factor = (high / low) ** margin
        return low / factor, high * factor
    return low - margin * (high - low), high + margin * (high - low)


def _scale(log: bool, *, zero: bool) -> Spec:
    return {"type": "log"} if log else {"type": "linear", "zero": zero}


def _ends(
    values: list[Floats], labelled: Iterable[tuple[str, float]], log: bool
) -> tuple[float, float]:
    """The range of an axis that shows these values."""
    shown = np.concatenate([np.array([value for _, value in labelled]), *values])
    shown = shown[_has_place(shown, log)]
    if not shown.size:
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(shown.min()), float(shown.max())
    if low < high:
        return low, high
    return (low / 2, high * 2) if log else (low - 0.5, high + 0.5)


def _tick_label(axis: str, log: bool) -> str:
    """The Vega expression of labels; on a long logarithmic axis of powers of ten only."""
    size = "abs(datum.value)"
    style = f"{size} >= 1e6 || {size} < 1e-3 && datum.value ? '.3~e' : ',.9~g'"
    number = f"format(datum.value, {style})"
    if not log:
        return number
    power = "log(datum.value) / LN10"
    is_short = f"domain('{axis}')[1] / domain('{axis}')[0] < 30"
    return f"{is_short} || abs({power} - round({power})) < 1e-9 ? {number} : ''"


# Decimation: the points that an axis can show, and no more than the eye needs


def visible(chart: Chart, series: Series) -> Series:
    """The points that a chart can show, in order of x; y is NaN where a line is interrupted."""
    parts = [v for v in (series.x, series.y, series.low, series.high) if v is not None]
    x, y, *band = (np.array(values, dtype=np.float64).ravel() for values in parts)
    if chart.kind != "lines":
        finite = np.isfinite(x) & np.isfinite(y)
        return replace(series, x=x[finite], y=y[finite], low=None, high=None)
    order = np.argsort(x, kind="stable")
    x, y, *band = (v[order[_has_place(x[order], chart.log_x)]] for v in (x, y, *band))
    if band:  # drawn where both ends are; on a logarithmic axis zero is its lower end
        low, high = band
        both = np.isfinite(low) & _has_place(high, chart.log_y)
        if chart.log_y:
            low = np.maximum(low, np.concatenate([v[v > 0] for v in (y, *band)]).min(initial=1))
        band = [np.where(both, end, np.nan) for end in (low, high)]
    ends = band or (None, None)
    return replace(
        series, x=x, y=np.where(_has_place(y, chart.log_y), y, np.nan), low=ends[0], high=ends[1]
    )


def decimated(chart: Chart, series: Series) -> Series:
    """At most so many of the points that a chart can show that every peak stays."""
    points = visible(chart, series)
    x, y = points.x, points.y
    if x.size <= MOST_POINTS:
        return points
    if chart.kind == "lines":
        chosen = _extremes(np.log(x) if chart.log_x else x, y)
    else:  # one here and there, from the innermost to the outermost
        among = np.linspace(0, x.size - 1, MOST_POINTS).astype(np.intp)
        chosen = np.sort(np.argsort(np.hypot(x, y))[among])
    low, high = (end if end is None else end[chosen] for end in (points.low, points.high))
    return replace(points, x=x[chosen], y=y[chosen], low=low, high=high)


def _has_place(values: Floats, log: bool) -> NDArray[np.bool_]:
    return np.isfinite(values) & ((values > 0) | (not log))


def _extremes(x: Floats, y: Floats) -> NDArray[np.intp]:
    """First, last, lowest, highest and missing points of narrow strips: the same pixels as all."""
    strip = np.searchsorted(np.linspace(x[0], x[-1], MOST_POINTS // 5 + 1)[1:-1], x)
    starts = np.unique(strip, return_index=True)[1]
    missing = np.flatnonzero(np.isnan(y))
    chosen = [starts, np.append(starts[1:], x.size) - 1]
    chosen.append(missing[np.unique(strip[missing], return_index=True)[1]])
    chosen += [np.lexsort((values, strip))[starts] for values in (y, -y)]
    return np.unique(np.concatenate(chosen))


# Colours: Okabe and Ito's, moved until they stand out from a white and from a dark page

# on a light and on a dark page: lines need a contrast of 3 with what is behind them, text one of
# 4.5; the light colours of series are chosen to stand out from dark notebooks as well
_PAGES = json.loads(text_beside(__file__, "colours.json"))
LIGHT: Mapping[str, str] = _PAGES["light"]
DARK: Mapping[str, str] = _PAGES["dark"]
#: How many series have a colour of their own.
COLOURS = 7

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def config() -> dict[str, Any]:
    """How Vega-Lite draws; colours are variables of the page's styles."""
    text = text_beside(__file__, "theme.json")
    return {"font": FONT, **json.loads(text)}
