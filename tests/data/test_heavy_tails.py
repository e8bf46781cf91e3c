"""Heavy-tailed inputs: the shape of a tail, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from data_scenarios import noisy_orthogonal
from memcurve import check_recording, memory_from_data
from memcurve.data.tails import HEAVIEST, pareto_tail

Floats = NDArray[np.float64]
#: Hill's estimate from the quantiles themselves: sums in place of integrals, over 8 values or more.
FROM_QUANTILES = 0.02


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.7])
def test_a_pareto_tail_has_its_shape(shape: float) -> None:
    """Values (n/i)^ξ: the largest of n is n^ξ, and that of 100 n is (100 n)^ξ."""
    n = 20_000
    values = np.random.default_rng(1).permutation((n / np.arange(1, n + 1)) ** shape)
    found, largest = pareto_tail(values[:, None], n, 100 * n)
    assert found[0] == pytest.approx(shape, abs=FROM_QUANTILES)
    assert largest[0] == pytest.approx((100 * n) ** shape, rel=0.25)
    with_gaps = np.concatenate([values, np.zeros(n)])[:, None]
    assert pareto_tail(with_gaps, n, 100 * n)[0] == found


def test_what_has_no_tail() -> None:
    """Two values, few rows, and a mean that is infinite."""
    spikes = (np.arange(5000) % 50 == 0).astype(float)[:, None]
    assert pareto_tail(spikes, 5000, 5000)[0] == 0
    assert pareto_tail(np.ones((30, 1)), 30, 30)[0] == 0
    cauchy = np.random.default_rng(1).standard_cauchy((5000, 1)) ** 2
    assert pareto_tail(cauchy, 5000, 5000)[0] == HEAVIEST


def test_heavy_tails_are_named_and_widen_the_intervals() -> None:
    """The same responses and noise, to inputs of one variance with other tails."""
    scenario, width = noisy_orthogonal(10, 1, 0.1), {}
    for law in ("normal", "heavy"):
        rng = np.random.default_rng(4)
        z = rng.standard_normal(2400) if law == "normal" else rng.standard_t(2.2, 2400)
        z /= z.std()
        X = scenario.network.simulate(z, 400)
        X, z = scenario.observed(X, rng), z[400:]
        said = [one.name for one in check_recording(X, z)]
        assert ("heavy_tails" in said) is (law == "heavy")
        width[law] = memory_from_data(X, z, 20, checks=False).total_error
    assert width["heavy"] > 3 * width["normal"]
