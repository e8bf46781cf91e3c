"""The figures of the worm and the larva, where their data are (MEMCURVE_REAL_DATA)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigs

from memcurve import LinearNetwork, best_mask, best_readout, pruned

FOLDER = os.environ.get("MEMCURVE_REAL_DATA", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="MEMCURVE_REAL_DATA names no folder"),
]


def worm() -> LinearNetwork:
    A = np.load(Path(FOLDER) / "celegans_299.npy").astype(float).T
    mask = np.random.default_rng(3).standard_normal(299)
    return LinearNetwork(A * 0.9 / abs(np.linalg.eigvals(A)).max(), mask / np.linalg.norm(mask))


def larva() -> LinearNetwork:
    edges: Any = np.loadtxt(Path(FOLDER) / "larva_edges.txt.gz", usecols=(0, 1, 2))
    names, places = np.unique(edges[:, :2], return_inverse=True)
    source, target = places.reshape(-1, 2).T
    A: Any = csr_array((edges[:, 2], (target, source)), shape=(len(names),) * 2)
    A = A * (0.9 / abs(eigs(A, 1, which="LM", return_eigenvectors=False)[0]))
    sensory = np.loadtxt(Path(FOLDER) / "larva_sensory.txt")
    driven = np.flatnonzero(np.isin(names, sensory))
    mask = np.zeros(len(names))
    mask[driven] = np.random.default_rng(0).standard_normal(len(driven))
    return LinearNetwork(A, mask / np.linalg.norm(mask))


def test_worm() -> None:
    network = worm()
    assert pruned(network, 1e-3, 1e-3).network.size <= 12
    choice = best_readout(network, 1e-3, 10)
    assert choice.value >= 6.40
    assert choice.bound <= 1.01 * choice.value
    mask = best_mask(network, 0.1)
    assert mask.value >= 4.82


def test_larva() -> None:
    network = larva()
    assert pruned(network, 1e-3, 1e-3).network.size <= 10
    choice = best_readout(network, 1e-3, 10)
    assert choice.value >= 4.7
    assert choice.bound <= 1.013 * choice.value
    assert choice.random < 2 < choice.value
