"""Networks as they are measured: few weights a node, often equal, with parts that repeat."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import Floats

WEIGHTS = ("normal", "equal", "integer", "signs")
MASKS = ("random", "ones", "some")


def weighted(pattern: NDArray[np.bool_], weights: str, rng: np.random.Generator) -> Floats:
    """Weights of one kind where the pattern has an edge."""
    count = int(np.count_nonzero(pattern))
    values = {
        "normal": rng.standard_normal(count),
        "equal": np.ones(count),
        "integer": rng.integers(-3, 4, count).astype(float),
        "signs": rng.choice([-1.0, 1.0], count),
    }[weights]
    A = np.zeros(pattern.shape)
    A[pattern] = values
    return A


def random_graph(size: int, k: int, rng: np.random.Generator) -> Any:
    """Edges at random, k a node in the mean."""
    return rng.random((size, size)) < k / size


def fixed_in_degree(size: int, k: int, rng: np.random.Generator) -> Any:
    """Every node is driven by k others."""
    return rng.permuted(np.tile(np.arange(size) < k, (size, 1)), axis=1)


def scale_free(size: int, k: int, rng: np.random.Generator) -> Any:
    """Preferential attachment, most edges in one direction, some in both."""
    pattern, ends = np.zeros((size, size), bool), list(range(k + 1))
    for node in range(k + 1, size):
        for other in rng.choice(ends, k):
            pattern[node, other] = rng.random() < 0.7
            pattern[other, node] = rng.random() < 0.4
            ends += [int(other), node]
    return pattern


def small_world(size: int, k: int, rng: np.random.Generator) -> Any:
    """A ring of neighbours, some of them moved anywhere, half of the edges one-way."""
    pattern = np.zeros((size, size), bool)
    for node in range(size):
        for step in range(1, k + 1):
            other = int(rng.integers(size)) if rng.random() < 0.1 else (node + step) % size
            pattern[node, other] = True
            pattern[other, node] = rng.random() < 0.5
    return pattern


def feed_forward_with_loops(size: int, k: int, rng: np.random.Generator) -> Any:
    """No cycles but self-loops on half of the nodes."""
    pattern = np.tril(random_graph(size, k, rng), -1)
    pattern[np.diag_indices(size)] = rng.random(size) < 0.5
    return pattern


def block_triangular(size: int, k: int, rng: np.random.Generator) -> Any:
    """Blocks of ten nodes, each driven by those before it."""
    block = np.arange(size) // 10
    inside = (block[:, None] == block) & (rng.random((size, size)) < 0.4)
    return inside | ((block[:, None] > block) & random_graph(size, k, rng))


FAMILIES = (
    random_graph,
    fixed_in_degree,
    scale_free,
    small_world,
    feed_forward_with_loops,
    block_triangular,
)


def network_of(
    family: Any, size: int, k: int, weights: str, mask: str, seed: int
) -> tuple[Floats, Floats]:
    """A network of a family, of spectral radius 0.9 unless it has no cycle, and its mask."""
    rng = np.random.default_rng(seed)
    A = weighted(family(size, k, rng), weights, rng)
    radius = float(np.abs(np.linalg.eigvals(A)).max())
    if radius > 1e-3:
        A = A * (0.9 / radius)
    C = np.ones(size) if mask == "ones" else rng.standard_normal(size)
    if mask == "some":
        C[rng.random(size) < 0.7] = 0
        C[0] = 1.0
    return A, C


def draw(seed: int, largest: int = 60) -> tuple[Floats, Floats]:
    """A network of any of them."""
    rng = np.random.default_rng([seed, 1])
    size = int(rng.integers(8, largest))
    k = min(int(rng.choice([1, 2, 2, 3, 5])), size // 3)
    family = FAMILIES[seed % len(FAMILIES)]
    return network_of(family, size, k, str(rng.choice(WEIGHTS)), str(rng.choice(MASKS)), seed)
