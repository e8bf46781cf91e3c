"""Processes given by autocovariances, series, densities and text, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve import inputs
from memcurve.inputs import ARMA, Autocovariance, SpectralDensity, White
from refusals import refuses
from tolerances import AUTOCOVARIANCE, CLOSED_FORM


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
        refuses(ValueError, ("`values`", "ω = 1"), Autocovariance, gamma)


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


def test_callable_density_of_an_arma_process():
    process = ARMA([0.9, -0.3], [0.5])
    found = SpectralDensity(process.spectral_density)
    gamma = process.autocovariance(1000)
    np.testing.assert_allclose(found.autocovariance(1000), gamma, atol=AUTOCOVARIANCE * gamma[0])
    assert 50 < found.finite_lags < 200


def test_constant_densities_are_white():
    for density in (lambda w: 2.0, lambda w: np.full(w.shape, 2)):
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


def test_text():
    assert isinstance(inputs.parse(" white "), White)
    assert repr(inputs.parse("ar: 0.5, -0.3")) == "ARMA(ar=[0.5, -0.3], ma=[])"
    assert repr(inputs.parse("MA:0.5")) == "ARMA(ar=[], ma=[0.5])"
    assert repr(inputs.parse("arma:0.8,0.1/0.5")) == "ARMA(ar=[0.8, 0.1], ma=[0.5])"
    np.testing.assert_array_equal(inputs.parse("acov:1,0.5,0.25").values, [1, 0.5, 0.25])


@pytest.mark.parametrize("name", ["z.npy", "z.csv", "z.txt", "column.npy", "headed.csv"])
def test_series_in_files(tmp_path, name):
    series = ARMA([0.5]).simulate(300, seed=1)
    path = tmp_path / name
    if path.suffix == ".npy":
        np.save(path, series[:, None] if name == "column.npy" else series)
    else:
        np.savetxt(path, series, header="z" if name == "headed.csv" else "", comments="")
    found = inputs.parse(f"series:{path}")
    np.testing.assert_array_equal(found.values, Autocovariance.from_series(series).values)


SERIES = Autocovariance.from_series


@pytest.mark.parametrize(
    ("make", "given", "options", "facts"),
    [
        (Autocovariance, [], {}, ("`values`", "1", "0")),
        (Autocovariance, [0, 0], {}, "`values`"),
        (Autocovariance, [-1], {}, ("`values`", "-1")),
        (Autocovariance, [1, 0.2, 1.5], {}, ("`values`", "γ(2) = 1.5")),
        (Autocovariance, [1, np.inf], {}, ("`values`", "inf")),
        (Autocovariance, 1.0, {}, "`values`"),
        (Autocovariance, np.ones(20_002), {"taper": "bartlett"}, ("`values`", "20000", "20001")),
        (Autocovariance, 0.9 ** np.arange(21), {}, ("`values`", "taper='parzen'")),
        (Autocovariance, [1, 0.1], {"taper": "hann"}, ("`taper`", "'hann'")),
        (SERIES, range(5), {}, ("`series`", "10", "5")),
        (SERIES, np.full(20, 0.1), {}, ("`series`", "0.1")),
        (SERIES, [np.nan] * 20, {}, ("`series`", "nan")),
        (SERIES, range(20), {"lags": 20}, ("`lags`", "19", "20")),
        (SERIES, range(20), {"lags": 0}, ("`lags`", "0")),
        (SERIES, range(20), {"lags": 5, "taper": None}, "taper='parzen'"),
        (SERIES, np.arange(20) * 1e200, {}, ("`series`", "float64")),
        (SpectralDensity, lambda w: w, {}, ("`density`", "20000", "`lags`")),
        (SpectralDensity, lambda w: w < 1, {}, ("`density`", "20000", "`lags`")),
        (SpectralDensity, np.cos, {}, ("`density`", "-1", "ω = 3.14159")),
        (SpectralDensity, lambda w: 0 * w, {}, "`density`"),
        (SpectralDensity, lambda w: np.full_like(w, np.inf), {}, ("`density`", "inf")),
        (SpectralDensity, lambda w: w[:3], {}, ("`density`", "shape (3,)")),
        (SpectralDensity, lambda w: w, {"lags": 20_001}, ("`lags`", "20000", "20001")),
        *(
            (inputs.parse, text, {}, ("`input`", "series:FILE", repr(text)))
            for text in ("", "pink", "white:2", "ar", "ar:", "ar:x", "ar:0.5,,0.1", "arma:0.5/")
        ),
        (inputs.parse, "ar:1.5", {}, "`ar`"),
    ],
)
def test_what_is_no_input(make, given, options, facts):
    refuses(ValueError, facts, make, given, **options)


def test_unreadable_series(tmp_path):
    refuses(TypeError, "`density`", SpectralDensity, [1.0, 2.0])
    refuses(TypeError, ("`input`", "0.9"), inputs.parse, 0.9)
    missing = tmp_path / "none.csv"
    refuses(FileNotFoundError, ("`series`", str(missing)), inputs.parse, f"series:{missing}")
    for name, content in {
        "two.csv": b"a,b\n1,2\n",
        "sound.wav": b"RIFF\x00\xff",
        "a.npy": b"",
    }.items():
        (tmp_path / name).write_bytes(content)
        refuses(ValueError, ("`series`", name), inputs.parse, f"series:{tmp_path / name}")
