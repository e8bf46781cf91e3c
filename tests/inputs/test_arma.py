"""ARMA: closed forms, multiprecision next to the unit circle, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcurve.inputs import ARMA
from refusals import refuses
from tolerances import AUTOCOVARIANCE, DENSITY, EPS


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
