"""Where things lie: in the repository, and real data beside it."""

import os
from pathlib import Path

import numpy as np
import pytest

from memcurve.network.scaling import scale_to_spectral_radius

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"


def real_data(name: str) -> Path:
    """A file of measured data, which is not part of the repository; the test is skipped without."""
    folder = os.environ.get("MEMCURVE_REAL_DATA")
    if not folder:
        pytest.skip(f"{name}: real data lie where MEMCURVE_REAL_DATA says, which is not set")
    path = Path(folder) / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {folder}, which MEMCURVE_REAL_DATA names")
    return path


def worm() -> np.ndarray:
    """Connections between the 299 neurons of the worm, of spectral radius 0.9."""
    return scale_to_spectral_radius(np.load(real_data("celegans_299.npy")).T, 0.9)
