"""How much of the memory can be used, with the numbers that states are stored in or read with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError, rank_among_notes
from memcurve.general import Problem
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.noise import (
    Float32,
    Float64,
    Noise,
    ObservationNoise,
    noise_of,
    number_formats,
)

Floats = NDArray[np.float64]

#: Noise levels of the picture, two a decade.
LEVELS = np.logspace(-20, 0, 41)
#: States up to which the picture is drawn: about a minute there.
MOST_STATES = 1500
#: The name of the noise that the caller gave.
GIVEN = "the noise given"


@dataclass(frozen=True)
class Usable:
    """Memory that is left under some noise.

    ``level`` is its standard deviation, for input of unit variance (its root mean square where it
    differs between states, NaN where that says little); ``horizon`` is the first lag from which on
    less than half is left.
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
    """Usable memory in number formats, under the noise given, and against the noise level.

    Floating point rounds each state relative to its size; converters of 16 and 12 bits round all of
    them alike, in steps that span four standard deviations of the largest.
    """
    if not network.C.any():
        return UsableMemory(reason="no input enters the network")
    if network.states > MOST_STATES:
        return UsableMemory(
            reason=f"left out: with more than {MOST_STATES} states it takes minutes; "
            f"memcurve.noise_profile computes it"
        )
    problem = Problem.of(network, None, input=input, noise=None)
    levels = {name: v for name, v in number_formats(problem.state_deviations).items() if v > 0}
    asked: dict[str, Noise] = {}
    for name, relative in (("float64", Float64()), ("float32", Float32())):
        if name in levels:
            asked[name] = relative
    asked |= {name: ObservationNoise(levels[name]) for name in levels if name not in asked}
    given = noise_of(noise)
    if isinstance(given, ObservationNoise):
        asked[GIVEN], levels[GIVEN] = given, float(given.levels[0])
    elif given is not None:
        asked[f"{GIVEN}, {given.label}"] = given
    with rank_among_notes():
        try:
            return _answered(network, input, asked, levels)
        except UncertainResultError as error:
            return UsableMemory(reason=str(error))


def _answered(
    network: LinearNetwork, input: Any, asked: dict[str, Noise], levels: dict[str, float]
) -> UsableMemory:
    rows, in_balls = [], False
    for name, noise in asked.items():
        curve: Any = memory_curve(network, input=input, noise=noise)
        level = levels.get(name, float("nan"))
        rows.append(Usable(name, level, curve.total, curve.total_error, curve.horizon()))
        in_balls |= curve.diagnostics.get("arithmetic") == "ball"
    if in_balls:  # each level takes a second or more
        known = sorted((row.level, row.total) for row in rows if row.level == row.level)
        drawn = np.array(known).reshape(-1, 2)
        return UsableMemory(tuple(rows), drawn[:, 0], drawn[:, 1])
    family = memory_curve(network, 1, input=input, noise=LEVELS)
    return UsableMemory(tuple(rows), family.levels, family.totals)
