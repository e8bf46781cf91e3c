"""What holds for every input process: γ, f and the draws belong together."""

import subprocess
import sys

import numpy as np
import pytest

from memcurve.inputs import ARMA, Autocovariance, White
from tolerances import DENSITY

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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
