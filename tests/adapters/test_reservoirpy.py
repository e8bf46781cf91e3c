"""reservoirpy's reservoirs and models against its own simulation; its signature."""

import inspect
import warnings

import numpy as np
import pytest
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

import memcurve
from adapted import SAME, SMALL_SIGNAL, off, series, small_signal
from memcurve import as_network
from memcurve.reservoirpy import memory_capacity
from refusals import refuses

with warnings.catch_warnings():
    # its docstrings have invalid escapes, which warn when Python first compiles them
    warnings.simplefilter("ignore")
    pytest.importorskip("reservoirpy", reason="reservoirpy is not installed")


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


nodes = pytest.importorskip("reservoirpy.nodes")
observables = pytest.importorskip("reservoirpy.observables")


def test_one_import_changes() -> None:
    theirs = inspect.signature(observables.memory_capacity).parameters
    ours = inspect.signature(memory_capacity).parameters
    assert list(ours) == list(theirs)
    assert all(ours[name].default == theirs[name].default for name in ours)


def test_a_linear_reservoir_is_answered_exactly() -> None:
    drawn = memcurve.ensembles.orthogonal(12, spectral_radius=0.9, seed=1)
    asked = {"bias": np.zeros(12), "lr": 1.0, "activation": "identity"}
    reservoir = nodes.Reservoir(W=drawn.A, Win=drawn.C[:, None], **asked)
    exact = memcurve.memory_curve(drawn, 31).values[1:]
    model = reservoir >> nodes.Ridge(ridge=1e-4)
    assert memory_capacity(model, k_max=30) == pytest.approx(exact.sum(), abs=1e-9)
    listed = memory_capacity(model, k_max=30, as_list=True)
    assert np.abs(listed - exact).max() < 1e-9


def test_a_tanh_reservoir_is_measured() -> None:
    reservoir = nodes.Reservoir(30, sr=0.9, seed=1)
    first = memory_capacity(reservoir, 60, seed=1)
    z = np.random.default_rng(5).uniform(-0.8, 0.8, (6000, 1))
    recorded = memory_capacity(reservoir, 60, series=z)
    # to 0.005 a node each, and as much again for a series of its own
    assert first == pytest.approx(recorded, abs=0.6)
    assert 3 < first < 30


def test_what_reservoirpy_takes_is_taken() -> None:
    """Series of one axis, legacy generators, nodes with no linear form, functions of one's own."""
    reservoir = nodes.Reservoir(8, sr=0.9, seed=1)
    z = np.random.default_rng(5).uniform(-0.8, 0.8, 1000)
    line, column = (memory_capacity(reservoir, 5, series=each) for each in (z, z[:, None]))
    assert line == column
    legacy = [memory_capacity(reservoir, 5, seed=np.random.RandomState(k)) for k in (1, 1, 2)]
    assert legacy[0] == legacy[1] != legacy[2]
    # x ← β (W x + W_in z) + (1 − β) O x
    mixed = nodes.ES2N(8, sr=0.9, activation="identity", seed=1)
    assert 0 < memory_capacity(mixed, 5) <= 5

    def identity(x: np.ndarray) -> np.ndarray:
        return np.tanh(x)

    own = nodes.Reservoir(8, sr=0.9, activation=identity, seed=1)
    assert memory_capacity(own, 5) == memory_capacity(reservoir, 5)


@pytest.mark.parametrize("model", [None, nodes.Ridge()])
def test_what_has_no_states_is_named(model: object) -> None:
    refuses(TypeError, "`model`", memory_capacity, model, 5)
