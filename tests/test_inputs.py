"""Input processes: γ, f and the draws belong together, and what is refused says why."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcurve import inputs
from memcurve.inputs import ARMA, Autocovariance, SpectralDensity, White
from tolerances import CLOSED_FORM, EPS

#: γ is rounded twice, and the closed forms a few times more.
GAMMA_ERROR = 8 * EPS
#: Products of at most ten rounded factors.
DENSITY_ERROR = 100 * EPS

PROCESSES = {
    "white": White(2.0),
    "ar": ARMA([0.5, -0.3, 0.2]),
    "near": ARMA([0.99]),
    "ma": ARMA(ma=[0.5, 1.5]),
    "arma": ARMA([1.2, -0.5], [0.4, -0.7, 0.2]),
    "acov": Autocovariance([4.0, 1.0, -0.5, 0.2]),
    "tapered": Autocovariance(0.9 ** np.arange(30), taper="parzen"),
    "callable": SpectralDensity(lambda w: np.exp(np.cos(w) + 0.5 * np.cos(3 * w))),
    "samples": SpectralDensity([5.0, 4.0, 2.0, 1.0, 0.5]),
    "smoothed": SpectralDensity(lambda w: w < 1, lags=20),
}


def every(process):
    return pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)(process)


# What holds for every process


@every
def test_density_is_the_fourier_series_of_the_autocovariance(process):
    """The trapezoidal rule integrates f e^{ikω} exactly once γ has died down: 4000 lags here."""
    size = 8192
    grid = 2 * np.pi * np.arange(size) / size
    gamma = np.fft.ifft(process.spectral_density(grid)).real[:100]
    scale = process.density_bounds()[1]
    np.testing.assert_allclose(gamma, process.autocovariance(100), atol=DENSITY_ERROR * scale)
    assert process.variance == process.autocovariance(1)[0]


@every
def test_bounds_enclose_the_density_and_are_attained(process):
    low, high = process.density_bounds()
    density = process.spectral_density(np.linspace(-np.pi, np.pi, 100_001))
    assert low <= density.min()
    assert density.max() <= high
    assert low == pytest.approx(density.min(), rel=1e-6, abs=1e-12 * high)
    assert high == pytest.approx(density.max(), rel=1e-6)


@every
def test_finite_lags_and_whiteness(process):
    gamma, lags = process.autocovariance(200), process.finite_lags
    assert process.is_white == (lags == 0)
    if lags is not None:
        assert not gamma[lags + 1 :].any()
        assert lags > 199 or gamma[lags] != 0


@every
def test_draws_have_the_autocovariance_from_the_first_value_on(process):
    """Channels are independent, so E z_s z_t has standard error √((γ(0)² + γ(s−t)²)/channels)."""
    count, channels = 9, 10_000
    series = process.simulate(count, seed=7, channels=channels)
    gamma = process.autocovariance(count)
    lags = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    error = np.sqrt((gamma[0] ** 2 + gamma[lags] ** 2) / channels)
    assert (np.abs(series @ series.T / channels - gamma[lags]) < 5 * error).all()
    assert (np.abs(series.mean(axis=1)) < 5 * np.sqrt(gamma[0] / channels)).all()
    crossed = (series[:, ::2] * series[:, 1::2]).mean(axis=1)
    assert (np.abs(crossed) < 5 * gamma[0] / np.sqrt(channels / 2)).all()


@every
def test_one_long_series_has_the_autocovariance(process):
    """Bartlett's formula: T Var γ̂(h) → Σ_k γ(k)² + γ(k + h) γ(k − h)."""
    count, reach = 50_000, 3000
    series = process.simulate(count, seed=3)
    assert series.shape == (count,)
    gamma = process.autocovariance(reach)
    two_sided = np.concatenate([gamma[:0:-1], gamma])
    for h in (0, 1, 5):
        shifted = two_sided[2 * h :] @ two_sided[: len(two_sided) - 2 * h]
        error = np.sqrt((two_sided @ two_sided + shifted) / count)
        assert abs(series[: count - h] @ series[h:] / count - gamma[h]) < 5 * error


@every
def test_seeds_repeat(process):
    first = process.simulate(20, seed=4, channels=2)
    np.testing.assert_array_equal(first, process.simulate(20, seed=4, channels=2))
    np.testing.assert_array_equal(
        first, process.simulate(20, seed=np.random.default_rng(4), channels=2)
    )
    assert process.simulate(1, seed=4, channels=1).shape == (1, 1)
    with pytest.raises(TypeError, match="`seed` must be an int"):
        process.simulate(3, seed=None)
    with pytest.raises(ValueError, match="`channels` must be a positive integer"):
        process.simulate(3, seed=1, channels=0)


@every
def test_processes_never_change(process):
    with pytest.raises(AttributeError):
        process.variance = 3.0
    for field in ("ar", "ma", "values"):
        if hasattr(process, field):
            with pytest.raises(ValueError, match="read-only"):
                getattr(process, field)[:1] = 0
    assert repr(process).startswith(type(process).__name__ + "(")


@every
def test_shapes_and_counts(process):
    assert process.spectral_density(0.5).shape == ()
    assert process.spectral_density(np.zeros((2, 3))).shape == (2, 3)
    assert process.autocovariance(1).shape == (1,)
    for count in (0, -1, 1.0, True):
        with pytest.raises(ValueError, match="`count` must be a positive integer"):
            process.autocovariance(count)
    with pytest.raises(ValueError, match="`frequencies` must be finite"):
        process.spectral_density([np.nan])
    with pytest.raises(TypeError, match="`frequencies` must be real"):
        process.spectral_density([1j])


def test_names():
    assert White().name == ARMA().name == "white"
    assert ARMA([0.9]).name == "AR(1) 0.9"
    assert ARMA(ma=[0.5]).name == "MA(1) 0.5"
    assert ARMA([0.5, -0.3]).name == "AR(2)"
    assert ARMA([0.5, -0.3], [1]).name == "ARMA(2, 1)"
    assert Autocovariance(np.r_[1, np.full(40, 0.01)]).name == "autocovariance of 40 lags"
    assert Autocovariance([2, 1]).name == "autocovariance of 1 lag"
    assert SpectralDensity([4, 2, 0]).name == "spectral density of 1 lag"


# ARMA


@pytest.mark.parametrize("weight", [0.5, -0.9, 0.999999, 1 - 2.0**-50, 1e-200])
def test_first_order_autoregression(weight):
    process = ARMA([weight])
    variance = 1 / ((1 - weight) * (1 + weight))
    closed = variance * weight ** np.arange(3000.0)
    np.testing.assert_allclose(process.autocovariance(3000), closed, atol=GAMMA_ERROR * variance)
    bounds = sorted([(1 - weight) ** -2, (1 + weight) ** -2])
    np.testing.assert_allclose(process.density_bounds(), bounds, rtol=DENSITY_ERROR)


@pytest.mark.parametrize("weight", [0.5, 1.0, -3.0])
def test_first_order_moving_average(weight):
    process = ARMA(ma=[weight, 0.0])
    np.testing.assert_allclose(
        process.autocovariance(4), [1 + weight**2, weight, 0, 0], rtol=GAMMA_ERROR
    )
    bounds = (1 - abs(weight)) ** 2, (1 + abs(weight)) ** 2
    np.testing.assert_allclose(process.density_bounds(), bounds, rtol=DENSITY_ERROR)


@given(
    reflections=st.lists(st.floats(-0.99, 0.99), min_size=1, max_size=6),
    ma=st.lists(st.floats(-3, 3), max_size=4),
)
def test_yule_walker(reflections, ma):
    """γ(k) = Σ_i ar_i γ(k − i) + Σ_j b_j ψ_{j−k}, with ψ the impulse response."""
    ar = np.empty(0)
    for reflection in reflections:
        ar = np.append(ar - reflection * ar[::-1], reflection)
    process = ARMA(ar, ma)
    ar, b = process.ar, np.r_[1, process.ma]
    psi = np.zeros(len(b))
    for j in range(len(b)):
        psi[j] = b[j] + sum(ar[i - 1] * psi[j - i] for i in range(1, min(j, len(ar)) + 1))
    gamma = process.autocovariance(30)
    for k in range(30):
        past = sum(ar[i] * gamma[abs(k - i - 1)] for i in range(len(ar)))
        driven = b[k:] @ psi[: max(0, len(b) - k)]
        size = (1 + np.abs(ar).sum()) * gamma[0] + np.abs(b).sum() * np.abs(psi).max()
        assert abs(gamma[k] - past - driven) < 20 * EPS * size


def multiprecision_autocovariance(ar, ma, count):
    """Solve the Yule–Walker equations in 600-bit arithmetic."""
    from flint import arb, arb_mat, ctx

    with ctx.workprec(600):
        ar = [arb(number) for number in ar.tolist()]
        b = [arb(1), *(arb(number) for number in ma.tolist())]
        psi, size = [], max(len(ar), len(b) - 1) + 1
        for j in range(len(b)):
            psi.append(b[j] + sum(a * psi[j - i] for i, a in enumerate(ar, 1) if i <= j))
        matrix, right = arb_mat(size, size), arb_mat(size, 1)
        for k in range(size):
            matrix[k, k] += 1
            for i, a in enumerate(ar, 1):
                matrix[k, abs(k - i)] -= a
            right[k, 0] = sum((b[j] * psi[j - k] for j in range(k, len(b))), start=arb(0))
        gamma = [value.mid() for value in matrix.solve(right).entries()]
        for k in range(size, count):
            gamma.append(sum((a * gamma[k - i] for i, a in enumerate(ar, 1)), start=arb(0)).mid())
        return np.array([float(value) for value in gamma[:count]])


def near_circle(rng, modulus, double):
    """Random AR weights, up to six, with a pair of roots of this modulus, simple or double."""
    pair = modulus * np.exp(1j * rng.uniform(0, np.pi) * np.array([1, -1]))
    others = rng.uniform(-modulus, modulus, rng.integers(0, 3))
    return -np.poly(np.concatenate([pair, pair if double else [], others])).real[1:]


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("modulus", [0.5, 0.99, 0.9999])
def test_arma_autocovariance_in_multiprecision(modulus, double):
    rng = np.random.default_rng(5)
    for _ in range(8):
        process = ARMA(near_circle(rng, modulus, double), rng.standard_normal(rng.integers(0, 5)))
        gamma = multiprecision_autocovariance(process.ar, process.ma, 300)
        error = np.abs(process.autocovariance(300) - gamma).max()
        assert error < GAMMA_ERROR * gamma[0]


def test_sharp_peaks_are_not_missed():
    """The peak of width 1e-6 lies between the points of any affordable grid."""
    gap, angle = 1e-6, 1.0
    process = ARMA([2 * (1 - gap) * np.cos(angle), -((1 - gap) ** 2)])
    peak = 1 / (gap**2 * np.abs(1 - (1 - gap) * np.exp(-2j * angle)) ** 2)
    assert process.density_bounds()[1] == pytest.approx(peak, rel=1e-5)
    grid = process.spectral_density(np.linspace(0, np.pi, 10_001))
    assert grid.max() < 0.01 * process.density_bounds()[1]
    near = process.spectral_density(angle + np.linspace(-1e-8, 1e-8, 2001))
    assert near.max() == pytest.approx(process.density_bounds()[1], rel=1e-4)


@pytest.mark.parametrize("ma", [[1], [-1], [0, 1], [2, 1], [2 * np.cos(1), 1], [1, 1, 1]])
def test_unit_roots_of_the_moving_average_give_zero(ma):
    process = ARMA([0.3], ma)
    assert process.density_bounds()[0] == 0
    almost = ARMA([0.3], np.array(ma) * (1 - 1e-6) ** np.arange(1, len(ma) + 1))
    assert 0 < almost.density_bounds()[0] < 1e-10


def test_parts_that_cancel_leave_white_noise():
    for process, variance in ((ARMA([0.5, 0.2], [-0.5, -0.2]), 1), (ARMA([0.5], [-2]), 4)):
        assert process.is_white
        assert process.density_bounds() == (variance, variance)
        np.testing.assert_array_equal(process.autocovariance(3), [variance, 0, 0])
        np.testing.assert_array_equal(process.spectral_density([0, 1]), [variance, variance])
    assert ARMA([0.0], [0.0]).is_white
    assert not ARMA([0.5], [-0.4]).is_white


def test_more_predictors_than_values():
    assert ARMA([0.1, 0.1, 0.1, 0.1]).simulate(2, seed=1).shape == (2,)


@pytest.mark.parametrize(
    ("ar", "modulus"),
    [
        ([1.0], "1;"),
        ([2.0], "2;"),
        ([0.5, 0.5], "1;"),
        ([1.8, -0.8], "1;"),
        ([0, 1.21], "1.1, 1.1;"),
    ],
)
def test_unstationary_autoregression(ar, modulus):
    pattern = r"`ar` must be stationary.*of modulus " + re.escape(modulus) + r".*shrinks every"
    with pytest.raises(ValueError, match=pattern):
        ARMA(ar)


def test_roots_are_judged_as_stored():
    """Neither the roots nor γ need float64 eigenvalues: the last bit decides."""
    assert ARMA([np.nextafter(1, 0)]).variance == pytest.approx(2.0**52, rel=1e-10)
    with pytest.raises(ValueError, match=r"modulus 1 \+ 2\.22e-16"):
        ARMA([np.nextafter(1, 2)])
    with pytest.raises(ValueError, match=r"modulus 1 \+ .*e-1\d, 1 \+"):
        ARMA([2 * np.cos(1), -np.nextafter(1, 2)])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"ar": 0.9}, ValueError, "`ar` must be a one-dimensional sequence .*in brackets"),
        ({"ma": [[1]]}, ValueError, "`ma` must be a one-dimensional"),
        ({"ar": [np.nan]}, ValueError, "`ar` must be finite"),
        ({"ma": [1j]}, TypeError, "`ma` must be real"),
        ({"ar": ["0.9"]}, TypeError, "`ar` must hold real"),
        ({"ma": np.ones(101)}, ValueError, "`ma` must have at most 100 weights, got 101"),
        ({"ma": [1e200]}, ValueError, "variance beyond the range of float64"),
    ],
)
def test_wrong_weights(arguments, error, message):
    with pytest.raises(error, match=message):
        ARMA(**arguments)


@pytest.mark.parametrize("variance", [0, -1, np.inf, "1", True])
def test_white_needs_a_variance(variance):
    with pytest.raises(ValueError, match="`variance` must be a finite number above 0"):
        White(variance)


# Autocovariance


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
        with pytest.raises(ValueError, match=r"times its maximum at frequency ω = 1;"):
            Autocovariance(gamma)


def test_errors_name_the_taper_that_mends():
    cut = 0.9 ** np.arange(21)
    with pytest.raises(ValueError, match=r"falls to -0\.\d+ times its maximum.*ω = ") as caught:
        Autocovariance(cut)
    assert "taper='bartlett') or Autocovariance(values, taper='parzen') mend it" in str(
        caught.value
    )
    with pytest.raises(ValueError, match=r"; Autocovariance\(values, taper='parzen'\) mends it"):
        Autocovariance([1, -0.8, 0.4, -0.8])
    with pytest.raises(ValueError, match=r"; neither taper.*mends it: check the numbers"):
        Autocovariance([1, 0, 1, 1, -1, 1, -1, 1, -1])
    with pytest.raises(ValueError, match=r"parzen'\) mends it"):
        Autocovariance([1, -0.8, 0.4, -0.8], taper="bartlett")
    with pytest.raises(ValueError, match=r"taper='parzen' does not mend it, nor does the other"):
        Autocovariance([1, 0, 1, 1, -1, 1, -1, 1, -1], taper="parzen")


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
        with pytest.raises(ValueError, match="`taper` must be one of bartlett, parzen; got 'hann'"):
            make(np.r_[1, np.zeros(20)], taper="hann")


# From a series


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


# Spectral density


def test_callable_density_of_an_arma_process():
    process = ARMA([0.9, -0.3], [0.5])
    found = SpectralDensity(process.spectral_density)
    gamma = process.autocovariance(1000)
    np.testing.assert_allclose(found.autocovariance(1000), gamma, atol=GAMMA_ERROR * gamma[0])
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
        assert SpectralDensity(density).variance == pytest.approx(2, rel=GAMMA_ERROR)


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


# Text


def test_parse():
    assert isinstance(inputs.parse(" white "), White)
    assert repr(inputs.parse("ar:0.9")) == "ARMA(ar=[0.9], ma=[])"
    assert repr(inputs.parse("ar: 0.5, -0.3")) == "ARMA(ar=[0.5, -0.3], ma=[])"
    assert repr(inputs.parse("MA:0.5")) == "ARMA(ar=[], ma=[0.5])"
    assert repr(inputs.parse("arma:0.8,0.1/0.5")) == "ARMA(ar=[0.8, 0.1], ma=[0.5])"
    np.testing.assert_array_equal(inputs.parse("acov:1,0.5,0.25").values, [1, 0.5, 0.25])


@pytest.mark.parametrize("name", ["z.npy", "z.csv", "z.txt", "column.npy", "headed.csv"])
def test_parse_series(tmp_path, name):
    series = ARMA([0.5]).simulate(300, seed=1)
    path = tmp_path / name
    if path.suffix == ".npy":
        np.save(path, series[:, None] if name == "column.npy" else series)
    else:
        np.savetxt(path, series, header="z" if name == "headed.csv" else "", comments="")
    found = inputs.parse(f"series:{path}")
    np.testing.assert_array_equal(found.values, Autocovariance.from_series(series).values)


@pytest.mark.parametrize(
    "text", ["", "pink", "white:2", "ar", "ar:", "ar:x", "ar:0.5,,0.1", "arma:0.5", "arma:0.5/"]
)
def test_unreadable_text_lists_the_forms(text):
    pattern = r"`input` must be one of the forms white, ar:0\.9, .*series:FILE; got "
    with pytest.raises(ValueError, match=pattern + re.escape(repr(text))):
        inputs.parse(text)


def test_unreadable_series(tmp_path):
    with pytest.raises(TypeError, match="`input` must be text"):
        inputs.parse(0.9)
    with pytest.raises(ValueError, match=r"`ar` must be stationary"):
        inputs.parse("ar:1.5")
    with pytest.raises(ValueError, match=r"`series` must be a \.npy, \.csv or \.txt file"):
        inputs.parse("series:z.wav")
    with pytest.raises(FileNotFoundError, match="`series` must be an existing file"):
        inputs.parse(f"series:{tmp_path / 'none.csv'}")
    path = tmp_path / "two.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="one number a line, got '1,2'"):
        inputs.parse(f"series:{path}")


def test_import_is_light():
    code = "import sys, memcurve.inputs; print({'scipy', 'flint'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
