"""Shortcuts for networks of special structure: the same answers as the long way round."""

import numpy as np
import pytest
from scipy.linalg import toeplitz

from hostile import draw
from memcurve import LinearNetwork, UnstableNetworkError, ensembles, memory_curve
from memcurve.network.graph import balanced, eigenvalues
from memcurve.solve import spectrum
from memcurve.solve.spectrum import schur_modes
from refusals import refuses
from tolerances import agree

# whether a mode counts up to rounding may depend on the processor
pytestmark = pytest.mark.filterwarnings("ignore::memcurve.core.errors.RankWarning")


def assert_right(network: LinearNetwork, lags: int = 40) -> str:
    """Compare with the enclosure; return how the network turned out."""
    try:
        truth = memory_curve(network, lags, method="certified")
    except UnstableNetworkError:
        refuses(UnstableNetworkError, (), memory_curve, network, lags)
        return "unstable"
    assert agree(memory_curve(network, lags), truth)
    return f"rank {truth.rank}"


def test_stability_of_a_cycle_is_decided_exactly() -> None:
    eps = 2.0**-52

    def cycle(there: float, back: float) -> LinearNetwork:
        return LinearNetwork([[0.0, back], [there, 0.0]], [1.0, 0.0])

    for weights in ((1 + eps, 1 - eps / 2), (1.0, -1.0), (0.5, 2.0), (1e300, 2e-300)):
        refuses(UnstableNetworkError, (), memory_curve, cycle(*weights))
    # (1 + e)(1 − e) = 1 − e² is below one, though no float64 is that close
    curve = memory_curve(cycle(1 + eps, 1 - eps), 5)
    assert curve.values == pytest.approx(np.full(5, 2.0**-103), rel=1e-14)
    assert curve.loss == pytest.approx(np.ones(5))
    assert curve.rank == 2


# -- normal: equal eigenvalues are merged ---------------------------------------------------------


def torus(rows: int, columns: int, *, directed: bool) -> np.ndarray:
    """A grid of nodes that drive their neighbours, around the edges, of spectral radius 0.9."""
    one, two = (np.roll(np.eye(n), 1, axis=0) for n in (rows, columns))
    A = np.kron(one, np.eye(columns)) + np.kron(np.eye(rows), two)
    return 0.45 * A if directed else 0.225 * (A + A.T)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (5, 7)])
def test_tori(rows: int, columns: int, directed: bool) -> None:
    """Eigenvalues w(ω^a + ω^b): as many are told apart as there are different ones."""
    rng = np.random.default_rng(1)
    a = np.exp(2j * np.pi * np.arange(rows) / rows)
    b = np.exp(2j * np.pi * np.arange(columns) / columns)
    values = np.add.outer(a, b).ravel()
    values = values if directed else values.real
    different = len(np.unique(np.round(values, 9) + 0.0))
    A = torus(rows, columns, directed=directed)
    curve = memory_curve(LinearNetwork(A, rng.standard_normal(len(A))), 60, certify_up_to=0)
    assert curve.rank == different
    truth = memory_curve(LinearNetwork(A, rng.standard_normal(len(A))), 60, method="certified")
    assert agree(curve, truth)  # the mask is of no importance
    assert curve.error.max() < 1e-8
    assert_right(LinearNetwork(A, np.ones(len(A))))


def test_large_symmetric_graphs() -> None:
    """A torus of 400 nodes, a complete graph, a circulant: no ball arithmetic is needed."""
    rng = np.random.default_rng(1)
    complete = (np.ones((300, 300)) - np.eye(300)) / 400
    column = np.zeros(301)
    column[[1, 2, 7]] = column[[-1, -2, -7]] = 0.15
    for A, rank in (
        (torus(20, 20, directed=False), None),
        (complete, 2),
        (toeplitz(column), 151),
    ):
        curve = memory_curve(LinearNetwork(A, rng.standard_normal(len(A))), certify_up_to=0)
        assert rank is None or curve.rank == rank
        assert abs(curve.values.sum() - curve.rank) < 1e-9
        assert curve.error.max() < 1e-9


def test_equitable_partitions() -> None:
    """Cells of nodes that cells drive alike: the Krylov space ends after as many steps as cells."""
    rng = np.random.default_rng(1)
    cells = np.repeat(np.arange(5), [30, 60, 70, 80, 90])
    between = rng.uniform(-1, 1, (5, 5))
    A = np.zeros((len(cells), len(cells)))
    for i in range(5):
        for j in range(5):
            sizes = np.count_nonzero(cells == i), np.count_nonzero(cells == j)
            block = np.zeros(sizes)
            for k in range(3):  # every row has three entries of this weight
                block[np.arange(sizes[0]), (np.arange(sizes[0]) + 7 * k) % sizes[1]] = between[i, j]
            A[np.ix_(cells == i, cells == j)] = block / 8
    c = rng.standard_normal(5)
    curve = memory_curve(LinearNetwork(A, c[cells]), 40, certify_up_to=0)
    truth = memory_curve(LinearNetwork(3 * between / 8, c), 40, method="certified")
    assert curve.rank == 5
    assert np.all(np.abs(curve.values - truth.values) <= curve.error + truth.error + 1e-12)
    assert curve.error.max() < 1e-6


def test_silent_modes_of_a_mirrored_network() -> None:
    """A commutes with a reflection that the mask shares: half of the modes never start."""
    rng = np.random.default_rng(5)
    P, Q = 0.4 * rng.standard_normal((2, 60, 60)) / np.sqrt(60)
    c = rng.standard_normal(60)
    mirrored = LinearNetwork(np.block([[P, Q], [Q, P]]), np.concatenate([c, c]))
    curve = memory_curve(mirrored, 50, certify_up_to=0)
    assert agree(curve, memory_curve(LinearNetwork(P + Q, c), 50))
    assert curve.rank == 60
    assert curve.error.max() < 1e-9


# -- any other ----------------------------------------------------------------------------------


def test_modes_of_several_blocks_of_the_schur_factor() -> None:
    """Large enough for the recursion to go deep, with pairs at all the places it cuts."""
    for size in (65, 130, 301):
        network = ensembles.normal(size, seed=size)
        A, C = balanced(np.asarray(network.A))[0], spectrum.unit_norm(network.C)
        found = schur_modes(A, C)
        assert found is not None
        values, left = np.linalg.eig(A.T)
        nearest = np.abs(found[1][:, None] - values).argmin(axis=1)
        left /= np.linalg.norm(left, axis=0)
        assert found[2] == pytest.approx(np.abs(left.T @ C)[nearest], rel=1e-6)


def test_jordan_blocks_have_no_eigenvectors_to_go_by() -> None:
    network = draw("rotated_jordan", 3)
    assert schur_modes(np.asarray(network.A), spectrum.unit_norm(network.C)) is None
    assert_right(network)


# -- single precision and the lattice -----------------------------------------------------------


def low_rank(scale: float) -> LinearNetwork:
    """A of rank two in integers: a mask drives three modes of six."""
    U = np.array([[1, 1], [-1, 1], [0, 0], [0, -1], [1, -1], [-1, 0.0]])
    V = np.array([[0, 0, -1, -1, -1, -1], [-1, 1, -1, 0, 1, -1.0]])
    return LinearNetwork(U @ V * scale, np.arange(1.0, 7))


@pytest.mark.parametrize("exponent", [-3, -493, -545, -1000])
def test_very_small_weights(exponent: int) -> None:
    """Squares of such numbers vanish, and LAPACK scales them within; ranks must not change."""
    scale = 2.0**exponent
    circulant = LinearNetwork(np.ones((7, 7)) * scale, np.arange(1.0, 8))
    for network, rank in ((low_rank(scale), 3), (circulant, 2)):
        assert assert_right(network, 8) == f"rank {rank}"


@pytest.mark.parametrize("exponent", [-900, -480, 0, 480, 900])
def test_eigenvalues_of_any_size(exponent: int) -> None:
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    ours = np.sort(eigenvalues(A * 2.0**exponent).real)
    expected = np.sort(np.linalg.eigvals(A).real) * 2.0**exponent
    np.testing.assert_allclose(ours, expected, rtol=1e-14)
