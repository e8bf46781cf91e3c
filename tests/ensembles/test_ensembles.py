"""Ensembles and masks: what holds for all, laws of those drawn, identities of the others."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from memcurve import ensembles, masks
from memcurve.network import LinearNetwork
from refusals import refuses
from tolerances import SCALED_RADIUS

INDEPENDENT = ["normal", "uniform", "sparse_normal", "sparse_uniform"]
SCALED = [*INDEPENDENT, "sp_c", "symmetric"]
#: variance and fourth moment of one entry before scaling, at density 0.1
MOMENTS = {
    "normal": (1, 3),
    "uniform": (1 / 3, 1 / 5),
    "sparse_normal": (0.1, 0.3),
    "sparse_uniform": (0.1 / 3, 0.1 / 5),
}
#: Ensembles that draw neither connectivity nor, by default, mask: their names tell no seed.
NOTHING_DRAWN = {"cyclic", "delay_line", "chain", "hippo_legs", "hippo_legt"}


def dense(network):
    return network.A.toarray() if network.is_sparse else network.A


@pytest.mark.parametrize("name", ensembles.ENSEMBLES)
class TestEveryEnsemble:
    def test_is_a_named_network(self, name):
        network = ensembles.make(name, 12, seed=7)
        assert isinstance(network, LinearNetwork)
        assert (network.size, network.inputs) == (12, 1)
        assert "N=12" in network.name
        assert network.name.endswith("seed 7") == (name not in NOTHING_DRAWN)

    def test_same_seed_same_network(self, name):
        sequence = np.random.SeedSequence(7)
        first = ensembles.make(name, 12, seed=7)
        for seed in (7, sequence, sequence, np.random.default_rng(7)):
            again = ensembles.make(name, 12, seed=seed)
            np.testing.assert_array_equal(dense(first), dense(again))
            np.testing.assert_array_equal(first.C, again.C)

    def test_another_mask_leaves_the_connectivity_alone(self, name):
        A = dense(ensembles.make(name, 12, seed=7))
        explicit = np.arange(24.0).reshape(12, 2)
        for mask in (*masks.MASKS, explicit):
            network = ensembles.make(name, 12, seed=7, mask=mask)
            np.testing.assert_array_equal(dense(network), A)
        np.testing.assert_array_equal(network.C, explicit)

    def test_a_named_mask_depends_on_the_seed_alone(self, name):
        expected = ensembles.normal(12, seed=7).C
        np.testing.assert_array_equal(ensembles.make(name, 12, seed=7, mask="normal").C, expected)

    def test_smallest_size(self, name):
        options = {"density": 1.0} if name.startswith("sp") else {}
        assert ensembles.make(name, 1, seed=7, **options).size == 1

    def test_wrong_masks(self, name):
        for mask, fact in ((np.ones(11), "(11,)"), ("nomral", "'nomral'")):
            refuses(ValueError, ("`mask`", fact), ensembles.make, name, 12, seed=1, mask=mask)

    def test_seed_is_required_where_something_is_drawn(self, name):
        required = (
            inspect.signature(ensembles.ENSEMBLES[name]).parameters["seed"].default
            is inspect.Parameter.empty
        )
        if required:
            refuses(TypeError, (name, "`seed`"), ensembles.make, name, 12)
        refuses(TypeError, "`seed`", ensembles.make, name, 12, seed=None, mask="normal")


@pytest.mark.parametrize("name", [*SCALED, "orthogonal", "cyclic", "permutation"])
@pytest.mark.parametrize("radius", [0.0, 0.5, 0.99, 1.2])
def test_spectral_radius_after_scaling(name, radius):
    for size, seed in ((20, 1), (100, 2), (100, 3)):
        network = ensembles.make(name, size, seed=seed, spectral_radius=radius)
        assert network.spectral_radius == pytest.approx(radius, abs=SCALED_RADIUS)


@pytest.mark.parametrize("name", SCALED)
def test_spectral_norm_after_scaling(name):
    network = ensembles.make(name, 60, seed=1, scaling="spectral_norm")
    assert np.linalg.norm(network.A, 2) == pytest.approx(0.9, abs=SCALED_RADIUS)
    assert network.spectral_radius <= 0.9 + SCALED_RADIUS
    assert "‖A‖=0.9" in network.name


@pytest.mark.parametrize("name", [*INDEPENDENT, "symmetric"])
def test_circular_law_radius_tends_to_the_one_asked_for(name):
    # the edge moves in like √(log N / N) (Rider 2003), or N^(-2/3) for the semicircle
    for size in (50, 400):
        network = ensembles.make(name, size, seed=4, scaling="circular_law")
        assert abs(network.spectral_radius / 0.9 - 1) < 2.5 / np.sqrt(size)


@pytest.mark.parametrize("name", INDEPENDENT)
def test_moments_within_five_standard_errors(name):
    variance, fourth = MOMENTS[name]
    size = 400
    # at this radius the circular law divides by one: the entries are as drawn
    A = ensembles.make(
        name, size, seed=3, scaling="circular_law", spectral_radius=np.sqrt(size * variance)
    ).A
    assert abs(A.mean()) < 5 * np.sqrt(variance / A.size)
    assert abs((A**2).mean() - variance) < 5 * np.sqrt((fourth - variance**2) / A.size)
    if "uniform" in name:
        assert np.abs(A).max() <= 1 + 1e-15
    if "sparse" in name:
        density = np.count_nonzero(A) / A.size
        assert abs(density - 0.1) < 5 * np.sqrt(0.1 * 0.9 / A.size)


@pytest.mark.parametrize(
    ("name", "scaling"),
    [
        ("sparse_normal", "spectral_radius"),
        ("sparse_normal", "circular_law"),
        ("sparse_uniform", "spectral_norm"),
    ],
)
def test_sparse_storage_holds_the_same_numbers(name, scaling):
    stored = ensembles.make(name, 40, seed=6, scaling=scaling, sparse=True)
    assert sparse.issparse(stored.A)
    full = ensembles.make(name, 40, seed=6, scaling=scaling)
    np.testing.assert_array_equal(stored.A.toarray(), full.A)
    np.testing.assert_array_equal(stored.C, full.C)


def test_large_sparse_network_needs_no_decomposition():
    network = ensembles.sparse_normal(
        50_000, seed=1, density=1e-4, sparse=True, scaling="circular_law"
    )
    expected = 50_000**2 * 1e-4
    assert abs(network.A.nnz - expected) < 5 * np.sqrt(expected)


@given(
    size=st.integers(2, 25),
    density=st.floats(0.5, 1),
    rc=st.floats(1e-3, 1),
    seed=st.integers(0, 1000),
)
def test_sp_c_condition_and_density_for_any_size(size, density, rc, seed):
    A = ensembles.sp_c(size, seed=seed, density=density, reciprocal_condition=rc).A
    values = np.linalg.svd(A, compute_uv=False)
    assert values[-1] / values[0] == pytest.approx(rc, abs=1e-10)
    assert np.count_nonzero(A) >= density * A.size
    large = ensembles.sp_c(100, seed=seed, scaling="spectral_norm").A
    assert 0.1 <= np.count_nonzero(large) / large.size <= 0.102


def test_orthogonal_is_haar():
    # trace moments of O(3): E tr = 0, E tr² = 1, E tr⁴ = 3 (Diaconis and Shahshahani 1994);
    # LAPACK's Q without the sign fix has a mean trace of about -1/2
    draws = 2000
    rng = np.random.default_rng(8)
    traces = np.array(
        [np.trace(ensembles.orthogonal(3, seed=rng, spectral_radius=1).A) for _ in range(draws)]
    )
    assert abs(traces.mean()) < 5 * np.sqrt(1 / draws)
    assert abs((traces**2).mean() - 1) < 5 * np.sqrt((3 - 1) / draws)


def test_symmetric_is_goe():
    size = 300
    A = ensembles.symmetric(
        size, seed=2, scaling="circular_law", spectral_radius=np.sqrt(8 * size)
    ).A
    np.testing.assert_array_equal(A, A.T)
    off = A[np.triu_indices(size, 1)]
    assert abs((off**2).mean() - 2) < 5 * np.sqrt(2 * 2**2 / len(off))
    assert abs((np.diag(A) ** 2).mean() - 4) < 5 * np.sqrt(2 * 4**2 / size)


def test_a_degree_is_a_density_and_large_networks_are_stored_sparse() -> None:
    by_degree = ensembles.sparse_normal(60, seed=1, degree=6)
    by_density = ensembles.sparse_normal(60, seed=1, density=0.1)
    np.testing.assert_array_equal(by_degree.A, by_density.A)
    assert "degree 6, ρ=0.9" in by_degree.name
    size = ensembles.SPARSE_FROM
    large = ensembles.sparse_uniform(size, seed=1, degree=3, scaling="circular_law")
    assert large.is_sparse


@pytest.mark.slow
def test_radius_of_large_networks(monkeypatch) -> None:
    """Measured where an eigenvalue stands out of the spectrum, else that of the circular law."""
    monkeypatch.setattr(ensembles, "MEASURED_UP_TO", 1000)
    crowded = ensembles.sparse_normal(1500, seed=1, degree=10, sparse=True)
    assert "ρ≈0.9" in crowded.name
    assert np.abs(np.linalg.eigvals(crowded.A.toarray())).max() == pytest.approx(0.9, rel=0.05)
    lone = ensembles.sparse_normal(1500, seed=1, degree=1.2, sparse=True)  # few cycles
    assert "ρ=0.9" in lone.name
    assert lone.spectral_radius == pytest.approx(0.9, rel=1e-10)


def test_too_many_weights_are_told_before_they_are_drawn() -> None:
    facts = ("`size`=10000000", "degree=10")
    refuses(MemoryError, facts, ensembles.sparse_normal, 10_000_000, seed=1)


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


RANDOM = ["normal", "uniform", "sparse_normal", "sparse_uniform"]
#: A unit norm is a quotient of two rounded numbers, summed over at most 60 squares.
NORM_ERROR = 1e-14


@pytest.mark.parametrize("name", masks.MASKS)
@pytest.mark.parametrize("size", [1, 2, 60])
def test_every_mask_has_the_norm_asked_for(name, size):
    assert np.linalg.norm(masks.make(name, size, seed=1)) == pytest.approx(1, abs=NORM_ERROR)
    three = masks.make(name, size, seed=1, norm=3.0)
    assert three.shape == (size,)
    assert np.linalg.norm(three) == pytest.approx(3, abs=3 * NORM_ERROR)


@pytest.mark.parametrize("name", RANDOM)
def test_norm_scales_the_draw_and_inputs_are_independent_columns(name):
    drawn = masks.make(name, 40, seed=5, norm=None)
    scaled = masks.make(name, 40, seed=5)
    np.testing.assert_allclose(scaled, drawn / np.linalg.norm(drawn), atol=NORM_ERROR)
    mask = masks.make(name, 50, seed=2, inputs=3)
    assert mask.shape == (50, 3)
    np.testing.assert_allclose(np.linalg.norm(mask, axis=0), 1, atol=NORM_ERROR)
    assert np.linalg.matrix_rank(mask) == 3


def test_deterministic_masks():
    np.testing.assert_array_equal(masks.ones(4), [0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(masks.ones(3, norm=None), [1, 1, 1])
    np.testing.assert_array_equal(masks.basis(3), [1, 0, 0])
    np.testing.assert_array_equal(masks.basis(3, node=2, norm=None), [0, 0, 1])
    np.testing.assert_array_equal(masks.make("basis", 3, node=1, norm=2.0), [0, 2, 0])


@pytest.mark.parametrize(
    ("name", "variance", "fourth"), [("normal", 1, 3), ("uniform", 1 / 3, 1 / 5)]
)
def test_moments_of_masks_within_five_standard_errors(name, variance, fourth):
    count = 200_000
    for options in ({}, {"density": 0.25}):
        kind = f"sparse_{name}" if options else name
        values = masks.make(kind, count, seed=11, norm=None, **options)
        values = values[values != 0]
        assert abs(values.mean()) < 5 * np.sqrt(variance / len(values))
        error = np.sqrt((fourth - variance**2) / len(values))
        assert abs((values**2).mean() - variance) < 5 * error
    if name == "uniform":
        assert np.abs(values).max() <= 1


@given(
    size=st.integers(1, 60),
    density=st.floats(1e-6, 1),
    inputs=st.integers(1, 3),
    seed=st.integers(0, 2**64),
    name=st.sampled_from(["sparse_normal", "sparse_uniform"]),
)
def test_sparse_masks_never_vanish(size, density, inputs, seed, name):
    mask = masks.make(name, size, seed=seed, density=density, inputs=inputs).reshape(size, -1)
    np.testing.assert_array_equal(
        np.count_nonzero(mask, axis=0), np.full(inputs, max(1, round(density * size)))
    )


def test_sparse_positions_are_even():
    draws, size = 4000, 10
    rng = np.random.default_rng(3)
    hits = sum(masks.sparse_normal(size, seed=rng, density=0.2) != 0 for _ in range(draws))
    assert np.abs(hits / draws - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / draws)
