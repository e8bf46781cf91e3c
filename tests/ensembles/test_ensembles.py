"""Ensembles: what holds for all of them, the laws of those drawn, and what is refused."""

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
