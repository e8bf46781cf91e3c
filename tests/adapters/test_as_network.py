"""as_network: memcurve's own networks, plain matrices, leak; what is refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import memcurve
from adapted import SAME, leaky_states, off, series
from memcurve import LinearNetwork, NonlinearNetwork, adapters, as_network
from refusals import refuses

RNG = np.random.default_rng(5)
W = RNG.standard_normal((12, 12)) / 5
WIN = RNG.standard_normal((12, 2))
LEAKS = [1.0, 0.3, RNG.uniform(0.1, 1, 12), np.full(12, 0.5)]


@pytest.mark.parametrize("lr", LEAKS, ids=["none", "one", "each", "equal"])
@pytest.mark.parametrize("store", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_leak(lr, store):
    z = series(2)
    network = as_network((store(W), WIN, lr))
    assert off(network, z, leaky_states(W, WIN, z, lr)) < SAME
    assert network.is_sparse == (store is csr_array)
    np.testing.assert_array_equal(network.C, np.broadcast_to(lr, 12)[:, None] * WIN)
    np.testing.assert_array_equal(
        np.asarray(network.A.todense() if network.is_sparse else network.A),
        np.diag(1 - np.broadcast_to(lr, 12)) + np.broadcast_to(lr, 12)[:, None] * W,
    )


@pytest.mark.parametrize("bias", [0.5, RNG.standard_normal(12)], ids=["one", "each"])
@pytest.mark.parametrize("lr", [0.4, list(np.linspace(0.2, 1, 12))])
def test_bias_is_a_shift(bias, lr):
    z = series(2)
    network = adapters.leaky(W, WIN, lr, bias=bias, readout=[3, 1], name="leaky")
    states = leaky_states(W, WIN, z, np.asarray(lr), bias)
    assert np.abs(network.simulate(z) - states[:, [3, 1]]).max() < SAME
    assert network.name == "leaky"


def test_own_networks():
    linear = LinearNetwork(W, WIN, notes=["drawn by hand"])
    assert as_network(linear) is linear
    named = as_network(linear, readout=[2], name="two")
    assert named.name == "two"
    assert named.readout.tolist() == [2]
    assert named.notes == ("drawn by hand",)
    nonlinear = NonlinearNetwork(W, WIN, name="tanh")
    network = as_network(nonlinear)
    np.testing.assert_array_equal(network.A, W)
    assert network.name == "tanh"
    assert network.notes == (
        "linearised about zero input: tanh replaced by its slope where the nodes rest",
    )
    assert as_network(NonlinearNetwork(W, WIN, activation="identity")).notes == ()


def test_paths(tmp_path):
    memcurve.save_network(LinearNetwork(W, WIN, notes=["ein Hinweis: <τ>"]), tmp_path / "n.npz")
    network = as_network(tmp_path / "n.npz", readout=[0])
    np.testing.assert_array_equal(network.A, W)
    assert network.name == "n"
    assert network.notes == ("ein Hinweis: <τ>",)
    assert as_network(str(tmp_path / "n.npz"), matrix="A", mask="C").notes == ()
    refuses(FileNotFoundError, "no such file", as_network, "nowhere.npz")


def test_pairs():
    np.testing.assert_array_equal(as_network((W, WIN)).A, W)
    sparse = random_array((50, 50), density=0.1, random_state=1)
    assert as_network((sparse, np.ones(50))).is_sparse
    assert as_network((W * 1j, WIN)).is_complex
    assert as_network(([[0.5]], [1.0])).size == 1


def test_notes_come_first_in_every_result():
    network = as_network(NonlinearNetwork(W, WIN[:, 0], name="n"))
    coloured = memcurve.inputs.ARMA(ar=[0.5])
    results = [
        memcurve.memory_curve(network),
        memcurve.memory_curve(network, noise=1e-3),
        memcurve.memory_curve(network, method="osm_plus", seed=1, masks=3),
        memcurve.forecasting_curve(network, coloured),
        memcurve.fisher_curve(network),
        memcurve.noise_profile(network, [1e-2, 1e-4]),
        memcurve.noise_profile(network, [1e-2, 1e-4])[1],
    ]
    for result in results:
        assert result.notes[0] == network.notes[0]
        assert result.notes.count(network.notes[0]) == 1


@pytest.mark.parametrize(
    ("obj", "error", "message"),
    [
        (3.0, TypeError, ("`network`", "float")),
        (W, TypeError, ("numpy.ndarray", "(A, C)")),
        (
            memcurve.StateAffineNetwork(p=[[[0.5]]], q=[[0.0], [1.0]]),
            TypeError,
            "memcurve.capacities",
        ),
        (memcurve.ContinuousNetwork([[-1.0]], [1.0]), TypeError, "memcurve.memory_density"),
        ((W,), ValueError, "1 parts"),
        ((W, WIN.T), ValueError, ("`C`", "transpose")),
        ((W, WIN.T, 0.5), ValueError, ("`Win`", "(2, 12)", "transpose")),
        ((W[:, :3], WIN, 0.5), ValueError, ("`W`", "(12, 3)")),
        ((W, WIN, 1.5), ValueError, ("`lr`", "12", "1.5")),
        (([[1, 2], [3]], [1, 1]), ValueError, "`A`"),
        ((W, WIN, [0.1, 0.2]), ValueError, "`lr`"),
        ({"A": [[1, 2], [3]], "C": [1, 1]}, ValueError, "`A`"),
        ({}, ValueError, ("A and C", "W and Win")),
        ((csr_array(np.full((2, 2), np.nan)), [1, 1], 0.5), ValueError, "`W`"),
    ],
)
def test_refused(obj, error, message):
    refuses(error, message, as_network, obj)


def test_kinks_of_own_activations_are_found():
    for f in (lambda x: np.maximum(0.5 * x, x), lambda x: np.where(x <= 0, np.expm1(x), x)):
        refuses(ValueError, "`activation`", NonlinearNetwork(W, WIN, activation=f).linearised)
        shifted = NonlinearNetwork(np.abs(W) / 4, WIN, activation=f, shift=np.ones(12))
        np.testing.assert_allclose(shifted.linearised().A, np.abs(W) / 4, atol=1e-11)
