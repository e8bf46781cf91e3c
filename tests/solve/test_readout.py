"""Reading some nodes only: against the truth, closed forms, and what cannot be read."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import block_diag

from memcurve import LinearNetwork, StateNoise, ensembles, forecasting_curve, memory_curve
from memcurve.core.errors import rank_among_notes
from memcurve.inputs import ARMA
from memcurve.inputs.filters import filter_of
from memcurve.solve.errors import Truncation, measured
from memcurve.solve.evaluate import singular_system
from memcurve.solve.factor import KrylovFactor, responses_to
from tolerances import CLOSED_FORM, USABLE, agree


@pytest.mark.parametrize("level", [0.0, 1e-2, 1.0])
@pytest.mark.parametrize("process", [ARMA(), ARMA(ma=[0.84]), ARMA(ar=[0.9])], ids=str)
def test_totals_hold_where_the_map_is_off(process: ARMA, level: float) -> None:
    """Read through maps that differ by no more than they are said to."""
    rng, missing, levels = np.random.default_rng(1), 1e-6, np.array([level])
    filters = [filter_of(process)]
    for _ in range(10):
        Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
        W = responses_to(0.9 * Q[:5, :5], Q[:5, 5:], 400)
        W = np.linalg.qr(W.T)[0]
        M, E = rng.standard_normal((2, 2, 5))
        E *= missing / np.linalg.norm(E)
        systems = [
            singular_system(
                KrylovFactor(M=each, W=W, inputs=1), levels=levels, whiten=lambda M: M,
                filters=filters,
            )
            for each in (M, M + E)
        ]  # fmt: skip
        left = Truncation(missing=missing, gain=filters[0].gain)
        one, other = (measured([system], levels, 2, 1, left) for system in systems)
        assert np.all(np.abs(one.memory - other.memory) <= one.memory_error)
        assert np.all(np.abs(one.total - other.total) <= one.total_error)


def test_reading_all_is_the_usual() -> None:
    network = ensembles.normal(20, seed=4)
    usual = memory_curve(network, 60)
    for read in (range(20), np.arange(20)[::-1], np.ones(20, bool)):
        curve = memory_curve(network.replace(readout=read), 60)
        assert np.abs(curve.values - usual.values).max() <= CLOSED_FORM
        assert curve.total == 20
    noisy = memory_curve(network, 60, noise=0.01)
    read = memory_curve(network.replace(readout=np.arange(20)[::-1]), 60, noise=0.01)
    assert np.abs(noisy.values - read.values).max() <= CLOSED_FORM


def test_more_nodes_never_hold_less() -> None:
    network = ensembles.normal(15, seed=6)
    order = np.random.default_rng(6).permutation(15)
    for noise in (None, 0.05):
        curves = [
            memory_curve(network.replace(readout=order[:count]), 50, noise=noise)
            for count in range(1, 16)
        ]
        values = np.array([curve.values for curve in curves])
        slack = max(float(curve.error.max()) for curve in curves)
        assert slack < 10 * USABLE
        assert np.all(np.diff(values, axis=0) >= -2 * slack)
        assert np.all(np.diff([curve.total for curve in curves]) > 0)


def test_nodes_that_no_input_reaches() -> None:
    network = ensembles.normal(6, seed=7)
    A = block_diag(network.A, 0.9 * np.eye(2))
    whole = LinearNetwork(A, np.r_[network.C, 0, 0])
    for noise in (None, 0.1, StateNoise(0.1)):
        curve = memory_curve(whole.replace(readout=[6, 7]), 12, noise=noise)
        assert np.array_equal(curve.values, np.zeros(12))
        assert np.all(np.isfinite(curve.error))
        assert (curve.total, curve.rank) == (0, 0)
        assert np.isfinite(curve.total_error)
    ahead = forecasting_curve(whole.replace(readout=[6]), "ar:0.9", 4)
    assert np.array_equal(ahead.values, np.zeros(4))
    assert len(memory_curve(whole.replace(readout=[6, 7]))) >= 1
    # next to nodes that are reached they add nothing
    both = memory_curve(whole.replace(readout=[0, 3, 6]), 12)
    alone = memory_curve(network.replace(readout=[0, 3]), 12)
    assert np.abs(both.values - alone.values).max() <= CLOSED_FORM
    assert both.total == 2


@pytest.mark.parametrize("size", [8, 10, 12, 16])
@pytest.mark.parametrize("kernel", ["hilbert", "smooth"])
@pytest.mark.parametrize("read", ["all but the driven node", "one side"])
def test_smooth_networks_read_beside_the_input(size: int, kernel: str, read: str) -> None:
    """The input does not enter what is read at once: MC_0 = 0, though nearly all is rounding."""
    nodes = np.arange(size)
    K = 1.0 / (1 + nodes[:, None] + nodes)
    if kernel == "smooth":
        K = np.exp(-(((nodes[:, None] - nodes) / 3.0) ** 2))
    driven = size // 2
    others = np.delete(nodes, driven) if read == "all but the driven node" else nodes[:driven]
    A = 0.9 * K / np.linalg.eigvalsh(K).max()
    network = LinearNetwork(A, np.eye(size)[driven], readout=others)
    with rank_among_notes():
        curve = memory_curve(network, 4)
    truth = memory_curve(network, 4, method="certified")
    assert curve.values[0] <= curve.error[0]
    assert agree(curve, truth)


@pytest.mark.parametrize("slow", [2.72774255e-07, 1e-7, 1e-6, 1e-3])
def test_a_node_that_is_small_beside_others(slow: float) -> None:
    """MC_τ = y_τ²/Σy² for a single node; balanced, it is so many times smaller than the first."""
    curve = memory_curve(LinearNetwork([[0, 0], [-1, slow]], [1, 1], readout=[1]), 4)
    ratio, first = Fraction(slow), Fraction(slow) - 1
    energy = 1 + first**2 / (1 - ratio**2)
    known = [1 / energy, *((first * ratio**lag) ** 2 / energy for lag in range(3))]
    off = [abs(Fraction(value) - true) for value, true in zip(curve.values, known, strict=True)]
    assert all(o <= Fraction(e) for o, e in zip(off, curve.error.tolist(), strict=True))
