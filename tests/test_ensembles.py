"""Ensembles and scalings: the identities and laws that define them, and what is refused."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from memcurve import ensembles, masks
from memcurve.network import LinearNetwork
from memcurve.network.scaling import (
    scale_by_circular_law,
    scale_to_spectral_norm,
    scale_to_spectral_radius,
)

#: What scaling promises: LAPACK's eigenvalues of well-conditioned matrices up to N = 100.
RADIUS_ERROR = 1e-12
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

    @pytest.mark.parametrize("size", [0, -3, 2.5, True, None])
    def test_size_is_a_positive_integer(self, name, size):
        with pytest.raises(ValueError, match="`size` must be a positive integer"):
            ensembles.make(name, size, seed=1)

    def test_wrong_masks(self, name):
        with pytest.raises(ValueError, match=r"`mask` must have shape \(12,\) or \(12, d\)"):
            ensembles.make(name, 12, seed=1, mask=np.ones(11))
        with pytest.raises(ValueError, match="`mask` must be one of normal, uniform"):
            ensembles.make(name, 12, seed=1, mask="nomral")

    def test_seed_is_required_where_something_is_drawn(self, name):
        required = (
            inspect.signature(ensembles.ENSEMBLES[name]).parameters["seed"].default
            is inspect.Parameter.empty
        )
        if required:
            with pytest.raises(TypeError, match=f"{name} needs `seed`"):
                ensembles.make(name, 12)
        with pytest.raises(TypeError, match="`seed` must be an int"):
            ensembles.make(name, 12, seed=None, mask="normal")


@pytest.mark.parametrize("name", [*SCALED, "orthogonal", "cyclic", "permutation"])
@pytest.mark.parametrize("radius", [0.0, 0.5, 0.99, 1.2])
def test_spectral_radius_after_scaling(name, radius):
    for size, seed in ((20, 1), (100, 2), (100, 3)):
        network = ensembles.make(name, size, seed=seed, spectral_radius=radius)
        assert network.spectral_radius == pytest.approx(radius, abs=RADIUS_ERROR)


@pytest.mark.parametrize("name", SCALED)
def test_spectral_norm_after_scaling(name):
    network = ensembles.make(name, 60, seed=1, scaling="spectral_norm")
    assert np.linalg.norm(network.A, 2) == pytest.approx(0.9, abs=RADIUS_ERROR)
    assert network.spectral_radius <= 0.9 + RADIUS_ERROR
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
        ("sp_c", "spectral_radius"),
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


@pytest.mark.parametrize("seed", range(5))
def test_sp_c_condition_and_density(seed):
    for options in ({}, {"scaling": "spectral_norm"}):
        A = ensembles.sp_c(100, seed=seed, **options).A
        values = np.linalg.svd(A, compute_uv=False)
        assert values[-1] / values[0] == pytest.approx(0.7, abs=1e-10)
        np.testing.assert_allclose(values / values[0], np.geomspace(1, 0.7, 100), atol=1e-10)
        assert 0.1 <= np.count_nonzero(A) / A.size <= 0.102


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


def test_orthogonal():
    A = ensembles.orthogonal(60, seed=1, spectral_radius=0.8).A
    np.testing.assert_allclose(A.T @ A, 0.64 * np.eye(60), atol=1e-14)


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


def test_chain():
    network = ensembles.chain(5)
    np.testing.assert_array_equal(network.A, 0.5 * np.eye(5) + np.eye(5, k=-1))
    np.testing.assert_array_equal(network.C, np.eye(5)[0])
    loops = [0.1, 0.5, -0.3]
    network = ensembles.chain(3, loop=loops, gain=10)
    np.testing.assert_array_equal(np.diag(network.A), loops)
    np.testing.assert_array_equal(np.diag(network.A, -1), [10, 10])
    assert network.spectral_radius == 0.5


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


def test_legs_matrix():
    A, B = continuous(ensembles.hippo_legs(4, step=0.5), 0.5)
    np.testing.assert_allclose(B, np.sqrt([1, 3, 5, 7]), atol=1e-12)
    np.testing.assert_allclose(np.diag(A), [-1, -2, -3, -4], atol=1e-12)
    assert A[2, 1] == pytest.approx(-np.sqrt(15), abs=1e-12)


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


class TestScaling:
    def test_radius_of_sparse_and_complex_matrices(self):
        rng = np.random.default_rng(1)
        A = rng.standard_normal((30, 30)) + 1j * rng.standard_normal((30, 30))
        scaled = scale_to_spectral_radius(A, 0.7)
        assert np.abs(np.linalg.eigvals(scaled)).max() == pytest.approx(0.7, abs=RADIUS_ERROR)
        stored = scale_to_spectral_radius(sparse.csr_array(A), 0.7)
        np.testing.assert_allclose(stored.toarray(), scaled, atol=1e-15)

    def test_nilpotent_matrix_has_no_radius_to_scale(self):
        with pytest.raises(ValueError, match=r"spectral radius 0 .* Raise the density"):
            scale_to_spectral_radius(np.eye(5, k=-1), 0.9)
        np.testing.assert_array_equal(scale_to_spectral_radius(np.eye(5, k=-1), 0), 0)
        with pytest.raises(ValueError, match="spectral radius 0"):
            ensembles.sparse_normal(30, seed=0, density=0.02)
        assert ensembles.sparse_normal(30, seed=0, density=0.02, scaling="spectral_norm").A.any()

    def test_hidden_nilpotent_matrix_is_found_out(self):
        Q = ensembles.orthogonal(15, seed=1, spectral_radius=1).A
        with pytest.raises(ValueError, match="rounding moves"):
            scale_to_spectral_radius(Q @ np.eye(15, k=-1) @ Q.T, 0.9)

    def test_norm(self):
        scaled = scale_to_spectral_norm(np.eye(5, k=-1), 0.9)
        np.testing.assert_allclose(scaled, 0.9 * np.eye(5, k=-1), atol=1e-15)
        np.testing.assert_array_equal(scale_to_spectral_norm(np.zeros((2, 2)), 0), 0)
        with pytest.raises(ValueError, match="`A` is zero"):
            scale_to_spectral_norm(np.zeros((2, 2)), 0.9)

    def test_circular_law(self):
        np.testing.assert_allclose(scale_by_circular_law(np.ones((4, 4)), 0.5, 4.0), 0.125)
        with pytest.raises(ValueError, match="`variance` must be a finite number above 0"):
            scale_by_circular_law(np.ones((4, 4)), 0.5, 0)

    @pytest.mark.parametrize("A", [np.ones((2, 3)), np.ones(3), np.ones((0, 0))])
    def test_matrix_must_be_square(self, A):
        with pytest.raises(ValueError, match=r"`A` must (be a square matrix|have at least)"):
            scale_to_spectral_radius(A, 0.9)

    def test_matrix_must_be_finite(self):
        for A in (np.diag([1, np.nan]), sparse.csr_array(np.diag([1, np.nan]))):
            with pytest.raises(ValueError, match="`A` must be finite"):
                scale_to_spectral_radius(A, 0.9)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("normal", {"spectral_radius": -0.1}, "`spectral_radius` must be a finite number at least"),
        ("orthogonal", {"spectral_radius": np.inf}, "`spectral_radius`"),
        ("cyclic", {"spectral_radius": "0.9"}, "`spectral_radius`"),
        ("normal", {"scaling": "norm"}, "`scaling` must be one of spectral_radius, spectral_norm"),
        ("sp_c", {"scaling": "circular_law"}, "`scaling` must be one of"),
        ("sparse_normal", {"density": 0}, "`density` must be a finite number above 0"),
        ("sparse_uniform", {"density": 1.01}, "`density`"),
        ("sp_c", {"density": 0.05}, "`density` must be at least 1/N"),
        ("sp_c", {"reciprocal_condition": 0}, "`reciprocal_condition`"),
        ("hippo_legs", {"step": 0}, "`step` must be a finite number above 0"),
        ("hippo_legt", {"step": np.nan}, "`step`"),
        ("hippo_legs", {"discretisation": "euler"}, "`discretisation` must be one of bilinear"),
        ("chain", {"loop": [0.1, 0.2]}, "`loop` must be one number or 12 of them"),
        ("chain", {"gain": np.inf}, "`gain`"),
        ("delay_line", {"gain": None}, "`gain`"),
        ("permutation", {"cycles": [5, 6]}, "`cycles` must add up to `size`"),
        ("permutation", {"cycles": []}, "`cycles`"),
        ("permutation", {"cycles": [12, 0]}, "`cycles` must be a positive integer"),
        ("lru_ring", {"radius_min": 1.0}, "`radius_min`"),
        ("lru_ring", {"radius_max": 0.5}, "`radius_max`"),
        ("lru_ring", {"phase_max": -1}, "`phase_max`"),
    ],
)
def test_wrong_options(name, options, message):
    with pytest.raises(ValueError, match=message):
        ensembles.make(name, 12, seed=1, **options)


def test_unknown_names_and_options_list_the_known():
    with pytest.raises(ValueError, match=r"`ensemble` must be one of normal, .*; got 'gauss'"):
        ensembles.make("gauss", 10, seed=1)
    with pytest.raises(
        TypeError, match=r"cyclic does not take `density`; it takes spectral_radius, mask, seed\."
    ):
        ensembles.make("cyclic", 10, density=0.1)


def test_names_tell_the_mask_and_its_seed():
    assert ensembles.cyclic(4, mask="ones", seed=3).name == "cyclic, N=4, ρ=0.9, mask ones"
    assert ensembles.cyclic(4, mask="normal", seed=3).name.endswith("mask normal, seed 3")
