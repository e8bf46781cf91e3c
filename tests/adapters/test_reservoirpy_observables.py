"""memcurve.reservoirpy: reservoirpy's own signature, and the right number."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import memcurve
from memcurve.reservoirpy import memory_capacity

nodes = pytest.importorskip("reservoirpy.nodes")
observables = pytest.importorskip("reservoirpy.observables")


def test_one_import_changes() -> None:
    theirs = inspect.signature(observables.memory_capacity).parameters
    ours = inspect.signature(memory_capacity).parameters
    assert list(ours) == list(theirs)
    assert all(ours[name].default == theirs[name].default for name in ours)


def test_a_linear_reservoir_is_answered_exactly() -> None:
    drawn = memcurve.ensembles.orthogonal(12, spectral_radius=0.9, seed=1)
    asked = {"bias": np.zeros(12), "lr": 1.0, "activation": "identity"}
    reservoir = nodes.Reservoir(W=drawn.A, Win=drawn.C[:, None], **asked)
    exact = memcurve.memory_curve(drawn, 31).values[1:]
    model = reservoir >> nodes.Ridge(ridge=1e-4)
    assert memory_capacity(model, k_max=30) == pytest.approx(exact.sum(), abs=1e-9)
    listed = memory_capacity(model, k_max=30, as_list=True)
    assert np.abs(listed - exact).max() < 1e-9


def test_a_tanh_reservoir_is_measured() -> None:
    reservoir = nodes.Reservoir(30, sr=0.9, seed=1)
    first = memory_capacity(reservoir, 60, seed=1)
    z = np.random.default_rng(5).uniform(-0.8, 0.8, (6000, 1))
    recorded = memory_capacity(reservoir, 60, series=z)
    # to 0.005 a node each, and as much again for a series of its own
    assert first == pytest.approx(recorded, abs=0.6)
    assert 3 < first < 30
