"""Recorders that hang or drop out: named with their rows and left out; and what only looks so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from command import inside
from memcurve import (
    NonlinearNetwork,
    RecordingWarning,
    capacity_from_data,
    check_recording,
    ensembles,
)
from memcurve import memory_from_data as from_data
from memcurve.data import memory
from memcurve.data.stretches import stuck_stretches

Floats = NDArray[np.float64]

NETWORK = ensembles.orthogonal(6, spectral_radius=0.8, seed=1)
ROWS = 1200
#: Without noise the fit is exact, but for the lags that are left out: 0.8^60.
TAIL = 1e-4
PLACES = {"start": (0, 300), "between": (500, 700), "end": (600, ROWS), "few": (400, 412)}


def recording(rows: int = ROWS) -> tuple[Floats, Floats]:
    """Settled states, and their input."""
    z = np.random.default_rng(3).standard_normal(rows + 200)
    return NETWORK.simulate(z)[200:], z[200:]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", ["held", "zero"])
@pytest.mark.parametrize("columns", [slice(None), slice(2, 3)], ids=["all", "one"])
def test_stretches_that_do_not_move_are_left_out(place: str, value: str, columns: slice) -> None:
    X, z = recording()
    first, last = PLACES[place]
    X[first:last, columns] = X[first, columns] if value == "held" else 0.0
    shown = first + (value == "held")  # what is held was read once
    finding = next(one for one in check_recording(X, z) if one.name == "stuck")
    assert f"rows {shown}:{last}" in finding.message
    with pytest.warns(RecordingWarning, match=f"rows {shown}:{last}"):
        curve = from_data(X, z, 60)
    gone = last - max(shown, 59)
    if columns == slice(2, 3) and 2 * (last - shown) > ROWS:  # then the column goes, not the rows
        assert curve.diagnostics["kept"] == [0, 1, 3, 4, 5]
        return
    assert curve.diagnostics["rows"] == ROWS - 59 - gone
    assert abs(curve.total - 6) <= TAIL


def test_several_stretches_and_a_washout() -> None:
    X, z = recording()
    X[300:330], X[800:850] = 0.0, X[799]
    finding = next(one for one in check_recording(X, z, washout=100) if one.name == "stuck")
    assert "rows 300:330, 800:850, 80 of 1100" in finding.message
    with pytest.warns(RecordingWarning):
        assert abs(from_data(X, z, 60, washout=100).total - 6) <= TAIL


def test_what_moves_nowhere_else_is_refused() -> None:
    X, z = recording()
    X[15:] = X[15]
    with pytest.raises(ValueError, match=r"no state moves in rows 16:1200.* record the states"):
        from_data(X, z)


def test_rows_beyond_those_that_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CHECKED_ROWS", 500)
    X, z = recording()
    X[900:1100] = 0.0
    curve = from_data(X, z, 60)
    assert any("rows 900:1000 and others left out" in note for note in curve.notes)
    assert abs(curve.total - 6) <= TAIL


def test_all_estimators_leave_them_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    X, z = recording()
    X[600:] = X[600]
    np.savez(tmp_path / "half.npz", states=X, z=z)
    np.savez(tmp_path / "cut.npz", states=X[:601], z=z[:601])
    asked = ("--compare", "--lags", 40, "--json")
    half, cut = (
        json.loads(inside(monkeypatch, capsys, "data", tmp_path / file, *asked).out)["estimators"]
        for file in ("half.npz", "cut.npz")
    )
    for one, other in zip(half, cut, strict=True):
        assert one["total"] == pytest.approx(other["total"], rel=1e-9)


def test_capacity_says_so() -> None:
    X, z = recording()
    assert not any("though the input does" in note for note in capacity_from_data(X, z, 1).notes)
    X[300:400], X[700:720, 1] = X[300], 0.0
    notes = capacity_from_data(X, z, 1).notes
    assert any("no state moves in rows 301:400" in note for note in notes)
    assert any("column 1 does not move in rows 700:720" in note for note in notes)


def natural(kind: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """States that rest for reasons of their own."""
    rows, size = 3000, 12
    z: Any = rng.standard_normal(rows)
    weights = ensembles.normal(size, spectral_radius=0.9, seed=rng).A
    mask = rng.standard_normal(size)
    options: dict[str, Any] = {}
    if kind == "sparse input":
        z = z * (rng.random(rows) < 0.02)
    elif kind == "telegraph":
        z = np.repeat(rng.choice([-1.0, 1.0], rows // 50), 50)
    elif kind == "rectified":
        options = {"activation": "relu", "shift": rng.uniform(-1, 0, size)}
    elif kind == "saturated":
        mask = 40 * mask  # tanh is one to the last digit
    elif kind == "slow":
        options = {"leak": 0.02}
    X = NonlinearNetwork(weights, mask, **options).simulate(z)
    if kind in ("quantised", "slow", "sparse input", "telegraph"):
        X = np.round(X / X.std() * 4)
    elif kind == "spiking":
        X = (1.5 * X.std(axis=0) < X).astype(float)
    elif kind == "rare spikes":
        X = (np.quantile(X, 0.998, axis=0) < X).astype(float)
    elif kind == "clipped":
        X = np.clip(X, -0.5 * X.std(axis=0), 0.5 * X.std(axis=0))
    elif kind == "one coarse state":
        X = np.round(X[:, :1] / X[:, :1].std())
    return X, z


KINDS = (
    "quantised", "slow", "sparse input", "telegraph", "rectified", "saturated", "spiking",
    "rare spikes", "clipped", "one coarse state",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_states_that_rest_by_nature_are_not_stuck(kind: str) -> None:
    for seed in range(2):
        assert not stuck_stretches(*natural(kind, np.random.default_rng(seed)))


@pytest.mark.slow
def test_how_often_states_that_rest_seem_stuck(held: Any) -> None:
    alarms = sum(
        bool(stuck_stretches(*natural(kind, np.random.default_rng([seed, 1]))))
        for kind in KINDS
        for seed in range(200)
    )
    held("stuck stretches: false alarms", alarms / 2000, at_most=1 / 2000, draws=2000)
