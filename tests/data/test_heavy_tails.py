"""Heavy-tailed inputs: the shape of a tail, intervals that hold, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from data_scenarios import Scenario, noisy_gaussian, noisy_orthogonal
from memcurve import check_recording, ensembles, memory_curve, memory_from_data
from memcurve.data.tails import HEAVIEST, long_run_variance, pareto_tail, variance_of_mean
from moment_oracle import StateAffine

Floats = NDArray[np.float64]
#: How to draw states and input, and the memory of each lag.
Family = tuple[Callable[[np.random.Generator], tuple[Floats, Floats]], Floats]
Law = Callable[[np.random.Generator, int], Floats]

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


def linear(scenario: Scenario, law: Law) -> Family:
    """1,000 rows, after the lags, of a linear network with observation noise."""

    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        z = law(rng, 1440)
        return scenario.observed(scenario.network.simulate(z, 400), rng), z[400:]

    return draw, scenario.truth()


def stepped(step: Callable[[Floats, float], Any], size: int, law: Law, truth: Floats) -> Family:
    """2,000 rows of states x ← step(x, z)."""

    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        z, x, states = law(rng, 2300), np.zeros(size), np.empty((2300, size))
        for t, value in enumerate(z):
            states[t] = x = step(x, value)
        return states[300:], z[300:]

    return draw, truth


def affine(seed: int, bilinear: float) -> Family:
    """Five states whose memory follows from their moments."""
    network = StateAffine(5, seed, bilinear=bilinear)
    return stepped(network.step, 5, lambda rng, n: rng.uniform(-1, 1, n), network.memory(60))


def multiplied(law: Law) -> Family:
    """x_t = (a + b z_t) x_{t−1} + z_t has the variance 1/(1 − a² − b²)."""
    a, b = 0.6, 0.3
    truth = (1 - a**2 - b**2) * a ** (2.0 * np.arange(60))
    return stepped(lambda x, z: (a + b * z) * x + z, 1, law, truth)


def slow(ensemble: str) -> Family:
    """2,000 rows of a mode of modulus 0.99, half of whose memory is at lags that show none."""
    network = ensembles.make(ensemble, 20, spectral_radius=0.99, seed=1)

    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        z = rng.standard_normal(4200)
        return network.simulate(z)[2000:] + 0.1 * rng.standard_normal((2200, 20)), z[2000:]

    return draw, memory_curve(network, 2000, noise=0.1).values


#: Laws of unit variance.
LAWS: dict[str, Law] = {
    "Gaussian": lambda rng, n: rng.standard_normal(n),
    "uniform": lambda rng, n: rng.uniform(-np.sqrt(3), np.sqrt(3), n),
    "±1": lambda rng, n: rng.choice([-1.0, 1.0], n),
    "exponential": lambda rng, n: rng.exponential(size=n) - 1,
    "t5": lambda rng, n: rng.standard_t(5, n) / np.sqrt(5 / 3),
    "t3": lambda rng, n: rng.standard_t(3, n) / np.sqrt(3),
}


def families(name: str) -> list[Family]:
    """Recordings of one row of the table."""
    kind, _, about = name.partition(", ")
    if kind == "linear":
        networks = noisy_orthogonal(20, 1, 0.1), noisy_gaussian(20, 1, 0.1)
        return [linear(one, LAWS[about]) for one in networks]
    if kind == "multiplied":
        return [multiplied(LAWS[about])]
    if kind == "state-affine":
        return [affine(seed, float(about)) for seed in (1, 2, 3, 4)]
    return [slow(about)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *(f"linear, {law}" for law in ("Gaussian", "uniform", "t5", "t3")),
        *(f"multiplied, {law}" for law in ("Gaussian", "uniform", "±1", "exponential")),
        *("state-affine, 0.5", "state-affine, 1.0", "slow, symmetric", "slow, normal"),
    ],
)
def test_intervals_hold(name: str, held: Any) -> None:
    """The table of docs/theory/data_estimation.md."""
    drawn, inside = families(name), []
    for k in range(DRAWS):
        draw, truth = drawn[k % len(drawn)]
        X, z = draw(np.random.default_rng([17, k]))
        curve = memory_from_data(X, z, min(len(truth), 200), checks=False, innovations=False)
        inside.append(abs(curve.total - truth.sum()) <= curve.total_error)
    held(f"{name}: covered by 90 %", np.mean(inside), at_least=COVERED, draws=DRAWS)


def test_large_values_in_clusters_widen_the_interval() -> None:
    """The same values, each alone or next to each other: their mean is less certain then."""
    rng = np.random.default_rng(3)
    alone = rng.standard_t(3, 3000)
    large = np.sort(np.abs(alone))
    clusters = np.abs(lfilter([1], [1, -0.9], alone))
    clustered = np.empty(3000)
    clustered[np.argsort(clusters)] = large
    series = [rng.permutation(large), clustered]
    width = [variance_of_mean((s - s.mean())[:, None], 3000, 3000)[0] for s in series]
    long_run = [long_run_variance((s - s.mean())[:, None])[0] / 3000 for s in series]
    unseen = [np.sqrt(w - v) for w, v in zip(width, long_run, strict=True)]
    assert unseen[0] > 0
    assert unseen[1] > 2 * unseen[0]
