"""Usable memory in the number formats of states, and under noise."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import TooLargeError
from memcurve.core.types import Floats
from memcurve.inputs import InputProcess, processes_for
from memcurve.inputs import noise as noises
from memcurve.memory import MemoryCurve, ask, ask_family, is_known
from memcurve.network import LinearNetwork
from memcurve.solve import Analysis, Problem, krylov_model
from memcurve.studies.auditing.sentences import say

#: Noise levels of the chart, two per decade.
LEVELS = np.logspace(-18, 0, 37)
#: States up to which all directions may be needed: about a minute there. Beyond, few must suffice.
MOST_STATES = 1500
#: States up to which all solvers are asked for what rounding hides. Doubled: audits take longer.
FEW_STATES = 30
#: The same for number formats, one level each. Doubled: audits of some networks take a minute.
FORMATS_UP_TO = 100
#: Noise that rounding does not hide, relative to the largest state. Doubled: nothing.
CLEAR = 1e-7
#: An error that is no reason to ask another solver. Doubled: nothing.
ANY_ERROR = 1e300
#: The number format of measuring devices, which verdicts go by unless a noise is given.
MEASURED = "12 bit"
#: The noise, relative to the mask, where the sizes of the states are not known.
FALLBACK = 1e-3
#: Curves are kept up to the last visible lag.
INVISIBLE = 1e-4


@dataclass(frozen=True, eq=False)
class Usable:
    """Memory that is left under some noise.

    ``level`` is its standard deviation, for input of unit variance (its root mean square where it
    differs between states, NaN where that says little); ``horizon`` is the first lag from which on
    MC_τ is below 0.5; ``given`` says that the caller gave it. ``values`` is the memory curve,
    as far as there is something to see of it.
    """

    name: str
    level: float
    total: float
    error: float
    horizon: int | None
    given: bool = False
    values: Floats = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class UsableMemory:
    """Usable memory by number format, at a given noise and by level; the ``reason`` for none."""

    rows: tuple[Usable, ...] = ()
    levels: Floats = field(default_factory=lambda: np.zeros(0))
    totals: Floats = field(default_factory=lambda: np.zeros(0))
    reason: str = ""

    def at(self, name: str) -> Usable | None:
        """The row called ``name``."""
        return next((row for row in self.rows if row.name == name), None)

    @property
    def measured(self) -> Usable | None:
        """Usable memory under the given noise, or else with the 12 bits of devices."""
        return next((row for row in self.rows if row.given), self.at(MEASURED))


def usable_memory(network: LinearNetwork, input: Any, noise: Any) -> UsableMemory:
    """Usable memory in number formats, under the noise given, and against the noise level."""
    if not network.C.any():
        return UsableMemory(reason=say("reasons.no_input"))
    given, processes = noises.noise_of(noise), processes_for(input, network.inputs)
    try:
        if network.states > MOST_STATES and not _is_quick(network, processes, given):
            return UsableMemory(reason=say("reasons.many_directions", states=MOST_STATES))
        deviations = Analysis.of(network).deviations(processes)
        formats = {name: v for name, v in noises.number_formats(deviations).items() if v > 0}
        rows = list[Usable]()
        for kind in (noises.Float32(), noises.Float64()):
            its_level = {kind.label: formats.pop(kind.label, float("nan"))}
            with contextlib.suppress(UncertainResultError):  # states may be too small for any error
                curves = _family(Problem.of(network, input=processes, noise=kind))
                rows = _rows(its_level, curves) + rows
        if formats:
            noise = noises.ObservationNoise([*formats.values()])
            rows += _rows(formats, _family(Problem.of(network, input=processes, noise=noise)))
        clear = LEVELS[CLEAR * deviations.max(initial=0.0) <= LEVELS]
        totals = _totals(network, processes, LEVELS) or _totals(network, processes, clear)
        if given is not None:
            curve = ask(Problem.of(network, input=processes, noise=given))
            level = float(given.levels[0]) if given.is_scaled else float("nan")
            rows += _rows({given.label: level}, (curve,), given=True)
    except UncertainResultError as error:
        return UsableMemory(reason=str(error))
    return UsableMemory(tuple(rows), np.array([*totals]), np.array([*totals.values()]))


def _totals(
    network: LinearNetwork, processes: tuple[InputProcess, ...], levels: Floats
) -> dict[float, float]:
    """Totals at these noise levels, as far as rounding does not hide them."""
    if not len(levels):
        return {}
    with contextlib.suppress(UncertainResultError):
        noise = noises.ObservationNoise(levels)
        curves = _family(Problem.of(network, 1, input=processes, noise=noise))
        named = zip(levels.tolist(), curves, strict=True)
        return {level: curve.total for level, curve in named if is_known(curve)}
    return {}


def _family(problem: Problem) -> tuple[MemoryCurve, ...]:
    """The curves of a family; other solvers take twenty times as long for what rounding hides."""
    # balls take as long for every level
    is_small = problem.network.states <= (FEW_STATES if len(problem.levels) > 1 else FORMATS_UP_TO)
    options = {} if is_small else {"tolerance": ANY_ERROR, "certify_up_to": 0}
    return ask_family(problem, options=options)


def usable_memory_at_scale(
    network: LinearNetwork, input: Any, noise: Any, notify: Callable[[str], None]
) -> tuple[UsableMemory, tuple[tuple[str, str], ...]]:
    """The same for large networks, at feasible levels; and what is not computed, with reasons."""
    if not network.C.any():
        return UsableMemory(reason=say("reasons.no_input")), ()
    given, processes = noises.noise_of(noise), processes_for(input, network.inputs)
    left_out: list[tuple[str, str]] = [(say("left_out.double"), say("reasons.double"))]
    rows = list[Usable]()
    notify("sizes of the states")
    try:
        analysis = Analysis.of(network)
        formats = noises.number_formats(analysis.deviations(processes))
    except UncertainResultError as error:
        formats = {}
        left_out.append((say("left_out.formats"), brief_reason(error)))
    steps = {name: formats[name] for name in ("16 bit", "12 bit") if formats.get(name, 0) > 0}
    if given is not None and given.is_scaled and isinstance(given, noises.ObservationNoise):
        steps[given.label] = float(given.levels[0])
    if not steps:  # the sizes of the states are not known, and it may be unstable
        level = FALLBACK * float(np.linalg.norm(network.C))
        steps[f"with noise of {level:.1g}"] = level
    # the least level asks for most, and what is found out for it serves the others; the picture
    # goes down to single precision where it can
    starts = dict(sorted(steps.items(), key=lambda step: step[1]))
    if formats.get("float32", 0) > 0:
        starts = {"against noise": min(formats["float32"], *starts.values())} | starts
    curves: dict[float, MemoryCurve] = {}
    for name, least in starts.items():
        notify(f"usable memory, {name}")
        levels = sorted({least, *LEVELS.tolist(), *steps.values()})
        family_levels = np.array(levels[levels.index(least) :])
        problem = Problem.of(network, input=processes, noise=noises.ObservationNoise(family_levels))
        try:
            family = zip(family_levels.tolist(), ask_family(problem), strict=True)
        except (UncertainResultError, TooLargeError) as error:
            if name in steps:
                left_out.append((say("left_out.usable", name=name), brief_reason(error)))
            continue
        curves = {level: curve for level, curve in family if is_known(curve)}
        break
    for name, level in steps.items():
        if level in curves:
            is_given = given is not None and name == given.label
            rows += _rows({name: level}, (curves[level],), given=is_given)
    others: list[noises.Noise] = [noises.Float32()] if formats.get("float32", 0) > 0 else []
    if given is not None and given.state(np.ones(1)).any():
        left_out.append((say("left_out.usable", name=given.label), say("reasons.state_noise")))
    elif given is not None and given.label not in steps:
        others.append(given)
    for kind in others:
        notify(f"usable memory, {kind.label}")
        try:
            curve = ask(Problem.of(network, input=processes, noise=kind))
        except (UncertainResultError, TooLargeError) as error:
            left_out.append((say("left_out.usable", name=kind.label), brief_reason(error)))
            continue
        level = formats.get(kind.label, float("nan"))
        rows += _rows({kind.label: level}, (curve,), given=kind is given)
    rows.sort(key=lambda row: (row.given, row.level))
    totals = np.array([curve.total for curve in curves.values()])
    return UsableMemory(tuple(rows), np.array([*curves]), totals), tuple(left_out)


def brief_reason(error: Exception) -> str:
    """The reason for an error, without the rule that was broken and the remedy."""
    first = str(error).partition(". ")[0].rstrip(".")
    return first.partition(": ")[2] if first.startswith("`") else first


def _is_quick(
    network: LinearNetwork, processes: tuple[InputProcess, ...], noise: noises.Noise | None
) -> bool:
    """Whether few directions hold the memory above the noise; unknown for coloured input."""
    if not all(process.is_white for process in processes):
        return False
    if noise is not None and noise.state(np.ones(1)).any():
        return False
    with contextlib.suppress(UncertainResultError):
        krylov_model(Analysis.of(network), float(LEVELS[0]))
        return True
    return False


def _rows(
    levels: Mapping[str, float], curves: Sequence[MemoryCurve], *, given: bool = False
) -> list[Usable]:
    """Rows of the curves at these levels that are known."""
    rows = list[Usable]()
    for (name, level), curve in zip(levels.items(), curves, strict=True):
        visible = np.flatnonzero(curve.values >= INVISIBLE)
        values = curve.values[: int(visible[-1]) + 1 if len(visible) else 1]
        numbers = curve.total, curve.total_error, curve.horizon()
        rows += [Usable(name, level, *numbers, given, values)] if is_known(curve) else []
    return rows
