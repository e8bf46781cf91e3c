"""Linear systems of scipy.signal and python-control against their own simulations."""

from __future__ import annotations

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
    with pytest.raises(TypeError, match="StateSpace or what converts to one, got ShortTimeFFT"):
        as_network(signal.ShortTimeFFT(np.ones(4), 2, 1.0))


def test_control():
    control = pytest.importorskip("control", reason="python-control is not installed")
    z = series(2)
    for step in (True, 0.5):
        system = control.ss(A, B, C, D, step)
        times = np.arange(len(z) + 1) * float(step)
        response = control.forced_response(system, times, np.vstack([z, 0 * z[:1]]).T)
        assert off(as_network(system), z, response.states.T[1:]) < SAME
    for step in (0, None):
        refuses(ValueError, "sample_system", as_network, control.ss(A, B, C, D, step))
    with pytest.raises(ValueError, match="at least one state, got a static gain"):
        as_network(control.ss([], [], [], 2.0, True))
    refuses(TypeError, "got FrequencyResponseData", as_network, control.frd([1, 2], [1, 2]))
