"""Layers on layers: one big network that does what they do one after the other."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from memcurve import LinearNetwork, ensembles, memory_curve
from memcurve.network.ensembles import stacked
from tolerances import CLOSED_FORM, USABLE
from truth import truth


def layer(size: int, width: int, seed: int, **parts: Any) -> LinearNetwork:
    """A layer of ``size`` nodes above one of ``width`` nodes."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((size, width)) / np.sqrt(width)
    return ensembles.normal(size, seed=seed, spectral_radius=0.7).replace(C=C, **parts)


def one_after_the_other(
    layers: list[LinearNetwork], z: np.ndarray, delayed: bool
) -> list[np.ndarray]:
    """States of every layer, each simulated by itself from those of the one below."""
    signals, states = z, []
    for k, this in enumerate(layers):
        if k > 0 and delayed:
            signals = np.vstack([np.zeros_like(signals[:1]), signals[:-1]])
        signals = this.simulate(signals)
        states.append(signals)
    return states


SPARSE = layer(4, 5, 2).replace(A=csr_array(layer(4, 5, 2).A))


@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize(
    "layers",
    [
        [layer(5, 1, 1), layer(4, 5, 2), layer(6, 4, 3)],
        [layer(5, 2, 1), layer(4, 5, 2), layer(6, 4, 3)],
        [layer(5, 1, 1, shift=np.arange(5.0)), SPARSE, layer(3, 4, 3, shift=np.ones(3))],
    ],
    ids=["one input", "two inputs", "shifts and sparse"],
)
def test_simulated_layer_by_layer(layers: list[LinearNetwork], delayed: bool) -> None:
    whole = stacked(layers, delayed=delayed)
    assert (whole.size, whole.inputs) == (sum(a.size for a in layers), layers[0].inputs)
    z = np.random.default_rng(4).standard_normal((60, whole.inputs))
    known = np.hstack(one_after_the_other(layers, z, delayed))
    assert np.abs(whole.simulate(z) - known).max() <= CLOSED_FORM * np.abs(known).max()


@pytest.mark.parametrize("delayed", [False, True])
def test_complex_layers(delayed: bool) -> None:
    """A complex layer is driven by complex states, which the real pair carries."""
    rng = np.random.default_rng(6)
    bottom = ensembles.lru_ring(4, seed=1, radius_min=0.3, radius_max=0.8)
    C = rng.standard_normal((3, 4)) + 1j * rng.standard_normal((3, 4))
    top = LinearNetwork(0.5 * np.eye(3) + 0.1j * np.eye(3, k=1), C)
    whole = stacked([bottom, top], delayed=delayed)
    z = rng.standard_normal(30)
    below, above, known = np.zeros(4, complex), np.zeros(3, complex), []
    for value in z:
        before = below
        below = bottom.A @ below + bottom.C.reshape(-1) * value
        above = top.A @ above + C @ (before if delayed else below)
        known.append(np.concatenate([below, above]))
    known = np.array(known)
    assert np.abs(whole.simulate(z) - np.hstack([known.real, known.imag])).max() <= CLOSED_FORM * 10


def test_one_layer_is_itself() -> None:
    network = ensembles.normal(6, seed=7).replace(notes=["drawn"])
    whole = stacked([network])
    assert whole.notes == network.notes
    assert np.array_equal(whole.A, network.A)
    assert np.array_equal(whole.C, network.C)


def test_delay_lines_on_top_of_each_other() -> None:
    """The top register goes on where the one below ends: with its last value, or one later."""
    bottom = ensembles.delay_line(3)
    top = LinearNetwork(np.eye(4, k=-1), np.outer(np.eye(4)[0], np.eye(3)[2]))
    at_once, later = stacked([bottom, top]), stacked([bottom, top], delayed=True)
    assert np.array_equal(memory_curve(at_once, 9).values, np.repeat([1.0, 0], [6, 3]))
    assert np.array_equal(memory_curve(later, 9).values, np.repeat([1.0, 0], [7, 2]))
    above = np.arange(3, 7)
    seen = memory_curve(at_once.replace(readout=above), 9).values
    assert np.array_equal(seen, np.repeat([0.0, 1.0, 0.0], [2, 4, 3]))
    seen = memory_curve(later.replace(readout=above), 9).values
    assert np.array_equal(seen, np.repeat([0.0, 1.0, 0.0], [3, 4, 2]))


@pytest.mark.parametrize("delayed", [False, True])
def test_the_top_layer_against_the_truth(delayed: bool) -> None:
    whole = stacked([layer(6, 1, 8), layer(5, 6, 9)], delayed=delayed)
    top = list(range(6, 11))
    curve = memory_curve(whole.replace(readout=top), 30)
    known = truth(whole.A, whole.C, 30, readout=top)
    assert np.abs(curve.channels - known.memory).max() <= USABLE
    assert curve.total == 5
    assert memory_curve(whole).total == 11
    if delayed:
        assert curve[0] == pytest.approx(0, abs=USABLE)  # the input has not arrived there yet
