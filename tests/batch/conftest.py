"""Circle and lattice, each on its own."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve.memory.batch import poles, stack


@pytest.fixture(params=["circle", "lattice"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The one that all networks go by."""

    def chosen(backend: object, known: np.ndarray, lags: int | None) -> np.ndarray:
        points = poles.points_needed(known)
        return points if request.param == "circle" else np.full_like(points, poles.LATTICE)

    for module in (poles, stack):
        monkeypatch.setattr(module, "points_for", chosen)
    return str(request.param)
