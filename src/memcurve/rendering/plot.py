"""Pictures of results, on matplotlib axes.

Results draw themselves with these functions, which therefore know no classes of results but only
what a curve, a profile or a capacity has.
"""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve.core.progress import is_notebook
from memcurve.core.result import require_ending

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from memcurve.rendering.report.document import Chart

#: What :func:`save` writes.
ENDINGS = (".png", ".pdf", ".svg", ".jpg", ".webp")
#: Okabe and Ito's colours, which most colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: If no curve has more lags than this, each one gets a marker.
MOST_MARKERS = 60
#: Memory below this cannot be seen on a linear axis, which ends there.
INVISIBLE = 1e-3
_LAG = "lag τ (time steps)"
# of lines, above the 2 that matplotlib gives them
_ON_TOP = 2.5
#: Names of the axes, by the kind of curve.
_AXES = {
    "memory": (_LAG, "memory $MC_τ$"),
    "forecasting": ("horizon τ (time steps ahead)", "forecasting capacity $FC_τ$"),
    "Fisher": (_LAG, "Fisher memory $F_τ$"),
}

# what tells results apart
_CURVE = ("lags", "values", "bands", "kind")
_PROFILE = ("levels", "totals", "marks")
_CAPACITY = ("by_degree", "total_error", "rank")
_AMONG_NULLS = ("tests", "quantities", "nulls")
#: Standard deviations beyond which an axis of them is logarithmic.
_FAR = 12.0


def curves(
    *results: Any, labels: Sequence[str] | None = None, ax: Axes | None = None, log: bool = False
) -> Axes:
    """Draw memory curves with their errors.

    Parameters
    ----------
    *results : MemoryCurve
        One or several curves; the first is drawn on top.
    labels : sequence of str, optional
        One name per curve; by default the network and the total memory.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    log : bool
        Logarithmic memory axis, which shows the tail.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> ax = memcurve.plot.curves(memcurve.memory_curve(network))
    >>> ax.figure.savefig("memory.png")  # doctest: +SKIP
    """
    from matplotlib.ticker import MaxNLocator

    hint = "; pass those of a list or a family as curves(*family)"
    _require_some(results, labels, "MemoryCurve", "curves")
    _require("results", results, _CURVE, "MemoryCurves", hint)
    if not all(map(len, results)):
        raise ValueError("`results` must hold curves with at least one lag, got an empty one.")
    ax = _new_axes() if ax is None else ax
    names = [_plain(name) for name in labels or map(_label, results)]
    marker = "o" if max(map(len, results)) <= MOST_MARKERS else ""
    for result, name, colour in zip(results, names, itertools.cycle(COLOURS), strict=False):
        width = 1.8 if _interval(result) is None else 1.0  # which would cover narrow bands
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 2 * width, "lw": width}
        style["zorder"] = _ON_TOP if result is results[0] else None
        ax.plot(result.lags, result.values, label=name, **style)
    named: set[str | None] = {None}
    for result, colour in zip(results, itertools.cycle(COLOURS), strict=False):
        low, high = result.values - result.error, result.values + result.error
        if result.bands is not None:
            low, high = result.bands.T
        band = _interval(result)
        style = {"color": colour, "alpha": 0.3, "lw": 0, "label": None if band in named else band}
        ax.fill_between(result.lags, np.maximum(low, 0), high, **style)
        named.add(band)
    kinds = {result.kind for result in results}
    x_label, y_label = _AXES[kinds.pop()] if len(kinds) == 1 else (_LAG, "capacity")
    if log:
        ax.set_yscale("log")
    else:
        highest = max(float(np.nanmax(result.values)) for result in results)
        whole = all(result.kind != "Fisher" for result in results)
        ax.set_ylim(0, 1.04 * max(highest, 1.0 if whole else 0.0) or 1.0)
        # what is left beyond is invisible on a linear axis
        ends = [_last_visible(result) for result in results]
        ax.set_xlim(0, max(1.1 * max(ends), 1))
    ticks = ax.xaxis.get_major_locator()
    if isinstance(ticks, MaxNLocator):  # unless the axes given have others
        ticks.set_params(integer=True)
    columns = 2 if len(names) > 4 and max(map(len, names)) < 40 else 1
    return _labelled(ax, x_label, y_label, columns)


def profile(family: Any, *, ax: Axes | None = None) -> Axes:
    """Draw total usable memory against the noise level, with number formats marked.

    Parameters
    ----------
    family : NoiseProfile
        From :func:`memcurve.noise_profile`.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> ax = memcurve.plot.profile(memcurve.noise_profile(network))
    >>> ax.get_xlabel()
    'standard deviation of the observation noise (input of unit variance)'
    """
    _require("family", [family], _PROFILE, "a NoiseProfile", "; memcurve.noise_profile gives one")
    shown = family.levels > 0
    if not shown.any():
        raise ValueError("`family` must hold a noise level above zero, got none.")
    ax = _new_axes() if ax is None else ax
    order = np.argsort(family.levels[shown])
    levels, totals = family.levels[shown][order], family.totals[shown][order]
    errors = family.total_errors[shown][order]
    name = f"{family.curves[0].network}: usable memory"
    _totals(ax, levels, totals, name, "without noise, white input", family.rank)
    ax.fill_between(levels, totals - errors, totals + errors, color=COLOURS[0], alpha=0.2, lw=0)
    for k, (name, level) in enumerate(family.marks.items()):
        if levels[0] <= level <= levels[-1]:
            colour = COLOURS[1 + k % 4]
            ax.axvline(level, color=colour, lw=1, ls=":")
            usable = float(np.interp(np.log(level), np.log(levels), totals))
            style: dict[str, Any] = {"textcoords": "offset points", "color": colour, "fontsize": 9}
            ax.annotate(f"{name}: {usable:.3g}", (level, usable), xytext=(5, 5), **style)
    x_label = f"standard deviation of the {family.noise} (input of unit variance)"
    return _labelled(ax, x_label, "total usable memory")


def floor_profile(curve: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the total memory of a recording against the noise floor of its states.

    Parameters
    ----------
    curve : MemoryCurve
        From :func:`memcurve.memory_from_data`, with its default estimator.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes
        What is lost as the floor rises is memory in directions in which the states hardly vary.

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
    _require("curve", [curve], _CURVE, "a MemoryCurve")
    if "profile" not in curve.diagnostics:
        raise ValueError(
            f"`curve` must come from memory_from_data with its default estimator, got one of "
            f"method {curve.method!r}, which has no profile; plot.profile draws those of networks."
        )
    ax = _new_axes() if ax is None else ax
    floors, totals = np.array([*curve.diagnostics["profile"].items()], dtype=float).T
    name = f"{curve.network}: memory above the noise floor"
    _totals(ax, floors, totals, name, "number of states", int(curve.diagnostics["states"]))
    floor = float(curve.options["noise_floor"])
    if floors[0] <= floor <= floors[-1]:
        ax.axvline(floor, color=COLOURS[1], lw=1, ls=":", label=f"floor of the curve: {floor:.3g}")
    return _labelled(ax, "noise floor (in standard deviations of each state)", "total memory")


def capacity(*results: Any, labels: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
    """Draw information processing capacities: one bar per result, stacked by degree.

    Parameters
    ----------
    *results : Capacity
        From :func:`memcurve.capacity_from_data`.
    labels : sequence of str, optional
        One name per bar; by default that of the result, or its number.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes
        The black line over each bar is the rank of the states, which no capacity exceeds; the
        whisker is the standard error of the total.

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
    _require_some(results, labels, "Capacity", "results")
    _require("results", results, _CAPACITY, "Capacities")
    ax = _new_axes() if ax is None else ax
    places = np.arange(len(results))
    bottom = np.zeros(len(results))
    degrees = sorted({degree for result in results for degree in result.by_degree})
    for k, degree in enumerate(degrees):
        heights = np.array([result.by_degree.get(degree, 0.0) for result in results])
        # one colour a degree, whatever degrees the other results have
        colour = COLOURS[(degree - 1) % len(COLOURS)]
        hatch = "/" * (k // len(COLOURS))
        ax.bar(places, heights, 0.6, bottom, color=colour, hatch=hatch, label=f"degree {degree}")
        bottom += heights
    errors = [result.total_error for result in results]
    ax.errorbar(places, bottom, errors, fmt="none", ecolor=COLOURS[6], capsize=4, lw=1.2)
    bounds = [result.rank for result in results]
    ax.hlines(bounds, places - 0.38, places + 0.38, color=COLOURS[6], lw=2, label="bound: rank")
    names = labels or [result.name or str(k + 1) for k, result in enumerate(results)]
    ax.set_xticks(places, [_plain(name) for name in names])
    ax.set_xlim(-0.6, len(results) - 0.4)
    ax.set_ylim(0, 1.08 * max(bounds))
    ax.set_axisbelow(True)
    return _labelled(ax, "", "capacity", 4, grid="y")


def words(result: Any, *, ax: Axes | None = None) -> Axes:
    """Draw exact capacities: bars over the oldest lag, stacked by degree.

    Parameters
    ----------
    result : Capacities
        From :func:`memcurve.capacities`.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.bilinear([[0.5]], [[0.3]], [1.0])
    >>> memcurve.plot.words(memcurve.capacities(network)).get_ylabel()
    'capacity'
    """
    _require("result", (result,), ("table", "by_degree"), "Capacities")
    ax = _new_axes() if ax is None else ax
    seen = np.flatnonzero(result.table.sum(axis=0) > INVISIBLE)
    lags = np.arange(int(seen[-1]) + 1 if len(seen) else 1)
    bottom = np.zeros(len(lags))
    for k, row in enumerate(result.table):
        heights = row[: len(lags)]
        name = f"degree {k + 1} (total {result.by_degree.get(k + 1, 0.0):.3g})"
        colour, hatch = COLOURS[k % len(COLOURS)], "/" * (k // len(COLOURS))
        ax.bar(lags, heights, 0.8, bottom, color=colour, hatch=hatch, label=name)
        bottom += heights
    ax.set_axisbelow(True)
    return _labelled(ax, "oldest lag (time steps)", "capacity", 1, grid="y")


def among_nulls(result: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a network among its null models, one row per quantity and null model.

    Parameters
    ----------
    result : NullComparison
        From :func:`memcurve.compare_with_nulls`.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib axes
        Grey dots are surrogates, in standard deviations from their mean; the diamond is the
        network, an arrow where all surrogates agree on another value. Beside each row: the network,
        mean and standard deviation of the surrogates, and the adjusted p-value.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(30, density=0.1, seed=1)
    >>> found = memcurve.compare_with_nulls(network, draws=9, seed=1, executor="serial")
    >>> memcurve.plot.among_nulls(found).get_xlabel()
    'standard deviations from the mean of the surrogates'
    """
    hint = "; memcurve.compare_with_nulls gives one"
    _require("result", [result], _AMONG_NULLS, "a NullComparison", hint)
    rows = result.tests
    ax = _new_axes(9.0, 1.4 + 0.3 * len(rows)) if ax is None else ax
    width = len(result.quantities)
    drawn = {draws.null: draws.values.reshape(-1, width) for draws in result.nulls}
    colours = dict(zip(drawn, itertools.cycle(COLOURS), strict=False))
    jitter, furthest = np.random.default_rng(0), 4.0
    for place, row in enumerate(rows):
        values = drawn[row.null][:, result.quantities.index(row.quantity)]
        values = values[np.isfinite(values)]
        scores = (values - row.mean) / row.spread if row.spread > 0 else np.zeros(len(values))
        heights = place + jitter.uniform(-0.22, 0.22, len(values))
        style: dict[str, Any] = {"color": "0.6", "ms": 2.5, "alpha": 0.5}
        ax.plot(scores, heights, "o", label=None if place else "surrogates", **style)
        own = row.z if np.isfinite(row.z) else np.nan
        name = None if place else "network"
        ax.plot([own], [place], "D", color=colours[row.null], ms=6.5, label=name)
        furthest = float(np.nanmax([furthest, abs(own), *np.abs(scores)]))
        label = f"{row.observed:.4g} | {row.mean:.4g} ± {row.spread:.2g}, p = {row.adjusted:.2g}"
        label = label if row.draws else f"{row.observed:.4g} | no surrogates"
        across: Any = ("axes fraction", "data")
        ax.annotate(label, (1.01, place), xycoords=across, va="center", fontsize=8)
    furthest *= 1.15
    if furthest > _FAR:
        ax.set_xscale("symlog", linthresh=3.0)
        ticks = [t for t in (3, 10, 30, 100, 300, 1000) if t < furthest]
        ticks = [*(-t for t in reversed(ticks)), 0, *ticks]
        ax.set_xticks(ticks, [f"{tick}" for tick in ticks])
        ax.minorticks_off()
    ax.set_xlim(-furthest, furthest)
    for place, row in enumerate(rows):
        if np.isinf(row.z):  # all draws agree, on another value
            side, sign = (0.98, ">") if row.z > 0 else (0.02, "<")
            style = {"color": colours[row.null], "transform": ax.get_yaxis_transform()}
            ax.plot([side], [place], sign, ms=8, **style)
    ax.axvline(0, color=COLOURS[6], lw=0.8)
    ax.set_yticks(range(len(rows)), [_plain(f"{row.null}: {row.quantity}") for row in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    return _labelled(ax, "standard deviations from the mean of the surrogates", "", 2, grid="x")


def scales(profile: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the total memory of a :class:`memcurve.ScaleProfile` against the scale of the input.

    The dashed line is the exact memory of its linearisation, the limit of small inputs.

    Examples
    --------
    >>> import memcurve
    >>> weights = memcurve.ensembles.normal(5, spectral_radius=0.5, seed=1)
    >>> network = memcurve.NonlinearNetwork(weights.A, weights.C)
    >>> profile = memcurve.measure_scales(network, [0.1, 1.0], seed=1, precision=1)
    >>> memcurve.plot.scales(profile).get_xlabel()
    'scale of the input'
    """
    ax = _new_axes() if ax is None else ax
    style: dict[str, Any] = {"color": COLOURS[0], "marker": "o", "ms": 3.5, "lw": 1.8}
    name = _plain(profile.model)
    ax.errorbar(profile.scales, profile.totals, yerr=profile.errors, label=name, **style)
    if profile.limit is not None:
        text = f"small inputs, exact: {profile.limit.total:.4g}"
        ax.axhline(profile.limit.total, color=COLOURS[6], lw=1, ls="--", label=text)
    ax.set_xscale("log")
    ax.set_ylim(bottom=0)
    return _labelled(ax, "scale of the input", "total memory")


def densities(*results: Any, ax: Axes | None = None) -> Axes:
    """Draw :class:`memcurve.MemoryDensity` against the lag.

    Examples
    --------
    >>> import memcurve
    >>> density = memcurve.memory_density(memcurve.ContinuousNetwork([[-1.0]], [1.0]))
    >>> memcurve.plot.densities(density).get_ylabel()
    'memory density (inputs per unit time)'
    """
    ax = _new_axes() if ax is None else ax
    for k, one in enumerate(results):
        label = f"{_plain(one.network)}: total {one.total:g}"
        ax.plot(one.times, one.values, color=COLOURS[k % len(COLOURS)], lw=1.8, label=label)
    ax.set_ylim(bottom=0)
    return _labelled(ax, "lag τ", "memory density (inputs per unit time)")


def layer_map(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw a :class:`memcurve.ModelMemory`: usable memory of the channels of each layer, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> weights = {"rnn.nu_log": np.full(4, -3.0), "rnn.theta_log": np.arange(4.0)}
    >>> memcurve.plot.layer_map(memcurve.layers(weights)).get_xlabel()
    'share of the channels, sorted (%)'
    """
    height = min(12.0, 1.6 + 0.28 * len(model.layers))
    ax = _new_axes(height=height) if ax is None else ax
    shares = np.linspace(0, 1, 101)
    table = np.stack([np.quantile(layer.usable, shares) for layer in model.layers])
    image = ax.imshow(
        table, aspect="auto", cmap="viridis", vmin=0, extent=(0, 100, len(table) - 0.5, -0.5)
    )
    bar = ax.figure.colorbar(image, ax=ax)
    bar.set_label("usable memory (inputs)")
    ax.set_yticks(range(len(table)), [_plain(layer.name) for layer in model.layers], fontsize=8)
    ax.set_xlabel("share of the channels, sorted (%)")
    return ax


def then_and_true(claim: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the points of a :class:`memcurve.JudgedClaim`: published and true numbers.

    Examples
    --------
    >>> import memcurve
    >>> claim = memcurve.judge_claim("rodan-2011")
    >>> memcurve.plot.then_and_true(claim).get_xlabel()
    'memory (rodan-2011: right)'
    """
    ax = _new_axes() if ax is None else ax
    places = np.arange(len(claim.points))[::-1]
    then, true = ([getattr(point, name) for point in claim.points] for name in ("then", "true"))
    ax.hlines(places, then, true, color="0.75", lw=2, zorder=1)
    ax.scatter(then, places, color=COLOURS[1], s=36, label="published", zorder=2)
    ax.scatter(true, places, color=COLOURS[0], s=36, marker="D", label="true", zorder=3)
    ax.set_yticks(places, [_plain(point.label) for point in claim.points])
    ax.margins(y=0.15)
    return _labelled(ax, f"memory ({claim.name}: {claim.word})", "", columns=2, grid="x")


def chart(drawing: Chart, *, ax: Axes | None = None) -> Axes:
    """Draw the lines of a chart of a report.

    Examples
    --------
    >>> import memcurve
    >>> design = memcurve.design("exponential", 5)
    >>> memcurve.plot.chart(design.chart()).get_xlabel()
    'lag τ (time steps)'
    """
    ax = _new_axes() if ax is None else ax
    for one, colour in zip(drawing.series, itertools.cycle(COLOURS), strict=False):
        marker = "o" if len(one.x) <= MOST_MARKERS else ""
        line = "--" if one.dashed else "-"
        ax.plot(
            one.x, one.y, line, color=colour, marker=marker, ms=3.5, lw=1.8, label=_plain(one.name)
        )
    for name, height in drawing.levels:
        ax.axhline(height, color=COLOURS[6], lw=1, ls=":", label=_plain(name))
    ax.set_xscale("log" if drawing.log_x else "linear")
    ax.set_yscale("log" if drawing.log_y else "linear")
    ax.set(xlim=drawing.x_range, ylim=drawing.y_range)
    return _labelled(ax, drawing.x_label, drawing.y_label)


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


def _require_some(
    results: Sequence[Any], labels: Sequence[str] | None, one: str, several: str
) -> None:
    if not results:
        raise ValueError(f"`results` must hold at least one {one}, got none.")
    if labels is not None and len(labels) != len(results):
        raise ValueError(
            f"`labels` must name each of the {len(results)} {several}, got {len(labels)} names."
        )


def _require(
    name: str, given: Sequence[Any], has: Sequence[str], what: str, hint: str = ""
) -> None:
    for one in given:
        if not all(hasattr(one, attribute) for attribute in has):
            raise TypeError(f"`{name}` must be {what}, got {type(one).__name__}{hint}.")


def _totals(ax: Axes, x: Any, totals: Any, name: str, bound_name: str, bound: int | None) -> None:
    """Draw totals over a logarithmic axis, and their bound."""
    marker = "o" if len(x) <= MOST_MARKERS else ""
    ax.plot(x, totals, color=COLOURS[0], marker=marker, ms=3.5, lw=1.8, label=_plain(name))
    if bound is not None:
        ax.axhline(bound, color=COLOURS[6], lw=1, ls="--", label=f"{bound_name}: {bound}")
    ax.set_xscale("log")
    ax.set_ylim(0, 1.08 * max(float(totals.max()), float(bound or 0)))


def _labelled(ax: Axes, x_label: str, y_label: str, columns: int = 1, grid: Any = "both") -> Axes:
    """Axes with labels, a grid, and the legend above them, where it covers no curve."""
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.grid(alpha=0.25, axis=grid)
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.3}
    ax.legend(frameon=False, ncols=columns, **place)
    return ax


def new_figure(width: float, height: float) -> Figure:
    """A new figure, which notebooks show; elsewhere it needs no display."""
    from matplotlib.figure import Figure

    if not is_notebook():
        return Figure(figsize=(width, height), layout="constrained")
    import matplotlib.pyplot as plt  # whose figures are shown when a cell ends, and closed

    return plt.figure(figsize=(width, height), layout="constrained")


def _new_axes(width: float = 7.0, height: float = 4.2) -> Axes:
    return new_figure(width, height).add_subplot()


def _interval(result: Any) -> str | None:
    """What the bands of an estimate are; None for others."""
    if result.bands is None or "level" not in result.options:
        return None
    return f"{100 * result.options['level']:g} % interval"


def _last_visible(result: Any) -> int:
    last = result.diagnostics.get("last_lag", -1)
    if last >= 0:  # of an estimate there is but noise beyond
        return max(1, min(int(last) + 1, int(result.lags[-1])))
    seen = np.flatnonzero(result.values >= INVISIBLE * max(float(np.nanmax(result.values)), 1e-300))
    return int(result.lags[min(seen[-1] + 1, len(result) - 1)]) if len(seen) else 1


def _plain(name: str) -> str:
    """Guard a label: matplotlib hides those that begin with _ and reads formulas between $."""
    return f" {name}".replace("$", r"\$") if name.startswith("_") else name.replace("$", r"\$")


def _label(result: Any) -> str:
    what = {"memory": "memory", "forecasting": "capacity"}.get(result.kind, result.kind)
    noise = result.options.get("noise") if result.kind == "memory" else None
    # what was read with noise is no memory of the network alone; 0.0 is none
    what, how = (f"usable {what}", noise) if noise else (f"total {what}", result.method)
    if noise and (known := result.diagnostics.get("noise")):
        how = f"{known['kind']} {known['level']:g}" if "noise" in known["kind"] else known["kind"]
    elif isinstance(noise, float) and noise:
        how = f"noise {noise:g}"
    total = f"{result.total:.6g}"
    if _interval(result) is not None:
        total = f"{result.total:.4g} ± {result.total_error:.2g}"
    if result.total_lags is not None:  # a slice
        total += f" over {result.total_over}"
    return f"{result.network}: {what} {total} ({how})"
