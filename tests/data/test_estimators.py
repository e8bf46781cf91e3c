"""The estimators people use, against their formulas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from data_scenarios import SAME, recording
from memcurve import memory_from_data

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
