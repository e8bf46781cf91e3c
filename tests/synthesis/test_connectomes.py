"""The figures of the worm and the larva, where their data are (MEMCURVE_REAL_DATA)."""

import numpy as np
import pytest

from memcurve import LinearNetwork, best_mask, best_readout, pruned
from memcurve.network.scaling import scale_to_spectral_radius
from repository import real_data
from test_real_data import larva

pytestmark = pytest.mark.slow


def test_worm() -> None:
    A = scale_to_spectral_radius(np.load(real_data("celegans_299.npy")).T, 0.9)
    mask = np.random.default_rng(3).standard_normal(299)
    network = LinearNetwork(A, mask / np.linalg.norm(mask))
    assert pruned(network, 1e-3, 1e-3).network.size <= 12
    choice = best_readout(network, 1e-3, 10)
    assert choice.value >= 6.40
    assert choice.bound <= 1.01 * choice.value
    assert best_mask(network, 0.1).value >= 4.82


def test_larva() -> None:
    network = larva()
    network = network.replace(C=network.C / np.linalg.norm(network.C))
    assert pruned(network, 1e-3, 1e-3).network.size <= 10
    choice = best_readout(network, 1e-3, 10)
    assert choice.value >= 4.7
    assert choice.bound <= 1.013 * choice.value
    assert choice.random < 2 < choice.value
