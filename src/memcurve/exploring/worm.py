"""A worm's brain, from the package ``cect`` where that is installed."""

from __future__ import annotations

import csv
import importlib.util
from pathlib import Path

import numpy as np

from memcurve import masks
from memcurve.network import LinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius


def connectome() -> Path | None:
    """The file of ``cect`` with the wiring that White et al. (1986) saw; None where it is not."""
    found = importlib.util.find_spec("cect")
    for folder in (found and found.submodule_search_locations) or ():
        file = Path(folder) / "data" / "aconnectome_white_1986_whole.csv"
        if file.is_file():
            return file
    return None


def worm_brain(
    *, spectral_radius: float = 0.9, mask: str = "normal", seed: int | None = None
) -> LinearNetwork:
    """The nervous system of the worm *C. elegans* as a linear network (White et al. 1986).

    A weight is the number of synapses from one cell to another, chemical ones in their direction,
    gap junctions in both; all are scaled alike.

    Parameters
    ----------
    spectral_radius : float
        Spectral radius of A.
    mask : str
        How the input enters, by its name in :mod:`memcurve.masks`.
    seed : int, optional
        Where a random mask starts.

    Raises
    ------
    ModuleNotFoundError
        The package ``cect``, the connectome toolbox of OpenWorm, is not installed.
    """
    file = connectome()
    if file is None:
        raise ModuleNotFoundError(
            "the worm's wiring is in the package cect, of version 0.3 or so; install that",
            name="cect",
        )
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    cells = sorted({row[end] for row in rows for end in ("pre", "post")})
    number = {cell: k for k, cell in enumerate(cells)}
    A = np.zeros((len(cells), len(cells)))
    for row in rows:
        source, target = number[row["pre"]], number[row["post"]]
        A[target, source] += float(row["synapses"])
        if row["type"] == "electrical":
            A[source, target] += float(row["synapses"])
    A = scale_to_spectral_radius(A, spectral_radius)
    name = f"C. elegans, {len(cells)} cells, ρ={spectral_radius:g}"
    return LinearNetwork(A, masks.make(mask, len(cells), seed=seed), name=name)
