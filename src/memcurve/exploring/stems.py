"""An impulse response as stems, those before a lag pale and those after it strong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.report import Chart, Series, vega
from memcurve.report.decimation import decimated


def stems(response: NDArray[np.float64], lag: int) -> dict[str, Any]:
    """A Vega-Lite specification: b_j over j, split after ``lag``."""
    steps = np.arange(len(response), dtype=float)
    title = "An all-pass impulse response …"
    chart = Chart(title, "step j", "response b_j", (Series("b_j", steps, response),))
    line = decimated(chart, chart.series[0])
    x = {"field": "x"} | vega.x_axis(chart, vega.padded(0.0, float(len(response)), log=False))
    y = {"field": "y"} | vega.y_axis(chart, [line], {"narrow": 1, "wide": 1})
    rows = [{"x": int(a), "y": float(f"{b:.6g}")} for a, b in zip(line.x, line.y, strict=True)]
    return {
        "description": f"{title} {len(response)} steps; what comes after step {lag} is memory.",
        "title": title,
        "data": {"values": rows},
        "transform": [{"calculate": f"datum.x > {lag} ? 1 : 0", "as": "left"}],
        "width": "container",
        "height": vega.HEIGHT,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 2, "clip": True},
                "encoding": {"x": x, "y": y, "y2": {"datum": 0}, "color": _colour()},
            },
        ],
    }  # fmt: skip


def _colour() -> dict[str, Any]:
    names = "['gone by lag τ', 'still inside: the memory']"
    return {
        "field": "left",
        "type": "nominal",
        "scale": {"domain": [1, 0]},
        "legend": {"labelExpr": f"{names}[datum.value]"},
    }
