"""What is drawn within a chart, from the back to the front, as Vega-Lite layers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from memcurve.report import axes
from memcurve.report.document import Chart
from memcurve.report.palette import COLOURS
from memcurve.report.thinning import Drawn

#: A line of no more points than this gets a dot at each.
MOST_DOTS = 60
HEIGHT = 300
#: Side of the square of a disc, where the page does not give another.
SIDE = 380
#: The shapes of the points of a disc, by series: colours alone would not tell them apart.
SHAPES = ("circle", "diamond", "triangle-up", "square")
#: Dashes and gaps of a dashed line, and of the lines that share a colour with an earlier one.
DASHED, DOTTED, SOLID = [6, 4], [2, 2], [1, 0]

#: The unit circle has 120 sides.
_ARC = 2 * np.pi / 120

Spec = dict[str, Any]


def dash(chart: Chart, k: int) -> list[int]:
    """Dashes and gaps of a line."""
    if chart.series[k].dashed:
        return DASHED
    return DOTTED if k >= COLOURS else SOLID


def shape(k: int) -> str:
    """The shape of the points of a series."""
    return SHAPES[k % len(SHAPES)]


def _colour(chart: Chart) -> Spec:
    """Colours by number: the config has them in order, and repeats them as needed."""
    return {
        "field": "s",
        "type": "nominal",
        "scale": {"domain": list(range(len(chart.series)))},
        "legend": _legend(chart),
    }


def _legend(chart: Chart) -> Spec:
    names = json.dumps([series.name for series in chart.series])
    shown = [k for k, series in enumerate(chart.series) if series.shown]
    return {"labelExpr": f"{names}[datum.value]", "values": shown, "title": None}


def lines(chart: Chart, points: list[Drawn]) -> Spec:
    marks = [
        (label, v) for label, v in chart.marks if np.isfinite(v) and (v > 0 or not chart.log_x)
    ]
    values = np.concatenate([np.zeros(0), *(line.x for line in points)])
    domain = axes.extent([*values.tolist(), *(v for _, v in marks)], chart.log_x)
    dotted = [k for k, line in enumerate(points) if 0 < line.x.size <= MOST_DOTS]
    if dotted:  # whose first and last dots would be cut in half
        domain = axes.padded(*domain, chart.log_x)
    places = axes.places([v for _, v in marks], *domain, chart.log_x)
    rows = axes.label_rows([label for label, _ in marks], places)
    x = {"field": "x"} | axes.across(chart, domain)
    tall = {kind: max(r, default=-1) + 1 for kind, r in rows.items()}
    y = {"field": "y"} | axes.up(chart, points, tall)
    layers = _levels(chart, points, y)
    if marks:
        layers += _marks(marks, rows, x)
    if any(line.low is not None for line in points):
        layers.append(
            {
                "transform": [{"filter": "isValid(datum.lo)"}],
                "mark": {"type": "area", "opacity": 0.2, "clip": True, "line": False},
                "encoding": {
                    "x": x,
                    "y": y | {"field": "lo"},
                    "y2": {"field": "hi"},
                    "color": _colour(chart),
                },
            }
        )
    dashes = [dash(chart, k) for k in range(len(chart.series))]
    layers.append(
        {
            "params": [{"name": "zoom", "select": {"type": "interval"}, "bind": "scales"}],
            "mark": {"type": "line", "clip": True, "strokeCap": "butt", "strokeJoin": "round"},
            "encoding": {
                "x": x,
                "y": y,
                "color": _colour(chart),
                "strokeDash": {
                    "field": "s",
                    "type": "nominal",
                    "scale": {"domain": list(range(len(dashes))), "range": dashes},
                    "legend": _legend(chart),
                },
                # the first series is what the others are compared with: it shows below them
                "strokeWidth": {
                    "condition": {"test": "datum.s === 0", "value": 2.6},
                    "value": 1.7,
                },
            },
        }
    )
    if dotted:
        layers.append(
            {
                "transform": [{"filter": f"indexof({dotted}, datum.s) >= 0"}],
                "mark": {"type": "point", "filled": True, "size": 22, "opacity": 1, "clip": True},
                "encoding": {"x": x, "y": y, "color": _colour(chart)},
            }
        )
    return {
        "width": "container",
        "height": HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": layers,
    }


def _marks(marks: list[tuple[str, float]], rows: dict[str, list[int]], x: Spec) -> list[Spec]:
    data = [
        {
            "x": value,
            "label": label,
            "w": round(axes.label_width(label)),
            "narrow": rows["narrow"][k],
            "wide": rows["wide"][k],
        }
        for k, (label, value) in enumerate(marks)
    ]
    row = f"(width < {axes.WIDE} ? datum.narrow : datum.wide)"
    # above the plot, where clipping would hide them, they go out with their place on the axis
    seen = {"expr": "inrange(datum.x, domain('x')) ? 1 : 0"}
    top = f"-{axes.ROW} * {row}"
    return [
        {
            "data": {"values": data},
            "mark": {
                "type": "rule", "style": "mark", "clip": False, "opacity": seen,
                "y": {"expr": f"{top} - 4"}, "y2": "height",
            },
            "encoding": {"x": x},
        },
        {  # a flag on its rule, moved to the left where it would leave the picture
            "data": {"values": data},
            "mark": {
                "type": "text",
                "style": "mark-label",
                "clip": False,
                "align": "left",
                "baseline": "bottom",
                "y": {"expr": f"{top} - 4"},
                "dx": {"expr": "min(-1, width - scale('x', datum.x) - datum.w)"},
                "opacity": seen,
            },
            "encoding": {"x": x, "text": {"field": "label"}},
        },
    ]  # fmt: skip


def _levels(chart: Chart, points: list[Drawn], y: Spec) -> list[Spec]:
    levels = [
        (label, v) for label, v in chart.levels if np.isfinite(v) and (v > 0 or not chart.log_y)
    ]
    if not levels:
        return []
    values = np.concatenate([line.y for line in points] or [np.zeros(0)])
    ends = axes.extent([*values.tolist(), *(v for _, v in levels)], chart.log_y)
    places = axes.places([v for _, v in levels], *ends, chart.log_y)
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


def disc(chart: Chart, points: list[Drawn]) -> Spec:
    reach = 1.0
    for line in points:
        reach = max([reach, *np.abs(line.x).tolist(), *np.abs(line.y).tolist()])
    scale = {"domain": [-1.08 * reach, 1.08 * reach], "nice": False, "zero": False}
    axis = {"labelExpr": axes.written("datum.value"), "tickCount": 5}
    x = {
        "field": "x",
        "type": "quantitative",
        "title": axes.title_lines(chart.across, axes.WIDE),
        "scale": scale,
        "axis": axis | {"titleAnchor": "end"},
    }
    raised = axes.up(chart, points, {"narrow": 0, "wide": 0})
    y = x | {"field": "y", "title": raised["title"], "axis": raised["axis"] | axis}
    shapes = [shape(k) for k in range(len(chart.series))]
    legend = _legend(chart) | {"symbolType": "circle", "symbolSize": 60}
    return {
        "width": SIDE,
        "height": SIDE,
        "layer": [
            {
                "data": {"sequence": {"start": 0, "stop": 6.29, "step": _ARC, "as": "t"}},
                "transform": [
                    {"calculate": "cos(datum.t)", "as": "x"},
                    {"calculate": "sin(datum.t)", "as": "y"},
                ],
                "mark": {"type": "line", "style": "circle", "clip": True},
                "encoding": {"x": x, "y": y, "order": {"field": "t"}},
            },
            {
                "params": [{"name": "zoom", "select": {"type": "interval"}, "bind": "scales"}],
                "mark": {
                    "type": "point", "filled": True, "size": 42, "opacity": 0.85, "clip": True,
                },
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": _colour(chart) | {"legend": legend},
                    "shape": {
                        "field": "s",
                        "type": "nominal",
                        "scale": {"domain": list(range(len(shapes))), "range": shapes},
                        "legend": legend,
                    },
                },
            },
        ],
    }  # fmt: skip
