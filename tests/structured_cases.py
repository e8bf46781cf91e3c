"""Networks whose rank is known by construction: (name, A, C, rank of the stored numbers, robust).

``rank`` is None where only the certified method knows it; ``robust`` is the rank up to rounding,
which is lower where a rotation has hidden an exact symmetry in the last digits.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag

from draws import of_radius
from memcurve import ensembles


class Case(NamedTuple):
    """One network and what is known of it."""

    name: str
    A: np.ndarray
    C: np.ndarray
    rank: int | None
    robust: int | None


def _cases() -> list[Case]:
    rng = np.random.default_rng(2023)
    cases: list[Case] = []

    def add(
        name: str, A: np.ndarray, C: np.ndarray, rank: int | None, robust: int | None = None
    ) -> None:
        cases.append(Case(name, A, C, rank, rank if robust is None else robust))

    def normal(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape)

    def gaussian(size: int) -> np.ndarray:
        return ensembles.normal(size, seed=rng).A

    def ring(size: int) -> np.ndarray:
        return ensembles.cyclic(size).A

    def rotated(A: np.ndarray, C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Q = ensembles.orthogonal(len(A), seed=rng, spectral_radius=1.0).A
        return Q @ A @ Q.T, Q @ C

    # rings and permutations: the rank counts distinct roots of unity that the mask excites
    add("ring 50, ones", ring(50), np.ones(50), 1)
    add("ring 50, one node", ring(50), np.eye(50)[0], 50)
    add("ring 50, two opposite nodes", ring(50), np.eye(50)[0] + np.eye(50)[25], 25)
    add("ring 50, a difference", ring(50), np.eye(50)[0] - np.eye(50)[1], 49)
    add("ring 51, two nodes", ring(51), np.eye(51)[3] + np.eye(51)[4], 51)
    add("ring 50, mask of period 5", ring(50), np.tile(normal(5), 10), 5)
    add("ring 48, alternating mask", ring(48), np.tile([1.0, -1.0], 24), 1)
    for cycles, rank in (([5, 7, 11, 13], 33), ([6, 6, 4], 8), ([12, 8, 6], 16)):
        A = ensembles.permutation(cycles=cycles, seed=1).A
        add(f"cycles {cycles}", A, normal(len(A)), rank)
    # nodes by themselves, whose eigenvalues are exact and yet one digit from being twins
    twins = np.diag([0.5, 0.5 + 2.0**-52, 0.3])
    add("twins but for the last digit", twins, np.array([1.0, 2.0, 1.0]), 3, 2)
    add("well apart", np.diag([0.5, 0.5 + 2.0**-40, 0.3]), np.array([1.0, 2.0, 1.0]), 3)
    # multiples of the identity, zero, delay lines
    add("0.9 I", 0.9 * np.eye(20), normal(20), 1)
    add("A = 0", np.zeros((20, 20)), normal(20), 1)
    add("C = 0", gaussian(20), np.zeros(20), 0)
    add("delay line 50", ensembles.delay_line(50).A, np.eye(50)[0], 50)
    add("delay line 30 from node 10", ensembles.delay_line(30).A, np.eye(30)[9], 21)
    add("strictly lower triangular", np.tril(normal(50, 50), -1), normal(50), 50)
    # repeated and separate blocks, plain and hidden by a rotation
    block = gaussian(25)
    add("block twice", block_diag(block, block), normal(50), 25)
    add("block twice, rotated", *rotated(block_diag(block, block), normal(50)), 50, 25)
    add("block thrice", block_diag(block, block, block), normal(75), 25)
    two, half_mask = block_diag(gaussian(50), gaussian(50)), np.r_[normal(50), np.zeros(50)]
    add("two blocks, one driven", two, half_mask, 50)
    add("two blocks, one driven, rotated", *rotated(two, half_mask), 100, 50)
    # symmetric networks and graphs with symmetries
    goe = ensembles.symmetric(60, seed=rng).A
    add("GOE, mask misses 20 modes", goe, np.linalg.eigh(goe)[1][:, 20:] @ normal(40), 60, 40)
    add("GOE 100", ensembles.symmetric(100, seed=rng).A, normal(100), 100)
    path = of_radius(np.eye(50, k=1) + np.eye(50, k=-1))
    add("path 50, ones", path, np.ones(50), 25)
    add("path 50, random", path, normal(50), 50)
    skew = normal(51, 51)
    skew = of_radius(skew - skew.T)
    add("antisymmetric 51", skew, normal(51), 51)
    add("antisymmetric 51, null vector", skew, np.linalg.svd(skew)[2][-1], 51, 1)
    star = np.zeros((30, 30))
    star[0, 1:] = star[1:, 0] = 1
    add("star 30, ones", of_radius(star), np.ones(30), 2)
    add("star 30, random", of_radius(star), normal(30), 3)
    add("complete graph 30", of_radius(np.ones((30, 30)) - np.eye(30)), normal(30), 2)
    bits = [[float((i ^ j).bit_count() == 1) for i in range(32)] for j in range(32)]
    add("hypercube 32", of_radius(np.array(bits)), normal(32), 6)
    graph = np.triu(rng.random((60, 60)) < 0.15, 1).astype(float)
    graph += graph.T
    walk = 0.9 * graph / np.maximum(graph.sum(axis=1), 1)[:, None]
    add("random walk, ones", walk, np.ones(60), None, 1)
    add("orthogonal 100", ensembles.orthogonal(100, seed=rng).A, normal(100), 100)
    # sparse networks: unreachable nodes, structural zeros
    for density in (0.02, 0.01):
        A = ensembles.sparse_normal(100, density=density, seed=rng).A
        add(f"sparse 100, {density}", A, normal(100), None)
    sparse = np.where(rng.random((60, 60)) < 0.05, normal(60, 60), 0)
    add("sparse feed-forward", np.tril(sparse, -1), normal(60), None)
    # feed-forward structure between components
    down = block_diag(gaussian(30), gaussian(30))
    down[30:, :30] = 0.2 * normal(30, 30)
    add("two layers, first driven", down, np.r_[normal(30), np.zeros(30)], 60)
    add("two layers, second driven", down, np.r_[np.zeros(30), normal(30)], 30)
    deep = block_diag(gaussian(30), gaussian(30), gaussian(30))
    deep[30:60, :30], deep[60:, 30:60] = 0.2 * normal(30, 30), 0.2 * normal(30, 30)
    add("three layers", deep, np.r_[normal(30), np.zeros(60)], 90)
    loops = rng.uniform(0.2, 0.9, 30)
    for gain in (0.01, 1.0, 10.0):
        add(f"chain, gain {gain}", ensembles.chain(30, loop=loops, gain=gain).A, np.eye(30)[0], 30)
    # ill-conditioned eigenvalues
    add("Jordan 15", *rotated(ensembles.chain(15).A, normal(15)), 15)
    roots = rng.uniform(-0.9, 0.9, 20)
    companion = np.eye(20, k=-1)
    companion[:, -1] = -np.poly(roots)[:0:-1]
    add("companion 20", companion, np.eye(20)[0], 20)
    legs, legt = ensembles.hippo_legs(64), ensembles.hippo_legt(32)
    add("HiPPO-LegS 64", legs.A, legs.C, 64)
    add("HiPPO-LegT 32", legt.A, legt.C, 32)
    # a mode at the edge of vision
    A = gaussian(50)
    left = np.linalg.eig(A.T)
    mode = left.eigenvectors[:, np.argmin(np.abs(left.eigenvalues.imag))].real
    mode /= np.linalg.norm(mode)
    C = normal(50)
    add("one mode at 1e-8", A, C - (1 - 1e-8) * mode * (mode @ C), 50)
    for size in (100, 300):
        add(f"normal {size}", gaussian(size), normal(size), size)
    return cases


CASES = _cases()
