"""PyTorch checkpoints, and what files hold besides A and C: leak rates and layers' parameters."""

from __future__ import annotations

import os
import pickle
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import io
from scipy.sparse import csr_array

import memcurve
from memcurve import LinearNetwork, load_matrix, load_network, save_network
from memcurve.io.tensors import CHECKPOINTS as ENDINGS, require_safe

RNG = np.random.default_rng(8)
W = RNG.standard_normal((6, 6)) / 4
WIN = RNG.standard_normal((6, 2))


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


class Payload:
    """Unpickling it creates a file."""

    def __init__(self, victim):
        self.victim = str(victim)

    def __reduce__(self):
        return os.mkdir, (self.victim,)


def refused(path, *parts, error=ValueError, **options):
    with pytest.raises(error) as caught:
        load_network(path, **options)
    for part in (str(path), *parts):
        assert part in str(caught.value), str(caught.value)


# ---- checkpoints


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "older"])
def test_state_dicts(torch, tmp_path, ending, zipped):
    path = tmp_path / f"model{ending}"
    rnn = torch.nn.RNN(2, 6)
    torch.save(rnn.state_dict(), path, _use_new_zipfile_serialization=zipped)
    network = load_network(path)
    np.testing.assert_array_equal(network.A, rnn.weight_hh_l0.detach().numpy())
    np.testing.assert_array_equal(network.C, rnn.weight_ih_l0.detach().numpy())
    assert network.name == "model"
    assert network.notes[0].startswith("weight_hh_l0 taken as a linear recurrence")
    named = load_network(path, matrix="weight_hh_l0", mask="weight_ih_l0")
    assert named.notes == ()
    np.testing.assert_array_equal(load_matrix(path), network.A)


def test_nested_names(torch, tmp_path):
    path = tmp_path / "last.ckpt"
    state = {f"rnn.{key}": value for key, value in torch.nn.RNN(1, 4).state_dict().items()}
    torch.save({"epoch": 3, "state_dict": state, "loops": {"fit": {"step": 7}}, "none": None}, path)
    network = load_network(
        path, matrix="state_dict.rnn.weight_hh_l0", mask="state_dict.rnn.weight_ih_l0"
    )
    np.testing.assert_array_equal(network.A, state["rnn.weight_hh_l0"].numpy())
    assert network.C.shape == (4,)
    assert "state_dict.rnn.weight_hh_l0" in load_network(path).notes[0]
    refused(path, "state_dict.rnn.weight_hh_l0 (4, 4) float32", "epoch () int", matrix="hh")


def test_kinds_of_tensors(torch, tmp_path):
    tensors = {
        "A": torch.from_numpy(W).bfloat16(),
        "C": torch.from_numpy(WIN).half(),
    }
    torch.save(tensors, tmp_path / "half.pt")
    network = load_network(tmp_path / "half.pt")
    np.testing.assert_array_equal(network.A, tensors["A"].float().numpy())
    np.testing.assert_array_equal(network.C, tensors["C"].float().numpy())
    torch.save(
        {"A": torch.from_numpy(W).to_sparse(), "C": torch.from_numpy(WIN)}, tmp_path / "s.pt"
    )
    assert load_network(tmp_path / "s.pt").is_sparse
    torch.save({"A": torch.from_numpy(W + 1j * W), "C": torch.ones(6, 1)}, tmp_path / "c.pt")
    assert load_network(tmp_path / "c.pt").is_complex


def test_containers_that_hold_themselves(torch, tmp_path):
    knot: dict = {"A": torch.from_numpy(W), "C": torch.from_numpy(WIN)}
    knot["again"] = knot
    torch.save(knot, tmp_path / "knot.pt")
    assert load_network(tmp_path / "knot.pt").size == 6
    many: dict = {"A": torch.from_numpy(W)}
    for _ in range(60):  # 2^60 names if every mention were entered
        many = {"left": many, "right": many}
    torch.save(many, tmp_path / "many.pt")
    refused(tmp_path / "many.pt", "has no A and C")


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_never_executed(torch, tmp_path, protocol):
    victim = tmp_path / "victim"
    pickle.loads(pickle.dumps(Payload(victim), protocol=protocol))
    assert victim.exists()  # the attack works on who loads it
    victim.rmdir()
    content = {"A": torch.from_numpy(W), "C": torch.from_numpy(WIN), "x": Payload(victim)}
    torch.save(content, tmp_path / "zip.pt", pickle_protocol=protocol)
    torch.save(
        content,
        tmp_path / "older.pt",
        pickle_protocol=protocol,
        _use_new_zipfile_serialization=False,
    )
    (tmp_path / "raw.pt").write_bytes(pickle.dumps(Payload(victim), protocol=protocol))
    for file in ("zip.pt", "older.pt", "raw.pt"):
        refused(tmp_path / file, "never executed", "torch.save(module.state_dict(), path)")
        assert not victim.exists()


def test_whole_modules_are_refused(torch, tmp_path):
    torch.save(torch.nn.RNN(1, 3), tmp_path / "module.pt")
    refused(tmp_path / "module.pt", "never executed", "state_dict()")


def test_damaged_checkpoints(torch, tmp_path):
    path = tmp_path / "n.pt"
    torch.save({"A": torch.from_numpy(W), "C": torch.from_numpy(WIN)}, path)
    whole = path.read_bytes()
    for size in (1, 3, 100, len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:size])
        refused(path)
    path.write_bytes(b"")
    refused(path, "is empty")
    path.write_bytes(b"not a checkpoint")
    refused(path, "is no PyTorch checkpoint by its first bytes")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("hello", "world")
    refused(path, "cannot be read")


def test_torch_is_named_where_it_is_missing(tmp_path, monkeypatch):
    path = tmp_path / "n.pt"
    path.write_bytes(b"PK\x03\x04")
    monkeypatch.setitem(sys.modules, "torch", None)
    refused(path, "needs torch", "pip install memcurve[torch]", error=ModuleNotFoundError)


def test_old_torch_is_refused(tmp_path):
    for version in ("1.13.1", "2.5.1", "2.9.0+cpu"):
        with pytest.raises(ValueError, match=rf"2.10 or newer.*{re.escape(version)}"):
            require_safe(version, tmp_path / "n.pt")
    for version in ("2.10.0", "2.13.0+cpu", "3.0.0a1"):
        require_safe(version, tmp_path / "n.pt")


# ---- leak rates and layers in any archive


@pytest.fixture(params=["npz", "mat", "safetensors", "pt"])
def archive(request, tmp_path):
    """Writes named arrays to a file of each kind."""

    def write(arrays):
        path = tmp_path / f"n.{request.param}"
        arrays = {key: np.asarray(value) for key, value in arrays.items()}
        if request.param == "npz":
            np.savez(path, **arrays)
        elif request.param == "mat":
            io.savemat(path, arrays)
        elif request.param == "pt":
            torch = pytest.importorskip("torch", reason="torch is not installed")
            torch.save({key: torch.tensor(value) for key, value in arrays.items()}, path)
        else:
            numpy = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
            numpy.save_file(arrays, path)
        return path

    return write


@pytest.mark.parametrize("name", ["lr", "leak"])
@pytest.mark.parametrize("lr", [0.25, RNG.uniform(0.1, 1, 6)], ids=["one", "each"])
def test_leak_rates(archive, name, lr):
    path = archive({"W": W, "Win": WIN, name: lr})
    network = load_network(path)
    each = np.broadcast_to(lr, 6)[:, None]
    np.testing.assert_array_equal(network.A, np.diag(1 - each[:, 0]) + each * W)
    np.testing.assert_array_equal(network.C, each * WIN)
    assert network.notes[0] == (
        f"the leak rate {name} is applied: A = (1 − lr)·I + lr·W, C = lr·Win"
    )
    np.testing.assert_array_equal(load_matrix(path), network.A)
    plain = load_network(path, matrix="W", mask="Win")  # named: taken as they are
    np.testing.assert_array_equal(plain.A, W)
    assert f"not used: {name}" in plain.notes[0]  # and said so
    np.testing.assert_array_equal(load_matrix(path, matrix="W"), W)
    given = load_network(path, mask=np.ones(6))
    np.testing.assert_array_equal(given.C, each[:, 0])


def test_leak_rates_belong_to_reservoirs(archive):
    network = load_network(archive({"A": W, "C": WIN, "lr": 0.5}))
    np.testing.assert_array_equal(network.A, W)
    refused(archive({"W": W, "Win": WIN, "lr": 1.5}), "`lr` must be one number from 0 to 1")


def test_sparse_weights_stay_sparse(tmp_path):
    io.savemat(tmp_path / "n.mat", {"W": csr_array(W).tocsc(), "Win": WIN, "lr": 0.5})
    network = load_network(tmp_path / "n.mat")
    assert network.is_sparse
    np.testing.assert_array_equal(network.A.toarray(), 0.5 * np.eye(6) + 0.5 * W)


@pytest.mark.parametrize("names", [("eigenvalues", "step"), ("lambda", "Delta"), ("Lambda", "dt")])
def test_diagonal_layers(archive, names):
    poles, B = -np.linspace(0.5, 2, 5), RNG.standard_normal((5, 2))
    network = load_network(archive({names[0]: poles, "B": B, names[1]: 0.1}))
    np.testing.assert_array_equal(network.A.diagonal(), np.exp(0.1 * poles))
    np.testing.assert_allclose(
        network.C, ((np.exp(0.1 * poles) - 1) / poles)[:, None] * B, atol=1e-15
    )
    assert network.notes == (
        f"diagonal A from the vector {names[0]}",
        "continuous-time eigenvalues and B, discretised (zoh)",
    )
    discrete = load_network(archive({names[0]: poles / 3, "B": B}))
    np.testing.assert_array_equal(discrete.A.diagonal(), poles / 3)
    path = archive({names[0]: poles / 3, "B": B})
    np.testing.assert_array_equal(load_matrix(path).diagonal(), poles / 3)
    np.testing.assert_array_equal(load_network(path, mask=np.ones(5)).C, np.ones(5))


def test_diagonal_layers_as_matlab_stores_vectors(tmp_path):
    path = tmp_path / "n.mat"
    for size in (1, 4):
        poles = np.linspace(0.2, 0.8, size)
        for turn in (np.transpose, np.asarray):  # rows or columns
            vectors = {"lambda": turn(poles[:, None]), "B": turn(np.ones((size, 1)))}
            io.savemat(path, vectors | {"Delta": turn(np.full((size, 1), 0.5))})
            network = load_network(path)
            np.testing.assert_array_equal(network.A.diagonal(), np.exp(poles / 2))
            assert network.C.shape == (size,)


@pytest.mark.parametrize("prefix", ["", "encoder.layers_0.lru."])
def test_linear_recurrent_units(archive, prefix, request):
    if prefix and "mat" in request.node.name:
        pytest.skip("MATLAB has no dots in names")
    nu, theta, gamma = RNG.normal(-2, 0.1, (3, 5))
    real, imaginary = RNG.standard_normal((2, 5, 2))
    arrays = {"nu_log": nu, "theta_log": theta, "B_re": real, "B_im": imaginary}
    arrays["gamma_log"] = gamma
    network = load_network(archive({prefix + key: value for key, value in arrays.items()}))
    poles = np.exp(-np.exp(nu) + 1j * np.exp(theta))
    np.testing.assert_array_equal(network.A.diagonal(), poles)
    np.testing.assert_array_equal(network.C, np.exp(gamma)[:, None] * (real + 1j * imaginary))
    assert "linear recurrent unit" in network.notes[0]
    refused(archive({"nu_log": nu, "theta_log": theta}), "has no A and C, or W and Win")


def test_torch_weights_in_safetensors(archive, request):
    if "mat" in request.node.name:
        pytest.skip("MATLAB has no dots in names")
    arrays = {"rnn.weight_hh_l0": W, "rnn.weight_ih_l0": WIN, "rnn.bias_hh_l0": W[0]}
    network = load_network(archive(arrays))
    np.testing.assert_array_equal(network.A, W)
    assert "rnn.weight_hh_l0 taken as a linear recurrence" in network.notes[0]
    both = arrays | {"top.weight_hh_l0": W, "top.weight_ih_l0": WIN}
    refused(archive(both), "has no A and C, or W and Win", "top.weight_hh_l0 (6, 6)")


def test_notes_are_saved(tmp_path):
    for notes in ((), ("one",), ("τ ≥ 0", "<b>")):
        save_network(LinearNetwork(W, WIN, notes=notes), tmp_path / "n.npz")
        assert load_network(tmp_path / "n.npz").notes == notes
    np.savez(tmp_path / "n.npz", A=W, C=WIN, notes=np.array([object()]))
    assert load_network(tmp_path / "n.npz").notes == ()


def test_a_small_file_that_swells(tmp_path: Path) -> None:
    """Dimensions are looked at before anything is read."""
    torch = pytest.importorskip("torch", reason="checkpoints need torch")
    swelling = {"A": torch.zeros(1).expand(200_000, 200_000), "C": torch.ones(200_000)}
    torch.save(swelling, tmp_path / "swelling.pt")
    assert (tmp_path / "swelling.pt").stat().st_size < 2_000_000
    with pytest.raises(MemoryError, match="too large"):
        load_network(tmp_path / "swelling.pt")


def test_layers_of_a_deep_network_are_not_taken_for_one() -> None:
    torch = pytest.importorskip("torch", reason="state dicts of torch")
    for module in (torch.nn.RNN(1, 4, num_layers=2), torch.nn.RNN(1, 4, bidirectional=True)):
        state = module.state_dict()
        with pytest.raises(ValueError, match="one layer of several"):
            memcurve.as_network(state)
        one = memcurve.as_network(state, matrix="weight_hh_l0", mask="weight_ih_l0")
        assert "one layer of several" in one.notes[0]


def test_what_weights_alone_do_not_tell(tmp_path: Path) -> None:
    W, Win = np.eye(3) / 2, np.ones((3, 2))
    np.savez(tmp_path / "esn.npz", W=W, Win=Win, a=0.3, Wout=np.ones(4))
    [note] = load_network(tmp_path / "esn.npz").notes
    assert "no activation and no bias; not used: a, Wout" in note
    np.savez(tmp_path / "leaky.npz", W=W, Win=Win, lr=0.3)
    assert "not used: lr" in load_network(tmp_path / "leaky.npz", mask="Win").notes[0]
