"""Recordings: every format gives the arrays bit for bit, in any chunks, in bounded memory.

Which columns and rows are taken: names, patterns, slices, shifts; packed text.
"""

import gzip
import os
import sys
import tracemalloc
from decimal import Decimal

import h5py
import numpy as np
import pandas as pd
import pytest
from scipy import io

from command import ended, succeeded
from memcurve.io import open_recording
from stored_recordings import N, T, X, Z, gathered, refused, rng, same
from written import write_csv, write_hdf5, write_mat73, write_npy, write_parquet

DTYPES = ["f8", ">f8", "f4", ">f4", "f2", ">f2", "g", "i1", "u2", ">i4", "i8", "u8", "?"]


def typed(dtype):
    if np.dtype(dtype).kind in "iu":
        return rng.integers(0, 100, (T, N)).astype(dtype), rng.integers(0, 100, T).astype(dtype)
    return rng.standard_normal((T, N)).astype(dtype), rng.standard_normal(T).astype(dtype)


@pytest.fixture(params=[2**24, 400])
def block(request, monkeypatch):
    """Blocks that hold the whole test recording, and such that hold some rows of it."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("memcurve.io") and hasattr(module, "BLOCK"):
            monkeypatch.setattr(module, "BLOCK", request.param)


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


def test_datasets_on_disk_are_sliced(tmp_path):
    with h5py.File(write_hdf5(tmp_path / "run.h5", X=X, z=Z)) as file:
        same(open_recording(file["X"], file["z"]))


# ---- files


@pytest.mark.parametrize(("dtype", "order"), [*((dtype, "C") for dtype in DTYPES), ("f8", "F")])
def test_npy_and_npz(tmp_path, dtype, order, block):
    states, inputs = typed(dtype)
    states = np.asarray(states, order=order)
    path = write_npy(tmp_path / "run.npy", states)
    source = same(open_recording(path, inputs), states, inputs)
    assert source.name == "run"
    same(open_recording(str(path), write_npy(tmp_path / "z.npy", inputs)), states, inputs)
    np.savez(tmp_path / "run.npz", X=states, z=inputs[:, None])
    same(open_recording(tmp_path / "run.npz"), states, inputs)
    np.savez_compressed(tmp_path / "run.npz", X=states, other=states, drive=inputs)
    same(open_recording(tmp_path / "run.npz", input_name="drive"), states, inputs)
    np.savez(tmp_path / "run.npz", states)
    np.savez(tmp_path / "z.NPZ", inputs)
    (tmp_path / "z.NPZ.npz").rename(tmp_path / "z.NPZ")
    same(open_recording(tmp_path / "run.npz", tmp_path / "z.NPZ"), states, inputs)


@pytest.mark.parametrize(
    ("version", "dtype"),
    [*((v, "f8") for v in ("5 packed", "7.3 packed")),
     *((v, dtype) for v in ("5", "7.3") for dtype in ("f8", "f4", "i4", "?"))],
)  # fmt: skip
def test_mat(tmp_path, version, dtype, block):
    states, inputs = typed(dtype)
    for vector in (inputs[:, None], inputs[None, :]):
        path = tmp_path / "run.mat"
        if version.startswith("7.3"):
            write_mat73(path, (3, 10) if "packed" in version else None, X=states, u=vector)
        else:
            options = {"format": version[0], "do_compression": "packed" in version}
            io.savemat(path, {"X": states, "u": vector}, **options)
        same(open_recording(path), states, inputs)
        same(open_recording(path, inputs, state_names="X"), states, inputs)
        same(open_recording(states, path), states, inputs)


@pytest.mark.parametrize(
    ("chunks", "dtype"),
    [*((None, dtype) for dtype in ("f8", ">f8", "f4", "f2", "i8", "?")),
     ((10, 2), "f8"), ((53, 1), "i8")],
)  # fmt: skip
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
@pytest.mark.parametrize(("end", "ending"), [("\n", "csv"), ("\r\n", "txt")])
def test_text(tmp_path, separator, end, ending, block):
    path = tmp_path / f"run.{ending}"
    same(open_recording(write_csv(path, X, separator=separator, end=end), Z))
    header = separator.join(["a", '"b"', "c", "d", "z"])
    write_csv(path, X, Z, header, separator, end)
    same(open_recording(path))
    source = open_recording(path, state_names=["d", "b"], input_name="a")
    same(source, X[:, [3, 1]], X[:, 0])
    same(open_recording(X[:, :2], path), X[:, :2])


def test_text_by_numpy_and_pandas(tmp_path):
    frame = pd.DataFrame(X)
    frame.to_csv(tmp_path / "run.csv", index=False)  # the header counts the columns
    same(open_recording(tmp_path / "run.csv", Z))
    frame.to_csv(tmp_path / "run.csv")
    counted = open_recording(tmp_path / "run.csv", Z)  # a clock, which is told by its numbers
    same(counted, np.column_stack([np.arange(T), X]))
    assert counted.labels == ("", "0", "1", "2", "3")
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


STATES = np.array([[0.5, 1.25], [0.25, -3], [2, 0.125], [7, 8]])
PREAMBLE = "Oscilloscope 7\nTemperature: 20 °C\nSampling rate;1000\n\n"
TABLE = "Input [V];ch0 [µV];ch1 [µV]\n" + "\n".join(
    f"{k};{x};{y}" for k, (x, y) in enumerate(STATES)
)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_preambles_units_and_encodings(tmp_path, encoding):
    for preamble, options in ((PREAMBLE, {}), ("", {}), ("x;y;z\n1;2;3\n", {"skip_rows": 2})):
        (tmp_path / "run.csv").write_text(preamble + TABLE, encoding)
        source = open_recording(tmp_path / "run.csv", **options)
        states, inputs = map(np.concatenate, zip(*source.chunks(3), strict=True))
        np.testing.assert_array_equal(states, STATES)
        np.testing.assert_array_equal(inputs, np.arange(4))
        assert source.labels == ("ch0 [µV]", "ch1 [µV]")


# ---- memory


@pytest.mark.parametrize("block", [2**17], indirect=True)
@pytest.mark.parametrize("ending", ["npz", "h5", "mat", "parquet", "csv"])
def test_memory_is_bounded(tmp_path, ending, block):
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


HEADER = "Time[s] 8_V[V] 8_I[A] 10_V[V] u"


@pytest.fixture
def table(tmp_path):
    """Four columns with units, and the input."""
    return write_csv(tmp_path / "run.txt", X, Z, HEADER, " ")


@pytest.mark.parametrize(
    ("wanted", "columns"),
    [
        ("8_V[V]", [1]),
        ("*_V[V]", [1, 3]),
        ("8_?[*]", [1, 2]),
        (["10_V[V]", "Time*"], [3, 0]),
        ("8_V[V]-10_V[V]", [1, 3]),
        ("008_V[V]-9_V[V]", [1]),
        ("*", [0, 1, 2, 3]),  # less the input
    ],
)
def test_patterns(table, wanted, columns):
    source = open_recording(table, state_names=wanted)
    same(source, X[:, columns])
    assert source.labels == tuple(np.array(HEADER.split())[columns])


def test_columns_to_drop(table):
    same(open_recording(table, drop="Time[s]"), X[:, 1:])
    same(open_recording(table, drop=["Time*", "8_I[A]"]), X[:, [1, 3]])
    same(open_recording(table, input_name="8_V[V]", drop=["u"]), X[:, [0, 2, 3]], X[:, 1])
    refused(table, None, "has no column 'time'; it has Time[s]", "`drop`", drop="time")
    refused(table, None, "`input_name` must name each column once", input_name=["u", "*"])
    refused(table, None, "has no column '9*'", "`state_names`", state_names="9*")


def test_several_inputs(table):
    pair = np.column_stack([Z, X[:, 2]])
    states = X[:, [0, 1, 3]]
    for source in (
        open_recording(states, pair),
        open_recording(table, input_name=["u", "8_I[A]"]),
        open_recording(states, table, input_name=["u", "8_I*"]),
        open_recording(table, input_name=["u", "8_I[A]"], state_names="*"),
    ):
        assert (source.channels, source.columns) == (2, 3)
        for rows, start in ((7, 0), (100, 5)):
            chunks = list(source.chunks(rows, start))
            np.testing.assert_array_equal(np.vstack([x for x, _ in chunks]), states[start:])
            np.testing.assert_array_equal(np.vstack([z for _, z in chunks]), pair[start:])
    shifted = open_recording(table, input_name=["u", "8_I[A]"], shift=1, rows="3:33")
    x, z = next(shifted.chunks(100))
    np.testing.assert_array_equal(x, states[4:33])
    np.testing.assert_array_equal(z, pair[3:32])


def test_columns_without_names_have_numbers(tmp_path):
    both = np.column_stack([X, Z])
    for where in (both, write_npy(tmp_path / "x.npy", both), write_csv(tmp_path / "x.csv", both)):
        same(open_recording(where, input_name=4))
        same(open_recording(where, input_name="4", drop=0), X[:, 1:])
        same(open_recording(where, Z, state_names="1-3"), X[:, 1:])
        same(open_recording(X, where, input_name=4))
    assert open_recording(X, Z, drop=1).labels == ("0", "2", "3")


@pytest.mark.parametrize(
    "rows", [slice(5, 40), "5:40", slice(None, None, 3), "-20:", "1:50:7", ":"]
)
def test_rows(table, rows, tmp_path):
    taken = rows if isinstance(rows, slice) else eval(f"np.s_[{rows}]")
    np.savez(tmp_path / "run.npz", X=X, z=Z)
    for source in (
        open_recording(X, Z, rows=rows),
        open_recording(table, rows=rows),
        open_recording(table, rows=rows, input_name="u", state_names="*"),
        open_recording(tmp_path / "run.npz", rows=rows),
    ):
        states, inputs = gathered(source, 4, 2)
        np.testing.assert_array_equal(states, X[taken][2:])
        np.testing.assert_array_equal(inputs, Z[taken][2:])


def test_every_so_many_rows():
    """The last of each so many, after ``rows``; an input of as many rows is taken as it is."""
    states, inputs = np.repeat(X, 5, axis=0), np.repeat(Z, 5)
    same(open_recording(states, inputs, every=5))
    same(open_recording(states[3:], inputs[3:], rows="2:", every=5), X[1:], Z[1:])
    same(open_recording(states, Z, every=5))
    refused(X, Z, "`every` must be a positive integer", every=0)


@pytest.mark.parametrize("rows", ["5", "a:b", "1:2:3:4", "::0", "::-1", 7, slice(None, None, -1)])
def test_rows_that_cannot_be(rows):
    refused(X, Z, "`rows` must be FROM:TO or FROM:TO:STEP", rows=rows)
    refused(X, Z, "holds no states, its shape is (0, 4)", rows="90:")


def test_states_that_are_late(table):
    for shift in (2, -3):
        late, early = max(shift, 0), max(-shift, 0)
        states, inputs = X[late : T - early], Z[early : T - late]
        same(open_recording(X, Z, shift=shift), states, inputs)
        same(open_recording(table, shift=shift), states, inputs)
    refused(X, Z, "`shift` must be a whole number of steps", shift=60)
    refused(X, Z, "`shift` must be a whole number of steps", shift=0.5)


def test_packed_text(table, tmp_path):
    for ending in ("txt.gz", "CSV.GZ"):
        path = tmp_path / f"packed.{ending}"
        path.write_bytes(gzip.compress(table.read_bytes()))
        source = same(open_recording(path))
        assert source.name == "packed"
    path.write_bytes(path.read_bytes()[:-200])
    refused(path, None, "cannot be read as")
    (tmp_path / "run.npy.gz").write_bytes(b"1")
    refused(tmp_path / "run.npy.gz", None, "unknown kind of file '.npy.gz'")


# ---- what does not fit is told before it is read


BOUNDED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30,) * 2)
import memcurve
kind, *paths = sys.argv[1:]
for path in paths:
    try:
        memcurve.memory_from_data(path, path) if kind == "data" else memcurve.load_network(path)
    except (ValueError, MemoryError) as error:
        print(str(error).replace("\\n", " "))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize(
    ("kind", "endings"),
    [("data", "csv txt npy npz mat h5 parquet"), ("network", "csv npy npz mat")],
)
def test_twenty_gigabytes_of_nothing(tmp_path, kind, endings):
    paths = [tmp_path / f"big.{ending}" for ending in endings.split()]
    for path in paths:
        path.touch()
        os.truncate(path, 20 * 10**9)
    done = succeeded(ended([sys.executable, "-c", BOUNDED, kind, *map(str, paths)]))
    for path, line in zip(paths, done.out.splitlines(), strict=True):
        assert path.name in line


@pytest.mark.skipif(sys.platform != "linux", reason="files of this size are sparse on Linux")
def test_a_line_without_an_end_is_not_held(tmp_path):
    path = tmp_path / "big.csv"
    path.write_text((",".join(["0.5"] * 1000) + "\n") * 50)
    os.truncate(path, 4 * 10**12)
    done = ended([sys.executable, "-c", BOUNDED, "network", str(path)])
    assert "line 51 is longer" in done.out, done.err
