"""Coloured input: the memory of its innovations, and of the input itself."""

import numpy as np
import pytest
from scipy.signal import lfilter

from draws import seeds
from memcurve import LinearNetwork, RecordingWarning, ensembles, memory_curve, memory_from_data
from memcurve.core.types import Floats
from memcurve.data.autocorrelation import fit_autoregression
from memcurve.inputs import ARMA

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
