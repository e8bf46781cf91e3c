"""Recordings: every format gives the arrays bit for bit, in any chunks, and every error helps."""

import io
import os
import pickle
import subprocess
import sys
import tracemalloc
import zipfile
from decimal import Decimal

import numpy as np
import pytest
from scipy import io as matlab
from scipy import sparse

from memcurve.io import Source, open_recording
from memcurve.io import NetworkFileError

rng = np.random.default_rng(20250311)
T, N = 53, 4
X = rng.standard_normal((T, N)) * 10.0 ** rng.integers(-300, 300, (T, N))
Z = rng.standard_normal(T)
DTYPES = ["f8", ">f8", "f4", ">f4", "f2", ">f2", "g", "i1", "u2", ">i4", "i8", "u8", "?"]


def typed(dtype):
    """Random states and input of that type."""
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 100, (T, N)).astype(dtype), rng.integers(0, 100, T).astype(dtype)
    return rng.standard_normal((T, N)).astype(dtype), rng.standard_normal(T).astype(dtype)


def gathered(source, rows, start=0):
    chunks = list(source.chunks(rows, start))
    left = source.length - start
    assert [z.size for _, z in chunks] == [rows] * (left // rows) + [left % rows] * (
        left % rows > 0
    )
    for x, z in chunks:
        assert x.dtype == z.dtype == np.float64
        assert x.shape == (z.size, source.columns)
        assert z.ndim == 1
        assert x.flags.c_contiguous
        assert x.flags.writeable
        assert z.flags.writeable
    return np.vstack([x for x, _ in chunks]), np.concatenate([z for _, z in chunks])


def same(source, states=X, inputs=Z):
    """Check that a source gives these arrays, in chunks of all kinds, again and again."""
    assert isinstance(source, Source)
    assert (source.length, source.columns) == states.shape
    states, inputs = states.astype(np.float64), np.asarray(inputs, np.float64).reshape(-1)
    lengths = [(rows, 0) for rows in (7, 1, len(states), len(states) + 10, 7)]
    for rows, start in [*lengths, (7, 1), (5, 20), (60, len(states) - 1)]:
        x, z = gathered(source, rows, start)
        np.testing.assert_array_equal(x, states[start:])
        np.testing.assert_array_equal(z, inputs[start:])
    assert list(source.chunks(7, len(states))) == []
    return source


def refused(states, inputs=None, *parts, error=ValueError, **names):
    with pytest.raises(error) as caught:
        open_recording(states, inputs, **names)
    message = str(caught.value)
    for part in parts:
        assert part in message, message
    return message


@pytest.fixture(params=[2**24, 400])
def block(request, monkeypatch):
    """Blocks that hold the whole test recording, and such that hold some rows of it."""
    for module in list(sys.modules.values()):
        if module.__name__.startswith("memcurve.io") and hasattr(module, "BLOCK"):
            monkeypatch.setattr(module, "BLOCK", request.param)


def write_csv(path, states=X, inputs=None, header=None, separator=",", end="\n"):
    table = states if inputs is None else np.column_stack([states, inputs])
    lines = [separator.join(map(repr, row)) for row in table.tolist()]
    path.write_bytes(end.join(([header] if header else []) + lines + [""]).encode())
    return path


def write_hdf5(path, chunks=None, **arrays):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            packed = {"chunks": chunks, "compression": "gzip"} if chunks and array.ndim == 2 else {}
            file.create_dataset(name.replace("__", "/"), data=array, **packed)
    return path


def write_mat73(path, chunks=None, **arrays):
    """What MATLAB's save -v7.3 writes: 512 bytes of header, then HDF5 with arrays transposed."""
    h5py = pytest.importorskip("h5py")
    kinds = {"f8": "double", "f4": "single", "i4": "int32", "b1": "logical", "c16": "double"}
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            stored = np.atleast_2d(array).T
            if array.dtype.kind == "c":
                pairs = np.empty(stored.shape, dtype=[("real", "f8"), ("imag", "f8")])
                pairs["real"], pairs["imag"] = stored.real, stored.imag
                stored = pairs
            packed = (
                {"chunks": chunks, "compression": "gzip"} if chunks and min(array.shape) > 1 else {}
            )
            item = file.create_dataset(name, data=stored, **packed)
            item.attrs["MATLAB_class"] = np.bytes_(kinds[array.dtype.str[1:]])
        file.create_group("s").attrs["MATLAB_class"] = np.bytes_("struct")
        file["s/inner"] = np.zeros(2)
        file["#refs#/a"] = np.zeros(2)
    with open(path, "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")
    return path


def write_parquet(path, columns, **options):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({name: arrow.array(values) for name, values in columns.items()})
    parquet.write_table(table, path, **options)
    return path


def save(path, array):
    np.save(path, array)
    return path


# arrays in memory


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", "CF")
def test_arrays_of_any_real_type(dtype, order, block):
    states, inputs = typed(dtype)
    source = same(open_recording(np.asarray(states, order=order), inputs), states, inputs)
    assert source.name == "recording"


def test_arrays_of_any_layout(block):
    same(open_recording(X[::-1, ::2], Z[::-1, None]), X[::-1, ::2], Z[::-1])
    same(open_recording(X.tolist(), Z.tolist()))
    same(open_recording(np.ma.array(X), Z))


def test_chunks_are_copies():
    states, inputs = X.copy(), Z.copy()
    for x, z in open_recording(states, inputs).chunks(7):
        x[:], z[:] = 0, 0
    np.testing.assert_array_equal(states, X)
    np.testing.assert_array_equal(inputs, Z)


def test_nan_and_infinity_pass():
    states = X.copy()
    states[3, 1], states[5, 2] = np.nan, np.inf
    same(open_recording(states, Z), states)


def test_long_doubles_beyond_float64_are_infinite():
    huge = np.full((T, 1), np.finfo("g").max)
    x, _ = gathered(open_recording(huge, Z), 7)
    assert np.isinf(x).all() or huge.dtype.itemsize == 8


def test_datasets_on_disk_are_sliced(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(write_hdf5(tmp_path / "run.h5", X=X, z=Z)) as file:
        same(open_recording(file["X"], file["z"]))


# files


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", "CF")
def test_npy_and_npz(tmp_path, dtype, order, block):
    states, inputs = typed(dtype)
    states = np.asarray(states, order=order)
    path = save(tmp_path / "run.npy", states)
    source = same(open_recording(path, inputs), states, inputs)
    assert source.name == "run"
    same(open_recording(str(path), save(tmp_path / "z.npy", inputs)), states, inputs)
    np.savez(tmp_path / "run.npz", X=states, z=inputs[:, None])
    same(open_recording(tmp_path / "run.npz"), states, inputs)
    np.savez_compressed(tmp_path / "run.npz", X=states, other=states, drive=inputs)
    same(open_recording(tmp_path / "run.npz", input_name="drive"), states, inputs)
    np.savez(tmp_path / "run.npz", states)
    np.savez(tmp_path / "z.NPZ", inputs)
    (tmp_path / "z.NPZ.npz").rename(tmp_path / "z.NPZ")
    same(open_recording(tmp_path / "run.npz", tmp_path / "z.NPZ"), states, inputs)


def test_memory_maps_are_used_as_they_are(tmp_path):
    path = save(tmp_path / "run.npy", X)
    same(open_recording(np.load(path, mmap_mode="r"), Z))


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_versions(tmp_path, version):
    with open(tmp_path / "run.npy", "wb") as stream:
        np.lib.format.write_array(stream, X, version=version)
    with zipfile.ZipFile(tmp_path / "run.npz", "w") as archive:
        archive.write(tmp_path / "run.npy", "X.npy")
    same(open_recording(tmp_path / "run.npy", Z))
    same(open_recording(tmp_path / "run.npz", Z))


@pytest.mark.parametrize("version", ["5", "5 packed", "4", "7.3", "7.3 packed"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "?"])
def test_mat(tmp_path, version, dtype, block):
    states, inputs = typed(dtype)
    if version == "4" and dtype == "?":
        states, inputs = states.astype(float), inputs.astype(float)
    for vector in (inputs[:, None], inputs[None, :]):
        path = tmp_path / "run.mat"
        if version.startswith("7.3"):
            write_mat73(path, (3, 10) if "packed" in version else None, X=states, u=vector)
        else:
            options = {"format": version[0], "do_compression": "packed" in version}
            matlab.savemat(path, {"X": states, "u": vector}, **options)
        same(open_recording(path), states, inputs)
        same(open_recording(path, inputs, state_names="X"), states, inputs)
        same(open_recording(states, path), states, inputs)


@pytest.mark.parametrize("chunks", [None, (10, 2), (53, 1)])
@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "f2", "i8", "?"])
def test_hdf5(tmp_path, chunks, dtype, block):
    states, inputs = typed(dtype)
    path = write_hdf5(tmp_path / "run.h5", chunks, states=states, input=inputs, runs__a=states)
    same(open_recording(path), states, inputs)
    same(open_recording(path, state_names="/runs/a"), states, inputs)
    path.rename(tmp_path / "run.hdf5")
    same(open_recording(tmp_path / "run.hdf5", inputs), states, inputs)


@pytest.mark.parametrize("rows", [4, 1000])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?"])
def test_parquet(tmp_path, rows, dtype, block):
    states, inputs = typed(dtype)
    columns = {"a": states[:, 0], "u": inputs, "b.c": states[:, 1], "d": states[:, 2]}
    path = write_parquet(tmp_path / "run.parquet", columns, row_group_size=rows)
    same(open_recording(path), states[:, :3], inputs)
    source = open_recording(path, state_names=["d", "b.c"], input_name="a")
    same(source, states[:, [2, 1]], states[:, 0])
    same(open_recording(X, path), X, inputs)
    same(open_recording(path, Z, state_names="a"), states[:, :1], Z)


def test_parquet_with_empty_fields(tmp_path):
    decimals = [Decimal("1.25"), None, Decimal("-3")]
    columns = {"a": [1.5, None, 3.0], "b": [1, 2, None], "c": [True, None, False], "d": decimals}
    columns["z"] = [2**62, None, 3]
    path = write_parquet(tmp_path / "run.parquet", columns)
    expected = np.array([[1.5, 1, 1, 1.25], [np.nan, 2, np.nan, np.nan], [3, np.nan, 0, -3]])
    x, z = gathered(open_recording(path), 2)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(z, [2.0**62, np.nan, 3])


@pytest.mark.parametrize("separator", [",", ";", "\t", " ", ", ", "  "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", ["csv", "txt"])
def test_text(tmp_path, separator, end, ending, block):
    path = tmp_path / f"run.{ending}"
    same(open_recording(write_csv(path, separator=separator, end=end), Z))
    header = separator.join(["a", '"b"', "c", "d", "z"])
    write_csv(path, X, Z, header, separator, end)
    same(open_recording(path))
    source = open_recording(path, state_names=["d", "b"], input_name="a")
    same(source, X[:, [3, 1]], X[:, 0])
    same(open_recording(X[:, :2], path), X[:, :2])


def test_text_by_numpy_and_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X)
    frame.to_csv(tmp_path / "run.csv", index=False)  # the header counts the columns
    same(open_recording(tmp_path / "run.csv", Z))
    frame.to_csv(tmp_path / "run.csv")
    refused(tmp_path / "run.csv", Z, "run.csv: column ''", "state_names=[...]")
    same(open_recording(tmp_path / "run.csv", Z, state_names=["0", "1", "2", "3"]))
    frame.to_csv(tmp_path / "run.csv", header=False, index=False)
    same(open_recording(tmp_path / "run.csv", Z))
    table = np.column_stack([X, Z])
    np.savetxt(tmp_path / "run.txt", table, fmt="%.17g", header="one line\na b c d z")
    same(open_recording(tmp_path / "run.txt"))
    np.savetxt(tmp_path / "run.csv", table, fmt="%.17g", header="a,b,c,d,z", delimiter=",")
    same(open_recording(tmp_path / "run.csv"))
    np.savetxt(tmp_path / "run.csv", table, fmt="%.17g", header="of last week", delimiter=",")
    refused(tmp_path / "run.csv", None, "5 columns without names")


def test_text_oddities(tmp_path):
    path = tmp_path / "run.csv"
    text = '\ufeff# said\n\n"a, b",time,z\n 1 ,x,1e3\n# aside\n,"y",-inf\n \nNaN,y,"2"\nNA,,+.5'
    path.write_text(text, "utf-8")
    x, z = gathered(open_recording(path, state_names="a, b"), 3)
    np.testing.assert_array_equal(x, [[1], [np.nan], [np.nan], [np.nan]])
    np.testing.assert_array_equal(z, [1e3, -np.inf, 2, 0.5])
    path.write_text("a\tz\tb\n1\t2\t3\n\t\t\n\t\t1\n", "utf-8")
    x, z = gathered(open_recording(path), 2)
    np.testing.assert_array_equal(x, [[1, 3], [np.nan, np.nan], [np.nan, 1]])
    np.testing.assert_array_equal(z, [2, np.nan, np.nan])
    path.write_text("\ufeff1,2,3\n4,5,6", "utf-8")  # counts, but so may any integers
    x, _ = gathered(open_recording(path, [0, 1]), 2)
    np.testing.assert_array_equal(x, [[1, 2, 3], [4, 5, 6]])
    path.write_text('""\n1\n', "utf-8")
    x, _ = gathered(open_recording(path, [0, 1]), 2)
    np.testing.assert_array_equal(x, [[np.nan], [1]])


# memory


CODE = """
import sys
import numpy as np
from memcurve.io import open_recording
def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024
for order, T in ((False, 1_000_000), (True, 300_000)):
    header = {"descr": "<f8", "fortran_order": order, "shape": (T, 125)}
    with open(sys.argv[1], "wb") as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        stream.truncate(stream.tell() + T * 1000)
    source = open_recording(sys.argv[1], np.zeros(T))
    before = peak()
    assert sum(len(x) for x, z in source.chunks(10_000)) == T
    assert peak() < before + 120, (before, peak())
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="measures as Linux does")
def test_a_gigabyte_is_not_loaded(tmp_path):
    command = [sys.executable, "-c", CODE, str(tmp_path / "sparse.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("ending", ["npz", "h5", "mat", "parquet", "csv"])
def test_memory_is_bounded(tmp_path, ending, monkeypatch):
    for module in list(sys.modules.values()):
        if module.__name__.startswith("memcurve.io") and hasattr(module, "BLOCK"):
            monkeypatch.setattr(module, "BLOCK", 2**17)
    path, length = tmp_path / f"run.{ending}", 16_000
    states = rng.standard_normal((length, 20)).astype(np.float32).astype(float)  # 2.6 MB
    if ending == "npz":
        np.savez_compressed(path, X=states, z=states[:, 0])
    elif ending == "h5":
        write_hdf5(path, (500, 20), X=states, z=states[:, 0])
    elif ending == "mat":
        write_mat73(path, (20, 500), X=states, z=states[:, :1])
    elif ending == "parquet":
        columns = {f"x{k}": states[:, k] for k in range(20)} | {"z": states[:, 0]}
        write_parquet(path, columns, row_group_size=4000)
    else:
        write_csv(path, states[:4000], states[:4000, 0], ",".join([*"ABCDEFGHIJKLMNOPQRST", "z"]))
        states = states[:4000]  # 0.6 MB
    source = open_recording(path)
    list(source.chunks(len(states)))  # modules are imported
    tracemalloc.start()
    for x, _ in source.chunks(100):
        assert x.shape == (100, 20)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (1.5e6 if ending != "csv" else 0.4e6)


# errors


def test_no_file(tmp_path):
    refused(tmp_path / "no.npy", Z, "no.npy: no such file", error=FileNotFoundError)
    refused(X, tmp_path / "no.npy", "no.npy: no such file", error=FileNotFoundError)
    refused(tmp_path, Z, "is a directory", error=IsADirectoryError)
    (tmp_path / "run.xls").write_bytes(b"1")
    refused(tmp_path / "run.xls", Z, "unknown kind of file '.xls'", ".parquet, .csv")
    (tmp_path / "run").write_bytes(b"1")
    refused(tmp_path / "run", Z, "(no ending)")


@pytest.mark.parametrize("ending", "npy npz mat h5 hdf5 parquet csv txt".split())
def test_empty_and_damaged_files(tmp_path, ending):
    path = tmp_path / f"run.{ending}"
    path.write_bytes(b"")
    refused(path, Z, f"{path}: is empty", error=NetworkFileError)
    path.write_bytes(b"\x93garbage\x00\xff" * 50)
    refused(path, Z, f"{path}: ", error=NetworkFileError)


@pytest.mark.parametrize("ending", "npy npz mat 73.mat h5 parquet csv".split())
def test_truncated_files(tmp_path, ending):
    path = tmp_path / f"run.{ending}"
    if ending == "npy":
        np.save(path, X)
    elif ending == "npz":
        np.savez(path, X=X)
    elif ending == "mat":
        matlab.savemat(path, {"X": X})
    elif ending == "73.mat":
        write_mat73(path, X=X)
    elif ending == "h5":
        write_hdf5(path, X=X)
    elif ending == "parquet":
        write_parquet(path, {"a": X[:, 0]})
    else:
        write_csv(path)
    whole = path.read_bytes()
    for share in (0.5, 0.9):
        path.write_bytes(whole[: int(len(whole) * share)])
        refused(path, Z, f"{path}: ", error=ValueError)


def test_a_member_that_is_incomplete(tmp_path):
    stream = io.BytesIO()
    np.save(stream, X)
    with zipfile.ZipFile(tmp_path / "run.npz", "w") as archive:
        archive.writestr("X.npy", stream.getvalue()[:-8])
    refused(tmp_path / "run.npz", Z, "run.npz: X is incomplete")


@pytest.mark.parametrize("order", "CF")
def test_a_member_whose_checksum_is_wrong(tmp_path, order):
    path = tmp_path / "run.npz"
    states = np.asarray(np.vstack([X] * 20), order=order)
    np.savez(path, X=states)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    source = open_recording(path, np.zeros(len(states)))
    with pytest.raises(NetworkFileError, match="CRC-32"):
        list(source.chunks(7))


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_a_file_that_changes(tmp_path, ending):
    path = tmp_path / f"run.{ending}"

    def write(states):
        return save(path, states) if ending == "npy" else write_csv(path, states)

    source = open_recording(write(X), Z)
    write(X[:20])
    with pytest.raises(NetworkFileError, match=r"changed while it was read|cannot be read"):
        list(source.chunks(7))
    if ending == "csv":
        write(np.vstack([X, X]))
        with pytest.raises(NetworkFileError, match="has more than its 53 rows"):
            list(source.chunks(7))


class Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self):
        return os._exit, (3,)


def test_pickles_are_never_run(tmp_path):
    for name in ("run.npy", "run.npz", "run.mat", "run.h5", "run.parquet", "run.csv"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
        refused(tmp_path / name, Z, str(tmp_path / name), error=NetworkFileError)
    bombs = np.full((2, 2), Bomb(), dtype=object)
    np.save(tmp_path / "run.npy", bombs)
    np.savez(tmp_path / "run.npz", X=bombs, z=Z)
    for name in ("run.npy", "run.npz"):
        refused(tmp_path / name, Z, "a pickle", error=NetworkFileError)
    np.savez(tmp_path / "run.npz", X=X, z=Z, other=bombs)
    same(open_recording(tmp_path / "run.npz"))


def test_wrong_kind_inside(tmp_path):
    save(tmp_path / "run.npy", X).rename(tmp_path / "run.npz")
    refused(tmp_path / "run.npz", Z, "is a .npy file by its contents")


def test_names_in_archives(tmp_path):
    path = tmp_path / "run.npz"
    np.savez(path, A=X, drive=Z)
    refused(path, None, "has none of states, X, x", "A (53, 4) float64", "state_names='...'")
    refused(path, None, "has none of z, u, input, inputs", "input_name=", state_names="A")
    refused(path, None, "has no B; it holds A (53, 4)", "`state_names`", state_names="B")
    refused(path, None, "has no w; it holds", state_names="A", input_name="w")
    refused(path, None, "name of one array", state_names=["A", "drive"])
    same(open_recording(path, state_names=["A"], input_name="drive"))
    np.savez(path, X=X, x=X, z=Z, u=Z)
    refused(path, None, "has X and x; choose with state_names='X'")
    refused(path, None, "has z and u; choose with input_name='z'", state_names="x")
    np.savez(path, **{f"a{k}": Z for k in range(60)})
    refused(path, Z, "20 more")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "none")
    refused(path, Z, "it holds nothing")
    path = write_hdf5(tmp_path / "run.h5", a__X=X, z=Z)
    refused(path, None, "it holds a/X (53, 4) float64, z (53,) float64")
    path = write_mat73(tmp_path / "run.mat", A=X, z=Z)
    refused(path, None, "it holds A (53, 4) double, s () struct, z (1, 53) double")


def test_names_in_tables(tmp_path):
    path = write_csv(tmp_path / "run.csv", X, Z, "a,b,c,d,e")
    refused(path, None, "has no column called z, u, input, inputs, only a, b, c, d, e")
    refused(path, None, "has no column 'q'; it has a, b", "`input_name`", input_name="q")
    refused(path, None, "has no column 'q'", "`state_names`", input_name="e", state_names=["q"])
    refused(path, None, "once", input_name="e", state_names=["a", "a"])
    refused(path, None, "perfectly", input_name="e", state_names=["a", "e"])
    refused(path, None, "holds no states", input_name="e", state_names=[])
    refused(X, path, "has no column called z", "input_name")
    write_csv(path, X, Z, "a,b,z,d,u")
    refused(path, None, "has several inputs, z and u")
    refused(path, None, "'z' seems to be an input", input_name="u")
    refused(path, Z, "'z' seems to be an input")
    write_csv(path, X, Z, "time,b,c,d,u")
    refused(path, None, "'time' seems to count the rows")
    write_csv(path, X, Z, "a,a,c,d,u")
    refused(path, None, "several columns 'a'", state_names=["a", "c"])
    same(open_recording(path))
    write_csv(path, X, Z)
    refused(path, None, "5 columns without names", "header line")
    refused(X, path, "got several: 5 columns")
    refused(path, Z, "have no names", state_names=["a"])
    write_csv(path, Z[:, None], header="z")
    refused(path, None, "holds no states")
    same(open_recording(X, path))


def test_names_where_there_are_none(tmp_path):
    path = save(tmp_path / "run.npy", X)
    refused(path, None, "run.npy: the array holds the states alone", "`inputs`")
    refused(X, None, "`states` holds the states alone")
    refused(path, Z, "no names to choose from, got state_names='X'", state_names="X")
    refused(X, Z, "`inputs` has no names to choose from", input_name="z")


@pytest.mark.parametrize("where", ["array", "npy", "npz"])
def test_shapes(tmp_path, where):
    def states(array):
        np.save(tmp_path / "run.npy", array)
        np.savez(tmp_path / "run.npz", X=array)
        return array if where == "array" else tmp_path / f"run.{where}"

    label = {"array": "`states`", "npy": "run.npy: the array", "npz": "run.npz: X"}[where]
    refused(states(Z), Z, f"{label} must be two-dimensional", "(53,)")
    refused(states(X[None]), Z, "must be two-dimensional", "(1, 53, 4)")
    refused(states(X.T), Z, f"{label} has shape (4, 53)", "transposed", "X.T")
    refused(states(X[1:]), Z, f"{label} has 52 rows, and the input (`inputs`) 53")
    refused(states(X[:0]), Z[:0], "holds no states", "(0, 4)")
    refused(states(X[:, :0]), Z, "holds no states", "(53, 0)")
    refused(states(np.array(1.0)), Z, "must be two-dimensional")
    refused(states(X), X, "got several: shape (53, 4)")
    refused(states(X), Z[None], "is a row of shape (1, 53)")
    refused(states(X), Z[None, :, None], "got several")
    refused(states(X), 1.0, "one input of shape (T,)")


def test_transposed_tables_and_matrices(tmp_path):
    refused(write_csv(tmp_path / "run.csv", X.T), Z, "transposed")
    refused(write_hdf5(tmp_path / "run.h5", X=X.T, z=Z), None, "run.h5: X", "transposed")
    refused(write_mat73(tmp_path / "run.mat", X=X.T, z=Z), None, "run.mat: X", "transposed")


def test_numbers_that_are_not_real(tmp_path):
    refused(X + 1j, Z, "`states` must hold real numbers, got complex128", "numpy.hstack")
    refused(X, Z + 1j, "`inputs` must hold real numbers", "z.real")
    refused(X.astype(object), Z, "`states` must be an array of numbers", error=TypeError)
    refused(X.astype(str), Z, "`states` must be an array of numbers", error=TypeError)
    refused(["a.npy", "b.npy"], Z, "the path of one file", error=TypeError)
    refused(sparse.csr_array(X), Z, "`states` must be an array of numbers", error=TypeError)
    refused([[1.0], [1.0, 2.0]], Z, "rows of unequal length")
    refused(np.ma.masked_invalid([[1.0], [np.nan]]), [1, 2], "masked")
    for ending, label in (("npy", "the array"), ("npz", "X")):
        path = tmp_path / f"run.{ending}"
        for array, part in ((X + 1j, "complex128"), (X.astype("S9"), "|S9")):
            np.save(path, array) if ending == "npy" else np.savez(path, X=array)
            refused(path, Z, f"run.{ending}: {label} must hold real numbers, got {part}")
    save(tmp_path / "run.npy", np.zeros(T, dtype=[("a", "f8"), ("b", "f8")]))
    refused(tmp_path / "run.npy", Z, "must hold real numbers")
    refused(write_hdf5(tmp_path / "run.h5", X=X + 1j), Z, "run.h5: X must hold real numbers")
    refused(write_hdf5(tmp_path / "run.h5", X=np.array([["a"]], dtype="S")), Z, "must hold real")
    refused(write_mat73(tmp_path / "run.mat", X=X + 1j), Z, "run.mat: X must hold real numbers")
    for contents in (X + 1j, sparse.csc_array(X), {"a": 1}, "text"):
        matlab.savemat(tmp_path / "run.mat", {"X": contents})
        refused(tmp_path / "run.mat", Z, "run.mat: X")
    refused(write_mat73(tmp_path / "run.mat", X=X), Z, "is a MATLAB struct", state_names="s")
    path = write_parquet(tmp_path / "run.parquet", {"a": ["x", "y"], "z": [1, 2]})
    refused(path, None, "column 'a' holds string")
    path = write_parquet(tmp_path / "run.parquet", {"a": [[1.0], [2.0]], "z": [1, 2]})
    refused(path, None, "column 'a' holds list")
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    twice = arrow.Table.from_arrays([arrow.array([1.0])] * 3, names=["a", "a", "z"])
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
    with pytest.raises(NetworkFileError) as caught:
        list(source.chunks(3))
    assert part in str(caught.value)


def test_texts_that_are_no_tables(tmp_path):
    path = tmp_path / "run.csv"
    for text, part in (
        ("\n\n# only that\n", "holds no numbers"),
        ("a,b,z\n", "holds no states"),
        ("a,b,z\n1,2,3\n1,2", "line 3 has 2 fields"),
        ("a,b,z\n1,2\n", "line 2 has 2 fields"),
    ):
        path.write_text(text, "utf-8")
        refused(path, None, part)
    path.write_text("a,z\n1,5;2\n", "utf-16")
    refused(path, None, "cannot be read as .csv")


@pytest.mark.parametrize("package", ["h5py", "pyarrow.parquet"])
def test_packages_that_are_missing(tmp_path, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / ("run.h5" if package == "h5py" else "run.parquet")
    path.write_bytes(b"1")
    refused(path, Z, package, "pip install memcurve[files]", error=ModuleNotFoundError)


def test_chunks_that_cannot_be():
    source = open_recording(X, Z)
    assert repr(source) == "<Source recording: 53 rows of 4 states>"
    for rows in (0, -1, 1.5, True, None):
        with pytest.raises(ValueError, match="`rows` must be a positive integer"):
            source.chunks(rows)
    for start in (-1, 0.5, None):
        with pytest.raises(ValueError, match="`start` must be a positive integer"):
            source.chunks(7, start)
    with pytest.raises(ValueError, match="`start` must be at most 53"):
        source.chunks(7, 54)
    assert len(list(source.chunks(np.int64(10), np.int64(0)))) == 6
