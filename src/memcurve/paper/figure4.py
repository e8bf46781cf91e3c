"""Figure 4: memory curves under four mask distributions."""

from __future__ import annotations

from memcurve import ensembles
from memcurve.paper.curves_with_bands import draw_panel
from memcurve.paper.panels import Drawn, Settings, legend_below, new_panels

TITLE = "Memory curves of a sparse normal network under four masks"
PAPER = (
    "Whatever the distribution of the mask, the naive method loses memory, OSM recovers the total "
    "N but not a monotone curve, and OSM+, the mean over 1000 masks, is monotone with total N. The "
    "choice of the mask hardly matters."
)
PANELS: tuple[tuple[str, dict[str, float], str], ...] = (
    ("normal", {}, r"(a) $C \sim \mathcal{N}(0, 1)$"),
    ("uniform", {}, r"(b) $C \sim \mathcal{U}(-1, 1)$"),
    ("sparse_normal", {}, r"(c) $C \sim sp\mathcal{N}(0, 1, 0.1)$"),
    ("sparse_uniform", {"low": 0.0}, r"(d) $C \sim sp\,\mathcal{U}(0, 1, 0.1)$"),
)


def draw(settings: Settings) -> Drawn:
    """A sparse normal network, ρ = 0.9; masks of unit norm."""
    network = ensembles.sparse_normal(settings.size, seed=settings.seed)
    figure, axes = new_panels(2, 2, [title for _, _, title in PANELS])
    findings = [
        f"mask {mask.replace('_', ' ')}: {draw_panel(ax, network, mask, settings, **options)}."
        for ax, (mask, options, _) in zip(axes, PANELS, strict=True)
    ]
    legend_below(figure, axes[0], 4)
    return Drawn(figure, findings)
