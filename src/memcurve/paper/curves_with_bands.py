"""Memory curves of the naive method, OSM and OSM+ with 90 % bands: figures 4 and 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memcurve import masks, memory_curve
from memcurve.network import LinearNetwork
from memcurve.paper.panels import COLOURS, EXACT_STYLE, Settings, mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_panel(
    ax: Axes, network: LinearNetwork, mask: str, settings: Settings, **mask_options: float
) -> str:
    """Draw one panel and return what was measured; the masks are drawn anew for every method."""
    size = network.size
    shown = round(1.5 * size)
    lags = np.arange(shown)
    streams = np.random.default_rng(settings.seed).spawn(settings.masks)
    drawn = [masks.make(mask, size, seed=stream, **mask_options) for stream in streams]
    naive, osm = [], []
    for C in _watched(drawn, settings.progress):
        one = network.replace(C=C)
        naive.append(memory_curve(one, shown, method="naive", inverse="projector").values)
        osm.append(memory_curve(one, shown, method="osm").values)
    exact = memory_curve(network, shown)
    for curves, colour, label, style in (
        (naive, COLOURS[0], "naive", "-"),
        (osm, COLOURS[1], "OSM+", "-"),
    ):
        low, high = np.quantile(curves, (0.05, 0.95), axis=0)
        ax.fill_between(lags, low, high, color=colour, alpha=0.25, lw=0)
        ax.plot(lags, np.mean(curves, axis=0), color=colour, ls=style, lw=1.5, label=label)
    ax.plot(lags, osm[0], color="0.5", ls="-.", lw=1, label="OSM, one mask")
    ax.plot(lags, exact.values, label="exact", **EXACT_STYLE)
    ax.set(xlabel="lag τ", ylabel=r"$MC_\tau$", xlim=(0, shown - 1), ylim=(0, 1.1))
    mark(ax, size, f"N = {size}")
    totals = [float(np.mean(curves, axis=0).sum()) for curves in (naive, osm)]
    off = [float(np.abs(np.mean(c, axis=0) - exact.values).max()) for c in (naive, osm)]
    ax.set_title(
        f"{ax.get_title()}\ntotal: naive {totals[0]:.1f}, OSM+ {totals[1]:.1f}, "
        f"exact {exact.total:g}",
        fontsize=10,
    )
    rising = float(np.diff(np.mean(osm, axis=0)).max())
    return (
        f"naive total {totals[0]:.1f}, off by up to {off[0]:.2g}; OSM+ total {totals[1]:.2f}, off "
        f"by up to {off[1]:.2g}, rising by at most {max(rising, 0):.1g} a lag; exact total "
        f"{exact.total:g}, largest error {exact.error.max():.1e}"
    )


def _watched(drawn: list[np.ndarray], progress: bool) -> list[np.ndarray]:
    if not progress:
        return drawn
    from rich.console import Console
    from rich.progress import track

    return track(drawn, "masks", console=Console(stderr=True))  # type: ignore[return-value]
