"""PyTorch checkpoints: tensors by dotted names, and no pickled code is ever run."""

import pickle

import numpy as np
import pytest

import memcurve
from memcurve import load_matrix, load_network
from memcurve.io.tensors import CHECKPOINTS, require_safe
from refusals import refuses
from stored_networks import refused
from written import Payload

RNG = np.random.default_rng(8)
W = RNG.standard_normal((6, 6)) / 4
WIN = RNG.standard_normal((6, 2))


@pytest.mark.parametrize("ending", CHECKPOINTS)
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
    tensors = {"A": torch.from_numpy(W).bfloat16(), "C": torch.from_numpy(WIN).half()}
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


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_never_executed(torch, tmp_path, protocol):
    victim = tmp_path / "victim"
    pickle.loads(pickle.dumps(Payload(victim), protocol=protocol))
    assert victim.exists()  # the attack works on who loads it
    victim.rmdir()
    content = {"A": torch.from_numpy(W), "C": torch.from_numpy(WIN), "x": Payload(victim)}
    for file, zipped in (("zip.pt", True), ("older.pt", False)):
        options = {"pickle_protocol": protocol, "_use_new_zipfile_serialization": zipped}
        torch.save(content, tmp_path / file, **options)
    (tmp_path / "raw.pt").write_bytes(pickle.dumps(Payload(victim), protocol=protocol))
    for file in ("zip.pt", "older.pt", "raw.pt"):
        refused(tmp_path / file, "never executed", "torch.save(module.state_dict(), path)")
        assert not victim.exists()


def test_old_torch_is_refused(tmp_path):
    for version in ("1.13.1", "2.5.1", "2.9.0+cpu"):
        refuses(ValueError, ("2.10 or newer", version), require_safe, version, tmp_path / "n.pt")
    for version in ("2.10.0", "2.13.0+cpu", "3.0.0a1"):
        require_safe(version, tmp_path / "n.pt")


def test_layers_of_a_deep_network_are_not_taken_for_one(torch):
    for module in (torch.nn.RNN(1, 4, num_layers=2), torch.nn.RNN(1, 4, bidirectional=True)):
        state = module.state_dict()
        refuses(ValueError, "one layer of several", memcurve.as_network, state)
        one = memcurve.as_network(state, matrix="weight_hh_l0", mask="weight_ih_l0")
        assert "one layer of several" in one.notes[0]
