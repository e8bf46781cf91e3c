"""The result of a stack as JSON, frames and a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from memcurve import MemoryCurves, memory_curves
from memcurve.memory.batch import curves_of_poles

FIELDS = ("lags", "values", "error", "loss", "total", "rank")


def stack(*shape: int) -> MemoryCurves:
    """Networks of three nodes, every second of which does not excite its modes."""
    A = np.empty((int(np.prod(shape)), 3, 3))
    A[::2], A[1::2] = [[0.5, 0.2, 0.1], [0.3, -0.4, 0.2], [0.1, 0.2, 0.3]], 0.2
    return memory_curves(A.reshape(*shape, 3, 3), np.ones(3), 12)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,), (0, 3), (2, 0)])
def test_json_gives_the_stack_back(shape: tuple[int, ...], tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    curves = stack(*shape)
    curves.save(tmp_path / "curves.json")
    again = MemoryCurves.load(tmp_path / "curves.json")
    for name in FIELDS:
        ours, theirs = getattr(curves, name), getattr(again, name)
        assert theirs.dtype == ours.dtype
        assert np.array_equal(theirs, ours)  # and so of one shape
    assert (again.shape, again.method) == (shape, curves.method)
    assert [n.kind for n in again.notes] == [n.kind for n in curves.notes]
    content = json.loads((tmp_path / "curves.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, MemoryCurves.json_schema())
    assert len(content["values"]) == np.prod(shape, dtype=int)  # a row a network


def test_json_of_other_arrays_holds_their_values() -> None:
    pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
    strict = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    curves = curves_of_poles(strict.asarray(np.array([[0.5, -0.25], [0.1, 0.2]])), 5)
    again = MemoryCurves.from_json(curves.to_json())
    assert isinstance(again.values, np.ndarray)
    assert np.array_equal(again.values, curves.to_numpy().values)
    assert curves.to_pandas().shape == (5, 2)
    assert curves.to_xarray().sizes == {"lag": 5}
    assert len(curves.plot().lines) == 2


def test_notes_are_those_of_the_stack() -> None:
    curves = stack(2)
    assert curves[1].notes == curves.notes
    assert [note.kind for note in memory_curves(0.5 * np.eye(1)).notes] == ["question"]


@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_frames(shape: tuple[int, ...]) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    curves = stack(*shape)
    frame = curves.to_pandas()
    assert frame.index.name == "lag"
    assert list(frame.columns) == [",".join(map(str, place)) for place in np.ndindex(*shape)]
    assert np.array_equal(frame.to_numpy().T, curves.values.reshape(-1, 12))
    assert frame.attrs["rank"] == curves.rank.ravel().tolist()


@pytest.mark.parametrize(("shape", "lines"), [((), 1), ((2, 3), 6), ((9,), 1)])
def test_picture(shape: tuple[int, ...], lines: int) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    curves = stack(*shape)
    ax = curves.plot()
    assert len(ax.lines) == lines
    assert curves.plot(ax) is ax
    if lines == 1 and shape:
        assert np.array_equal(ax.lines[0].get_ydata(), np.median(curves.values, axis=0))
        assert "9 networks: median" in ax.get_legend().get_texts()[0].get_text()
