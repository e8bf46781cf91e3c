"""memcurve.reservoirpy: reservoirpy's own signature, and the right number."""

import inspect

import numpy as np
import pytest

import memcurve
from memcurve.reservoirpy import memory_capacity
from refusals import refuses

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
    assert memory_capacity(reservoir, 5, series=z) == memory_capacity(
        reservoir, 5, series=z[:, None]
    )
    legacy = [memory_capacity(reservoir, 5, seed=np.random.RandomState(k)) for k in (1, 1, 2)]
    assert legacy[0] == legacy[1] != legacy[2]
    mixed = nodes.ES2N(
        8, sr=0.9, activation="identity", seed=1
    )  # x ← β (W x + W_in z) + (1 − β) O x
    assert 0 < memory_capacity(mixed, 5) <= 5

    def identity(x: np.ndarray) -> np.ndarray:
        return np.tanh(x)

    own = nodes.Reservoir(8, sr=0.9, activation=identity, seed=1)
    assert memory_capacity(own, 5) == memory_capacity(reservoir, 5)


@pytest.mark.parametrize("model", [None, nodes.Ridge()])
def test_what_has_no_states_is_named(model: object) -> None:
    refuses(TypeError, "`model`", memory_capacity, model, 5)
