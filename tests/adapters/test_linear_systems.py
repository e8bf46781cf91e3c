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
#: A continuous-time system.
SLOW = A - 2 * np.eye(6)


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


@pytest.mark.parametrize("direct", [D, np.zeros((3, 2))], ids=["direct", "no direct"])
def test_scipy_outputs(direct):
    z = series(2)
    system = signal.StateSpace(A, B, C, direct, dt=1.0)
    _, y, _ = signal.dlsim(system, z)
    network = as_network(system, outputs=True)
    assert off(network, z, y) < SAME
    assert network.readout.tolist() == [6, 7, 8]
    np.testing.assert_array_equal(network.A[6:, :6], C)
    memory = memcurve.memory_curve(network)
    assert memory.total == memory.rank <= 6 + 3
    assert (memory.values[0] > 1e-30) == direct.any()  # without D an output lags one step behind


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
    z = series(1)
    network = as_network(system, outputs=True)
    _, y = signal.dlsim(system, z)
    assert off(network, z, y) < SAME
    assert memcurve.memory_curve(as_network(system)).total == network.size - 1


@pytest.mark.parametrize("method", ["zoh", "foh", "bilinear", "euler", "backward_diff", "impulse"])
def test_continuous_time(method):
    z = series(2)
    direct = D * (method != "impulse")
    discrete = signal.cont2discrete((SLOW, B, C, direct), 0.1, method=method)
    system = signal.StateSpace(SLOW, B, C, direct)
    network = as_network(system, step=0.1, method=method)
    assert off(network, z, lagged(discrete, z)) < SAME
    assert network.notes[0] == f"continuous-time system, discretised with step 0.1 ({method})"
    _, y, _ = signal.dlsim(discrete, z)
    assert off(as_network(system, step=0.1, method=method, outputs=True), z, y) < SAME
    np.testing.assert_array_equal(
        as_network(signal.lti(SLOW, B, C, D), step=0.1).A, as_network(system, step=0.1).A
    )


def test_scipy_refused():
    continuous = signal.StateSpace(SLOW, B, C, D)
    refuses(ValueError, "`step`", as_network, continuous)
    refuses(ValueError, ("`step`", "0"), as_network, continuous, step=-1)
    refuses(ValueError, ("`method`", "'tustin'"), as_network, continuous, step=0.1, method="tustin")
    refuses(ValueError, ("`step`", "`method`"), as_network, signal.dlti(A, B, C, D), step=0.1)
    refuses(TypeError, ("`lr`", "`outputs`"), as_network, continuous, lr=0.5)
    with pytest.raises(TypeError, match="StateSpace or what converts to one, got ShortTimeFFT"):
        as_network(signal.ShortTimeFFT(np.ones(4), 2, 1.0))


@pytest.fixture(scope="module")
def control():
    return pytest.importorskip("control", reason="python-control is not installed")


def test_control_states_and_outputs(control):
    z = series(2)
    system = control.ss(A, B, C, D, True)
    longer = np.vstack([z, 0 * z[:1]])
    response = control.forced_response(system, None, longer.T)
    assert off(as_network(system), z, response.states.T[1:]) < SAME
    assert off(as_network(system, outputs=True), longer, response.outputs.T) < SAME
    timed = control.ss(A, B, C, D, 0.5)
    np.testing.assert_array_equal(as_network(timed).A, A)


@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning:control")
def test_control_continuous_time(control):
    system = control.ss(SLOW, B, C, D)
    refuses(ValueError, "`step`", as_network, system)
    np.testing.assert_allclose(
        as_network(system, step=0.1).A, control.c2d(system, 0.1).A, atol=1e-14
    )
    refuses(ValueError, "has no time base, dt=None", as_network, control.ss(A, B, C, D, None))
    with pytest.raises(ValueError, match="at least one state, got a static gain"):
        as_network(control.ss([], [], [], 2.0, True))
    refuses(TypeError, "got FrequencyResponseData", as_network, control.frd([1, 2], [1, 2]))
