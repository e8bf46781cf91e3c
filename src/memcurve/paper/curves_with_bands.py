"""Memory curves of the naive method, OSM and OSM+ with 90 % bands: figures 4 and 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memcurve import masks, memory_curve
from memcurve.network import LinearNetwork
from memcurve.paper.panels import COLOURS, EXACT_STYLE, Settings, mark
from memcurve.progress import watched

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_panel(
    ax: Axes, network: LinearNetwork, mask: str, settings: Settings, **mask_options: float
) -> str:
    """Draw one panel and return what was measured; all methods see the same masks."""
    size = network.size
    shown = round(1.5 * size)
    lags = np.arange(shown)
    osm_plus = memory_curve(
        network,
        shown,
        method="osm_plus",
        seed=settings.seed,
        masks=settings.masks,
        distribution=mask,
        mask_options=mask_options,
        progress=settings.progress,
    )
    streams = np.random.default_rng(settings.seed).spawn(settings.masks)
    ones = [network.replace(C=masks.make(mask, size, seed=s, **mask_options)) for s in streams]
    naive = np.array(
        [
            memory_curve(one, shown, method="naive", inverse="projector").values
            for one in watched(ones, "naive masks", len(ones), settings.progress)
        ]
    )
    osm = memory_curve(ones[0], shown, method="osm")
    exact = memory_curve(network, shown)
    means = {"naive": naive.mean(axis=0), "OSM+": osm_plus.values}
    bands = {"naive": np.quantile(naive, (0.05, 0.95), axis=0).T, "OSM+": osm_plus.bands}
    for (label, mean), band, colour in zip(means.items(), bands.values(), COLOURS, strict=False):
        low, high = np.asarray(band).T
        ax.fill_between(lags, low, high, color=colour, alpha=0.25, lw=0)
        ax.plot(lags, mean, color=colour, lw=1.5, label=label)
    ax.plot(lags, osm.values, color="0.5", ls="-.", lw=1, label="OSM, one mask")
    ax.plot(lags, exact.values, label="exact", **EXACT_STYLE)
    ax.set(xlabel="lag τ", ylabel=r"$MC_\tau$", xlim=(0, shown - 1), ylim=(0, 1.1))
    mark(ax, size, f"N = {size}")
    totals = [float(mean.sum()) for mean in means.values()]
    off = [float(np.abs(mean - exact.values).max()) for mean in means.values()]
    ax.set_title(
        f"{ax.get_title()}\ntotal: naive {totals[0]:.1f}, OSM+ {totals[1]:.1f}, "
        f"exact {exact.total:g}",
        fontsize=10,
    )
    rising = float(np.diff(osm_plus.values).max())
    return (
        f"naive total {totals[0]:.1f}, off by up to {off[0]:.2g}; OSM+ total {totals[1]:.2f}, off "
        f"by up to {off[1]:.2g}, rising by at most {max(rising, 0):.1g} a lag; exact total "
        f"{exact.total:g}, largest error {exact.error.max():.1e}"
    )
