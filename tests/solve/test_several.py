"""Several inputs: against the truth, ranks by construction, invariances."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq_mat, fmpz_mat
from scipy.linalg import block_diag

from draws import of_radius
from memcurve import LinearNetwork, ensembles, memory_curve
from memcurve.inputs.noise import StateNoise
from tolerances import CLOSED_FORM, SEVERAL, agree


def draw(kind: str, size: int, inputs: int, radius: float = 0.9) -> LinearNetwork:
    C = np.random.default_rng(inputs).standard_normal((size, inputs))
    return ensembles.make(kind, size, seed=1, spectral_radius=radius).replace(C=C)


@pytest.mark.parametrize("inputs", [2, 4])
def test_channels_sum_to_the_values_and_lags_to_the_rank(inputs: int) -> None:
    curve = memory_curve(draw("normal", 25, inputs), 800)
    assert curve.channels.shape == (800, inputs)
    assert np.abs(curve.channels.sum(axis=1) - curve.values).max() <= inputs * CLOSED_FORM
    assert curve.values.sum() == pytest.approx(25, abs=SEVERAL)
    assert np.all((curve.channels >= 0) & (curve.channels <= 1))
    assert np.all(np.diff(curve.values) <= curve.error.max())
    assert np.abs(curve.loss + curve.values - inputs).max() <= inputs * CLOSED_FORM


# Ranks by construction


@pytest.mark.filterwarnings("ignore::memcurve.core.errors.RankWarning")
def test_repeated_blocks() -> None:
    """Copies of a network under one input are one; under as many generic ones all count."""
    block = ensembles.normal(5, seed=2).A
    A = block_diag(block, block, block)
    rng = np.random.default_rng(2)
    for inputs, rank in ((1, 5), (2, 10), (3, 15), (4, 15)):
        C = rng.standard_normal((15, inputs))
        assert memory_curve(LinearNetwork(A, C), 10).rank == rank
        assert memory_curve(LinearNetwork(A, C), 10, method="certified").rank == rank
    one = rng.standard_normal(5)
    C = np.kron(np.ones((3, 1)), np.column_stack([one, block @ one]))  # copies hear the same
    assert memory_curve(LinearNetwork(A, C), 10).rank == 5


@pytest.mark.filterwarnings("ignore::memcurve.core.errors.RankWarning")
@pytest.mark.parametrize("seed", range(5))
def test_nodes_that_nothing_but_the_inputs_drives(seed: int) -> None:
    """More of them than inputs: rounding leads to directions that the exact rank rules out."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((30, 30)) * (rng.random((30, 30)) < 0.2)
    A[:4] = 0.0
    network = LinearNetwork(of_radius(A), rng.random((30, 2)))
    curve = memory_curve(network, 40, certify_up_to=0)
    proven = memory_curve(network, 40, method="certified")
    assert agree(curve, proven)
    assert curve.rank < 30


@pytest.mark.parametrize("size", [15, 100, 300])
@pytest.mark.parametrize("ratio", [1.0, 2.0, -0.25, 4 / 3])
def test_masks_that_are_multiples(size: int, ratio: float) -> None:
    """By powers of two they enter as one input, which needs no more than its eigenvalues."""
    network = ensembles.normal(size, seed=3).replace(C=np.ones(size))
    alone = memory_curve(network, 60)
    both = memory_curve(network.replace(C=np.column_stack([network.C, ratio * network.C])), 60)
    shares = np.array([1, ratio**2]) / (1 + ratio**2)
    off = np.abs(both.channels - alone.values[:, None] * shares)
    assert np.all(off <= both.channel_errors + alone.error[:, None])
    if ratio != 4 / 3:
        assert both.diagnostics["solver"] == "lattice"
        assert both.rank == both.total == size
        assert both.total_error == 0
    if size == 15:
        assert off.max() <= SEVERAL


def test_many_lags_are_left_to_floating_point() -> None:
    """Next to the unit circle: in ball arithmetic so many lags take half a minute."""
    network = draw("orthogonal", 30, 2, 0.9999)
    curve = memory_curve(network)
    proven = memory_curve(network, 100, method="certified")
    assert curve.diagnostics["solver"] == "cascade"
    assert curve.error.max() < 1e-6
    assert agree(curve, proven)


# Invariances


def test_mixing_inputs_keeps_their_sum() -> None:
    """White inputs turned by an orthogonal matrix are white inputs again."""
    network = draw("normal", 20, 3)
    Q, _ = np.linalg.qr(np.random.default_rng(6).standard_normal((3, 3)))
    turned = memory_curve(network.replace(C=network.C @ Q), 60)
    straight = memory_curve(network, 60)
    assert np.abs(turned.values - straight.values).max() <= 3 * SEVERAL
    assert np.abs(turned.channels - straight.channels).max() > 0.01


def test_the_error_of_a_sum_counts_its_rounding() -> None:
    """Networks without cycles are rational: proven parts are summed, and the sum is rounded."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        A, C = np.tril(rng.integers(-2, 3, (4, 4)), -1), rng.integers(-2, 3, (4, 2))
        powers = [fmpq_mat(fmpz_mat(np.linalg.matrix_power(A, k).tolist())) for k in range(4)]
        columns = [power * fmpq_mat(fmpz_mat(C.tolist())) for power in powers]
        G = sum((c * c.transpose() for c in columns[1:]), columns[0] * columns[0].transpose())
        if G.rank() < 4:
            continue
        curve = memory_curve(LinearNetwork(A, C), 4, method="certified")
        for column, value, error in zip(columns, curve.values, curve.error, strict=True):
            parts = column.transpose() * G.solve(column)
            known = parts[0, 0] + parts[1, 1]
            off = abs(Fraction(value) - Fraction(int(known.p), int(known.q)))
            assert off <= Fraction(error)


def test_answers_do_not_depend_on_what_was_asked_before() -> None:
    """Noise keeps directions that rounding alone leads to; without it they are left out."""
    network = ensembles.sparse_normal(60, density=0.03, seed=2)
    network = network.replace(C=np.random.default_rng(2).standard_normal((60, 2)))
    fresh = memory_curve(network.replace(), 20)
    memory_curve(network, 20, noise=StateNoise(1e-3))
    again = memory_curve(network, 20)
    assert np.array_equal(again.channels, fresh.channels)
    assert np.array_equal(again.channel_errors, fresh.channel_errors)
