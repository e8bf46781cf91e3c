"""Audits of networks as they are measured: sparse, driven unevenly, with little to be used."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from memcurve import LinearNetwork, audit, ensembles, memory_curve
from memcurve.network.modular import proportional_rows
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.solve import leaves
from memcurve.solve.analysis import Analysis
from memcurve.studies.auditing import structure, usable
from memcurve.studies.auditing.losses import Loss
from repository import worm


def losses_of(A: object, C: object) -> list[Loss]:
    return list(audit(LinearNetwork(A, C), estimates=False).rank_budget.losses)


def forgetful(size: int = 60, seed: int = 1) -> LinearNetwork:
    """All weights positive: one eigenvalue stands out, and the others are small."""
    A = np.random.default_rng(seed).random((size, size))
    return LinearNetwork(scale_to_spectral_radius(A, 0.9), np.ones(size))


# --- why modes are lost, and which nodes that concerns


def edges(size: int, *listed: tuple[int, int, float]) -> np.ndarray:
    """A, with A[target, source] = weight of each edge."""
    A = np.zeros((size, size))
    for target, source, weight in listed:
        A[target, source] = weight
    return A


#: Nodes 1, 3 and 6 keep ½ of themselves, one, two and three steps behind the input.
BEHIND = edges(
    7, (1, 0, 1), (2, 0, 1), (3, 2, 1), (4, 0, 1), (5, 4, 2), (6, 5, 1),
    (1, 1, 0.5), (3, 3, 0.5), (6, 6, 0.5),
)  # fmt: skip
#: 0 → 1 → 2, and 0 → 4 → 3: self-loops in a chain count as often as they follow each other.
CHAIN = np.diag([0.0, 0.5, 0.5, 0.5, 0.0]) + edges(5, (1, 0, 1), (2, 1, 1), (4, 0, 1), (3, 4, 1))
#: What enters node 2 directly makes up for what comes by 0 and 1: wᵀC = 0, w = (1, 1, 1).
SILENCED = np.array([[0.25, 0.0, 0.0], [0.0, 0.125, 0.0], [0.25, 0.375, 0.5]])
#: Two pairs that drive each other alike, the second a step later: ±½ twice.
PAIRS = edges(
    6, (1, 2, 0.5), (2, 1, 0.5), (4, 5, 0.5), (5, 4, 0.5), (1, 0, 1), (3, 0, 1), (4, 3, 1)
)


@pytest.mark.parametrize(
    ("A", "C", "kind", "nodes", "counts", "facts"),
    [
        (BEHIND, np.eye(7)[0], "repeated", (1, 3, 6), [2], ["0.5", "multiplicity 3", "control 1"]),
        (CHAIN, np.eye(5)[0], "repeated", (1, 2, 3), [1], ["0.5", "multiplicity 3", "control 2"]),
        (SILENCED, [1.0, 1.0, -2.0], "orthogonal", (2,), [1], ["eigenvalue 0.5", "node 2"]),
        (PAIRS, np.eye(6)[0], "repeated", (1, 2, 4, 5), [1, 1], ["0.5", "multiplicity 2"]),
    ],
)
def test_loops_that_share_their_eigenvalues(
    A: np.ndarray, C: object, kind: str, nodes: tuple[int, ...], counts: list[int], facts: list[str]
) -> None:
    losses = [loss for loss in losses_of(A, C) if loss.nodes == nodes]
    assert [(loss.kind, loss.count) for loss in losses] == [(kind, count) for count in counts]
    assert all(fact in loss.text for loss in losses for fact in facts)


def test_many_groups_of_nodes_are_told_together() -> None:
    """Eight pairs that listen to one node each."""
    A = np.zeros((24, 24))
    A[0, 7] = 0.5
    for k in range(8):
        A[k, max(k - 1, 0)] = A[8 + 2 * k, k] = 1.0 if k else 0.25
        A[9 + 2 * k, k] = 3.0
    losses = losses_of(0.5 * A, np.eye(24)[0])
    groups = [loss for loss in losses if loss.kind == "proportional"]
    assert {node for loss in groups for node in loss.nodes} >= set(range(8, 24))
    assert len(groups) <= 3
    assert "6, 18 and 19; 7, 20 and 21" in groups[-1].text


def rational_groups(A: np.ndarray, C: np.ndarray) -> tuple[set[tuple[int, ...]], list[int]]:
    """Proportional rows of the Krylov matrix of integers, in fractions."""
    columns, weights = [[int(c) for c in C]], A.astype(int).tolist()
    for _ in range(len(A) - 1):
        columns.append([sum(a * x for a, x in zip(r, columns[-1], strict=True)) for r in weights])
    groups: dict[tuple[Fraction, ...], list[int]] = {}
    silent = []
    for node, row in enumerate(zip(*columns, strict=True)):
        first = next((x for x in row if x), None)
        if first is None:
            silent.append(node)
        else:
            groups.setdefault(tuple(Fraction(x, first) for x in row), []).append(node)
    return {tuple(group) for group in groups.values() if len(group) > 1}, silent


@pytest.mark.parametrize("seed", range(25))
def test_nodes_driven_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 12))
    A = rng.integers(-1, 3, (size, size)) * (rng.random((size, size)) < 0.25) * 1.0
    C = rng.integers(-1, 2, size) * 1.0
    A[1], C[1] = -2 * A[0], -2 * C[0]
    expected = rational_groups(A, C)
    for stored in (A, csr_array(A)):
        groups, silent = proportional_rows(stored, C[:, None])
        assert ({tuple(group.tolist()) for group in groups}, silent) == expected


# --- usable memory comes first where hardly any of it can be used


def test_usable_memory_comes_first_where_there_is_little() -> None:
    result = audit(forgetful(), estimates=False)
    row = result.usable.at("12 bit")
    assert result.headline is row
    assert row.total < 0.1 * result.rank_budget.rank == 6.0
    assert result.verdict[0].startswith("With 12 bits")
    assert f"{row.total:.4g}" in result.verdict[0]
    assert "60" in result.verdict[1]
    document = result.document()
    assert document.figures[0] == ("usable memory, 12 bit", f"{row.total:.4g} ± {row.error:.1g}")
    titles = [section.title for section in document.sections]
    assert titles.index("Usable memory") < titles.index("Memory")
    chart = next(section.chart for section in document.sections if section.title == "Memory")
    direct = memory_curve(forgetful(), noise=row.level)
    count = len(chart.series[0].y)
    assert chart.series[0].y == pytest.approx(direct.values[:count], abs=1e-9)


def test_the_noise_given_is_the_one_that_decides() -> None:
    network = ensembles.normal(60, seed=1)
    assert audit(network, estimates=False).headline is None
    given = audit(network, noise=1.0, estimates=False)
    assert given.headline.given
    assert given.verdict[0].startswith("Under the given noise")
    assert audit(network, noise=1e-9, estimates=False).headline is None


def test_what_is_lost_is_summed_up() -> None:
    network = forgetful()
    A = np.zeros((64, 64))
    A[:60, :60] = network.A
    A[60, 0], A[61, 0] = 0.5, 0.25  # listen to node 0 alone
    A[62, 63] = 0.5  # not reached
    result = audit(LinearNetwork(A, np.concatenate([np.ones(60), np.zeros(4)])), estimates=False)
    for fact in ("61 of its past inputs, not 64", "2 states are unreachable", "1 redundant"):
        assert fact in result.verdict[1]


# --- large networks: affordable, or left out with a sentence that says so


@pytest.fixture
def large(monkeypatch) -> None:
    monkeypatch.setattr(usable, "MOST_STATES", 50)
    monkeypatch.setattr(leaves, "FEW_STATES", 50)


@pytest.mark.usefixtures("large")
def test_what_takes_long_is_left_out_and_said() -> None:
    """No decay: all directions would be needed."""
    result = audit(ensembles.orthogonal(60, spectral_radius=0.9999, seed=1), estimates=False)
    assert result.total == 60
    assert result.usable.rows == ()
    assert "noise_profile" in result.usable.reason
    assert result.usable.reason in [section.text for section in result.document().sections]
    assert result.headline is None


@pytest.mark.usefixtures("large")
def test_the_eigenvalues_that_count_need_no_deflation() -> None:
    """Zeros that do not count are as many as they are; the others are those of the whole."""
    A = np.zeros((70, 70))
    A[:60, :60] = forgetful().A
    A[60:, 0] = 1.0
    network = LinearNetwork(A, np.concatenate([np.ones(60), np.zeros(10)]))
    found = structure.eigenvalues_of(network)
    assert len(found.counting) == Analysis.of(network).rank == 61
    assert np.abs(np.sort(np.abs(found.counting))[::-1][:60]) == pytest.approx(
        np.sort(np.abs(np.linalg.eigvals(forgetful().A)))[::-1], abs=1e-12
    )


# --- measured ones


@pytest.mark.parametrize(("mask", "rank"), [("ones", 285), ("single", 269)])
def test_the_audit_of_a_worm(mask: str, rank: int) -> None:
    A = worm()
    C = np.ones(len(A)) if mask == "ones" else np.eye(len(A))[0]
    result = audit(LinearNetwork(A, C), estimates=False)
    assert result.rank == rank
    assert result.headline is not None
    assert result.verdict[0].startswith("With 12 bits")
    rank_budget = result.rank_budget
    assert sum(loss.count for loss in rank_budget.losses) == rank_budget.lost
    named = {loss.nodes for loss in rank_budget.losses}
    assert ((117, 118) in named) == (mask == "ones")
