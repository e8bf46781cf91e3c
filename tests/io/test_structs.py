"""Reservoirs as their owners save them: structs of MATLAB, W_in and W_res, masks of one row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import io

from memcurve.io import open_recording
from stored_networks import A, C, refused


@pytest.mark.parametrize("packed", [False, True])
def test_structs_are_refused_with_a_remedy(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "esn.mat"
    io.savemat(path, {"esn": {"W": A, "Win": C}}, do_compression=packed)
    refused(path, "esn is a MATLAB struct", "-struct", matrix="esn", mask=C)
    refused(path, "esn (1, 1) struct")


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
