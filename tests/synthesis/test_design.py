"""Curves to networks: what is reached, what is proven to be out of reach, and the realizations."""

from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import design, ensembles, memory_curve
from memcurve.synthesis.designing import least_gap
from memcurve.synthesis.fitting import CurveFit
from memcurve.synthesis.schur import banded, dense, schur_parameters
from refusals import refuses
from tolerances import DIFFERENCES, INPUT_NORMAL, REALIZED

#: Largest distances at n = 5, 10, 20, 50, 100 that are to be reached.
GAPS = {
    "exponential": {5: 0.040, 10: 0.026, 20: 0.016, 50: 0.0065, 100: 0.0053},
    "power": {5: 0.078, 10: 0.034, 20: 0.017, 50: 0.011, 100: 0.0081},
    "ramp": {5: 0.062, 10: 0.037, 20: 0.020, 50: 0.011, 100: 0.0059},
}


@pytest.mark.parametrize("curve", GAPS)
@pytest.mark.parametrize("size", [5, pytest.param(10, marks=pytest.mark.slow), 100])
def test_gaps(curve: str, size: int) -> None:
    made = design(curve, size)
    assert made.gap <= GAPS[curve][size]
    judged = memory_curve(made.network, len(made.wanted), method="certified")
    off = np.abs(judged.values - made.reached)
    assert np.all(off <= made.error + judged.error)
    assert judged.total == size


@pytest.mark.parametrize("realization", ["banded", "cascade", "dense"])
def test_realizations_have_the_curve_and_white_states(realization: str) -> None:
    made = design("ramp", 12, realization=realization)
    A, C = made.network.A, made.network.C
    np.testing.assert_allclose(A @ A.T + np.outer(C, C), np.eye(12), atol=INPUT_NORMAL)
    other = design("ramp", 12)
    np.testing.assert_allclose(made.reached, other.reached, atol=REALIZED)
    noisy = memory_curve(made.network, 30, noise=0.5)
    np.testing.assert_allclose(noisy.values, made.reached[:30] / 1.25, atol=REALIZED)


@pytest.mark.parametrize(
    ("size", "radius"), [(1, 0.5), (2, 0.9), (7, 0.9), (60, 0.95), (40, 0.9999)]
)
def test_schur_parameters_of_any_poles(size: int, radius: float) -> None:
    network = ensembles.normal(size, spectral_radius=radius, seed=size)
    known = memory_curve(network, 2 * size)
    schur = schur_parameters(memcurve.controllable_spectrum(network).poles)
    assert np.all(np.abs(schur[:-1]) < 1)
    assert abs(schur[-1]) == 1
    for realized in (banded, dense):
        A, C = realized(schur)
        found = memory_curve((A, C), 2 * size)
        np.testing.assert_allclose(found.values, known.values, atol=known.error.max() + REALIZED)
    assert np.count_nonzero(banded(schur)[1]) == 1
    assert np.count_nonzero(banded(schur)[0], axis=1).max() <= 4


def test_rounded_parameters_are_stable_where_rounded_weights_are_not() -> None:
    made = design("power", 30)
    for bits in (3, 8):
        small = made.rounded(bits)
        assert np.abs(small.poles).max() < 1
        assert np.all(small.schur[:-1] * 2 ** (bits - 1) % 1 == 0)
        assert memory_curve(small.network).total == 30
    assert made.rounded(8).gap < 0.1
    assert made.rounded(52).gap == pytest.approx(made.gap, abs=1e-9)
    refuses(ValueError, ("`bits`", "1"), made.rounded, 1)


def test_no_network_breaks_the_bound_of_two_jumps() -> None:
    """Curves of networks are at no distance from one; the textbook case is 1 − √3/2."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        size = int(rng.integers(1, 9))
        radius = float(rng.uniform(0.3, 0.99))
        network = ensembles.normal(size, spectral_radius=radius, seed=rng)
        assert least_gap(memory_curve(network, 60).values)[0] < 1e-9
    made = design([0.5] * 12 + [0.0] * 20, 6)
    assert made.least_gap == pytest.approx(1 - np.sqrt(3) / 2, abs=1e-9)
    assert made.least_gap <= made.gap
    assert {note.kind for note in made.notes} == {"proof"}


def test_step_is_a_delay_line() -> None:
    made = design("step", 9)
    assert made.gap == 0
    assert not made.notes
    assert np.array_equal(made.schur, [0.0] * 9 + [made.schur[-1]])


@pytest.mark.parametrize(
    "curve",
    [lambda lag: 0.8 ** (lag + 1), lambda lag: 0.8 ** (int(lag) + 1), 0.8 ** np.arange(1, 99)],
)
def test_functions_and_arrays(curve: Any) -> None:
    made = design(curve, 4)
    assert made.gap < 0.04
    np.testing.assert_allclose(made.wanted[:5], 0.8 ** np.arange(1, 6))


def test_jacobian() -> None:
    fit, rng = CurveFit(np.linspace(1, 0, 40)), np.random.default_rng(0)
    x, h = rng.normal(size=7) / 2, 1e-6
    _, J = fit.jacobian(x)
    for k in range(7):
        e = h * np.eye(7)[k]
        slope = (fit.residual(x + e) - fit.residual(x - e)) / (2 * h)
        np.testing.assert_allclose(J[k], slope, atol=DIFFERENCES / h * 1e-2)


@pytest.mark.parametrize(
    ("curve", "size", "facts"),
    [
        ([0.5, 0.6], 1, ("`curve`", "rise", "lag 1")),
        ([1.5, 0.5], 2, ("`curve`", "1.5")),
        ([0.5, -0.5], 1, ("`curve`", "-0.5")),
        ([1.0, 0.5], 4, ("`curve`", "sum", "1.5")),
        ([1.0] * 8, 4, ("`curve`", "sum", "size=8")),
        (0.5 ** np.arange(1, 60), 2, ("`curve`", "sum")),
        ([[1.0]], 1, ("`curve`", "shape")),
        ("flat", 3, ("`curve`", "exponential")),
        ("ramp", 0, ("`size`", "0")),
        ("ramp", 2000, ("`size`", "1000")),
    ],
)
def test_curves_that_no_network_has(curve: Any, size: int, facts: tuple[str, ...]) -> None:
    refuses(ValueError, facts, design, curve, size)


def test_terminals_draw_what_was_made() -> None:
    """They have room for one curve, the first of a chart."""
    small = memcurve.pruned(memcurve.ensembles.normal(40, seed=1), 0.1, 1e-2)
    assert memcurve.design("ramp", 4).chart().series[0].name == "reached"
    assert small.chart().series[0].name == "after"
