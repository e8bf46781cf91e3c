"""Errors of nonlinear tasks, against regressions and identities."""

from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import task_error
from memcurve.state_affine import (
    delayed_product,
    features,
    function_target,
    narma10,
)
from refusals import refuses
from word_oracle import drawn

NETWORK, LINE = drawn(6, 1), memcurve.ensembles.delay_line(4)


def test_a_word_alone_leaves_what_its_capacity_leaves() -> None:
    result = memcurve.capacities(NETWORK)
    for target, word in (
        (1, (0, 1)), ("product:0,2", (1, 0, 1)), ("parity:2", (1, 1)), (delayed_product(1), (0, 1)),
    ):  # fmt: skip
        assert abs(task_error(NETWORK, target).nmse - (1 - result.of(word))) < 1e-11
    c = 3 * result.tree.coefficient((1,)) + 4 * result.tree.coefficient((0, 1))
    for both in ({(1,): 3.0, (0, 1): 4.0}, [3.0, 4.0]):
        assert abs(task_error(NETWORK, both).nmse - (1 - c @ c / 25)) < 1e-11
    assert task_error(LINE, "product:1,2").nmse == 1
    assert task_error(LINE, {(0, 1): 2.0}).nmse < 1e-12


def test_a_network_teaches_itself() -> None:
    network, other = drawn(4, 2), drawn(5, 3)
    assert task_error(network, network).nmse < 1e-11
    z = np.random.default_rng(1).uniform(-1, 1, (200, 800))
    x, y = (n.simulate_replicas(z, 100).reshape(-1, n.size) for n in (network, other))
    x, y = x - x.mean(axis=0), y[:, 0] - y[:, 0].mean()
    rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
    assert abs(task_error(network, other).nmse - rest.var() / y.var()) < 0.005


def test_functions_of_inputs_are_expanded() -> None:
    """sin(1.5(a + b + c)) against a regression, and exactly by features that hold its words."""
    target = function_target(lambda a, b, c: np.sin(1.5 * (a + b + c)), 3, degree=9)
    assert target.missing < 1e-9
    exact = (1 - np.sin(3) ** 3 / 27) / 2  # E sin² = (1 − E cos 3(a+b+c))/2
    assert abs(target.variance - exact) < 1e-12
    line = memcurve.ensembles.delay_line(3)
    cubic = task_error(features(line, 3), target).nmse
    assert cubic < 0.2 * task_error(line, target).nmse
    by_words = sum(d * d for w, d in target.coefficients.items() if sum(w) <= 3)
    assert abs(cubic - (1 - by_words / target.variance)) < 1e-7


def test_narma10_stops_linear_networks() -> None:
    """The expansion leaves a hundredth; its linear part is what a long delay line solves."""
    assert 0 < narma10().missing < 0.02
    assert 0.13 < task_error(memcurve.ensembles.delay_line(70), narma10()).nmse < 0.15
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((40, 40)))[0]
    mask = np.random.default_rng(2).standard_normal(40)
    found = task_error(memcurve.LinearNetwork(0.95 * Q, mask), "narma10")
    assert len(found.target) > 50
    assert abs(found.nmse**0.5 - 0.4145) < 0.004  # of regressions, ± 0.0005
    assert abs(found.nmse - 0.4145**2) <= found.error


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        ("`input`", (lambda: task_error(NETWORK, 1, input="ar:0.9"),)),  # it is the network's
        ("`lags`", (delayed_product,)),
        ("`lags`", (delayed_product, 1, 1)),
        ("`target`", (task_error, NETWORK, {(1,): 0.0})),
        ("`target`", (task_error, NETWORK, "product:x")),
        ("`networks`", (task_error, NETWORK, NETWORK.replace(input="normal"))),
        ("`target`", (task_error, NETWORK.replace(input="normal"), "narma10")),
        ("`target`", (task_error, NETWORK, function_target(np.sin, 1, input="normal"))),
    ],
)
def test_bad_tasks(error: str, arguments: tuple[Any, ...]) -> None:
    refuses(ValueError, error, *arguments)
