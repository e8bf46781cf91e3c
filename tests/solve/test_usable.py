"""Usable memory: noise of every kind against the truth, closed forms and simulation."""

from typing import Any

import numpy as np
import pytest

from memcurve import (
    Float32,
    LinearNetwork,
    NoiseProfile,
    ObservationNoise,
    Quantised,
    StateNoise,
    ensembles,
    memory_curve,
    noise_profile,
)
from memcurve.inputs import ARMA
from tolerances import CLOSED_FORM, LAST_DIGIT, USABLE, agree, within
from truth import truth

#: Standard errors that a simulation may be off.
STANDARD_ERRORS = 3.0
#: Relative sampling error of a standard deviation from a million draws, with a margin of ten.
SAMPLED = 0.01


# Against the truth


@pytest.mark.parametrize("level", [3e82, 1.0])
@pytest.mark.parametrize("weight", [5e-324, 1e-300])
def test_eigenvectors_that_coincide_in_floating_point(weight: float, level: float) -> None:
    """The larger node is read as it is: what enters it from the other is nothing at all."""
    network = LinearNetwork([[0.0, weight], [0.0, 0.0]], [-8e89, -9e-46])
    for noise in (StateNoise(level), ObservationNoise(level)):
        curve = memory_curve(network, 3, noise=noise, certify_up_to=0)
        assert np.all(np.abs(curve.values - [1, 0, 0]) <= curve.error)
        assert curve.total == pytest.approx(1, abs=CLOSED_FORM)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "symmetric"])
def test_observation_noise_of_every_size(kind: str, held) -> None:
    """One family, of one decomposition, for noise variances from 1e-4 to 1e-50."""
    network = ensembles.make(kind, 60, seed=2)
    variances = 10.0 ** -np.arange(4, 51, 2)
    family = noise_profile(network, np.sqrt(variances), lags=120)
    for variance, curve in zip(variances.tolist(), family, strict=True):
        known = truth(network.A, network.C, 120, observation=variance, bits=700)
        off = within(curve, known.memory, known.total)
        held("noise variances 1e-4 to 1e-50: off by", off, at_most=USABLE)


# Closed forms and limits


@pytest.mark.parametrize("kind", ["normal", "symmetric", "orthogonal", "uniform"])
def test_without_noise_the_exact_curve_comes_back(kind: str) -> None:
    network = ensembles.make(kind, 40, seed=7)
    exact = memory_curve(network, 100)
    nearly = memory_curve(network, 100, noise=1e-60)
    assert np.abs(nearly.values - exact.values).max() <= CLOSED_FORM
    assert nearly.total == pytest.approx(40, abs=CLOSED_FORM)
    assert np.array_equal(memory_curve(network, 100, noise=0).values, exact.values)
    process = ARMA(ar=[0.9])
    coloured = memory_curve(network, 100, input=process, noise=1e-60)
    without = memory_curve(network, 100, input=process)
    assert agree(coloured, without)
    assert np.abs(coloured.values - without.values).max() <= USABLE


@pytest.mark.parametrize("kind", [ObservationNoise, StateNoise])
def test_more_noise_less_memory(kind: Any) -> None:
    network = ensembles.normal(30, seed=8)
    levels = np.logspace(-12, 2, 15)
    family = noise_profile(network, levels, lags=90, state_noise=kind is StateNoise)
    assert np.all(np.diff(family.totals) < 0)
    assert np.all(np.diff(family.values, axis=0) <= family.error[1:] + family.error[:-1])
    assert family.totals[-1] < 0.1
    assert family.rank == 30


# Families and profiles


@pytest.mark.parametrize("kind", [ObservationNoise, StateNoise])
@pytest.mark.parametrize("method", ["exact", "certified"])
def test_a_family_is_its_members(kind: Any, method: str) -> None:
    network, levels = ensembles.normal(12, seed=11), [1e-2, 0.0, 1.0, 1e-9]
    state = kind is StateNoise
    family = noise_profile(network, levels, lags=30, state_noise=state, method=method)
    assert isinstance(family, NoiseProfile)
    assert len(family) == 4
    assert family.levels.tolist() == levels
    for level, curve in zip(levels, family, strict=True):
        alone = memory_curve(network, 30, noise=kind(level), method=method)
        assert np.abs(curve.values - alone.values).max() <= CLOSED_FORM
        assert curve.total == pytest.approx(alone.total, abs=CLOSED_FORM)
        assert curve.diagnostics["noise"] == {"kind": family.noise, "level": level}
        assert np.array_equal(curve.lags, family.lags)
        assert "usable memory" in curve.notes[-1] or level == 0
    assert family.values.shape == family.error.shape == (4, 30)
    assert np.array_equal(family.totals, [curve.total for curve in family])
    assert str(family.rank) in repr(family)
    exact = memory_curve(network, 30)
    assert np.abs(family[1].values - exact.values).max() <= CLOSED_FORM
    assert family[1].total == pytest.approx(12, abs=CLOSED_FORM)


def test_profile_marks_number_formats() -> None:
    """A delay line's states have deviation one: float32 rounds as for σ = 1, 12 bits span ∓4."""
    profile = noise_profile(ensembles.delay_line(5))
    assert len(profile) == 81
    assert list(profile.marks) == ["float64", "float32", "16 bit", "12 bit"]
    assert profile.marks["12 bit"] == pytest.approx(8 / 2**12 / np.sqrt(12), rel=CLOSED_FORM)
    assert profile.marks["16 bit"] == pytest.approx(8 / 2**16 / np.sqrt(12), rel=CLOSED_FORM)
    one = Float32().observation(np.ones(1))[0]
    assert profile.marks["float32"] == pytest.approx(one, rel=CLOSED_FORM)
    assert profile.marks["float64"] == pytest.approx(one / 2**29, rel=CLOSED_FORM)
    assert np.allclose(profile.totals, 5 / (1 + profile.levels**2), rtol=CLOSED_FORM, atol=0)
    state = noise_profile(ensembles.delay_line(5), [0.1], state_noise=True)
    assert state.noise == "state noise"
    # state k has taken up the noise of k + 1 steps: MC_τ = 1/(1 + (τ + 1) s²)
    assert state.totals[0] == pytest.approx(sum(1 / (1 + 0.01 * k) for k in range(1, 6)))


# Rounding as noise


SUBNORMAL = [2.0**power for power in (-147, -140, -130, -126, -124)]


@pytest.mark.parametrize("sigma", [*SUBNORMAL, 1e-30, 1e-3, 0.3, 1.0, 1.5, 1.99, 7.0])
def test_single_precision_rounds_gaussian_numbers_like_this(sigma: float) -> None:
    """By the equal steps of the smallest numbers, too, at least."""
    x = sigma * np.random.default_rng(1).standard_normal(1_000_000)
    measured, found = np.std(x.astype(np.float32) - x), Float32().observation(np.array([sigma]))[0]
    assert found == pytest.approx(measured, rel=SAMPLED)
    assert found >= np.ldexp(1, -149) / np.sqrt(12) * (1 - 1e-9)


def test_single_precision_follows_powers_of_two() -> None:
    sigma = np.array([0.0, 1.3, 2.6, 1.3 * 2.0**-90])
    found = Float32().observation(sigma)
    assert found[0] == 0
    assert found[2] == 2 * found[1]
    assert found[3] == found[1] * 2.0**-90
    # |x| = 2^e m with rounding error uniform on a step 2^(e − 23): between σ/√12·2⁻²⁴ and 2⁻²³
    assert 2.0**-24 < found[1] / 1.3 * np.sqrt(12) < 2.0**-23


def test_steps_are_noise_of_variance_a_twelfth() -> None:
    network = ensembles.normal(12, seed=14)
    for step, noise in ((0.01, Quantised(0.01)), (2**-9, Quantised(bits=12, low=-4, high=4))):
        assert noise.step == step
        assert noise.deviation == pytest.approx(step / np.sqrt(12), rel=LAST_DIGIT)
        same = memory_curve(network, 40, noise=step / np.sqrt(12))
        found = memory_curve(network, 40, noise=noise)
        assert np.abs(found.values - same.values).max() <= CLOSED_FORM
        assert found.total == pytest.approx(same.total, abs=CLOSED_FORM)
    assert Quantised(bits=3, low=-1, high=3).step == 0.5


@pytest.mark.parametrize("step", [0.02, 0.5])
def test_quantised_states_simulated(step: float) -> None:
    """Regress the input on rounded states, in ten batches, and correct R² for its N/T of bias."""
    network, lags, batches, length = ensembles.normal(10, seed=15), 50, 10, 20_000
    predicted = memory_curve(network, lags, noise=Quantised(step)).values.sum()
    assert predicted < 9.5  # far from the 10 without rounding
    rng = np.random.default_rng(3)
    totals = []
    for _ in range(batches):
        z = rng.standard_normal(length + 200)
        states = np.round(network.simulate(z, 200) / step) * step
        targets = np.stack([z[200 - lag : len(z) - lag] for lag in range(lags)], axis=1)
        weights = np.linalg.lstsq(states, targets, rcond=None)[0]
        unexplained = ((targets - states @ weights) ** 2).sum(0) / (targets**2).sum(0)
        totals.append(np.sum(1 - unexplained * length / (length - 10)))
    error = np.std(totals, ddof=1) / np.sqrt(batches)
    assert error < 0.02
    assert abs(np.mean(totals) - predicted) <= STANDARD_ERRORS * error
