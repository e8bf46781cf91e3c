"""Memory from recordings: against the truth, its intervals, and what must not change it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from data_scenarios import (
    Scenario,
    estimates,
    leaky,
    noisy_gaussian,
    noisy_orthogonal,
    scenarios,
    tanh,
)
from memcurve import (
    LinearNetwork,
    MemoryCurve,
    RecordingWarning,
    ensembles,
    memory_curve,
    memory_from_data,
)
from memcurve.data import factor
from memcurve.data.innovations import fit_autoregression

Floats = NDArray[np.float64]

#: The same numbers by another way: rounding, times what the whitening of the states adds.
SAME = 1e-9
#: A noise-free linear network from 500 rows: what theory.md reports.
NOISE_FREE = 2e-6
#: RMSE of the total against that of theory.md, whose networks are others of the same kind.
AS_IN_THEORY = 1.25
#: 90 % intervals of single lags: what they may cover, over some thousand of them or some hundred.
COVERED, COVERED_BY_FEW = (0.85, 0.97), (0.82, 0.98)
#: 90 % intervals of totals, of which there are fewer.
TOTALS_COVERED = 0.8
#: Standard errors that the mean over replications may be off.
STANDARD_ERRORS = 4.0
#: Totals of noise-free recordings, where lags are left out that hold 1e-9 of an innovation.
LEFT_OUT = 1e-8
#: The profile takes over the part of the bias that rows in sequence share; in units of the error.
PROFILE_ERRORS = 0.5
#: Peak memory of a long recording, and its time in units of a QR of the same chunks.
PEAK, QR_TIMES = 1.5e9, 3.0

OTHERS = ("in_sample", "ezekiel", "k_fold", "split")


def recording(
    size: int = 12, rows: int = 600, deviation: float = 0.05, seed: int = 1
) -> tuple[Floats, Floats]:
    """A noisy orthogonal network."""
    scenario = noisy_orthogonal(size, seed, deviation)
    ((X, z),) = scenario.draws(seed, 1, rows)
    return X, z


def deviations(curves: list[MemoryCurve], truth: float) -> tuple[float, float]:
    """Bias and RMSE of the totals."""
    off = np.array([curve.total for curve in curves]) - truth
    return float(off.mean()), float(np.sqrt((off**2).mean()))


def table_row(scenario: Scenario, truth: Floats, count: int, rows: int) -> dict[str, Any]:
    """Print bias/RMSE of every estimator's total; return them."""
    known = float(truth.sum())
    found = {
        name: deviations(estimates(scenario, 2, count, rows, estimator=name), known)
        for name in ("regression", *OTHERS)
    }
    text = "  ".join(f"{bias:+7.3f}/{rmse:6.3f}" for bias, rmse in found.values())
    print(f"{scenario.name:28s} {known:8.3f}  {text}")
    return found


def coverage(scenario: Scenario, truth: Floats, seed: int, count: int, rows: int) -> Any:
    """Of the intervals of lags with memory between 0.05 and 0.95, and of the totals: 0 or 1."""
    curves = estimates(scenario, seed, count, rows)
    middle = (truth > 0.05) & (truth < 0.95)
    off = np.abs(np.array([curve.values for curve in curves]) - truth)[:, middle]
    inside = off <= np.array([curve.error for curve in curves])[:, middle]
    known = float(truth.sum())
    totals = [abs(curve.total - known) <= curve.total_error for curve in curves]
    return inside.ravel().tolist(), totals


# Against the truth


@pytest.mark.parametrize(
    "scenario", [noisy_orthogonal(40, 11), tanh(40, 11, 2.0)], ids=lambda s: s.name
)
def test_totals_against_the_truth(scenario: Scenario) -> None:
    count = 20
    found = table_row(scenario, scenario.truth(100_000), count, 400)
    bias, rmse = found["regression"]
    assert abs(bias) <= STANDARD_ERRORS * rmse / np.sqrt(count)
    for other in OTHERS:
        assert rmse < found[other][1], other


@pytest.mark.slow
def test_table_of_totals() -> None:
    """Bias/RMSE at 1000 rows and 2N lags, against theory.md and the squared test correlation."""
    print(f"\n{'':28s} {'truth':>8s}  " + "  ".join(f"{n:>14s}" for n in ("regression", *OTHERS)))
    for scenario in scenarios():
        found = table_row(scenario, scenario.truth(), 60, 1000)
        rmse = found["regression"][1]
        assert rmse < found["split"][1]
        if scenario.reference is not None:
            assert rmse <= AS_IN_THEORY * scenario.reference + NOISE_FREE


def test_noise_free_network_is_recovered() -> None:
    network = ensembles.orthogonal(100, seed=3)
    z = np.random.default_rng(3).standard_normal(400 + 199 + 500)
    curve = memory_from_data(network.simulate(z, 400), z[400:], 200, checks=False)
    assert curve.diagnostics["rows"] == 500
    off = np.abs(curve.values - memory_curve(network, 200).values).max()
    print(f"off by {off:.1e}")
    assert off <= NOISE_FREE


def test_delay_line_is_exact() -> None:
    z = np.random.default_rng(4).standard_normal(500)
    curve = memory_from_data(ensembles.delay_line(8).simulate(z), z, washout=8)
    assert np.abs(curve.values - (curve.lags < 8)).max() <= SAME
    assert curve.diagnostics["fir_length"] == 8


# Intervals


@pytest.mark.parametrize("kind", [noisy_orthogonal, noisy_gaussian])
def test_intervals_cover(kind: Any) -> None:
    inside, totals = [], []
    for seed in (101, 102):
        scenario = kind(20, seed, 0.1)
        lags, whole = coverage(scenario, scenario.truth(), seed, 30, 400)
        inside += lags
        totals += whole
    print(f"{kind.__name__}: {np.mean(inside):.3f} of {len(inside)}, totals {np.mean(totals):.2f}")
    assert COVERED_BY_FEW[0] <= np.mean(inside) <= COVERED_BY_FEW[1]
    assert np.mean(totals) >= TOTALS_COVERED


@pytest.mark.slow
def test_table_of_coverage() -> None:
    """At 20 rows a state, over networks that were not used for anything else."""
    size, kinds = 50, {
        "orthogonal, noise 0.1": lambda seed: noisy_orthogonal(size, seed, 0.1),
        "orthogonal, noise 0.001": lambda seed: noisy_orthogonal(size, seed, 1e-3),
        "Gaussian, noise 0.01": lambda seed: noisy_gaussian(size, seed, 1e-2),
        "tanh, input ×0.1": lambda seed: tanh(size, seed, 0.1),
        "tanh, input ×0.5": lambda seed: tanh(size, seed, 0.5),
        "tanh, input ×2": lambda seed: tanh(size, seed, 2.0),
    }  # fmt: skip
    print("\nshare of 90 % intervals that hold the truth, at 20 rows a state")
    for name, kind in kinds.items():
        inside, totals = [], []
        for seed in range(200, 203):
            scenario = kind(seed)
            lags, whole = coverage(scenario, scenario.truth(), seed, 40, 20 * size)
            inside += lags
            totals += whole
        print(f"{name:24s} lags {np.mean(inside):.3f} of {len(inside)}, totals "
              f"{np.mean(totals):.3f} of {len(totals)}")  # fmt: skip
        assert COVERED[0] <= np.mean(inside) <= COVERED[1]
        assert np.mean(totals) >= TOTALS_COVERED


def test_notes_where_intervals_are_too_narrow() -> None:
    short, enough = (estimates(noisy_orthogonal(10, 1, 0.1), 1, 1, rows)[0] for rows in (150, 250))
    assert any("rows a state, below 20" in note for note in short.notes)
    assert not any("rows a state" in note for note in enough.notes)
    slow = leaky(20, 1)
    for rows, said in ((1000, True), (1250, False)):
        (curve,) = estimates(slow, 1, 1, rows)
        assert any("a slow network" in note for note in curve.notes) is said
    (curve,) = estimates(tanh(20, 1, 2.0), 1, 1, 500)
    assert not any("slow" in note for note in curve.notes)


def test_note_on_more_lags() -> None:
    X, z = recording()
    notes = memory_from_data(X, z, 6).notes
    assert any("ask for more `lags`" in note for note in notes)
    assert not any("ask for more" in note for note in memory_from_data(X, z, 100).notes)


def test_level_widens_the_intervals() -> None:
    X, z = recording()
    narrow, wide = memory_from_data(X, z, level=0.5), memory_from_data(X, z, level=0.99)
    # quantiles of the normal distribution
    assert np.allclose(wide.error / narrow.error, 2.5758293 / 0.6744898, rtol=1e-6)
    assert wide.total == narrow.total
    assert wide.bands is not None
    assert np.all((wide.bands >= 0) & (wide.bands <= 1))


# What must not change anything


def mixed(X: Floats) -> Floats:
    N = X.shape[1]
    return X @ (np.eye(N) + 0.3 * np.random.default_rng(7).standard_normal((N, N)) / np.sqrt(N))


@pytest.mark.parametrize(
    "change",
    [
        lambda X, z: (1e6 * X, z),
        lambda X, z: (1e-6 * X, z),
        lambda X, z: (X * 10.0 ** np.linspace(-3, 3, X.shape[1]), z),
        lambda X, z: (X[:, ::-1], z),
        lambda X, z: (mixed(X), z),
        lambda X, z: (X, 1e4 * z),
        lambda X, z: (X, -z),
        lambda X, z: (X + 10, z - 3),
        lambda X, z: (-X, z),
    ],
    ids=["up", "down", "units", "order", "mixing", "input", "sign", "constants", "negative"],
)
def test_invariance(change: Any) -> None:
    X, z = recording()
    one, other = memory_from_data(X, z), memory_from_data(*change(X, z))
    assert np.abs(one.values - other.values).max() <= SAME
    assert np.abs(one.error - other.error).max() <= SAME
    assert abs(one.total - other.total) <= SAME
    assert abs(one.total_error - other.total_error) <= SAME


# Coloured input


def coloured(size: int, rows: int, seed: int, lag: float = 0.9) -> tuple[Floats, Floats]:
    """A delay line with an AR(1) input."""
    z = lfilter([1], [1, -lag], np.random.default_rng(seed).standard_normal(rows + 500))
    return ensembles.delay_line(size).simulate(z)[500:], z[500:]


@pytest.mark.parametrize("seed", range(5))
def test_innovations_of_coloured_input(seed: int) -> None:
    """N innovations are in N states; of the input itself there is more."""
    size = 20
    X, z = coloured(size, 2000, seed)
    with pytest.warns(RecordingWarning, match="not white"):
        curve = memory_from_data(X, z)
    assert abs(curve.total - size) <= curve.total_error + LEFT_OUT
    assert curve.diagnostics["ar_order"] >= 1
    assert curve.diagnostics["raw_total"] > size + 2
    (note,) = [note for note in curve.notes if "residuals of an autoregression" in note]
    assert "no bound" in note
    with pytest.warns(RecordingWarning, match="not white"):
        raw = memory_from_data(X, z, innovations=False)
    assert "raw_total" not in raw.diagnostics


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
    print(f"covered {np.mean(known):.2f}")
    assert np.mean(known) >= TOTALS_COVERED


def test_raw_memory_of_coloured_input() -> None:
    """Against the exact memory of the input itself."""
    from memcurve.inputs import ARMA

    size, off = 10, []
    for seed in range(10):
        X, z = coloured(size, 5000, seed)
        curve = memory_from_data(X, z, 40, innovations=True, checks=False)
        off.append(curve.diagnostics["raw_total"])
    truth = memory_curve(ensembles.delay_line(size), 40, input=ARMA(ar=[0.9])).values.sum()
    print(f"{np.mean(off):.3f} ± {np.std(off) / np.sqrt(10):.3f}, exactly {truth:.3f}")
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


# Long recordings


@pytest.mark.parametrize(("chunk", "least"), [(1, 1), (8, 4096), (100, 50_000)])
def test_chunks_do_not_matter(
    chunk: int, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, z = recording(12, 20_000)
    whole = memory_from_data(X, z, checks=False)
    monkeypatch.setattr(factor, "CHUNK", chunk)
    monkeypatch.setattr(factor, "LEAST_ROWS", least)
    np.save(tmp_path / "states.npy", X)
    np.save(tmp_path / "inputs.npy", z)
    found = memory_from_data(tmp_path / "states.npy", tmp_path / "inputs.npy", checks=False)
    assert np.abs(found.values - whole.values).max() <= SAME
    assert np.abs(found.error - whole.error).max() <= SAME
    assert abs(found.total - whole.total) <= SAME


def test_a_sample_of_the_rows_judges_a_long_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bias and intervals from stretches of a long recording: the same but for sampling error."""
    X, z = recording(12, 20_000)
    whole = memory_from_data(X, z, checks=False)
    monkeypatch.setattr("memcurve.data.recorded.SECOND_LOOK", 6000)
    found = memory_from_data(X, z, checks=False)
    assert found.diagnostics["rows"] == whole.diagnostics["rows"]
    assert np.abs(found.values - whole.values).max() <= 0.5 * whole.error.max()
    assert found.total_error == pytest.approx(whole.total_error, rel=0.25)


LONG_RUN = """
import resource, sys, time
from memcurve import memory_from_data
start = time.perf_counter()
curve = memory_from_data(sys.argv[1], sys.argv[2], 200, checks=False)
print(time.perf_counter() - start, curve.total, curve.total_error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.slow
def test_a_million_rows(tmp_path: Path) -> None:
    """A recording that is read from a file in chunks: peak memory, and time against bare QR."""
    rows, size, block = 1_000_000, 100, 20_000
    rng = np.random.default_rng(1)
    states = np.lib.format.open_memmap(
        tmp_path / "states.npy", mode="w+", dtype=np.float64, shape=(rows, size)
    )
    z = rng.standard_normal(rows)
    np.save(tmp_path / "inputs.npy", z)
    # states of a moving average of 120 lags: as good as any network, and quick to make
    response = rng.standard_normal((120, size)) * 0.97 ** np.arange(120)[:, None]
    padded = np.concatenate([np.zeros(119), z])
    for first in range(0, rows, block):
        windows = np.lib.stride_tricks.sliding_window_view(padded[first : first + block + 119], 120)
        noise = 0.01 * rng.standard_normal((block, size))
        states[first : first + block] = windows[:, ::-1] @ response + noise
    states.flush()
    del states
    run = subprocess.run(
        [sys.executable, "-c", LONG_RUN, tmp_path / "states.npy", tmp_path / "inputs.npy"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    seconds, total, error, peak = map(float, run.stdout.split())
    width = 1 + 200 + size
    step = max(factor.CHUNK * width, factor.LEAST_ROWS)
    chunk = rng.standard_normal((width + step, width))
    start = time.perf_counter()
    for _ in range(10):
        np.linalg.qr(chunk, mode="r")
    bare = (time.perf_counter() - start) / 10 * rows / step
    print(f"\n{rows} rows: total {total:.4f} ± {error:.4f}, {seconds:.1f} s,", end=" ")
    print(f"{seconds / bare:.2f} × bare QR, {rows / seconds:.0f} rows/s, {peak / 1e9:.2f} GB")
    assert peak < PEAK
    assert seconds < QR_TIMES * bare


# Diagnostics and options


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
    assert known["total_cut"] == pytest.approx(sums[known["last_lag"]])
    assert known["total_listed"] == pytest.approx(sums[-1])
    assert known["last_lag"] <= known["end_lag"] < len(sums)
    assert known["total_cut_error"] <= curve.total_error <= known["total_listed_error"]
    assert np.array_equal(curve.loss, 1 - curve.values)


def test_noise_alone_has_no_memory() -> None:
    rng = np.random.default_rng(5)
    X, z = rng.standard_normal((1000, 10)), rng.standard_normal(1000)
    curve = memory_from_data(X, z, checks=False)
    assert curve.diagnostics["last_lag"] == -1
    assert abs(curve.total) <= 2 * curve.total_error
    assert any("noise-limited" in note for note in curve.notes)


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
        assert any("no error bound" in note for note in curve.notes)
    kept = memory_from_data(X, z, lags, estimator="thresholded", checks=False).values
    assert np.all((np.abs(kept - r2) <= SAME) | (kept == 0))
    assert kept[0] > 0


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
        ({"lags": 1000}, "`lags` must be at most half of the 623 rows.*got 1000"),
        ({"lags": 0}, "`lags`"),
        ({"level": 1.0}, "`level` must be.*between 0 and 1"),
        ({"level": 0}, "`level`"),
        ({"noise_floor": -1e-3}, "`noise_floor` must be.*at least 0"),
        ({"noise_floor": np.nan}, "`noise_floor`"),
        ({"estimator": "guess"}, "`estimator` must be.*guess"),
        ({"washout": 623}, "washout"),
        ({"washout": -1}, "`washout`"),
    ],
)
@pytest.mark.parametrize("checks", [True, False])
def test_options_that_are_refused(options: dict[str, Any], message: str, checks: bool) -> None:
    X, z = recording()
    with pytest.raises((ValueError, TypeError), match=message):
        memory_from_data(X, z, checks=checks, **options)


@pytest.mark.parametrize("estimator", ["regression", "split"])
def test_too_few_rows(estimator: str) -> None:
    rng = np.random.default_rng(1)
    X, z = rng.standard_normal((40, 39)), rng.standard_normal(40)
    with pytest.raises(ValueError, match="more rows than columns by at least 3"):
        memory_from_data(X, z, 2, checks=False, estimator=estimator)


def test_errors_of_the_checks_stop() -> None:
    X, z = recording()
    X[300, 3] = np.nan
    with pytest.raises(ValueError, match=r"gives no memory:\n  error: .*\nchecks=False skips"):
        memory_from_data(X, z)
    with pytest.raises(ValueError, match="NaN or infinite"):
        memory_from_data(X, z, checks=False)


def test_warnings_of_the_checks_are_notes() -> None:
    X, z = recording()
    X = np.column_stack([X, np.ones(len(z)), 2 * X[:, 0] + 1])
    with pytest.warns(RecordingWarning) as caught:
        curve = memory_from_data(X, z)
    for one in caught:
        assert str(one.message) in curve.notes
    assert {Path(one.filename).name for one in caught} == {Path(__file__).name}
    assert curve.diagnostics["states"] == X.shape[1] - 2
    assert abs(curve.total - memory_from_data(X[:, :-2], z).total) <= SAME
    assert len(curve.diagnostics["findings"]) >= len(caught)


@pytest.mark.parametrize(("size", "input_size"), [(1e200, 1.0), (1e-250, 1e150), (1.0, 1e-200)])
def test_units_far_from_one(size: float, input_size: float) -> None:
    X, z = recording()
    usual = memory_from_data(X, z)
    found = memory_from_data(X * size, z * input_size)
    assert np.abs(found.values - usual.values).max() <= SAME
