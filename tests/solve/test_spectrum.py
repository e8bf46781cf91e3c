"""The judge of controllability: ranks known by construction, and every part on its own."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from memcurve import LinearNetwork, UnstableNetworkError, controllable_spectrum, ensembles
from memcurve.network.modular import minimal_polynomial
from memcurve.solve.balls.plain import enclose
from memcurve.solve.powers import power_norms
from structured_cases import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_ranks_of_structured_cases(case: Case) -> None:
    spectrum = controllable_spectrum(LinearNetwork(case.A, case.C))
    rank = case.rank
    if rank is None:
        nodes = spectrum.reachable
        rank = enclose(case.A[np.ix_(nodes, nodes)], case.C[nodes], 1).rank
    assert spectrum.rank == rank
    assert spectrum.rank_robust == (rank if case.robust is None else case.robust)
    assert spectrum.poles is not None
    assert len(spectrum.poles) == rank
    assert np.all(np.abs(spectrum.poles) < 1)


def test_modular_degree_is_exact_for_the_largest_residues() -> None:
    """Dense residues of full size: any rounding in the products would spoil the recurrence."""
    for size in (200, 401):
        block = ensembles.normal(size // 2, seed=size).A
        A = np.zeros((size, size))
        A[: size // 2, : size // 2] = A[-(size // 2) :, -(size // 2) :] = block
        C = np.random.default_rng(size).standard_normal(size)
        assert minimal_polynomial(A, C).degree == size // 2 + size % 2


def test_reachable_nodes_and_margin() -> None:
    A = np.array([[0.5, 0, 0], [0.1, 0.4, 0], [0, 0, 0.3]])
    spectrum = controllable_spectrum(LinearNetwork(A, [1, 0, 0]))
    assert spectrum.reachable.tolist() == [0, 1]
    assert spectrum.rank == 2
    # left eigenvectors (1, 0) and (1, 1)/√2 of the reachable block: the smaller excitation is 1/√2
    assert spectrum.margin == pytest.approx(np.sqrt(0.5))


def test_stored_zeros_of_a_sparse_matrix_are_no_edges() -> None:
    A = csr_array(([0.5, 0.0, 0.4], ([0, 1, 1], [0, 0, 1])), shape=(2, 2))
    assert controllable_spectrum(LinearNetwork(A, [1, 0])).reachable.tolist() == [0]


def test_clear_instability_is_seen_at_once() -> None:
    with pytest.raises(UnstableNetworkError, match=r"modulus 1\.2"):
        controllable_spectrum(ensembles.normal(200, seed=1, spectral_radius=1.2))


@pytest.mark.parametrize(("size", "radius"), [(40, 0.9), (250, 0.9), (250, 0.999)])
def test_power_energy(size: int, radius: float) -> None:
    """Σ‖Aᵏ‖_F² is N/(1 − ρ²) for ρ times an orthogonal matrix; never below, hardly above."""
    A = ensembles.orthogonal(size, seed=1, spectral_radius=radius).A
    truth = size / (1 - radius**2)
    assert truth * (1 - 1e-6) <= power_norms(np.asfortranarray(A)).squares <= 6 * truth


def test_power_energy_of_a_transient() -> None:
    chain = ensembles.chain(12, loop=0.1, gain=5.0).A
    powers = [np.linalg.matrix_power(chain, k) for k in range(200)]
    truth = sum((P**2).sum() for P in powers)
    assert truth * (1 - 1e-6) <= power_norms(np.asfortranarray(chain)).squares <= 2.1 * truth
    assert power_norms(np.asfortranarray(1.1 * np.eye(3)))[:2] == (np.inf, np.inf)
