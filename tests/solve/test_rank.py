"""The exact rank by sparse products modulo primes, against dense ways and closed forms."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array, random_array

import memcurve
from memcurve import ensembles
from memcurve.network.modular import (
    KrylovSequence,
    krylov_rank,
    minimal_polynomial,
    primes_for,
    residues,
    uncontrollable_modes,
)
from truth import independent_rows


def sparse_network(size: int) -> memcurve.LinearNetwork:
    rng = np.random.default_rng(size)
    A = csr_array(random_array((size, size), density=6 / size, random_state=rng))
    return memcurve.LinearNetwork(A * 0.1, rng.standard_normal(size))


@pytest.mark.parametrize("seed", range(60))
def test_ranks_are_those_of_the_oracle(seed: int) -> None:
    """Of sparse and dense matrices, for several inputs, rows that are read, special weights."""
    rng = np.random.default_rng(seed)
    size, inputs = int(rng.integers(2, 16)), int(rng.integers(1, 4))
    A = (rng.random((size, size)) < rng.uniform(0.05, 0.5)) * rng.integers(-1, 2, (size, size))
    A = A * 2.0 ** rng.integers(-6, 3)
    C = (rng.random((size, inputs)) < 0.4).astype(float)
    C[0, 0] = 1.0
    rows = np.sort(rng.choice(size, int(rng.integers(1, size)), replace=False))
    sparse = csr_array(A.astype(float))
    for mask, read in ((C, np.arange(size)), (C, rows), (C[:, :1], rows)):
        rank = len(independent_rows(A, mask, read.tolist()))
        for each in (sparse, A.astype(float)):
            assert krylov_rank(each, mask, None if len(read) == size else read) == rank
    rank = len(independent_rows(A, C[:, :1], [*range(size)]))
    for each in (sparse, A.astype(float)):
        assert minimal_polynomial(each, C[:, 0]).degree == rank


def test_uncontrollable_eigenvalues() -> None:
    """A nilpotent block of four, whose zeros are all controllable, and 0.5 twice, 0.25 once."""
    B = np.zeros((7, 7))
    B[:4, :4], B[4:, 4:] = np.eye(4, k=-1), np.diag([0.5, 0.5, 0.25])
    exact = minimal_polynomial(B, np.ones(7))
    assert exact[:2] == (6, 4)
    loops = [*np.diag(B[4:, 4:])[:, None, None]]
    [modes], unknown = uncontrollable_modes([B[:4, :4], *loops], exact.modulo)
    assert (modes.values.tolist(), modes.multiplicity, modes.controllable) == ([0.5], 2, 1)
    assert (modes.blocks, unknown) == ((1, 2), 0)
    exact = minimal_polynomial(B, np.eye(7)[2])
    assert exact[:2] == (2, 2)
    [zeros, *others], unknown = uncontrollable_modes([B], exact.modulo)
    assert (zeros.values.tolist(), zeros.multiplicity, zeros.controllable) == ([0], 4, 2)
    assert {each.values[0].real: each.times for each in others} == {0.5: 2, 0.25: 1}
    assert unknown == 0
    assert minimal_polynomial(B, np.zeros(7))[:2] == (0, 0)


def test_uncontrollable_eigenvalues_of_a_large_block() -> None:
    """A bipartite graph of equal weights whose leaves repeat: ±√2 w and 0, known as integers."""
    star = np.zeros((3, 3))
    star[0, 1:] = star[1:, 0] = 0.3
    A = np.kron(np.eye(12), star)
    A[0, 3::3] = A[3::3, 0] = 0.3  # the centres of eleven stars are joined to that of the first
    exact = minimal_polynomial(A, np.eye(36)[0])
    modes, unknown = uncontrollable_modes([A], exact.modulo)
    assert unknown == 0
    found = {round(complex(v).real, 12): each.times for each in modes for v in each.values}
    own = round(0.3 * 2**0.5, 12)
    assert found == {0.0: 12, own: 10, -own: 10}  # of two leaves what differs; of ten stars more


@pytest.mark.parametrize("tail", [0, 3])
def test_rank_of_a_path(tail: int) -> None:
    """A mask that some of the modes of a cycle of six do not see: those of a cycle of three."""
    rng = np.random.default_rng(tail)
    size = tail + 6
    weights = rng.choice([0.5, -0.25, 2.0], size)
    weights[-1] = 2.0**-6 / np.prod(weights[tail:-1])  # λ⁶ = 2⁻⁶
    A = np.diag(weights[:-1], -1)
    A[tail, -1] += weights[-1]
    scales = np.append(1.0, np.cumprod(weights[:-1]))
    shared = np.convolve([2.0**-3, 0, 0, 1], [1, 2, -1, 0, 3, 1][: size - 3])  # z³ + 2⁻³
    for mask, rank in ((rng.integers(1, 9, size), size), (scales * shared, size - 3)):
        C = np.asarray(mask, float)
        assert minimal_polynomial(A, C).degree == rank


def test_several_inputs_become_one() -> None:
    """Five equal eigenvalues: one input excites one of them, d inputs d, feedback or not."""
    rng = np.random.default_rng(1)
    for inputs in (1, 2, 4, 5, 7):
        C = rng.standard_normal((5, inputs))
        assert krylov_rank(csr_array(0.5 * eye_array(5)), C) == min(5, inputs)


def test_terms_are_exact() -> None:
    """Against Python's integers, in a row of 3,000 entries and a sum over as many states."""
    rng = np.random.default_rng(1)
    size = 3000
    A = random_array((size, size), density=0.002, random_state=rng, format="lil")
    A[0] = rng.standard_normal(size)
    A, C = csr_array(A), rng.standard_normal(size)
    prime = primes_for(A)[0]
    sequence = KrylovSequence(A, C, prime, np.random.default_rng(2))
    x, u = ([int(r) for r in each] for each in (residues(C, prime), sequence._u))
    entries = A.tocoo()
    weights = [int(r) for r in residues(entries.data, prime)]
    for _ in range(3):
        [block] = sequence.blocks(1)
        assert [int(each) % prime for each in block[:, 0]] == [each % prime for each in x]
        assert sequence.terms[-1] == sum(a * b for a, b in zip(u, x, strict=True)) % prime
        after = [0] * size
        for i, j, weight in zip(entries.row, entries.col, weights, strict=True):
            after[i] += weight * x[j]
        x = [number % prime for number in after]


@pytest.mark.parametrize("inputs", [1, 3])
def test_dense_and_sparse_sequences_have_the_same_rank(inputs: int) -> None:
    """Of rows, too: five copies of one block, of which each input drives one."""
    rng = np.random.default_rng(inputs)
    A = np.kron(np.eye(5), rng.standard_normal((8, 8)))
    C, rows = rng.standard_normal((40, inputs)), np.arange(13)
    for each in (A, csr_array(A)):
        assert krylov_rank(each, C) == 8 * inputs
        assert krylov_rank(each, C, rows) == min(13, 8 * inputs)


def test_a_low_rank_is_found_early() -> None:
    """A mask of three eigenvectors: two looks at the sequence, not 2n terms."""
    size, steps = 2000, []
    A = csr_array(np.diag(np.arange(1.0, size + 1)) / size)
    C = np.zeros(size)
    C[[3, 50, 1999]] = 1
    assert minimal_polynomial(A, C, None, lambda *told: steps.append(told)).degree == 3
    assert memcurve.rank((A, C)) == 3
    assert max(done for _, done, total in steps if done < total) <= 512


def test_rank_is_that_of_the_curve() -> None:
    sparse = sparse_network(300)
    several = ensembles.normal(20, seed=1).replace(C=np.eye(20)[:, :3])
    for network in (
        ensembles.normal(30, seed=1),
        ensembles.cyclic(12),
        sparse,
        sparse.replace(readout=[1, 5, 7]),
        several,
        several.replace(readout=[0, 4]),
    ):
        assert memcurve.rank(network) == memcurve.memory_curve(network).rank
    assert memcurve.rank(sparse.replace(C=np.zeros(300))) == 0
    rotation = memcurve.LinearNetwork(np.diag([0.5j, -0.5j, 0.3]), [1, 1, 1j])
    assert memcurve.rank(rotation) == memcurve.memory_curve(rotation).rank


def test_progress_is_told() -> None:
    told: list[tuple[str, int, int | None]] = []
    network = sparse_network(400)
    memcurve.rank(network, progress=lambda *step: told.append(step))
    assert told[-1][1] == told[-1][2] == 2 * memcurve.structural_rank(network).rank
    assert all(before[1] <= after[1] for before, after in pairwise(told))
