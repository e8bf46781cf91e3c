"""What cannot be answered is refused, with the argument, the value and the rule."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import LinearNetwork, ensembles
from refusals import refuses

NETWORK = ensembles.normal(10, spectral_radius=0.9, seed=1)
RING = LinearNetwork(np.eye(3)[[1, 2, 0]], [1.0, 0.5, 0.2])
WITH_NOISE: dict[str, Callable[..., Any]] = {
    "mask": memcurve.best_mask,
    "readout": lambda network, noise: memcurve.best_readout(network, noise, 2),
    "pruned": memcurve.pruned,
    "information": memcurve.information,
    "improvement": memcurve.improvement,
    "whitened": lambda network, noise: memcurve.whitened(network, [noise]),
    "task": lambda network, noise: memcurve.task_error(network, 1, noise=noise),
}
WAYS: dict[str, Callable[[Any], Any]] = {
    "control energy": memcurve.control_energy,
    "Hankel values": memcurve.hankel_values,
    "plain task": lambda network: memcurve.task_error(network, 1),
    **{name: lambda network, way=way: way(network, 0.1) for name, way in WITH_NOISE.items()},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_networks_that_grow_or_hear_nothing(way: Callable[[Any], Any]) -> None:
    for unstable in (NETWORK.replace(A=2 * NETWORK.A), RING):
        refuses(memcurve.UnstableNetworkError, (), way, unstable)
    if way not in (WAYS["mask"], WAYS["improvement"]):  # which find one that is heard
        refuses(ValueError, "`network`", way, NETWORK.replace(C=np.zeros(10)))


@pytest.mark.parametrize("name", WITH_NOISE)
@pytest.mark.parametrize("noise", [0, -1.0, 1e-300, 1e300])
def test_noise_has_a_level(name: str, noise: float) -> None:
    if name == "task" and noise == 0:
        return  # is none
    argument = "`levels`" if name == "whitened" else "`noise`"
    refuses(ValueError, (argument, f"{noise:g}"), WITH_NOISE[name], NETWORK, noise)


def test_numbers_of_numpy_are_shown_as_numbers() -> None:
    refuses(ValueError, "got 1e-153.", memcurve.pruned, NETWORK, np.float64(1e-153))
    refuses(ValueError, "got 0;", memcurve.best_readout, NETWORK, 0.1, np.int64(0))


TWO = NETWORK.replace(C=np.ones((10, 2)))


@pytest.mark.parametrize(
    ("facts", "call", "arguments", "options"),
    [
        (("`count`", "10", "11"), memcurve.best_readout, (0.1, 11), {}),
        (("`count`", "0"), memcurve.best_readout, (0.1, 0), {}),
        (("`nodes`", "70"), memcurve.best_mask, (0.1,), {"nodes": [70]}),
        (("`lags`", "1,000,000"), memcurve.best_mask, (0.1,), {"lags": [10**6]}),
        (("`lags`", "-1"), memcurve.best_mask, (0.1,), {"lags": [-1]}),
        (("`tolerance`", "2"), memcurve.pruned, (0.1, 2), {}),
        (("`target`", "10"), memcurve.control_energy, ([1.0],), {}),
        (("`output`", "10"), memcurve.hankel_values, ([1.0],), {}),
        (("`output`", "zero"), memcurve.hankel_values, ([0.0] * 10,), {}),
        (("`target`", "'foo'"), memcurve.task_error, ("foo",), {}),
        *[("`target`", memcurve.task_error, (target,), {})
          for target in ([0.0, 0.0], [[1.0, 2.0]], -1, "average:0", "ar:0.99999999")],
    ],
)  # fmt: skip
def test_arguments(facts: Any, call: Callable[..., Any], arguments: Any, options: Any) -> None:
    refuses(ValueError, facts, call, NETWORK, *arguments, **options)


def test_inputs_and_readouts_that_do_not_go_together() -> None:
    for target in (3, "average:4", [1.0, 2.0]):
        refuses(ValueError, ("`target`", "2"), memcurve.task_error, TWO, target)
    for way in (memcurve.whitened, WAYS["mask"]):
        refuses(ValueError, "`network`", way, NETWORK.replace(readout=[1]))
    refuses(ValueError, ("`count`", "4", "5"), memcurve.best_readout,
            NETWORK.replace(readout=[3, 5, 7, 9]), 0.1, 5)  # fmt: skip
    refuses(ValueError, ("`inputs`", "0"), memcurve.best_mask, NETWORK, 0.1, inputs=0)
    refuses(ValueError, ("`realization`", "banded"), memcurve.design, "ramp", 3, realization="ring")
    turning = LinearNetwork(np.diag([0.5j, 0.3]), [1, 1])
    refuses(ValueError, "`network`", memcurve.best_readout, turning, 0.1, 1)
