"""SpectralDensity: of a callable or of samples, smoothed, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve.inputs import ARMA, Autocovariance, SpectralDensity
from tolerances import AUTOCOVARIANCE, CLOSED_FORM


def test_callable_density_of_an_arma_process():
    process = ARMA([0.9, -0.3], [0.5])
    found = SpectralDensity(process.spectral_density)
    gamma = process.autocovariance(1000)
    np.testing.assert_allclose(found.autocovariance(1000), gamma, atol=AUTOCOVARIANCE * gamma[0])
    assert 50 < found.finite_lags < 200


def test_samples_are_interpolated():
    """A cosine polynomial of degree n − 1 is given back by n samples, and by more."""
    gamma = np.array([4.0, 1.0, -0.5, 0.2, 0.1])
    process = Autocovariance(gamma)
    found = SpectralDensity(process.spectral_density(np.linspace(0, np.pi, 5)))
    np.testing.assert_allclose(found.values, gamma, atol=CLOSED_FORM)
    finer = SpectralDensity(process.spectral_density(np.linspace(0, np.pi, 33)))
    np.testing.assert_allclose(finer.values, gamma, atol=CLOSED_FORM)


def test_constant_densities_are_white():
    for density in (lambda w: 2.0, lambda w: np.full(w.shape, 2), [2, 2, 2, 2]):
        assert SpectralDensity(density).is_white
        assert SpectralDensity(density, lags=3).is_white
        assert SpectralDensity(density).variance == pytest.approx(2, rel=AUTOCOVARIANCE)


def test_lags_smooth_with_parzen():
    """A band |ω| < 1 has γ(k) = sin(k)/(πk); its jump is smoothed, f never negative."""
    found = SpectralDensity(lambda w: w < 1, lags=50)
    k = np.arange(1, 51)
    x = k / 51
    weights = np.where(x <= 0.5, 1 - 6 * x**2 + 6 * x**3, 2 * (1 - x) ** 3)
    np.testing.assert_allclose(found.values[1:], weights * np.sin(k) / (np.pi * k), atol=1e-6)
    low, high = found.density_bounds()
    assert 0 <= low < 1e-4
    assert high == pytest.approx(1, abs=1e-4)
    assert SpectralDensity([1, 0, 0, 0, 0, 0, 0, 0, 0], lags=8).density_bounds()[0] >= 0


@pytest.mark.parametrize(
    ("density", "lags", "message"),
    [
        (lambda w: w, None, r"`density` must be smooth enough.*20000 lags.*pass `lags`"),
        (lambda w: w < 1, None, "`density` must be smooth enough"),
        (lambda w: np.cos(w), None, "`density` must not be negative, got -1 at ω = 3.14159"),
        (lambda w: 0 * w, None, "`density` must not be zero everywhere"),
        (lambda w: w / 0.0 if w is None else np.full_like(w, np.inf), None, "must be finite"),
        (lambda w: w[:3], None, r"one value for each frequency, got shape \(3,\)"),
        ([1, 0, 0, 1, 0, 0], None, r"non-negative between its samples.*ω = .*pass `lags`"),
        ([1], None, "`density` must have at least 2 values, got 1"),
        ([1, -1], None, "`density` must not be negative, got -1 at ω = 3.14159"),
        ([0, 0], None, "must not be zero everywhere"),
        ([1, 2, 3], 3, "`lags` must be below the number of samples 3, got 3"),
        (lambda w: w, 20_001, "`lags` must be at most 20000, got 20001"),
        (lambda w: w, 0, "`lags` must be a positive integer"),
    ],
)
def test_wrong_densities(density, lags, message):
    with pytest.raises(ValueError, match=message):
        SpectralDensity(density, lags=lags)
