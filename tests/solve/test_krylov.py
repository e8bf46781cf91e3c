"""Squeezing of the Krylov space: three ways to measure it, and the laws that describe it."""

import numpy as np
import pytest

from memcurve import ensembles
from memcurve.network import krylov


@pytest.mark.parametrize("by", ["arnoldi", "svd"])
def test_components_by_every_way(by: str) -> None:
    """The diagonal of R in K = QR, for a network small enough that all ways agree."""
    network = ensembles.normal(8, seed=1, spectral_radius=0.9)
    K = krylov.krylov_matrix(network.A, network.C, 8)
    truth = np.abs(np.diag(np.linalg.qr(K)[1]))
    assert np.allclose(krylov.orthogonal_components(network, 8, by=by), truth, rtol=1e-8)


def test_components_of_a_delay_line_and_a_ring() -> None:
    assert np.array_equal(krylov.orthogonal_components(ensembles.delay_line(5), 5), np.ones(5))
    ring = krylov.orthogonal_components(ensembles.cyclic(5, spectral_radius=0.5), 5)
    assert np.allclose(ring, 0.5 ** np.arange(5), rtol=1e-14)


def test_squeezing_is_faster_than_exponential() -> None:
    network = ensembles.normal(100, seed=1, mask="ones")
    arnoldi = krylov.orthogonal_components(network, 100)
    assert arnoldi[-1] < 1e-20
    # the other way ends in rounding noise
    assert krylov.orthogonal_components(network, 100, by="svd")[-1] > 1e3 * arnoldi[-1]
    assert krylov.numerical_rank(network) < 80
    assert krylov.numerical_rank(ensembles.orthogonal(100, seed=1)) == 100


def test_arnoldi_basis_stays_orthonormal() -> None:
    network = ensembles.symmetric(80, seed=1)
    Q, _ = krylov.arnoldi_basis(network.A, network.C, 80)
    assert np.abs(Q.T @ Q - np.eye(80)).max() < 1e-13
    Q, lengths = krylov.arnoldi_basis(0.5 * np.eye(4), np.ones(4), 4, breakdown=1e-12)
    assert Q.shape == (4, 1)
    assert len(lengths) == 1


def test_corrected_decay_law_is_the_better_one() -> None:
    """Mean |log10| error over Gaussian networks: about 2.8 as printed, about 0.35 corrected."""
    errors = {True: [], False: []}
    for seed in range(5):
        network = ensembles.normal(100, seed=seed, mask="ones", scaling="circular_law")
        truth = np.log10(krylov.orthogonal_components(network, 100))
        for as_printed, found in errors.items():
            law = np.log10(krylov.decay_law(100, 0.9, 100, as_printed=as_printed))
            found.append(np.abs(law - truth).mean())
    assert np.mean(errors[False]) < 0.5
    assert np.mean(errors[True]) > 2.5
    assert krylov.decay_law(10, 0.9, 3)[0] == 1
    assert krylov.decay_law(10, 0.9, 3)[1] == pytest.approx(0.9 * np.sqrt(0.9))
    assert krylov.decay_law(10, 0.9, 11)[-1] == 0  # there are no more than ten directions
    assert krylov.decay_law(10, 0.9, 3, as_printed=True)[1] == pytest.approx(np.sqrt(0.9))


@pytest.mark.parametrize(("size", "draws"), [(2, 4000), (5, 4000), (20, 1000)])
def test_decay_law_is_the_mean_square_of_gaussian_networks(size: int, draws: int) -> None:
    """Entries of variance ρ²/N, a mask of length one: within four standard errors at every j."""
    rng = np.random.default_rng(1)
    squares = np.empty((draws, size))
    for one in squares:
        A = rng.normal(0, 0.9 / np.sqrt(size), (size, size))
        mask = rng.standard_normal(size)
        lengths = krylov.arnoldi_basis(A, mask / np.linalg.norm(mask), size)[1]
        one[:] = np.cumprod(lengths) ** 2
    law = krylov.decay_law(size, 0.9, size) ** 2
    error = squares.std(axis=0) / np.sqrt(draws)
    assert (np.abs(squares.mean(axis=0) - law) <= 4 * error + 1e-12).all()
    printed = krylov.decay_law(size, 0.9, size, as_printed=True) ** 2
    assert (np.abs(squares.mean(axis=0) - printed)[1:] > 4 * error[1:]).all()


def test_eigenvalue_products_follow_the_components() -> None:
    network = ensembles.normal(100, seed=3, mask="ones")
    product = krylov.eigenvalue_products(network, 100)
    components = krylov.orthogonal_components(network, 100)
    assert np.abs(np.log10(product) - np.log10(components)).mean() < 2
    assert product[0] == 1
    assert product[1] == pytest.approx(0.9)
