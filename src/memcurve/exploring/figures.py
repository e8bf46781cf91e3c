"""The figures of the page, each with a sentence that says what to see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve.auditing.charts import spectrum_section, squeezing_section, usable_chart
from memcurve.auditing.structure import Squeezing
from memcurve.auditing.usable import UsableMemory
from memcurve.auditing.verdict import counted, number
from memcurve.comparison import Row
from memcurve.curve import MemoryCurve
from memcurve.exploring.later import USUAL
from memcurve.exploring.scene import Scene
from memcurve.exploring.settings import Settings
from memcurve.report import Chart, Section, Series, Table

#: What the usual ways report is cut here: it can be anything.
LOWEST, HIGHEST = -0.25, 1.5


def summary(scene: Scene) -> str:
    """What the total says, to stand after it, and the main numbers beside it."""
    curve, states = scene.curve, scene.network.read_states
    all_of = "as many as it has states" if curve.total == states else f"of {states} states"
    remembers = f"past inputs remembered in total, {all_of}."
    if not curve.total:
        return "past inputs remembered: no input reaches the states."
    lag = curve.horizon(0.5)
    half = "Half of an input is left beyond the lags listed"
    if lag == 0:
        half = "Less than half of the latest input is left"
    elif lag is not None:
        half = f"Less than half of an input is left from lag {lag} on"
    return f"{remembers} {half}; no value is further than {curve.error.max():.0e} from the truth."


def memory_section(scene: Scene, settings: Settings, asked: Any = None) -> Section:
    """The exact curve, and the one under the input and the noise that are set, once it is there."""
    lags = _lags(scene)
    white = settings.is_plain or asked is None
    name = "exact" if white else "white input, no noise"
    series = [Series(name, lags, scene.curve.values[: len(lags)])]
    text = (
        "The share of an input that is still in the states τ steps later. The area under the curve "
        "is the total memory. Only the eigenvalues that the input excites matter for it."
    )
    if isinstance(asked, MemoryCurve):
        count = min(len(lags), len(asked))
        series.append(Series(asked_name(settings), lags[:count], asked.values[:count]))
        text = f"{text} {_what_changed(settings, scene.curve.total, asked.total)}"
    elif isinstance(asked, Exception):
        text = f"{text} With {asked_name(settings)} there is no curve: {asked}"
    chart = Chart("Memory curve", "lag τ", "memory MC_τ", tuple(series))
    return Section("How much is remembered", text, chart=chart)


def asked_name(settings: Settings) -> str:
    """Input and noise in words."""
    parts = [f"AR({settings.colour:g}) input"] if settings.colour else []
    parts += [f"noise {settings.noise:g}"] if settings.noise else []
    return ", ".join(parts)


def _what_changed(settings: Settings, without: float, total: float) -> str:
    change = f"With {asked_name(settings)} the total is {number(total)} in place of {without:g}"
    if settings.noise and settings.colour:
        return (
            f"{change}: colour adds what can be inferred from other inputs, noise hides the rest."
        )
    if settings.noise:
        return f"{change}: the rest lies below the noise."
    return f"{change}: inputs that resemble each other can be inferred from one another."


def usual_section(scene: Scene, found: Mapping[str, Any]) -> Section:
    """What the usual ways report; ``found`` has a Row or an error for those that have arrived."""
    lags = _lags(scene)
    series = [Series("exact", lags, scene.curve.values[: len(lags)])]
    rows = []
    largest = 0.0
    for way in USUAL:
        outcome = found.get(way)
        if isinstance(outcome, Row) and outcome.curve is not None:
            values = outcome.curve.values[: len(lags)]
            series.append(Series(way, lags[: len(values)], np.clip(values, LOWEST, HIGHEST)))
            rows.append((way, number(outcome.total), f"{outcome.largest_error:.1e}", outcome.note))
            largest = max(largest, outcome.largest_error)
        else:
            why = outcome.note if isinstance(outcome, Row) else f"failed: {outcome}"
            rows.append((way, "…" if outcome is None else "—", "", "" if outcome is None else why))
    truth = number(float(scene.curve.values[: compared_lags(scene)].sum()))
    rows.insert(0, ("exact", truth, f"{scene.curve.error.max():.1e}", ""))
    text = (
        f"Each is a way in use, for white input and without noise, over the same "
        f"{compared_lags(scene)} lags. What differs from the exact curve is an artefact of the "
        f"computation, not a property of the network"
    )
    text += f"; here up to {largest:.1g} at a lag." if len(found) == len(USUAL) else "."
    chart = Chart("What the usual ways say", "lag τ", "memory MC_τ (cut at −0.25 and 1.5)",
                  tuple(series))  # fmt: skip
    table = Table(("way", "total", "off by up to", "why"), tuple(rows), frozenset({1, 2}))
    return Section("What the usual ways report", text, table, chart)


def compared_lags(scene: Scene) -> int:
    """Lags over which the usual ways are compared."""
    return max(2 * scene.network.states, scene.end + 1)


def usable_section(scene: Scene, settings: Settings, found: Any) -> Section:
    """Usable memory against noise, once it is there."""
    title = "How much of it can be used"
    if isinstance(found, Exception):
        return Section(title, f"It cannot be told here: {found}")
    if not isinstance(found, UsableMemory):
        return Section(title, "How much is left if the states are read with noise …")
    if found.reason:
        return Section(title, found.reason)
    coloured = f" Input: AR({settings.colour:g})." if settings.colour else ""
    single = found.at("float32")
    text = (
        "Memory in directions in which the states hardly vary drowns in noise first, and so does "
        "what simulations can see of it."
    )
    if single is not None:
        text += f" States stored in single precision keep {number(single.total)}."
    without = scene.curve.total if not settings.colour else float(found.totals.max())
    return Section(title, text + coloured, chart=usable_chart(found, without))


SQUEEZING_SOON = Section("Squeezing", "How fast the powers of A run out of new directions …")


def disc_section(scene: Scene) -> Section:
    """What to see, and to do, in the unit disc."""
    found = spectrum_section(scene.eigenvalues)
    do = "Drag one, or set its modulus and angle, and watch the curve; its eigenvectors stay."
    if scene.network.is_complex:
        do = "Those of a complex network, and their conjugates, cannot be moved here."
    return Section(found.chart.title if found.chart else found.title, f"{found.text} {do}")


def squeezed_section(found: Any) -> Section:
    """Krylov squeezing, once it is there."""
    if isinstance(found, Squeezing):
        return squeezing_section(found)
    if isinstance(found, Exception):
        return Section("Squeezing", f"It cannot be measured here: {found}")
    return Section("Squeezing", "It is measured for networks with one input that enters them.")


def theorem_section(scene: Scene, lag: int) -> Section:
    """The tail-energy theorem at one lag: the curve that the impulse response makes."""
    poles = scene.eigenvalues.counting
    if scene.response is None or poles is None:
        return Section(
            "Why: the tail-energy theorem",
            "With several inputs or a readout there is no single all-pass filter; the curve is "
            "computed from the states in coordinates in which they are white.",
        )
    lags = _lags(scene)
    values = scene.curve.values[: len(lags)]
    chart = Chart(
        "… and the curve it makes",
        "lag τ",
        "memory MC_τ",
        (Series("MC_τ", lags, values),),
        marks=((f"τ = {lag}", float(lag)),),
        levels=((f"MC_{lag} = {values[lag]:.6f}", float(values[lag])),),
    )
    gone = float((scene.response[: lag + 1] ** 2).sum())
    text = (
        f"The {counted(len(poles), 'eigenvalue')} that count make a filter that changes no energy, "
        f"an all-pass. Send it one pulse: up to step τ = {lag} the energy that has come out is "
        f"{gone:.6f}; what has not, {1 - gone:.6f}, is still inside, and that is the memory "
        f"MC_{lag}. In a formula, MC_τ = Σ_(j>τ) b_j², the tail energy. Summed over all lags it is "
        f"the number of eigenvalues."
    )
    return Section("Why: the tail-energy theorem", text, chart=chart)


def telling_lag(scene: Scene) -> int:
    """A lag at which some of the energy is out and some is not."""
    horizon = scene.curve.horizon(0.5)
    return min(scene.end, scene.end if horizon is None else horizon)


def _lags(scene: Scene) -> Any:
    return scene.curve.lags[: scene.end + 1].astype(float)
