"""Null models: what is kept is kept exactly, and what can be drawn is drawn evenly."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import sparse, stats

import memcurve
from memcurve import nulls
from refusals import refuses

SIZE = 40


def signed(seed: int = 1, density: float = 0.12, loops: int = 0) -> np.ndarray:
    """A random network in which each node sends out weights of one sign."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.1, 1, (SIZE, SIZE)) * (rng.random((SIZE, SIZE)) < density)
    np.fill_diagonal(A, 0)
    A *= np.where(rng.random(SIZE) < 0.3, -1, 1)
    A[range(loops), range(loops)] = 0.7
    return A


def drawn(name: str, A, seed: int = 1, **options) -> np.ndarray:
    found = nulls.make(name, (A, np.ones(len(A))), seed=seed, **options).A
    return found if isinstance(found, np.ndarray) else found.toarray()


def degrees(A) -> list[list[int]]:
    return [(A != 0).sum(axis=axis).tolist() for axis in (0, 1)]


def weights(A) -> list[float]:
    return sorted(A[A != 0].tolist())


@pytest.mark.parametrize(("density", "moved"), [(0.12, 0.1), (0.7, 0.2)], ids=["sparse", "dense"])
@pytest.mark.parametrize("loops", [0, 5])
def test_rewiring_keeps_degrees_and_outgoing_weights(
    loops: int, density: float, moved: float
) -> None:
    A = signed(density=density, loops=loops)
    null = drawn("rewire", A)
    assert degrees(null) == degrees(A)
    assert weights(null) == weights(A)
    np.testing.assert_array_equal(null.diagonal(), A.diagonal())
    np.testing.assert_array_equal(np.sort(null, axis=0), np.sort(A, axis=0))  # A[target, source]
    assert not np.allclose(null.sum(axis=1), A.sum(axis=1))
    assert ((null != 0) != (A != 0)).mean() > moved


def realisations(pattern: np.ndarray, blocks: np.ndarray | None = None) -> set[bytes]:
    """All networks with the degrees and blocks of this one, by trying every choice of targets."""
    size = len(pattern)
    partial = [(np.zeros((0, size), dtype=np.int64), pattern.sum(axis=0))]
    for node, count in enumerate(pattern.sum(axis=1)):
        ends = [end for end in range(size) if end != node]
        rows = [np.isin(range(size), one) for one in itertools.combinations(ends, count)]
        partial = [
            (np.vstack([above, row]), left - row)
            for above, left in partial
            for row in rows
            if (left >= row).all()
        ]
    member = np.zeros((size, 0)) if blocks is None else blocks[:, None] == np.unique(blocks)
    return {
        one.tobytes()
        for one, _ in partial
        if (member.T @ one @ member == member.T @ pattern @ member).all()
    }


def evenness(
    pattern: np.ndarray, count: int, by_network: int = 7, seed: int = 3, **options
) -> float:
    """The p-value of χ² over all networks there are, so many draws by network."""
    possible = sorted(realisations(pattern, options.get("blocks")))
    assert len(possible) == count
    rng = np.random.default_rng(seed)
    found = Counter(
        (drawn("rewire", pattern, rng, **options) != 0).astype(np.int64).tobytes()
        for _ in range(by_network * count)
    )
    assert {*found} <= {*possible}
    return float(stats.chisquare([found[one] for one in possible]).pvalue)


def cells(size: int, places: list[tuple[int, int]], missing: bool = False) -> np.ndarray:
    """These edges, or all but these and self-loops."""
    pattern = np.zeros((size, size), dtype=np.int64)
    pattern[tuple(np.transpose(places))] = 1
    return 1 - np.eye(size, dtype=np.int64) - pattern if missing else pattern


HOLES = [(0, 2), (1, 0), (2, 1), (2, 4), (4, 0), (4, 3)]
#: The pattern, options, and how many networks there are.
EVEN = {
    # swaps alone cannot turn a cycle of three around
    "cycle of three": (cells(3, [(0, 1), (1, 2), (2, 0)]), {}, 2),
    "cycle that one sends to": (
        cells(4, [(0, 1), (1, 2), (2, 0), (3, 0), (3, 1), (3, 2)]), {}, 2,
    ),
    "derangements": (cells(4, [(0, 1), (1, 2), (2, 3), (3, 0)]), {}, 9),
    "all but six edges": (cells(5, HOLES, missing=True), {}, 21),
    "all but six edges, blocks": (
        cells(5, HOLES, missing=True), {"blocks": np.array([0, 0, 1, 1, 1])}, 11,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", EVEN)
def test_rewiring_is_uniform(case: str) -> None:
    pattern, options, count = EVEN[case]
    assert evenness(pattern, count, moves=5.0, **options) > 0.01  # half of the usual moves


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [None, 2, 3])
@pytest.mark.parametrize(
    ("size", "density"), [(5, d) for d in (0.2, 0.4, 0.6, 0.8)] + [(6, 0.15), (6, 0.85)]
)
def test_rewiring_is_uniform_at_any_density(size: int, density: float, blocks: int | None) -> None:
    """Of 18 such tests with fixed seeds, the least p-value is below 0.0005 by a chance of 1 %."""
    rng = np.random.default_rng([size, round(100 * density), 0, blocks or 0])
    for _ in range(1000):
        pattern = (rng.random((size, size)) < density).astype(np.int64)
        np.fill_diagonal(pattern, 0)
        of_node = None if blocks is None else rng.integers(blocks, size=size)
        count = len(realisations(pattern, of_node))
        if 5 <= count <= 60:
            break
    p = evenness(pattern, count, 20, seed=size, blocks=of_node)
    assert p > 0.0005


def test_nearly_complete_networks_leave_where_they_began() -> None:
    """Of 19 nodes with all edges but ten, where hardly a swap of two edges is free."""
    rng = np.random.default_rng(1)
    pattern = 1 - np.eye(19, dtype=np.int64)
    off = np.argwhere(pattern)[rng.choice(19 * 18, 10, replace=False)]
    pattern[tuple(off.T)] = 0
    for seed in range(10):
        null = drawn("rewire", pattern, seed) != 0
        assert degrees(null) == degrees(pattern)
        assert np.count_nonzero(null != (pattern != 0)) > 10  # of 20 cells at most


def test_hubs_are_rewired() -> None:
    """Nodes that send half of all edges meet one other a round; their targets all meet others."""
    rng = np.random.default_rng(2)
    A = np.zeros((200, 200))
    A[rng.choice(np.arange(1, 200), 100, replace=False), 0] = 1
    A[rng.integers(0, 200, 199), np.arange(1, 200)] = 1
    np.fill_diagonal(A, 0)
    null = drawn("rewire", A)
    assert degrees(null) == degrees(A)
    assert np.sum(null[:, 0] * A[:, 0]) < 75  # 50 or a few more by chance, of 100


def test_blocks_keep_the_edges_between_them() -> None:
    A, blocks = signed(density=0.2), np.repeat(["a", "b", "c", "d"], SIZE // 4)
    member = (blocks[:, None] == np.unique(blocks)).astype(int)
    between = member.T @ (A != 0) @ member
    null = drawn("blocks", A, blocks=blocks)
    assert degrees(null) == degrees(A)
    np.testing.assert_array_equal(member.T @ (null != 0) @ member, between)
    free = drawn("rewire", A)
    assert (member.T @ (free != 0) @ member != between).any()
    anywhere = drawn("erdos_renyi", A, blocks=blocks)
    np.testing.assert_array_equal(member.T @ (anywhere != 0) @ member, between)
    assert degrees(anywhere) != degrees(A)


def test_positions_keep_the_lengths() -> None:
    places = np.random.default_rng(2).uniform(size=(SIZE, 3))
    length = np.sum((places[:, None] - places) ** 2, axis=2)  # squared
    A = signed(density=0.2) * (length < 0.36)
    limits = np.quantile(length[A != 0], [0.25, 0.5, 0.75])
    null = drawn("spatial", A, positions=places, bins=4)
    in_bins = [
        np.bincount(np.searchsorted(limits, length[x != 0]), minlength=4).tolist()
        for x in (A, null)
    ]
    assert in_bins[0] == in_bins[1]
    assert ((null != 0) != (A != 0)).mean() > 0.05
    assert degrees(null) == degrees(A)


def test_shuffling_keeps_edges_and_weights() -> None:
    A = signed(loops=3)
    null = drawn("shuffle", A)
    np.testing.assert_array_equal(null != 0, A != 0)
    assert weights(null) == weights(A)
    assert (null != A).any()
    fixed = drawn("shuffle", A, signs="fixed")
    np.testing.assert_array_equal(np.sign(fixed), np.sign(A))
    assert weights(fixed) == weights(A)
    assert (np.sign(null) != np.sign(A)).any()
    blocks = np.repeat([0, 1], SIZE // 2)
    within = drawn("shuffle", A, blocks=blocks)
    for target, source in itertools.product(range(2), repeat=2):
        places = np.ix_(blocks == target, blocks == source)
        assert weights(within[places]) == weights(A[places])


@pytest.mark.parametrize("of", ["edges", "nodes"])
def test_shuffling_signs(of: str) -> None:
    A = signed()
    null = drawn("signs", A, of=of)
    np.testing.assert_array_equal(np.abs(null), np.abs(A))
    assert (null != A).any()
    if of == "edges":
        assert (null < 0).sum() == (A < 0).sum()
    else:
        assert ((null < 0).any(axis=0) & (null > 0).any(axis=0)).sum() == 0
        assert (null < 0).any(axis=0).sum() == (A < 0).any(axis=0).sum()


def test_edges_anywhere_are_as_many_and_uniform() -> None:
    A = signed(loops=4)
    null = drawn("erdos_renyi", A)
    assert weights(null) == weights(A)
    assert degrees(null) != degrees(A)
    assert (null.diagonal() == A.diagonal()).all()
    A = np.zeros((3, 3))
    A[0, 1] = A[1, 2] = 1
    rng = np.random.default_rng(1)
    found = Counter(drawn("erdos_renyi", A, rng).tobytes() for _ in range(300))
    assert len(found) == 15  # two of six cells
    assert stats.chisquare(list(found.values())).pvalue > 0.01


@pytest.mark.parametrize("name", ["rewire", "shuffle", "signs", "erdos_renyi"])
def test_draws_repeat_and_leave_the_rest(name: str) -> None:
    labels = [f"n{k}" for k in range(SIZE)]
    A = sparse.csr_array(signed())
    network = memcurve.LinearNetwork(A, np.ones(SIZE), readout=[1, 5], labels=labels, notes=["x"])
    first, again, other = (nulls.make(name, network, seed=seed) for seed in (1, 1, 2))
    assert (first.A != again.A).nnz == 0
    assert (first.A != other.A).nnz > 0
    assert (first.A != nulls.make(name, (A.toarray(), np.ones(SIZE)), seed=1).A).sum() == 0
    assert first.is_sparse
    assert first.labels == network.labels
    np.testing.assert_array_equal(first.readout, network.readout)
    assert [note.kind for note in first.notes] == ["network", "network"]


def test_what_cannot_be_rewired_says_so() -> None:
    star = np.outer([0, 1, 2, 3, 4], np.eye(5)[0])
    null = nulls.rewire((star, np.ones(5)), seed=1)
    assert nulls.PROSE["weights only"] in null.notes[-1]
    assert sorted(null.A[:, 0]) == sorted(star[:, 0])
    assert (star != null.A).any()


@pytest.mark.parametrize(
    ("name", "A", "options", "reason"),
    [
        ("signs", abs(signed()), {}, "all weights have the same sign"),
        ("signs", abs(signed()), {"of": "nodes"}, "all weights have the same sign"),
        ("shuffle", np.sign(abs(signed())), {}, "are all equal"),
        ("shuffle", np.sign(signed()), {"signs": "fixed"}, "are all equal"),
        ("erdos_renyi", 1 - np.eye(5), {}, "no cell is free"),
        ("rewire", 1 - np.eye(5), {}, "no other edges"),
        ("rewire", np.eye(SIZE), {}, "no other edges"),
        ("rewire", np.outer([0, 1, 1, 1, 1], np.eye(5)[0]), {}, nulls.PROSE["no other edges"]),
        ("blocks", signed(), {"blocks": range(SIZE)}, "no other edges"),
    ],
)
def test_what_cannot_be_changed_says_so(name, A, options, reason) -> None:
    if name == "blocks":
        A = np.sign(abs(A))  # in blocks of one node each edge is its own kind
    null = nulls.make(name, (A, np.ones(len(A))), seed=1, **options)
    np.testing.assert_array_equal(null.A, A)
    assert nulls.UNCHANGED in null.notes[-1]
    assert reason in null.notes[-1]


def test_errors_name_the_argument() -> None:
    two = np.array([[0.1, 0], [-0.2, 0]])
    for error, facts, name, A, options in (
        (ValueError, ("`moves`", "0"), "rewire", None, {"moves": 0}),
        (ValueError, ("`blocks`", "40"), "rewire", None, {"blocks": [1, 2]}),
        (ValueError, ("`blocks`", "None"), "rewire", None, {"blocks": ["a", None] * 20}),
        (ValueError, ("`blocks`", "20"), "rewire", None, {"blocks": [1.0, np.nan] * 20}),
        (ValueError, "`positions`", "rewire", None, {"positions": [[1.0]]}),
        (ValueError, ("`name`", "'random'"), "random", None, {}),
        (ValueError, ("`blocks`", "'blocks'"), "blocks", None, {}),
        (TypeError, "`bins`", "shuffle", None, {"bins": 3}),
        (TypeError, "`seed`", "shuffle", None, {"seed": None}),
        (ValueError, ("`network`", "complex"), "signs", 1j * signed(), {}),
        (ValueError, ("`of`", "node 0"), "signs", two, {"of": "nodes"}),
    ):
        refuses(error, facts, drawn, name, signed() if A is None else A, **options)
