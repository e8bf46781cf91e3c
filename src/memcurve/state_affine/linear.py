"""Capacities of linear networks: their words are delays, so the memory curve has them all."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.progress import Progress
from memcurve.core.types import EPS
from memcurve.io.adapters import as_network
from memcurve.memory import MemoryCurve, memory_curve, rank
from memcurve.network import LinearNetwork
from memcurve.state_affine.faults import fault
from memcurve.state_affine.letters import letters_of
from memcurve.state_affine.network import StateAffineNetwork
from memcurve.state_affine.result import LISTED, Capacities, WordCapacity
from memcurve.state_affine.tree import TABLE_LAGS, Word

NO_MEMORY = 1e-11  # of all lags not listed, to be taken for nothing; it is part of the error


def as_linear(network: StateAffineNetwork, noise: Any) -> LinearNetwork | None:
    """The equivalent linear network, if there is one: p constant, q of degree one."""
    if not network.is_polynomial or network.p[1:].any():
        return None
    if network.outputs is not None or network.readout is not None:
        return None
    if len(network.functions) < 2 or network.q[2:].any() or np.ndim(noise):
        return None
    # noise is in units of the states; without it a mask may have any length, and no rounding
    mask = network.q[1] if noise is None else letters_of(network).r[1]
    return LinearNetwork(network.p[0], mask, name=network.name, notes=network.notes)


def capacities_of_linear(
    network: Any, noise: Any, lags: int | None, progress: Progress
) -> Capacities:
    """Every capacity of a linear network."""
    network = as_network(network)
    if network.inputs > 1:
        raise ValueError(fault("several_inputs", inputs=network.inputs))
    curve = memory_curve(network, lags, noise=noise, progress=progress)
    words = LinearWords(curve)
    error = max(curve.error.max(initial=0.0), curve.total_error, EPS)
    return Capacities(
        total=curve.total,
        by_degree={1: curve.total},
        by_delay=curve.total - np.append(0.0, np.cumsum(curve.values))[:-1],
        by_window=curve.values,
        table=curve.values[None, :TABLE_LAGS],
        curve=curve,
        error=float(error + words.rest * (words.rest <= NO_MEMORY)),
        rank=rank(network) if curve.rank is None else curve.rank,
        states=network.read_states,
        arithmetic="poles",
        listed=tuple(WordCapacity(*pair) for pair in words.first(LISTED)),
        notes=curve.notes,
        name=network.name or repr(network),
    ).with_tree(words, words)


class LinearWords:
    """Capacities of (0, …, 0, 1) from a memory curve; ``rest`` is that of lags not listed."""

    def __init__(self, curve: MemoryCurve) -> None:
        self.curve = curve
        self.rest = max(curve.total - float(curve.values.sum()), 0.0)
        self._order = np.argsort(-curve.values, kind="stable")

    def capacity(self, word: Word) -> float:
        """Of one word: a product of two inputs has none."""
        lag = len(word) - 1
        if any(word[:-1]) or word[-1] != 1:
            return 0.0
        if lag < len(self.curve):
            return float(self.curve.values[lag])
        if self.rest > NO_MEMORY:
            facts = {"count": len(self.curve), "lag": lag, "wanted": lag + 1}
            raise UncertainResultError(fault("unlisted_lag", **facts))
        return 0.0

    def first(self, count: int) -> Sequence[tuple[Word, float]]:
        """The largest ones."""
        pairs = [(lag, float(self.curve.values[lag])) for lag in self._order[:count].tolist()]
        return [((0,) * lag + (1,), value) for lag, value in pairs if value > 0]

    def above(self, level: float) -> Sequence[tuple[Word, float]]:
        """All words with at least this capacity."""
        if self.rest >= level:
            raise UncertainResultError("`above` is below what lies beyond the lags; give `lags`.")
        return self.first(int((self.curve.values >= level).sum()))
