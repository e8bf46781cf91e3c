"""Networks of a given structure, rings to state-space layers: the identities that define them."""

import numpy as np
import pytest
from scipy import sparse

from memcurve import ensembles


def test_cyclic():
    network = ensembles.cyclic(9, spectral_radius=0.8)
    assert network.A[1, 0] == network.A[0, 8] == 0.8
    np.testing.assert_allclose(np.linalg.matrix_power(network.A, 9), 0.8**9 * np.eye(9), atol=1e-15)
    np.testing.assert_array_equal(network.C, np.eye(9)[0])
    assert network.name == "cyclic, N=9, ρ=0.8"


def test_delay_line_holds_the_last_inputs():
    network = ensembles.delay_line(6)
    assert network.spectral_radius == 0
    np.testing.assert_array_equal(np.linalg.matrix_power(network.A, 6), np.zeros((6, 6)))
    assert np.linalg.matrix_power(network.A, 5).any()
    z = np.arange(1.0, 21)
    np.testing.assert_array_equal(network.simulate(z)[-1], z[:-7:-1])
    assert ensembles.delay_line(4, gain=0.5).A[1, 0] == 0.5


def test_permutation():
    network = ensembles.permutation(cycles=[5, 7, 11], seed=1, spectral_radius=0.9)
    A = network.A
    np.testing.assert_allclose(A @ A.T, 0.81 * np.eye(23), atol=1e-15)
    order = 5 * 7 * 11
    np.testing.assert_allclose(np.linalg.matrix_power(A / 0.9, order), np.eye(23), atol=1e-12)
    for length in (5, 7, 11):  # no shorter power closes all rings
        assert not np.allclose(np.linalg.matrix_power(A / 0.9, order // length), np.eye(23))
    np.testing.assert_array_equal(ensembles.permutation(9, seed=1).A, ensembles.cyclic(9).A)
    assert ensembles.make("permutation", cycles=[2, 3], mask="ones").size == 5


@pytest.mark.parametrize("step", [0.01, 0.1])
def test_legs_eigenvalues(step):
    k = np.arange(40)
    half = (k + 1) * step / 2
    bilinear = ensembles.hippo_legs(40, step=step)
    held = ensembles.hippo_legs(40, step=step, discretisation="zoh")
    for network in (bilinear, held):
        assert not np.triu(network.A, 1).any()
    np.testing.assert_allclose(np.diag(bilinear.A), (1 - half) / (1 + half), atol=1e-14)
    np.testing.assert_allclose(np.diag(held.A), np.exp(-2 * half), atol=1e-14)


@pytest.mark.parametrize("ensemble", [ensembles.hippo_legs, ensembles.hippo_legt])
def test_discretisations_agree_to_third_order(ensemble):
    gaps = []
    for step in (2e-3, 1e-3):
        bilinear, held = (ensemble(6, step=step, discretisation=way) for way in ("bilinear", "zoh"))
        gaps.append([np.abs(bilinear.A - held.A).max(), np.abs(bilinear.C - held.C).max()])
        assert max(gaps[-1]) < 1e3 * step**2
    # exp(z) − (1 + z/2)/(1 − z/2) = −z³/12 + …: half the step, an eighth of the gap
    np.testing.assert_allclose(np.divide(*gaps), 8, rtol=0.1)


def continuous(network, step):
    """A and B of the differential equation a bilinear network came from."""
    one = np.eye(network.size)
    A = 2 / step * np.linalg.solve((network.A + one).T, (network.A - one).T).T
    return A, (one - step / 2 * A) @ network.C / step


def test_legt_is_stable_and_delays_by_its_window():
    step = 0.05
    A, B = continuous(ensembles.hippo_legt(12, step=step), step)
    assert np.linalg.eigvals(A).real.max() < 0
    # the sum of the states is the input one window ago: a Padé approximant of exp(−s)
    for s in (0.5j, 2j, 0.3 + 1j):
        transfer = np.linalg.solve(s * np.eye(12) - A, B).sum()
        assert abs(transfer - np.exp(-s)) < 1e-9


def test_lru_ring():
    size = 20_000
    network = ensembles.lru_ring(size, seed=1, radius_min=0.5, radius_max=0.9, phase_max=1.0)
    assert sparse.issparse(network.A)
    assert network.A.nnz == size
    poles = network.A.diagonal()
    squared, phase = np.abs(poles) ** 2, np.angle(poles)
    assert squared.min() >= 0.25 - 1e-15
    assert squared.max() <= 0.81 + 1e-15
    assert phase.min() >= 0
    assert phase.max() <= 1
    # uniform laws have standard deviation width/√12
    assert abs(squared.mean() - 0.53) < 5 * 0.56 / np.sqrt(12 * size)
    assert abs(phase.mean() - 0.5) < 5 / np.sqrt(12 * size)
    # |B|²/(1 − |λ|²), the variance of a mode, is exponential with mean one; B has no phase
    variance = np.abs(network.C) ** 2 / (1 - squared)
    assert abs(variance.mean() - 1) < 5 / np.sqrt(size)
    assert abs((network.C / np.sqrt(1 - squared)).mean()) < 5 / np.sqrt(size)
