"""Noise-free curves of graphs as they are measured: modes are lost, and exactly known."""

import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from draws import seeds
from graph_families import FAMILIES, MASKS, WEIGHTS, draw, feed_forward_with_loops, network_of
from memcurve import (
    LinearNetwork,
    UnstableNetworkError,
    controllable_spectrum,
    memory_curve,
    noise_profile,
)
from memcurve.network.graph import strong_components
from memcurve.network.modular import minimal_polynomial, uncontrollable_modes
from refusals import refuses
from tolerances import agree

# whether a mode counts up to rounding may depend on the processor
pytestmark = pytest.mark.filterwarnings("ignore::memcurve.core.errors.RankWarning")

#: Errors reported in floating point, where all lost modes are told exactly.
LARGEST_ERROR = 1e-6


def assert_right(A: np.ndarray, C: np.ndarray) -> float:
    """In floating point alone, and within its error of what is proven; return that error."""
    curve = memory_curve(LinearNetwork(A, C), certify_up_to=0)
    proven = memory_curve(LinearNetwork(A, C), len(curve.lags), method="certified")
    assert agree(curve, proven)
    assert curve.error.max() < LARGEST_ERROR
    return float(curve.error.max())


@pytest.mark.parametrize("seed", seeds(24, 48))
def test_families(seed: int) -> None:
    assert_right(*draw(seed, 40))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 7000, 500))
def test_many_of_the_families(first: int, held) -> None:
    largest = max(assert_right(*draw(seed)) for seed in range(first, first + 500))
    held("measured graphs: errors, which hold", largest, at_most=LARGEST_ERROR, draws=500)


@pytest.mark.parametrize(
    "weights", [*WEIGHTS[:2], *(pytest.param(w, marks=pytest.mark.slow) for w in WEIGHTS[2:])]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_three_hundred_nodes_are_answered(family: object, weights: str) -> None:
    """Without ball arithmetic; ranks by an elimination that shares nothing with the product."""
    A, C = network_of(family, 300, 2, weights, MASKS[0], 5)
    curve = memory_curve(LinearNetwork(A, C), certify_up_to=0)
    assert curve.total == curve.rank == minimal_polynomial(A, C).degree
    assert curve.error.max() < 1e-6
    assert np.all(np.diff(curve.values) <= 1e-12)


def times_eigvals(A: np.ndarray, C: np.ndarray) -> float:
    """Time of the processor for a curve, in units of bare eigenvalues: medians, one thread."""
    times = []
    with threadpool_limits(1):
        for _ in range(3):
            start = time.process_time()
            np.linalg.eigvals(A)
            between = time.process_time()
            memory_curve(LinearNetwork(A, C), certify_up_to=0)
            times.append((between - start, time.process_time() - between))
    bare, whole = np.median(times, axis=0)
    return float(whole / bare)


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("family", [f for f in FAMILIES if f is not feed_forward_with_loops])
def test_time_of_many_graphs(family: object, weights: str, held) -> None:
    """Eigenvalues of feed-forward networks are read off their diagonal, in no time at all."""
    drawn = [(k, mask, seed) for k in (2, 3, 5) for mask in MASKS for seed in range(2)]
    most = max(times_eigvals(*network_of(family, 300, k, weights, m, s)) for k, m, s in drawn)
    held("measured graphs of 300 nodes: × eigvals", most, at_most=10, draws=len(drawn))


@pytest.mark.parametrize("size", [100, 300])
@pytest.mark.parametrize("loop", [1.0005, 1 + 1e-9, -1 - 1e-9])
def test_one_loop_outside(size: int, loop: float) -> None:
    """Self-loops are the eigenvalues of a feed-forward network, to their last digit."""
    A, _ = network_of(feed_forward_with_loops, size, 3, "equal", "ones", 0)
    A[0, 0] = loop
    with pytest.raises(UnstableNetworkError, match="modulus 1"):
        memory_curve(LinearNetwork(A, np.ones(size)), certify_up_to=0)
    unread = np.arange(size) > 0  # the loop is there, and nothing enters it
    curve = memory_curve(LinearNetwork(A, unread.astype(float)), certify_up_to=0)
    assert curve.total == curve.rank < size


def test_mirrored_parts() -> None:
    """Six copies of one eigenvalue, three in small parts and three in a large one."""
    assert_right(*draw(10, 30))
    block = np.array([[0.0, 0.5], [0.5, 0.0]])
    A = np.kron(np.eye(4), block)
    A[2, 1] = A[4, 3] = A[6, 1] = 0.25
    assert_right(A, np.array([1.0, 0, 0, 0, 0, 0, 0, 0]))


#: Self-loops 0.5, 0.5, 0.5 and 0.25, in a chain of two and apart: (z − ½)² (z − ¼) counts.
LOOPS = np.diag([0.5, 0.5, 0.5, 0.25]) + np.outer(np.eye(4)[1], np.eye(4)[0])
#: Two pairs of nodes that are alike within one component: ∓0.3 twice and once, none counts.
ALIKE = np.zeros((5, 5))
ALIKE[:4, 4], ALIKE[4, :4] = [0.1, 0.1, 0.2, 0.2], 0.4
ALIKE[[0, 1, 2, 3], [1, 0, 3, 2]] = 0.3


@pytest.mark.parametrize(
    ("A", "C", "degree", "found"),
    [
        (LOOPS, np.array([1.0, 0, 1, 1]), 3, [(0.5, 3, 2)]),
        (ALIKE, np.eye(5)[4], 2, [(-0.3, 2, 0), (0.3, 1, 0)]),
    ],
)
def test_repeated_components(A: np.ndarray, C: np.ndarray, degree: int, found: list) -> None:
    exact = minimal_polynomial(A, C)
    assert exact[:2] == (degree, 0)
    blocks = [A[np.ix_(n, n)] for n in strong_components(A)]
    modes, unknown = uncontrollable_modes(blocks, exact.modulo)
    assert sorted((m.values[0].real, m.multiplicity, m.controllable) for m in modes) == found
    assert unknown == 0


@pytest.mark.parametrize("copies", [2, 3])
def test_large_components_that_are_copies(copies: int) -> None:
    """A block of 30 nodes several times, one of them driven by another: all but two are lost."""
    rng = np.random.default_rng(copies)
    block = rng.standard_normal((30, 30)) / 7
    A = np.kron(np.eye(copies), block)
    A[30, 0] = 0.5
    C = rng.standard_normal(len(A))
    assert minimal_polynomial(A, C).degree == 60
    if copies > 2:
        found = controllable_spectrum(LinearNetwork(A, C)).uncontrollable
        assert [(len(m.values), m.multiplicity, m.controllable) for m in found] == [(30, 3, 2)]
    assert_right(A, C)


def test_levels_that_are_known_well_are_told() -> None:
    A, C = network_of(FAMILIES[3], 300, 2, "equal", "random", 1)
    profile = noise_profile(LinearNetwork(A, C), np.logspace(-18, 0, 19), certify_up_to=0)
    well = [curve.error.max() <= 1e-6 for curve in profile.curves]
    least = profile.levels[well].min()
    assert 1e-18 <= least < 1
    assert least == 1e-18 or any(
        f"known to ± 1e-06 for noise down to {least:.3g}" in n for n in profile.notes
    )


def test_tolerance() -> None:
    """What is not asked for is not chased; what is asked for is computed in balls."""
    A, C = network_of(FAMILIES[4], 30, 2, "equal", "ones", 1)
    network = LinearNetwork(A, C)
    rounded = memory_curve(network)
    assert 1e-17 < rounded.error.max() < 1e-6
    proven = memory_curve(network, tolerance=1e-17)
    assert proven.diagnostics["arithmetic"] == "ball"
    assert proven.options["tolerance"] == 1e-17
    for tolerance in (0, -1e-3, np.nan, "small", True):
        refuses(ValueError, "`tolerance`", memory_curve, network, tolerance=tolerance)


@pytest.mark.parametrize("level", [None, 1e-16])
@pytest.mark.parametrize("readout", [[*range(0, 40, 3)]])
def test_what_more_noise_leaves_is_there_with_less(
    level: float | None, readout: list[int] | None
) -> None:
    """Where floating point knows nothing else, the rank is told, and balls know."""
    A, C = network_of(FAMILIES[0], 40, 3, "equal", "random", 1)
    C = np.column_stack([C, np.ones(40)])
    network = LinearNetwork(A, C, readout=readout)
    truth = memory_curve(network, 20, noise=level, method="certified")
    curve = memory_curve(network, 20, noise=level)
    assert agree(curve, truth)
