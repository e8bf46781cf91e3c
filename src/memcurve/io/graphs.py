"""Graphs of networkx, in files (.graphml, .gml, .gexf) or in memory."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memcurve.core.arguments import exact_array
from memcurve.core.limits import require_room
from memcurve.core.optional import optional
from memcurve.io.arrays import NetworkFileError, ending_of, reading
from memcurve.io.text import open_bytes

#: Peak memory of a graph of networkx by byte of its file, as measured.
_BYTES_PER_BYTE = 20
#: Bytes of a packed file that are counted at a time.
_BLOCK = 2**22
#: Graphs that networkx reads, and by what.
GRAPHS = {".graphml": "read_graphml", ".gml": "read_gml", ".gexf": "read_gexf"}


def read_node_attributes(file: Path) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The nodes of a graph in a file, and their attributes, as text."""
    graph = networkx_graph(file)
    nodes = [data for _, data in graph.nodes(data=True)]
    attributes = dict.fromkeys(attribute for data in nodes for attribute in data)
    columns = {name: tuple(str(data.get(name, "")) for data in nodes) for name in attributes}
    return tuple(graph_labels(graph)[0]), columns


def networkx_graph(file: Path) -> Any:
    """Read a GraphML, GML or GEXF file, plain or packed, once it is known to fit."""
    networkx = optional("networkx", f"{file}: reading it", "adapters")
    with reading(file), open_bytes(file) as stream:
        size = sum(map(len, iter(lambda: stream.read(_BLOCK), b"")))
    subject = f"{file} is too large: it"
    require_room(_BYTES_PER_BYTE * size, subject, "Write it as a list of edges.")
    with reading(file), open_bytes(file) as stream:
        kind = ending_of(file).removesuffix(".gz")
        options = {"label": "id"} if kind == ".gml" else {}
        graph = getattr(networkx, GRAPHS[kind])(stream, **options)
    if not len(graph):
        raise NetworkFileError(f"{file}: has no nodes; write it again.")
    return graph


def graph_labels(graph: Any) -> tuple[list[str], str]:
    """Names of the nodes of a graph, and the attribute that has them."""
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
