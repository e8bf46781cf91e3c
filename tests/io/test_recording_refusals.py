"""For each way a recording can be wrong an error that helps."""

import h5py
import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import io, sparse

from memcurve.core import limits
from memcurve.io import NetworkFileError, open_recording
from refusals import refuses
from stored_recordings import T, X, Z, refused, same
from written import write_csv, write_hdf5, write_mat73, write_npy, write_parquet


@pytest.mark.parametrize("ending", ["h5", "mat"])
@pytest.mark.parametrize("way", ["external raw storage", "virtual dataset", "external link"])
def test_numbers_of_other_files_are_not_read(tmp_path, way, ending):
    """A stranger's file could name any file of the reader, or one that is not there."""
    secret, path = tmp_path / "secret", tmp_path / f"run.{ending}"
    secret.write_bytes(X.tobytes())
    if way != "external raw storage":
        write_hdf5(secret, X=X, z=Z)
    with h5py.File(path, "w") as file:
        file["z"] = Z[:, None]
        if way == "virtual dataset":
            layout = h5py.VirtualLayout(X.shape, "f8")
            layout[:] = h5py.VirtualSource(secret, "X", X.shape)
            file.create_virtual_dataset("X", layout)
        elif way == "external link":
            file["X"] = h5py.ExternalLink(secret, "X")
        else:
            file.create_dataset("X", X.shape, "f8", external=[(secret, 0, X.nbytes)])
        if way != "external link":
            file["X"].attrs["MATLAB_class"] = np.bytes_("double")
        file["z"].attrs["MATLAB_class"] = np.bytes_("double")
    if way == "external link" and ending == "h5":
        refused(path, None, "only z")  # links are not followed, and not listed
        return
    for there in (True, False):
        assert secret.exists() == there
        refused(path, None, f"run.{ending}: X is", way, "Copy the numbers into one file")
        secret.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("shape", "part"),
    [
        ((T, 10**30), "is incomplete"),
        ((T, -1), "has a shape that no array has"),
        ((0, 10**9), "the list of its 1,000,000,000 columns takes"),
    ],
)
def test_headers_that_lie(tmp_path, shape, part, monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 2**30)
    with (tmp_path / "run.npy").open("wb") as stream:
        header = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.write(X.tobytes())
    error = limits.TooLargeError if "columns" in part else NetworkFileError
    refused(tmp_path / "run.npy", Z, "run.npy:", part, error=error)


@pytest.mark.parametrize("order", "CF")
def test_a_member_whose_checksum_is_wrong(tmp_path, order):
    path = tmp_path / "run.npz"
    states = np.asarray(np.vstack([X] * 20), order=order)
    np.savez(path, X=states)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    source = open_recording(path, np.zeros(len(states)))
    refuses(NetworkFileError, "CRC-32", list, source.chunks(7))


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_a_file_that_changes(tmp_path, ending):
    path = tmp_path / f"run.{ending}"

    def write(states):
        return write_npy(path, states) if ending == "npy" else write_csv(path, states)

    source = open_recording(write(X), Z)
    write(X[:20])
    with pytest.raises(NetworkFileError, match=r"changed while it was read|cannot be read"):
        list(source.chunks(7))
    if ending == "csv":
        write(np.vstack([X, X]))
        refuses(NetworkFileError, "has more than its 53 rows", list, source.chunks(7))


def test_names_in_archives(tmp_path):
    path = tmp_path / "run.npz"
    np.savez(path, A=X, drive=Z)
    refused(path, None, "has none of states, X, x", "A (53, 4) float64", "state_names='...'")
    refused(path, None, "has none of z, u, input, inputs", "input_name=", state_names="A")
    refused(path, None, "'B'", "holds A (53, 4)", "`state_names`", state_names="B")
    same(open_recording(path, state_names=["A"], input_name="drive"))
    np.savez(path, X=X, x=X, z=Z, u=Z)
    refused(path, None, "has X and x; choose", "state_names=")
    refused(path, None, "has z and u; choose", "input_name=", state_names="x")


def test_names_in_tables(tmp_path):
    path = write_csv(tmp_path / "run.csv", X, Z, "a,b,c,d,e")
    refused(path, None, "has none of z, u, input, inputs, only a, b, c, d, e")
    refused(path, None, "has no column 'q'; it has a, b", "`input_name`", input_name="q")
    refused(path, None, "perfectly", input_name="e", state_names=["a", "e"])
    refused(path, None, "holds no states", input_name="e", state_names=[])
    write_csv(path, X, Z, "a,b,z,d,u")
    refused(path, None, "has z and u; choose", "input_name=")
    refused(path, None, "'z'", "state_names=", input_name="u")
    write_csv(path, X, Z, "a,a,c,d,u")
    refused(path, None, "several columns 'a'", state_names=["a", "c"])
    same(open_recording(path))
    write_csv(path, X, Z)
    refused(path, None, "5 columns without names", "input_name='4'", "header line")
    write_csv(path, Z[:, None], header="z")
    same(open_recording(X, path))


@pytest.mark.parametrize("where", ["array", "npy", "npz"])
def test_shapes(tmp_path, where):
    def states(array):
        np.save(tmp_path / "run.npy", array)
        np.savez(tmp_path / "run.npz", X=array)
        return array if where == "array" else tmp_path / f"run.{where}"

    label = {"array": "`states`", "npy": "run.npy: the array", "npz": "run.npz: X"}[where]
    refused(states(Z), Z, f"{label} must be two-dimensional", "(53,)")
    refused(states(X[None]), Z, "must be two-dimensional", "(1, 53, 4)")
    refused(states(X.T), Z, f"{label} has 4 rows", "transposed", "X.T")
    refused(states(X[1:]), Z, f"{label} has 52 rows, and the input (`inputs`) 53")
    refused(states(X[:0]), Z[:0], "holds no states", "(0, 4)")
    refused(states(X[:, :0]), Z, "holds no states", "(53, 0)")
    same(open_recording(states(X), Z[None]))
    refused(states(X), Z[None, :, None], "several of shape (T, d), got shape (1, 53, 1)")


def test_numbers_that_are_not_real(tmp_path):
    refused(X + 1j, Z, "`states` must hold real numbers, got complex128", "numpy.hstack")
    refused(X, Z + 1j, "`inputs` must hold real numbers", "z.real")
    refused(X.astype(object), Z, "`states` must be an array of numbers", error=TypeError)
    refused(["a.npy", "b.npy"], Z, "the path of one file", error=TypeError)
    refused(np.ma.masked_invalid([[1.0], [np.nan]]), [1, 2], "masked")
    refused(write_hdf5(tmp_path / "run.h5", X=X + 1j), Z, "run.h5: X must hold real numbers")
    refused(write_mat73(tmp_path / "run.mat", X=X + 1j), Z, "run.mat: X must hold real numbers")
    for contents in (X + 1j, sparse.csc_array(X), {"a": 1}, "text"):
        io.savemat(tmp_path / "run.mat", {"X": contents})
        refused(tmp_path / "run.mat", Z, "run.mat: X")
    refused(write_mat73(tmp_path / "run.mat", X=X), Z, "is a MATLAB struct", state_names="s")
    path = write_parquet(tmp_path / "run.parquet", {"a": ["x", "y"], "z": [1, 2]})
    refused(path, None, "column 'a' holds string")
    twice = pa.Table.from_arrays([pa.array([1.0])] * 3, names=["a", "a", "z"])
    parquet.write_table(twice, path)
    refused(path, None, "several columns 'a'")


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("1,two,3", "line 9: 'two' is not a real number"),
        ("1,2", "line 9 has 2 fields, the first line 3"),
        ("1,2,3,4", "line 9 has 4 fields"),
        ("1,1_0,3", "'1_0' is not a real number"),
        ("1,1+2j,3", "'1+2j' is not a real number"),
        ("1,\x00,3", "is not a real number"),
        ("1;2;3", "line 9 has 1 fields"),
    ],
)
def test_bad_lines(tmp_path, line, part):
    path = tmp_path / "run.csv"
    path.write_text("a,b,z\n" + "1,2,3\n" * 7 + line + "\n1,2,3\n", "utf-8")
    source = open_recording(path)
    assert source.length == 9
    refuses(NetworkFileError, part, list, source.chunks(3))
