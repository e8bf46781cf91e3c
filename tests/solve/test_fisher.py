"""Fisher memory: its identities, its limits, and high precision."""

import numpy as np
import pytest
from flint import arb_mat, ctx
from scipy.linalg import solve_discrete_lyapunov

from memcurve import (
    LinearNetwork,
    StateNoise,
    UncertainResultError,
    UnstableNetworkError,
    ensembles,
    fisher_curve,
    memory_curve,
)
from refusals import refuses
from tolerances import CLOSED_FORM, FISHER, LAST_DIGIT, SMALL_DIRECT
from truth import gramian


def unit(network: LinearNetwork) -> LinearNetwork:
    return network.replace(C=network.C / np.linalg.norm(network.C))


def exact_fisher(A: np.ndarray, C: np.ndarray, lags: int) -> np.ndarray:
    """F_τ for unit noise and each column of C, from the definition: R is summed, then solved."""
    with ctx.workprec(400):
        x, rows = arb_mat(np.reshape(C, (len(A), -1)).tolist()), []
        matrix, inverse = arb_mat(np.asarray(A, float).tolist()), gramian(A, np.eye(len(A))).inv()
        for _ in range(lags):
            F = x.transpose() * inverse * x
            rows.append([float(F[k, k].mid()) for k in range(x.ncols())])
            assert all(float(F[k, k].rad()) <= 1e-25 * rows[-1][k] for k in range(x.ncols()))
            x = matrix * x
    return np.array(rows)


@pytest.mark.parametrize(
    "network",
    [
        ensembles.normal(40, seed=1),
        ensembles.uniform(30, seed=2, spectral_radius=0.99),
        ensembles.symmetric(30, seed=3),
        ensembles.chain(15, loop=0.5),
        ensembles.chain(20, loop=0.3, gain=8.0),
        ensembles.delay_line(12, gain=3.0),
        LinearNetwork(
            ensembles.normal(20, seed=4).A, np.random.default_rng(4).normal(size=(20, 3))
        ),
    ],
    ids=lambda n: n.name or "three inputs",
)
def test_against_high_precision(network: LinearNetwork) -> None:
    curve = fisher_curve(network, lags=40)
    known = exact_fisher(network.A, network.C, 40)
    off = np.abs(curve.channels - known)
    assert off.max() <= FISHER * known.max()
    assert np.all(np.abs(curve.values - known.sum(axis=1)) <= curve.error)


@pytest.mark.parametrize(
    "network",
    [
        ensembles.symmetric(50, seed=1),
        ensembles.orthogonal(50, seed=1),
        ensembles.orthogonal(20, seed=2, spectral_radius=0.999),
        ensembles.cyclic(30),
        ensembles.permutation(cycles=[2, 3, 3], seed=1),
    ],
    ids=lambda n: n.name,
)
def test_normal_networks_have_one_in_total(network: LinearNetwork) -> None:
    """R commutes with A: tr(R⁻¹G) = Σ Cᵀ(AᵀA)^j(I − AᵀA)C = ‖C‖²."""
    curve = fisher_curve(unit(network))
    assert curve.total == pytest.approx(1, abs=max(FISHER, curve.total_error))
    assert curve.total_error < 1e-9
    assert curve.values.sum() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    "network",
    [ensembles.normal(25, seed=5), ensembles.uniform(25, seed=6), ensembles.chain(10, gain=2.0)],
    ids=lambda n: n.name,
)
def test_the_mean_over_masks_is_one(network: LinearNetwork) -> None:
    """Over an orthonormal basis of masks Σ tr(R⁻¹G) = tr(R⁻¹R) = N, whatever A."""
    size = network.size
    basis, _ = np.linalg.qr(np.random.default_rng(7).standard_normal((size, size)))
    totals = [fisher_curve(network.replace(C=c)).total for c in basis.T]
    assert np.ptp(totals) > 0.1  # not one by one
    assert np.mean(totals) == pytest.approx(1, rel=FISHER)
    assert fisher_curve(network.replace(C=basis)).total == pytest.approx(size, rel=FISHER)


def test_delay_line_closed_form() -> None:
    """R = diag(1, 2, …, N): F_τ = 1/(τ + 1), as state τ has taken up τ + 1 errors."""
    curve = fisher_curve(ensembles.delay_line(9), lags=12)
    known = np.r_[1 / np.arange(1, 10), np.zeros(3)]
    assert np.abs(curve.values - known).max() <= CLOSED_FORM
    assert curve.total == pytest.approx(known.sum(), rel=CLOSED_FORM)


@pytest.mark.parametrize("noise", [1e-6, 0.5, 100.0])
def test_scales_with_the_inverse_variance(noise: float) -> None:
    network = ensembles.normal(15, seed=8)
    one, other = fisher_curve(network, lags=30), fisher_curve(network, noise, 30)
    assert np.allclose(other.values * noise**2, one.values, rtol=4 * LAST_DIGIT, atol=0)
    assert other.total * noise**2 == pytest.approx(one.total, rel=4 * LAST_DIGIT)
    assert fisher_curve(network.replace(C=3 * network.C), lags=1)[0] == pytest.approx(9 * one[0])


def test_large_state_noise_leaves_fisher_memory() -> None:
    """s²·MC_τ(s²) = vᵀ(R + G/s²)⁻¹v = F_τ − vᵀR⁻¹GR⁻¹v/s² + O(s⁻⁴)."""
    network = ensembles.normal(10, seed=11)
    fisher = fisher_curve(network, lags=15).values
    gaps = []
    for s in (1e2, 1e3):
        noisy = memory_curve(network, 15, noise=StateNoise(s))
        gaps.append(fisher - s**2 * noisy.values)
    A, C = network.A, network.C
    R, G = solve_discrete_lyapunov(A, np.eye(10)), solve_discrete_lyapunov(A, np.outer(C, C))
    v = np.array([np.linalg.matrix_power(A, lag) @ C for lag in range(15)])
    first = np.einsum("ti,ij,tj->t", v, np.linalg.solve(R, G) @ np.linalg.inv(R), v)
    assert np.allclose(gaps[0] * 1e4, first, rtol=1e-3, atol=0)
    assert np.allclose(gaps[1] * 1e6, first, rtol=1e-3, atol=0)


# The paper's relation to memory


def identity_matrix(network: LinearNetwork) -> np.ndarray:
    """O = G(R − G)⁻¹G + G of Tiňo and Rodan; O⁻¹ is G⁻¹ − R⁻¹ where R − G is invertible."""
    A, C = network.A, network.C
    R = solve_discrete_lyapunov(A, np.eye(len(A)))
    G = solve_discrete_lyapunov(A, np.outer(C, C))
    return np.asarray(G @ np.linalg.solve(R - G, G) + G)


@pytest.mark.parametrize("length", [1.0, 2.0])
@pytest.mark.parametrize("kind", ["normal", "orthogonal", "symmetric"])
def test_identity_of_tino_and_rodan(kind: str, length: float) -> None:
    """MC_τ = s²F_τ + Cᵀ(Aᵀ)^τ O⁻¹ A^τ C for every s, for input of unit variance."""
    network = unit(ensembles.make(kind, 4, seed=12))
    network = network.replace(C=length * network.C)
    memory = memory_curve(network, 12).values
    v = np.array([np.linalg.matrix_power(network.A, lag) @ network.C for lag in range(12)])
    rest = np.einsum("ti,it->t", v, np.linalg.solve(identity_matrix(network), v.T))
    for s in (0.1, 1.0, 3.0):
        fisher = s**2 * fisher_curve(network, s, 12).values
        assert np.abs(memory - fisher - rest).max() <= SMALL_DIRECT


def test_memory_exceeds_fisher_for_short_masks_only() -> None:
    """R − G = Σ A^j(I − CCᵀ)(A^j)ᵀ is positive for ‖C‖ ≤ 1; for ‖C‖ = 2 the claim fails."""
    network = unit(ensembles.normal(8, seed=13))
    memory = memory_curve(network, 20)
    fisher = fisher_curve(network, lags=20)
    assert np.all(memory.values > fisher.values)
    longer = network.replace(C=2 * network.C)
    assert fisher_curve(longer, lags=20)[0] > memory_curve(longer, 20)[0]


def test_complex_network_is_its_real_pair() -> None:
    ring = ensembles.lru_ring(6, seed=1, radius_max=0.9)
    real = LinearNetwork(*ring.real_pair())
    assert np.array_equal(fisher_curve(ring, lags=20).values, fisher_curve(real, lags=20).values)


def test_nothing_enters() -> None:
    curve = fisher_curve(LinearNetwork([[0.5]], [0.0]), lags=3)
    assert np.array_equal(curve.values, np.zeros(3))
    assert curve.total == 0
    assert np.isfinite(curve.error).all()
    assert len(fisher_curve(LinearNetwork([[0.5]], [0.0]))) < 100


# What is refused


def test_unstable_networks() -> None:
    errors = (UnstableNetworkError, UncertainResultError)
    for radius in (1.0, 1.1):
        refuses(errors, "", fisher_curve, ensembles.normal(5, seed=1, spectral_radius=radius))
