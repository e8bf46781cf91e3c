"""Graphs of networkx, connectomes of cect: an edge u → v of weight w drives v, so A[v, u] = w."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import exact_array
from memcurve.core.notes import Note
from memcurve.core.optional import optional
from memcurve.io import graph_matrix, node_mask, node_names, note
from memcurve.io.adapters.arrays import fault
from memcurve.network import LinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius

#: Classes of synapses in cect that inhibit, whose sign does not follow from the transmitter, and
#: that are no synapses: contacts, correlations, signals at a distance.
INHIBITORY = ("GABA", "InhibitoryChem")
UNSIGNED = ("Generic_CS", "Glutamate", "OtherChemicalNT")
NO_SYNAPSES = (
    "Contact", "Functional", "Peptidergic", "Monoaminergic", "Dopamine", "Serotonin", "Tyramine",
    "Octopamine",
)  # fmt: skip


def from_graph(
    graph: Any,
    *,
    mask: Any = None,
    weight: str | None = "weight",
    spectral_radius: float | None = None,
    readout: Any = None,
) -> LinearNetwork:
    """The graph's weights as a sparse A, nodes in the order of ``graph.nodes``, with their names.

    ``mask`` is a dictionary of nodes and weights (the others get 0), a list of nodes that the input
    drives with weight one, or an array in the order of the nodes. Edges without the attribute
    ``weight`` weigh one; those of a multigraph are summed.
    """
    if not (hasattr(graph, "nodes") and hasattr(graph, "adjacency")):
        raise TypeError(f"`network` must be a networkx graph, got {type(graph).__name__}.")
    places = {node: k for k, node in enumerate(graph.nodes)}
    if not places:
        raise ValueError("`network` must have at least one node, got none; add nodes first.")
    A = graph_matrix(graph, weight)
    if spectral_radius is not None:
        A = scale_to_spectral_radius(A, spectral_radius)
    chosen = readout
    if isinstance(readout, list | tuple | set | frozenset | range):
        chosen = [_place(places, node, "readout") for node in readout]
    labels, name = node_names(places), str(graph.name) or None
    return LinearNetwork(A, _mask(mask, places), readout=chosen, name=name, labels=labels)


def cect_dataset(reader: str, purpose: str) -> Any:
    """A connectome that cect brings, by the module that reads it, for :func:`from_cect`."""
    return optional(f"cect.readers.{reader}", purpose, None).get_instance(from_cache=True)


def from_cect(
    dataset: Any,
    *,
    mask: Any = None,
    signs: Mapping[str, float] | None = None,
    spectral_radius: float | None = None,
    readout: Any = None,
) -> LinearNetwork:
    """Numbers of synapses as a sparse A, negative for GABA and classes called inhibitory.

    The cells are the neurons that have connections among each other. ``mask`` is a list of these, a
    dictionary {cell: weight}, an array in their order, or a class as cect has them, ``"Sensory"``,
    ``"Interneuron"`` or ``"Motorneuron"``. ``signs`` are other factors by class of synapse, e.g.
    ``{"Glutamate": -1}``, or 0.
    """
    A, labels, notes = cect_wiring(dataset, signs)
    if spectral_radius is not None:
        A = scale_to_spectral_radius(A, spectral_radius)
    C = _mask(_of_class(mask, labels), {cell: place for place, cell in enumerate(labels)})
    return LinearNetwork(A, C, readout=readout, labels=labels, notes=notes)


def cect_wiring(
    dataset: Any, signs: Mapping[str, float] | None = None
) -> tuple[Any, list[str], list[Note]]:
    """Numbers of synapses as a sparse A, the cells, and notes."""
    from scipy.sparse import csr_array

    if not (hasattr(dataset, "nodes") and hasattr(dataset, "connections")):
        raise TypeError(f"`network` must be a connectome dataset, got {type(dataset).__name__}.")
    neurons = {*dataset.get_neuron_to_neuron_conns()[0]}
    rows = [row for row, cell in enumerate(dataset.nodes) if cell in neurons]
    factors, notes = _factors(dataset.connections, signs or {})
    counts = np.zeros((len(rows), len(rows)))
    for name, factor in factors.items():
        counts += factor * np.asarray(dataset.connections[name], dtype=float)[np.ix_(rows, rows)]
    if not counts.any():
        raise ValueError(fault("no_synapses", classes=", ".join(dataset.connections)))
    return csr_array(counts.T), [dataset.nodes[row] for row in rows], notes


def _factors(
    connections: Mapping[str, NDArray[Any]], signs: Mapping[str, float]
) -> tuple[dict[str, float], list[Note]]:
    """Factors on the numbers of synapses of each class, and notes on them."""
    for name in signs:
        if name not in connections:
            raise ValueError(
                f"`signs` must name classes of synapses, {', '.join(connections)}; got {name!r}."
            )
    used = {
        name: float(signs.get(name, -1.0 if name in INHIBITORY else 1.0))
        for name in connections
        if name in signs or name not in NO_SYNAPSES
    }
    listed = ", ".join(f"{name} {factor:+g}" for name, factor in used.items())
    notes = [note("synapses", factors=listed)]
    unsigned = [name for name in used if name in UNSIGNED and name not in signs]
    if unsigned:
        notes.append(note("unsigned", classes=", ".join(unsigned)))
    if left := [name for name in connections if name not in used]:
        notes.append(note("left_out", classes=", ".join(left)))
    return used, notes


def _of_class(mask: Any, labels: Sequence[str]) -> Any:
    """The cells of a class, where the mask is the name of one."""
    if not isinstance(mask, str):
        return mask
    class_of = importlib.import_module("cect.Cells").get_SIM_class
    classes = [class_of(cell) for cell in labels]
    if mask not in classes:
        raise ValueError(f"`mask` must be a class of cells, {sorted({*classes})}; got {mask!r}.")
    return [cell for cell, cell_class in zip(labels, classes, strict=True) if cell_class == mask]


def _mask(mask: Any, places: dict[Any, int]) -> NDArray[Any]:
    if mask is None:
        raise TypeError(fault("no_mask"))
    if isinstance(mask, str):
        mask = [mask]
    if isinstance(mask, Mapping):
        weights = {_place(places, node, "mask"): value for node, value in mask.items()}
        return node_mask(weights, len(places))
    if isinstance(mask, list | tuple | set | frozenset | range):
        return node_mask({_place(places, node, "mask"): 1.0 for node in mask}, len(places))
    return exact_array(mask, "mask")


def _place(places: dict[Any, int], node: Any, argument: str) -> int:
    try:
        return places[node]
    except (KeyError, TypeError):
        raise ValueError(fault("no_node", argument=argument, node=node)) from None
