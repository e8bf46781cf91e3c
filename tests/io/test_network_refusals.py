"""For each way a file can hold no network an error that helps; pickles are never run."""

import sys

import h5py
import numpy as np
import pytest
from scipy import io

from memcurve import LinearNetwork, load_network, save_network
from memcurve.core.limits import TooLargeError
from memcurve.io import MissingMaskError
from refusals import refuses
from stored_networks import C2, SPARSE, A, C, refused, same
from written import write_mat73


def test_no_file(tmp_path):
    refused(tmp_path / "none.npz", "no such file", error=FileNotFoundError)
    (tmp_path / "folder.npz").mkdir()
    refused(tmp_path / "folder.npz", "is a directory", error=IsADirectoryError)
    np.save(tmp_path / "A.npy", A)
    missing = {"mask": str(tmp_path / "C.npy")}
    refuses(FileNotFoundError, "C.npy", load_network, tmp_path / "A.npy", **missing)
    refused(tmp_path / "A.npy" / "B.npy", "cannot be opened", "check the path")
    refused(tmp_path / ("x" * 300 + ".npy"), "cannot be opened", "check the path")
    refuses(ValueError, "cannot be opened", load_network, "a\0b.npy")
    refuses(TypeError, ("`path`", "NoneType"), load_network, None)
    refused(tmp_path / "A.npy", "got mask='no such'", "ones", "a .npy, .csv, .mtx", mask="no such")


def test_archive_without_a_pair_lists_what_it_holds(archive):
    path = archive({"A": A, "H": C2})
    parts = ("no A and C, or W and Win", "A (5, 5)", "H (5, 2)", "matrix='...'", "mask='...'")
    refused(path, *parts, error=MissingMaskError)
    refused(path, "no A and in, or W and in;", "H (5, 2)", mask="in")
    refused(path, "no hh and C, or hh and Win;", "H (5, 2)", matrix="hh")


def test_values_refused_by_the_network_name_the_file(archive, single, tmp_path):
    refused(archive({"A": A, "C": C2[:4]}), "`C`", "(5, d)")
    refused(archive({"A": np.where(A > 0.3, np.nan, A), "C": C2}), "`A` must be finite")
    np.save(tmp_path / "C.npy", C[:3])
    refused(single(A), "C.npy", "(5,)", mask=tmp_path / "C.npy")
    np.savez(tmp_path / "text.npz", A=np.array([["a"]]), C=[1.0])
    refused(tmp_path / "text.npz", "`A` must hold real or complex numbers")
    np.savez(tmp_path / "trained.npz", A=A, C=C, readout=A[:1])
    refused(tmp_path / "trained.npz", "`readout`", "Name `matrix` and `mask`")
    same(load_network(tmp_path / "trained.npz", matrix="A", mask="C"), A, C)


def test_single_array_shapes(single):
    parts = ("no input mask C", "mask='C.npy'", "[A | C]", "archive with A and C")
    refused(single(A), *parts, error=MissingMaskError)
    refused(single(A[:, :3]), "[A | C] of shape (N, N + d)", "(5, 3)")
    replaced = load_network(single(np.hstack([A, C2])), mask=C)
    same(replaced, A, C)
    assert "5 × 7 is read as [A | C]" in replaced.notes[0]


def test_matlab_73_structs_and_foreign_hdf5_are_refused(tmp_path):
    path = tmp_path / "m.mat"
    write_mat73(path, s={}, text="abc", A=A, C=C2)
    for kind, name in (("struct", "s"), ("char", "text")):
        refused(path, f"{name} is a MATLAB {kind}", "A = s.A", matrix=name)
    assert "#refs#" not in refused(path, "A (5, 5) double", "C (5, 2) double", matrix="none")
    with h5py.File(path, "w") as file:
        file["A"], file["C"] = A, C
    refused(path, "A is a MATLAB array without MATLAB_class")


def test_matrices_of_other_files_are_refused(tmp_path):
    path, other = tmp_path / "m.mat", tmp_path / "other.mat"
    write_mat73(other, A=A)
    write_mat73(path, C=C2)
    with h5py.File(path, "a") as file:
        file["far"] = h5py.ExternalLink(other, "/")
        file["A"] = h5py.SoftLink("/far/A")  # a detour
        parts = file.create_group("S")
        parts.attrs["MATLAB_sparse"] = 5
        parts["jc"] = np.arange(6)
        parts["data"] = h5py.ExternalLink(other, "A")
    refused(path, "m.mat: A is a link to another file: only what a file holds itself is read")
    refused(path, "S/data is an external link", matrix="S")


def test_names_that_clash(tmp_path):
    path = tmp_path / "n.npz"
    save_network(LinearNetwork(SPARSE, C), path)
    np.savez(path, **dict(np.load(path)), A=A)
    refused(path, "has A twice", "A_data, A_indices")
    np.savez(path, A=A, B=A)
    path.write_bytes(path.read_bytes().replace(b"B.npy", b"A.npy"))
    refused(path, "several arrays of one name", mask=C)


def test_sparse_indices_out_of_range_are_refused(tmp_path):
    path = tmp_path / "s.npz"
    save_network(LinearNetwork(SPARSE, C), path)
    parts = dict(np.load(path))
    for key, value in (("A_indices", 10**6), ("A_indices", -7), ("A_indptr", 10**6)):
        broken = parts[key].copy()
        broken[1] = value
        np.savez(path, **{**parts, key: broken})
        refused(path, "cannot be read", "damaged")
    empty = {"A_data": [], "A_indices": np.zeros(0, int), "A_indptr": [0, 9, 0, 9, 0, 0]}
    np.savez(path, **{**parts, **empty})
    refused(path, "cannot be read", "damaged")


# ---- damage


@pytest.mark.parametrize("packed", [False, True])
def test_matlab_files_that_were_cut_off(tmp_path, packed):
    """scipy.io.loadmat may end Python with a segmentation fault on some of these."""
    path = tmp_path / "m.mat"
    io.savemat(path, {"A": SPARSE.tocsc(), "C": C2}, do_compression=packed)
    whole = path.read_bytes()
    for length in range(140, len(whole), 7):
        path.write_bytes(whole[:length])
        refused(path)


def test_decompression_bombs(tmp_path):
    """A few bytes that claim to be very large arrays: their sizes are looked at first."""
    text = "%%MatrixMarket matrix coordinate real general\n1000000000000 1000000000000 1\n1 1 1\n"
    (tmp_path / "bomb.mtx").write_text(text)
    with h5py.File(tmp_path / "bomb.mat", "w") as file:
        for name, shape in (("A", (10**6, 10**6)), ("C", (1, 10**6))):
            item = file.create_dataset(name, shape, "f8", chunks=True, compression="gzip")
            item.attrs["MATLAB_class"] = np.bytes_("double")
    for name in ("bomb.mtx", "bomb.mat"):
        assert (tmp_path / name).stat().st_size < 10_000
        refused(tmp_path / name, "is too large", mask=C, error=TooLargeError)


# ---- optional packages


@pytest.mark.parametrize(("package", "ending"), [("h5py", "mat"), ("safetensors", "safetensors")])
def test_missing_packages_are_named(tmp_path, monkeypatch, package, ending):
    path = tmp_path / f"n.{ending}"
    path.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(600))
    monkeypatch.setitem(sys.modules, package, None)
    refused(path, f"needs {package}", "the extra `files`", error=ModuleNotFoundError)
