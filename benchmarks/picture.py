"""Error against time: one point a method, its name beside it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from typing import Any

from benchmarks import methods
from memcurve import plot

Row = dict[str, Any]
_COLOURS = {"memcurve": plot.COLOURS[0], "paper": plot.COLOURS[1], "neighbour": plot.COLOURS[2]}
_WORDS = {
    "memcurve": "memcurve",
    "paper": "methods of the paper",
    "neighbour": "other libraries, and formulas in common use",
}
#: What is not drawn: ball arithmetic is what the errors are measured against.
_LEFT_OUT = ("certified",)
#: Room around a name, in pixels.
_MARGIN = 3.0


def draw(rows: Sequence[Row], path: str | os.PathLike[str]) -> None:
    """Draw the first network of the rows, and write the picture.

    Parameters
    ----------
    rows : sequence of dict
        Those of :func:`benchmarks.accuracy.compared`.
    path : path
        A file that ends in .png, .pdf or .svg.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    network = rows[0]["network"]
    shown = [
        row
        for row in rows
        if row["network"] == network
        and row["status"] == "measured"
        and row["error"] > 0
        and row["method"] not in _LEFT_OUT
    ]
    figure = Figure(figsize=(7, 4.8), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    for whose, colour in _COLOURS.items():
        those = [row for row in shown if row["whose"] == whose]
        ax.plot(
            [row["ratio_to_eigvals"] for row in those],
            [row["error"] for row in those],
            "o",
            color=colour,
            ms=6,
            label=_WORDS[whose],
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    times = [row["ratio_to_eigvals"] for row in shown]
    errors = [row["error"] for row in shown]
    ax.set_xlim(min(1.0, *times) / 1.6, 3 * max(times))
    ax.set_ylim(min(errors) / 50, 30 * max(errors))
    ax.set_xlabel("time, in units of one numpy.linalg.eigvals of the same matrix (one thread)")
    ax.set_ylabel(f"largest error of any $MC_τ$ ({network})")
    ax.grid(alpha=0.25)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.3, ncols=3,
        handletextpad=0.2, columnspacing=1.2,
    )  # fmt: skip
    figure.draw_without_rendering()  # settles the axes, so that names can be placed in pixels
    _name_points(ax, shown)
    figure.savefig(path)


def _name_points(ax: Any, shown: Sequence[Row]) -> None:
    """Put each name where it covers neither a point nor another name, near its point."""
    from matplotlib.transforms import Bbox

    renderer = ax.figure.canvas.get_renderer()
    frame = ax.get_window_extent(renderer)
    spots = [
        ax.transData.transform((row["ratio_to_eigvals"], row["error"])) for row in shown
    ]
    taken = [Bbox.from_extents(x - 8, y - 8, x + 8, y + 8) for x, y in spots]
    order = sorted(range(len(shown)), key=lambda k: -spots[k][0])
    for k in order:
        text = ax.annotate(
            _words(shown[k]),
            (shown[k]["ratio_to_eigvals"], shown[k]["error"]),
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=8,
            color=_COLOURS[shown[k]["whose"]],
            va="center",
            arrowprops={"arrowstyle": "-", "lw": 0.5, "color": "0.6", "shrinkA": 1, "shrinkB": 3},
        )
        for dx, dy, side in _places():
            text.set_position((dx, dy))
            text.set_horizontalalignment(side)
            text.set_verticalalignment("center")
            text.update_positions(renderer)
            box = _text_box(text, renderer)
            inside = frame.x0 < box.x0 and box.x1 < frame.x1
            inside = inside and frame.y0 < box.y0 and box.y1 < frame.y1
            if inside and not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)


def _text_box(text: Any, renderer: Any) -> Any:
    """The words alone: the extent of an annotation includes its line."""
    from matplotlib.text import Text

    return Text.get_window_extent(text, renderer).padded(_MARGIN)


def _places() -> list[tuple[float, float, str]]:
    """Offsets in points, nearest first: beside the point, then below and above it."""
    near = [(8.0, 0.0, "left"), (-8.0, 0.0, "right")]
    far = [
        (dx, float(dy), "center" if dx == 0 else "left" if dx > 0 else "right")
        for dy, dx in product([s * d for d in range(12, 200, 6) for s in (1, -1)], (0.0, 12.0, -12.0))
    ]
    return near + far


def _words(row: Row) -> str:
    if row["method"] == methods.EXACT:
        return f"exact: {row['error']:.0e}, in {row['ratio_to_eigvals']:.1f} × eigvals"
    if row["method"] == methods.ASSUMED:
        return "the same, assume_controllable"
    return str(row["method"])
