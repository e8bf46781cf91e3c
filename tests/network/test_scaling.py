"""Scaling a connectivity: what it is scaled to, and what cannot be scaled."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence

from memcurve import ensembles
from memcurve.network import graph
from memcurve.network.graph import largest_modulus
from memcurve.network.scaling import (
    scale_by_circular_law,
    scale_to_spectral_norm,
    scale_to_spectral_radius,
)
from refusals import refuses
from tolerances import SCALED_RADIUS


def test_radius_of_sparse_and_complex_matrices():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((30, 30)) + 1j * rng.standard_normal((30, 30))
    scaled = scale_to_spectral_radius(A, 0.7)
    assert np.abs(np.linalg.eigvals(scaled)).max() == pytest.approx(0.7, abs=SCALED_RADIUS)
    stored = scale_to_spectral_radius(sparse.csr_array(A), 0.7)
    np.testing.assert_allclose(stored.toarray(), scaled, atol=1e-15)
    single = scale_to_spectral_radius(sparse.csr_array(A.astype(np.complex64)), 0.7)
    assert single.dtype == complex


def test_nilpotent_matrix_has_no_radius_to_scale():
    refuses(ValueError, ("`A`", "density"), scale_to_spectral_radius, np.eye(5, k=-1), 0.9)
    np.testing.assert_array_equal(scale_to_spectral_radius(np.eye(5, k=-1), 0), 0)
    refuses(ValueError, "spectral radius 0", ensembles.sparse_normal, 30, seed=0, density=0.02)
    assert ensembles.sparse_normal(30, seed=0, density=0.02, scaling="spectral_norm").A.any()


def test_hidden_nilpotent_matrix_is_found_out():
    Q = ensembles.orthogonal(15, seed=1, spectral_radius=1).A
    refuses(ValueError, "rounding moves", scale_to_spectral_radius, Q @ np.eye(15, k=-1) @ Q.T, 0.9)


def test_norm():
    scaled = scale_to_spectral_norm(np.eye(5, k=-1), 0.9)
    np.testing.assert_allclose(scaled, 0.9 * np.eye(5, k=-1), atol=1e-15)
    np.testing.assert_array_equal(scale_to_spectral_norm(np.zeros((2, 2)), 0), 0)
    refuses(ValueError, "`A`", scale_to_spectral_norm, np.zeros((2, 2)), 0.9)


def test_circular_law():
    np.testing.assert_allclose(scale_by_circular_law(np.ones((4, 4)), 0.5, 4.0), 0.125)
    refuses(ValueError, ("`variance`", "0"), scale_by_circular_law, np.ones((4, 4)), 0.5, 0)


@pytest.mark.parametrize("signs", [False, True])
def test_large_sparse_radius_is_that_of_lapack(signs: bool) -> None:
    """Several components, of which two are large; by Arnoldi's method against all eigenvalues."""
    rng = np.random.default_rng(3)

    def part(size: int) -> sparse.csr_array:
        weights = rng.standard_normal(5 * size) if signs else rng.uniform(0, 1, 5 * size)
        places = tuple(rng.integers(0, size, (2, 5 * size)))
        return sparse.csr_array((weights, places), shape=(size, size))

    A = sparse.csr_array(sparse.block_diag([part(310), part(20), part(330), [[0.01]]]))
    true = np.abs(np.linalg.eigvals(A.toarray())).max()
    assert largest_modulus(A) == pytest.approx(true, rel=1e-11)
    scaled = scale_to_spectral_radius(A, 0.9)
    assert np.abs(np.linalg.eigvals(scaled.toarray())).max() == pytest.approx(0.9, rel=1e-11)


def test_radius_that_the_iteration_does_not_find(monkeypatch) -> None:
    """All eigenvalues of a ring are of one size: then all of them are computed, or none."""
    ring = sparse.csr_array(np.eye(301)[np.roll(np.arange(301), 1)])
    monkeypatch.setattr("scipy.sparse.linalg.eigs", _no_convergence)
    assert largest_modulus(ring) == pytest.approx(1, abs=1e-12)
    monkeypatch.setattr(graph, "MOST_DENSE_AT_ALL", 300)
    refuses(ValueError, "cannot be found among its 301 nodes", largest_modulus, ring)


def _no_convergence(*_: object, **__: object) -> None:
    raise ArpackNoConvergence("too slow", np.empty(0), np.empty((301, 0)))
