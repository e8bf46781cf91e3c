"""Valid recordings of ten kinds of input: how often the checks find something that is not true.

``pytest -m slow tests/data/test_false_alarms.py`` counts 20,000 recordings, with ``-n`` on as many
cores; the seed is not one that any rule of the checks was found with.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from data_scenarios import INPUTS, Floats
from memcurve import NonlinearNetwork, check_recording, ensembles

ROWS, WASHOUT = 1000, 300
BATCHES, EACH = 20, 100
SEED = 2030
#: A valid recording has an error or a warning that is not true of it at most once in 2,000: of as
#: many, more alarms than this come up in less than one of 200 counts.
MOST = 4


def coloured(rng: np.random.Generator, shape: Any) -> Floats:
    """Autoregressions of order one."""
    return np.asarray(lfilter([1], [1, -rng.uniform(-0.8, 0.8)], rng.standard_normal(shape)))


def levels(rng: np.random.Generator, shape: Any) -> Floats:
    """Gaussian numbers of four bits."""
    return np.round(rng.standard_normal(shape) * 2) / 2


KINDS: dict[str, Any] = {name: INPUTS[name] for name in list(INPUTS)[:7]} | {
    "coloured": coloured,
    "three inputs": INPUTS["white"],
    "quantised": levels,
}
#: What is true of these inputs, and of small networks that lose a direction.
TRUE = {
    "t3": {"heavy_tails"},
    "t5": {"heavy_tails"},
    "exponential": {"heavy_tails"},
    "coloured": {"coloured"},
}
TRUE_OF_STATES = {"rank_deficient"}


def false_alarms(kind: str, batch: int, count: int = EACH) -> dict[int, list[str]]:
    """Errors and warnings that are not true of valid recordings, by the recording's number."""
    rng = np.random.default_rng([SEED, list(KINDS).index(kind), batch])
    size, scale = (10, 20, 50)[batch % 3], (0.1, 0.5, 2.0)[batch // 3 % 3]
    network = ensembles.normal(size, spectral_radius=0.9, seed=batch)
    inputs = 3 if kind == "three inputs" else 1
    mask = rng.standard_normal((size, inputs)) if inputs > 1 else network.C
    activation = "identity" if batch % 2 else "tanh"
    driven = NonlinearNetwork(network.A, mask, activation=activation, input_scale=scale)
    z = KINDS[kind](rng, (count, inputs, WASHOUT + ROWS)).transpose(0, 2, 1)
    states = driven.simulate_replicas(z)[:, WASHOUT:]
    if kind == "quantised":  # a converter of twelve bits
        step = 2 * np.abs(states).max() / 2**12
        states = step * np.round(states / step)
    alarms = {}
    for k in range(count):
        findings = check_recording(states[k], z[k, WASHOUT:])
        names = {one.name for one in findings if one.level != "info"}
        if false := names - TRUE.get(kind, set()) - TRUE_OF_STATES:
            alarms[k] = sorted(false)
    return alarms


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_valid_recordings(kind: str) -> None:
    assert not false_alarms(kind, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_valid_recordings_raise_no_alarm(kind: str, held: Callable[..., None]) -> None:
    found = {batch: alarms for batch in range(BATCHES) if (alarms := false_alarms(kind, batch))}
    count, drawn = sum(map(len, found.values())), BATCHES * EACH
    print(kind, found)
    held(f"{kind} input: false alarms", count / drawn, at_most=MOST / drawn, draws=drawn)
