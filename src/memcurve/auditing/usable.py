"""How much of the memory can be used, with the numbers that states are stored in or read with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import RankWarning, UncertainResultError
from memcurve.general import Problem
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.noise import Noise, ObservationNoise, noise_of, number_formats
from memcurve.profile import NoiseProfile

Floats = NDArray[np.float64]

#: Noise levels of the picture, two a decade.
LEVELS = np.logspace(-20, 0, 41)
#: Up to this many states ball arithmetic may take over; the picture then has but few levels.
MOST_BALLS = 300
#: States up to which the picture is drawn: about a minute there.
MOST_STATES = 1500
#: The name of the noise that the caller gave.
GIVEN = "the noise given"


@dataclass(frozen=True)
class Usable:
    """Memory that is left under some noise.

    ``level`` is its standard deviation, for input of unit variance (NaN where it differs between
    states); ``horizon`` is the first lag that less than half of is left.
    """

    name: str
    level: float
    total: float
    error: float
    horizon: int | None


@dataclass(frozen=True, eq=False)
class UsableMemory:
    """Usable memory in number formats and at a noise that was given, and against the noise level.

    ``levels`` and ``totals`` are the picture; ``reason`` says why there is none, where there is
    none.
    """

    rows: tuple[Usable, ...] = ()
    levels: Floats = field(default_factory=lambda: np.zeros(0))
    totals: Floats = field(default_factory=lambda: np.zeros(0))
    reason: str = ""

    def at(self, name: str) -> Usable | None:
        """The row called ``name``."""
        return next((row for row in self.rows if row.name == name), None)


def usable_memory(network: LinearNetwork, input: Any, noise: Any) -> UsableMemory:
    """Usable memory at all levels at once, from one decomposition of the states.

    Number formats are taken as noise of the same size in all states, the root mean square of what
    rounding does to them.
    """
    if not network.C.any():
        return UsableMemory(reason="no input enters the network")
    if network.states > MOST_STATES:
        return UsableMemory(
            reason=f"left out: with more than {MOST_STATES} states it takes minutes; "
            f"memcurve.noise_profile computes it"
        )
    try:
        return _usable_memory(network, input, noise_of(noise))
    except UncertainResultError as error:
        return UsableMemory(reason=str(error))


def _usable_memory(network: LinearNetwork, input: Any, given: Noise | None) -> UsableMemory:
    formats = number_formats(Problem.of(network, None, input=input, noise=None).state_deviations)
    formats = {name: level for name, level in formats.items() if level > 0}
    if isinstance(given, ObservationNoise):
        formats |= {GIVEN: float(given.levels[0])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # it is among the notes of the exact curve
        family = _at_levels(network, input, list(formats.values()))
        rows = []
        for name, level in formats.items():
            curve = family[int(np.searchsorted(family.levels, level))]
            rows.append(Usable(name, level, curve.total, curve.total_error, curve.horizon()))
        if given is not None and not isinstance(given, ObservationNoise):
            one: Any = memory_curve(network, input=input, noise=given)
            name = f"{GIVEN}, {given.label}"
            rows.append(Usable(name, float("nan"), one.total, one.total_error, one.horizon()))
    return UsableMemory(tuple(rows), family.levels, family.totals)


def _at_levels(network: LinearNetwork, input: Any, wanted: list[float]) -> NoiseProfile:
    """Curves at the levels wanted, and at those of the picture."""
    whole = np.unique(np.concatenate([LEVELS, wanted]))
    if network.states > MOST_BALLS:
        return memory_curve(network, input=input, noise=whole)
    first = memory_curve(network, input=input, noise=np.unique(wanted))
    if first[0].diagnostics.get("arithmetic") == "ball":
        return first  # each level takes a second or more
    return memory_curve(network, input=input, noise=whole)
