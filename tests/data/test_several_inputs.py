"""Recordings with several inputs: memory of each, and of all together."""

import numpy as np
import pytest

from memcurve import RecordingWarning, ensembles, memory_curve, memory_from_data
from memcurve.data.estimators import ESTIMATORS
from refusals import refuses

NETWORK = ensembles.sparse_normal(8, spectral_radius=0.8, density=0.5, seed=3).replace(
    C=np.random.default_rng(0).standard_normal((8, 3))
)
LAGS = 25


def recording(seed: int, rows: int = 1200, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Settled states, and their three inputs."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((rows + 100, 3))
    X = NETWORK.simulate(z)[100:]
    return X + noise * rng.standard_normal(X.shape), z[100:]


def test_without_noise_the_total_is_the_number_of_states() -> None:
    X, z = recording(1)
    curve = memory_from_data(X, z, 60)
    exact = memory_curve(NETWORK, 60)
    assert abs(curve.total - 8) < 1e-6
    assert curve.channels.shape == (60, 3)
    assert np.abs(curve.channels.sum(axis=1) - curve.values).max() < 1e-12
    assert np.abs(curve.values - exact.values).max() < 3 * curve.error.max()
    totals = np.array(curve.diagnostics["channel_totals"])
    errors = np.array(curve.diagnostics["channel_errors"])
    assert np.all(np.abs(totals - exact.channels.sum(axis=0)) < 3 * errors)
    assert np.all(errors < 0.1)


def test_units_of_the_inputs_do_not_matter() -> None:
    X, z = recording(2, noise=0.1)
    one, other = (memory_from_data(X, z * scale, LAGS) for scale in (1.0, [1e3, 1e-3, -1.0]))
    assert np.abs(one.channels - other.channels).max() < 1e-9


def test_one_column_is_one_input() -> None:
    X, z = recording(3, noise=0.1)
    one, other = (memory_from_data(X, inputs, LAGS) for inputs in (z[:, 0], z[:, :1]))
    assert np.array_equal(one.values, other.values)
    assert one.total_error == other.total_error


def test_intervals_are_as_wide_as_numbers_scatter() -> None:
    """Of the total, of each input, and of single lags; around the exact values."""
    noise, runs = 0.2, 40
    exact = memory_curve(NETWORK, 40, noise=noise)
    curves = [memory_from_data(*recording(s, 1000, noise), 20, checks=False) for s in range(runs)]
    cases = {
        "total": ([c.total for c in curves], [c.total_error for c in curves], exact.total),
        "input": (
            [c.diagnostics["channel_totals"] for c in curves],
            [c.diagnostics["channel_errors"] for c in curves],
            exact.channels.sum(axis=0),
        ),
        "lag": ([c.values[:5] for c in curves], [c.error[:5] for c in curves], exact.values[:5]),
    }
    for name, (values, errors, truth) in cases.items():
        covered = np.mean(np.abs(np.array(values) - truth) < np.array(errors))
        assert covered > 0.8, (name, covered)  # of 90 %
        ratio = np.std(values, axis=0) / (np.mean(errors, axis=0) / 1.645)
        assert np.all((ratio > 0.6) & (ratio < 1.5)), (name, ratio)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_other_estimators(estimator: str) -> None:
    X, z = recording(4)
    curve = memory_from_data(X, z, 10, estimator=estimator)
    singly = [memory_from_data(X, z[:, k], 10, estimator=estimator).values for k in range(3)]
    assert np.abs(curve.channels - np.transpose(singly)).max() < 1e-9


def test_what_is_wrong_is_said_of_each_input() -> None:
    X, z = recording(5)
    rng = np.random.default_rng(6)
    z = np.column_stack([z, rng.standard_normal(len(z)), np.sign(rng.standard_normal(len(z)))])
    curve = memory_from_data(X, z, 12)  # two that were never heard of
    found = [
        (one["level"], one["name"], one["message"][:7]) for one in curve.diagnostics["findings"]
    ]
    assert found == [("info", "unpaired", "input 3"), ("info", "unpaired", "input 4")]
    assert abs(curve.total - 8) < 0.05
    assert np.abs(curve.diagnostics["channel_totals"][3:]).max() < 0.05
    refuses(ValueError, ("input 0", "2 steps"), memory_from_data, X[2:], z[:-2, :3], 12)
    refuses(ValueError, "input 1", memory_from_data, X, z[:, 3:], 12)


def test_inputs_that_correlate() -> None:
    X, z = recording(7)
    curve = memory_from_data(X, z, 12)
    assert not any("correlate with each other" in note for note in curve.notes)
    z[1:, 1] = 0.8 * z[1:, 1] + 0.6 * z[:-1, 0]
    with pytest.warns(RecordingWarning, match=r"input 1.*1 step"):
        later = memory_from_data(X, z, 12)
    assert any("correlate with each other, by up to 0.6" in note for note in later.notes)


def test_coloured_inputs_one_by_one() -> None:
    rng = np.random.default_rng(8)
    e = rng.standard_normal((3000, 3))
    z = e.copy()
    for t in range(1, len(z)):
        z[t, 1] += 0.8 * z[t - 1, 1]
    X = NETWORK.simulate(z)
    with pytest.warns(RecordingWarning, match=r"input 1.*white"):
        curve = memory_from_data(X, z, 40, washout=100)
    assert abs(curve.total - 8) < 0.1
    assert "raw_total" in curve.diagnostics
    assert not any("correlate with each other" in note for note in curve.notes)


def test_missing_rows_of_one_input() -> None:
    X, z = recording(9)
    z[600, 2] = np.nan
    with pytest.warns(RecordingWarning, match=r"input 2.*1 of 1,200"):
        curve = memory_from_data(X, z, 40)
    assert curve.diagnostics["rows"] == 1200 - 39 - 40
    assert abs(curve.total - 8) < 1e-3


def test_inputs_that_tell_nothing_are_refused() -> None:
    """Those that others make up, that do not vary, or that are as many as the rows."""
    X, z = recording(1, rows=400)
    for made in (5 - 3 * z[:, 0], np.roll(z[:, 0], 2), z[:, 0] + z[:, 1]):
        inputs = np.column_stack([z[:, :2], made])
        refuses(ValueError, "`inputs`", memory_from_data, X, inputs, 10, checks=False)
    for count in (1, 3):
        inputs = np.column_stack([z[:, : count - 1], np.full(400, 0.1)])
        facts = ("`inputs`", f"input {count - 1}", "0.1")
        refuses(ValueError, facts, memory_from_data, X, inputs, 10, checks=False)
    facts = ("`lags`", "101 rows", "150")
    refuses(ValueError, facts, memory_from_data, X[:150], z[:150], 50, checks=False)
    X[60:130] = np.nan
    facts = ("`lags`", "31 rows", "50")
    refuses(ValueError, facts, memory_from_data, X[:150], z[:150, 0], 50, checks=False)


@pytest.mark.filterwarnings("ignore::memcurve.RecordingWarning")
def test_a_periodic_input_is_known_by_its_first_lags_only() -> None:
    z = np.tile(np.random.default_rng(1).standard_normal(20), 30)
    X = ensembles.delay_line(5).simulate(z)[100:]
    assert abs(memory_from_data(X, z[100:], 18).total - 5) < 1e-6
    refuses(ValueError, "`inputs`", memory_from_data, X, z[100:], 25)


def test_inputs_that_nearly_make_up_others_are_noted() -> None:
    X, z = recording(1, rows=400)
    assert not any("nearly collinear" in note for note in memory_from_data(X, z, 10).notes)
    z[:, 2] = z[:, 1] + 1e-2 * z[:, 2]
    curve = memory_from_data(X, z, 10, checks=False)
    assert any("nearly collinear" in note and note.kind == "recording" for note in curve.notes)


def test_few_rows_for_the_lagged_inputs_are_noted() -> None:
    """The number of states does not tell: 60 lagged inputs of 3 states."""
    for rows, lags, few in ((200, 20, True), (900, 20, False)):
        X, z = recording(1, rows=rows)
        notes = memory_from_data(X[:, :3], z, lags, checks=False).notes
        assert any("few rows" in note for note in notes) is few
