"""Matrices as text: .csv, and MatrixMarket against scipy."""

import gzip

import numpy as np
import pytest
from scipy import io, sparse

from memcurve import load_network, load_nodes
from memcurve.io import open_recording
from memcurve.io import text as reader
from stored_networks import C2, COMPLEX, SPARSE, A, C, refused, same


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


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])  # Excel's CSV and Unicode Text
def test_text_as_spreadsheets_save_it(tmp_path, monkeypatch, encoding, packed):
    def saved(name, text):
        path, data = tmp_path / (name + packed), text.replace("\n", "\r\n").encode(encoding)
        path.write_bytes(gzip.compress(data) if packed else data)
        return path

    matrix = saved("m.csv", "a,b,c\n0.5,0,1\n-0.1,0.25,2\n")
    same(load_network(matrix), np.array([[0.5, 0], [-0.1, 0.25]]), np.array([1.0, 2.0]))

    listed = saved("edges.csv", "pre,post,weight\nä,b,0.5\nb,ä,0.25\n" + "b,b,0.125\n" * 20)
    monkeypatch.setattr(reader, "BLOCK", 256)  # some lines at a time
    network = load_network(listed, mask=saved("names.txt", "ä\n"))
    np.testing.assert_array_equal(network.A.toarray(), [[2.5, 0.5], [0.25, 0]])
    assert (network.labels, network.C.tolist()) == (("b", "ä"), [0, 1])
    assert load_nodes(saved("nodes.csv", "name,kind\nä,x\nb,y\n")).where("kind=x") == ["ä"]

    rows = np.random.default_rng(1).normal(size=(2000, 2)).round(3)
    lines = "\n".join(f"{u},{x}" for u, x in rows)
    found = open_recording(saved("run.csv", f"u,x\n{lines}\n"))
    states, inputs = map(np.concatenate, zip(*found.chunks(300), strict=True))
    np.testing.assert_array_equal(np.column_stack([inputs, states]), rows)


def test_decimal_commas_below_whole_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("0;1;0\n-0,1;0,25;2\n")
    same(load_network(path), np.array([[0, 1.0], [-0.1, 0.25]]), np.array([0, 2.0]))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,2\n3,x\n", ["line 2: 'x' is not a number"]),
        ("0.5+0.25i,1\n", ["line 1: '0.5+0.25i' is not a number", ".mtx"]),
        ("1,x\n", ["line 1: 'x' is not a number"]),
        ("a,b,c,d\ne,f,g,h\n", ["line 2: 'e' is not a number"]),
        ("NA,NA,NA\n1,2,3\n", ["line 1: 'NA' is not a number"]),
        ("0.5;0,3\n0.5;0,3\n", ["line 1: '0,3' is not a number", "decimal point"]),
        ("1,2,3\n4,,6\n", ["line 2: '' is not a number"]),
        ("# c\n\n1,2,3\n4,5\n", ["line 4 has 2 fields, the first line 3", "same number of fields"]),
        ("a,b\n", ["holds no"]),
        ("\n \n", ["holds no"]),
        ("nan,1\n", ["`A` must be finite"]),
    ],
)
def test_text_that_is_not_a_matrix(tmp_path, text, parts):
    (tmp_path / "t.csv").write_text(text)
    refused(tmp_path / "t.csv", *parts)


def test_matrix_market_stays_sparse(tmp_path):
    path = tmp_path / "s.mtx"
    io.mmwrite(path, SPARSE, precision=17)
    same(load_network(path, mask=C), SPARSE, C)
    io.mmwrite(path, sparse.hstack([SPARSE, sparse.csr_array(C2)]), precision=17)
    same(load_network(path), SPARSE, C2)
    path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n")
    same(load_network(path, mask=[1, 0]), sparse.csr_array([[1.0, 1], [1, 0]]), np.array([1.0, 0]))


@pytest.mark.parametrize("form", [sparse.coo_array, np.array])
@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric", "hermitian"])
@pytest.mark.parametrize("field", ["real", "integer", "complex"])
def test_matrix_market_as_scipy_writes_it(tmp_path, form, symmetry, field):
    array = {"real": A, "complex": COMPLEX, "integer": np.round(9 * A)}[field]
    mirror = {"symmetric": array.T, "skew-symmetric": -array.T, "hermitian": array.conj().T}
    array = array + mirror.get(symmetry, 0)
    path = tmp_path / "m.mtx"
    io.mmwrite(path, form(array), "two\nlines", field, precision=17, symmetry=symmetry)
    same(load_network(path, mask=C), form(array), C)


@pytest.mark.parametrize(
    "text",
    [
        "matrix array real general\n1 2\n1\n2.0e-",  # ends Python in scipy's reader
        "matrix coordinate real general\n2 3 2\n1 1 1.0\n",
        "matrix coordinate real general\n2 3 1\n3 1 1.0\n",
        "matrix coordinate integer general\n2 2 1\n1 1 9007199254740993\n",
        "vector array real general\n2\n1\n1.0\n",
    ],
)
def test_matrix_market_refused(tmp_path, text):
    (tmp_path / "m.mtx").write_text("%%MatrixMarket " + text)
    refused(tmp_path / "m.mtx", "cannot be read as .mtx", "damaged")
