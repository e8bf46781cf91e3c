"""Memory from recordings: what must not change it, diagnostics, options, checks; coloured input."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from data_scenarios import SAME, recording
from draws import seeds
from memcurve import (
    LinearNetwork,
    MemoryCurve,
    RecordingWarning,
    ensembles,
    memory_curve,
    memory_from_data,
)
from memcurve.core.types import Floats
from memcurve.data.autocorrelation import fit_autoregression
from memcurve.inputs import ARMA
from refusals import refuses

#: A noise-free linear network from 500 rows: what theory.md reports.
NOISE_FREE = 2e-6
#: The profile takes over the part of the bias that rows in sequence share; in units of the error.
PROFILE_ERRORS = 0.5


def test_noise_free_network_is_recovered() -> None:
    network = ensembles.orthogonal(100, seed=3)
    z = np.random.default_rng(3).standard_normal(400 + 199 + 500)
    curve = memory_from_data(network.simulate(z, 400), z[400:], 200, checks=False)
    assert curve.diagnostics["rows"] == 500
    off = np.abs(curve.values - memory_curve(network, 200).values).max()
    assert off <= NOISE_FREE


def test_delay_line_is_exact() -> None:
    z = np.random.default_rng(4).standard_normal(500)
    curve = memory_from_data(ensembles.delay_line(8).simulate(z), z, washout=8)
    assert np.abs(curve.values - (curve.lags < 8)).max() <= SAME
    assert curve.diagnostics["fir_length"] == 8


def test_level_widens_the_intervals() -> None:
    X, z = recording()
    narrow, wide = memory_from_data(X, z, level=0.5), memory_from_data(X, z, level=0.99)
    # quantiles of the normal distribution
    assert np.allclose(wide.error / narrow.error, 2.5758293 / 0.6744898, rtol=1e-6)
    assert wide.total == narrow.total
    assert wide.bands is not None
    # where memory can be, but for an estimate that noise has moved beyond, which they hold
    low, high = np.minimum(wide.values, 0), np.maximum(wide.values, 1)
    assert np.all((low <= wide.bands[:, 0]) & (wide.bands[:, 0] <= wide.values))
    assert np.all((wide.values <= wide.bands[:, 1]) & (wide.bands[:, 1] <= high))
    assert (wide.values < 0).any()


def mixed(X: Floats) -> Floats:
    N = X.shape[1]
    return X @ (np.eye(N) + 0.3 * np.random.default_rng(7).standard_normal((N, N)) / np.sqrt(N))


@pytest.mark.parametrize(
    "change",
    [
        lambda X, z: (1e6 * X, z),
        lambda X, z: (1e-6 * X, z),
        lambda X, z: (1e200 * X, z),
        lambda X, z: (1e-250 * X, 1e150 * z),
        lambda X, z: (X, 1e-200 * z),
        lambda X, z: (X * 10.0 ** np.linspace(-3, 3, X.shape[1]), z),
        lambda X, z: (X[:, ::-1], z),
        lambda X, z: (mixed(X), z),
        lambda X, z: (X, 1e4 * z),
        lambda X, z: (X, -z),
        lambda X, z: (X + 10, z - 3),
        lambda X, z: (-X, z),
    ],
    ids="up down large small faint units order mixing input sign constants negative".split(),
)
def test_invariance(change: Any) -> None:
    X, z = recording()
    one, other = memory_from_data(X, z), memory_from_data(*change(X, z))
    assert np.abs(one.values - other.values).max() <= SAME
    assert np.abs(one.error - other.error).max() <= SAME
    assert abs(one.total - other.total) <= SAME
    assert abs(one.total_error - other.total_error) <= SAME


def test_profile() -> None:
    X, z = recording(12, 1000, deviation=1e-3)
    curve = memory_from_data(X, z)
    profile = {float(floor): total for floor, total in curve.diagnostics["profile"].items()}
    totals = np.array([profile[floor] for floor in sorted(profile)])
    assert np.all(np.diff(totals) <= SAME)
    assert totals[0] == pytest.approx(curve.total, abs=SAME)
    for floor in list(profile)[::5]:
        again = memory_from_data(X, z, noise_floor=floor)
        assert abs(profile[floor] - again.diagnostics["total_listed"]) <= (
            PROFILE_ERRORS * again.diagnostics["total_listed_error"] + SAME
        )


def test_noise_floor_is_observation_noise() -> None:
    """A declared floor of s gives what noise of s times each state's deviation would."""
    X, z = recording(12, 4000, deviation=1e-6)
    floor = 0.05
    declared = memory_from_data(X, z, noise_floor=floor)
    noise = floor * X.std(axis=0) * np.random.default_rng(1).standard_normal(X.shape)
    added = memory_from_data(X + noise, z)
    assert abs(declared.total - added.total) <= added.total_error


def test_singular_values() -> None:
    X, z = recording()
    curve = memory_from_data(X, z, 24)
    rows = X[23:] - X[23:].mean(axis=0)
    values = np.linalg.svd(rows / rows.std(axis=0), compute_uv=False) / np.sqrt(len(rows))
    assert np.allclose(curve.diagnostics["singular_values"], values, rtol=SAME)


def test_totals_are_sums() -> None:
    X, z = recording(deviation=0.3)
    curve = memory_from_data(X, z)
    known, sums = curve.diagnostics, np.cumsum(curve.values)
    assert curve.total == pytest.approx(sums[known["end_lag"]])
    assert known["total_listed"] == pytest.approx(sums[-1])
    assert known["last_lag"] <= known["end_lag"] < len(sums)
    assert curve.total_error <= known["total_listed_error"]
    assert np.array_equal(curve.loss, 1 - curve.values)


def test_noise_alone_has_no_memory() -> None:
    rng = np.random.default_rng(5)
    X, z = rng.standard_normal((1000, 10)), rng.standard_normal(1000)
    curve = memory_from_data(X, z, checks=False)
    assert curve.diagnostics["last_lag"] == curve.diagnostics["end_lag"] == -1
    assert abs(curve.total) <= 2 * curve.total_error
    assert any("dimension 0" in note and "10 of 10" in note for note in curve.notes)


def test_default_lags_and_washout() -> None:
    X, z = recording(12, 600)
    curve = memory_from_data(X, z, washout=100)
    assert len(curve.values) == (len(z) - 100) // 10
    assert curve.diagnostics["rows"] == len(z) - 100
    assert curve.diagnostics["washout"] == 100
    unused = 100 - len(curve) + 1  # rows before the washout serve as lagged inputs
    direct = memory_from_data(X[unused:], z[unused:], len(curve))
    assert np.abs(curve.values - direct.values).max() <= SAME
    assert len(memory_from_data(X[:60], z[:60], checks=False).values) == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lags": 1000}, ("`lags`", "623", "1000")),
        ({"lags": 0}, "`lags`"),
        ({"level": 1.0}, "`level`"),
        ({"level": 0}, "`level`"),
        ({"noise_floor": -1e-3}, "`noise_floor`"),
        ({"noise_floor": np.nan}, "`noise_floor`"),
        ({"estimator": "guess"}, ("`estimator`", "'guess'")),
        ({"washout": 623}, "`washout`"),
        ({"washout": -1}, "`washout`"),
    ],
)
@pytest.mark.parametrize("checks", [True, False])
def test_options_that_are_refused(options: dict[str, Any], message: str, checks: bool) -> None:
    X, z = recording()
    refuses((ValueError, TypeError), message, memory_from_data, X, z, checks=checks, **options)


@pytest.mark.parametrize("estimator", ["regression", "split"])
def test_too_few_rows(estimator: str) -> None:
    rng = np.random.default_rng(1)
    X, z = rng.standard_normal((40, 39)), rng.standard_normal(40)
    refuses(ValueError, "`states`", memory_from_data, X, z, 2, checks=False, estimator=estimator)


def test_errors_of_the_checks_stop() -> None:
    X, z = recording()
    X[300, 3] = np.inf
    refuses(ValueError, ("300", "checks=False"), memory_from_data, X, z)


def test_warnings_of_the_checks_are_notes() -> None:
    X, z = recording()
    X = np.column_stack([X, np.ones(len(z)), 2 * X[:, 0] + 1])
    with pytest.warns(RecordingWarning) as caught:
        curve = memory_from_data(X, z)
    found = [str(note) for note in curve.notes if note.kind == "finding"]
    assert found == [str(one.message) for one in caught]
    assert {Path(one.filename).name for one in caught} == {Path(__file__).name}
    assert curve.diagnostics["states"] == X.shape[1] - 2
    assert abs(curve.total - memory_from_data(X[:, :-2], z).total) <= SAME
    assert {"constant_columns", "equal_columns"} <= {
        one["name"] for one in curve.diagnostics["findings"] if one["level"] == "warning"
    }
    again = MemoryCurve.from_json(curve.to_json())
    assert again.diagnostics["findings"] == curve.diagnostics["findings"]


def test_estimators_are_their_formulas() -> None:
    X, z = recording(5, 200, 0.3)
    lags, N = 8, 5
    n = len(z) - lags + 1
    Z = np.stack([z[lags - 1 - k : len(z) - k] for k in range(lags)], axis=1)
    rows = X[lags - 1 :]

    def fitted(train: slice | Floats, test: slice | Floats, target: Floats) -> Floats:
        design = np.column_stack([np.ones(n), rows])
        return design[test] @ np.linalg.lstsq(design[train], target[train], rcond=None)[0]

    everything, cut = slice(None), int(0.7 * n)
    r2 = np.array([1 - np.var(y - fitted(everything, everything, y)) / np.var(y) for y in Z.T])
    test = [np.corrcoef(fitted(slice(cut), slice(cut, None), y), y[cut:])[0, 1] ** 2 for y in Z.T]
    error = np.zeros(lags)
    for fold in np.array_split(np.arange(n), 5):
        rest = np.delete(np.arange(n), fold)
        for k, y in enumerate(Z.T):
            error[k] += ((y[fold] - fitted(rest, fold, y)) ** 2).sum()
    expected = {
        "in_sample": r2,
        "ezekiel": 1 - (1 - r2) * (n - 1) / (n - N - 1),
        "split": np.array(test),
        "k_fold": 1 - error / (n * Z.var(axis=0)),
    }
    for name, values in expected.items():
        curve = memory_from_data(X, z, lags, estimator=name, checks=False)
        assert np.abs(curve.values - values).max() <= SAME, name
        assert curve.total == pytest.approx(values.sum(), abs=SAME)
        assert np.isnan(curve.error).all()
        assert [note.kind for note in curve.notes] == ["method", "unbounded"]
    kept = memory_from_data(X, z, lags, estimator="thresholded", checks=False).values
    assert np.all((np.abs(kept - r2) <= SAME) | (kept == 0))
    assert kept[0] > 0


#: 90 % intervals of few totals: what they may cover.
TOTALS_COVERED = 0.8
#: Standard errors that the mean over replications may be off.
STANDARD_ERRORS = 4.0
#: Totals of noise-free recordings, where lags are left out that hold 1e-9 of an innovation.
LEFT_OUT = 1e-8


def coloured(size: int, rows: int, seed: int, lag: float = 0.9) -> tuple[Floats, Floats]:
    """A delay line with an AR(1) input."""
    z = lfilter([1], [1, -lag], np.random.default_rng(seed).standard_normal(rows + 500))
    return ensembles.delay_line(size).simulate(z)[500:], z[500:]


@pytest.mark.parametrize("seed", seeds(2, 5))
def test_innovations_of_coloured_input(seed: int) -> None:
    """N innovations are in N states; of the input itself there is more."""
    size = 20
    X, z = coloured(size, 2000, seed)
    with pytest.warns(RecordingWarning, match="not white"):
        curve = memory_from_data(X, z)
    assert abs(curve.total - size) <= curve.total_error + LEFT_OUT
    assert curve.diagnostics["ar_order"] >= 1
    assert curve.diagnostics["raw_total"] > size + 2
    (note,) = [note for note in curve.notes if note.kind == "question"]
    assert "no bound" in note
    with pytest.warns(RecordingWarning, match="not white"):
        raw = memory_from_data(X, z, innovations=False)
    assert "raw_total" not in raw.diagnostics


@pytest.mark.parametrize("innovations", [False, None])
def test_a_coloured_input_taken_for_white_is_said_to_be(innovations: bool | None) -> None:
    """It is the memory of white input: all of ten lags, and nothing of those that are guessed."""
    X, z = coloured(10, 3000, 1)
    noise = 0.5 * np.random.default_rng(2).standard_normal(X.shape)
    curve = memory_from_data(X + noise, z, 20, innovations=innovations, checks=False)
    share = 1 / (1 + 0.25 * (1 - 0.9**2))  # of noise in units of the input
    assert abs(curve.total - 10 * share) <= 3 * curve.total_error
    assert ["taken for white" in note for note in curve.notes if note.kind == "question"] == [True]
    white = np.random.default_rng(3).standard_normal(3000)
    plain = memory_from_data(ensembles.delay_line(3).simulate(white), white, 20, checks=False)
    assert not any(note.kind == "question" for note in plain.notes)


def test_innovations_through_noise() -> None:
    """A delay line of AR(1) input is a network of white input whose first node holds on to it."""
    size, lag, deviation, known = 10, 0.9, 0.3, []
    A = np.diag(np.ones(size - 1), -1)
    A[0, 0] = lag
    network = LinearNetwork(A, np.eye(size)[0])
    for seed in range(20):
        X, z = coloured(size, 1200, seed)
        X = X + deviation * np.random.default_rng([seed, 1]).standard_normal(X.shape)
        curve = memory_from_data(X, z, innovations=True, checks=False)
        truth = memory_curve(network, len(curve.values), noise=deviation).values.sum()
        known.append(abs(curve.total - truth) <= curve.total_error)
    assert np.mean(known) >= TOTALS_COVERED


def test_raw_memory_of_coloured_input() -> None:
    """Against the exact memory of the input itself."""
    size, off = 10, []
    for seed in range(10):
        X, z = coloured(size, 5000, seed)
        curve = memory_from_data(X, z, 40, innovations=True, checks=False)
        off.append(curve.diagnostics["raw_total"])
    truth = memory_curve(ensembles.delay_line(size), 40, input=ARMA(ar=[0.9])).values.sum()
    assert abs(np.mean(off) - truth) <= STANDARD_ERRORS * np.std(off) / np.sqrt(len(off))


def test_autoregression_is_found() -> None:
    weights = np.array([0.5, -0.3, 0.2])
    z = lfilter([1], [1, *-weights], np.random.default_rng(1).standard_normal(50_000))
    model = fit_autoregression(z)
    assert len(model.weights) == 3
    # the standard errors of AR weights are below 1/√n
    assert np.abs(model.weights - weights).max() <= STANDARD_ERRORS / np.sqrt(len(z))
    assert abs(model.innovations(z)[3:].var() - 1) <= STANDARD_ERRORS * np.sqrt(2 / len(z))
    # φ^{2m} is below 1e-9 from m = log 1e-9 / log 0.81 on
    z = lfilter([1], [1, -0.9], np.random.default_rng(1).standard_normal(50_000))
    slope = float(fit_autoregression(z).weights[0])
    assert fit_autoregression(z).settling() == np.ceil(np.log(1e-9) / np.log(slope**2))
