"""The picture of a sweep, chosen from its axes or by the ``[picture]`` table of its study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve import plot
from memcurve.sweeping.cases import QUANTITIES, number_of_states
from memcurve.sweeping.specification import Picture
from memcurve.sweeping.tables import Finished, Table, is_numeric, number_text, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Axes of words; all others are numbers, except noise where words are among its values.
WORDS = ("ensemble", "mask", "input", "method")
_AXIS_LABELS = {
    "size": "number of nodes N",
    "spectral_radius": "spectral radius ρ",
    "density": "density (share of non-zero weights)",
    "noise": "standard deviation of the noise (input of unit variance)",
    "inputs": "number of inputs",
    "lags": "number of lags",
}
_MARKERS = "osD^vPX"
#: More colours than this nobody tells apart.
MOST_HUES = 14


def chosen_picture(table: Table) -> Picture:
    """The picture that the study asks for, with what it leaves open chosen from its axes."""
    study, columns = table.study, table.columns()
    asked = study.picture if study else Picture()
    axes = [axis for axis in table.axes if axis != "seed"]
    numbers = [axis for axis in axes if is_numeric(columns[axis])]
    numbers.sort(key=lambda axis: axis == "size")  # that memory grows with the size is no news
    words = [axis for axis in axes if axis not in numbers]
    kept = [name for name in table.quantities if QUANTITIES[name].bounded]
    kept = kept or list(table.quantities)
    points = Finished(table)
    kept.sort(key=points.counts_states)
    has_curves = any(row.curve for row in table.rows)
    kind, x, hue, y = asked.kind, asked.x, asked.hue, asked.y
    drawn = study is not None and study.design == "random"
    if drawn and kind is None and y is None and numbers:
        kind = "curves" if has_curves and x is None and len(axes) <= 1 else "lines"
    if kind is None:
        many = len(numbers) >= 2 and x is None and hue is None and not words
        large = many and all(len({*columns[axis]}) > 3 for axis in numbers[:2])
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


def draw(table: Table, picture: Picture | None = None, ax: Axes | None = None) -> Axes:
    """Draw the rows of a sweep, see :meth:`memcurve.Sweep.plot`."""
    if table.counts["done"] == 0:
        raise ValueError(
            f"a sweep must have a finished case to draw; {table.counts['failed']} of "
            f"{len(table.rows)} failed."
        )
    chosen = picture or chosen_picture(table)
    for quantity in chosen.quantity or ():
        if all(value is None for value in table.columns()[quantity]):
            raise ValueError(
                f"no finished case knows its {quantity!r}, so that it cannot be drawn; choose "
                f"another `quantity` in the study's [picture] table."
            )
    points = Finished(table)
    require_readable(points, chosen)
    ax = _new_axes() if ax is None else ax
    kinds = {"bars": _draw_bars, "heatmap": _draw_heatmap, "curves": _draw_curves}
    kinds.get(chosen.kind or "lines", _draw_lines)(points, chosen, ax)
    if table.study and table.study.title:
        ax.set_title(table.study.title, fontsize=11, loc="left", pad=8)
    return ax


def _new_axes() -> Axes:
    from matplotlib.figure import Figure

    # not through pyplot: no global state, no display needed; wide, for the legend at the side
    figure = Figure(figsize=(8.6, 4.4), layout="constrained")
    return figure.add_subplot()


def require_readable(points: Finished, picture: Picture) -> None:
    """Raise for a picture that cannot be drawn, or that nobody could read."""
    hues = len(points.values(picture.hue)) if picture.hue else 1
    quantities = picture.quantity or ()
    if picture.kind == "curves" and hues > MOST_HUES:
        raise ValueError(
            f"the picture would have {hues} curves, more than the {MOST_HUES} that can be told "
            f"apart; choose another `hue` in the study's [picture] table."
        )
    if picture.kind == "heatmap" and len(quantities) > 1:
        raise ValueError(
            f"a heat map shows one quantity, got {', '.join(quantities)}; leave one of them in "
            f"`quantity` of the study's [picture] table."
        )
    if picture.kind == "lines" and not is_numeric(points.values(picture.x or "seed")):
        raise ValueError(
            f'kind = "lines" needs an axis of numbers, but {picture.x!r} has words; take "bars".'
        )
    if picture.kind in ("lines", "bars") and hues * len(quantities) > MOST_HUES:
        raise ValueError(
            f"the picture would have {hues * len(quantities)} lines, more than the {MOST_HUES} "
            f"that can be told apart; choose `hue` and `quantity` in the study's [picture] table, "
            f'or kind = "heatmap".'
        )


def _series(points: Finished, picture: Picture) -> list[tuple[str, str, dict[str, Any]]]:
    """One a line or colour: label, quantity and what its rows have in common."""
    quantities = picture.quantity or ()
    hues = points.values(picture.hue) if picture.hue else [None]
    series = []
    for hue in hues:
        for quantity in quantities:
            name = _quantity_label(quantity)
            if picture.hue:
                value = _hue_label(picture, hue)
                name = value if len(quantities) == 1 else f"{value}: {name}"
            series.append((name, quantity, {picture.hue: hue} if picture.hue else {}))
    return series


def _spreads(points: Finished, quantity: str, at: dict[str, Any], x: str) -> Iterator[Any]:
    """Means, least and greatest along the axis ``x``."""
    found = [points.spread(quantity, **at, **{x: value}) for value in points.values(x)]
    return (np.array([one[name] for one in found]) for name in ("mean", "min", "max"))


def _draw_lines(points: Finished, picture: Picture, ax: Axes) -> None:
    """Means over all cases that share a point, with bands from the least to the greatest."""
    x = picture.x or "seed"
    across = points.values(x)
    grid = _is_grid(points)
    for k, (name, quantity, at) in enumerate(_series(points, picture)):
        if not grid:  # cases that have nothing else in common are points, not means on a line
            column, marker = points.columns[quantity], _MARKERS[k % len(_MARKERS)]
            known = [place for place in points.places(**at) if column[place] is not None]
            xs, ys = ([one[place] for place in known] for one in (points.columns[x], column))
            ax.plot(xs, ys, color=_colour(k), ls="", marker=marker, ms=4, label=name, zorder=3)
            continue
        mean, low, high = _spreads(points, quantity, at, x)
        finite = np.isfinite(mean)
        places, colour = np.array(across, dtype=float)[finite], _colour(k)
        marker = _MARKERS[k % len(_MARKERS)] if len(places) <= 40 else ""
        style = "-" if k < len(plot.COLOURS) else "--"
        ax.fill_between(places, low[finite], high[finite], color=colour, alpha=0.18, lw=0)
        ax.plot(
            places, mean[finite], color=colour, lw=1.8, ls=style, marker=marker, ms=4, label=name,
            zorder=3,
        )  # fmt: skip
    _finish(points, picture, ax)
    above = [value for value in across if value > 0]
    if picture.log_x or (picture.log_x is None and _wants_log(above)):
        _log_axis(ax, above)
        if len(above) < len(across):
            ax.set_xlabel(f"{ax.get_xlabel()}; 0 has no place on this axis")


def _draw_bars(points: Finished, picture: Picture, ax: Axes) -> None:
    """Groups of bars of means, with whiskers from the least to the greatest."""
    x = picture.x or "seed"
    across = points.values(x)
    series = _series(points, picture)
    width = 0.8 / len(series)
    for k, (name, quantity, at) in enumerate(series):
        mean, low, high = _spreads(points, quantity, at, x)
        places = np.arange(len(across)) + (k - (len(series) - 1) / 2) * width
        # equal numbers may differ in rounding
        whiskers = np.maximum([mean - low, high - mean], 0.0)
        ax.bar(places, mean, 0.9 * width, color=_colour(k), label=name, zorder=2)
        ax.errorbar(
            places, mean, whiskers, fmt="none", ecolor="0.25", elinewidth=1, capsize=2, zorder=3
        )
    labels = [picture.labels.get(text, text.replace("_", " ")) for text in texts(across).values()]
    crowded = max(map(len, labels)) * len(labels) > 70
    turn: Any = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    ax.set_xticks(range(len(across)), labels, **turn)
    _finish(points, picture, ax)
    ax.set_xlabel("" if x in WORDS else _AXIS_LABELS.get(x, x))
    ax.grid(visible=False, axis="x")


def _draw_heatmap(points: Finished, picture: Picture, ax: Axes) -> None:
    """Means of one quantity over two axes, with the numbers in the cells where there is room."""
    x, y = picture.x or "seed", picture.y or "seed"
    [quantity, *_] = picture.quantity or ("total",)
    across, up = points.values(x), points.values(y)
    cells = np.array(
        [[points.spread(quantity, **{x: a, y: b})["mean"] for a in across] for b in up]
    )
    image = ax.imshow(cells, origin="lower", aspect="auto", cmap="viridis")
    for axis, values in ((ax.xaxis, across), (ax.yaxis, up)):
        axis.set_ticks(range(len(values)), list(texts(values).values()))
    ax.set_xlabel(_AXIS_LABELS.get(x, x))
    ax.set_ylabel(_AXIS_LABELS.get(y, y))
    figure: Any = ax.figure
    over = _averaged(points, picture)
    lines = [_quantity_label(quantity) + (f", mean of {over}" if over else "")]
    figure.colorbar(image, ax=ax, label="\n".join([*lines, *_left_out(points, picture)]))
    if cells.size <= 150:
        middle = (np.nanmin(cells) + np.nanmax(cells)) / 2
        for (b, a), value in np.ndenumerate(cells):
            if np.isfinite(value):
                colour = "white" if value < middle else "black"
                ax.text(a, b, f"{value:.3g}", ha="center", va="center", color=colour, fontsize=8)


def _draw_curves(points: Finished, picture: Picture, ax: Axes) -> None:
    """Memory against the lag, mean and band over the seeds, a colour for each value of ``hue``."""
    hues = points.values(picture.hue) if picture.hue else [None]
    last, keeps_total = 1, "total" in points.columns
    for k, hue in enumerate(hues):
        places = points.places(**({picture.hue: hue} if picture.hue else {}))
        chosen = [curve for curve in (points.rows[k].curve for k in places) if curve]
        if not chosen:
            continue
        longest = max(len(curve["lags"]) for curve in chosen)
        stack = np.full((len(chosen), longest), np.nan)  # beyond its lags a curve is not known
        for values, curve in zip(stack, chosen, strict=True):
            values[: len(curve["values"])] = curve["values"]
        colour = _colour(k)
        name = "memory" if hue is None else _hue_label(picture, hue)
        totals = [points.columns["total"][place] for place in places] if keeps_total else []
        if known := [total for total in totals if total is not None]:
            name = f"{name}: total {np.mean(known):.4g}"  # of all lags, also those not on the curve
        low, high = np.nanmin(stack, axis=0), np.nanmax(stack, axis=0)
        ax.fill_between(range(longest), low, high, color=colour, alpha=0.18, lw=0)
        style = "-" if k < len(plot.COLOURS) else "--"
        shortest = min(len(curve["lags"]) for curve in chosen)
        mean = np.nanmean(stack, axis=0)
        ax.plot(mean[:shortest], color=colour, lw=1.8, ls=style, label=name)
        if shortest < longest:  # of those curves that go so far
            rest = range(shortest - 1, longest)
            ax.plot(rest, mean[shortest - 1 :], color=colour, lw=1, ls=":", label="_rest")
        seen = np.flatnonzero(high > plot.INVISIBLE)
        last = max(last, int(seen[-1]) + 1 if len(seen) else 1)
    ax.set_xlim(0, 1.05 * last)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("lag τ (time steps)")
    ax.set_ylabel("memory $MC_τ$")
    ax.grid(alpha=0.25)
    dotted = any(line.get_linestyle() == ":" for line in ax.lines)
    cut = "dotted: of those that go so far" if dotted else None
    _legend(ax, "\n".join(filter(None, [_shared(points, picture), cut])))


def _finish(points: Finished, picture: Picture, ax: Axes) -> None:
    """Names, the number of states as a dashed line, and the legend beside the data."""
    quantities = picture.quantity or ()
    x = picture.x or "seed"
    ax.set_xlabel(_AXIS_LABELS.get(x, x))
    one = _quantity_label(quantities[0]) if len(quantities) == 1 else None
    bounded = [QUANTITIES[quantity].bounded for quantity in quantities]
    if quantities == ("total",) and all(row.case.get("noise") for row in points.table.rows):
        one = "usable memory"
    ax.set_ylabel(one or ("memory" if all(bounded) else "lags, or memory"))
    if picture.log_y:
        ax.set_yscale("log")
    elif ax.dataLim.y0 >= 0:
        ax.set_ylim(bottom=0)
    if any(bounded):
        _draw_bound(points, x, ax)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    _legend(ax, _shared(points, picture))


def _legend(ax: Axes, title: str | None) -> None:
    """Beside the axes, where it cannot cover data."""
    if len(ax.get_legend_handles_labels()[0]) > 1 or title:
        legend = ax.legend(
            loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, borderaxespad=0, fontsize=9,
            title=title, title_fontsize=8, alignment="left",
        )  # fmt: skip
        legend.get_title().set_color("0.35")


def _shared(points: Finished, picture: Picture) -> str | None:
    """What the cases at one point differ in, and so what the bands are; what is missing there."""
    over = _averaged(points, picture)
    lines = [f"mean and range of {over}"] if over else []
    return "\n".join([*lines, *_left_out(points, picture)]) or None


def _left_out(points: Finished, picture: Picture) -> list[str]:
    """How many finished cases do not know what is drawn: a mean without them may mislead."""
    lines = []
    for quantity in picture.quantity or () if picture.kind != "curves" else ():
        missing = points.columns[quantity].count(None)
        if missing:
            where = QUANTITIES[quantity].missing
            lines.append(f"{missing:,} of {len(points.rows):,} {where}, not drawn")
    return list(dict.fromkeys(lines))


def _averaged(points: Finished, picture: Picture) -> str | None:
    shown = (picture.x, picture.y, picture.hue)
    rest = [axis for axis in points.table.axes if axis not in shown]
    if not rest or not _is_grid(points):
        return None
    counts = [len(set(points.table.columns()[axis])) for axis in rest]
    return " × ".join(f"{n} {_plural(axis)}" for n, axis in zip(counts, rest, strict=True))


def _is_grid(points: Finished) -> bool:
    study = points.table.study
    return study is not None and study.design == "grid"


def _draw_bound(points: Finished, x: str, ax: Axes) -> None:
    """The number of states, which memory of white input never exceeds."""
    cases = [row.case for row in points.table.rows]
    if any(case.get("input") for case in cases):
        return  # under coloured input N is no bound
    states = list(map(number_of_states, cases))
    style: Any = {"color": plot.COLOURS[6], "lw": 1, "ls": "--", "zorder": 1}
    if len({*states}) == 1:
        ax.axhline(states[0], label=f"N = {states[0]}", **style)
        ax.set_ylim(top=max(ax.get_ylim()[1], 1.06 * states[0]))
    elif x == "size":
        ends = [min(states), max(states)]
        ax.plot(ends, ends, label="N", **style)


def _wants_log(values: Sequence[float]) -> bool:
    """Whether numbers are spaced rather by factors than by steps."""
    if len(values) < 4 or values[0] <= 0 or values[-1] / values[0] < 30:
        return False
    steps = np.diff(np.asarray(values, dtype=float))
    return bool(steps.max() > 5 * steps.min())


def _log_axis(ax: Axes, values: Sequence[float]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    if values[0] > 0 and values[-1] / values[0] < 200:
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())


def _colour(k: int) -> str:
    return plot.COLOURS[k % len(plot.COLOURS)]


def _quantity_label(name: str) -> str:
    return QUANTITIES[name].label or name


def _hue_label(picture: Picture, hue: Any) -> str:
    """A value of the axis shown by colour, by the label that the study gives it."""
    if isinstance(hue, str):
        return picture.labels.get(hue, hue.replace("_", " "))
    axis = {"spectral_radius": "ρ =", "size": "N ="}.get(picture.hue or "", picture.hue)
    return f"{axis} {'default' if hue is None else number_text(hue)}"


def _plural(axis: str) -> str:
    """An axis after a number of its values."""
    known = {"density": "densities", "spectral_radius": "radii", "lags": "lags", "inputs": "inputs"}
    return known.get(axis, f"{axis}s")
