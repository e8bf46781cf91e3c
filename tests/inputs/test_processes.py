"""Input processes: what holds for all, ARMA in many digits, autocovariances, series and text."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import ended, succeeded
from memcurve import inputs
from memcurve.inputs import ARMA, Autocovariance, White
from refusals import refuses
from tolerances import AUTOCOVARIANCE, CLOSED_FORM, DENSITY, EPS

PROCESSES = {
    "white": White(2.0),
    "ar": ARMA([0.5, -0.3, 0.2]),  # whose order is above some counts below
    "near": ARMA([0.99]),
    "ma": ARMA(ma=[0.5, 1.5]),
    "arma": ARMA([1.2, -0.5], [0.4, -0.7, 0.2]),
    "acov": Autocovariance([4.0, 1.0, -0.5, 0.2]),
    "tapered": Autocovariance(0.9 ** np.arange(30), taper="parzen"),
}


def density(process, omega):
    """The spectral density, from weights or autocovariances."""
    turns = np.exp(-1j * np.asarray(omega))
    if isinstance(process, ARMA):
        top, bottom = np.r_[1, process.ma], np.r_[1, -process.ar]
        return np.abs(np.polyval(top[::-1], turns) / np.polyval(bottom[::-1], turns)) ** 2
    return 2 * np.polyval(process.values[::-1], turns).real - process.values[0]


def every(process):
    return pytest.mark.parametrize("process", PROCESSES.values(), ids=PROCESSES)(process)


@every
def test_density_is_the_fourier_series_of_the_autocovariance(process):
    """The trapezoidal rule integrates f e^{ikω} exactly once γ has died down: 4000 lags here."""
    size = 8192
    grid = 2 * np.pi * np.arange(size) / size
    gamma = np.fft.ifft(density(process, grid)).real[:100]
    scale = process.density_bounds()[1]
    np.testing.assert_allclose(gamma, process.autocovariance(100), atol=DENSITY * scale)
    assert process.variance == process.autocovariance(1)[0]


@every
def test_bounds_enclose_the_density_and_are_attained(process):
    low, high = process.density_bounds()
    values = density(process, np.linspace(-np.pi, np.pi, 100_001))
    assert low <= values.min() + DENSITY * high
    assert values.max() <= high * (1 + DENSITY)
    assert low == pytest.approx(values.min(), rel=1e-6, abs=1e-12 * high)
    assert high == pytest.approx(values.max(), rel=1e-6)


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
    assert process.simulate(2, seed=4).shape == (2,)


@every
def test_processes_never_change(process):
    with pytest.raises(AttributeError):
        process.variance = 3.0
    for field in ("ar", "ma", "values"):
        if hasattr(process, field):
            assert not getattr(process, field).flags.writeable
    assert repr(process).startswith(type(process).__name__ + "(")


def test_names():
    assert White().name == ARMA().name == "white"
    assert ARMA([0.9]).name == "AR(1) 0.9"
    assert ARMA(ma=[0.5]).name == "MA(1) 0.5"
    assert ARMA([0.5, -0.3]).name == "AR(2)"
    assert ARMA([0.5, -0.3], [1]).name == "ARMA(2, 1)"
    assert Autocovariance(np.r_[1, np.full(40, 0.01)]).name == "autocovariance of 40 lags"
    assert Autocovariance([2, 1]).name == "autocovariance of 1 lag"


def test_import_is_light():
    modules = "inputs inputs.noise network.ensembles network.nonlinear network.diagonal".split()
    code = f"import sys, {', '.join('memcurve.' + module for module in modules)}\n"
    code += "print({'scipy', 'flint', 'pydantic'} & set(sys.modules))"
    assert succeeded(ended([sys.executable, "-c", code])).out.strip() == "set()"


@pytest.mark.parametrize("weight", [0.5, -0.9, 0.999999, 1 - 2.0**-50, 1e-200])
def test_first_order_autoregression(weight):
    process = ARMA([weight])
    variance = 1 / ((1 - weight) * (1 + weight))
    closed = variance * weight ** np.arange(3000.0)
    np.testing.assert_allclose(process.autocovariance(3000), closed, atol=AUTOCOVARIANCE * variance)
    bounds = sorted([(1 - weight) ** -2, (1 + weight) ** -2])
    np.testing.assert_allclose(process.density_bounds(), bounds, rtol=DENSITY)


@pytest.mark.parametrize("weight", [0.5, 1.0, -3.0])
def test_first_order_moving_average(weight):
    process = ARMA(ma=[weight, 0.0])
    np.testing.assert_allclose(
        process.autocovariance(4), [1 + weight**2, weight, 0, 0], rtol=AUTOCOVARIANCE
    )
    bounds = (1 - abs(weight)) ** 2, (1 + abs(weight)) ** 2
    np.testing.assert_allclose(process.density_bounds(), bounds, rtol=DENSITY)


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
        assert error < AUTOCOVARIANCE * gamma[0]


def test_sharp_peaks_are_not_missed():
    """The peak of width 1e-6 lies between the points of any affordable grid."""
    gap, angle = 1e-6, 1.0
    process = ARMA([2 * (1 - gap) * np.cos(angle), -((1 - gap) ** 2)])
    peak = 1 / (gap**2 * np.abs(1 - (1 - gap) * np.exp(-2j * angle)) ** 2)
    assert process.density_bounds()[1] == pytest.approx(peak, rel=1e-5)


@pytest.mark.parametrize("ma", [[1], [-1], [0, 1], [2, 1], [2 * np.cos(1), 1], [1, 1, 1]])
def test_unit_roots_of_the_moving_average_give_zero(ma):
    process = ARMA([0.3], ma)
    assert process.density_bounds()[0] == 0
    almost = ARMA([0.3], np.array(ma) * (1 - 1e-6) ** np.arange(1, len(ma) + 1))
    assert 0 < almost.density_bounds()[0] < 1e-10


def test_roots_are_judged_as_stored():
    """Neither the roots nor γ need float64 eigenvalues: the last bit decides."""
    assert ARMA([np.nextafter(1, 0)]).variance == pytest.approx(2.0**52, rel=1e-10)
    refuses(ValueError, ("`ar`", "1.0000000000000002"), ARMA, [np.nextafter(1, 2)])
    refuses(ValueError, "`ar`", ARMA, [2 * np.cos(1), -np.nextafter(1, 2)])


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
