"""Networks in files: exact round-trips in every format, structs, leak rates; W alone."""

import os

import ml_dtypes
import numpy as np
import pytest
from scipy import io, sparse

from memcurve import LinearNetwork, load_matrix, load_network, save_network
from refusals import refuses
from stored_networks import C2, COMPLEX, SPARSE, A, C, refused, same
from written import ARCHIVES, SINGLES, write_mat73, write_safetensors


@pytest.mark.parametrize(("matrix", "mask"), [("A", "C"), ("W", "Win")])
def test_archives_round_trip(archive, matrix, mask):
    path = archive({matrix: A, mask: C2, "other": np.zeros(3)})
    network = load_network(path)
    same(network, A, C2)
    assert network.name == "network"
    assert load_network(str(path), name="mine").name == "mine"


def test_first_pair_wins_and_names_override(archive):
    path = archive({"W": 2 * A, "Win": 2 * C2, "A": A, "C": C2, "layer_hh": 3 * A, "layer_ih": C2})
    both = load_network(path)
    same(both, A, C2)
    assert "W and Win left out; choose them with matrix='W', mask='Win'" in both.notes[0]
    same(load_network(path, matrix="layer_hh", mask="layer_ih"), 3 * A, C2)
    same(load_network(path, matrix="W"), 2 * A, C2)
    same(load_network(path, mask="Win"), A, 2 * C2)


def test_columns_and_rows_become_vectors(archive, single, tmp_path):
    same(load_network(archive({"A": A, "C": C[:, None]})), A, C)
    same(load_network(single(np.column_stack([A, C]))), A, C)
    np.save(tmp_path / "C.npy", C[:, None])
    same(load_network(single(A), mask=tmp_path / "C.npy"), A, C)
    same(load_network(single(A), mask=C[:, None]), A, C)
    same(load_network(archive({"A": A, "C": C[None, :]})), A, C)
    refused(archive({"A": A, "C": C2.T}), "`C`", "(2, 5)", "transpose")


def test_complex(archive):
    try:
        path = archive({"A": COMPLEX, "C": C2})
    except Exception as error:
        if type(error).__name__ != "SafetensorError":
            raise
        pytest.skip("this version of safetensors has no complex numbers")
    same(load_network(path), COMPLEX, C2)


def test_single_arrays(single, tmp_path):
    same(load_network(single(np.hstack([A, C2]))), A, C2)
    for ending, write in SINGLES.items():
        write(tmp_path / f"mask.{ending}", C2)
        same(load_network(single(A), mask=str(tmp_path / f"mask.{ending}")), A, C2)
    same(load_network(single(A), mask=C), A, C)
    same(load_network(single(A), mask=C.tolist()), A, C)
    complex_file = single(np.hstack([COMPLEX, C2]))
    if complex_file.suffix == ".csv":
        refused(complex_file, "complex ones go into a .npy or .mtx file")
    else:
        same(load_network(complex_file), COMPLEX, C2.astype(complex))


@pytest.mark.parametrize("version", ["mat", "mat-hdf5"])
def test_matlab_sparse_stays_sparse(tmp_path, version):
    write, empty = ARCHIVES[version], sparse.csc_array((5, 5))
    write(tmp_path / "s.mat", A=SPARSE.tocsc(), C=C[:, None])
    same(load_network(tmp_path / "s.mat"), SPARSE, C)
    for mask in (C[:, None], C[None, :]):
        write(tmp_path / "z.mat", A=empty, C=sparse.csc_array(mask))
        same(load_network(tmp_path / "z.mat"), empty.tocsr(), C)


def test_matlab_before_version_5(tmp_path):
    io.savemat(tmp_path / "m.mat", {"A": A, "C": C}, format="4", oned_as="row")
    same(load_network(tmp_path / "m.mat"), A, C)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
def test_scipy_sparse_npz_is_the_matrix(tmp_path, layout):
    path = tmp_path / "s.npz"
    sparse.save_npz(path, SPARSE.asformat(layout))
    same(load_network(path, mask=C), SPARSE, C)
    refused(path, "no A and C", "it holds A (5, 5) sparse.", "mask='C.npy'")


def test_bfloat16_tensors(tmp_path):
    path = tmp_path / "b.safetensors"
    rounded = A.astype(ml_dtypes.bfloat16)
    write_safetensors(path, **{"rnn.weight_hh_l0": rounded, "rnn.weight_ih_l0": C2})
    network = load_network(path, matrix="rnn.weight_hh_l0", mask="rnn.weight_ih_l0")
    same(network, rounded.astype(float), C2)


@pytest.mark.parametrize(
    "network",
    [
        LinearNetwork(A, C),
        LinearNetwork(COMPLEX, C2, shift=C, readout=[3, 0]),
        LinearNetwork(np.asfortranarray(A), C2, readout=[4]),
        LinearNetwork(SPARSE, C, shift=C2[:, 0]),
        LinearNetwork(sparse.csr_array((5, 5)), C),
    ],
)
def test_save_round_trip(tmp_path, network):
    path = tmp_path / "saved.npz"
    path.write_bytes(b"an older file")
    save_network(network, path)
    again = load_network(path)
    same(again, network.A, network.C)
    assert again.A.dtype == network.A.dtype
    for part in ("shift", "readout"):
        np.testing.assert_array_equal(getattr(again, part), getattr(network, part))
    assert os.listdir(tmp_path) == ["saved.npz"]
    assert load_network(path, matrix="A", mask="C").readout is None
    other = load_network(path, mask=2 * C)
    np.testing.assert_array_equal(other.readout, network.readout)


def test_save_errors(tmp_path):
    network = LinearNetwork(A, C)
    refuses(ValueError, ("`path`", ".mat"), save_network, network, tmp_path / "network.txt")
    refuses(FileNotFoundError, "folder", save_network, network, tmp_path / "missing" / "n.npz")
    refuses(TypeError, "`network`", save_network, A, tmp_path / "n.npz")
    (tmp_path / "folder.npz").mkdir()
    refuses(ValueError, "`path`", save_network, network, tmp_path / "folder.npz")
    assert os.listdir(tmp_path) == ["folder.npz"]


def test_the_connectivity_alone(single, tmp_path):
    for path in (single(A), single(np.hstack([A, C2]))):
        loaded = load_matrix(path)
        np.testing.assert_array_equal(loaded, A)
        assert not loaded.flags.writeable
    refused(path, "one array without a name", "matrix='A'", load=load_matrix, matrix="A")
    refused(single(A[:, :3]), "got shape (5, 3); recorded states", load=load_matrix)
    io.savemat(tmp_path / "s.mat", {"W": SPARSE})
    save_network(LinearNetwork(SPARSE, C, readout=[1]), tmp_path / "saved.npz")
    for file in ("s.mat", "saved.npz"):
        loaded = load_matrix(tmp_path / file)
        same(LinearNetwork(loaded, C), SPARSE, C)
        assert not loaded.data.flags.writeable


def test_a_bias_among_the_inputs_is_told(tmp_path):
    """Some write W_in [1; u]: its first column is no input."""
    for Win, told in ((C2, True), (C2[:, 0], False), (C2[:, :1], False)):
        np.savez(tmp_path / "esn.npz", W=A, Win=Win)
        notes = load_network(tmp_path / "esn.npz").notes
        assert any("bias column" in note for note in notes) == told


@pytest.mark.parametrize("version", ["5", "5 packed", "7.3"])
def test_a_struct_is_read_as_it_is(tmp_path, version):
    path = tmp_path / "esn.mat"
    fields = {"W": A, "Win": C[None, :], "a": 0.3}
    if version == "7.3":
        write_mat73(path, esn=fields)
    else:
        io.savemat(path, {"esn": fields, "text": "abc"}, do_compression="packed" in version)
    same(load_network(path), A, C)
    same(load_network(path, matrix="esn.W"), A, C)
    same(load_network(path, matrix="esn.W", mask="esn.Win"), A, C)
    assert any("esn.a" in note for note in load_network(path).notes if note.kind == "unused")
    refused(path, "esn.V", "esn.W", matrix="esn.V")
    refused(path, "esn is a MATLAB struct", matrix="esn", mask=C)


def test_structs_within_structs_and_leaks(tmp_path):
    io.savemat(tmp_path / "n.mat", {"run": {"esn": {"W": A, "W_in": C[:, None], "lr": 0.5}}})
    for which in ({}, {"matrix": "run.esn.W"}):  # W of a struct says which struct
        leaky = load_network(tmp_path / "n.mat", **which)
        np.testing.assert_allclose(leaky.A, 0.5 * np.eye(5) + 0.5 * A, rtol=0, atol=1e-15)
        np.testing.assert_allclose(leaky.C, 0.5 * C, rtol=0, atol=1e-15)
    io.savemat(tmp_path / "n.mat", {"s": {"W": SPARSE.tocsc(), "Win": C}})
    found = load_network(tmp_path / "n.mat")
    assert sparse.issparse(found.A)
    np.testing.assert_array_equal(found.A.toarray(), SPARSE.toarray())
    io.savemat(tmp_path / "n.mat", {"a": {"W": A, "Win": C}, "b": {"W": A, "Win": C}})
    refused(tmp_path / "n.mat", "a.W (5, 5)", "b.W (5, 5)")  # which of them is not guessed


@pytest.mark.parametrize("name", ["lr", "leak"])
@pytest.mark.parametrize("lr", [0.25, np.linspace(0.1, 1, 5)], ids=["one", "each"])
def test_leak_rates(archive, name, lr):
    path = archive({"W": A, "Win": C2, name: lr})
    network = load_network(path)
    each = np.broadcast_to(lr, 5)[:, None]
    np.testing.assert_array_equal(network.A, np.diag(1 - each[:, 0]) + each * A)
    np.testing.assert_array_equal(network.C, each * C2)
    assert network.notes[0] == "the leak rate is applied: A = (1 − lr)·I + lr·W, C = lr·Win"
    np.testing.assert_array_equal(load_matrix(path), network.A)
    plain = load_network(path, matrix="W", mask="Win")  # named: taken as they are
    np.testing.assert_array_equal(plain.A, A)
    assert f"not used: {name}" in plain.notes[1]  # and said so
    np.testing.assert_array_equal(load_matrix(path, matrix="W"), A)
    given = load_network(path, mask=np.ones(5))
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
