"""Graphs by networkx, in files (.graphml, .gml) or in memory: names of nodes, and a sparse A."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from memcurve.core.arguments import exact_array
from memcurve.core.limits import require_room
from memcurve.core.notes import Note, counted
from memcurve.core.optional import optional
from memcurve.io.arrays import Graph, NetworkFileError, ending_of, reading
from memcurve.io.text import open_bytes

#: Peak memory of a graph of networkx by byte of its file, as measured.
_BYTES_PER_BYTE = 20
#: Bytes of a packed file that are counted at a time.
_BLOCK = 2**22
#: What an edge means, for notes.
DIRECTION = "source drives target, A[target, source]"


def read_graph(file: Path, weight: str | None = None) -> Graph:
    """Read a GraphML or GML file; nodes go by their attribute label or name, if all have one."""
    graph = _opened(file)
    labels, attribute = _labels(graph)
    asked, weight = weight is not None, weight or "weight"
    try:
        A = graph_matrix(graph, weight)
    except (TypeError, ValueError) as error:
        raise NetworkFileError(
            f"{file}: the attribute {weight!r} of edges must hold finite numbers; name another one "
            f"by `matrix`. ({error})"
        ) from error
    edges, count = [data for *_, data in graph.edges(data=True)], graph.number_of_edges()
    lacking = sum(weight not in data for data in edges)
    names = list(dict.fromkeys(name for data in edges for name in data))
    if asked and 0 < lacking == count:
        raise NetworkFileError(
            f"{file}: must have an attribute {weight!r} for `matrix`, which names the weights of "
            f"edges; they have {', '.join(names) or 'none'}."
        )
    ones = f", {lacking:,} of them without a weight, taken as 1" if lacking else ""
    both = "" if graph.is_directed() else ", each in both directions"
    text = (
        f"read as {counted(count, 'edge')}{both} between {counted(len(labels), 'node')}, named by"
    )
    note = Note("network", f"{text} their {attribute}{ones}: {DIRECTION}")
    notes = unused_note("attributes", [name for name in names if name not in (weight, "id")])
    return Graph(file, A, tuple(labels), (note, *notes))


def unused_note(what: str, names: Sequence[str]) -> list[Note]:
    """The note on columns, or attributes, that say something else about edges."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    text = f"{what} of edges that were not used: {', '.join(names[:8])}{more}"
    return [Note("unused", text)] if names else []


def read_node_attributes(file: Path) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The nodes of a GraphML or GML file, and their attributes, as text."""
    graph = _opened(file)
    nodes = [data for _, data in graph.nodes(data=True)]
    attributes = dict.fromkeys(attribute for data in nodes for attribute in data)
    columns = {name: tuple(str(data.get(name, "")) for data in nodes) for name in attributes}
    return tuple(_labels(graph)[0]), columns


def _opened(file: Path) -> Any:
    networkx = optional("networkx", f"{file}: reading it", "adapters")
    with reading(file), open_bytes(file) as stream:
        size = sum(map(len, iter(lambda: stream.read(_BLOCK), b"")))
    what = f"{file} is too large: it"
    require_room(_BYTES_PER_BYTE * size, what, "Write it as a list of edges.")
    with reading(file), open_bytes(file) as stream:
        if ending_of(file).startswith(".graphml"):
            graph = networkx.read_graphml(stream)
        else:
            graph = networkx.read_gml(stream, label="id")
    if not len(graph):
        raise NetworkFileError(f"{file}: has no nodes; write it again.")
    return graph


def _labels(graph: Any) -> tuple[list[str], str]:
    """What the nodes of a graph are called, and by which attribute."""
    for attribute in ("label", "name"):
        labels = [str(data.get(attribute, "")) for _, data in graph.nodes(data=True)]
        if "" not in labels and len({*labels}) == len(labels):
            return labels, attribute
    return node_names(graph.nodes), "id"


def graph_matrix(graph: Any, weight: str | None) -> Any:
    """A of a networkx graph, sparse; edges without the attribute weigh 1, parallel ones add up."""
    from networkx import to_scipy_sparse_array

    directed = graph.to_directed(as_view=True)
    weights = [value for *_, value in directed.edges(data=weight, default=1.0)]
    dtype = exact_array(weights, f"edge attribute {weight}").dtype
    return to_scipy_sparse_array(directed, dtype=dtype, weight=weight).T


def node_names(nodes: Iterable[Any]) -> list[str]:
    """Nodes of any kind as text, each its own."""
    listed = list(nodes)
    names = [str(node) for node in listed]
    return names if len({*names}) == len(names) else [repr(node) for node in listed]
