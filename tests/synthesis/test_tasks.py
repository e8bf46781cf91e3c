"""Errors of linear tasks against the projection in multi-precision, and against capacities."""

from typing import Any

import flint
import numpy as np
import pytest
from scipy.signal import firwin

import memcurve
from memcurve import LinearNetwork, ensembles, memory_curve, task_error
from truth import gramian

NETWORK = ensembles.normal(30, spectral_radius=0.9, seed=1)
TARGETS: dict[str, Any] = {
    "delay": 25,
    "moving average": "average:40",
    "difference": [0.0] * 28 + [1.0, -1.0],
    "low pass": firwin(64, 0.2),
    "high pass": firwin(63, 0.7, pass_zero=False),
    "AR(1)": "ar:0.95",
    "ARMA": memcurve.inputs.ARMA(ar=[1.58, -0.81], ma=[0.4]),
}


def exact(network: LinearNetwork, h: Any, noise: float) -> float:
    """1 − g·(KKᵀ + s²)⁻¹g/‖h‖², g = Kh, with 400 digits."""
    with flint.ctx.workprec(1400):
        A, v = flint.arb_mat(network.A.tolist()), flint.arb_mat([[c] for c in network.C.tolist()])
        g = flint.arb_mat(network.size, 1)
        for weight in h.tolist():
            g += v * flint.arb(weight)
            v = (A * v).mid()
        G = gramian(network.A, network.C)
        for i in range(network.size):
            G[i, i] += flint.arb(noise) ** 2
        size = sum((flint.arb(w) ** 2 for w in h.tolist()), flint.arb(0))
        return float(1 - (g.transpose() * G.solve(g))[0, 0] / size)


@pytest.mark.parametrize("noise", [None, 1e-3, 1e-9])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_ten_digits(target: Any, noise: float | None) -> None:
    found = task_error(NETWORK, target, noise=noise)
    known = exact(NETWORK, found.target, noise or 0.0)
    assert abs(found.nmse - known) <= found.error + 1e-15
    assert found.error <= 1e-10 * max(found.nmse, 0.1)


def test_capacities_weighted_by_the_target_mislead() -> None:
    for name, errors in (("moving average", (0.024, 0.259)), ("high pass", (0.865, 0.734))):
        found = task_error(NETWORK, TARGETS[name])
        assert (round(found.nmse, 3), round(found.weighted, 3)) == errors


def test_of_one_delay_both_errors_are_the_same() -> None:
    for network in (NETWORK, (np.triu(np.full((5, 5), 1e3), 1), np.ones(5))):
        found = task_error(network, 2, noise=1e-3)
        assert abs(found.weighted - found.nmse) <= found.weighted_error + found.error
        assert found.weighted_error < 1e-9


@pytest.mark.parametrize(
    ("network", "options"),
    [
        (NETWORK, {"input": "ar:0.9"}),
        (NETWORK, {"input": "ar:0.9", "noise": 0.01}),
        (NETWORK.replace(readout=[0, 1, 2, 3]), {}),
        (NETWORK.replace(readout=[0, 1, 2, 3]), {"noise": 0.1}),
        (ensembles.sparse_normal(400, density=0.02, seed=1), {"noise": 0.1}),
        (LinearNetwork(np.diag([0.5 + 0.3j, 0.9j]), [1, 1]), {}),
        (LinearNetwork(np.diag([0.5, 0.5, 0.3]), [1, 1, 1]), {}),
        (ensembles.orthogonal(20, spectral_radius=0.9999, seed=1), {}),
        (ensembles.normal(20, spectral_radius=1 - 1e-9, seed=1), {"noise": 0.1}),
        (ensembles.normal(20, spectral_radius=1 - 1e-9, seed=1), {}),
    ],
)
@pytest.mark.parametrize("lag", [0, 8])
def test_delays_are_one_less_the_memory(network: LinearNetwork, options: Any, lag: int) -> None:
    found = task_error(network, lag, **options)
    curve = memory_curve(network, lag + 1, **options)
    assert abs(found.nmse - curve.loss[lag]) <= found.error + curve.error[lag] + 1e-13


@pytest.mark.parametrize("noise", [None, 0.1])
def test_several_inputs(noise: float | None) -> None:
    rng = np.random.default_rng(2)
    network = NETWORK.replace(C=rng.standard_normal((30, 3)))
    curve, h = memory_curve(network, 9, noise=noise), np.zeros((9, 3))
    h[8, 1] = 2.0
    found = task_error(network, h, noise=noise)
    assert abs(found.nmse - (1 - curve.channels[8, 1])) <= found.error + curve.error[8]


def test_a_delay_line_makes_no_error() -> None:
    assert task_error(ensembles.delay_line(10), "average:10").nmse == 0


def test_simulation_agrees() -> None:
    rng = np.random.default_rng(1)
    network = ensembles.normal(10, spectral_radius=0.8, seed=1)
    z = rng.standard_normal(40_000)
    X = network.simulate(z, 200) + 1e-2 * rng.standard_normal((39_800, 10))
    y = np.convolve(z, np.ones(12) / 12)[200:40_000]
    weights = np.linalg.lstsq(X, y, rcond=None)[0]
    simulated = np.mean((y - X @ weights) ** 2) / np.mean(y**2)
    assert simulated == pytest.approx(task_error(network, "average:12", noise=1e-2).nmse, rel=0.03)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e-310])
def test_targets_of_any_size(size: float) -> None:
    """The error is relative; squares of such coefficients are not floating-point numbers."""
    network = memcurve.ensembles.normal(6, spectral_radius=0.9, seed=1)
    scaled, plain = (memcurve.task_error(network, [h, h / 2]) for h in (size, 1.0))
    assert scaled.nmse == pytest.approx(plain.nmse, rel=1e-6)
    assert scaled.weighted == pytest.approx(plain.weighted, rel=1e-6)


def test_what_has_no_value_is_not_shown() -> None:
    network = ensembles.normal(6, spectral_radius=0.9, seed=1)
    coloured, energy = task_error(network, [1.0, 0.5], input="ar:0.5"), memcurve.control_energy
    assert np.isnan(coloured.weighted)
    for shown in (coloured, energy(network), memcurve.best_mask(network, 0.1, inputs=2)):
        assert "nan" not in f"{shown!r} {shown.verdict}"
