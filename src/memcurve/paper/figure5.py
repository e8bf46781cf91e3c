"""Figure 5: memory curves of four ensembles."""

from __future__ import annotations

from memcurve import ensembles
from memcurve.paper.curves_with_bands import draw_panel
from memcurve.paper.panels import Drawn, Settings, legend_below, new_panels

TITLE = "Memory curves of four ensembles under sparse normal masks"
PAPER = (
    "For normal and uniform networks the naive method loses memory as in figure 4; for orthogonal "
    "networks and for sparse ones with reciprocal condition number 0.7 all methods agree and find "
    "full memory."
)
PANELS = {
    "normal": r"(a) $A \sim \mathcal{N}(0, 1)$",
    "uniform": r"(b) $A \sim \mathcal{U}(-1, 1)$",
    "orthogonal": r"(c) $A \sim \mathcal{O}(\mathcal{N}(0, 1))$",
    "sp_c": r"(d) $A \sim sp_C\mathcal{N}(0, 1, 0.1, 0.7)$",
}


def draw(settings: Settings) -> Drawn:
    """Four networks, ρ = 0.9; sparse normal masks of unit norm."""
    figure, axes = new_panels(2, 2, list(PANELS.values()))
    findings = []
    for ax, kind in zip(axes, PANELS, strict=True):
        network = ensembles.make(kind, settings.size, seed=settings.seed)
        measured = draw_panel(ax, network, "sparse_normal", settings)
        findings.append(f"{kind.replace('_', ' ')}: {measured}.")
    legend_below(figure, axes[0], 4)
    return Drawn(figure, findings)
