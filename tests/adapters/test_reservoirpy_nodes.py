"""reservoirpy's reservoirs and models against its own simulation."""

import warnings

import numpy as np
import pytest

from adapted import SAME, SMALL_SIGNAL, off, series, small_signal
from memcurve import as_network

with warnings.catch_warnings():
    # its docstrings have invalid escapes, which warn when Python first compiles them
    warnings.simplefilter("ignore")
    pytest.importorskip("reservoirpy", reason="reservoirpy is not installed")

from reservoirpy import ESN
from reservoirpy.nodes import (
    LIF,
    NVAR,
    Input,
    IPReservoir,
    LocalPlasticityReservoir,
    Reservoir,
    Ridge,
)

from refusals import refuses

TANH_NOTE = "linearised about zero input: tanh replaced by its slope where the nodes rest"
RNG = np.random.default_rng(2)


def ran(node, z):
    """The states of a node, from rest."""
    node.reset() if node.initialized else node.initialize(z)
    return node.run(z)


@pytest.mark.parametrize("inputs", [1, 3])
@pytest.mark.parametrize("lr", [1.0, 0.3, RNG.uniform(0.2, 1, 40)], ids=["none", "one", "each"])
@pytest.mark.parametrize("bias", [0.0, 0.4, RNG.standard_normal(40)], ids=["none", "one", "each"])
def test_linear_reservoirs_are_exact(inputs, lr, bias):
    node = Reservoir(40, lr=lr, sr=0.9, bias=bias, activation="identity", seed=1, name="linear")
    z = series(inputs)
    states = ran(node, z)
    network = as_network(node)
    assert np.abs(network.simulate(z) - states).max() < SAME
    assert network.notes == ()
    assert network.is_sparse  # as the library stores it
    assert network.inputs == inputs
    assert network.name == "linear"


@pytest.mark.parametrize("activation", ["tanh", "sigmoid", "softplus", np.sin])
@pytest.mark.parametrize("bias", [0.0, RNG.uniform(-1, 1, 30)], ids=["none", "some"])
@pytest.mark.parametrize("lr", [1.0, 0.6])
def test_others_are_linearised(activation, bias, lr):
    node = Reservoir(30, lr=lr, sr=0.4, bias=bias, activation=activation, seed=3)
    z = series(2)
    node.initialize(z)
    network = as_network(node)
    assert off(network, z, small_signal(lambda u: ran(node, u), z)) < SMALL_SIGNAL
    assert network.notes[0].startswith("linearised about zero input: ")
    assert (network.notes[0] == TANH_NOTE) == (activation == "tanh")
    assert network.name == "Reservoir, N=30"
    rest = ran(node, np.zeros((500, 2)))[-1]
    assert np.abs(network.simulate(np.zeros((500, 2)))[-1] - rest).max() < SMALL_SIGNAL


def test_relu_needs_a_bias():
    node = Reservoir(30, activation="relu", sr=0.4, seed=1, input_dim=1)
    refuses(ValueError, ("Reservoir", "`activation`"), as_network, node)
    node = Reservoir(30, activation="relu", sr=0.4, seed=1, bias=RNG.uniform(0.5, 1, 30))
    z = series(1)
    node.initialize(z)
    assert off(as_network(node), z, small_signal(lambda u: ran(node, u), z)) < SMALL_SIGNAL


def test_plastic_reservoirs_are_measured():
    for kind in (LocalPlasticityReservoir, IPReservoir):
        refuses(TypeError, "memcurve.measure", as_network, kind(5, seed=1))


def test_uninitialised_reservoirs_draw_in_a_copy():
    node = Reservoir(25, sr=0.9, seed=4, activation="identity")
    network = as_network(node, input_dim=2)
    assert not node.initialized
    assert callable(node.W)
    assert "had not seen data: its weights were drawn in a copy, for 2 inputs" in network.notes[0]
    z = series(2)
    assert off(network, z, ran(node, z)) < SAME  # the same that it draws itself afterwards
    assert as_network(node).notes == ()
    assert as_network(Reservoir(5, seed=1)).inputs == 1
    assert as_network(Reservoir(5, seed=1, input_dim=3)).inputs == 3


def test_models_refused():
    deep = Reservoir(10, name="bottom") >> Reservoir(5, name="top") >> Ridge()
    refuses(ValueError, ("2", "'bottom'", "'top'"), as_network, deep)
    refuses(ValueError, "one reservoir, got 0: none", as_network, Input() >> Ridge())
    refuses(ValueError, "'readout'", as_network, ESN(units=10, feedback=True))
    refuses(TypeError, "got LIF; run it with memcurve.measure", as_network,
            Input() >> LIF(10) >> Ridge())  # fmt: skip


class OwnStep(Reservoir):
    def _step(self, state, x):
        return {"out": 2 * super()._step(state, x)["out"]}


class Derived(Reservoir):
    """Steps as its parent does."""


def test_nodes_refused():
    for node in (NVAR(2, 1), LIF(5), Ridge(), OwnStep(5)):
        with pytest.raises(TypeError, match=rf"got {type(node).__name__}"):
            as_network(node)
    assert as_network(Derived(5, seed=1)).size == 5
    refuses(ValueError, "softmax joins the nodes", as_network, Reservoir(5, activation="softmax"))
    refuses(ValueError, ("`input_dim`", "2,"), as_network, Reservoir(5, input_dim=2), input_dim=3)
    refuses(ValueError, "`input_dim`", as_network, Reservoir(5), input_dim=0)
    refuses(TypeError, ("`mask`", "`input_dim`"), as_network, Reservoir(5), mask=[1])
