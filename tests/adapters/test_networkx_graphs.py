"""networkx graphs: who drives whom, weights, masks and readouts by the names of nodes."""

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
