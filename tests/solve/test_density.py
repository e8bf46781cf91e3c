"""Continuous time: closed forms, the Gramian, limits of discretised networks, delay equations."""

import numpy as np
import pytest
from scipy.linalg import expm, solve_continuous_lyapunov
from scipy.signal import lfilter
from scipy.special import eval_jacobi, eval_laguerre

import memcurve
from memcurve.network import ensembles
from memcurve.network.continuous import hippo
from refusals import refuses

rng = np.random.default_rng(5)
A = rng.normal(size=(6, 6))
A -= (np.linalg.eigvals(A).real.max() + 0.5) * np.eye(6)
NETWORK = memcurve.ContinuousNetwork(A, rng.normal(size=6))


def test_the_gramian_of_a_small_network_agrees() -> None:
    times = np.linspace(0, 4, 9)
    G = solve_continuous_lyapunov(NETWORK.A, -np.outer(NETWORK.C, NETWORK.C))
    flows = [expm(t * NETWORK.A) @ NETWORK.C for t in times]
    by_gramian = np.array([x @ np.linalg.solve(G, x) for x in flows])
    density = memcurve.memory_density(NETWORK, times)
    assert np.abs(density.values - by_gramian).max() < 1e-9
    assert abs(density.values[0] + 2 * np.trace(NETWORK.A)) < 1e-12
    assert density.total == 6


def test_legs_has_jacobi_polynomials() -> None:
    """Poles −1 … −n: m = Σ(2k+2)y²P_k^(0,1)(2y−1)², y = e^−τ."""
    times, n = np.linspace(0, 3, 31), 20
    y = np.exp(-times)
    exact = sum((2 * k + 2) * y**2 * eval_jacobi(k, 0, 1, 2 * y - 1) ** 2 for k in range(n))
    density = memcurve.memory_density(hippo("legs", n), times)
    assert (np.abs(density.values - exact) <= density.error + 1e-12 * exact).all()
    assert np.abs(density.values - exact).max() < 1e-9
    assert abs(density.values[0] - n * (n + 1)) < 1e-9


def test_one_mode_lies_within_its_error() -> None:
    """One mode has m = 2|λ|e^2λτ, at lags that are no multiples of each other, and on a grid."""
    for rate in (1e-3, 1.0, 2.7):
        for times in (rng.uniform(0, 4, 40) / rate, np.linspace(0, 4 / rate, 201)):
            density = memcurve.memory_density(memcurve.ContinuousNetwork([[-rate]], [1.0]), times)
            exact = 2 * rate * np.exp(-2 * rate * times)
            assert (np.abs(density.values - exact) <= density.error).all()
            assert (density.error <= 1e-13 * rate).all()


def test_modes_of_any_two_sizes_are_known() -> None:
    """Of a diagonal matrix the eigenvalues are its entries, to the last digit."""
    slow, fast = -1e-9, -1e9
    density = memcurve.memory_density(
        memcurve.ContinuousNetwork(np.diag([slow, fast]), np.ones(2)), [0.0, 1.0, 1e9]
    )
    late = -2 * slow * np.exp(2 * slow * density.times[1:])  # but for 4 slow/fast of it
    assert np.abs(density.values / [-2 * fast, *late] - 1).max() < 1e-14
    assert (density.error < 1e-12 * density.values).all()


def test_lagt_has_laguerre_polynomials() -> None:
    """One eigenvalue −½, n times: m = Σe^−τ L_k(τ)²."""
    times, n = np.linspace(0, 30, 31), 20
    exact = sum(np.exp(-times) * eval_laguerre(k, times) ** 2 for k in range(n))
    density = memcurve.memory_density(hippo("lagt", n), times)
    assert np.abs(density.values - exact).max() < 1e-11


@pytest.mark.parametrize("kind", ["legs", "legt", "fout"])
def test_total_and_mean_age_are_integrals(kind: str) -> None:
    network = hippo(kind, 9)
    times = np.concatenate([np.linspace(0, 1, 1500), np.linspace(1, 60, 4000)[1:]])
    density = memcurve.memory_density(network, times)
    total = np.trapezoid(density.values, density.times)
    assert abs(total - 9) < 2e-3
    age = np.trapezoid(density.values * density.times, density.times) / 9
    assert abs(age - density.mean_age) < 2e-3 * density.mean_age


@pytest.mark.parametrize("method", ["zoh", "bilinear"])
def test_discretised_networks_have_it_as_their_limit(method: str) -> None:
    """MC_k = h·m((k + ½)h)(1 + O(h²)): halving h divides the difference by four."""
    gaps = []
    for h in (0.01, 0.005):
        lags = np.round(np.array([0.0, 0.5, 1.0, 2.0]) / h).astype(int)
        curve = memcurve.memory_curve(NETWORK.discretised(h, method), int(2.5 / h))
        density = memcurve.memory_density(NETWORK, (lags + 0.5) * h)
        gaps.append(np.abs(curve.values[lags] / h - density.values).max())
    assert 3 < gaps[0] / gaps[1] < 5


def test_uncontrollable_modes_are_left_out() -> None:
    apart = memcurve.ContinuousNetwork(np.diag([-1.0, -2.0, -3.0]), [1.0, 0.0, 1.0])
    density = memcurve.memory_density(apart)
    assert density.total == 2
    assert sorted(density.poles.real) == [-3, -1]
    undriven = memcurve.memory_density(memcurve.ContinuousNetwork([[-1.0]], [0.0]))
    assert undriven.total == 0
    assert "-0" not in repr(undriven)
    copies = memcurve.ContinuousNetwork(np.kron(np.eye(2), [[-1.0, 0.5], [0, -2]]), np.ones(4))
    assert np.abs(memcurve.memory_density(copies, [0.0]).values - 6).max() < 1e-12


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_the_unit_of_time_is_free(scale: float) -> None:
    network = memcurve.ContinuousNetwork(scale * NETWORK.A, NETWORK.C)
    one, other = memcurve.memory_density(network), memcurve.memory_density(NETWORK)
    assert np.abs(one.times * scale - other.times).max() < 1e-12 * other.times.max()
    assert np.abs(one.values / scale - other.values).max() < 1e-11 * other.values.max()


@pytest.mark.parametrize("gap", [3e-15, 1e-12, 1e-6])
def test_nearly_equal_poles_of_a_triangle(gap: float) -> None:
    """LagT has equal ones: the same but for about the gap, as the exponentials are."""
    equal = hippo("lagt", 6)
    near = memcurve.ContinuousNetwork(equal.A + gap * np.diag(np.arange(6)), equal.C)
    times = [0.5, 3.0, 20.0]
    one, other = memcurve.memory_density(equal, times), memcurve.memory_density(near, times)
    assert (np.abs(one.values - other.values) < 1e2 * gap + 1e-13).all()
    assert other.error.max() < 1e-12
    steps = equal.discretised(20.0).A - near.discretised(20.0).A
    assert np.abs(steps).max() < 1e3 * gap + 1e-13


def test_unstable_networks_are_refused() -> None:
    unstable = memcurve.ContinuousNetwork([[0.5]], [1.0])
    refuses(memcurve.UnstableNetworkError, "real part", memcurve.memory_density, unstable)
    discrete = ensembles.normal(3, seed=1)
    refuses(TypeError, "ContinuousNetwork", memcurve.memory_density, discrete)


def integrated(spacing: float, feedback: float, mask: np.ndarray, rounds: int) -> np.ndarray:
    """Node ends of the delay equation after one input, by small exact steps of the low pass."""
    fine = 3000
    decay = np.exp(-spacing / fine)
    history, x, ends = np.zeros(len(mask) * fine), 0.0, []
    for k in range(rounds):
        new = np.empty_like(history)
        for i, weight in enumerate(mask):
            part = slice(i * fine, (i + 1) * fine)
            drive = feedback * history[part] + weight * (k == 0)
            new[part] = lfilter([1 - decay], [1, -decay], drive, zi=[decay * x])[0]
            x = new[part][-1]
        history = new
        ends.append(history[fine - 1 :: fine][::-1])
    return np.array(ends)


@pytest.mark.parametrize("spacing", [0.2, 1.0])
def test_delay_reservoirs_solve_the_delay_equation(spacing: float) -> None:
    mask = np.random.default_rng(1).choice([-1.0, 1.0], 8)
    network = ensembles.delay_reservoir(8, spacing=spacing, feedback=0.9, mask=mask)
    impulse = np.zeros(4)
    impulse[0] = 1
    assert np.abs(network.simulate(impulse) - integrated(spacing, 0.9, mask, 4)).max() < 3e-4
    finer = ensembles.delay_reservoir(8, spacing=spacing, feedback=0.9, mask=mask, degree=14)
    assert np.abs(network.simulate(impulse) - finer.simulate(impulse)).max() < 2e-6


def test_repeated_poles_count_once() -> None:
    """Of −1 twice and −2 the input reaches one mode at −1, whatever basis eigenvectors take."""
    times = np.linspace(0, 3, 7)
    two = memcurve.ContinuousNetwork(np.diag([-1.0, -2]), np.ones(2))
    pair = memcurve.memory_density(two, times)
    for A in (np.diag([-1.0, -1, -2]), np.array([[-1.0, 0, 0], [0, -1, 0], [1, 1, -2]])):
        density = memcurve.memory_density(memcurve.ContinuousNetwork(A, [1.0, 2, 5]), times)
        assert np.abs(density.values - pair.values).max() < 1e-12
    both = memcurve.memory_density(memcurve.ContinuousNetwork(-np.eye(2), np.ones(2)), times)
    assert np.abs(both.values - 2 * np.exp(-2 * times)).max() < 1e-14
