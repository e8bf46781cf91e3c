"""Sections of the page, with their charts and HTML; each figure has an explaining sentence."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from memcurve.core.notes import counted
from memcurve.core.types import Floats
from memcurve.inputs.noise import Float32
from memcurve.memory import MemoryCurve, is_known
from memcurve.network import ensembles
from memcurve.rendering.report import Chart, Section, Series, Table, vega, web
from memcurve.rendering.report.document import listed
from memcurve.state_affine import Capacities, bilinear, capacities
from memcurve.studies.auditing.result import spectrum_section, usable_chart
from memcurve.studies.auditing.sentences import number, small
from memcurve.studies.comparison import ComparisonRow
from memcurve.views.exploring.jobs import Job, asked_curve, shown_methods
from memcurve.views.exploring.scene import PageSettings, Scene

# drawn for standard methods, which can return anything
LOWEST = -0.25
HIGHEST = 1.5
NEARLY_ALL = 0.998  # of the memory, below which the lags drawn are said to miss some
STRENGTHS = tuple(round(0.05 * k, 2) for k in range(25))  # with which the input multiplies states
SCALE_IT = " Here: switch on “scale it to ρ”."  # for an unstable network of a file

#: Sentences of the page, by kind.
PROSE = {
    "curve": "Fraction of the input's variance recoverable from the states τ steps later.",
    "curves": "Fraction of the variance of each of the {inputs} inputs recoverable from the states "
    "τ steps later, summed over the inputs.",
    "area": " The area under the curve is the total memory.",
    "before": " The dashed line is the curve before the move.",
    "poles": " For white input without noise it depends only on the controllable eigenvalues.",
    "tail": " The lags drawn hold {held} of it; the rest is spread over many later lags.",
    "no curve": " With {asked} there is no curve: {problem}",
    "asked": " With {asked} the total is {total} instead of {without:g}.",
    "not driven": "The total memory is 0: no input reaches the {states}.",
    "total": "Total memory {total} of at most {states}{read}{half}. {accuracy}",
    "half": "; MC_τ drops below 0.5 at lag {lag}",
    "accurate": "All values are within {error} of the truth.",
    "exact": "The values are exact.",
    "standard": "Standard methods for white input without noise, over the same {lags} lags. "
    "Differences from the exact curve are numerical artefacts, not properties of the network{off}.",
    "off": "; here up to {error:.1g} at a lag",
    "usable soon": "Usable memory when the states are read with noise …",
    "usable unknown": "Not available here: {problem}",
    "usable": "Memory in directions of small state variance is lost to noise first, and is missed "
    "by simulations.",
    "single": " States stored in single precision keep {total}.",
    "input": " The input is AR({colour:g}).",
    "drag": "Drag one, or set its modulus and angle, and watch the curve: its eigenvectors and all "
    "others stay, its conjugate moves along. One is moved at a time.",
    "complex": "Eigenvalues of a complex network, and their conjugates, cannot be moved here.",
    "none driven": "Here it excites none.",
    "not movable": "They cannot be moved here: rounding would excite uncontrollable modes.",
    "products": "The input also multiplies the states: x_t = A x + s z_t B x + C z_t. At "
    "s = {s:g}, {linear:.2f} of {total:g} is memory of single inputs, {second:.2f} holds products "
    "of two, {rest:.2f} those of more. Nothing is lost: the total stays {total:g}.",
    "no memory curve": "These settings have no memory curve.",
    "not shown": "{file} cannot be shown.",
    "hidden": "{names} {have} no effect on {what}, and {are} hidden.",
}

TITLE = (
    "<h1>How much does it remember?</h1>\n"
    "<p>A recurrent network x<sub>t</sub> = A x<sub>t−1</sub> + C z<sub>t</sub> holds past inputs "
    "z in its states x. Move the controls: its exact memory follows at once.</p>"
)


def headline(scene: Scene, settings: PageSettings, arrived: Mapping[str, Any]) -> str:
    """Total and usable memory as HTML, as far as their curves have ``arrived``."""
    theory = _total(scene.curve if not settings.colour else arrived.get("theory"))
    coloured = f" for {asked_name(replace(settings, noise=0.0))}" if settings.colour else ""
    parts = [f"<strong>{theory}</strong> in theory{coloured}"]
    if scene.curve.total:
        usable = _total(arrived.get("usable"))
        read = f"with noise {settings.noise:g}" if settings.noise else "in single precision"
        parts.append(f"<strong>{usable}</strong> usable {read}")
    return " · ".join(f"<span>{part}</span>" for part in parts)


def _total(curve: Any) -> str:
    """A total; … while it is computed, ? where there is none."""
    if curve is None:
        return "…"
    is_value = isinstance(curve, MemoryCurve) and is_known(curve)
    return _with_error(curve.total, curve.total_error) if is_value else "?"


def headline_jobs(scene: Scene, settings: PageSettings) -> dict[str, Job]:
    """What the headline waits for."""
    asked = settings.arguments()
    noise = asked.pop("noise", Float32())
    jobs: dict[str, Job] = {}
    if settings.colour:
        jobs["theory"] = asked_curve, (scene.network, 1, asked)
    if scene.curve.total:
        jobs["usable"] = asked_curve, (scene.network, 1, asked | {"noise": noise})
    return jobs


def summary(scene: Scene) -> str:
    """The total for white input, with its horizon and accuracy."""
    curve, network = scene.curve, scene.network
    if not curve.total:
        read = "states" if network.readout is None else "states that are read"
        return PROSE["not driven"].format(states=read)
    lag = curve.horizon(0.5) if network.inputs == 1 else None
    error = float(curve.error.max())
    return PROSE["total"].format(
        total=round(curve.total),
        states=counted(network.read_states, "state"),
        read="" if network.readout is None else " read",
        half="" if lag is None else PROSE["half"].format(lag=lag),
        accuracy=PROSE["accurate" if error else "exact"].format(error=small(error)),
    )


def memory_section(
    scene: Scene, settings: PageSettings, asked: Any = None, before: Scene | None = None
) -> Section:
    """The exact curve, that under the input and noise set, and that of the scene ``before``."""
    name = asked_name(settings)
    series = [_drawn(scene, "white input, no noise" if name else "exact", scene.curve.values)]
    inputs = scene.network.inputs
    text = PROSE["curve" if inputs == 1 else "curves"].format(inputs=inputs) + PROSE["area"]
    text += PROSE["before"] if before is not None else ""
    text += PROSE["poles"] if inputs == 1 else ""
    held = float(scene.curve.values[: scene.end + 1].sum())
    if held < NEARLY_ALL * scene.curve.total:
        text += PROSE["tail"].format(held=number(held))
    if isinstance(asked, MemoryCurve):
        series.append(_drawn(scene, name, asked.values))
        total = _with_error(asked.total, asked.total_error)
        text += PROSE["asked"].format(asked=name, total=total, without=scene.curve.total)
    elif isinstance(asked, Exception):
        text += PROSE["no curve"].format(asked=name, problem=asked)
    if before is not None:
        series.append(_drawn(scene, "before the move", before.curve.values, dashed=True))
    # axes that stay where they are while something is dragged, with room for the first of few dots
    ends = (0.0, float(max(1, scene.end)))
    x_range = ends if scene.end >= vega.MOST_DOTS else vega.padded(*ends, log=False)
    axes: Any = {"x_range": x_range, "y_range": (0.0, float(inputs))}
    chart = Chart("Memory curve", "lag τ", "memory MC_τ", tuple(series), **axes)
    return Section("Memory curve", text, chart=chart)


def asked_name(settings: PageSettings) -> str:
    """Input and noise in words; nothing for white input without noise."""
    parts = [f"AR({settings.colour:g}) input"] if settings.colour else []
    parts += [f"noise {settings.noise:g}"] if settings.noise else []
    return ", ".join(parts)


def _with_error(total: float, error: float) -> str:
    """A total, with its error where that reaches the digits that are written."""
    return number(total) if error <= 1e-5 * total else f"{number(total)} ± {small(error)}"


def standard_section(scene: Scene, arrived: Mapping[str, Any]) -> Section:
    """Standard methods; ``arrived`` has a row or an error of those that have been computed."""
    series = [_drawn(scene, "exact", scene.curve.values)]
    truth = number(float(scene.curve.values[: compared_lags(scene)].sum()))
    rows = [("exact", truth, small(float(scene.curve.error.max())), "")]
    errors = []
    for name in shown_methods():
        outcome = arrived.get(name)
        if isinstance(outcome, ComparisonRow) and outcome.curve is not None:
            series.append(_drawn(scene, name, np.clip(outcome.curve.values, LOWEST, HIGHEST)))
            rows.append((name, number(outcome.total), small(outcome.largest_error), outcome.note))
            errors += [outcome.largest_error] if math.isfinite(outcome.largest_error) else []
        elif outcome is None:
            rows.append((name, "…", "", ""))
        else:
            reason = outcome.note if isinstance(outcome, ComparisonRow) else f"failed: {outcome}"
            rows.append((name, "—", "", reason))
    off = PROSE["off"].format(error=max(errors)) if errors else ""
    text = PROSE["standard"].format(lags=compared_lags(scene), off=off)
    up = "memory MC_τ (cut at −0.25 and 1.5)"
    chart = Chart("Standard methods", "lag τ", up, tuple(series))
    table = Table(("method", "total", "largest error", "note"), tuple(rows), frozenset({1, 2}))
    return Section("What standard methods report", text, table, chart)


def compared_lags(scene: Scene) -> int:
    """Lags over which standard methods are compared."""
    return max(2 * scene.network.states, scene.end + 1)


def usable_section(settings: PageSettings, arrived: Mapping[str, Any]) -> Section:
    """Usable memory against noise, and without any; once it is among what has arrived."""
    title = "Usable memory"
    if not arrived:
        return Section(title, PROSE["usable soon"])
    [outcome] = arrived.values()
    if isinstance(outcome, Exception):
        return Section(title, PROSE["usable unknown"].format(problem=outcome))
    usable, without = outcome
    if usable.reason:
        return Section(title, usable.reason)
    text = PROSE["usable"]
    if (single := usable.at("float32")) is not None:
        text += PROSE["single"].format(total=_with_error(single.total, single.error))
    if settings.colour:
        text += PROSE["input"].format(colour=settings.colour)
    return Section(title, text, chart=usable_chart(usable, without))


def disc_section(scene: Scene) -> Section:
    """The eigenvalues, and whether they can be moved."""
    if is_movable(scene):
        kind = "drag"
    elif scene.network.is_complex:
        kind = "complex"
    else:
        kind = "not movable" if scene.curve.total else "none driven"
    text = spectrum_section(scene.eigenvalues).text
    return Section("Eigenvalues in the unit disc", f"{text} {PROSE[kind]}")


def is_movable(scene: Scene) -> bool:
    """Whether eigenvalues can be moved: all are controllable, so rounding excites no others."""
    return scene.eigenvalues.all_count and not scene.network.is_complex and scene.curve.total > 0


def products_section(scene: Scene, strength: float) -> tuple[Section, list[Chart]]:
    """Capacities of a network whose input multiplies its states, and its memory curve."""
    results = _bilinear_results(scene)
    strengths = np.array(list(results))
    names = ("memory of single inputs", "products of two", "of three")
    table = np.array([[r.by_degree.get(d, 0.0) for d in (1, 2, 3)] for r in results.values()])
    totals = np.array([r.total for r in results.values()])
    lines = [Series("total", strengths, totals, dashed=True)]
    lines += [Series(name, strengths, y) for name, y in zip(names, table.T, strict=True)]
    lines.append(Series("of more", strengths, totals - table.sum(axis=1)))
    k = int(np.argmin(np.abs(strengths - strength)))
    now, (one, two, _), total = float(strengths[k]), table[k], float(totals[k])
    mark = ((f"s = {now:g}", now),)
    axis = "strength s of the product"
    degrees = Chart("Capacity by degree", axis, "capacity", tuple(lines), marks=mark)
    curves = (
        _drawn(scene, f"s = {now:g}", results[now].curve.values),
        _drawn(scene, "s = 0", results[0.0].curve.values, dashed=True),
    )
    title = "What is left of the memory curve"
    left = Chart(title, "lag τ", "memory MC_τ", curves, y_range=(0.0, 1.0))
    facts = {"s": now, "linear": one, "second": two, "rest": total - one - two, "total": total}
    return Section("Where does the memory go?", PROSE["products"].format(**facts)), [degrees, left]


@functools.lru_cache(maxsize=1)
def _bilinear_results(scene: Scene) -> dict[float, Capacities]:
    A, C = scene.network.A, scene.network.C
    B = ensembles.normal(scene.network.size, spectral_radius=1.0, seed=2).A
    return {s: capacities(bilinear(A, s * B, C), degree=3) for s in STRENGTHS}


def _drawn(scene: Scene, name: str, values: Floats, **how: Any) -> Series:
    """A curve over the lags that are drawn, or those of them that it has."""
    shown = values[: scene.end + 1]
    return Series(name, np.arange(len(shown), dtype=float), shown, **how)


class VegaChart:
    """A chart that marimo draws, as a plain specification: altair's objects take 0.2 s each."""

    def __init__(self, chart: Chart, *, titled: bool = False) -> None:
        config = vega.config(vega.LIGHT)
        config["legend"] |= {"columns": {"expr": "width < 400 ? 1 : 2"}}  # one below another
        actions = {"export": True, "source": False, "compiled": False, "editor": False}
        # page.css gives SVG the colours of a dark page
        options = {"actions": actions, "renderer": "svg"}
        self.spec = vega.specification(chart) | {"config": config}
        self.spec["usermeta"] = {"embedOptions": options}
        if not titled:  # as a rule the heading is title enough
            self.spec.pop("title", None)

    def _mime_(self) -> tuple[str, str]:
        return "application/vnd.vegalite.v5+json", json.dumps(self.spec)


def heading(title: str, *, busy: bool = False) -> str:
    """The title of a section as HTML; ``busy`` says that more is on its way."""
    spinner = "<span class='spinner' role='status'>computing …</span>" if busy else ""
    return f"<h2>{web.text(title)}{spinner}</h2>\n"


def says(text: str) -> str:
    """The sentence of a section as HTML."""
    return f"<div class='says'>{web.paragraphs(text)}</div>"


def controls(named: Mapping[str, str]) -> str:
    """Controls, given as HTML by what they control, one below another."""
    each = "".join(f"<div data-control='{name}'>{html}</div>" for name, html in named.items())
    return f"<div class='controls' role='group' aria-label='network, input and noise'>{each}</div>"


def explained(title: str, text: str) -> str:
    """Why there is nothing to see, as HTML; nothing where there is no text."""
    content = f"<strong>{web.text(title)}</strong>{web.paragraphs(text)}"
    return f"<div class='explains' role='alert'>{content}</div>" if text else ""


def about_settings(
    settings: PageSettings, file: str | None, trouble: str, *, scaled: bool = False
) -> str:
    """Why there is no curve, and which controls have no effect: page.css hides those."""
    ignored, what = settings.ignored(), "this ensemble"
    if file is not None:
        counts = {"spectral_radius": scaled, "seed": settings.draws_mask}
        of_ensembles = ("ensemble", "size", "spectral_radius", "density", "seed")
        ignored, what = [name for name in of_ensembles if not counts.get(name)], file
    kind = "no memory curve" if file is None else "not shown"
    html = explained(PROSE[kind].format(file=file), trouble) if trouble else ""
    if ignored:
        names = listed([name.replace("_", " ") for name in ignored]).capitalize()
        have, are = ("has", "is") if len(ignored) == 1 else ("have", "are")
        remark = PROSE["hidden"].format(names=names, have=have, what=what, are=are)
        html += f"<p class='remark' data-ignored='{' '.join(ignored)}'>{web.text(remark)}</p>"
    return html


def about_result(scene: Scene, headline: str) -> str:
    """The main numbers, how long they took, and the notes."""
    notes = web.bullets(scene.curve.notes)
    return (
        f"<div class='summary' aria-live='polite'><p class='headline'>{headline}</p>"
        f"<p class='remark'>{web.text(summary(scene))}<br>{web.text(scene.network.name or '')}, "
        f"computed in {1e3 * scene.seconds:.0f} ms.</p>{notes}</div>"
    )


def about_lines(lines: str) -> str:
    """The Python lines, to be read and copied."""
    return f"<pre class='lines' tabindex='0'>{web.text(lines)}</pre>"
