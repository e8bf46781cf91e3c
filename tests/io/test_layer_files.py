"""What files hold besides A and C: leak rates, and the parameters of layers."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve import load_matrix, load_network
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


def test_what_weights_alone_do_not_tell(tmp_path):
    W, Win = np.eye(3) / 2, np.ones((3, 2))
    np.savez(tmp_path / "esn.npz", W=W, Win=Win, a=0.3, Wout=np.ones(4))
    linear, unused, inputs = load_network(tmp_path / "esn.npz").notes
    assert "activation or bias" in linear
    assert unused.startswith("not used: a, Wout (a leak rate is called lr or ")
    assert "Win has 2 columns, taken as 2 inputs" in inputs
    assert (linear.kind, unused.kind, inputs.kind) == ("linear", "unused", "unused")
    np.savez(tmp_path / "leaky.npz", W=W, Win=Win, lr=0.3)
    assert "not used: lr" in load_network(tmp_path / "leaky.npz", mask="Win").notes[1]
    np.savez(tmp_path / "pair.npz", A=W, C=Win, lr=0.3, labels=["a", "b", "c"])
    assert load_network(tmp_path / "pair.npz").notes == ("not used: lr",)
