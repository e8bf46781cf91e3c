"""Files: exact round trips, and for each way a file can be wrong an error that helps."""

import contextlib
import json
import os
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse

from memcurve.io import NetworkFileError, load_matrix, load_network, save_network
from memcurve.limits import TooLargeError
from memcurve.network import LinearNetwork

rng = np.random.default_rng(20240607)
A = rng.standard_normal((5, 5)) / 3
C = rng.standard_normal(5)
C2 = rng.standard_normal((5, 2))
COMPLEX = (A + 1j * rng.standard_normal((5, 5))).astype(np.complex64)
SPARSE = sparse.csr_array(np.where(np.abs(A) > 0.3, A, 0.0))


def same(network, A, C):
    dense = network.A.toarray() if network.is_sparse else network.A
    expected = A.toarray() if sparse.issparse(A) else A
    assert network.is_sparse == sparse.issparse(A)
    assert dense.shape == expected.shape
    np.testing.assert_array_equal(dense, expected)
    assert network.C.shape == C.shape
    np.testing.assert_array_equal(network.C, C)


def refused(path, *parts, error=ValueError, load=load_network, **options):
    with pytest.raises(error) as caught:
        load(path, **options)
    message = str(caught.value)
    for part in (str(path), *parts):
        assert part in message, message
    return message


def write_hdf5(path, items):
    """What MATLAB's save -v7.3 writes: 512 bytes of header, then HDF5 with arrays transposed."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in items.items():
            if sparse.issparse(value):
                columns = value.tocsc()
                item = file.create_group(name)
                item.attrs["MATLAB_sparse"] = np.uint64(columns.shape[0])
                item["jc"] = columns.indptr.astype(np.uint64)
                if columns.nnz:
                    item["ir"] = columns.indices.astype(np.uint64)
                    item["data"] = columns.data
                kind = "double"
            elif isinstance(value, dict):
                item, kind = file.create_group(name), "struct"
            elif isinstance(value, str):
                item = file.create_dataset(name, data=np.array([[ord(c)] for c in value], "u2"))
                kind = "char"
            elif np.iscomplexobj(value):
                pairs = np.empty(value.T.shape, dtype=[("real", "f8"), ("imag", "f8")])
                pairs["real"], pairs["imag"] = value.T.real, value.T.imag
                item, kind = file.create_dataset(name, data=pairs), "double"
            else:
                item = file.create_dataset(name, data=np.atleast_2d(value).T)
                kind = {"f8": "double", "f4": "single", "i4": "int32"}[value.dtype.str[1:]]
            item.attrs["MATLAB_class"] = np.bytes_(kind)
        file["#refs#/a"] = np.zeros(2)
    with open(path, "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")


def write_safetensors(path, items):
    pytest.importorskip("safetensors")
    from safetensors.numpy import save_file

    save_file({key: np.ascontiguousarray(value) for key, value in items.items()}, path)


ARCHIVES = {
    "npz": lambda path, items: np.savez(path, **items),
    "npz-compressed": lambda path, items: np.savez_compressed(path, **items),
    "mat": io.savemat,
    "mat-compressed": lambda path, items: io.savemat(path, items, do_compression=True),
    "mat-hdf5": write_hdf5,
    "safetensors": write_safetensors,
}
SINGLES = {
    "npy": np.save,
    "csv": lambda path, array: np.savetxt(path, array, delimiter=","),
    "mtx": lambda path, array: io.mmwrite(path, array, precision=17),
}


@pytest.fixture(params=ARCHIVES)
def archive(request, tmp_path):
    """A function that writes an archive of the format in turn and returns its path."""

    def write(items):
        path = tmp_path / f"network.{request.param.partition('-')[0]}"
        ARCHIVES[request.param](path, items)
        return path

    return write


@pytest.fixture(params=SINGLES)
def single(request, tmp_path):
    """A function that writes one array in the format in turn and returns its path."""

    def write(array, stem="single"):
        path = tmp_path / f"{stem}.{request.param}"
        SINGLES[request.param](path, array)
        return path

    return write


# ---- round trips


@pytest.mark.parametrize(("matrix", "mask"), [("A", "C"), ("W", "Win")])
def test_archives_round_trip(archive, matrix, mask):
    path = archive({matrix: A, mask: C2, "other": np.zeros(3)})
    network = load_network(path)
    same(network, A, C2)
    assert network.name == "network"
    assert load_network(str(path), name="mine").name == "mine"


def test_first_pair_wins_and_names_override(archive):
    path = archive({"W": 2 * A, "Win": 2 * C2, "A": A, "C": C2, "layer_hh": 3 * A, "layer_ih": C2})
    same(load_network(path), A, C2)
    same(load_network(path, matrix="layer_hh", mask="layer_ih"), 3 * A, C2)
    same(load_network(path, matrix="W"), 2 * A, C2)
    same(load_network(path, mask="Win"), A, 2 * C2)


def test_incomplete_first_pair_is_passed_over(archive):
    same(load_network(archive({"A": 2 * A, "W": A, "Win": C2})), A, C2)


def test_column_masks_become_vectors(archive, single, tmp_path):
    same(load_network(archive({"A": A, "C": C[:, None]})), A, C)
    same(load_network(single(np.column_stack([A, C]))), A, C)
    np.save(tmp_path / "C.npy", C[:, None])
    same(load_network(single(A), mask=tmp_path / "C.npy"), A, C)
    same(load_network(single(A), mask=C[:, None]), A, C)


def test_row_masks_become_vectors_in_matlab_only(archive):
    path = archive({"A": A, "C": C[None, :]})
    if path.suffix == ".mat":
        same(load_network(path), A, C)
    else:
        refused(path, "`C`", "(1, 5)", "transpose")


def test_complex(archive):
    try:
        path = archive({"A": COMPLEX, "C": C2})
    except Exception as error:
        if type(error).__name__ != "SafetensorError":
            raise
        pytest.skip("this version of safetensors has no complex numbers")
    same(load_network(path), COMPLEX, C2)


def test_small_types(archive):
    whole = np.arange(-12, 13, dtype=np.int32).reshape(5, 5)
    single = C2.astype(np.float32)
    same(load_network(archive({"A": whole, "C": single})), whole.astype(float), single)


def test_single_arrays(single, tmp_path):
    same(load_network(single(np.hstack([A, C2]))), A, C2)
    for ending, write in SINGLES.items():
        write(tmp_path / f"mask.{ending}", C2)
        same(load_network(single(A), mask=str(tmp_path / f"mask.{ending}")), A, C2)
    same(load_network(single(A), mask=C), A, C)
    same(load_network(single(A), mask=C.tolist()), A, C)
    same(load_network(single(np.hstack([COMPLEX, C2]))), COMPLEX, C2.astype(complex))


def test_archive_without_mask_takes_one(archive, tmp_path):
    path = archive({"A": A, "C": C2})
    same(load_network(path, mask=C), A, C)
    np.save(tmp_path / "mask.npy", C)
    same(load_network(archive({"W": A}), mask=tmp_path / "mask.npy"), A, C)


@pytest.mark.parametrize("write", [io.savemat, write_hdf5], ids=["v5", "v7.3"])
def test_matlab_sparse_stays_sparse(tmp_path, write):
    write(tmp_path / "s.mat", {"A": SPARSE.tocsc(), "C": C[:, None]})
    same(load_network(tmp_path / "s.mat"), SPARSE, C)
    write(tmp_path / "z.mat", {"A": sparse.csc_array((5, 5)), "C": sparse.csc_array(C[:, None])})
    same(load_network(tmp_path / "z.mat"), sparse.csr_array((5, 5)), C)


def test_matrix_market_stays_sparse(tmp_path):
    path = tmp_path / "s.mtx"
    io.mmwrite(path, SPARSE, precision=17)
    same(load_network(path, mask=C), SPARSE, C)
    io.mmwrite(path, sparse.hstack([SPARSE, sparse.csr_array(C2)]), precision=17)
    same(load_network(path), SPARSE, C2)
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n")
    same(load_network(path, mask=[1, 0]), sparse.csr_array([[1.0, 1], [1, 0]]), np.array([1.0, 0]))


MARKET = [
    (form, symmetry, field)
    for form in (sparse.coo_array, np.array)
    for symmetry in ("general", "symmetric", "skew-symmetric", "hermitian")
    for field in ("real", "integer", "complex", "pattern")
    if field != "pattern" or (form is sparse.coo_array and symmetry in ("general", "symmetric"))
]


@pytest.mark.parametrize(("form", "symmetry", "field"), MARKET)
def test_matrix_market_against_scipy(tmp_path, form, symmetry, field):
    whole = np.round(9 * A).astype(int)
    array = {"real": A, "complex": COMPLEX}.get(field, whole)
    mirror = {"symmetric": array.T, "skew-symmetric": -array.T, "hermitian": array.conj().T}
    array = array + mirror.get(symmetry, 0)
    path = tmp_path / "m.mtx"
    io.mmwrite(path, form(array), "two\nlines", field, precision=17, symmetry=symmetry)
    assert io.mminfo(path)[4:] == (field, symmetry)
    expected = io.mmread(path)
    same(load_network(path, mask=C), form(expected), C)
    if field != "pattern":
        np.testing.assert_array_equal(load_network(path, mask=C).A @ np.eye(5), array)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("matrix array real general\n1 2\n1\n2.0e-", "'2.0e-'"),
        ("matrix array real general\n0 3\n1\n", "0 x 3"),
        ("matrix array real symmetric\n2 3\n1\n2\n3\n", "2 x 3, 3 entries"),
        ("matrix array pattern general\n2 2\n", "2 x 2"),
        ("matrix coordinate real general\n2 3 2\n1 1 1.0\n", "2 entries announced, 3 numbers"),
        ("matrix coordinate real general\n2 3 1\n3 1 1.0\n", "index"),
        ("matrix coordinate real general\n2 3 1\n0 1 1.0\n", "index"),
        ("matrix coordinate real general\n2 3 1\n1.5 1 1.0\n", "'1.5'"),
        ("matrix coordinate real odd\n2 2 1\n1 1 1.0\n", "odd"),
        ("matrix coordinate odd general\n2 2 1\n1 1 1.0\n", "odd"),
        ("matrix odd real general\n2 2 1\n1 1 1.0\n", "odd"),
        ("vector array real general\n2\n1\n1.0\n", "unknown first line"),
    ],
)
def test_matrix_market_refused(tmp_path, text, part):
    (tmp_path / "m.mtx").write_text("%%MatrixMarket " + text)
    refused(tmp_path / "m.mtx", part, "cannot be read as .mtx", "damaged")


def test_matrix_market_long_numbers(tmp_path):
    text = "%%MatrixMarket matrix array real general\n1 2\n0.5000000000000000000000000\n1\n"
    (tmp_path / "m.mtx").write_text(text)  # scipy.io.mmread may crash on it
    same(load_network(tmp_path / "m.mtx"), np.array([[0.5]]), np.array([1.0]))


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "bsr", "dia"])
def test_scipy_sparse_npz_is_the_matrix(tmp_path, layout):
    path = tmp_path / "s.npz"
    sparse.save_npz(path, SPARSE.asformat(layout))
    same(load_network(path, mask=C), SPARSE, C)
    refused(path, "no A and C", "A (5, 5) sparse", "mask='C.npy'")


def test_bfloat16_tensors(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    path = tmp_path / "b.safetensors"
    rounded = A.astype(ml_dtypes.bfloat16)
    write_safetensors(path, {"rnn.weight_hh_l0": rounded, "rnn.weight_ih_l0": C2})
    network = load_network(path, matrix="rnn.weight_hh_l0", mask="rnn.weight_ih_l0")
    same(network, rounded.astype(float), C2)


@pytest.mark.parametrize(
    "text",
    [
        "0.5,0,1\n-1e-1,.25,2\n",
        "0.5;0;1\n-0.1;0.25;2",
        "0.5 0  1\n -1e-1\t0.25 2\n\n",
        "a,b,c\r\n0.5, 0, 1\r\n-0.1, 0.25, 2\r\n",
        '\ufeff"from 1";"from 2";"input"\n0.5;0;1\n-0.1;0.25;2\n',
        "# written by numpy\n0.5,0,1\n# half way\n-0.1,0.25,2\n",
        "i j k\n0.5 0 1\n-0.1 0.25 2\n",
    ],
)
def test_text(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8", newline="")
    same(load_network(path), np.array([[0.5, 0], [-0.1, 0.25]]), np.array([1.0, 2.0]))


def test_text_complex_as_matlab_writes_it(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("0.5+0.25i,1\n")
    same(load_network(path), np.array([[0.5 + 0.25j]]), np.array([1.0 + 0j]))


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


def test_save_leaves_the_old_file_when_it_fails(tmp_path, monkeypatch):
    path = tmp_path / "n.npz"
    save_network(LinearNetwork(A, C), path)

    def full(stream, **arrays):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match=r"n\.npz: cannot be written \(No space left"):
        save_network(LinearNetwork(2 * A, C), path)
    assert os.listdir(tmp_path) == ["n.npz"]
    same(load_network(path), A, C)


def test_save_errors(tmp_path):
    network = LinearNetwork(A, C)
    with pytest.raises(ValueError, match=r"network\.csv: networks are written as \.npz"):
        save_network(network, tmp_path / "network.csv")
    with pytest.raises(FileNotFoundError, match=r"check that its folder exists"):
        save_network(network, tmp_path / "missing" / "n.npz")
    with pytest.raises(TypeError, match="`network` must be a LinearNetwork, got ndarray"):
        save_network(A, tmp_path / "n.npz")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(ValueError, match=r"`path` must be a file, got .*folder\.npz"):
        save_network(network, tmp_path / "folder.npz")
    assert os.listdir(tmp_path) == ["folder.npz"]


# ---- the connectivity alone


def same_matrix(loaded, expected):
    same(LinearNetwork(loaded, C), expected, C)
    assert loaded.dtype in (np.float64, np.complex128)
    assert not (loaded.data if sparse.issparse(loaded) else loaded).flags.writeable


def test_matrix_of_archives(archive):
    same_matrix(load_matrix(archive({"W": 2 * A, "A": A, "hh": 3 * A, "C": C2[:2]})), A)
    path = archive({"W": A, "hh": 3 * A})
    same_matrix(load_matrix(path), A)
    same_matrix(load_matrix(str(path), matrix="hh"), 3 * A)
    refused(path, "no A;", "W (5, 5)", "hh (5, 5)", "matrix='...'", load=load_matrix, matrix="A")
    path = archive({"hh": A, "C": C2})
    message = refused(path, "no A, or W; it holds", "hh (5, 5)", "C (5, 2)", load=load_matrix)
    assert "mask" not in message
    refused(path, "`A` must be a square matrix", "(5, 2)", load=load_matrix, matrix="C")


def test_matrix_of_single_arrays(single):
    same_matrix(load_matrix(single(A)), A)
    whole = COMPLEX.astype(complex)  # scipy.io.mmwrite cuts long complex64 numbers
    same_matrix(load_matrix(single(whole)), whole)
    both = np.hstack([A, C2])
    refused(single(both), "a square A, got shape (5, 7)", "with load_network", load=load_matrix)
    refused(single(A[:, :3]), "a square A, got shape (5, 3); reshape it", load=load_matrix)
    path = single(A)
    refused(path, "one array without a name", "matrix='A'", load=load_matrix, matrix="A")


def test_matrix_stays_sparse(tmp_path):
    io.mmwrite(tmp_path / "s.mtx", SPARSE, precision=17)
    io.savemat(tmp_path / "s.mat", {"W": SPARSE})
    sparse.save_npz(tmp_path / "s.npz", SPARSE)
    save_network(LinearNetwork(SPARSE, C, readout=[1]), tmp_path / "saved.npz")
    for file in ("s.mtx", "s.mat", "s.npz", "saved.npz"):
        same_matrix(load_matrix(tmp_path / file), SPARSE)


def test_matrix_ignores_a_wrong_mask_and_readout(tmp_path):
    np.savez(tmp_path / "n.npz", A=A, C=["a"], readout=A)
    same_matrix(load_matrix(tmp_path / "n.npz"), A)


def test_matrix_refused(tmp_path):
    refused(tmp_path / "none.npz", "no such file", load=load_matrix, error=FileNotFoundError)
    (tmp_path / "x.txt").write_text("1")
    refused(tmp_path / "x.txt", "unknown kind", "Convert it", load=load_matrix)
    (tmp_path / "x.npy").write_bytes(b"")
    refused(tmp_path / "x.npy", "is empty", load=load_matrix)
    for ending in ("npy", "npz", "mat", "mtx", "safetensors"):
        (tmp_path / f"x.{ending}").write_bytes(b"hello, world\n" * 100)
        refused(tmp_path / f"x.{ending}", "cannot be read", "damaged", load=load_matrix)
    for array, part in (
        (np.where(A > 0.3, np.nan, A), "`A` must be finite"),
        (np.array([["a"]]), "`A` must hold real or complex numbers"),
        (np.array([[None]]), "Python objects (a pickle)"),
    ):
        np.save(tmp_path / "x.npy", array)
        np.savez(tmp_path / "x.npz", A=array)
        refused(tmp_path / "x.npy", part, load=load_matrix)
        refused(tmp_path / "x.npz", part, load=load_matrix)
    for array in (C, np.zeros((0, 0))):
        np.save(tmp_path / "x.npy", array)
        refused(tmp_path / "x.npy", "a square A", str(array.shape), load=load_matrix)


# ---- what is refused


def test_no_file(tmp_path):
    refused(tmp_path / "none.npz", "no such file", error=FileNotFoundError)
    (tmp_path / "folder.npz").mkdir()
    refused(tmp_path / "folder.npz", "is a directory", error=IsADirectoryError)
    np.save(tmp_path / "A.npy", A)
    with pytest.raises(FileNotFoundError, match=r"C\.npy: no such file"):
        load_network(tmp_path / "A.npy", mask=str(tmp_path / "C.npy"))
    refused(tmp_path / "A.npy" / "B.npy", "cannot be opened", "check the path")
    refused(tmp_path / ("x" * 300 + ".npy"), "cannot be opened", "check the path")
    with pytest.raises(ValueError, match="cannot be opened"):
        load_network("a\0b.npy")


def test_no_permission(tmp_path, monkeypatch):
    def closed(self, mode):  # root may read every file, so the mode bits cannot test this
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", closed)
    refused(tmp_path / "A.npy", "may not be read", "permissions", error=PermissionError)


@pytest.mark.parametrize("file", ["x.txt", "x.pkl", "x"])
def test_unknown_endings(tmp_path, file):
    (tmp_path / file).write_text("1 2 3")
    refused(
        tmp_path / file, "unknown kind", ".npz, .mat, .safetensors, .npy, .csv, .mtx", "Convert it"
    )


def test_endings_in_capitals(tmp_path):
    (tmp_path / "A.CSV").write_text("0.5,1")
    assert load_network(tmp_path / "A.CSV").size == 1


def test_archive_without_a_pair_lists_what_it_holds(archive):
    path = archive({"A": A, "B": C2})
    refused(path, "no A and C, or W and Win", "A (5, 5)", "B (5, 2)", "matrix='...'", "mask='...'")
    refused(path, "no A and in, or W and in;", "B (5, 2)", mask="in")
    refused(path, "no hh and C, or hh and Win;", "B (5, 2)", matrix="hh")


def test_long_listings_are_cut(tmp_path):
    np.savez(tmp_path / "many.npz", **{f"layer{i}": A for i in range(100)})
    message = refused(tmp_path / "many.npz", "layer39 (5, 5) float64, 60 more.")
    assert "layer40" not in message


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
    refused(single(A), "no input mask C", "mask='C.npy'", "[A | C]", "archive with A and C")
    refused(single(A[:, :3]), "[A | C] of shape (N, N + d)", "(5, 3)")
    refused(single(np.hstack([A, C2])), "square A, as `mask` is given", "(5, 7)", mask=C)


def test_single_arrays_have_no_names(single):
    path = single(A)
    refused(path, "one array without a name", "matrix='A'", "leave `matrix` out", matrix="A")
    refused(path, "one array without a name", "mask='Win'", mask="Win")
    with pytest.raises(ValueError, match=r"C\.mat: a mask is read from \.npy, \.csv, \.mtx"):
        load_network(path, mask=Path("C.mat"))


def test_npy_of_other_dimensions(tmp_path):
    np.save(tmp_path / "v.npy", C)
    refused(tmp_path / "v.npy", "[A | C]", "(5,)")
    np.save(tmp_path / "v.npy", np.zeros((0, 3)))
    refused(tmp_path / "v.npy", "[A | C]", "(0, 3)")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,2\n3,x\n", ["line 2: 'x' is not a number"]),
        ("1,x\n", ["line 1: 'x' is not a number"]),
        ("a,b\nc,d\n", ["line 2: 'c' is not a number"]),
        ("NA,NA,NA\n1,2,3\n", ["line 1: 'NA' is not a number"]),
        ("0,5;0,3\n0,5;0,3\n", ["line 2: '0,5' is not a number", "decimal point"]),
        ("1,2,3\n4,,6\n", ["line 2: '' is not a number"]),
        ("# c\n\n1,2,3\n4,5\n", ["line 4 has 2 numbers", "3", "same length"]),
        ("a,b\n", ["holds no numbers"]),
        ("\n \n", ["holds no numbers"]),
        ("nan,1\n", ["`A` must be finite"]),
    ],
)
def test_text_that_is_not_a_matrix(tmp_path, text, parts):
    (tmp_path / "t.csv").write_text(text)
    refused(tmp_path / "t.csv", *parts)


def test_text_that_is_binary(tmp_path):
    np.save(tmp_path / "A.npy", A)
    (tmp_path / "A.npy").rename(tmp_path / "A.csv")
    refused(tmp_path / "A.csv", "cannot be read as .csv", "write or download it again")


def test_matlab_structs_cells_and_text_are_refused(tmp_path):
    path = tmp_path / "m.mat"
    cell = np.array([[1, "a"]], dtype=object)
    io.savemat(path, {"s": {"A": A}, "cell": cell, "text": "abc", "A": A, "C": C2})
    for kind, name in (("struct", "s"), ("cell", "cell"), ("char", "text")):
        refused(path, f"{name} is a MATLAB {kind}", "A = s.A", matrix=name)
        refused(path, f"{name} is a MATLAB {kind}", mask=name)
    same(load_network(path), A, C2)


def test_matlab_73_structs_and_foreign_hdf5_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "m.mat"
    write_hdf5(path, {"s": {}, "text": "abc", "A": A, "C": C2})
    for kind, name in (("struct", "s"), ("char", "text")):
        refused(path, f"{name} is a MATLAB {kind}", "A = s.A", matrix=name)
    assert "#refs#" not in refused(path, "A (5, 5) double", "C (5, 2) double", matrix="none")
    with h5py.File(path, "w") as file:
        file["A"], file["C"] = A, C
    refused(path, "A is a MATLAB array without MATLAB_class")


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


# ---- pickles


class Payload:
    """Unpickling it creates a file."""

    def __init__(self, victim):
        self.victim = str(victim)

    def __reduce__(self):
        return open, (self.victim, "w")


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_not_run(tmp_path, protocol):
    victim = tmp_path / "victim"
    attack = pickle.dumps(Payload(victim), protocol=protocol)
    pickle.loads(attack).close()
    assert victim.exists()  # the attack works on who loads it
    victim.unlink()
    for ending in ("npy", "npz", "mat", "safetensors", "csv", "mtx"):
        (tmp_path / f"raw.{ending}").write_bytes(attack)
        message = refused(tmp_path / f"raw.{ending}")
        if protocol >= 2 and ending in ("npy", "npz"):
            assert "pickle" in message
    assert not victim.exists()


def test_object_arrays_are_not_loaded(tmp_path):
    victim = tmp_path / "victim"
    attack = np.array([[Payload(victim)]], dtype=object)
    np.save(tmp_path / "o.npy", attack)
    refused(
        tmp_path / "o.npy", "Python objects (a pickle)", "never loaded", "dtype=float", mask=[1]
    )
    with pytest.raises(ValueError, match=r"o\.npy: holds Python objects"):
        load_network(tmp_path / "o.npy", mask=tmp_path / "o.npy")
    np.savez(tmp_path / "o.npz", A=attack, C=C, W=A)
    refused(tmp_path / "o.npz", "Python objects (a pickle)", "never loaded")
    same(load_network(tmp_path / "o.npz", matrix="W"), A, C)
    np.savez(tmp_path / "s.npz", format=attack, shape=attack, data=attack)
    refused(tmp_path / "s.npz", "cannot be read", mask=C)
    np.savez(tmp_path / "a.npz", A_data=attack, A_indices=attack, A_indptr=attack, A_shape=[1, 1])
    refused(tmp_path / "a.npz", "cannot be read", mask=C)
    assert not victim.exists()


def test_npy_named_npz(tmp_path):
    np.save(tmp_path / "A.npy", A)
    (tmp_path / "A.npy").rename(tmp_path / "A.npz")
    refused(tmp_path / "A.npz", "is a .npy file by its contents", "rename")


# ---- damage


def cuts(whole, count=40):
    return sorted({0, 1, 7, *np.linspace(2, len(whole) - 1, count).astype(int).tolist()})


def test_truncated_archives(archive):
    path = archive({"A": A, "C": C2})
    whole = path.read_bytes()
    for cut in cuts(whole):
        path.write_bytes(whole[:cut])
        refused(path, "is empty" if cut == 0 else "")


def test_truncated_sparse_and_saved(tmp_path):
    path = tmp_path / "s.npz"
    save_network(LinearNetwork(SPARSE, C), path)
    whole = path.read_bytes()
    for cut in cuts(whole):
        path.write_bytes(whole[:cut])
        refused(path)


def test_truncated_single(single):
    path = single(A)
    whole = path.read_bytes()
    if path.suffix != ".npy":  # text does not tell that the end of its last number is missing
        whole = whole.rstrip().rpartition(b"\n" if path.suffix == ".mtx" else b",")[0]
    for cut in cuts(whole):
        path.write_bytes(whole[:cut])
        refused(path, "is empty" if cut == 0 else "", mask=C)


def test_corrupt_archives_give_no_foreign_error(archive):
    path = archive({"A": A, "C": C2})
    whole = bytearray(path.read_bytes())
    for place in np.linspace(0, len(whole) - 1, 60).astype(int):
        broken = whole.copy()
        broken[place] ^= 0x5A
        path.write_bytes(broken)
        with contextlib.suppress(NetworkFileError, TooLargeError):
            load_network(path)


@pytest.mark.parametrize("matrix", [A, COMPLEX, SPARSE.tocsc()], ids=["real", "complex", "sparse"])
def test_matlab_type_codes_are_checked(tmp_path, matrix):
    """scipy.io.loadmat ends Python with a segmentation fault on each of these."""
    path = tmp_path / "m.mat"
    io.savemat(path, {"A": matrix, "C": C2})
    whole = bytearray(path.read_bytes())
    for place, value in ((176, 0), (176, 19), (176, 128), (177, 50), (145, 255)):
        broken = whole.copy()
        broken[place] = value
        path.write_bytes(broken)
        if place == 145 and matrix is COMPLEX:  # sets flags that do not matter
            same(load_network(path), COMPLEX, C2)
        else:
            refused(path, "cannot be read as .mat", "damaged")


def test_matlab_before_version_5(tmp_path):
    io.savemat(tmp_path / "m.mat", {"A": A, "C": C}, format="4", oned_as="row")
    same(load_network(tmp_path / "m.mat"), A, C)


def test_other_contents_under_each_ending(tmp_path):
    for ending in ("npz", "npy", "mat", "mtx", "safetensors"):
        for contents in (b"hello, world\n" * 100, b"PK\x03\x04" + bytes(50), b"\xff" * 1000):
            path = tmp_path / f"x.{ending}"
            path.write_bytes(contents)
            refused(path, f"cannot be read as .{ending}", "damaged", "write or download it again")


# ---- optional packages


@pytest.mark.parametrize(("package", "ending"), [("h5py", "mat"), ("safetensors", "safetensors")])
def test_missing_packages_are_named(tmp_path, monkeypatch, package, ending):
    path = tmp_path / f"n.{ending}"
    path.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(600))
    monkeypatch.setitem(sys.modules, package, None)
    refused(path, f"needs {package}", "pip install memcurve[files]", error=ModuleNotFoundError)


def test_missing_bfloat16_is_named(tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    path = tmp_path / "b.safetensors"
    tensor = {"dtype": "BF16", "shape": [1, 1], "data_offsets": [0, 2]}
    header = json.dumps({"A": tensor}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\x80\x3e")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    refused(
        path,
        "needs ml_dtypes",
        "pip install memcurve[files]",
        mask=[1.0],
        error=ModuleNotFoundError,
    )


def test_import_stays_light():
    import subprocess

    code = "import sys, memcurve.io; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"h5py", "safetensors", "scipy.io"} & set(re.split(r"\s", run.stdout))
