"""NonlinearNetwork: its recursion, its replicas, and the linear network it is for small inputs."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

import tolerances
from adapted import leaky_states
from memcurve import LinearNetwork, NonlinearNetwork, UnstableNetworkError, ensembles, masks
from memcurve.network import nonlinear
from refusals import refuses

LINEAR = ensembles.normal(12, spectral_radius=0.8, seed=1)
A, C = LINEAR.A, LINEAR.C
RNG = np.random.default_rng(5)
Z = RNG.uniform(-1, 1, 200)
SHIFT = RNG.uniform(-0.5, 0.5, 12)


@pytest.mark.parametrize(
    ("options", "f"),
    [
        ({}, np.tanh),
        ({"leak": 0.3, "input_scale": 2.5}, np.tanh),
        ({"shift": SHIFT, "activation": "relu"}, lambda x: np.maximum(x, 0)),
        ({"activation": "identity", "leak": 0.7}, lambda x: x),
        ({"shift": SHIFT, "leak": np.linspace(0.2, 1, 12), "input_scale": 0.7}, np.tanh),
        ({"activation": np.sin, "shift": SHIFT}, np.sin),
    ],
)
def test_simulation_is_the_formula(options: dict, f: object) -> None:
    for matrix, mask, z in (
        (A, C, Z),
        (csr_array(A), C, Z),
        (A, masks.normal(12, seed=2, inputs=3), RNG.uniform(-1, 1, (50, 3))),
    ):
        network = NonlinearNetwork(matrix, mask, **options)
        Win = options.get("input_scale", 1.0) * mask.reshape(12, -1)
        given = options.get("leak", 1.0), options.get("shift", 0.0)
        expected = leaky_states(matrix, Win, z.reshape(len(z), -1), *given, f)
        assert np.abs(network.simulate(z) - expected).max() < tolerances.CLOSED_FORM
        assert np.array_equal(network.simulate(z, 20), network.simulate(z)[20:])


def test_replicas_are_single_simulations() -> None:
    for mask, shape in (
        (C, (5, 60)),
        (C, (5, 60, 1)),
        (masks.normal(12, seed=1, inputs=2), (5, 60, 2)),
    ):
        network = NonlinearNetwork(A, mask, leak=0.5, shift=SHIFT)
        z = RNG.uniform(-1, 1, shape)
        together = network.simulate_replicas(z, 10)
        assert together.shape == (5, 50, 12)
        for series, states in zip(z, together, strict=True):
            assert np.abs(network.simulate(series, 10) - states).max() < tolerances.CLOSED_FORM


@pytest.mark.parametrize("leak", [1.0, 0.4])
def test_small_inputs_are_linear(leak: float) -> None:
    """States divided by the scale differ from the linear ones by O(scale²), as tanh is odd."""
    network = NonlinearNetwork(A, C, leak=leak)
    linear = network.linearised().simulate(Z)
    off = [
        np.abs(dataclasses.replace(network, input_scale=s).simulate(Z) / s - linear).max()
        for s in (0.04, 0.02, 0.01)
    ]
    assert off[-1] < 1e-3
    for larger, smaller in itertools.pairwise(off):
        assert abs(np.log2(larger / smaller) - 2) < tolerances.ORDER


def test_small_inputs_about_another_fixed_point() -> None:
    """With a shift the states settle elsewhere; the error is then O(scale)."""
    network = NonlinearNetwork(0.5 * A, C, shift=SHIFT)
    rest = network.fixed_point()
    assert np.abs(np.tanh(0.5 * A @ rest + SHIFT) - rest).max() < tolerances.WHOLE_SUM
    late = slice(100, None)  # from rest, both first settle
    off = []
    for scale in (2e-3, 1e-3):
        small = dataclasses.replace(network, input_scale=scale)
        off.append(np.abs(small.simulate(Z) - small.linearised().simulate(Z))[late].max() / scale)
    assert off[0] < 1e-2
    assert abs(np.log2(off[0] / off[1]) - 1) < tolerances.ORDER


def test_linearised_is_the_chain_rule() -> None:
    plain = NonlinearNetwork(A, C, input_scale=3.0, name="net").linearised()
    assert isinstance(plain, LinearNetwork)
    assert plain.name == "net"
    assert [note.kind for note in plain.notes] == ["network"]
    assert np.array_equal(plain.A, A)
    assert np.array_equal(plain.C, 3 * C)
    assert plain.shift is None
    leaky = NonlinearNetwork(A, C, leak=0.25).linearised()
    assert np.abs(leaky.A - (0.75 * np.eye(12) + 0.25 * A)).max() < tolerances.CLOSED_FORM
    assert np.abs(leaky.C - 0.25 * C).max() < tolerances.CLOSED_FORM
    sparse = NonlinearNetwork(csr_array(A), C, leak=0.25, shift=SHIFT).linearised()
    dense = NonlinearNetwork(A, C, leak=0.25, shift=SHIFT).linearised()
    assert sparse.is_sparse
    assert np.abs(sparse.A.toarray() - dense.A).max() < tolerances.CLOSED_FORM
    own = NonlinearNetwork(A, C, activation=lambda x: np.tanh(x), leak=0.25, shift=SHIFT)
    assert np.abs(own.linearised().A - dense.A).max() < tolerances.DIFFERENCES
    above = NonlinearNetwork(np.abs(A) / 4, C, activation="relu", shift=np.ones(12)).linearised()
    assert np.abs(above.A - np.abs(A) / 4).max() < tolerances.CLOSED_FORM
    several = NonlinearNetwork(A, np.ones((12, 2)), shift=SHIFT).linearised()
    assert several.inputs == 2


def test_no_linear_limit(monkeypatch) -> None:
    monkeypatch.setattr(nonlinear, "MOST_STEPS", 3000)
    kinked = NonlinearNetwork(A, C, activation="relu")
    refuses(ValueError, ("`activation`", "relu", "`shift`"), kinked.linearised)
    flip = NonlinearNetwork([[-3.0]], [1.0], shift=[1.0])
    grows = NonlinearNetwork([[2.0]], [1.0], shift=[1.0], activation="identity")
    for network in (flip, grows):
        refuses(UnstableNetworkError, "3000", network.linearised)


def test_frozen_and_described() -> None:
    network = NonlinearNetwork(A, C, name="small", leak=0.5, input_scale=2)
    said = "NonlinearNetwork('small', size=12, inputs=1, tanh, leak=0.5, input_scale=2)"
    assert repr(network) == said
    assert "own activation, sparse" in repr(NonlinearNetwork(csr_array(A), C, activation=np.sin))
    assert dataclasses.replace(network, input_scale=0.1).input_scale == 0.1
    assert dataclasses.replace(network, input_scale=0.1).leak == 0.5
    with pytest.raises(dataclasses.FrozenInstanceError):
        network.leak = 1.0
    assert not network.A.flags.writeable


def test_overflow() -> None:
    network = NonlinearNetwork([[1e3]], [1.0], activation="relu")
    refuses(UnstableNetworkError, ("200", "`A`"), network.simulate, np.ones(200))
