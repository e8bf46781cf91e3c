"""Inputs written as text, and what is no input."""

from __future__ import annotations

import re

import numpy as np
import pytest

from memcurve import inputs
from memcurve.inputs import ARMA, Autocovariance, White


def test_parse():
    assert isinstance(inputs.parse(" white "), White)
    assert repr(inputs.parse("ar:0.9")) == "ARMA(ar=[0.9], ma=[])"
    assert repr(inputs.parse("ar: 0.5, -0.3")) == "ARMA(ar=[0.5, -0.3], ma=[])"
    assert repr(inputs.parse("MA:0.5")) == "ARMA(ar=[], ma=[0.5])"
    assert repr(inputs.parse("arma:0.8,0.1/0.5")) == "ARMA(ar=[0.8, 0.1], ma=[0.5])"
    np.testing.assert_array_equal(inputs.parse("acov:1,0.5,0.25").values, [1, 0.5, 0.25])


@pytest.mark.parametrize("name", ["z.npy", "z.csv", "z.txt", "column.npy", "headed.csv"])
def test_parse_series(tmp_path, name):
    series = ARMA([0.5]).simulate(300, seed=1)
    path = tmp_path / name
    if path.suffix == ".npy":
        np.save(path, series[:, None] if name == "column.npy" else series)
    else:
        np.savetxt(path, series, header="z" if name == "headed.csv" else "", comments="")
    found = inputs.parse(f"series:{path}")
    np.testing.assert_array_equal(found.values, Autocovariance.from_series(series).values)


@pytest.mark.parametrize(
    "text", ["", "pink", "white:2", "ar", "ar:", "ar:x", "ar:0.5,,0.1", "arma:0.5", "arma:0.5/"]
)
def test_unreadable_text_lists_the_forms(text):
    pattern = r"`input` must be one of the forms white, ar:0\.9, .*series:FILE; got "
    with pytest.raises(ValueError, match=pattern + re.escape(repr(text))):
        inputs.parse(text)


def test_unreadable_series(tmp_path):
    with pytest.raises(TypeError, match="`input` must be text"):
        inputs.parse(0.9)
    with pytest.raises(ValueError, match=r"`ar` must be stationary"):
        inputs.parse("ar:1.5")
    with pytest.raises(ValueError, match=r"`series` must be a \.npy, \.csv or \.txt file"):
        inputs.parse("series:z.wav")
    with pytest.raises(FileNotFoundError, match="`series` must be an existing file"):
        inputs.parse(f"series:{tmp_path / 'none.csv'}")
    path = tmp_path / "two.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"one number a line, got .*two\.csv': '1,2' is no"):
        inputs.parse(f"series:{path}")
