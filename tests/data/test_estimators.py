"""The estimators people use, against their formulas."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import memcurve
from data_scenarios import SAME, recording
from memcurve import ensembles, memory_from_data
from refusals import refuses

Floats = NDArray[np.float64]


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


def test_a_scorer_for_readouts() -> None:
    """What a readout recalls on fresh rows: its targets' memory, or nothing on average."""
    network = ensembles.orthogonal(10, spectral_radius=0.9, seed=1)
    z = np.random.default_rng(2).standard_normal(4000)
    X = network.simulate(z)[100:]
    Y = np.stack([np.roll(z, k)[100:] for k in range(30)], axis=1)
    half = len(X) // 2

    class Readout:
        weights = np.linalg.lstsq(X[:half], Y[:half], rcond=None)[0]

        def predict(self, states: Any) -> Any:
            return states @ self.weights

    exact = memcurve.memory_curve(network, 30).values.sum()
    # a fitted readout misses about N/T of each of the 30 lags that is not remembered whole
    assert memcurve.memory_score(Readout(), X[half:], Y[half:]) == pytest.approx(exact, abs=0.2)
    shuffled = np.random.default_rng(3).permutation(Y[half:])
    # 30 scores of mean 0 and deviation √2/T each
    assert abs(memcurve.memory_score(Readout(), X[half:], shuffled)) < 0.05
    refuses(ValueError, "at least 3 rows", memcurve.memory_score, Readout(), X[:2], Y[:2])


def test_scores_know_no_scale_and_refuse_what_is_no_number() -> None:
    Y = np.random.default_rng(1).standard_normal((40, 3))
    score = lambda answer, y=Y: memcurve.memory_score(  # noqa: E731
        SimpleNamespace(predict=lambda X: answer), Y, y
    )
    blurred, holed = Y + 0.5 * np.roll(Y, 1, axis=0), np.where(Y[5, 1] == Y, np.nan, Y)
    for factor in (-1e-300, 1e200):
        assert score(factor * blurred) == pytest.approx(score(blurred), rel=1e-12)
    assert score(np.full(Y.shape, 0.1)) == pytest.approx(-3 / 38, abs=1e-12)  # r² = 0
    refuses(ValueError, "predict(X)` must be finite", score, holed)
    refuses(ValueError, "`y` must be finite", score, Y, holed)
    for other in (Y.T, Y[:, :2], Y[:20]):
        refuses(ValueError, ("`y`", "(40, 3)"), score, other)
