"""What files hold besides A and C: leak rates, and the parameters of layers."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve import load_matrix, load_network
from stored_networks import refused
from written import ARCHIVES, write_checkpoint

RNG = np.random.default_rng(8)
W = RNG.standard_normal((6, 6)) / 4
WIN = RNG.standard_normal((6, 2))


@pytest.fixture(params=["npz", "mat", "safetensors", "pt"])
def layers(request, tmp_path):
    """Writes named arrays to a file of each kind."""

    def write(arrays):
        path = tmp_path / f"n.{request.param}"
        arrays = {key: np.asarray(value) for key, value in arrays.items()}
        (ARCHIVES | {"pt": write_checkpoint})[request.param](path, **arrays)
        return path

    return write


@pytest.mark.parametrize("name", ["lr", "leak"])
@pytest.mark.parametrize("lr", [0.25, RNG.uniform(0.1, 1, 6)], ids=["one", "each"])
def test_leak_rates(layers, name, lr):
    path = layers({"W": W, "Win": WIN, name: lr})
    network = load_network(path)
    each = np.broadcast_to(lr, 6)[:, None]
    np.testing.assert_array_equal(network.A, np.diag(1 - each[:, 0]) + each * W)
    np.testing.assert_array_equal(network.C, each * WIN)
    assert network.notes[0] == "the leak rate is applied: A = (1 − lr)·I + lr·W, C = lr·Win"
    np.testing.assert_array_equal(load_matrix(path), network.A)
    plain = load_network(path, matrix="W", mask="Win")  # named: taken as they are
    np.testing.assert_array_equal(plain.A, W)
    assert f"not used: {name}" in plain.notes[1]  # and said so
    np.testing.assert_array_equal(load_matrix(path, matrix="W"), W)
    given = load_network(path, mask=np.ones(6))
    np.testing.assert_array_equal(given.C, each[:, 0])


@pytest.mark.parametrize("names", [("eigenvalues", "step"), ("lambda", "Delta"), ("Lambda", "dt")])
def test_diagonal_layers(layers, names):
    poles, B = -np.linspace(0.5, 2, 5), RNG.standard_normal((5, 2))
    network = load_network(layers({names[0]: poles, "B": B, names[1]: 0.1}))
    np.testing.assert_array_equal(network.A.diagonal(), np.exp(0.1 * poles))
    np.testing.assert_allclose(
        network.C, ((np.exp(0.1 * poles) - 1) / poles)[:, None] * B, atol=1e-15
    )
    assert network.notes == (
        f"diagonal A from the vector {names[0]}",
        "continuous-time eigenvalues and B, discretised (zoh)",
    )
    discrete = load_network(layers({names[0]: poles / 3, "B": B}))
    np.testing.assert_array_equal(discrete.A.diagonal(), poles / 3)
    path = layers({names[0]: poles / 3, "B": B})
    np.testing.assert_array_equal(load_matrix(path).diagonal(), poles / 3)
    np.testing.assert_array_equal(load_network(path, mask=np.ones(5)).C, np.ones(5))


@pytest.mark.parametrize("prefix", ["", "encoder.layers_0.lru."])
def test_linear_recurrent_units(layers, prefix, request):
    if prefix and "mat" in request.node.name:
        pytest.skip("MATLAB has no dots in names")
    nu, theta, gamma = RNG.normal(-2, 0.1, (3, 5))
    real, imaginary = RNG.standard_normal((2, 5, 2))
    arrays = {"nu_log": nu, "theta_log": theta, "B_re": real, "B_im": imaginary}
    arrays["gamma_log"] = gamma
    network = load_network(layers({prefix + key: value for key, value in arrays.items()}))
    poles = np.exp(-np.exp(nu) + 1j * np.exp(theta))
    np.testing.assert_array_equal(network.A.diagonal(), poles)
    np.testing.assert_array_equal(network.C, np.exp(gamma)[:, None] * (real + 1j * imaginary))
    assert "linear recurrent unit" in network.notes[0]
    refused(layers({"nu_log": nu, "theta_log": theta}), "has no A and C, or W and Win")


def test_torch_weights_in_safetensors(layers, request):
    if "mat" in request.node.name:
        pytest.skip("MATLAB has no dots in names")
    arrays = {"rnn.weight_hh_l0": W, "rnn.weight_ih_l0": WIN, "rnn.bias_hh_l0": W[0]}
    network = load_network(layers(arrays))
    np.testing.assert_array_equal(network.A, W)
    assert "rnn.weight_hh_l0 taken as a linear recurrence" in network.notes[0]
    both = arrays | {"top.weight_hh_l0": W, "top.weight_ih_l0": WIN}
    refused(layers(both), "has no A and C, or W and Win", "top.weight_hh_l0 (6, 6)")


def test_what_weights_alone_do_not_tell(tmp_path):
    W, Win = np.eye(3) / 2, np.ones((3, 2))
    np.savez(tmp_path / "esn.npz", W=W, Win=Win, a=0.3, Wout=np.ones(4))
    linear, unused, inputs = load_network(tmp_path / "esn.npz").notes
    assert "activation or bias" in linear
    assert unused.startswith("not used: a, Wout (a leak rate is called lr or ")
    assert "Win has 2 columns, taken as 2 inputs" in inputs
    assert (linear.kind, unused.kind, inputs.kind) == ("network", "unused", "unused")
    np.savez(tmp_path / "leaky.npz", W=W, Win=Win, lr=0.3)
    assert "not used: lr" in load_network(tmp_path / "leaky.npz", mask="Win").notes[1]
    np.savez(tmp_path / "pair.npz", A=W, C=Win, lr=0.3, labels=["a", "b", "c"])
    assert load_network(tmp_path / "pair.npz").notes == ("not used: lr",)
