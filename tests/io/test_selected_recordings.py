"""Which columns and rows of a recording are taken: names, patterns, slices, shifts; packed text."""

import gzip
import os
import sys

import numpy as np
import pytest

from command import ended
from memcurve.io import open_recording
from stored_recordings import T, X, Z, gathered, refused, same
from written import write_csv, write_npy

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
    same(open_recording(np.repeat(X, 5, axis=0), np.repeat(Z, 5), every=5))
    same(
        open_recording(np.repeat(X, 5, axis=0)[3:], np.repeat(Z, 5)[3:], rows="2:", every=5),
        X[1:],
        Z[1:],
    )
    same(open_recording(np.repeat(X, 5, axis=0), Z, every=5))
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
    done = ended([sys.executable, "-c", BOUNDED, kind, *map(str, paths)])
    assert done.code == 0, done.err
    for path, line in zip(paths, done.out.splitlines(), strict=True):
        assert path.name in line


@pytest.mark.skipif(sys.platform != "linux", reason="files of this size are sparse on Linux")
def test_a_line_without_an_end_is_not_held(tmp_path):
    path = tmp_path / "big.csv"
    path.write_text((",".join(["0.5"] * 1000) + "\n") * 50)
    os.truncate(path, 4 * 10**12)
    done = ended([sys.executable, "-c", BOUNDED, "network", str(path)])
    assert "line 51 is longer" in done.out, done.err
