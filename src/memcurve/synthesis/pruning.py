"""Smaller networks with the same usable memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import require_number
from memcurve.core.errors import UncertainResultError
from memcurve.core.notes import Note
from memcurve.core.types import Floats
from memcurve.io.adapters import as_network
from memcurve.memory import MemoryCurve, memory_curve
from memcurve.network import LinearNetwork
from memcurve.rendering.report import Chart
from memcurve.solve import responses_to
from memcurve.synthesis.directions import Directions, directions_of
from memcurve.synthesis.prose import PRUNED_NOTES
from memcurve.synthesis.result import Network, SynthesisResult, curve_chart


@dataclass(frozen=True, eq=False, repr=False)
class Pruned(SynthesisResult):
    """A network cut down to what noise leaves of it, from :func:`memcurve.pruned`.

    Attributes
    ----------
    network : LinearNetwork
        The pruned network, or the one that was given where nothing can be cut. Below ``noise`` its
        memory is another.
    bound : float
        Bound on how far its memory is from that of the given one, at every lag, at ``noise``.
    noise, tolerance : float
        What was asked for.
    states : int
        States of the given network.
    before, after : (lags,) arrays
        Usable memory of both.
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

    def columns(self) -> Mapping[str, Any]:
        """One row per lag: usable memory before and after."""
        lags = np.arange(len(self.before))
        return {"lag": lags, "before": self.before, "after": self.after}

    def figures(self) -> list[tuple[str, str]]:
        """The main numbers by name, as text."""
        return [
            ("states before", f"{self.states:,}"),
            ("states after", f"{self.network.states:,}"),
            ("noise", f"{self.noise:g}"),
            ("every MC_τ kept to", f"{self.bound:.2g}"),
            ("usable memory", f"{self.before.sum():.6g} → {self.after.sum():.6g}"),
        ]

    def chart(self) -> Chart:
        """Usable memory before and after."""
        curves = {"after": self.after, "before": self.before}  # terminals draw the first
        return curve_chart("Usable memory before and after", curves, dashed="before")


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
    noise : float
        Standard deviation of the observation noise, for input of unit variance.
    tolerance : float
        How far MC_τ may be off at any lag.

    Returns
    -------
    Pruned
        With ``.network`` and ``.bound``. Where some nodes are read, the last nodes of the network
        stand for them, and are read. At more noise the bound holds as well.

    Examples
    --------
    >>> import memcurve
    >>> large = memcurve.ensembles.sparse_normal(1000, density=0.01, seed=1)
    >>> small = memcurve.pruned(large, 1e-2, 1e-3)
    >>> small.network.size < 100, small.bound <= 1e-3
    (True, True)
    """
    subject = as_network(network)
    rule = "above 0 and below 1, how far MC_τ may be off"
    enough = require_number(tolerance, "tolerance", rule, lambda x: 0 < x < 1)
    found = directions_of(subject, noise)
    s, error = found.level, found.error
    most = len(found.sigma) if found.reader is None else len(found.H)
    known = memory_curve(_network_of(found, most + 1, subject), noise=s)
    lags = len(known)
    candidates: dict[int, tuple[LinearNetwork, MemoryCurve, float]] = {}

    def bound_of(count: int) -> float:
        if count not in candidates:
            small = _network_of(found, count, subject)
            try:
                curve = memory_curve(small, lags, noise=s)
            except UncertainResultError:
                return np.inf
            candidates[count] = small, curve, _distance(known, curve) + error
        return candidates[count][2]

    low, high = 0, most + 2  # of which the one is too few, the other not tried
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound_of(middle) <= enough else (middle, high)
    notes = list(subject.notes)
    if high > most + 1 or candidates[high][0].states >= subject.states:
        notes.append(Note("method", PRUNED_NOTES["nothing"]))
        return Pruned(
            subject, 0.0, s, enough, subject.states, known.values, known.values, tuple(notes)
        )  # fmt: skip
    small, curve, bound = candidates[high]
    facts = {"name": subject.name or "a network", "states": subject.states, "bound": bound}
    small = small.replace(notes=[*notes, PRUNED_NOTES["network"].format(noise=s, **facts)])
    return Pruned(
        small, bound, s, enough, subject.states, known.values, curve.values, tuple(notes)
    )  # fmt: skip


def _network_of(found: Directions, count: int, subject: LinearNetwork) -> LinearNetwork:
    """The model in the first directions of largest variance; as it is, where more are asked for."""
    H, c, reader = found.H, found.c, found.reader
    U = found.U if reader is None else _state_directions(found)
    if count <= U.shape[1]:
        U = U[:, :count]
        H, c = U.T @ H @ U, U.T @ c
        reader = None if reader is None else reader @ U
    read = None
    if reader is not None:  # what is read are states, too: y_t = Rξ_t
        if len(reader) > len(H):  # rotated, the noise is the same
            reader = np.asarray(np.linalg.qr(reader, mode="r"))
        read = np.arange(len(H), len(H) + len(reader))
        H = np.block([[H, np.zeros((len(H), len(reader)))], [reader @ H, 0 * reader @ reader.T]])
        c = np.concatenate([c, reader @ c])
    mask = c if c.shape[1] > 1 else c[:, 0]
    return LinearNetwork(H, mask, read, name=subject.name)


def _state_directions(found: Directions) -> Floats:
    """Directions of the states themselves where some nodes are read, largest variance first."""
    R = responses_to(found.H, found.c, len(found.V) // found.c.shape[1])
    return np.asarray(np.linalg.svd(R, full_matrices=False)[0])


def _distance(one: MemoryCurve, other: MemoryCurve) -> float:
    """Bound on the largest distance of two curves over all lags, those not listed as well."""
    off = np.abs(one.values - other.values) + one.error + other.error
    rest = [
        max(0.0, curve.total - float(curve.values.sum())) + curve.total_error
        for curve in (one, other)
    ]
    return float(max(off.max(), *rest))
