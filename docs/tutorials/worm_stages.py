"""The worm's memory through development, against rewired networks: a table and a picture.

pip install cect
python docs/tutorials/worm_stages.py --draws 199
"""

from __future__ import annotations

import argparse
import csv
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import memcurve
from memcurve import plot

STAGES = ("L1", "L1", "L1", "L1", "L2", "L3", "adult", "adult")
NOISE = (1e-3, 1e-6)
QUANTITIES = {
    "total (rank)": "rank",
    "usable memory (σ = 0.001)": "usable at 1e-3",
    "usable memory (σ = 1e-6)": "usable at 1e-6",
}


def brain(number: int) -> memcurve.LinearNetwork:
    """The brain with this number, 1 to 8, whose sensory neurons the input drives alike."""
    reader = import_module(f"cect.readers.WitvlietDataReader{number}")
    name = f"{number}, {STAGES[number - 1]}"
    return memcurve.as_network(reader.get_instance(from_cache=True), mask="Sensory", name=name)


def against_nulls(number: int, draws: int, store: str | None = None) -> memcurve.NullComparison:
    """The brain beside rewired ones, in which every neuron keeps its degrees and what it sends."""
    return memcurve.compare_with_nulls(
        brain(number), "rewire", draws=draws, noise=NOISE, seed=1, store=store, executor="serial"
    )


def table(found: list[memcurve.NullComparison]) -> list[list[str]]:
    """A row a brain: its own number, mean ± deviation of the draws, and the adjusted p-value."""
    head = ["brain", "neurons", "edges"]
    head += [f"{name}{part}" for name in QUANTITIES.values() for part in ("", ", rewired", ", p")]
    rows = [head]
    for one in found:
        row = [one.network, f"{one.size}", f"{one.edges:,}"]
        for test in one.tests:
            if test.quantity in QUANTITIES:
                row += [f"{test.observed:.4g}", f"{test.mean:.4g} ± {test.spread:.2g}"]
                row.append(f"{test.adjusted:.2g}")
        rows.append(row)
    return rows


def picture(found: list[memcurve.NullComparison], path: Path) -> None:
    """The eight brains among their draws, a panel a quantity."""
    figure: Any = plot.new_figure(9.0, 3.2)
    places = np.arange(1, len(found) + 1)
    for panel, (quantity, name) in enumerate(QUANTITIES.items(), 1):
        ax = figure.add_subplot(1, len(QUANTITIES), panel)
        column = found[0].quantities.index(quantity)
        drawn = [one.nulls[0].values[:, column] for one in found]
        ends = np.quantile(drawn, [0.025, 0.975], axis=1)
        ax.vlines(places, *ends, color="0.7", lw=6, label="95 % of rewired")
        own = [one.observed[column] for one in found]
        ax.plot(places, own, "D", color=plot.COLOURS[0], ms=5, label="brain")
        ax.set(title=name, xlabel="brain", xticks=places)
        ax.grid(axis="y", alpha=0.25)
    ax.legend(frameon=False, fontsize=8)
    plot.save(ax, path)


def main() -> None:
    """Compute what is not in the store yet, and write both files."""
    docs = Path(__file__).parents[1]
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--draws", type=int, default=199)
    parser.add_argument("--store", default="worm_stages.sqlite", help="kept for a later run")
    parser.add_argument("--output", type=Path, help="a folder; by default that of the page")
    asked = parser.parse_args()
    found = [against_nulls(number, asked.draws, asked.store) for number in range(1, 9)]
    for one in found:
        print(one.sentence)
    folder, images = asked.output or Path(__file__).parent, asked.output or docs / "images"
    with (folder / "worm_stages.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(table(found))
    picture(found, images / "worm_stages.png")


if __name__ == "__main__":
    main()
