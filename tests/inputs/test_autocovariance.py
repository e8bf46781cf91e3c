"""Autocovariance: given or estimated, tapered, and where it is none."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve.inputs import ARMA, Autocovariance, White
from refusals import refuses
from tolerances import CLOSED_FORM


def test_taper_formulas():
    """Weights w(k/(M+1)) of M = 3, by hand."""
    gamma = np.array([1.0, 0.1, 0.1, 0.1])
    bartlett = Autocovariance(gamma, taper="bartlett").values / gamma
    np.testing.assert_allclose(bartlett, [1, 3 / 4, 2 / 4, 1 / 4], rtol=CLOSED_FORM)
    parzen = Autocovariance(gamma, taper="parzen").values / gamma
    quarter = 1 - 6 / 16 + 6 / 64
    np.testing.assert_allclose(parzen, [1, quarter, 1 / 4, 2 / 64], rtol=CLOSED_FORM)


@pytest.mark.parametrize("taper", ["bartlett", "parzen"])
@pytest.mark.parametrize("lags", [1, 2, 7, 40])
def test_tapers_are_non_negative_definite(taper, lags):
    """The extreme case γ = 1, whose density is the taper's own transform."""
    assert Autocovariance(np.ones(lags + 1), taper=taper).density_bounds()[0] >= 0


@pytest.mark.parametrize(("slack", "passes"), [(0, True), (1e-12, False)])
def test_the_edge_of_non_negative_definiteness(slack, passes):
    """The square of a real cosine sum with a zero at an irrational angle touches zero there."""
    gamma = ARMA(ma=[-2 * np.cos(1.0), 1]).autocovariance(3)
    gamma[0] -= slack * gamma[0]
    if passes:
        assert Autocovariance(gamma).density_bounds()[0] == 0
    else:
        refuses(ValueError, "times its maximum at frequency ω = 1;", Autocovariance, gamma)


def test_errors_name_the_taper_that_mends():
    cut = 0.9 ** np.arange(21)
    with pytest.raises(ValueError, match=r"falls to -0\.\d+ times its maximum.*ω = ") as caught:
        Autocovariance(cut)
    assert "taper='bartlett') or Autocovariance(values, taper='parzen') mend it" in str(
        caught.value
    )
    refuses(ValueError, "'parzen'", Autocovariance, [1, -0.8, 0.4, -0.8])
    with pytest.raises(ValueError, match=r"; neither taper.*mends it: check the numbers"):
        Autocovariance([1, 0, 1, 1, -1, 1, -1, 1, -1])
    refuses(ValueError, "parzen') mends it", Autocovariance, [1, -0.8, 0.4, -0.8], taper="bartlett")
    refuses(ValueError, "'parzen'", Autocovariance, [1, 0, 1, 1, -1, 1, -1, 1, -1], taper="parzen")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "`values` must have at least 1 value, got 0"),
        ([0, 0], r"`values` must start with the variance γ\(0\) > 0, got 0"),
        ([-1], r"γ\(0\) > 0, got -1"),
        ([1, 0.2, 1.5], r"\|γ\(k\)\| ≤ γ\(0\) = 1, got γ\(2\) = 1.5"),
        ([1, np.inf], "`values` must be finite"),
        (1.0, "`values` must be a one-dimensional"),
    ],
)
def test_wrong_autocovariances(values, message):
    with pytest.raises(ValueError, match=message):
        Autocovariance(values)


def test_unknown_tapers():
    for make in (Autocovariance, Autocovariance.from_series):
        refuses(ValueError, ("`taper`", "'hann'"), make, np.r_[1, np.zeros(20)], taper="hann")


def test_biased_estimate():
    series = np.random.default_rng(2).standard_normal(50) + 3
    centred = series - series.mean()
    direct = [centred[: 50 - k] @ centred[k:] / 50 for k in range(50)]
    estimate = Autocovariance.from_series(series, taper=None)
    np.testing.assert_allclose(estimate.values, direct, atol=CLOSED_FORM)
    tapered = Autocovariance.from_series(series, 10, taper="bartlett")
    np.testing.assert_allclose(
        tapered.values, np.array(direct[:11]) * (1 - np.arange(11) / 11), atol=CLOSED_FORM
    )


@pytest.mark.parametrize("taper", ["bartlett", "parzen"])
def test_estimates_find_the_process(taper):
    process = ARMA([0.7], [0.4])
    estimate = Autocovariance.from_series(process.simulate(100_000, seed=1), taper=taper)
    assert estimate.finite_lags >= 50
    omega = np.linspace(0, np.pi, 50)
    ratio = estimate.spectral_density(omega) / process.spectral_density(omega)
    assert np.abs(ratio - 1).max() < 0.25


def test_default_lags_grow_with_correlation_and_stay_within_the_series():
    white = Autocovariance.from_series(White().simulate(1000, seed=1))
    assert white.finite_lags == 30
    slow = Autocovariance.from_series(ARMA([0.97]).simulate(1000, seed=1))
    assert 100 < slow.finite_lags < 1000
    assert Autocovariance.from_series(np.arange(10)).finite_lags == 9


@pytest.mark.parametrize(
    ("series", "options", "message"),
    [
        (range(5), {}, "`series` must have at least 10 values, got 5"),
        (np.full(20, 0.1), {}, "`series` must vary, got 20 times 0.1"),
        ([np.nan] * 20, {}, "`series` must be finite"),
        (range(20), {"lags": 20}, "`lags` must be at most T − 1 = 19, got 20"),
        (range(20), {"lags": 0}, "`lags` must be a positive integer"),
        (
            range(20),
            {"lags": 5, "taper": None},
            "`lags` = 5 without a taper cuts .*falls to .*keep all T − 1 = 19",
        ),
        (np.arange(20) * 1e200, {}, "`series` must have squares within the range of float64"),
    ],
)
def test_wrong_series(series, options, message):
    with pytest.raises(ValueError, match=message):
        Autocovariance.from_series(np.array(series), **options)
