"""Draw the figure of the paper, and print the numbers that its text quotes.

python paper/figure.py
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

import memcurve
from memcurve import plot

SIZES = (10, 20, 30, 40, 50, 60, 80, 100)
WAYS = {
    "Gramian, solved": ("naive", {"inverse": "solve"}),
    "Gramian, pseudo-inverse": ("naive", {"inverse": "pinv"}),
    "simulation": ("montecarlo", {"samples": 2000}),
}


def main() -> None:
    """Totals of normal networks by size, exact and as standard methods report them."""
    totals: dict[str, list[float]] = {name: [] for name in ("exact", *WAYS)}
    for size in SIZES:
        network = memcurve.ensembles.normal(size, spectral_radius=0.9, seed=1)
        totals["exact"].append(memcurve.memory_curve(network).total)
        for name, (method, options) in WAYS.items():
            seed = {"seed": 1} if method == "montecarlo" else {}
            curve = memcurve.memory_curve(network, 2 * size, method=method, **seed, **options)
            totals[name].append(float(curve.values.sum()))
    figure = Figure(figsize=(6.4, 3.6), layout="constrained", dpi=150)
    ax = figure.add_subplot()
    for colour, (name, values) in zip(plot.COLOURS, totals.items(), strict=False):
        width = 2 if name == "exact" else 1.3
        ax.plot(SIZES, values, "o-", color=colour, ms=4, lw=width, label=name)
    ax.set(xlabel="nodes N", ylabel="total memory")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    figure.savefig(Path(__file__).with_name("figure.png"))
    audit = memcurve.audit(progress=False)
    for one in audit.estimates:
        print(f"{one.name}: {one.total:.2f}, true {one.truth:.2f}")


if __name__ == "__main__":
    main()
