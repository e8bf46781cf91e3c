"""networkx graphs: an edge u → v of weight w means that u drives v, so A[v, u] = w."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from memcurve.arguments import exact_array
from memcurve.io.edges import graph_matrix, node_mask, node_names
from memcurve.network import LinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius


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


def _mask(mask: Any, places: dict[Any, int]) -> NDArray[Any]:
    if mask is None:
        raise TypeError(
            "as_network needs `mask` for a graph: the nodes that the input drives, mask=[node, …], "
            "a dictionary {node: weight, …}, or an array in the order of graph.nodes."
        )
    if isinstance(mask, Mapping):
        given = {_place(places, node, "mask"): value for node, value in mask.items()}
        return node_mask(given, len(places))
    if isinstance(mask, list | tuple | set | frozenset | range):
        return node_mask({_place(places, node, "mask"): 1.0 for node in mask}, len(places))
    return exact_array(mask, "mask")


def _place(places: dict[Any, int], node: Any, argument: str) -> int:
    try:
        return places[node]
    except (KeyError, TypeError):
        raise ValueError(
            f"`{argument}` must list nodes of the graph, got {node!r}, which is none of them; pass "
            f"numbers in the order of graph.nodes as a numpy array."
        ) from None
