"""Measured networks and recordings, where they are at hand (MEMCURVE_REAL_DATA)."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from memcurve import LinearNetwork, RecordingWarning, memory_curve, memory_from_data
from memcurve.network.scaling import scale_to_spectral_radius
from repository import real_data


def test_the_worm_remembers_286_inputs() -> None:
    """299 neurons, of which 13 modes are not driven; every mode counts one in total."""
    A = scale_to_spectral_radius(np.load(real_data("celegans_299.npy")).T, 0.9)
    curve = memory_curve(LinearNetwork(A, np.random.default_rng(1).standard_normal(len(A))))
    assert curve.rank == 286
    assert curve.total == pytest.approx(286, abs=1e-9)
    assert np.all(np.diff(curve.values) <= 1e-15)


def test_nanowires_remember_little() -> None:
    """Voltages of 15 electrodes, the sixteenth driven; the recording's caveats are warned of."""
    with gzip.open(real_data("nanowires_131M.txt.gz"), "rt") as file:
        rows = np.genfromtxt(file, skip_header=1)
    driven, voltages = rows[:, 1], rows[:, 3::2]
    with pytest.warns(RecordingWarning):
        curve = memory_from_data(voltages, driven)
    assert 0 < curve.total < voltages.shape[1] + 3 * curve.total_error
