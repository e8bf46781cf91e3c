"""One picture of a finished study, chosen from its axes or by its ``[picture]`` table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcurve.sweeping.drawing import (
    BOUNDED,
    draw_bars,
    draw_curves,
    draw_heatmap,
    draw_lines,
    require_readable,
)
from memcurve.sweeping.finished import FinishedRows, is_numeric
from memcurve.sweeping.general import is_number_of_states
from memcurve.sweeping.specification import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from memcurve.sweeping.results import Sweep

_KINDS = {"lines": draw_lines, "bars": draw_bars, "heatmap": draw_heatmap, "curves": draw_curves}


def chosen_picture(sweep: Sweep) -> Picture:
    """The picture that the study asks for, with what it leaves open chosen from its axes."""
    asked = sweep.study.picture if sweep.study else Picture()
    axes = [axis for axis in sweep.axes if axis != "seed"]
    table = sweep.columns()
    numbers = [axis for axis in axes if is_numeric(table[axis])]
    numbers.sort(key=lambda axis: axis == "size")  # that memory grows with the size is no news
    words = [axis for axis in axes if axis not in numbers]
    kept = [name for name in sweep.quantities if name in BOUNDED] or list(sweep.quantities)
    points = FinishedRows(sweep)
    kept.sort(key=lambda name: is_number_of_states(points, name))
    has_curves = any(row.curve for row in sweep.rows)
    kind, x, hue, y = asked.kind, asked.x, asked.hue, asked.y
    drawn = sweep.study is not None and sweep.study.design == "random"
    if drawn and kind is None and y is None and numbers:
        kind = "curves" if has_curves and x is None and len(axes) <= 1 else "lines"
    if kind is None:
        many = len(numbers) >= 2 and x is None and hue is None and not words
        large = many and all(len({*table[axis]}) > 3 for axis in numbers[:2])
        if has_curves and x is None and len(axes) <= 1:
            kind = "curves"
        elif large or y is not None:
            kind = "heatmap"
        else:
            across = x or next(iter(numbers or words), None)
            kind = "bars" if across in words or across is None else "lines"
    if kind == "heatmap":
        x = x or next(iter(numbers), None)
        y = y or next((axis for axis in [*numbers, *words] if axis != x), None)
    elif kind != "curves":
        x = x or next(iter(words + numbers if kind == "bars" else numbers + words), "seed")
        # numbers drawn at random are all different, so that no colour stands for two of them
        colours = words if drawn else [*words, *numbers]
        hue = hue or next((axis for axis in colours if axis != x), None)
    else:
        hue = hue or next(iter([*words, *numbers]), None)
    quantity = asked.quantity or tuple(kept[:1] if hue or kind == "heatmap" else kept[:6])
    return asked.model_copy(update={"kind": kind, "x": x, "y": y, "hue": hue, "quantity": quantity})


def draw(sweep: Sweep, picture: Picture | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw a sweep.

    Parameters
    ----------
    sweep : Sweep
        With at least one finished case.
    picture : Picture, optional
        What to draw; by default what the study says, or what suits its axes: a quantity against
        an axis with the number of states as a dashed line, bars for ensembles or methods, a heat
        map over two axes, or the curves. Bands reach from the least to the greatest of all cases
        that share a point.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    """
    if sweep.counts["done"] == 0:
        raise ValueError(
            f"`sweep` must have a finished case to draw; {sweep.counts['failed']} of "
            f"{len(sweep)} failed."
        )
    chosen = picture or chosen_picture(sweep)
    table = sweep.columns()
    for quantity in chosen.quantity or ():
        if all(value is None for value in table[quantity]):
            raise ValueError(
                f"no finished case knows its {quantity!r}, so that it cannot be drawn; choose "
                f"another `quantity` in the study's [picture] table."
            )
    require_readable(FinishedRows(sweep), chosen)
    ax = _new_axes() if ax is None else ax
    _KINDS[chosen.kind or "lines"](sweep, chosen, ax)
    if sweep.study and sweep.study.title:
        ax.set_title(sweep.study.title, fontsize=11, loc="left", pad=8)
    return ax


def _new_axes() -> Axes:
    from matplotlib.figure import Figure

    # not through pyplot: no global state, no display needed; wide, for the legend at the side
    figure = Figure(figsize=(8.6, 4.4), layout="constrained")
    return figure.add_subplot()
