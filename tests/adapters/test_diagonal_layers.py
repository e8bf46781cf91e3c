"""Diagonal state-space layers against plain simulations of their recurrences."""

import numpy as np
import pytest
from scipy.linalg import expm

import memcurve
from adapted import SAME, off, series
from memcurve import adapters, as_network
from refusals import refuses

RNG = np.random.default_rng(4)
N = 8
POLES = -RNG.uniform(0.1, 1, N) + 1j * RNG.uniform(-3, 3, N)
B = RNG.standard_normal((N, 2)) + 1j * RNG.standard_normal((N, 2))
PAIR = np.stack([B.real, B.imag], axis=-1)
STEPS = RNG.uniform(0.01, 0.2, N)


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
    states = layer(*discretised(POLES, B, flat, discretisation), z)
    network = adapters.diagonal(POLES, B, step=step, discretisation=discretisation, name="layer")
    assert off(network, z, states) < SAME
    assert network.is_sparse
    assert network.name == "layer"
    assert network.notes == (f"continuous-time eigenvalues and B, discretised ({discretisation})",)
    pair = as_network((POLES, PAIR, step), discretisation=discretisation)
    np.testing.assert_array_equal(pair.C, network.C)
    same = as_network((POLES, B), step=step, discretisation=discretisation)
    np.testing.assert_array_equal(same.C, network.C)


def test_conjugate_pairs_add_nothing():
    half = np.exp(POLES[:3])
    both = np.r_[half, half.conj()]
    mask = np.r_[B[:3, 0], B[:3, 0].conj()]
    assert memcurve.memory_curve(as_network((half, B[:3, 0]))).total == 6
    assert memcurve.memory_curve(as_network((both, mask))).total == 6


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adapters.diagonal(np.eye(3), B), ("`eigenvalues`", "(3, 3)")),
        (lambda: adapters.diagonal(POLES, B[:3]), ("`B`", "8")),
        (lambda: adapters.diagonal(POLES, B, step=0), ("`step`", "8")),
        (lambda: adapters.diagonal([1e4], [1.0], step=1.0), "`A`"),
        (lambda: adapters.diagonal([20.0], [1.0], step=0.1, discretisation="bilinear"), "2/λ"),
        (lambda: adapters.diagonal(POLES, B, step=0.1, discretisation="euler"), "`discretisation`"),
        (lambda: as_network((POLES, B, 0.1), step=0.1), "`step`"),
        (lambda: as_network({"eigenvalues": POLES}), "eigenvalues"),
    ],
)
def test_refused(call, message):
    refuses(ValueError, message, call)


def test_eigenvalues_of_continuous_time_need_a_step():
    poles = np.array([-1.5 + 3j, -0.2])
    refuses(ValueError, ("`eigenvalues`", "step=0.01"), adapters.diagonal, poles, np.ones(2))
    assert (
        abs(adapters.diagonal(poles, np.ones(2), step=0.1).spectral_radius - np.exp(-0.02)) < SAME
    )
    assert adapters.diagonal(poles, np.array([0.0, 1.0])).size  # what is not driven may be anything
    assert adapters.diagonal(poles + 2, np.ones(2)).size  # no continuous time would help


def test_zero_order_hold_near_zero():
    """(exp(hλ) − 1)/λ keeps its digits: against the series h(1 + hλ/2 + (hλ)²/6)."""
    for pole in (0.0, 1e-18, 1e-9, -1e-5j, 1e-7 + 1e-8j):
        network = adapters.diagonal([pole], [1.0], step=0.5)
        x = 0.5 * pole
        assert abs(network.C[0] - 0.5 * (1 + x / 2 + x**2 / 6)) < 1e-15
