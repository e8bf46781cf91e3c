"""Linear systems of scipy.signal and python-control against their own simulations."""

import numpy as np
import pytest
from scipy import signal

import memcurve
from adapted import SAME, off, series
from memcurve import as_network
from refusals import refuses

RNG = np.random.default_rng(3)
A = RNG.standard_normal((6, 6)) / 4
B = RNG.standard_normal((6, 2))
C = RNG.standard_normal((3, 6))
D = RNG.standard_normal((3, 2))


def lagged(system, z):
    """x[1], x[2], …: the states of scipy's own simulation, one step on."""
    _, _, states = signal.dlsim(system, np.vstack([z, 0 * z[:1]]))
    return states[1:]


def test_scipy_states():
    z = series(2)
    system = signal.StateSpace(A, B, C, D, dt=1.0)
    network = as_network(system, name="system")
    assert off(network, z, lagged(system, z)) < SAME
    assert network.name == "system"
    assert "lag τ here is lag τ + 1 there" in network.notes[0]
    assert off(as_network(signal.dlti(A, B, C, D)), z, lagged(system, z)) < SAME


@pytest.mark.parametrize(
    "system",
    [
        signal.TransferFunction([1.0, 0.5], [1.0, -0.6, 0.2], dt=0.1),
        signal.ZerosPolesGain([0.5], [0.3 + 0.4j, 0.3 - 0.4j], 2.0, dt=0.1),
        signal.dlti([1.0], [1.0, -0.5, 0.1, 0.05]),
    ],
    ids=["transfer function", "zeros and poles", "dlti"],
)
def test_scipy_conversions(system):
    z, network = series(1), as_network(system)
    assert off(network, z, lagged(system.to_ss(), z)) < SAME
    assert memcurve.memory_curve(network).total == network.size


def test_scipy_refused():
    continuous = signal.StateSpace(A - 2 * np.eye(6), B, C, D)
    refuses(ValueError, ("continuous time", "to_discrete"), as_network, continuous)
    assert as_network(continuous.to_discrete(0.1)).size == 6
    refuses(TypeError, "`lr`", as_network, continuous, lr=0.5)
    refuses(TypeError, "ShortTimeFFT", as_network, signal.ShortTimeFFT(np.ones(4), 2, 1.0))
    refuses(ValueError, ("4 parts", "StateSpace"), as_network, (A, B, C, D))


def test_control():
    control = pytest.importorskip("control", reason="python-control is not installed")
    z = series(2)
    for step in (True, 0.5):
        system = control.ss(A, B, C, D, step)
        times = np.arange(len(z) + 1) * float(step)
        response = control.forced_response(system, times, np.vstack([z, 0 * z[:1]]).T)
        assert off(as_network(system), z, response.states.T[1:]) < SAME
    filtered = signal.TransferFunction([1.0, 0.5], [1.0, -0.6, 0.2], dt=True)
    same, own = (
        as_network(one) for one in (filtered, control.tf([1.0, 0.5], [1, -0.6, 0.2], True))
    )
    kept = memcurve.memory_curve(same, 20).values
    np.testing.assert_allclose(memcurve.memory_curve(own, 20).values, kept, atol=SAME)
    for step in (0, None):
        refuses(ValueError, "sample_system", as_network, control.ss(A, B, C, D, step))
    refuses(ValueError, "static gain", as_network, control.ss([], [], [], 2.0, True))
    refuses(ValueError, "control.ss", as_network, control.tf([1, 0, 0], [1, 0.5], True))
    refuses(TypeError, "got FrequencyResponseData", as_network, control.frd([1, 2], [1, 2]))


@pytest.mark.parametrize("parts", ["AB", "ABC", "ABCD"])
def test_matrices_of_a_system_by_their_names(parts, tmp_path):
    """C of control theory makes outputs: a single one of them looks like a mask of one row."""
    z = series(2)
    for C1 in (C[:1], np.eye(6)):
        arrays = {name: {"A": A, "B": B, "C": C1, "D": np.zeros((1, 2))}[name] for name in parts}
        np.savez(tmp_path / "system.npz", **arrays)
        for network in (as_network(arrays), memcurve.load_network(tmp_path / "system.npz")):
            assert off(network, z, lagged(signal.dlti(A, B, C, D), z)) < SAME
            assert any("lag τ + 1" in note for note in network.notes)
    arrays = {"A": A, "B": B, "C": B[:, :1]}  # a mask, and something else
    assert np.array_equal(as_network(arrays).C, B[:, 0])


def test_two_vectors_are_said_to_be_no_filter():
    assert any("dlti" in note for note in as_network(signal.butter(3, 0.2)).notes)
