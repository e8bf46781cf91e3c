"""Decimation: the points of a series that an axis can show, and no more than the eye needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.report.document import Chart, Floats, Series

#: A line of more points is decimated: a screen has no more columns.
MOST_POINTS = 2000


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
    x, y = _floats(series.x), _floats(series.y)
    low = None if series.low is None else _floats(series.low)
    high = None if series.high is None else _floats(series.high)
    if chart.kind == "disc":
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
    if low is not None and high is not None:
        low, high = _band(low[order], high[order], y, chart.log_y)
    if x.size > most:
        curves = [y] if low is None or high is None else [y, low, high]
        chosen = _extremes(np.log(x) if chart.log_x else x, curves, most)
    else:
        chosen = np.arange(x.size)
    return Points(
        x[chosen],
        y[chosen],
        None if low is None else low[chosen],
        None if high is None else high[chosen],
        x.size,
        dropped,
    )


def _floats(values: object) -> Floats:
    return np.array(values, dtype=np.float64).ravel()


def _band(low: Floats, high: Floats, y: Floats, log: bool) -> tuple[Floats, Floats]:
    """A band is drawn where both of its ends are; on a logarithmic axis zero is its lower end."""
    known = np.isfinite(low) & np.isfinite(high)
    if log:
        known &= high > 0
        positive = np.concatenate([y[y > 0], high[known], low[known & (low > 0)]])
        floor = positive.min() if positive.size else 1.0
        low = np.maximum(low, floor)
    return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _extremes(x: Floats, curves: list[Floats], most: int) -> NDArray[np.intp]:
    """Indices of the first, last, lowest, highest and missing points of each of many strips.

    A line through them covers the same pixels as the whole line, as long as a strip is no wider
    than a pixel.
    """
    strips = max(1, most // (2 + 3 * len(curves)))
    edges = np.linspace(x[0], x[-1], strips + 1)[1:-1]
    bounds = np.concatenate([[0], np.searchsorted(x, edges, side="right"), [x.size]])
    chosen: list[int] = []
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        if start == stop:
            continue
        chosen += (start, stop - 1)
        for curve in curves:
            part = curve[start:stop]
            missing = np.isnan(part)
            if missing.any():
                chosen.append(start + int(np.argmax(missing)))
            if not missing.all():
                chosen += (start + int(np.nanargmin(part)), start + int(np.nanargmax(part)))
    return np.unique(np.array(chosen, dtype=np.intp))


def _outline(x: Floats, y: Floats, most: int) -> NDArray[np.intp]:
    """Indices of points that look like all of them: one in each cell of a grid fine enough."""
    if x.size <= most:
        return np.arange(x.size)
    width = max(float(np.ptp(x)), float(np.ptp(y))) or 1.0
    first = np.arange(0)
    for cells in (512, 256, 128, 64, 48, 32, 16):
        place = np.floor(np.stack([x - x.min(), y - y.min()]) * (cells / width)).astype(np.int64)
        _, first = np.unique(place[0] * (cells + 1) + place[1], return_index=True)
        if first.size <= most - 1:
            break
    else:
        first = first[:: -(-first.size // (most - 1))]
    return np.unique(np.append(first, np.argmax(np.hypot(x, y))))
