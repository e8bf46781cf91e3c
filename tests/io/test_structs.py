"""Reservoirs as their owners save them: structs of MATLAB, W_in and W_res, masks of one row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import io, sparse

from memcurve import load_network
from memcurve.io import open_recording
from stored_networks import SPARSE, A, C, refused, same


def struct_73(path: Path, **fields: Any) -> None:
    """A struct ``esn`` as MATLAB 7.3 stores it: a group of transposed datasets."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        group = file.create_group("esn")
        group.attrs["MATLAB_class"] = np.bytes_("struct")
        for name, value in fields.items():
            group[name] = np.atleast_2d(value).T
            group[name].attrs["MATLAB_class"] = np.bytes_("double")
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file")


@pytest.mark.parametrize("version", ["5", "5 packed", "7.3"])
def test_a_struct_is_read_as_it_is(tmp_path: Path, version: str) -> None:
    path = tmp_path / "esn.mat"
    fields = {"W": A, "Win": C[None, :], "a": 0.3}
    if version == "7.3":
        struct_73(path, **fields)
    else:
        io.savemat(path, {"esn": fields, "text": "abc"}, do_compression="packed" in version)
    same(load_network(path), A, C)
    same(load_network(path, matrix="esn.W"), A, C)
    same(load_network(path, matrix="esn.W", mask="esn.Win"), A, C)
    assert any("esn.a" in note for note in load_network(path).notes if note.kind == "unused")
    refused(path, "esn.V", "esn.W", matrix="esn.V")
    refused(path, "esn is a MATLAB struct", matrix="esn", mask=C)


def test_structs_within_structs_and_leaks(tmp_path: Path) -> None:
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


X = np.array([[0.5, 1.25], [0.25, -3], [2, 0.125], [7, 8]])
PREAMBLE = "Oscilloscope 7\nTemperature: 20 °C\nSampling rate;1000\n\n"
TABLE = "Input [V];ch0 [µV];ch1 [µV]\n" + "\n".join(f"{k};{x};{y}" for k, (x, y) in enumerate(X))


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
def test_preambles_units_and_encodings(tmp_path: Path, encoding: str) -> None:
    for preamble, options in ((PREAMBLE, {}), ("", {}), ("x;y;z\n1;2;3\n", {"skip_rows": 2})):
        (tmp_path / "run.csv").write_text(preamble + TABLE, encoding)
        source = open_recording(tmp_path / "run.csv", **options)
        states, inputs = map(np.concatenate, zip(*source.chunks(3), strict=True))
        np.testing.assert_array_equal(states, X)
        np.testing.assert_array_equal(inputs, np.arange(4))
        assert source.labels == ("ch0 [µV]", "ch1 [µV]")
