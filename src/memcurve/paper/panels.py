"""What the figures share: settings, panels in one style, and the drawn result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EPS = float(np.finfo(float).eps)
EXACT_STYLE: dict[str, Any] = {"color": "black", "lw": 1.4, "ls": (0, (1, 1))}


@dataclass(frozen=True)
class Settings:
    """The paper's settings, or a reduced version of them.

    Attributes
    ----------
    size : int
        Number N of nodes in figures 1 and 3 to 6.
    masks : int
        Number L of masks of OSM+ and of the naive method's bands.
    samples : tuple of int
        Sample sizes T of figure 1.
    seed : int
        Of everything drawn.
    progress : bool
        Show progress bars.
    """

    size: int = 100
    masks: int = 1000
    samples: tuple[int, ...] = tuple(range(1000, 10_001, 500))
    seed: int = 1
    progress: bool = False

    @classmethod
    def quick(cls, *, seed: int = 1, progress: bool = False) -> Settings:
        """Fewer masks and samples; the sizes stay, since everything depends on them."""
        return cls(masks=40, samples=(1000, 2000, 4000, 7000, 10_000), seed=seed, progress=progress)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure and what was measured while drawing it, in sentences."""

    figure: Figure
    findings: list[str]


def new_panels(rows: int, columns: int, titles: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """A figure with titled panels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.2 * columns, 4.1 * rows), layout="constrained")
    axes = list(np.ravel(figure.subplots(rows, columns)))
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=11)
        ax.grid(alpha=0.25)
    return figure, axes


def mark(ax: Axes, x: float, text: str, *, left: bool = False, low: bool = False) -> None:
    """A vertical line with its name beside it."""
    ax.axvline(x, color="0.45", lw=0.9)
    place, side = ax.get_xaxis_transform(), "right" if left else "left"
    ax.text(
        x,
        0.04 if low else 0.96,
        f" {text} ",
        transform=place,
        ha=side,
        va="bottom" if low else "top",
        fontsize=9,
        color="0.25",
    )


def legend_below(figure: Figure, ax: Axes, columns: int) -> None:
    """One legend for all panels, under them, where it cannot cover data."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


COLOURS = plot.COLOURS
