"""Noise-free curves that are known in closed form, by every method that knows the truth."""

from typing import NamedTuple

import numpy as np
import pytest

from memcurve import (
    LinearNetwork,
    UncertainResultError,
    UnstableNetworkError,
    ensembles,
    memory_curve,
)
from refusals import refuses
from tolerances import CLOSED_FORM

LAGS = np.arange(60)
#: One complex pole λ is the real pair λ, λ̄, of which MC_0 = 1 − |λ|⁴.
TURNING = 0.9 * np.exp(0.7j)


class Known(NamedTuple):
    """A network, its memory at as many lags as are known, and its rank."""

    network: LinearNetwork
    memory: np.ndarray
    rank: int


def ring(size: int, radius: float) -> Known:
    """MC_τ = (1 − ρ^{2N}) ρ^{2N⌊τ/N⌋}."""
    power = radius ** (2 * size)
    return Known(
        ensembles.cyclic(size, spectral_radius=radius), (1 - power) * power ** (LAGS // size), size
    )


def one_pole(a: float, network: LinearNetwork) -> Known:
    """MC_τ = (1 − a²) a^{2τ}."""
    return Known(network, (1 - a) * (1 + a) * a ** (2 * LAGS), 1)


def delays(network: LinearNetwork, rank: int) -> Known:
    return Known(network, (rank > LAGS).astype(float), rank)


CASES = {
    "delay line of one": delays(ensembles.delay_line(1), 1),
    "delay line": delays(ensembles.delay_line(50), 50),
    "chain without loops, gain 10": delays(ensembles.chain(20, loop=0.0, gain=10.0), 20),
    "chain without loops, gain 1.7": delays(ensembles.chain(20, loop=0.0, gain=1.7), 20),
    "no edges": delays(LinearNetwork(np.zeros((5, 5)), np.ones(5)), 1),
    "no input": delays(LinearNetwork(np.eye(3) / 2, np.zeros(3)), 0),
    "ring": ring(7, 0.8),
    "one node": one_pole(0.9, LinearNetwork([[0.9]], [2.0])),
    "one node next to the circle": one_pole(1 - 2.0**-30, LinearNetwork([[1 - 2.0**-30]], [1.0])),
    "a multiple of the identity": one_pole(0.5, LinearNetwork(np.eye(4) / 2, [1, 2, 3, -1])),
    "a ring that hears one thing": one_pole(0.9, ensembles.cyclic(8).replace(C=np.ones(8))),
    "an unstable mode that is silent": one_pole(
        0.5, LinearNetwork([[1.0, 0.5], [0.5, 1.0]], [1.0, -1.0])
    ),
    "a complex pole": Known(LinearNetwork([[TURNING]], [1.0 + 2j]), np.array([1 - 0.9**4]), 2),
    "a real pole among complex ones": Known(
        LinearNetwork(np.diag([0.5 + 0j, 0.6j]), [1, 1]), np.zeros(0), 3
    ),
}


@pytest.mark.parametrize("method", ["exact", "certified"])
@pytest.mark.parametrize("name", CASES)
def test_known_curves(name: str, method: str) -> None:
    network, memory, rank = CASES[name]
    curve = memory_curve(network, len(LAGS), method=method)
    count = len(memory)
    assert curve.rank == curve.total == rank
    assert np.all(np.abs(curve.values[:count] - memory) <= curve.error[:count] + 4e-16)
    # relative to its size, and to what is lost, however small these are
    assert np.allclose(curve.values[:count], memory, rtol=CLOSED_FORM * 1e3, atol=0)
    assert curve.error.max() <= 1e-12


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
