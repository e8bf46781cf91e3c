"""Masks, readouts and white states: values by memory_curve, bounds that nothing exceeds."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import memcurve
from draws import BADLY_SCALED
from memcurve import LinearNetwork, best_mask, best_readout, ensembles, memory_curve, whitened
from memcurve.synthesis.driving import MaskAscent
from memcurve.synthesis.improving import quick_gains
from refusals import refuses
from tolerances import REALIZED

RNG = np.random.default_rng(5)
GAUSSIAN = ensembles.normal(100, spectral_radius=0.9, seed=1)
COMPLEX = LinearNetwork(np.diag(0.9 * np.exp(1j * np.arange(1, 9) / 3)), np.ones(8))
NETWORKS = {
    "three nodes": LinearNetwork([[0.5, 0.1, 0], [0, 0.4, 0.2], [0.3, 0, 0]], [1, 0, 0]),
    "Gaussian": ensembles.normal(40, spectral_radius=0.95, seed=2),
    "sparse": ensembles.sparse_normal(60, density=0.06, seed=1),
    "two inputs": LinearNetwork(GAUSSIAN.A, RNG.standard_normal((100, 2)) / 10),
    "rotations": LinearNetwork(*COMPLEX.real_pair()),
    "repeated": LinearNetwork(np.diag([0.5, 0.5, 0.3, 0.0]), [1.0, 1.0, 1.0, 0.0]),
}


def usable(network: LinearNetwork, noise: float) -> Any:
    return memory_curve(network, noise=noise)


@pytest.mark.filterwarnings("ignore::memcurve.RankWarning")
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize("noise", [1.0, 1e-3])
def test_readouts_hold_what_is_said_and_no_other_holds_more(
    network: LinearNetwork, noise: float
) -> None:
    count = min(5, network.size - 1)
    choice = best_readout(network, noise, count)
    assert len(set(choice.nodes.tolist())) == count
    known = usable(network.replace(readout=choice.nodes), noise)
    assert abs(known.total - choice.value) <= known.total_error + choice.error
    assert choice.value <= choice.bound
    for _ in range(10):
        other = RNG.choice(network.size, count, replace=False)
        held = usable(network.replace(readout=other), noise)
        assert held.total <= choice.bound + held.total_error
    assert choice.random <= choice.value + choice.error


@pytest.mark.parametrize("noise", [1e-9, 1e-3, 0.3])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(
    "network",
    [
        LinearNetwork(*BADLY_SCALED),
        LinearNetwork(np.diag([0.9, 0.5, -0.3]), [1.0, 0.0, 1.0]),
        LinearNetwork(np.diag([0.9, 0.9, 0.9]), [1.0, 1.0, 1.0]),
        ensembles.normal(6, seed=1).replace(readout=[1, 3, 4]),
        ensembles.normal(7, spectral_radius=0.9, seed=3),
    ],
    ids=["units", "uncontrollable", "repeated", "readout", "normal"],
)
def test_every_choice_of_nodes_is_below_the_bound(
    network: LinearNetwork, count: int, noise: float
) -> None:
    choice = best_readout(network, noise, count)
    assert choice.steps[-1] == pytest.approx(choice.value, abs=choice.error + 1e-12)
    allowed = range(network.size) if network.readout is None else network.readout
    assert set(choice.nodes) <= set(allowed)
    best = 0.0
    for nodes in itertools.combinations(allowed, count):
        with memcurve.core.errors.rank_among_notes():
            held = usable(network.replace(readout=np.array(nodes)), noise)
        assert held.total <= choice.bound + held.total_error
        best = max(best, held.total)
    assert choice.value >= 0.97 * best


@pytest.mark.parametrize("kind", ["normal", "symmetric", "orthogonal"])
def test_states_that_do_not_fade(kind: str) -> None:
    """Next to spectral radius 1 no lag is listed: white coordinates have all of them."""
    network = ensembles.make(kind, 40, spectral_radius=1 - 1e-7, seed=1)
    choice, small = best_readout(network, 0.1, 4), memcurve.pruned(network, 0.1, 1e-3)
    known = usable(network.replace(readout=choice.nodes), 0.1)
    assert abs(known.total - choice.value) <= known.total_error + choice.error
    assert choice.value <= choice.bound
    assert choice.error < 1e-6
    before = usable(network, 0.1)
    after = memory_curve(small.network, len(before), noise=0.1)
    assert np.abs(before.values - after.values).max() <= small.bound + before.error.max()


def test_nodes_at_large_noise_hold_no_more_than_each_by_itself() -> None:
    choice = best_readout(ensembles.delay_line(30), 1.0, 3)
    assert choice.value == pytest.approx(1.5)
    assert choice.bound == pytest.approx(1.5)


def test_nodes_and_what_they_hold_are_of_one_order() -> None:
    network = NETWORKS["two inputs"]
    choice = best_readout(network, 1e-2, 6)
    for k in range(1, 7):
        held = usable(network.replace(readout=choice.nodes[:k]), 1e-2).total
        assert choice.steps[k - 1] == pytest.approx(held, abs=1e-6)


def test_masks_with_faint_modes_and_late_lags() -> None:
    network = LinearNetwork(np.diag([0.9, 0.5, -0.3]), [1.0, 0.0, 1.0])
    assert best_mask(network, 1e3).value <= best_mask(network, 1e3).bound
    assert best_mask(network, 0.1, lags=[3, 10**5]).value <= 2  # a product for each lag that counts


@pytest.mark.slow
def test_a_hundred_thousand_nodes() -> None:
    n = 100_000
    rows, columns = RNG.integers(0, n, (2, 10 * n))
    A = csr_array((RNG.standard_normal(10 * n) * 0.28, (rows, columns)), shape=(n, n))
    network = LinearNetwork(A, RNG.standard_normal(n) / np.sqrt(n))
    choice = best_readout(network, 0.1, 10)
    assert choice.random < choice.largest_variance <= choice.value <= choice.bound
    known = usable(network.replace(readout=choice.nodes), 0.1)
    assert abs(known.total - choice.value) <= known.total_error + choice.error


@pytest.mark.parametrize(
    ("options", "least"),
    [({}, 16.8), ({"lags": range(10, 21)}, 6.58), ({"lags": range(20, 40)}, 0.84)],
)
def test_masks_of_a_gaussian_network(options: Any, least: float) -> None:
    choice = best_mask(GAUSSIAN, 0.1, **options)
    assert choice.value >= least
    assert choice.random < choice.own < choice.value <= choice.bound
    made = memory_curve(GAUSSIAN.replace(C=choice.mask), 60, noise=0.1)
    lags = options.get("lags")
    held = made.total if lags is None else made.values[list(lags)].sum()
    assert abs(held - choice.value) <= choice.error + made.total_error + made.error.sum()
    assert np.linalg.norm(choice.mask) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("network", "noise", "least"),
    [
        (ensembles.orthogonal(100, spectral_radius=0.9, seed=1), 0.1, 22.39),
        (ensembles.symmetric(30, spectral_radius=0.9, seed=1), 0.1, 0),
        (COMPLEX, 0.1, 0),
    ],
    ids=["orthogonal", "symmetric", "complex"],
)
def test_normal_networks_have_a_global_optimum(
    network: LinearNetwork, noise: float, least: float
) -> None:
    choice = best_mask(network, noise)
    assert choice.value >= least
    assert choice.bound <= choice.value * (1 + 2e-3)


def test_one_driven_node_is_best_in_a_ring() -> None:
    n, square, s = 20, 0.81, 0.1
    powers = square ** np.arange(n)
    optimum = (powers / (powers + s**2 * (1 - square**n))).sum()
    choice = best_mask(ensembles.cyclic(n, spectral_radius=0.9), s)
    assert choice.value == pytest.approx(optimum, rel=1e-4)
    assert choice.bound >= optimum


@pytest.mark.parametrize("lags", [None, np.array([2, 5])], ids=["all lags", "two lags"])
def test_gradient_of_masks(lags: Any) -> None:
    objective = MaskAscent(GAUSSIAN.A[:9, :9].copy() * 2, 0.2, lags, 2, np.arange(9))
    C, D = RNG.standard_normal((2, 9, 2)) / 3
    h = 1e-6
    slope = (objective.objective(C + h * D)[0] - objective.objective(C - h * D)[0]) / (2 * h)
    assert (objective.objective(C)[1] * D).sum() == pytest.approx(slope, rel=1e-6)


def test_masks_of_some_nodes_and_several_inputs() -> None:
    some = best_mask(NETWORKS["Gaussian"], 0.1, nodes=[1, 2, 5])
    assert set(np.flatnonzero(some.mask)) <= {1, 2, 5}
    wide = best_mask(NETWORKS["Gaussian"], 0.1, inputs=3)
    assert wide.mask.shape == (40, 3)
    assert some.value < best_mask(NETWORKS["Gaussian"], 0.1).value < wide.value <= wide.bound
    quiet = best_mask(NETWORKS["Gaussian"].replace(C=np.zeros(40)), 0.1)
    assert np.isnan(quiet.own)
    refuses(memcurve.UnstableNetworkError, (), best_mask, GAUSSIAN.replace(A=2 * GAUSSIAN.A), 0.1)


@pytest.mark.filterwarnings("ignore::memcurve.RankWarning")
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_white_states_have_the_curve_the_power_and_the_most_usable_memory(
    network: LinearNetwork,
) -> None:
    white = whitened(network, [1e-2, 0.3])
    known, found = (memory_curve(one, 40) for one in (network, white.network))
    off = np.abs(known.values - found.values)
    assert np.all(off <= known.error + found.error + REALIZED)
    assert white.network.size == known.total
    for level, before, after in zip(white.levels, white.before, white.after, strict=True):
        assert usable(white.network, level).total == pytest.approx(after, abs=1e-9)
        assert before <= after + 1e-9
        assert white.gain[level] == after - before
    states = white.network.simulate(np.eye(4000, 1)[:, 0].reshape(-1, 1).repeat(network.inputs, 1))
    assert np.isfinite(states).all()


def test_gain_at_equal_power() -> None:
    white = whitened(ensembles.normal(100, spectral_radius=0.95, seed=2), [1e-3, 0.1])
    assert white.before.round(1).tolist() == [34.5, 16.1]
    assert white.after.round(1).tolist() == [100.0, 82.4]


def test_no_gain_is_said_to_be_none() -> None:
    """A network that is at its best already: no memory "rises from 5 to 5", no state is pruned."""
    line = memcurve.ensembles.delay_line(5)
    found = memcurve.improvement(line, 0.1, count=1)
    assert "Neither" in found.verdict[-1]
    assert found.small is not None
    assert "No state" in found.small.verdict[0]
    assert "rises" not in " ".join(memcurve.whitened(line).verdict)
    better = memcurve.improvement(memcurve.ensembles.normal(10, seed=1), 0.1)
    assert "white states" in better.verdict[-1]
    assert "rises" in better.white.verdict[-1]


@pytest.mark.parametrize("noise", [1e-8, 1e-6, 1e-3])
def test_rounding_counts_among_the_errors_of_masks(noise: float) -> None:
    # equal nodes have one state between them; rounding of the Gramian looks like more
    choice = memcurve.best_mask(LinearNetwork(0.5 * np.eye(3), np.ones(3)), noise)
    truth = 1 / (1 + 0.75 * noise**2 / 3)  # of every mask of this norm
    assert abs(choice.random - truth) <= choice.random_error
    assert truth <= choice.bound


@pytest.mark.parametrize("noise", [1e-1, 1e-3, 1e-4])
def test_quick_gains_are_within_what_a_search_reaches(noise: float) -> None:
    """The slow mode is hardly driven: other masks drive it, and rounding is above the noise."""
    slow = np.diag(np.r_[1 - 1e-10, np.linspace(0.1, 0.8, 9)])
    network = LinearNetwork(slow, np.r_[1e-6, np.ones(9)])
    found, most = quick_gains(network, noise), best_mask(network, noise).bound
    assert found["now"] <= found["mask"] <= most
    assert (found["mask"] > found["now"]) == (noise > 1e-2)
