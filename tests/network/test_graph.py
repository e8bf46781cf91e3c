"""What the wiring allows: Hosoe's generic dimension, against exact ranks and brute force."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.sparse import csr_array

import memcurve
from memcurve.network.graph import generically_driven, most_nodes_on_cycles
from memcurve.network.modular import krylov_rank
from refusals import refuses


def drawn(rng: np.random.Generator, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A pattern with few edges, and who is driven by which of some inputs."""
    size, inputs = int(rng.integers(1, most)), int(rng.integers(1, 4))
    edges = rng.random((size, size)) < rng.uniform(0, 0.4)
    return edges, rng.random((size, inputs)) < rng.uniform(0.1, 0.5)


@pytest.mark.parametrize("seed", range(120))
def test_the_structural_rank_is_the_rank_of_random_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges, mask = drawn(rng, 13)
    A, C = (part * rng.standard_normal(part.shape) for part in (edges, mask))
    found = memcurve.structural_rank((csr_array(A), C))
    assert found.rank == (krylov_rank(A, C) if C.any() else 0)
    assert found.rank + len(found.unreached) + len(found.surplus) == len(A)
    # equal weights are as special as weights get
    ones = edges.astype(float), mask.astype(float)
    assert memcurve.rank(ones) <= found.rank


@pytest.mark.parametrize("seed", range(40))
def test_as_many_nodes_as_any_choice_covers(seed: int) -> None:
    """All ways to give each node one driver of its own, or none: n ≤ 4."""
    rng = np.random.default_rng([1, seed])
    edges, mask = drawn(rng, 5)
    size, drivers = len(edges), np.hstack([edges, mask])
    reached = (mask.any(axis=1)) | np.zeros(size, bool)
    for _ in range(size):
        reached |= edges @ reached

    def covered(choice: tuple[int, ...]) -> int:
        own = [drivers[node, driver] for node, driver in enumerate(choice)]
        fits = all(yes or choice[node] == node for node, yes in enumerate(own))
        return sum(yes and reached[node] for node, yes in enumerate(own)) if fits else 0

    best = max(map(covered, permutations(range(drivers.shape[1]), size)), default=0)
    assert np.count_nonzero(generically_driven(edges, mask)) == best
    cycles = [
        sum(edges[node, driver] for node, driver in enumerate(choice))
        for choice in permutations(range(size))
        if all(edges[i, j] or i == j for i, j in enumerate(choice))
    ]
    assert most_nodes_on_cycles(edges) == max(cycles)


def test_two_delay_lines_share_one_input() -> None:
    """The prices of all nodes of one line rise together: one shortest path, not one a node."""
    length = 20_000
    steps = np.concatenate([np.arange(length - 1), length + np.arange(length - 1)])
    A = csr_array((np.ones(len(steps)), (steps + 1, steps)), shape=(2 * length, 2 * length))
    C = np.zeros(2 * length)
    C[[0, length]] = 1
    found = memcurve.structural_rank((0.5 * A, C))
    assert found.rank == len(found.surplus) == length
    each = np.zeros((2 * length, 2))
    each[0, 0] = each[length, 1] = 1
    assert memcurve.structural_rank((0.5 * A, each)).rank == 2 * length


def test_stars_and_unreached_nodes() -> None:
    """A hub drives m leaves, of which one can be told apart, and some nodes are not reached."""
    for leaves, unreached in product((1, 3, 10), (0, 2)):
        size = 1 + leaves + unreached
        A = np.zeros((size, size))
        A[1 : 1 + leaves, 0] = 0.5
        C = np.eye(size)[0]
        found = memcurve.structural_rank((A, C))
        assert found.rank == memcurve.rank((A, C)) == 2
        assert len(found.surplus) == leaves - 1
        assert found.unreached.tolist() == list(range(1 + leaves, size))


def test_no_edges_no_input_all_edges() -> None:
    rng = np.random.default_rng(1)
    dense = 0.1 * rng.standard_normal((5, 5))
    assert memcurve.structural_rank((dense, np.ones(5))).rank == 5
    assert memcurve.structural_rank((dense, np.zeros(5))).unreached.tolist() == list(range(5))
    assert memcurve.structural_rank((np.zeros((3, 3)), np.ones(3))).rank == 1
    assert memcurve.structural_rank((np.zeros((3, 3)), np.eye(3))).rank == 3
    network = memcurve.LinearNetwork(dense, np.ones(5), [0])
    refuses(ValueError, "`network`", memcurve.structural_rank, network)
