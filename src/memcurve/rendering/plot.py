"""Pictures of results, on matplotlib axes.

Every function draws on ``ax``, or else on a new figure, and returns the axes. Results draw
themselves with these functions, which use only the attributes of a curve, a profile or a
capacity, not the classes of results. Lines are declared as a
``memcurve.rendering.report.Chart``, which reports draw as well.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve.core.progress import is_notebook
from memcurve.core.result import require_ending
from memcurve.rendering.report.document import Chart, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "among_nulls", "capacity", "chart", "curves", "floor_profile", "layer_map", "profile", "save",
    "then_and_true",
]  # fmt: skip

#: What :func:`save` writes.
ENDINGS = (".png", ".pdf", ".svg", ".jpg", ".webp")
#: Okabe and Ito's colours, which most colour-blind readers can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: A line of no more points gets a marker at each. Doubled: markers that touch.
MOST_MARKERS = 60
#: Memory below this cannot be visible on a linear axis, which ends there. Doubled: shorter axes.
INVISIBLE = 1e-3
#: Standard deviations beyond which an axis of them is logarithmic. Doubled: dots in a heap.
_FAR = 12.0
_LAG = "lag τ (time steps)"
#: Names of the axes, by the kind of curve.
_AXES = {
    "memory": (_LAG, "memory $MC_τ$"),
    "forecasting": ("horizon τ (time steps ahead)", "forecasting capacity $FC_τ$"),
    "Fisher": (_LAG, "Fisher memory $F_τ$"),
}


def chart(drawing: Chart, *, ax: Axes | None = None) -> Axes:
    """Draw the lines, or bars on top of each other, of a chart, with bands, marks and levels.

    Examples
    --------
    >>> import memcurve
    >>> design = memcurve.design("exponential", 5)
    >>> memcurve.plot.chart(design.chart()).get_xlabel()
    'lag τ (time steps)'
    """
    from matplotlib.ticker import MaxNLocator

    ax = _new_axes() if ax is None else ax
    ax.set_xscale("log" if drawing.log_x else "linear")
    ax.set_yscale("log" if drawing.log_y else "linear")
    shown = [one for one in drawing.series if one.shown]
    coloured, tops = [*zip(shown, itertools.cycle(COLOURS), strict=False)], np.zeros(())
    for k, (one, colour) in enumerate(coloured):
        if drawing.kind == "bars":
            ax.bar(one.x, one.y, 0.8, tops, color=colour, label=_plain(one.name))
            tops = tops + one.y
            continue
        width = 1.0 if one.band else 1.8  # which would cover narrow bands
        style: dict[str, Any] = {"color": colour, "ms": 2 * width, "lw": width}
        style["marker"] = "o" if len(one.x) <= MOST_MARKERS else ""
        style["zorder"] = 2.0 if k else 2.5  # the first is on top
        dashes = "--" if one.dashed else "-" if k < len(COLOURS) else ":"
        ax.plot(one.x, one.y, dashes, label=_plain(one.name), **style)
    named = {""}
    for one, colour in coloured:
        if one.low is not None and one.high is not None:
            name = None if one.band in named else one.band
            ax.fill_between(one.x, one.low, one.high, color=colour, alpha=0.3, lw=0, label=name)
            named.add(one.band)
    for name, height in drawing.levels:
        ax.axhline(height, color=COLOURS[6], lw=1, ls="--", label=_plain(name))
    for (name, x), colour in zip(drawing.marks, itertools.cycle(COLOURS[1:5]), strict=False):
        ax.axvline(x, color=colour, lw=1, ls=":")
        at = (x, _height_at(drawing, x))
        style = {"textcoords": "offset points", "color": colour, "fontsize": 9}
        ax.annotate(_plain(name), at, xytext=(5, 5), **style)
    if drawing.kind == "bars":
        ax.use_sticky_edges = False  # or there is no room above the highest
        ax.set_axisbelow(True)
        ax.autoscale_view()
    ax.set(xlim=drawing.x_range, ylim=drawing.y_range)
    if drawing.from_zero and drawing.y_range is None:
        ax.set_ylim(bottom=0)
    ticks = ax.xaxis.get_major_locator()
    if isinstance(ticks, MaxNLocator) and drawing.counts:
        ticks.set_params(integer=True)
    names = [one.name for one in shown]
    columns = 2 if len(names) > 4 and max(map(len, names)) < 40 else 1
    return _labelled(ax, drawing.x_label, drawing.y_label, columns)


def _height_at(drawing: Chart, x: float) -> float:
    """The height of the first line of a chart at ``x``."""
    first = drawing.series[0]
    scale = np.log if drawing.log_x else np.asarray
    return float(np.interp(scale(x), scale(first.x), first.y))


def curves(
    *results: Any, labels: Sequence[str] | None = None, ax: Axes | None = None, log: bool = False
) -> Axes:
    """Draw one or several :class:`memcurve.MemoryCurve` with their errors, the first on top.

    ``labels`` are their names, by default the network and the total memory; ``log`` makes the
    memory axis logarithmic, which shows the tail.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> ax = memcurve.plot.curves(memcurve.memory_curve(network))
    >>> ax.figure.savefig("memory.png")  # doctest: +SKIP
    """
    for result in results:
        if not hasattr(result, "bands"):
            raise TypeError(
                f"`results` must be MemoryCurves, got {type(result).__name__}; pass those of a "
                f"list or a family as curves(*family)."
            )
    if not results or not all(map(len, results)):
        raise ValueError("`results` must hold curves with at least one lag, got none.")
    names = [_label(result) for result in results] if labels is None else labels
    if len(names) != len(results):
        raise ValueError(
            f"`labels` must name each of the {len(results)} curves, got {len(names)} names."
        )
    series = []
    for result, name in zip(results, names, strict=True):
        low, high = result.values - result.error, result.values + result.error
        if result.bands is not None:
            low, high = result.bands.T
        band = _interval(result)
        series.append(Series(name, result.lags, result.values, np.maximum(low, 0), high, band=band))
    kinds = {result.kind for result in results}
    x_label, y_label = _AXES[kinds.pop()] if len(kinds) == 1 else (_LAG, "capacity")
    ranges: dict[str, Any] = {}
    if not log:  # what is left beyond is invisible on a linear axis
        highest = max(float(np.nanmax(result.values)) for result in results)
        whole = all(result.kind != "Fisher" for result in results)
        ranges["y_range"] = (0.0, 1.04 * max(highest, 1.0 if whole else 0.0) or 1.0)
        ranges["x_range"] = (0.0, max(1.1 * max(map(_last_visible, results)), 1.0))
    return chart(Chart("", x_label, y_label, tuple(series), log_y=log, **ranges), ax=ax)


def profile(family: Any, *, ax: Axes | None = None) -> Axes:
    """Draw total usable memory (:class:`memcurve.NoiseProfile`) against the noise level.

    Number formats are marked.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> ax = memcurve.plot.profile(memcurve.noise_profile(network))
    >>> ax.get_xlabel()
    'standard deviation of the observation noise (input of unit variance)'
    """
    order = np.argsort(family.levels)
    order = order[family.levels[order] > 0]
    if not len(order):
        raise ValueError("`family` must hold a noise level above zero, got none.")
    levels, totals = family.levels[order], family.totals[order]
    errors = family.total_errors[order]
    name = f"{family.curves[0].network}: usable memory"
    line = Series(name, levels, totals, totals - errors, totals + errors)
    x_label = f"standard deviation of the {family.noise} (input of unit variance)"
    drawing = totals_chart(
        line, x_label, "total usable memory", "without noise, white input", family.rank
    )
    marks = tuple(
        (f"{name}: {_height_at(drawing, level):.3g}", level)
        for name, level in family.marks.items()
        if levels[0] <= level <= levels[-1]
    )
    return chart(replace(drawing, marks=marks), ax=ax)


def floor_profile(curve: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the total memory of a recording against the noise floor of its states.

    ``curve`` comes from :func:`memcurve.memory_from_data` with its default estimator. As the
    floor rises, memory in directions in which the states hardly vary is lost.

    Examples
    --------
    >>> import memcurve
    >>> import numpy as np
    >>> z = np.random.default_rng(1).standard_normal(2000)
    >>> states = memcurve.ensembles.orthogonal(10, seed=1).simulate(z)
    >>> curve = memcurve.memory_from_data(states, z, washout=200)
    >>> memcurve.plot.floor_profile(curve).get_ylabel()
    'total memory'
    """
    if "profile" not in curve.diagnostics:
        raise ValueError(
            f"`curve` must come from memory_from_data with its default estimator, got one of "
            f"method {curve.method!r}, which has no profile; plot.profile draws those of networks."
        )
    floors, totals = np.array([*curve.diagnostics["profile"].items()], dtype=float).T
    line = Series(f"{curve.network}: memory above the noise floor", floors, totals)
    x_label, states = "noise floor (in standard deviations of each state)", "number of states"
    drawing = totals_chart(line, x_label, "total memory", states, int(curve.diagnostics["states"]))
    floor = float(curve.options["noise_floor"])
    if floors[0] <= floor <= floors[-1]:
        drawing = replace(drawing, marks=((f"floor of the curve: {floor:.3g}", floor),))
    return chart(drawing, ax=ax)


def capacity(*results: Any, labels: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw information processing capacities: one bar per result, stacked by degree.

    The results are those of :func:`memcurve.capacity_from_data`, ``labels`` their names. The black
    line over each bar is the rank of the states, which no capacity exceeds; the whisker is the
    standard error of the total.

    Examples
    --------
    >>> import memcurve
    >>> import numpy as np
    >>> from memcurve.data import capacity_from_data
    >>> z = np.random.default_rng(1).uniform(-1, 1, 2000)
    >>> result = capacity_from_data(np.column_stack([z, z**2]), z, {1: 5, 2: 5})
    >>> memcurve.plot.capacity(result).get_ylabel()
    'capacity'
    """
    ax = _new_axes() if ax is None else ax
    positions, bounds = np.arange(len(results)), [result.rank for result in results]
    tops = np.zeros(len(results))
    for degree in sorted({degree for result in results for degree in result.by_degree}):
        heights = [result.by_degree.get(degree, 0.0) for result in results]
        rounds, colour = divmod(degree - 1, len(COLOURS))
        style: dict[str, Any] = {"color": COLOURS[colour], "hatch": "/" * rounds}
        ax.bar(positions, heights, 0.7, tops, label=f"degree {degree}", **style)
        tops += heights
    ax.set_axisbelow(True)
    errors = [result.total_error for result in results]
    ax.errorbar(positions, tops, errors, fmt="none", ecolor=COLOURS[6], capsize=4, lw=1.2)
    ax.hlines(
        bounds, positions - 0.38, positions + 0.38, color=COLOURS[6], lw=2, label="bound: rank"
    )
    names = labels or [result.name or str(k + 1) for k, result in enumerate(results)]
    ax.set_xticks(positions, [_plain(name) for name in names])
    ax.set(xlim=(-0.6, len(results) - 0.4), ylim=(0, 1.08 * max(bounds)))
    return _labelled(ax, "", "capacity", 4, grid="y")


def among_nulls(result: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a network among its null models (:class:`memcurve.NullComparison`), a row for each test.

    Grey dots are surrogates, in standard deviations from their mean; the diamond is the network, an
    arrow where all surrogates agree on another value. Beside each row: the network, mean and
    standard deviation of the surrogates, and the adjusted p-value.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(30, density=0.1, seed=1)
    >>> result = memcurve.compare_with_nulls(network, draws=9, seed=1, executor="serial")
    >>> memcurve.plot.among_nulls(result).get_xlabel()
    'standard deviations from the mean of the surrogates'
    """
    rows = result.tests
    ax = _new_axes(9.0, 1.4 + 0.3 * len(rows)) if ax is None else ax
    drawn = {one.null: one.values.reshape(-1, len(result.quantities)) for one in result.nulls}
    colours = dict(zip(drawn, itertools.cycle(COLOURS), strict=False))
    jitter, furthest = np.random.default_rng(0), 4.0
    for position, row in enumerate(rows):
        values = drawn[row.null][:, result.quantities.index(row.quantity)]
        values = values[np.isfinite(values)]
        scores = (values - row.mean) / row.spread if row.spread > 0 else np.zeros(len(values))
        heights = position + jitter.uniform(-0.22, 0.22, len(values))
        name = None if position else "surrogates"
        ax.plot(scores, heights, "o", color="0.6", ms=2.5, alpha=0.5, label=name)
        score = row.z if np.isfinite(row.z) else np.nan
        name = None if position else "network"
        ax.plot([score], [position], "D", color=colours[row.null], ms=6.5, label=name)
        furthest = float(np.nanmax([furthest, abs(score), *np.abs(scores)]))
        if np.isinf(row.z):  # all draws agree, on another value
            side, sign = (0.98, ">") if row.z > 0 else (0.02, "<")
            style: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "ms": 8}
            ax.plot([side], [position], sign, color=colours[row.null], **style)
        label = (
            f"{row.observed:.4g} | {row.mean:.4g} ± {row.spread:.2g}, adj. p = {row.adjusted:.2g}"
        )
        label = label if row.draws else f"{row.observed:.4g} | no surrogates"
        across: Any = ("axes fraction", "data")
        ax.annotate(label, (1.01, position), xycoords=across, va="center", fontsize=8)
    furthest *= 1.15
    if furthest > _FAR:
        ax.set_xscale("symlog", linthresh=3.0)
        ticks = [t for t in (3, 10, 30, 100, 300, 1000) if t < furthest]
        ticks = [*(-t for t in reversed(ticks)), 0, *ticks]
        ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
        ax.minorticks_off()
    ax.axvline(0, color=COLOURS[6], lw=0.8)
    ax.set_yticks(range(len(rows)), [_plain(f"{row.null}: {row.quantity}") for row in rows])
    ax.set(xlim=(-furthest, furthest), ylim=(len(rows) - 0.5, -0.5))
    return _labelled(ax, "standard deviations from the mean of the surrogates", "", 2, grid="x")


def layer_map(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a :class:`memcurve.ModelMemory`: how far its channels remember, a row for each layer.

    The colour is the number of steps that hold nine tenths of the usable memory of a channel.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> weights = {"rnn.nu_log": np.full(4, -3.0), "rnn.theta_log": np.arange(4.0)}
    >>> memcurve.plot.layer_map(memcurve.layers(weights)).get_xlabel()
    'share of the channels, sorted (%)'
    """
    ax = _new_axes(height=min(12.0, 1.6 + 0.28 * len(model.layers))) if ax is None else ax
    shares = np.linspace(0, 1, 101)
    table = np.stack(
        [np.quantile(layer.nine_tenths, shares, method="nearest") for layer in model.layers]
    )
    extent = (0, 100, len(table) - 0.5, -0.5)
    image = ax.imshow(table, aspect="auto", norm="log", extent=extent)
    ax.figure.colorbar(image, ax=ax).set_label("steps that hold 9/10 of the usable memory")
    ax.set_yticks(range(len(table)), [_plain(layer.name) for layer in model.layers], fontsize=8)
    ax.set_xlabel("share of the channels, sorted (%)")
    return ax


def then_and_true(claim: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the points of a :class:`memcurve.JudgedClaim`: published and true values.

    Examples
    --------
    >>> import memcurve
    >>> claim = memcurve.judge_claim("rodan-2011")
    >>> memcurve.plot.then_and_true(claim).get_xlabel()
    'memory (rodan-2011: right)'
    """
    ax = _new_axes() if ax is None else ax
    positions = np.arange(len(claim.points))[::-1]
    then, true = ([getattr(point, name) for point in claim.points] for name in ("then", "true"))
    ax.hlines(positions, then, true, color="0.75", lw=2, zorder=1)
    ax.scatter(then, positions, color=COLOURS[1], s=36, label=claim.compared[0], zorder=2)
    ax.scatter(
        true, positions, color=COLOURS[0], s=36, marker="D", label=claim.compared[1], zorder=3
    )
    ax.set_yticks(positions, [_plain(point.label) for point in claim.points])
    ax.margins(y=0.15)
    return _labelled(ax, f"memory ({claim.name}: {claim.word})", "", columns=2, grid="x")


def save(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of ``ax`` to a file, in the format of its ending.

    Examples
    --------
    >>> import memcurve
    >>> ax = memcurve.memory_curve(memcurve.ensembles.cyclic(10)).plot()
    >>> memcurve.plot.save(ax, "memory.svg")  # doctest: +SKIP
    """
    figure: Any = ax.figure
    require_ending(path, ENDINGS)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # names in scripts the font lacks
        figure.savefig(path, dpi=150)


def new_figure(width: float, height: float) -> Figure:
    """A new figure, which notebooks show; elsewhere it needs no display."""
    from matplotlib.figure import Figure

    if not is_notebook():
        return Figure(figsize=(width, height), layout="constrained")
    import matplotlib.pyplot as plt  # whose figures are shown when a cell ends, and closed

    return plt.figure(figsize=(width, height), layout="constrained")


def _new_axes(width: float = 7.0, height: float = 4.2) -> Axes:
    return new_figure(width, height).add_subplot()


def totals_chart(
    line: Series, x_label: str, y_label: str, bound: str, value: float | None
) -> Chart:
    """Totals over a logarithmic axis, and their bound."""
    levels = () if value is None else ((f"{bound}: {value:.4g}", float(value)),)
    top = 1.08 * max(float(line.y.max()), *(height for _, height in levels), 0.0)
    return Chart(
        "", x_label, y_label, (line,), log_x=True, levels=levels, y_range=(0.0, top or 1.0)
    )


def _labelled(ax: Axes, x_label: str, y_label: str, columns: int = 1, grid: Any = "both") -> Axes:
    """Axes with labels, a grid, and the legend above them, where it covers no curve."""
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.grid(alpha=0.25, axis=grid)
    location: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.3}
    ax.legend(frameon=False, ncols=columns, **location)
    return ax


def _interval(result: Any) -> str:
    """The meaning of the bands of an estimate; empty for others."""
    if result.bands is None or "level" not in result.options:
        return ""
    return f"{100 * result.options['level']:g} % interval"


def _last_visible(result: Any) -> int:
    last = result.diagnostics.get("last_lag", -1)
    if last >= 0:  # of an estimate there is but noise beyond
        return max(1, min(int(last) + 1, int(result.lags[-1])))
    visible = np.flatnonzero(
        result.values >= INVISIBLE * max(float(np.nanmax(result.values)), 1e-300)
    )
    return int(result.lags[min(visible[-1] + 1, len(result) - 1)]) if len(visible) else 1


def _plain(name: str) -> str:
    """Guard a label: matplotlib hides those that begin with _ and reads formulas between $."""
    return f" {name}".replace("$", r"\$") if name.startswith("_") else name.replace("$", r"\$")


def _label(result: Any) -> str:
    quantity = {"memory": "memory", "forecasting": "capacity"}.get(result.kind, result.kind)
    noise = result.options.get("noise") if result.kind == "memory" else None
    # what was read with noise is no memory of the network alone; 0.0 is none
    quantity, how = (f"usable {quantity}", noise) if noise else (f"total {quantity}", result.method)
    if noise and (source := result.diagnostics.get("noise")):
        how = source["kind"]
        how = f"{how} {source['level']:g}" if "noise" in how else how
    elif isinstance(noise, float) and noise:
        how = f"noise {noise:g}"
    total = f"{result.total:.6g}"
    if _interval(result):
        total = f"{result.total:.4g} ± {result.total_error:.2g}"
    if result.total_lags is not None:  # a slice
        total += f" over {result.total_over}"
    return f"{result.network}: {quantity} {total} ({how})"
