"""The input-normal realization: white states, the same memory, and the way back."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from memcurve import (
    LinearNetwork,
    UncertainResultError,
    UnstableNetworkError,
    ensembles,
    input_normal,
    memory_curve,
)
from memcurve.solve.powers import solve_stein
from refusals import refuses
from tolerances import CLOSED_FORM, INPUT_NORMAL, SEVERAL

rng = np.random.default_rng(1)
NETWORKS = [
    ensembles.normal(200, seed=1),
    ensembles.normal(20, seed=2, spectral_radius=0.99),
    ensembles.symmetric(100, seed=3),
    ensembles.orthogonal(200, seed=4),
    ensembles.uniform(60, seed=5),
    ensembles.sparse_normal(100, seed=6),
    ensembles.cyclic(30),
    ensembles.delay_line(20),
    ensembles.chain(15, loop=0.5),
    ensembles.lru_ring(10, seed=1, radius_max=0.95),
    ensembles.normal(40, seed=1).replace(C=rng.standard_normal((40, 3)), name="normal, d=3"),
    ensembles.symmetric(30, seed=2).replace(C=rng.standard_normal((30, 2)), name="symmetric, d=2"),
    ensembles.orthogonal(25, seed=3).replace(
        C=rng.standard_normal((25, 5)), name="orthogonal, d=5"
    ),
]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda n: n.name)
def test_white_states_with_the_same_memory(network: LinearNetwork) -> None:
    """A'A'ᵀ + C'C'ᵀ = I, T carries the states to the network's own, and MC_τ = ‖A'^τC'‖²."""
    found, curve = input_normal(network), memory_curve(network, 60)
    white = found.network()
    n, x = len(white.A), white.C.reshape(-1, network.inputs)
    assert np.array_equal(white.A, found.A)
    assert np.array_equal(x, found.C)
    assert n == curve.rank
    for memory in curve.channels:
        assert np.abs((x**2).sum(axis=0) - memory).max() <= SEVERAL
        x = found.A @ x
    A, C = network.real_pair()
    A = A.toarray() if network.is_sparse else A
    assert (found.C.shape, found.T.shape) == ((n, network.inputs), (network.states, n))
    gramian = np.abs(found.A @ found.A.T + found.C @ found.C.T - np.eye(n)).max()
    scale = np.linalg.norm(A) * np.linalg.norm(found.T)
    dynamics = np.linalg.norm(A @ found.T - found.T @ found.A) / scale
    entry = np.linalg.norm(C - found.T @ found.C) / np.linalg.norm(C)
    assert max(gramian, dynamics, entry) <= INPUT_NORMAL
    assert found.gramian_residual == pytest.approx(gramian, abs=INPUT_NORMAL / 10)
    assert found.dynamics_residual == pytest.approx(dynamics, abs=INPUT_NORMAL / 10)
    assert found.input_residual == pytest.approx(entry, abs=INPUT_NORMAL / 10)


def test_states_that_do_not_count() -> None:
    """Unreached states have zero rows, and copies share the white states of one."""
    network = ensembles.normal(6, seed=8)
    A = block_diag(network.A, 0.5 * np.eye(2))
    found = input_normal(LinearNetwork(A, np.r_[network.C, 0, 0]))
    assert len(found.A) == 6
    assert np.array_equal(found.T[6:], np.zeros((2, 6)))
    assert max(found.dynamics_residual, found.input_residual) <= INPUT_NORMAL
    copies = LinearNetwork(block_diag(network.A, network.A), np.r_[network.C, 2 * network.C])
    found = input_normal(copies)
    assert len(found.A) == 6
    assert np.abs(found.T[6:] - 2 * found.T[:6]).max() <= CLOSED_FORM
    assert max(found.gramian_residual, found.dynamics_residual) <= INPUT_NORMAL
    assert found.input_residual <= INPUT_NORMAL
    ring = ensembles.cyclic(5, spectral_radius=0.6).replace(C=np.ones(5))
    found = input_normal(ring)
    assert np.abs(found.A) == pytest.approx(0.6)
    assert np.abs(found.T) == pytest.approx(np.full((5, 1), 1.25))  # the deviation of the states


@pytest.mark.parametrize("fast", [1e-4, 1e-8, 1e-12])
def test_slow_states_that_drive_fast_ones(fast: float) -> None:
    """Balanced, such a matrix has slow states far below the others: none may be lost."""
    network = LinearNetwork([[0.9, 1, 1], [0, fast, 1], [0, 0, -fast]], [1, 1, 1])
    realization = input_normal(network)
    gramian = solve_stein(network.A, np.ones((3, 3)))
    np.testing.assert_allclose(realization.T @ realization.T.T, gramian, rtol=1e-13)
    A, C, T = realization.A, realization.C, realization.T
    assert realization.dynamics_residual == pytest.approx(0, abs=INPUT_NORMAL)
    assert np.abs(network.A @ T - T @ A).max() < 1e-13
    assert np.abs(network.C - (T @ C)[:, 0]).max() < 1e-13


def test_refused() -> None:
    refuses(ValueError, "`network`", input_normal, LinearNetwork(np.eye(2) / 2, [0, 0]))
    steep = LinearNetwork(1e100 * np.eye(5, k=-1), np.eye(5)[0])
    refuses(UncertainResultError, "certified", input_normal, steep)
    unstable = ensembles.normal(6, seed=1, spectral_radius=1.2)
    for network in (unstable, unstable.replace(C=np.eye(6, 2))):
        refuses(UnstableNetworkError, (), input_normal, network)
