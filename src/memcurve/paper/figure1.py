"""Figure 1: memory inflation by simulation."""

from __future__ import annotations

import numpy as np

from memcurve import ensembles, memory_curve
from memcurve.paper.panels import EXACT_STYLE, Drawn, Settings, mark, new_panels

TITLE = "Memory capacity inflation due to inconsistent sample estimation"
PAPER = (
    "For an orthogonal network (N = 100, ρ = 0.9) simulated with white Gaussian input, the memory "
    "estimated from T samples lies above the true curve at every large lag, and its total over 5N "
    "lags above N, even for T/N near 100."
)


def draw(settings: Settings) -> Drawn:
    """(a) estimated curves for growing T, (b) their totals over 5N lags divided by N."""
    from matplotlib import colormaps

    size = settings.size
    network = ensembles.orthogonal(size, seed=settings.seed)
    exact = memory_curve(network, 5 * size)
    figure, (left, right) = new_panels(
        1, 2, [r"(a) memory curves $\widehat{MC}_\tau(T)$", r"(b) total memory $\widehat{MC}(T)/N$"]
    )
    colours = colormaps["viridis"](np.linspace(0, 0.92, len(settings.samples)))
    totals = []
    for samples, colour in zip(settings.samples, colours, strict=True):
        curve = memory_curve(
            network, 5 * size, method="montecarlo", samples=samples, seed=settings.seed + samples
        )
        totals.append(curve.total / size)
        label = f"T = {samples}" if samples in (settings.samples[0], settings.samples[-1]) else None
        left.plot(curve.lags[: 2 * size], curve.values[: 2 * size], color=colour, lw=1, label=label)
    left.plot(exact.lags[: 2 * size], exact.values[: 2 * size], label="exact", **EXACT_STYLE)
    left.set(xlabel="lag τ", ylabel=r"$\widehat{MC}_\tau(T)$", ylim=(0, 1.05), xlim=(0, 2 * size))
    mark(left, size, f"N = {size}")
    left.legend(frameon=False, loc="center right")
    width = 0.8 * np.diff(settings.samples).min()
    right.bar(settings.samples, totals, width=width, color=colours)
    right.axhline(1, label="exact", **EXACT_STYLE)
    right.legend(frameon=False, loc="upper right")
    right.set(xlabel="samples T", ylabel=r"$\widehat{MC}(T)/N$", ylim=(0, max(totals) * 1.08))
    return Drawn(
        figure,
        [
            f"Total over 5N lags: {size * totals[0]:.1f} at T = {settings.samples[0]}, "
            f"{size * totals[-1]:.1f} at T = {settings.samples[-1]}; exact: {exact.total:g}.",
            "Every bar exceeds 1." if min(totals) > 1 else "Not every bar exceeds 1.",
        ],
    )
