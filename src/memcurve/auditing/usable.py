"""How much of the memory can be used, with the numbers that states are stored in or read with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, rank_among_notes
from memcurve.inputs import processes_for
from memcurve.memory import ask, noise_profile
from memcurve.network import LinearNetwork
from memcurve.noise import Float32, Float64, Noise, noise_of, number_formats
from memcurve.result import Floats
from memcurve.solve.analysis import Analysis
from memcurve.solve.question import Question

#: Noise levels of the picture, two a decade.
LEVELS = np.logspace(-18, 0, 37)
#: States up to which the picture is drawn: about a minute there.
MOST_STATES = 1500


@dataclass(frozen=True)
class Usable:
    """Memory that is left under some noise.

    ``level`` is its standard deviation, for input of unit variance (its root mean square where it
    differs between states, NaN where that says little); ``horizon`` is the first lag from which on
    less than half is left; ``given`` says that the caller gave it.
    """

    name: str
    level: float
    total: float
    error: float
    horizon: int | None
    given: bool = False


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
    try:
        return _answered(network, input, noise_of(noise))
    except UncertainResultError as error:
        return UsableMemory(reason=str(error))


def _answered(network: LinearNetwork, input: Any, given: Noise | None) -> UsableMemory:
    deviations = Analysis.of(network).state_deviations(processes_for(input, network.inputs))
    formats = {name: v for name, v in number_formats(deviations).items() if v > 0}
    relative: dict[str, Noise] = {"float64": Float64(), "float32": Float32()}
    asked = [(name, relative[name], False) for name in relative if name in formats]
    if given is not None:
        asked.append((given.label, given, True))
    known = {}
    for name, noise, by_caller in asked:
        curve = ask(Question.of(network, input=input, noise=noise), warn=False)
        level = float(noise.levels[0]) if noise.is_scaled else formats.get(name, float("nan"))
        known[name] = _row(name, level, curve, by_caller)
    equal = [name for name in formats if name not in relative]
    levels = np.concatenate([LEVELS, [formats[name] for name in equal]])
    with rank_among_notes():
        family = noise_profile(network, levels, input=input)
    for name, curve in zip(equal, family.curves[len(LEVELS) :], strict=True):
        known[name] = _row(name, formats[name], curve, False)
    order = [*formats, *(name for name, _, by_caller in asked if by_caller)]
    rows = tuple(known[name] for name in order)
    return UsableMemory(rows, LEVELS, family.totals[: len(LEVELS)])


def _row(name: str, level: float, curve: MemoryCurve, given: bool) -> Usable:
    return Usable(name, level, curve.total, curve.total_error, curve.horizon(), given)
