"""Smaller networks with the same usable memory."""

import os
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import require_number
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.types import Floats
from memcurve.io import save_network
from memcurve.io.adapters import as_network
from memcurve.memory import MemoryCurve, memory_curve
from memcurve.network import LinearNetwork
from memcurve.synthesis.directions import Directions, directions_of
from memcurve.synthesis.result import PROSE, Network, SynthesisResult


@dataclass(frozen=True, eq=False, repr=False)
class Pruned(SynthesisResult):
    """A network reduced to the directions above the noise, from :func:`memcurve.pruned`.

    Attributes
    ----------
    network : LinearNetwork
        The pruned network, or the given one if nothing can be cut. If only some nodes are read,
        its last nodes represent them. Below ``noise`` its memory differs.
    bound : float
        Bound on how far its memory is from that of the given one, at every lag, at ``noise``
        and above.
    noise, tolerance : float
        As requested.
    states : int
        States of the given network.
    before, after : (lags,) arrays
        Usable memory of both.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.pruned(memcurve.ensembles.normal(50, seed=1), 0.1, 0.01)
    >>> result.network.states < result.states, bool(result.bound <= 0.01)
    (True, True)
    """

    FORMAT: ClassVar[str] = "memcurve.Pruned/1"

    network: Network
    bound: float
    noise: float
    tolerance: float
    states: int
    before: Floats
    after: Floats
    notes: tuple[Note, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether anything could be cut."""
        return self.network.states < self.states

    @property
    def verdict(self) -> tuple[str, ...]:
        """The main findings in a few sentences."""
        return super().verdict if self.is_cut else (self._prose["whole"],)

    @property
    def totals(self) -> tuple[float, float]:
        """Usable memory before and after, at the lags listed."""
        return float(self.before.sum()), float(self.after.sum())

    def save_network(
        self, path: str | os.PathLike[str], like: str | os.PathLike[str] | None = None
    ) -> None:
        """Write the network; see :func:`memcurve.save_network`."""
        save_network(self.network, path, like)


def require_tolerance(tolerance: Any) -> float:
    """Return how far MC_τ may be off, if it lies between 0 and 1."""
    rule = "above 0 and below 1, how far MC_τ may be off"
    return require_number(tolerance, "tolerance", rule, lambda x: 0 < x < 1)


def pruned(network: Any, noise: float, tolerance: float = 1e-9) -> Pruned:
    """The smallest network found that keeps every MC_τ(noise) to a tolerance.

    Proper orthogonal decomposition: with U_k the directions of the states of largest variance,
    A_k = U_kᵀAU_k and C_k = U_kᵀC, which is stable. Both curves are computed and compared, lag by
    lag with their errors, beyond the last lag by what is left of both: that is the bound. Reading
    the nodes of the pruned network with noise s is reading those of the given one with noise s.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        Dense, sparse, or products only; with one input or several, read from all its nodes or some.
    noise, tolerance : float
        Standard deviation of the observation noise, for input of unit variance, and how far MC_τ
        may be off at any lag.

    Examples
    --------
    >>> import memcurve
    >>> large = memcurve.ensembles.sparse_normal(1000, density=0.01, seed=1)
    >>> small = memcurve.pruned(large, 1e-2, 1e-3)
    >>> small.network.size < 100, small.bound <= 1e-3
    (True, True)
    """
    subject = as_network(network)
    allowed = require_tolerance(tolerance)
    directions = directions_of(subject, noise, model=True)
    assert directions.axes is not None
    s, sizes = directions.level, range(1, directions.axes.shape[1] + 2)
    try:
        whole = memory_curve(_network_of(directions, sizes[-1], subject), noise=s)
    except UnstableNetworkError:
        whole = memory_curve(subject, noise=s)
    candidates: dict[int, tuple[LinearNetwork, MemoryCurve, float]] = {}

    def is_enough(count: int) -> bool:
        small = _network_of(directions, count, subject)
        try:
            curve = memory_curve(small, len(whole), noise=s)
        except (UncertainResultError, UnstableNetworkError):  # by rounding, of huge states
            return False
        bound = _distance(whole, curve) + directions.error
        candidates[count] = small, curve, bound
        return bound <= allowed

    index = bisect_left(sizes, True, key=is_enough)
    prose, notes = PROSE["Pruned"], list(subject.notes)
    small, after, bound = subject, whole.values, 0.0
    if index < len(sizes) and candidates[sizes[index]][0].states < subject.states:
        small, curve, bound = candidates[sizes[index]]
        after = curve.values
        facts = {"name": subject.name or "a network", "states": subject.states}
        origin = prose["origin"].format(noise=s, bound=bound, **facts)
        small = small.replace(notes=[*notes, origin])
    else:
        notes.append(Note("method", prose["nothing"]))
    states = subject.states
    return Pruned(small, bound, s, allowed, states, whole.values, after, tuple(notes))


def _network_of(directions: Directions, count: int, subject: LinearNetwork) -> LinearNetwork:
    """The model in its first axes; as it is, where more are asked for."""
    assert directions.model is not None
    assert directions.axes is not None
    H, c, reader = directions.model
    if count <= directions.axes.shape[1]:
        U = directions.axes[:, :count]
        H, c = U.T @ H @ U, U.T @ c
        reader = None if reader is None else reader @ U
    read = None
    if reader is not None:  # what is read are states, too: y_t = Rξ_t
        if len(reader) > len(H):  # rotated, the noise is the same
            reader = np.asarray(np.linalg.qr(reader, mode="r"))
        read = np.arange(len(H), len(H) + len(reader))
        H = np.block([[H, np.zeros((len(H), len(reader)))], [reader @ H, 0 * reader @ reader.T]])
        c = np.concatenate([c, reader @ c])
    return LinearNetwork(H, c if c.shape[1] > 1 else c[:, 0], read, name=subject.name)


def _distance(one: MemoryCurve, other: MemoryCurve) -> float:
    """Bound on the largest distance of two curves over all lags, those not listed as well."""
    off = np.abs(one.values - other.values) + one.error + other.error
    rest = [
        max(0.0, curve.total - float(curve.values.sum())) + curve.total_error
        for curve in (one, other)
    ]
    return float(max(off.max(), *rest))
