"""Connectomes of cect: synapses by class, signs by transmitter, cells by class."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import as_network
from refusals import refuses

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


def test_masks_by_class_of_cells(monkeypatch: pytest.MonkeyPatch) -> None:
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
