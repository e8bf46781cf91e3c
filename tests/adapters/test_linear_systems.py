"""Linear systems and diagonal state-space layers against their own simulations."""

import numpy as np
import pytest
from scipy import signal
from scipy.linalg import expm

import memcurve
from adapted import SAME, off, series
from memcurve import adapters, as_network
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


DRAWN = np.random.default_rng(4)
N = 8
POLES = -DRAWN.uniform(0.1, 1, N) + 1j * DRAWN.uniform(-3, 3, N)
BS = DRAWN.standard_normal((N, 2)) + 1j * DRAWN.standard_normal((N, 2))
PAIR = np.stack([BS.real, BS.imag], axis=-1)
STEPS = DRAWN.uniform(0.01, 0.2, N)


def layer(poles, mask, z):
    """Run x ← λx + Bu step by step; real parts, then imaginary ones."""
    x, states = np.zeros(len(poles), complex), []
    for u in z:
        x = poles * x + mask @ u
        states.append(np.r_[x.real, x.imag])
    return np.array(states)


def discretised(poles, mask, step, discretisation):
    """Both rules through matrices: exp of [[Λ, B], [0, 0]]·h, and (I − hΛ/2)⁻¹(…)."""
    step = np.broadcast_to(step, len(poles))
    if discretisation == "bilinear":
        inverse = np.linalg.inv(np.eye(len(poles)) - np.diag(step * poles / 2))
        forward = np.eye(len(poles)) + np.diag(step * poles / 2)
        return np.diag(inverse @ forward), inverse @ (step[:, None] * mask)
    flows = [
        expm(h * np.block([[pole, row], [np.zeros((2, 3))]]))
        for h, pole, row in zip(step, poles, mask, strict=True)
    ]
    return np.array([flow[0, 0] for flow in flows]), np.array([flow[0, 1:] for flow in flows])


@pytest.mark.parametrize("step", [0.1, STEPS, STEPS[:, None]], ids=["one", "each", "column"])
@pytest.mark.parametrize("discretisation", ["zoh", "bilinear"])
def test_discretisations(step, discretisation):
    z = series(2)
    flat = step if np.ndim(step) == 0 else np.ravel(step)
    states = layer(*discretised(POLES, BS, flat, discretisation), z)
    network = adapters.diagonal(POLES, BS, step=step, discretisation=discretisation, name="layer")
    assert off(network, z, states) < SAME
    assert network.is_sparse
    assert network.name == "layer"
    assert network.notes == (f"continuous-time eigenvalues and B, discretised ({discretisation})",)
    pair = as_network((POLES, PAIR, step), discretisation=discretisation)
    np.testing.assert_array_equal(pair.C, network.C)
    same = as_network((POLES, BS), step=step, discretisation=discretisation)
    np.testing.assert_array_equal(same.C, network.C)


def test_conjugate_pairs_add_nothing():
    half = np.exp(POLES[:3])
    both = np.r_[half, half.conj()]
    mask = np.r_[BS[:3, 0], BS[:3, 0].conj()]
    assert memcurve.memory_curve(as_network((half, BS[:3, 0]))).total == 6
    assert memcurve.memory_curve(as_network((both, mask))).total == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adapters.diagonal(np.eye(3), BS), ("`eigenvalues`", "(3, 3)")),
        (lambda: adapters.diagonal(POLES, BS[:3]), ("`B`", "8")),
        (lambda: adapters.diagonal(POLES, BS, step=0), ("`step`", "8")),
        (lambda: adapters.diagonal([1e4], [1.0], step=1.0), "`A`"),
        (lambda: adapters.diagonal([20.0], [1.0], step=0.1, discretisation="bilinear"), "2/λ"),
        (
            lambda: adapters.diagonal(POLES, BS, step=0.1, discretisation="euler"),
            "`discretisation`",
        ),
        (lambda: as_network((POLES, BS, 0.1), step=0.1), "`step`"),
        (lambda: as_network({"eigenvalues": POLES}), "eigenvalues"),
    ],
)
def test_refused(call, message):
    refuses(ValueError, message, call)


def test_eigenvalues_of_continuous_time_need_a_step():
    poles = np.array([-1.5 + 3j, -0.2])
    refuses(ValueError, ("`eigenvalues`", "step=0.01"), adapters.diagonal, poles, np.ones(2))
    found = adapters.diagonal(poles, np.ones(2), step=0.1)
    assert abs(found.spectral_radius - np.exp(-0.02)) < SAME
    assert adapters.diagonal(poles, np.array([0.0, 1.0])).size  # what is not driven may be anything
    assert adapters.diagonal(poles + 2, np.ones(2)).size  # no continuous time would help


def test_zero_order_hold_near_zero():
    """(exp(hλ) − 1)/λ keeps its digits: against the series h(1 + hλ/2 + (hλ)²/6)."""
    for pole in (0.0, 1e-18, 1e-9, -1e-5j, 1e-7 + 1e-8j):
        network = adapters.diagonal([pole], [1.0], step=0.5)
        x = 0.5 * pole
        assert abs(network.C[0] - 0.5 * (1 + x / 2 + x**2 / 6)) < 1e-15
