"""Scaling a connectivity: what it is scaled to, and what cannot be scaled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from memcurve import ensembles
from memcurve.network.scaling import (
    scale_by_circular_law,
    scale_to_spectral_norm,
    scale_to_spectral_radius,
)
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
    with pytest.raises(ValueError, match=r"spectral radius 0 .* Raise the density"):
        scale_to_spectral_radius(np.eye(5, k=-1), 0.9)
    np.testing.assert_array_equal(scale_to_spectral_radius(np.eye(5, k=-1), 0), 0)
    with pytest.raises(ValueError, match="spectral radius 0"):
        ensembles.sparse_normal(30, seed=0, density=0.02)
    assert ensembles.sparse_normal(30, seed=0, density=0.02, scaling="spectral_norm").A.any()


def test_hidden_nilpotent_matrix_is_found_out():
    Q = ensembles.orthogonal(15, seed=1, spectral_radius=1).A
    with pytest.raises(ValueError, match="rounding moves"):
        scale_to_spectral_radius(Q @ np.eye(15, k=-1) @ Q.T, 0.9)


def test_norm():
    scaled = scale_to_spectral_norm(np.eye(5, k=-1), 0.9)
    np.testing.assert_allclose(scaled, 0.9 * np.eye(5, k=-1), atol=1e-15)
    np.testing.assert_array_equal(scale_to_spectral_norm(np.zeros((2, 2)), 0), 0)
    with pytest.raises(ValueError, match="`A` is zero"):
        scale_to_spectral_norm(np.zeros((2, 2)), 0.9)


def test_circular_law():
    np.testing.assert_allclose(scale_by_circular_law(np.ones((4, 4)), 0.5, 4.0), 0.125)
    with pytest.raises(ValueError, match="`variance` must be a finite number above 0"):
        scale_by_circular_law(np.ones((4, 4)), 0.5, 0)


@pytest.mark.parametrize("A", [np.ones((2, 3)), np.ones(3), np.ones((0, 0))])
def test_matrix_must_be_square(A):
    with pytest.raises(ValueError, match=r"`A` must (be a square matrix|have at least)"):
        scale_to_spectral_radius(A, 0.9)


def test_matrix_must_be_finite():
    for A in (np.diag([1, np.nan]), sparse.csr_array(np.diag([1, np.nan]))):
        with pytest.raises(ValueError, match="`A` must be finite"):
            scale_to_spectral_radius(A, 0.9)
