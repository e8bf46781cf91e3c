"""Families of networks on which careless methods fail, drawn at random from a seed."""

from collections.abc import Callable

import numpy as np
from scipy.linalg import block_diag

from memcurve import LinearNetwork, ensembles

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def _rotation(size: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(ensembles.orthogonal(size, spectral_radius=1.0, seed=rng).A)


def _radius(A: np.ndarray, radius: float) -> np.ndarray:
    largest = np.abs(np.linalg.eigvals(A)).max()
    return A * (radius / largest) if largest > 1e-3 else A


def _gaussian(size: int, rng: np.random.Generator, radius: float = 0.9) -> np.ndarray:
    return _radius(rng.standard_normal((size, size)), radius)


def dense(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Independent normal entries, the generic case."""
    size = int(rng.integers(2, 90))
    return _gaussian(size, rng, rng.uniform(0.3, 0.99)), rng.standard_normal(size)


def _sparse(rng: np.random.Generator, density: float) -> tuple[np.ndarray, np.ndarray]:
    size = int(rng.integers(20, 100))
    A = np.where(rng.random((size, size)) < density, rng.standard_normal((size, size)), 0.0)
    C = rng.standard_normal(size) * (rng.random(size) < rng.choice([0.2, 1.0]))
    return _radius(A, 0.9), C


def sparse_2_percent(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Many unreachable nodes, sources and structural zero eigenvalues."""
    return _sparse(rng, 0.02)


def sparse_5_percent(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Some structural zero eigenvalues."""
    return _sparse(rng, 0.05)


def rotated_jordan(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Jordan blocks hidden by a rotation: eigenvalues known to eps^(1/size) only."""
    blocks = [
        rng.uniform(-0.7, 0.7) * np.eye(n) + rng.uniform(0.1, 1.0) * np.eye(n, k=-1)
        for n in rng.integers(2, 12, size=rng.integers(1, 4))
    ]
    A = block_diag(*blocks)
    Q = _rotation(len(A), rng)
    return Q @ A @ Q.T, rng.standard_normal(len(A))


def repeated_blocks(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The same block twice or thrice: half or more of the modes cannot be driven apart."""
    block = _gaussian(int(rng.integers(2, 20)), rng)
    A = block_diag(*[block] * int(rng.integers(2, 4)))
    C = rng.standard_normal(len(A))
    if rng.random() < 0.5:
        Q = _rotation(len(A), rng)
        return Q @ A @ Q.T, Q @ C
    return A, C


def permutations(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Cycles that share eigenvalues, with masks of low period among the random ones."""
    cycles = [int(n) for n in rng.integers(1, 16, size=rng.integers(1, 5))]
    A = ensembles.permutation(cycles=cycles, spectral_radius=rng.uniform(0.5, 0.99), seed=rng).A
    C = rng.choice([np.ones(len(A)), rng.standard_normal(len(A)), np.eye(len(A))[0]])
    return np.asarray(A), C


def hidden_symmetry(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A commutes with a reflection and C is even under it: the odd modes are never driven."""
    half = int(rng.integers(2, 25))
    P, Q = rng.standard_normal((2, half, half))
    if rng.random() < 0.5:
        P, Q = P + P.T, Q + Q.T
    A = _radius(np.block([[P, Q], [Q, P]]), 0.9)
    A[half:, half:], A[half:, :half] = A[:half, :half], A[:half, half:]
    c = rng.standard_normal(half)
    return A, np.concatenate([c, c])


def gain_chains(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Feed-forward chains with transient growth up to 1e10 and beyond."""
    size = int(rng.integers(3, 40))
    loops = rng.choice([np.zeros(size), rng.uniform(-0.9, 0.9, size), np.full(size, 0.5)])
    gain = 10 ** rng.uniform(-2, 1)
    A = np.diag(loops) + gain * np.eye(size, k=-1)
    if rng.random() < 0.3:  # one weak backward edge closes a cycle through everything
        A[0, -1] = 1e-3 * gain ** -(size - 1.0)
    return A, rng.choice([np.eye(size)[0], rng.standard_normal(size)])


def near_unit(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Spectral radius 1 − 1e-2 … 1 − 1e-9: very long memory."""
    size = int(rng.integers(2, 50))
    radius = 1 - 10 ** rng.uniform(-9, -2)
    A = _rotation(size, rng) if rng.random() < 0.5 else rng.standard_normal((size, size))
    return _radius(A, radius), rng.standard_normal(size)


def companion(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Companion matrices, also of polynomials with repeated roots."""
    roots = rng.uniform(-0.9, 0.9, int(rng.integers(2, 25)))
    if rng.random() < 0.5:
        roots = np.round(roots * 3) / 4
    A = np.eye(len(roots), k=-1)
    A[:, -1] = -np.poly(roots)[:0:-1]
    return A, rng.choice([np.eye(len(A))[0], rng.standard_normal(len(A))])


def toeplitz(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Tridiagonal Toeplitz matrices: symmetric in disguise, but far from normal as stored."""
    size = int(rng.integers(5, 60))
    up, down = 10 ** rng.uniform(-2, 0, 2)
    A = up * np.eye(size, k=1) + down * np.eye(size, k=-1)
    return A * (rng.uniform(0.3, 0.95) / (2 * np.sqrt(up * down))), rng.standard_normal(size)


def integers(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Small integer matrices and masks times a float: singular, derogatory, defective by chance."""
    size = int(rng.integers(2, 8))
    A = rng.integers(-2, 3, (size, size)).astype(float)
    C = rng.integers(-1, 2, size).astype(float)
    factor = rng.choice([0.5, rng.uniform(0.3, 0.95)])
    largest = np.abs(np.linalg.eigvals(A)).max()
    return A * (factor / largest if largest > 1e-3 else 1.0), C


def low_rank(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sums of few dyadic rank-one matrices, with twin nodes and tiny exact eigenvalues."""
    size, rank = int(rng.integers(2, 9)), int(rng.integers(1, 4))
    U, V = rng.integers(-2, 3, (2, size, rank)).astype(float)
    A = U @ np.diag(2.0 ** rng.integers(-50, 1, rank)) @ V.T
    largest = np.abs(np.linalg.eigvals(A)).max()
    A = A * 2.0 ** -np.ceil(np.log2(largest) + 0.2) if largest > 1e-3 else A
    return A, rng.integers(-2, 3, size).astype(float)


def dyadic_jordan(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Jordan forms in exact dyadic coordinates: P J P⁻¹ with unimodular integer P."""
    size = int(rng.integers(2, 7))
    P, inverse = np.eye(size), np.eye(size)
    for _ in range(2 * size):
        i, j = rng.choice(size, 2, replace=False)
        m = float(rng.integers(-2, 3))
        P[i] += m * P[j]
        inverse[:, j] -= m * inverse[:, i]
    J = np.diag(rng.choice([0.0, 0.140625, 0.5, -0.75], size)) + np.diag(
        rng.choice([0.0, 1.0], size - 1), -1
    )
    return P @ J @ inverse, P @ rng.integers(-1, 2, size).astype(float)


def equal_leaks(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Feed-forward trees whose nodes all have the same self loop."""
    size = int(rng.integers(2, 12))
    A = rng.choice([0.5, 0.9, rng.uniform(0.1, 0.95)]) * np.eye(size)
    for node in range(1, size):
        A[node, rng.integers(0, node)] = 1.0
    return A, rng.choice([np.ones(size), np.eye(size)[0], rng.standard_normal(size)])


def circulant(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Circulant networks with masks that miss some harmonics."""
    size = int(rng.integers(3, 20))
    row = rng.integers(-1, 2, size).astype(float)
    A = np.array([np.roll(row, k) for k in range(size)])
    mask = rng.choice([np.ones(size), np.cos(2 * np.pi * np.arange(size) / size), np.eye(size)[0]])
    return _radius(A, rng.uniform(0.4, 0.95)), mask


def wide_range(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Weights over many binary orders; every other one has an exact mode the mask cannot drive."""
    size, span = int(rng.integers(3, 9)), int(rng.integers(5, 45))
    A = rng.standard_normal((size, size)) * 2.0 ** -rng.integers(0, span, (size, size))
    if rng.random() < 0.5:  # columns sum to the same dyadic number: 1ᵀ is a left eigenvector
        A = np.round(A * 2.0**50) * 2.0**-52 / size
        A = np.round(A * 2.0**50) * 2.0**-50
        A[-1] = 0.25 - A[:-1].sum(axis=0)
        C = rng.integers(-8, 9, size).astype(float)
        C[-1] = -C[:-1].sum()
        return A, C
    return _radius(A, 0.8), rng.standard_normal(size) * 2.0 ** -rng.integers(0, span, size)


def on_the_circle(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Spectral radius one, exactly or up to rounding: most of these are truly unstable."""
    size = int(rng.integers(2, 8))
    if rng.random() < 0.5:
        counts = rng.integers(0, 5, (size, size)).astype(float)
        counts[0] += 16 - counts.sum(axis=0)  # column sums are 16: stochastic after division
        return counts / 16, rng.integers(-1, 3, size).astype(float)
    return _rotation(size, rng), rng.standard_normal(size)


FAMILIES: dict[str, Draw] = {
    f.__name__: f
    for f in (
        dense, sparse_2_percent, sparse_5_percent, rotated_jordan, repeated_blocks, permutations,
        hidden_symmetry, gain_chains, near_unit, companion, toeplitz, integers, low_rank,
        dyadic_jordan, equal_leaks, circulant, wide_range, on_the_circle,
    )
}  # fmt: skip


def draw(family: str, seed: int) -> LinearNetwork:
    """Draw network number ``seed`` of a family."""
    A, C = FAMILIES[family](np.random.default_rng([list(FAMILIES).index(family), seed]))
    return LinearNetwork(A, C, name=f"{family} {seed}")
