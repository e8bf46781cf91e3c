"""Error against time: one point a method, its name beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from benchmarks import methods
from memcurve import plot

Row = dict[str, Any]
_COLOURS = {"memcurve": plot.COLOURS[0], "paper": plot.COLOURS[1], "neighbour": plot.COLOURS[2]}
_WORDS = {
    "memcurve": "memcurve",
    "paper": "methods of the paper",
    "neighbour": "other libraries, usual formulas",
}
#: What is not drawn: ball arithmetic is what the errors are measured against.
_LEFT_OUT = ("certified",)
#: Pixels kept free around a name and around a point.
_MARGIN = 2.0
_POINT = 7.0


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
    figure = Figure(figsize=(7, 4.6), layout="constrained", dpi=150)
    FigureCanvasAgg(figure)
    ax = figure.add_subplot()
    for whose, colour in _COLOURS.items():
        those = [row for row in shown if row["whose"] == whose]
        times, errors = [r["ratio_to_eigvals"] for r in those], [r["error"] for r in those]
        ax.plot(times, errors, "o", color=colour, ms=5.5, label=_WORDS[whose])
    for row in shown:
        if "bound" in row:
            ends = [row["error"], row["bound"]]
            ax.plot([row["ratio_to_eigvals"]] * 2, ends, "-_", color=_COLOURS[row["whose"]], lw=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    times, errors = [r["ratio_to_eigvals"] for r in shown], [r["error"] for r in shown]
    ax.set_xlim(min(1.0, *times) / 1.3, 2.5 * max(times))
    ax.set_ylim(min(errors) / 30, 30 * max(errors))
    ax.set_xlabel("time (in units of one numpy.linalg.eigvals of the same matrix; one thread)")
    ax.set_ylabel(f"largest error of any memory $MC_τ$, which is at most 1\n({network})")
    ax.grid(alpha=0.25)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.3, ncols=3,
        handletextpad=0.1, columnspacing=1.5,
    )  # fmt: skip
    figure.draw_without_rendering()  # settles the axes, so that names can be placed in pixels
    figure.set_layout_engine("none")
    _name_points(ax, shown)
    figure.savefig(path)


def _name_points(ax: Any, shown: Sequence[Row]) -> None:
    """Put each name where neither it nor its line covers a point, a name or a line.

    From right to left, and further down where it must be: each line then passes to the left of the
    names above its own.
    """
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox, IdentityTransform

    renderer = ax.figure.canvas.get_renderer()
    frame = ax.get_window_extent(renderer)
    scale = ax.figure.dpi / 72
    spots = [ax.transData.transform((row["ratio_to_eigvals"], row["error"])) for row in shown]
    points = [Bbox.from_extents(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in spots]
    names: list[Any] = []
    lines: list[Any] = []
    for k in sorted(range(len(shown)), key=lambda k: -float(spots[k][0])):
        (x, y), row = spots[k], shown[k]
        text = Text(0, 0, _words(row), fontsize=8, va="center", figure=ax.figure)
        text.set_transform(IdentityTransform())
        for dx, dy, side in _places():
            text.set_position((x + scale * dx, y + scale * dy))
            text.set_horizontalalignment(side)
            box = text.get_window_extent(renderer).padded(_MARGIN)
            line = Bbox.from_extents(x - 1, min(y, y + scale * dy), x + 1, max(y, y + scale * dy))
            fits = frame.x0 < box.x0 and box.x1 < frame.x1 and frame.y0 < box.y0 < frame.y1
            if fits and not (
                any(box.overlaps(other) for other in names + lines + points[:k] + points[k + 1 :])
                or any(line.overlaps(other) for other in names)
            ):
                break
        names.append(box)
        lines.append(line)
        at, colour = (row["ratio_to_eigvals"], row["error"]), _COLOURS[row["whose"]]
        ax.annotate(
            _words(row), at, (dx, dy), textcoords="offset points", fontsize=8, ha=side,
            va="center", color=colour, annotation_clip=False,
        )  # fmt: skip
        if side == "left" and dy:
            ends = ax.transData.inverted().transform([(x, y), (x, y + scale * dy)])
            ax.plot(*ends.T, "-", color="0.65", lw=0.6, zorder=1)


def _places() -> Iterator[tuple[float, float, Literal["left", "center"]]]:
    """Offsets of a name in points: beside its point, above, below, and then ever further down."""
    yield 7, 0, "left"
    yield 0, 10, "center"
    yield 0, -10, "center"
    for down in range(12, 150, 2):
        yield 2, -float(down), "left"


def _words(row: Row) -> str:
    if row["method"] == methods.EXACT:
        return (
            f"exact: {row['error']:.0e}, its own bound {row.get('bound', 0):.0e}; "
            f"{row['ratio_to_eigvals']:.1f} × eigvals"
        )
    return str(row["method"])
