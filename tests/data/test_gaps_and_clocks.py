"""Rows that are missing, and columns that are no states: clocks, and those without numbers."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve import RecordingWarning, check_recording, ensembles, memory_curve, memory_from_data
from memcurve.data.columns import counts_rows
from memcurve.data.estimators import ESTIMATORS

NETWORK = ensembles.orthogonal(6, spectral_radius=0.8, seed=1)
ROWS = 2000
T = np.arange(ROWS)
#: Without noise the fit is exact, but for the lags that are left out: 0.8^60.
TAIL = 1e-4


@pytest.fixture
def recording() -> tuple[np.ndarray, np.ndarray]:
    """Settled states, and their input."""
    z = np.random.default_rng(3).standard_normal(ROWS + 200)
    return NETWORK.simulate(z)[200:], z[200:]


# ---- rows that are missing


@pytest.mark.parametrize("share", [0.01, 0.2])
def test_missing_states_cost_their_rows_only(recording, share: float) -> None:
    X, z = recording
    gone = np.random.default_rng(1).random(ROWS) < share
    X[gone, 2] = np.nan
    with pytest.warns(RecordingWarning, match=f"NaN in {gone.sum()} of {ROWS:,} rows"):
        curve = memory_from_data(X, z, 40)
    assert curve.diagnostics["rows"] == ROWS - 39 - gone[39:].sum()
    exact = memory_curve(NETWORK, 40)
    assert np.abs(curve.values - exact.values).max() < TAIL
    assert abs(curve.total - 6) < TAIL
    assert any("rows left out" in note for note in curve.notes)


def test_missing_inputs_cost_the_rows_that_need_them(recording) -> None:
    X, z = recording
    z[[500, 1200]] = np.nan
    with pytest.warns(RecordingWarning, match="NaN in 2 of 2,000 rows"):
        curve = memory_from_data(X, z, 30)
    assert curve.diagnostics["rows"] == ROWS - 29 - 2 * 30
    assert abs(curve.total - 6) < TAIL
    z[::20] = np.nan  # no row has 30 past inputs
    with pytest.raises(ValueError, match=r"NaN left out, got 0 rows .* fewer `lags`"):
        memory_from_data(X, z, 30, checks=False)


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


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_estimator_takes_the_rows_there_are(recording, estimator: str) -> None:
    X, z = recording
    X[::50] = np.nan
    found = memory_from_data(X, z, 10, estimator=estimator, checks=False)
    kept = [t for t in range(9, ROWS) if t % 50]
    assert found.diagnostics["rows"] == len(kept)
    assert np.isfinite(found.values).all()


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


def test_columns_are_named(recording) -> None:
    X, z = recording
    X = np.column_stack([T, X, np.full((ROWS, 2), np.nan), np.ones(ROWS)])
    labels = ["t_s", *(f"ch{k}" for k in range(6)), "9_I", "10_I", "bias"]
    found = {one.name: one for one in check_recording(X, z, names=labels)}
    assert found["clocks"].message.endswith("rows: t_s")
    assert "NaN in most rows of 2 of 10 columns: 9_I, 10_I" in found["empty_columns"].message
    assert found["constant_columns"].message.endswith("columns: bias")
    assert check_recording(X, z).kept.tolist() == [1, 2, 3, 4, 5, 6]
    assert not check_recording(X[:, 7:9], z).ok


def test_nothing_stands_out() -> None:
    states = rng.standard_normal((250, 3))
    curve = memory_from_data(states, rng.standard_normal(250), checks=False)
    assert curve.total == 0
    assert curve.diagnostics["end_lag"] == -1
    assert "-1" not in curve.notes[0]
    assert "the total is zero" in curve.notes[0]
