"""Memory by region: reading, or driving, one class or neuropil alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import require_number
from memcurve.core.cells import columns_of_text
from memcurve.core.notes import Note
from memcurve.core.result import Result, installed_versions
from memcurve.core.types import Floats
from memcurve.io.adapters import as_network
from memcurve.memory import memory_curve
from memcurve.rendering import plot


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RegionalMemory(Result):
    """Usable memory by region, from :func:`memcurve.memory_by_region`.

    Attributes
    ----------
    regions, nodes
        Names of the regions, and how many nodes each has.
    read, driven : (n,) array
        Usable memory under this ``noise`` if the nodes of that region alone are read, driven as
        before; or if they alone are driven, equally, and read as before.
    whole : float
        Usable memory of the network as it is.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> network = memcurve.ensembles.cyclic(4)
    >>> result = memcurve.memory_by_region(network, np.array(["a", "a", "b", "b"]), noise=0.1)
    >>> result.regions, result.nodes
    (('a', 'b'), array([2., 2.]))
    """

    FORMAT: ClassVar[str] = "memcurve.RegionalMemory/1"

    network: str
    noise: float
    regions: tuple[str, ...]
    nodes: Floats
    read: Floats
    driven: Floats
    whole: float
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def columns(self) -> Mapping[str, Any]:
        """One row per region: nodes, memory if read, memory if driven."""
        numbers = {"nodes": self.nodes, "read": self.read, "driven": self.driven}
        return {"region": list(self.regions), **numbers}

    def plot(self, ax: Any = None) -> Any:
        """Draw a bar per region for reading and for driving it, and a line for the network."""
        if ax is None:
            ax = plot.new_figure(6.4, 1.4 + 0.4 * len(self.regions)).add_subplot()
        positions = np.arange(len(self.regions))
        for shift, name in ((-0.2, "read"), (0.2, "driven")):
            colour = plot.COLOURS[0 if name == "read" else 1]
            ax.barh(
                positions + shift, getattr(self, name), 0.38, color=colour, label=f"{name} alone"
            )
        ax.axvline(self.whole, color="0.4", lw=1, label="all as they are")
        labels = [f"{name} ({n:g})" for name, n in zip(self.regions, self.nodes, strict=True)]
        ax.set_yticks(positions, labels)
        ax.invert_yaxis()
        ax.set(xlabel=f"usable memory (σ = {self.noise:g})", ylabel="region (nodes)")
        ax.legend(frameon=False)
        return ax

    def __repr__(self) -> str:
        rows = zip(self.regions, self.nodes, self.read, self.driven, strict=True)
        cells = [(name, f"{n:g}", f"{read:.3f}", f"{by:.3f}") for name, n, read, by in rows]
        table = columns_of_text([("region", "nodes", "read", "driven"), *cells], left=1)
        head = f"<RegionalMemory of {self.network}, σ = {self.noise:g}, whole {self.whole:.3f}"
        return "\n".join([head, *table])


def memory_by_region(network: Any, regions: ArrayLike, *, noise: float) -> RegionalMemory:
    """Usable memory of each region alone: by reading it, and by driving it.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        A stable network with one input.
    regions : (N,) array
        Class, neuropil or region of each node, e.g. a column of :func:`memcurve.load_nodes`.
    noise : float
        Standard deviation of the observation noise, for input of unit variance.

    Notes
    -----
    A region that is driven gets equal input weights, together as strong as the network's mask.

    Examples
    --------
    >>> import memcurve
    >>> ring = memcurve.ensembles.cyclic(20, spectral_radius=0.9)
    >>> halves = ["first"] * 10 + ["second"] * 10
    >>> result = memcurve.memory_by_region(ring, halves, noise=0.1)
    >>> bool(result.read.max() < result.whole)
    True
    """
    subject, of_node = as_network(network), np.asarray(regions)
    noise = require_number(noise, "noise", "at least 0", lambda level: level >= 0)
    if of_node.shape != (subject.size,):
        raise ValueError(
            f"`regions` must have one entry for each of the {subject.size} nodes, got shape "
            f"{of_node.shape}."
        )
    if subject.inputs != 1:
        raise ValueError(f"`network` must have one input, got {subject.inputs}; ask one by one.")
    names, counts = np.unique(of_node.astype(str), return_counts=True)
    strength, read, driven = np.linalg.norm(subject.C), list[float](), list[float]()
    for name, count in zip(names, counts, strict=True):
        is_inside = of_node.astype(str) == name
        part = subject.replace(readout=np.flatnonzero(is_inside))
        read.append(memory_curve(part, noise=noise).total)
        mask = np.where(is_inside, strength / np.sqrt(count), 0.0)
        driven.append(memory_curve(subject.replace(C=mask), noise=noise).total)
    return RegionalMemory(
        network=subject.name or "network", noise=noise, regions=tuple(names.tolist()),
        nodes=counts.astype(float), read=np.array(read), driven=np.array(driven),
        whole=memory_curve(subject, noise=noise).total, notes=subject.notes,
    )  # fmt: skip
