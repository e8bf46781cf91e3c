"""Predicted errors of nonlinear tasks, against regressions and identities."""

from __future__ import annotations

import numpy as np

import memcurve
from memcurve.state_affine import (
    StateAffineNetwork,
    delayed_product,
    features,
    function_target,
    narma10,
    predicted_error,
)
from refusals import refuses


def drawn(size: int, seed: int) -> StateAffineNetwork:
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, size, size)) / np.sqrt(size)
    return memcurve.bilinear(0.6 * A, 0.5 * B, rng.standard_normal(size), bias=0.2 * np.ones(size))


def test_a_word_alone_leaves_what_its_capacity_leaves() -> None:
    network = drawn(6, 1)
    result = memcurve.capacities(network)
    for lags, word in (((1,), (0, 1)), ((0, 2), (1, 0, 1))):
        found = predicted_error(network, delayed_product(*lags))
        assert abs(found.nmse - (1 - result.of(word))) < 1e-11
        assert found.low <= found.nmse <= found.high
    both = predicted_error(network, {(1,): 3.0, (0, 1): 4.0})
    c = 3 * result.tree.coefficient((1,)) + 4 * result.tree.coefficient((0, 1))
    assert abs(both.nmse - (1 - c @ c / 25)) < 1e-11


def test_a_network_teaches_itself() -> None:
    network = drawn(4, 2)
    assert predicted_error(network, network, output=1).nmse < 1e-11
    other = drawn(5, 3)
    found = predicted_error(network, other, output=0)
    z = np.random.default_rng(1).uniform(-1, 1, (200, 800))
    x, y = (n.simulate_replicas(z, 100).reshape(-1, n.size) for n in (network, other))
    x, y = x - x.mean(axis=0), y[:, 0] - y[:, 0].mean()
    rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    assert abs(found.nmse - rest.var() / y.var()) < 0.005


def test_functions_of_inputs_are_expanded() -> None:
    """sin(1.5(a + b + c)) against a regression, and exactly by features that hold its words."""
    target = function_target(lambda a, b, c: np.sin(1.5 * (a + b + c)), 3, degree=9)
    assert target.missing < 1e-9
    exact = (1 - np.sin(3) ** 3 / 27) / 2  # E sin² = (1 − E cos 3(a+b+c))/2
    assert abs(target.variance - exact) < 1e-12
    cubic = features(memcurve.ensembles.delay_line(3), 3)
    linear = predicted_error(memcurve.ensembles.delay_line(3), target).nmse
    assert predicted_error(cubic, target).nmse < 0.2 * linear
    by_words = sum(d * d for w, d in target.coefficients.items() if sum(w) <= 3)
    assert abs(predicted_error(cubic, target).nmse - (1 - by_words / target.variance)) < 1e-7


def test_narma10_stops_linear_networks() -> None:
    """The expansion leaves a hundredth; its linear part is what a long delay line solves."""
    target = narma10()
    assert 0 < target.missing < 0.02
    line = predicted_error(memcurve.ensembles.delay_line(70), target)
    assert 0.13 < line.nmse < 0.15
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((40, 40)))[0]
    mask = np.random.default_rng(2).standard_normal(40)
    found = predicted_error(memcurve.LinearNetwork(0.95 * Q, mask), target)
    assert abs(found.nrmse - 0.4145) < 0.004  # of regressions, ± 0.0005
    assert found.low <= 0.4145**2 <= found.high


def test_task_error_takes_nonlinear_targets_and_networks() -> None:
    network, line = drawn(6, 1), memcurve.ensembles.delay_line(4)
    result = memcurve.capacities(network)
    for target, word in (("product:0,2", (1, 0, 1)), ("parity:2", (1, 1)), (1, (0, 1))):
        assert abs(memcurve.task_error(network, target).nmse - (1 - result.of(word))) < 1e-11
    assert memcurve.task_error(line, "product:1,2").nmse == 1
    assert memcurve.task_error(line, {(0, 1): 2.0}).nmse < 1e-12
    found = memcurve.task_error(line, "narma10")
    assert found.nmse > 0.14
    assert len(found.target) > 50
    assert memcurve.task_error(network, network).nmse < 1e-11
    both = memcurve.task_error(network, [0.0, 3.0, 4.0]).nmse
    assert abs(both - predicted_error(network, {(0, 1): 3.0, (0, 0, 1): 4.0}).nmse) < 1e-12
    refuses(ValueError, "`target`", memcurve.task_error, network, "product:x")
    refuses(ValueError, "`input`", memcurve.task_error, network, 1, input="ar:0.9")


def test_bad_tasks() -> None:
    network = drawn(2, 1)
    refuses(ValueError, "`lags`", delayed_product)
    refuses(ValueError, "`lags`", delayed_product, 1, 1)
    refuses(ValueError, "`target`", predicted_error, network, {(1,): 0.0})
    refuses(ValueError, ("`output`", "1"), predicted_error, network, network, output=2)
    refuses(ValueError, "`networks`", predicted_error, network, network.replace(input="normal"))
