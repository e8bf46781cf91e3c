"""Widgets of the page: figures that update as results arrive, the disc, the downloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import anywidget
import marimo as mo
import numpy as np
import traitlets

from memcurve.core.types import Complexes
from memcurve.memory import MemoryCurve
from memcurve.rendering.report import Chart, Section, web
from memcurve.studies.auditing.structure import Eigenvalues
from memcurve.views.exploring import figures, jobs
from memcurve.views.exploring.scene import PageSettings, Scene
from memcurve.views.exploring.stories import Story

_HERE = Path(__file__).parent


class Rested(NamedTuple):
    """What is shown while nothing is dragged."""

    draft: PageSettings
    moved: tuple[complex, complex] | None
    scene: Scene


class Disc(anywidget.AnyWidget):  # type: ignore[misc]
    """Eigenvalues in the upper half of the unit disc; one can be dragged, or set by its numbers.

    ``uncontrollable`` are those that the input does not excite; ``moved`` is ``[index, re, im]``,
    or empty; ``held`` while it is dragged.
    """

    _esm = _HERE / "disc.js"
    _css = _HERE / "disc.css"

    eigenvalues = traitlets.List().tag(sync=True)
    uncontrollable = traitlets.List().tag(sync=True)
    movable = traitlets.Bool(True).tag(sync=True)
    moved = traitlets.List().tag(sync=True)
    held = traitlets.Bool(False).tag(sync=True)


def disc_of(eigenvalues: Eigenvalues, *, movable: bool) -> Disc:
    """A disc with the controllable eigenvalues, and the others in the background."""
    shown = eigenvalues.all if eigenvalues.counting is None else eigenvalues.counting
    upper = shown[shown.imag >= 0]
    upper = upper[np.argsort(-np.abs(upper), kind="stable")]
    others = [] if eigenvalues.all_count else _pairs(eigenvalues.all)
    movable = movable and len(upper) > 0
    return Disc(eigenvalues=_pairs(upper), uncontrollable=others, movable=movable)


def moved_of(value: dict[str, Any]) -> tuple[complex, complex] | None:
    """Which eigenvalue was moved where, by what a disc says; None if none was."""
    moved, places = value.get("moved"), value.get("eigenvalues", [])
    if not moved or not 0 <= int(moved[0]) < len(places):
        return None
    start, to = complex(*places[int(moved[0])]), complex(moved[1], moved[2])
    return None if start == to else (start, to)


def _pairs(values: Complexes) -> list[list[float]]:
    return [[float(value.real), float(value.imag)] for value in values]


def headline(scene: Scene, settings: PageSettings) -> None:
    """Show the main numbers, and what of them can be used as soon as it is there."""

    def draw(arrived: Mapping[str, Any], busy: bool) -> Any:
        return mo.Html(figures.about_result(scene, figures.headline(scene, settings, arrived)))

    arriving(figures.headline_jobs(scene, settings), draw, pause=0)


def story_text(scene: Scene, story: Story) -> None:
    """Tell a story, once all that it needs is there."""

    def draw(arrived: Mapping[str, Any], busy: bool) -> Any:
        failed = [str(outcome) for outcome in arrived.values() if isinstance(outcome, Exception)]
        text = "…" if busy else " ".join(failed) or story.tell(scene, arrived)
        return mo.Html(f"<div class='story' aria-live='polite'>{web.paragraphs(text)}</div>")

    arriving(story.orders(scene), draw)


def memory(scene: Scene, settings: PageSettings, base: Scene) -> None:
    """Show the exact curve at once, and the one under input and noise when it is there."""
    asked = jobs.asked_curve, (scene.network, base.end + 1, settings.arguments())
    before = None if scene is base else base
    section(
        {"asked": asked} if settings.arguments() else {},
        lambda arrived: figures.memory_section(scene, settings, arrived.get("asked"), before),
    )


def beside(about: tuple[Section, list[Chart]], control: Any) -> None:
    """Show a section with a control and charts beside each other."""
    described, charts = about
    parts: list[Any] = [mo.Html(figures.heading(described.title) + figures.says(described.text))]
    if charts:
        drawn = [figures.VegaChart(chart, titled=True) for chart in charts]
        parts += [control, mo.hstack(drawn, widths="equal")]
    mo.output.replace(mo.vstack(parts))


def laid_out(section: Section, busy: bool) -> Any:
    """Heading, chart, sentence, table: the sentence changes, and must not move the chart."""
    parts: list[Any] = [mo.Html(figures.heading(section.title, busy=busy))]
    if section.chart is not None:
        parts.append(figures.VegaChart(section.chart))
    parts.append(mo.Html(figures.says(section.text)))
    if section.table is not None:
        table = web.table(section.table)
        frame = "<div class='scrolls' tabindex='0' role='region' aria-label='table'>"
        parts.append(mo.Html(f"{frame}{table}</div>"))
    return mo.vstack(parts)


def arriving(
    ordered: Mapping[str, jobs.Job],
    draw: Callable[[Mapping[str, Any], bool], Any],
    pause: float = jobs.DEBOUNCE,
) -> None:
    """Show what ``draw`` makes of the results so far, with whether more will come."""
    arrived: dict[str, Any] = {}

    def drawn() -> Any:
        return draw(arrived, len(arrived) < len(ordered))

    def wait() -> None:
        thread = mo.current_thread()
        for name, outcome in jobs.WORKER.results(ordered, lambda: not thread.should_exit, pause):
            arrived[name] = outcome
            shown = _undisturbed(drawn)
            if not thread.should_exit:  # else the settings have changed
                _undisturbed(lambda: mo.output.replace(shown))  # noqa: B023

    mo.output.replace(_undisturbed(drawn))
    if ordered:
        mo.Thread(target=wait).start()


def _undisturbed(make: Callable[[], Any]) -> Any:
    """What is made, while no other thread adds a file to marimo's: it looks through all of them."""
    while True:
        try:
            return make()
        except RuntimeError as error:
            if "changed size during iteration" not in str(error):
                raise


def section(ordered: Mapping[str, jobs.Job], draw: Callable[[Mapping[str, Any]], Section]) -> None:
    """Show a section that changes as results arrive."""
    arriving(ordered, lambda arrived, busy: laid_out(draw(arrived), busy))


def export(scene: Scene, settings: PageSettings, lines: str) -> Any:
    """Buttons to download data and Python lines, and the lines to read."""

    def curve() -> MemoryCurve:
        asked = settings.arguments()
        return jobs.asked_curve(scene.network, scene.end + 1, asked) if asked else scene.curve

    offers: dict[str, tuple[str, Any]] = {
        "Data (CSV)": ("memory.csv", lambda: curve().to_csv().encode()),
        "Data (JSON)": ("memory.json", lambda: curve().to_json().encode()),
        "Python": ("memory.py", lines.encode()),
    }
    buttons = [mo.download(data, name, label=label) for label, (name, data) in offers.items()]
    offered = mo.hstack(buttons, wrap=True, justify="start")
    about = mo.Html(figures.about_lines(lines))
    return mo.vstack([mo.Html(figures.heading("Export")), offered, about])
