"""Rows that are missing or stuck, and columns that are no states: clocks, and empty ones."""

from typing import Any

import numpy as np
import pytest

from memcurve import (
    NonlinearNetwork,
    RecordingWarning,
    capacity_from_data,
    check_recording,
    ensembles,
    memory_curve,
    memory_from_data,
)
from memcurve.core.types import Floats
from memcurve.data import memory
from memcurve.data.columns import counts_rows
from memcurve.data.estimators import ESTIMATORS
from memcurve.data.stretches import stuck_stretches
from refusals import refuses

NETWORK = ensembles.orthogonal(6, spectral_radius=0.8, seed=1)
ROWS = 2000
T = np.arange(ROWS)
#: Without noise the fit is exact, but for the lags that are left out: 0.8^60.
TAIL = 1e-4


def settled(rows: int = ROWS) -> tuple[Floats, Floats]:
    """Settled states, and their input."""
    z = np.random.default_rng(3).standard_normal(rows + 200)
    return NETWORK.simulate(z)[200:], z[200:]


recording = pytest.fixture(settled, name="recording")


# ---- rows that are missing


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_missing_states_cost_their_rows_only(recording, share: float) -> None:
    X, z = recording
    gone = np.random.default_rng(1).random(ROWS) < share
    X[gone, 2] = np.nan
    with pytest.warns(RecordingWarning, match=f"{gone.sum()} of {ROWS:,}"):
        curve = memory_from_data(X, z, 40)
    assert curve.diagnostics["rows"] == ROWS - 39 - gone[39:].sum()
    exact = memory_curve(NETWORK, 40)
    assert np.abs(curve.values - exact.values).max() < TAIL
    assert abs(curve.total - 6) < TAIL
    assert any("rows left out" in note for note in curve.notes)


def test_missing_inputs_cost_the_rows_that_need_them(recording) -> None:
    X, z = recording
    z[[500, 1200]] = np.nan
    with pytest.warns(RecordingWarning, match="2 of 2,000"):
        curve = memory_from_data(X, z, 30)
    assert curve.diagnostics["rows"] == ROWS - 29 - 2 * 30
    assert abs(curve.total - 6) < TAIL
    z[::20] = np.nan  # no row has 30 past inputs
    refuses(ValueError, "0 rows", memory_from_data, X, z, 30, checks=False)


def test_intervals_grow_as_rows_go(recording) -> None:
    """As the root of the rows that are left: serial sums skip gaps, and close up no rows."""
    X, z = recording
    rng = np.random.default_rng(2)
    X = X + 0.3 * rng.standard_normal(X.shape)
    whole = memory_from_data(X, z, 30, checks=False)
    X[rng.random(ROWS) < 0.5] = np.nan
    half = memory_from_data(X, z, 30, checks=False)
    assert 1.2 < half.total_error / whole.total_error < 1.7
    assert abs(half.total - whole.total) < 2 * half.total_error


def test_coloured_input_with_gaps() -> None:
    rng = np.random.default_rng(1)
    z = np.zeros(4000)
    for t, e in enumerate(rng.standard_normal(3999)):
        z[t + 1] = 0.8 * z[t] + e
    X = NETWORK.simulate(z)
    z[2000], X[3000] = np.nan, np.nan
    with pytest.warns(RecordingWarning):
        curve = memory_from_data(X, z, 30, washout=200)
    assert abs(curve.total - 6) < 0.1
    assert np.isfinite(curve.diagnostics["raw_total"])


def test_checks_are_made_around_gaps(recording) -> None:
    X, z = recording
    X[::40], z[7] = np.nan, np.nan
    assert [one.name for one in check_recording(X, z)] == ["missing_rows"]
    early = check_recording(X[2:], z[:-2])
    assert [one.name for one in early.errors] == ["misaligned"]
    rounded = check_recording(np.round(X, 2), z)
    assert {"missing_rows", "quantised"} <= {one.name for one in rounded}
    X[:1900, :] = np.nan
    X[1900:, 1:3] = X[1900:, :1]
    assert not check_recording(X, z).ok


# ---- columns


CLOCKS = {
    "exact": T,
    "offset, downwards": 1e6 - 0.25 * T,
    "printed": np.round(T / 300, 2),
    "printed coarsely": np.round(T * 1e-3, 2),
    "unix time": 1.7e9 + T * 1e-3,
    "single": (T * 1e-3).astype(np.float32),
    "integers": T.astype(np.uint16),
    "jitters": np.cumsum(0.2 + 0.01 * np.sin(T**2)),
    "pauses": T + 500.0 * (T > 1000),
    "drops": np.cumsum(1 + (T % 37 == 0)),
}
rng = np.random.default_rng(5)
NO_CLOCKS = {
    "noise": rng.standard_normal(ROWS),
    "integrated input": np.cumsum(rng.random(ROWS)),
    "saturating": 1 - np.exp(-T / 100),
    "switch": (T > 700).astype(float),
    "drift with noise": T + 3 * rng.standard_normal(ROWS),
    "periodic": T % 100,
    "short": T[:10],
}


@pytest.mark.parametrize("name", CLOCKS)
def test_clocks_are_told_by_their_steps(recording, name: str) -> None:
    X, z = recording
    assert counts_rows(CLOCKS[name])
    with_clock = np.column_stack([CLOCKS[name], X])
    curve = memory_from_data(with_clock, z, 20)
    assert np.array_equal(curve.values, memory_from_data(X, z, 20).values)
    assert curve.diagnostics["kept"] == [1, 2, 3, 4, 5, 6]
    assert any("count the rows" in note for note in curve.notes)
    unchecked = memory_from_data(with_clock, z, 20, checks=False)
    assert np.array_equal(curve.values, unchecked.values)
    assert any("count the rows" in note for note in unchecked.notes)


@pytest.mark.parametrize("name", NO_CLOCKS)
def test_what_is_no_clock(name: str) -> None:
    assert not counts_rows(NO_CLOCKS[name])


# ---- recorders that hang or drop out

STUCK_ROWS = 1200
PLACES = {"start": (0, 300), "between": (500, 700), "end": (600, STUCK_ROWS), "few": (400, 412)}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", ["held", "zero"])
@pytest.mark.parametrize("columns", [slice(None), slice(2, 3)], ids=["all", "one"])
def test_stretches_that_do_not_move_are_left_out(place: str, value: str, columns: slice) -> None:
    X, z = settled(STUCK_ROWS)
    first, last = PLACES[place]
    X[first:last, columns] = X[first, columns] if value == "held" else 0.0
    shown = first + (value == "held")  # what is held was read once
    finding = next(one for one in check_recording(X, z) if one.name == "stuck")
    assert f"rows {shown}:{last}" in finding.message
    with pytest.warns(RecordingWarning, match=f"rows {shown}:{last}"):
        curve = memory_from_data(X, z, 60)
    gone = last - max(shown, 59)
    # then the column goes, not the rows
    if columns == slice(2, 3) and 2 * (last - shown) > STUCK_ROWS:
        assert curve.diagnostics["kept"] == [0, 1, 3, 4, 5]
        return
    assert curve.diagnostics["rows"] == STUCK_ROWS - 59 - gone
    assert abs(curve.total - 6) <= TAIL


def test_several_stretches_and_a_washout() -> None:
    X, z = settled(STUCK_ROWS)
    X[300:330], X[800:850] = 0.0, X[799]
    finding = next(one for one in check_recording(X, z, washout=100) if one.name == "stuck")
    assert "rows 300:330, 800:850, 80 of 1100" in finding.message
    with pytest.warns(RecordingWarning):
        assert abs(memory_from_data(X, z, 60, washout=100).total - 6) <= TAIL


def test_what_moves_nowhere_else_is_refused() -> None:
    X, z = settled(STUCK_ROWS)
    X[15:] = X[15]
    refuses(ValueError, "16:1200", memory_from_data, X, z)


def test_rows_beyond_those_that_are_checked(monkeypatch) -> None:
    monkeypatch.setattr(memory, "CHECKED_ROWS", 500)
    X, z = settled(STUCK_ROWS)
    X[900:1100] = 0.0
    curve = memory_from_data(X, z, 60)
    assert any("rows 900:1000 and others left out" in note for note in curve.notes)
    assert abs(curve.total - 6) <= TAIL


@pytest.mark.parametrize("estimator", ["regression", *ESTIMATORS])
@pytest.mark.filterwarnings("ignore::memcurve.RecordingWarning")
def test_all_estimators_leave_them_out(estimator: str) -> None:
    X, z = settled(STUCK_ROWS)
    X[600:] = X[600]
    half, cut = (
        memory_from_data(X[:rows], z[:rows], 40, estimator=estimator).total
        for rows in (STUCK_ROWS, 601)
    )
    assert half == pytest.approx(cut, rel=1e-9)


def test_capacity_says_so() -> None:
    X, z = settled(STUCK_ROWS)
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
def test_how_often_states_that_rest_seem_stuck(held) -> None:
    alarms = sum(
        bool(stuck_stretches(*natural(kind, np.random.default_rng([seed, 1]))))
        for kind in KINDS
        for seed in range(200)
    )
    held("stuck stretches: false alarms", alarms / 2000, at_most=1 / 2000, draws=2000)
