"""Curves that are known in closed form, by every method that knows the truth."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest

from memcurve import (
    LinearNetwork,
    UncertainResultError,
    UnstableNetworkError,
    ensembles,
    forecasting_curve,
    memory_curve,
)
from memcurve.inputs import ARMA
from refusals import refuses
from tolerances import CLOSED_FORM

LAGS = np.arange(60)
#: One complex pole λ is the real pair λ, λ̄, of which MC_0 = 1 − |λ|⁴.
TURNING = 0.9 * np.exp(0.7j)
#: An input of period 7, which fades.
SEASON = ARMA(ar=[0, 0, 0, 0, 0, 0, 0.9])


class Known(NamedTuple):
    """A network, its memory at as many lags as are known, total and rank, and what is asked."""

    network: LinearNetwork
    memory: np.ndarray
    total: float
    rank: int | None = None
    asked: Mapping[str, Any] = MappingProxyType({})


def ring(size: int, radius: float, node: int | None = None) -> Known:
    """MC_τ = (1 − ρ^{2N}) ρ^{2N⌊τ/N⌋}; node j hears z_{t−j}, z_{t−j−N}, … only."""
    power = radius ** (2 * size)
    memory = (1 - power) * power ** (LAGS // size)
    network = ensembles.cyclic(size, spectral_radius=radius)
    if node is None:
        return Known(network, memory, size, size)
    return Known(network.replace(readout=[node]), memory * (LAGS % size == node), 1, 1)


def tail_into_ring(tail: int, length: int, p: float) -> Known:
    """MC_τ = 1 on the tail, then (1 − p²) p^{2⌊(τ − t)/c⌋}; the tail's weights do not matter."""
    size, weights = tail + length, np.full(tail + length, 2.0)
    weights[tail:] = 1.0
    A = np.diag(weights[:-1], -1)
    A[tail, -1] = p
    turns = (LAGS - tail) // length
    memory = np.where(turns < 0, 1.0, (1 - p**2) * p ** (2.0 * np.maximum(turns, 0)))
    return Known(LinearNetwork(A, np.eye(size)[0]), memory, size, size)


def equal_states(deviation: float) -> Known:
    """N equal states of variance v = 1/(1 − ρ²) are one, read with noise s²/N.

    MC_τ = ρ^{2τ}/(v + s²/N), in total v/(v + s²/N); the rank, and the limit s → 0, is one.
    """
    size, radius = 9, 0.8
    network = ensembles.cyclic(size, spectral_radius=radius).replace(C=np.ones(size))
    whole = 1 / (1 - radius**2)
    read = whole + deviation**2 / size
    return Known(network, radius ** (2.0 * LAGS) / read, whole / read, 1, {"noise": deviation})


def coloured_register(size: int, phi: float) -> Known:
    """A register holds z_t … z_{t−N+1}: beyond, z_{t−N+1−h} is known up to φ^h."""
    memory = phi ** (2.0 * np.maximum(LAGS - size + 1, 0))
    asked = {"input": ARMA(ar=[phi])}
    total = size + phi**2 / (1 - phi**2)
    return Known(ensembles.delay_line(size), memory, total, size, asked)


def one_pole(a: float, network: LinearNetwork) -> Known:
    """MC_τ = (1 − a²) a^{2τ}."""
    return Known(network, (1 - a) * (1 + a) * a ** (2 * LAGS), 1, 1)


def delays(network: LinearNetwork, rank: int) -> Known:
    return Known(network, (rank > LAGS).astype(float), rank, rank)


CASES = {
    "delay line of one": delays(ensembles.delay_line(1), 1),
    "delay line": delays(ensembles.delay_line(50), 50),
    "chain without loops, gain 10": delays(ensembles.chain(20, loop=0.0, gain=10.0), 20),
    "chain without loops, gain 1.7": delays(ensembles.chain(20, loop=0.0, gain=1.7), 20),
    "no edges": delays(LinearNetwork(np.zeros((5, 5)), np.ones(5)), 1),
    "no input": delays(LinearNetwork(np.eye(3) / 2, np.zeros(3)), 0),
    "ring": ring(7, 0.8),
    **{f"node {node} of a ring": ring(5, 0.9, node) for node in (0, 3)},
    **{f"a tail of {tail} into a ring of {length}": tail_into_ring(tail, length, p)
       for tail, length, p in ((0, 5, 0.5), (3, 4, -0.3), (4, 1, 0.9))},
    **{f"equal states, noise {s:g}": equal_states(s) for s in (1e-150, 1e-8, 0.1, 1.0, 30.0)},
    **{f"delay line of {size}, AR {phi}": coloured_register(size, phi)
       for size in (1, 10) for phi in (0.9, -0.5)},
    "a season of 7 in a register of 3": Known(
        ensembles.delay_line(3), (LAGS % 7 < 3) * 0.81 ** (LAGS // 7), 3 / 0.19, 3,
        {"input": SEASON},
    ),
    "one node": one_pole(0.9, LinearNetwork([[0.9]], [2.0])),
    "one node next to the circle": one_pole(1 - 2.0**-30, LinearNetwork([[1 - 2.0**-30]], [1.0])),
    "a multiple of the identity": one_pole(0.5, LinearNetwork(np.eye(4) / 2, [1, 2, 3, -1])),
    "a ring that hears one thing": one_pole(0.9, ensembles.cyclic(8).replace(C=np.ones(8))),
    "an unstable mode that is silent": one_pole(
        0.5, LinearNetwork([[1.0, 0.5], [0.5, 1.0]], [1.0, -1.0])
    ),
    "a complex pole": Known(
        LinearNetwork([[TURNING]], [1.0 + 2j]), np.array([1 - 0.9**4]), 2, 2
    ),
    "a real pole among complex ones": Known(
        LinearNetwork(np.diag([0.5 + 0j, 0.6j]), [1, 1]), np.zeros(0), 3, 3
    ),
}  # fmt: skip


@pytest.mark.parametrize("method", ["exact", "certified"])
@pytest.mark.parametrize("name", CASES)
def test_known_curves(name: str, method: str) -> None:
    network, memory, total, rank, asked = CASES[name]
    curve = memory_curve(network, len(LAGS), method=method, **asked)
    count = len(memory)
    assert curve.rank == rank
    off = np.abs(curve.values[:count] - memory)
    if asked:
        assert off.max() <= CLOSED_FORM
        assert curve.total == pytest.approx(total, rel=CLOSED_FORM)
        return
    assert np.all(off <= curve.error[:count] + 4e-16)
    # relative to its size, and to what is lost, however small these are
    assert np.allclose(curve.values[:count], memory, rtol=CLOSED_FORM * 1e3, atol=0)
    assert np.abs(curve.loss[:count] - (1 - memory)).max(initial=0) <= CLOSED_FORM
    assert curve.error.max() <= 1e-12
    assert curve.total == total


@pytest.mark.parametrize(
    ("network", "process", "values"),
    [
        # z_{t+h} is known up to φ^h
        *((ensembles.delay_line(size), ARMA(ar=[phi]), phi ** (2.0 * np.arange(1, 21)))
          for size in (1, 10) for phi in (0.9, -0.5)),
        # of a season of 7, a register of 3 has what comes back 5, 6 and 7 steps ahead
        (ensembles.delay_line(3), SEASON, np.outer([0.81, 0.81**2], [0, 0, 0, 0, 1, 1, 1]).ravel()),
    ],
)  # fmt: skip
def test_known_forecasts(network: LinearNetwork, process: ARMA, values: np.ndarray) -> None:
    ahead = forecasting_curve(network, process, len(values))
    assert np.array_equal(ahead.lags, np.arange(1, len(values) + 1))
    assert np.abs(ahead.values - values).max() <= CLOSED_FORM
    if len(process.ar) == 1:
        total = process.ar[0] ** 2 / (1 - process.ar[0] ** 2)
        assert ahead.total == pytest.approx(total, rel=CLOSED_FORM)


def test_losses_far_below_rounding() -> None:
    """A ring of N nodes forgets ρ^{2N} at once."""
    curve = memory_curve(ensembles.cyclic(40, spectral_radius=0.25), 40)
    assert curve.loss[[0, 39]] == pytest.approx(0.25**80, rel=1e-11)


@pytest.mark.parametrize("method", ["exact", "certified"])
@pytest.mark.parametrize(
    "network",
    [
        ensembles.normal(30, spectral_radius=1.1, seed=1),
        ensembles.cyclic(10, spectral_radius=1.0),
        ensembles.cyclic(9, spectral_radius=1 + 2.0**-50),
        LinearNetwork(np.eye(3), [1, 2, 3]),
        LinearNetwork([[1.0, 1.0], [0.0, 1.0]], [0, 1]),
        LinearNetwork([[0.6, -0.8], [0.8, 0.6]], [1, 0]),  # outside by one bit
    ],
    ids=["1.1", "ring of weight 1", "of a bit more", "identity", "Jordan block at 1", "rotation"],
)
def test_unstable_networks_raise(network: LinearNetwork, method: str) -> None:
    refuses(UnstableNetworkError, "unstable", memory_curve, network, method=method)


def test_what_is_proven_and_what_is_too_large() -> None:
    network = ensembles.normal(20, seed=1)
    curve = memory_curve(network, method="certified")
    assert len(curve) == len(memory_curve(network))
    assert abs(curve.values.sum() - 20) < 1e-12
    copies = memory_curve(LinearNetwork(0.9 * np.eye(4), np.ones(4)), 3, method="certified")
    assert "lower bound" in copies.notes[0]
    with pytest.raises(UncertainResultError, match="certify_up_to"):
        memory_curve(network, method="certified", certify_up_to=19)
