"""Heavy-tailed inputs: the shape of a tail, intervals that hold, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from data_scenarios import noisy_gaussian, noisy_orthogonal
from memcurve import check_recording, ensembles, memory_curve, memory_from_data
from memcurve.data.regression import _variance_of_mean, long_run_variance
from memcurve.data.tails import HEAVIEST, pareto_tail
from state_affine import StateAffine

Floats = NDArray[np.float64]

#: Hill's estimate from the quantiles themselves: sums in place of integrals, over 8 values or more.
FROM_QUANTILES = 0.02
#: What 90 % intervals may cover at least, for laws whose variance the rows tell.
COVERED = 0.87
DRAWS = 240


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


def covered(draw: Callable[[np.random.Generator], tuple[Floats, Floats]], truth: Floats) -> float:
    """Share of the totals that hold the truth."""
    inside = []
    for k in range(DRAWS // 2):
        X, z = draw(np.random.default_rng([17, k]))
        curve = memory_from_data(X, z, len(truth), checks=False, innovations=False)
        inside.append(abs(curve.total - truth.sum()) <= curve.total_error)
    return float(np.mean(inside))


@pytest.mark.slow
@pytest.mark.parametrize("freedom", [3, 5])
def test_intervals_hold_for_heavy_tails(freedom: int, held: Any) -> None:
    each = []
    for scenario in (noisy_orthogonal(20, 1, 0.1), noisy_gaussian(20, 1, 0.1)):

        def draw(rng: np.random.Generator, scenario: Any = scenario) -> tuple[Floats, Floats]:
            z = rng.standard_t(freedom, 1440) / np.sqrt(freedom / (freedom - 2))
            return scenario.observed(scenario.network.simulate(z, 400), rng), z[400:]

        each.append(covered(draw, scenario.truth()))
    held(f"input of t{freedom}: covered by 90 %", np.mean(each), at_least=COVERED, draws=DRAWS)


def test_large_values_in_clusters_widen_the_interval() -> None:
    """The same values, each alone or next to each other: their mean is less certain then."""
    rng = np.random.default_rng(3)
    alone = rng.standard_t(3, 3000)
    large = np.sort(np.abs(alone))
    clusters = np.abs(lfilter([1], [1, -0.9], alone))
    clustered = np.empty(3000)
    clustered[np.argsort(clusters)] = large
    series = [rng.permutation(large), clustered]
    width = [_variance_of_mean((s - s.mean())[:, None], 3000, 3000)[0] for s in series]
    long_run = [long_run_variance((s - s.mean())[:, None])[0] / 3000 for s in series]
    unseen = [np.sqrt(w - v) for w, v in zip(width, long_run, strict=True)]
    assert unseen[0] > 0
    assert unseen[1] > 2 * unseen[0]


@pytest.mark.slow
@pytest.mark.parametrize("bilinear", [0.5, 1.0])
def test_intervals_hold_for_state_affine_networks(bilinear: float, held: Any) -> None:
    each = []
    for seed in (1, 2, 3, 4):
        network = StateAffine(5, seed, bilinear=bilinear)

        def draw(rng: np.random.Generator, network: Any = network) -> tuple[Floats, Floats]:
            z = rng.uniform(-1, 1, 2300)
            x, states = np.zeros(len(network.mu)), np.empty((2300, len(network.mu)))
            for t, value in enumerate(z):
                states[t] = x = network.step(x, value)
            return states[300:], z[300:]

        each.append(covered(draw, network.memory(60)))
    held("state-affine recordings: covered by 90 %", np.mean(each), at_least=COVERED, draws=480)


@pytest.mark.slow
@pytest.mark.parametrize("ensemble", ["symmetric", "normal"])
def test_intervals_hold_for_slow_modes(ensemble: str, held: Any) -> None:
    """A mode of modulus 0.99, whose memory no lag shows: they covered 0.42 at 100 rows a state."""
    network = ensembles.make(ensemble, 20, spectral_radius=0.99, seed=1)
    exact = memory_curve(network, noise=0.1).total
    inside = []
    for k in range(60):
        rng = np.random.default_rng([23, k])
        z = rng.standard_normal(4200)
        X = network.simulate(z)[2000:] + 0.1 * rng.standard_normal((2200, 20))
        curve = memory_from_data(X, z[2000:], 200, checks=False, innovations=False)
        inside.append(abs(curve.total - exact) <= curve.total_error)
    held("slow modes: covered by 90 %", np.mean(inside), at_least=COVERED, draws=60)
