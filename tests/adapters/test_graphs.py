"""Graphs of networkx and connectomes of cect: who drives whom, weights, signs, masks by name."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import memcurve
from adapted import SAME, off, series
from memcurve import as_network
from refusals import refuses

nx = pytest.importorskip("networkx", reason="networkx is not installed")


def spread(graph, driven, z):
    """Every node sums what its predecessors held, as the graph says; then the input arrives."""
    order = list(graph.nodes)
    held, states = dict.fromkeys(order, 0.0), []
    for u in z[:, 0]:
        new = dict.fromkeys(order, 0.0)
        for source, target, data in graph.edges(data=True):
            new[target] += data.get("weight", 1.0) * held[source]
            if not graph.is_directed() and source != target:
                new[source] += data.get("weight", 1.0) * held[target]
        for node in order:
            new[node] += driven.get(node, 0.0) * u
        held = new
        states.append([held[node] for node in order])
    return np.array(states)


def weighted(kind):
    rng = np.random.default_rng(1)
    graph = kind()
    graph.add_nodes_from(["sink", "a", "b", 3, "c"])
    names = list(graph.nodes)
    for _ in range(12):
        source, target = (names[k] for k in rng.integers(0, 5, 2))
        graph.add_edge(source, target, weight=float(rng.uniform(-0.4, 0.4)))
    graph.add_edge("a", "a", weight=0.3)
    return graph


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.Graph, nx.MultiDiGraph, nx.MultiGraph])
def test_states(kind):
    graph, z = weighted(kind), series(1)
    driven = {"a": 1.5, 3: -1.0}
    network = as_network(graph, mask=driven)
    assert off(network, z, spread(graph, driven, z)) < SAME
    assert network.is_sparse
    array = np.array([driven.get(node, 0) for node in graph.nodes])
    np.testing.assert_array_equal(as_network(graph, mask=array).C, array)
    dense = nx.to_numpy_array(graph, nodelist=list(graph.nodes))
    assert np.abs(network.A.toarray() - dense.T).max() < 1e-16


def test_edges_drive_their_targets():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("u", "v", 0.5)], name="chain")
    network = as_network(graph, mask=["u"])
    np.testing.assert_array_equal(network.A.toarray(), [[0, 0], [0.5, 0]])
    assert memcurve.memory_curve(network).total == 2
    assert memcurve.memory_curve(as_network(graph, mask=["v"])).total == 1


def test_masks_readouts_and_weights():
    graph = weighted(nx.DiGraph)
    network = as_network(graph, mask=["b", "c"], readout=["c", "sink"], name="graph")
    assert network.C.tolist() == [0, 0, 1, 0, 1]
    assert network.readout.tolist() == [4, 0]
    assert network.name == "graph"
    assert network.labels == ("sink", "a", "b", "3", "c")
    assert as_network(nx.path_graph([1, "1"]), mask=[1]).labels == ("1", "'1'")
    assert as_network(graph, mask=["b"], readout=np.array([1, 2])).readout.tolist() == [1, 2]
    two = as_network(graph, mask={"a": [1.0, 0.0], "b": [0.0, 2.0]})
    assert two.inputs == 2
    assert set(np.unique(as_network(graph, mask=["a"], weight=None).A.data)) == {1.0}
    assert set(np.unique(as_network(graph, mask=["a"], weight="none such").A.data)) == {1.0}
    scaled = as_network(graph, mask=["a"], spectral_radius=0.9)
    assert abs(scaled.spectral_radius - 0.9) < 1e-12
    assert scaled.is_sparse


def test_refused():
    graph = weighted(nx.DiGraph)
    refuses(TypeError, "`mask`", as_network, graph)
    for nobody in ("nobody", ["nobody"]):
        refuses(ValueError, ("`mask`", "'nobody'"), as_network, graph, mask=nobody)
    refuses(ValueError, ("`readout`", "0"), as_network, graph, mask=["a"], readout=[0])
    refuses(ValueError, "`readout`", as_network, graph, mask=["a"], readout=3)
    refuses(ValueError, ("`C`", "(5,)"), as_network, graph, mask=np.ones(4))
    refuses(ValueError, "`mask`", as_network, graph, mask={})
    refuses(ValueError, "at least one node, got none", as_network, nx.Graph(), mask=[])
    graph.add_edge("a", "b", weight="strong")
    refuses(TypeError, "`edge attribute weight`", as_network, graph, mask=["a"])
    with pytest.raises(ValueError, match="spectral radius"):
        as_network(nx.path_graph(3, nx.DiGraph), mask=[0], spectral_radius=0.9)
    refuses(ValueError, "`mask`", as_network, nx.path_graph(3), mask=[[0]])


CELLS = ["ASEL", "AIYL", "AVAL", "VA1", "MDR01"]
COUNTS = {
    "Acetylcholine": {("ASEL", "AIYL"): 3, ("AVAL", "VA1"): 7, ("VA1", "MDR01"): 9},
    "GABA": {("AIYL", "AVAL"): 2},
    "Glutamate": {("AIYL", "ASEL"): 4},
    "Generic_GJ": {("AIYL", "AVAL"): 5, ("AVAL", "AIYL"): 5},
    "Dopamine": {("VA1", "ASEL"): 11},
}


class ConnectomeDataset:
    """The documented interface: ``nodes``, ``connections[synclass][pre, post]``."""

    def __init__(self) -> None:
        self.nodes = list(CELLS)
        self.connections: dict[str, Any] = {}
        for name, counts in COUNTS.items():
            array = np.zeros((len(CELLS), len(CELLS)))
            for (pre, post), count in counts.items():
                array[CELLS.index(pre), CELLS.index(post)] = count
            self.connections[name] = array

    def get_neuron_to_neuron_conns(self) -> tuple[list[str], list[Any]]:
        return ["VA1", "AIYL", "ASEL", "AVAL"], []


ConnectomeDataset.__module__ = "cect.ConnectomeDataset"


def weight(network: Any, pre: str, post: str) -> float:
    place = network.labels.index
    return float(network.A[place(post), place(pre)])


def test_synapses_drive_their_targets() -> None:
    network = as_network(ConnectomeDataset(), mask=["ASEL"])
    assert network.labels == ("ASEL", "AIYL", "AVAL", "VA1")  # no muscle
    assert network.is_sparse
    assert weight(network, "ASEL", "AIYL") == 3
    assert weight(network, "AIYL", "ASEL") == 4
    assert weight(network, "AIYL", "AVAL") == 5 - 2  # a gap junction, and an inhibiting synapse
    assert weight(network, "AVAL", "AIYL") == 5
    assert weight(network, "VA1", "ASEL") == 0  # no synapse
    np.testing.assert_array_equal(network.C, [1, 0, 0, 0])
    told = " ".join(network.notes)
    assert "GABA -1" in told
    assert "sign of Glutamate" in told
    assert "left out: Dopamine" in told


def test_signs_and_masks() -> None:
    dataset, signs = ConnectomeDataset(), {"Glutamate": -1, "Generic_GJ": 0, "Dopamine": 1}
    network = as_network(dataset, mask={"VA1": 0.5}, signs=signs, readout=["AVAL"])
    assert weight(network, "AIYL", "AVAL") == -2
    assert weight(network, "AIYL", "ASEL") == -4
    assert weight(network, "VA1", "ASEL") == 11
    assert not any("does not specify" in note for note in network.notes)
    np.testing.assert_array_equal(network.C, [0, 0, 0, 0.5])
    assert network.readout.tolist() == [2]
    scaled = as_network(dataset, mask=["AVAL"], spectral_radius=0.5)
    assert scaled.spectral_radius == pytest.approx(0.5)


def test_masks_by_class_of_cells(monkeypatch) -> None:
    cells = ModuleType("cect.Cells")
    classes = {"ASEL": "Sensory", "VA1": "Motorneuron"}
    cells.get_SIM_class = lambda cell: classes.get(cell, "Interneuron")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cect", ModuleType("cect"))
    monkeypatch.setitem(sys.modules, "cect.Cells", cells)
    network = as_network(ConnectomeDataset(), mask="Sensory")
    np.testing.assert_array_equal(network.C, [1, 0, 0, 0])
    refuses(ValueError, "`mask`", as_network, ConnectomeDataset(), mask="Glia")


def test_errors_name_the_argument() -> None:
    dataset = ConnectomeDataset()
    refuses(TypeError, "`mask`", as_network, dataset)
    refuses(ValueError, "`signs`", as_network, dataset, mask=["ASEL"], signs={"GABAA": 1})
    with pytest.raises(ValueError, match="synapses"):
        as_network(dataset, mask=["ASEL"], signs=dict.fromkeys(dataset.connections, 0))


def test_a_connectome_of_the_package() -> None:
    pytest.importorskip("cect", reason="cect is not installed (pip install cect)")
    from cect.readers.WitvlietDataReader1 import get_instance  # type: ignore[import-not-found]

    dataset = get_instance(from_cache=True)
    network = as_network(dataset, mask="Sensory", spectral_radius=0.9)
    chemical = dataset.connections["Generic_CS"]
    pre, post = "AIYL", "RIAL"
    counted = chemical[dataset.nodes.index(pre), dataset.nodes.index(post)]
    alone = as_network(dataset, mask="Sensory", signs={"Generic_GJ": 0})
    assert weight(alone, pre, post) == counted
    assert memcurve.rank(network) <= network.size
