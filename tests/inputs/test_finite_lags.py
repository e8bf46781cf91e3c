"""Processes given by autocovariances, series and text, and what is none."""

import numpy as np
import pytest

from memcurve import inputs
from memcurve.inputs import ARMA, Autocovariance, White
from refusals import refuses
from tolerances import CLOSED_FORM


def test_taper():
    """Weights w(k/(M+1)) of M = 3, by hand."""
    gamma = np.array([1.0, 0.1, 0.1, 0.1])
    quarter = 1 - 6 / 16 + 6 / 64
    tapered = Autocovariance(gamma, taper="parzen").values / gamma
    np.testing.assert_allclose(tapered, [1, quarter, 1 / 4, 2 / 64], rtol=CLOSED_FORM)


@pytest.mark.parametrize("lags", [1, 2, 7, 40])
def test_the_taper_is_non_negative_definite(lags):
    """The extreme case γ = 1, whose density is the taper's own transform."""
    assert Autocovariance(np.ones(lags + 1), taper="parzen").density_bounds()[0] >= 0


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
    tapered = Autocovariance.from_series(series, 10).values
    expected = Autocovariance(direct[:11], taper="parzen").values
    np.testing.assert_allclose(tapered, expected, atol=CLOSED_FORM)


def test_estimates_find_the_process():
    process = ARMA([0.7], [0.4])
    estimate = Autocovariance.from_series(process.simulate(100_000, seed=1))
    assert estimate.finite_lags >= 50
    cosines = 2 * np.cos(np.outer(np.linspace(0, np.pi, 50), np.arange(500)))
    densities = [cosines @ one.autocovariance(500) - one.variance for one in (estimate, process)]
    assert np.abs(densities[0] / densities[1] - 1).max() < 0.25


def test_default_lags_grow_with_correlation_and_stay_within_the_series():
    white = Autocovariance.from_series(White().simulate(1000, seed=1))
    assert white.finite_lags == 30
    slow = Autocovariance.from_series(ARMA([0.97]).simulate(1000, seed=1))
    assert 100 < slow.finite_lags < 1000
    assert Autocovariance.from_series(np.arange(10)).finite_lags == 9


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


def test_unreadable_series(tmp_path):
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
