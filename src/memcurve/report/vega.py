"""Charts as Vega-Lite specifications: plain dictionaries, complete without any script."""

from __future__ import annotations

import numpy as np

from memcurve.report.document import Chart
from memcurve.report.layers import Spec, disc, lines
from memcurve.report.thinning import MOST, Drawn, drawn


def specification(chart: Chart, most: int = MOST) -> Spec:
    """A chart as a Vega-Lite specification.

    Parameters
    ----------
    chart : Chart
        What to draw.
    most : int, optional
        Points of one series that are drawn; longer series are thinned.

    Returns
    -------
    dict
        The specification. Its parameter ``hidden`` lists the series that are switched off, by
        number; ``zoom`` is the part of the axes that is shown. Colours are left to a config.
    """
    points = [drawn(chart, series, most) for series in chart.series]
    common: Spec = {
        "description": described(chart),
        "title": chart.title,
        "params": [
            {"name": "hidden", "value": [k for k, s in enumerate(chart.series) if not s.shown]}
        ],
        "data": {"name": "rows", "values": _rows(points)},
        "transform": [{"filter": "indexof(hidden, datum.s) < 0"}],
    }
    return common | (disc(chart, points) if chart.kind == "disc" else lines(chart, points))


def described(chart: Chart) -> str:
    """A chart in one sentence, for those who cannot see it."""
    names = ", ".join(series.name for series in chart.series)
    places = "".join(f"; {label} at {value:.3g}" for label, value in chart.marks + chart.levels)
    kind = "Points in the complex plane" if chart.kind == "disc" else f"{chart.up} over "
    over = ", with the unit circle" if chart.kind == "disc" else chart.across
    return f"{chart.title}. {kind}{over}: {names}{places}."


def remarks(chart: Chart, most: int = MOST) -> list[str]:
    """What a reader should know about how a chart is drawn."""
    points = [drawn(chart, series, most) for series in chart.series]
    thinned = [line for line in points if line.x.size < line.there]
    said = []
    if thinned:
        count, there = sum(line.x.size for line in thinned), sum(line.there for line in thinned)
        lost = "the outline stays" if chart.kind == "disc" else "every peak stays"
        said.append(f"{count:,} of {there:,} points are drawn, chosen so that {lost}.")
    dropped = sum(line.dropped for line in points)
    if dropped == 1:
        said.append("One value is not positive and has no place on the logarithmic axis.")
    elif dropped:
        said.append(
            f"{dropped:,} values are not positive and have no place on the logarithmic axis."
        )
    return said


def _rows(points: list[Drawn]) -> list[Spec]:
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
