"""Memory from recordings against the truth: bias, intervals, and long recordings."""

import sys
import time
from typing import Any

import numpy as np
import pytest

from command import ended, succeeded
from data_scenarios import (
    SAME,
    Scenario,
    estimates,
    leaky,
    noisy_orthogonal,
    recording,
    scenarios,
    tanh,
)
from memcurve import memory_from_data
from memcurve.core.types import Floats
from memcurve.data import regression

#: A noise-free linear network from 500 rows: what theory.md reports.
NOISE_FREE = 2e-6
#: RMSE of the total against that of theory.md, whose networks are others of the same kind.
AS_IN_THEORY = 1.25
#: Standard errors that the mean over replications may be off.
STANDARD_ERRORS = 4.0
#: Peak memory of a long recording, and its time in units of a QR of the same chunks.
PEAK, QR_TIMES = 1.5e9, 3.0

OTHERS = ("in_sample", "ezekiel", "k_fold", "split")


def table_row(scenario: Scenario, truth: Floats, count: int, rows: int) -> dict[str, Any]:
    """Bias and RMSE of every estimator's total."""
    drawn = list(scenario.draws(2, count, rows))
    known, found = float(truth.sum()), {}
    for name in ("regression", *OTHERS):
        options = {"lags": scenario.lags, "checks": False, "estimator": name}
        off = np.array([memory_from_data(X, z, **options).total for X, z in drawn]) - known
        found[name] = float(off.mean()), float(np.sqrt((off**2).mean()))
    return found


@pytest.mark.parametrize(
    "scenario", [noisy_orthogonal(24, 11), tanh(24, 11, 2.0)], ids=lambda s: s.name
)
def test_totals_against_the_truth(scenario: Scenario) -> None:
    count = 10
    found = table_row(scenario, scenario.truth(40_000), count, 400)
    bias, rmse = found["regression"]
    assert abs(bias) <= STANDARD_ERRORS * rmse / np.sqrt(count)
    for other in OTHERS:
        assert rmse < found[other][1], other


@pytest.mark.slow
def test_table_of_totals(held) -> None:
    """Bias/RMSE at 1000 rows and 2N lags, against theory.md and the squared test correlation."""
    for scenario in scenarios():
        found = table_row(scenario, scenario.truth(), 60, 1000)
        rmse = found["regression"][1]
        # the bound is the error of the squared test correlation
        held(f"{scenario.name}: RMSE of the total", rmse, at_most=found["split"][1], draws=60)
        if scenario.reference is not None:
            assert rmse <= AS_IN_THEORY * scenario.reference + NOISE_FREE


def test_notes_where_intervals_are_too_narrow() -> None:
    short, enough = (estimates(noisy_orthogonal(10, 1, 0.1), 1, 1, rows)[0] for rows in (150, 250))
    assert any("few rows: 15" in note for note in short.notes)
    assert not any("few rows" in note for note in enough.notes)
    slow = leaky(20, 1)
    for rows, said in ((1000, True), (1250, False)):
        (curve,) = estimates(slow, 1, 1, rows)
        assert any("spread thinly" in note for note in curve.notes) is said
    (curve,) = estimates(tanh(20, 1, 2.0), 1, 1, 500)
    assert not any("spread thin" in note for note in curve.notes)


@pytest.mark.parametrize(("chunk", "least"), [(1, 1), (8, 4096), (100, 50_000)])
def test_chunks_do_not_matter(chunk: int, least: int, tmp_path, monkeypatch) -> None:
    X, z = recording(12, 6000)
    whole = memory_from_data(X, z, 30, checks=False)
    monkeypatch.setattr(regression, "CHUNK", chunk)
    monkeypatch.setattr(regression, "LEAST_ROWS", least)
    np.save(tmp_path / "states.npy", X)
    np.save(tmp_path / "inputs.npy", z)
    found = memory_from_data(tmp_path / "states.npy", tmp_path / "inputs.npy", 30, checks=False)
    assert np.abs(found.values - whole.values).max() <= SAME
    assert np.abs(found.error - whole.error).max() <= SAME
    assert abs(found.total - whole.total) <= SAME


def test_a_sample_of_the_rows_judges_a_long_recording(monkeypatch) -> None:
    """Bias and intervals from stretches of a long recording: the same but for sampling error."""
    X, z = recording(12, 20_000)
    whole = memory_from_data(X, z, 40, checks=False)
    monkeypatch.setattr("memcurve.data.regression.SAMPLED_ROWS", 6000)
    found = memory_from_data(X, z, 40, checks=False)
    assert found.diagnostics["rows"] == whole.diagnostics["rows"]
    assert np.abs(found.values - whole.values).max() <= 0.5 * whole.error.max()
    assert found.total_error == pytest.approx(whole.total_error, rel=0.25)


LONG_RUN = """
import resource, sys, time
from memcurve import ensembles, memory_curve, memory_from_data
start = time.process_time()
curve = memory_from_data(sys.argv[1], sys.argv[2], 200, checks=False)
print(time.process_time() - start)
unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory as POSIX tells it")
def test_a_million_rows(tmp_path, held) -> None:
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
    paths = [str(tmp_path / name) for name in ("states.npy", "inputs.npy")]
    run = succeeded(ended([sys.executable, "-c", LONG_RUN, *paths]))
    seconds, peak = map(float, run.out.split())
    width = 1 + 200 + size
    step = max(regression.CHUNK * width, regression.LEAST_ROWS)
    chunk = rng.standard_normal((width + step, width))
    start = time.process_time()
    for _ in range(10):
        np.linalg.qr(chunk, mode="r")
    bare = (time.process_time() - start) / 10 * rows / step
    held("a recording of 10⁶ rows: peak, bytes", peak, at_most=PEAK)
    held("a recording of 10⁶ rows: CPU time over bare QR", seconds / bare, at_most=QR_TIMES)
