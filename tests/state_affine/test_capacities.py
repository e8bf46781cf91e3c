"""Exact capacities: the theorems of docs/theory/capacities.md, word by word."""

import functools
import inspect
import itertools

import numpy as np
import pytest

import memcurve
import word_oracle
from memcurve.state_affine import Capacities, StateAffineNetwork, laws
from memcurve.state_affine.tree import Tree
from memcurve.state_affine.white import applied
from tolerances import CLOSED_FORM, SMALL_DIRECT, WHOLE_SUM, WORDS


def polynomial(size: int, seed: int, degree: int = 2, scale: float = 0.45) -> StateAffineNetwork:
    rng = np.random.default_rng(seed)
    p = [
        scale * f * rng.standard_normal((size, size)) / np.sqrt(size)
        for f in (1, 0.9, 0.6)[: degree + 1]
    ]
    q = [f * rng.standard_normal(size) for f in (0.3, 1, 0.5)[: degree + 1]]
    return StateAffineNetwork(p, q)


NETWORK = polynomial(5, 3)


@functools.cache
def found() -> Capacities:
    return memcurve.capacities(NETWORK)


@functools.cache
def enumerated(depth: int = 8) -> dict[tuple[int, ...], float]:
    """Every word of up to so many letters, by the recursion of coefficients."""
    tree = found().tree
    level = [((k,), tree.r[k]) for k in (1, 2)]
    capacities = {}
    for _ in range(depth):
        capacities |= {word: float(c @ c) for word, c in level}
        level = [((k, *word), tree.T[k] @ c) for word, c in level for k in range(3)]
    return capacities


def _tail(tree: Tree, steps: int) -> np.ndarray:
    X = np.eye(tree.T.shape[1])
    for _ in range(steps):
        X = applied(tree.T, X)
    return X


def test_letters_that_are_not_there_have_no_words() -> None:
    result = memcurve.capacities(word_oracle.contracting(6, 2))  # p and q are of degree 1
    assert result.of((2,)) < SMALL_DIRECT
    assert result.of((2, 0, 1)) == 0


def test_one_state_in_closed_form() -> None:
    """Of x = (a + bz)x + cz: a factor a² for a step, b²/3 for a letter, 1 − a² − b²/3 for all."""
    a, b = 0.5, 0.3
    result = memcurve.capacities(memcurve.bilinear([[a]], [[b]], [2.0]))
    share = 1 - a * a - b * b / 3
    for word in word_oracle.words(1, 6):
        ones, zeros = sum(word[:-1]), len(word) - 1 - sum(word[:-1])
        assert abs(result.of(word) - share * a ** (2 * zeros) * (b * b / 3) ** ones) < CLOSED_FORM
    linear = share / (1 - a * a)
    assert abs(result.by_degree[1] - linear) < CLOSED_FORM
    assert abs(result.by_degree[2] / linear - b * b / 3 / (1 - a * a)) < CLOSED_FORM


def test_white_coordinates_and_the_total() -> None:
    """Capacities sum to the rank; a newer letter never raises one."""
    tree, listed = found().tree, enumerated()
    gram = applied(tree.T, np.eye(5)) + tree.r.T @ tree.r
    assert np.abs(gram - np.eye(5)).max() < WORDS
    assert abs(5 - sum(listed.values()) - np.trace(_tail(tree, 8))) < WORDS
    assert found().total == 5 == found().rank
    assert all(listed[word] <= listed[word[1:]] + WORDS for word in listed if len(word) > 1)


def test_prefixes_and_suffixes() -> None:
    """Words u·v for all v total ‖T_u‖²; w with all newer letters cᵀHc, H = I + ΣTᵀHT."""
    tree, listed = found().tree, enumerated()
    T = tree.T[2] @ tree.T[0] @ tree.T[1]
    inside = sum(c for w, c in listed.items() if w[:3] == (2, 0, 1) and len(w) > 3)
    assert abs(inside + np.trace(T @ _tail(tree, 5) @ T.T) - (T**2).sum()) < WORDS
    below = np.eye(5)
    for _ in range(6):
        below = sum(t.T @ below @ t for t in tree.T)
    pairs = np.eye(25) - sum(np.kron(t.T, t.T) for t in tree.T)
    longer = np.linalg.solve(pairs, (np.eye(5) - below).ravel()).reshape(5, 5)
    c = tree.coefficient((1, 0, 2))
    inside = sum(x for word, x in listed.items() if word[-3:] == (1, 0, 2))
    assert abs(inside - c @ longer @ c) < WORDS


def test_loss_is_a_sum_of_squares_over_suffixes() -> None:
    """P4: the orthogonal completion [E F] of [T r] gives 1 − C without subtraction."""
    tree = found().tree
    V = np.concatenate([*tree.T, tree.r[1:].T], axis=1)
    rest = np.linalg.svd(V)[2][5:]
    E, F = [rest[:, 5 * k : 5 * k + 5] for k in range(3)], rest[:, 15:]
    for word in ((1,), (0, 2), (0, 1, 0, 2, 1)):
        loss = (F[:, word[-1] - 1] ** 2).sum()
        for j in range(len(word) - 1):
            loss += ((E[word[j]] @ tree.coefficient(word[j + 1 :])) ** 2).sum()
        assert abs(loss - (1 - found().of(word))) < WORDS


def test_degrees_delays_and_windows() -> None:
    result, listed = found(), enumerated(9)
    by_hand = np.zeros(30)
    for word, c in listed.items():
        by_hand[sum(word)] += c
    tail = np.trace(_tail(result.tree, 9))
    for degree, total in result.by_degree.items():
        assert -WORDS < total - by_hand[degree] < tail + WORDS
    assert abs(sum(result.by_degree.values()) + result.beyond - 5) < WORDS
    assert result.beyond < 1e-8
    for m in range(4):
        own = sum(c for w, c in listed.items() if len(w) == m + 1)
        assert abs(result.by_window[m] - own) < WORDS
        delayed = sum(c for w, c in listed.items() if w[:m] == (0,) * m)
        assert -WORDS < result.by_delay[m] - delayed < tail + WORDS
        for d in range(1, 5):
            both = sum(c for w, c in listed.items() if len(w) == m + 1 and sum(w) == d)
            assert abs(result.table[d - 1, m] - both) < WORDS
    assert abs(result.curve.total - result.by_degree[1]) < WORDS
    assert abs(result.curve.values.sum() - result.by_degree[1]) < WHOLE_SUM


def test_pictures_have_a_bar_for_each_lag_with_all_degrees_on_it() -> None:
    result = memcurve.capacities(NETWORK, degree=2)
    ax = result.plot()
    tops = [max(one.get_y() + one.get_height() for bars in ax.containers
                for one in bars if round(one.get_x() + one.get_width() / 2) == m)
            for m in range(4)]  # fmt: skip
    assert np.abs(tops - result.by_window[:4]).max() < WORDS
    assert [text.get_text() for text in ax.get_legend().texts][-1] == "higher degrees"


def test_largest_words_in_order_with_their_remainder() -> None:
    result = memcurve.capacities(NETWORK)
    by_hand = sorted(enumerated(9).values(), reverse=True)
    largest = result.largest(150)
    short = [c for w, c in largest if len(w) <= 9]  # words are enumerated no further
    assert len(short) > 100
    assert np.abs(np.subtract(short, by_hand[: len(short)])).max() < WORDS
    assert all(a.capacity >= b.capacity for a, b in itertools.pairwise(largest))
    assert largest.remainder == result.remainder
    assert abs(sum(c for _, c in largest) + result.remainder - 5) < WORDS
    above = result.largest(above=1e-3)
    assert {w for w, _ in above if len(w) <= 9} == {
        w for w, c in enumerated(9).items() if c >= 1e-3
    }
    assert len(result.largest(3)) == 3


def test_readouts_are_not_monotone_but_complete() -> None:
    network = polynomial(8, 5).replace(readout=[0, 1])
    result = memcurve.capacities(network)
    assert result.total == 2
    short = {w: result.of(w) for w in word_oracle.words(2, 6)}
    assert any(c > short[w[1:]] + WORDS for w, c in short.items() if len(w) > 1)
    above = result.largest(above=2e-3)
    assert {w for w, c in short.items() if c >= 2e-3} <= {w for w, _ in above}
    assert all(c >= 2e-3 and abs(result.of(w) - c) < WORDS for w, c in above)
    assert abs(sum(result.by_degree.values()) + result.beyond - 2) < WORDS


def test_noise_against_a_plain_inverse() -> None:
    network, s = polynomial(4, 7), 0.1
    plain, noisy = memcurve.capacities(network), memcurve.capacities(network, noise=s)
    G = _covariance(network)
    M = np.linalg.inv(G + s * s * np.eye(4))
    assert abs(noisy.total - np.trace(M @ G)) < SMALL_DIRECT
    each = memcurve.capacities(network, noise=[s] * 4)
    assert abs(each.total - noisy.total) < WORDS
    assert all(noisy.of(w) < plain.of(w) for w in ((1,), (0, 1), (2, 1)))
    assert noisy.rank == 4
    loud = memcurve.capacities(network, noise=1e6)  # words are listed by what noise leaves of them
    assert 0 < loud.total < 1e-8
    assert loud.listed[0].capacity > 0.1 * loud.total
    assert memcurve.capacities(network, noise=1e300).listed == ()


def test_what_is_read_may_be_the_input_alone() -> None:
    network = StateAffineNetwork([[[0.5]], [[0.1]]], [[0.0]], outputs=([[[0.0]]], [[0.0], [1.0]]))
    result = memcurve.capacities(network)
    assert result.total == 1
    assert abs(result.of((1,)) - 1) < CLOSED_FORM


def _covariance(network: StateAffineNetwork) -> np.ndarray:
    law = network.input
    p = np.tensordot(np.vander(law.nodes, 3, increasing=True), network.p, 1)
    q = np.vander(law.nodes, 3, increasing=True) @ network.q
    n = network.size
    mean = np.linalg.solve(np.eye(n) - np.tensordot(law.weights, p, 1), law.weights @ q)
    r = p @ mean + q - mean
    pairs = np.einsum("t,tij,tkl->ikjl", law.weights, p, p).reshape(n * n, n * n)
    right = np.einsum("t,ti,tj->ij", law.weights, r, r)
    return np.linalg.solve(np.eye(n * n) - pairs, right.ravel()).reshape(n, n)


ENSEMBLES = """normal uniform sparse_normal sp_c symmetric orthogonal permutation cyclic delay_line
chain hippo_legs hippo_legt lru_ring""".split()


@pytest.mark.parametrize("name", ENSEMBLES)
def test_linear_networks_agree_with_their_memory_curve(name: str) -> None:
    draw = getattr(memcurve.ensembles, name)
    network = draw(12, **({"seed": 2} if "seed" in inspect.signature(draw).parameters else {}))
    curve = memcurve.memory_curve(network)
    networks = [network]
    if name == "normal":
        networks.append(StateAffineNetwork([network.A], [0 * network.C, network.C]))
    for one in networks:
        result = memcurve.capacities(one)
        assert np.abs(result.curve.values - curve.values).max() <= WHOLE_SUM
        assert result.by_degree == {1: curve.total}
        assert result.of((0, 0, 1)) == curve[2]
        assert result.of((1, 1)) == 0


def test_the_tree_of_words_needs_no_eigenvalues() -> None:
    network, B = memcurve.ensembles.normal(30, seed=1), np.zeros((30, 30))
    B[0, 0] = 1e-30
    tree = memcurve.capacities(memcurve.bilinear(network.A, B, network.C))
    assert tree.arithmetic in ("floats", "balls")
    curve = memcurve.memory_curve(network, 80)
    assert np.abs(tree.curve.values[:80] - curve.values).max() < 1e-11


def test_functions_of_delays_of_a_linear_network() -> None:
    """Q of degree 2 and a constant p: two inputs, z and its square, of one linear network."""
    rng = np.random.default_rng(3)
    A = 0.5 * rng.standard_normal((6, 6)) / np.sqrt(6)
    q = rng.standard_normal((3, 6))
    result = memcurve.capacities(StateAffineNetwork([A], q))
    masks = np.stack([(q[1]) / np.sqrt(3), 2 * q[2] / np.sqrt(45)], axis=1)  # z, and its square
    curve = memcurve.memory_curve(memcurve.LinearNetwork(A, masks))
    for word in ((1,), (2,), (0, 2), (0, 0, 1)):
        assert abs(result.of(word) - curve.channels[len(word) - 1, word[-1] - 1]) < 1e-11
    assert abs(sum(result.by_degree.values()) - 6) < WHOLE_SUM
    noisy = memcurve.capacities(StateAffineNetwork([A], q[:2]), noise=0.1)
    other = memcurve.capacities(StateAffineNetwork([A], q[:2]), noise=[0.1] * 6)
    assert noisy.arithmetic == "poles" != other.arithmetic
    assert abs(noisy.total - other.total) < 1e-10


@pytest.mark.parametrize(
    "law", ["normal", "rademacher", laws.discrete([-1, 0, 1.5], [0.5, 0.25, 0.25])]
)
def test_other_laws_against_simulation_free_enumeration(law: object) -> None:
    """All words of a depth, the total, and what is left of it."""
    rng = np.random.default_rng(5)
    p = 0.25 * rng.standard_normal((3, 3, 3)) / np.sqrt(3)
    network = StateAffineNetwork(p, rng.standard_normal((3, 3)), law)
    result = memcurve.capacities(network)
    letters = 1 if law == "rademacher" else 2  # the square of a coin is no letter
    listed = [result.of(w) for w in word_oracle.words(letters, 7)]
    assert result.total == 3
    assert 0 < 3 - sum(listed) < 0.01
    if law == "rademacher":
        assert result.of((2,)) == 0


def test_a_basis_of_ones_own() -> None:
    """Words change with the basis, totals by delay do not."""
    one, two = (lambda z: 0 * z + 1), (lambda z: np.sqrt(2) * np.sin(np.pi * z))
    result = memcurve.capacities(NETWORK, basis=[one, two])
    plain = found()
    assert result.total == 5
    assert np.abs(result.by_delay - plain.by_delay).max() < WORDS
    # E[z sin πz] = 1/π: the capacity of a function of z_{t−1} is a quadratic form in its letters
    weights = np.array([np.sqrt(3) * np.sqrt(2) / np.pi, 0.0])
    tree = plain.tree
    c = tree.T[0] @ (weights @ tree.r[1:])
    assert abs(result.of((0, 1)) - c @ c) < 1e-9
