"""Figures that change on the page after they are first shown, and what can be taken home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import marimo as mo

from memcurve.auditing.structure import squeezing_of
from memcurve.curve import MemoryCurve
from memcurve.exploring import figures, later, showing
from memcurve.exploring.downloads import json_of, picture_of, table_of
from memcurve.exploring.remarks import about_lines
from memcurve.exploring.scene import Scene
from memcurve.exploring.settings import Settings
from memcurve.exploring.stems import stems
from memcurve.report import Section

Job = tuple[Callable[..., Any], tuple[Any, ...]]
Jobs = Mapping[str, Job]


@dataclass
class Shown:
    """The curves of the memory figure; the one asked for is None until it is there."""

    scene: Scene
    settings: Settings
    asked: MemoryCurve | None = None

    def order(self) -> Job:
        """What computes the one asked for."""
        given = (self.scene.network, self.scene.end + 1, self.settings.arguments())
        return later.asked_curve, given

    def complete(self) -> dict[str, MemoryCurve]:
        """All curves by name; the one asked for is waited for, if there is one."""
        curves = {"exact": self.scene.curve}
        if not self.settings.is_plain:
            if self.asked is None:
                compute, given = self.order()
                self.asked = compute(*given)
            curves[figures.asked_name(self.settings)] = self.asked
        return curves


def memory(scene: Scene, settings: Settings) -> Shown:
    """Show the exact curve at once, and the one under input and noise when it is there."""
    shown = Shown(scene, settings)

    def draw(found: Mapping[str, Any]) -> Section:
        asked = found.get("asked")
        if isinstance(asked, MemoryCurve):
            shown.asked = asked
        return figures.memory_section(scene, settings, asked)

    _arriving({} if settings.is_plain else {"asked": shown.order()}, draw)
    return shown


def theorem(scene: Scene, lag: Any) -> None:
    """Show the impulse response and the curve it makes, at the lag of a slider."""
    at = round(lag.value)
    section = figures.theorem_section(scene, at)
    parts: list[Any] = [mo.Html(showing.heading(section))]
    if scene.response is not None:
        response = showing.Picture(stems(scene.response, at))
        both = [response, showing.pictured(section, titled=True)]
        parts += [lag, mo.hstack(both, widths="equal")]
    mo.output.replace(mo.vstack(parts))


def usual(scene: Scene, settings: Settings) -> None:
    """Show the usual ways as they arrive."""
    given = (scene.network, figures.compared_lags(scene), settings.seed)
    jobs = {way: (later.usual_estimate, (way, *given)) for way in later.USUAL}
    _arriving(jobs, lambda found: figures.usual_section(scene, found))


def usable(scene: Scene, settings: Settings) -> None:
    """Show usable memory when it is there."""
    jobs = {"usable": (later.usable, (scene.network, settings.arguments()))}
    _arriving(jobs, lambda found: figures.usable_section(settings, found.get("usable")))


def squeezing(scene: Scene) -> None:
    """Show Krylov squeezing when it is there."""
    jobs = {"squeezing": (squeezing_of, (scene.network, scene.curve.rank))}
    _arriving(
        jobs,
        lambda found: (
            figures.squeezed_section(found["squeezing"]) if found else figures.SQUEEZING_SOON
        ),
    )


def _arriving(jobs: Jobs, draw: Callable[[Mapping[str, Any]], Section]) -> None:
    """Make ``draw`` of what is there the output of the cell, now and whenever more arrives."""
    found: dict[str, Any] = {}

    def laid_out() -> Any:
        return _laid_out(draw(found), busy=len(found) < len(jobs))

    def wait() -> None:
        thread = mo.current_thread()
        for name, outcome in later.WORKSHOP.arrivals(jobs, lambda: not thread.should_exit):
            found[name] = outcome
            more = laid_out()
            if thread.should_exit:  # the settings have changed: this is no longer theirs
                return
            mo.output.replace(more)

    mo.output.replace(laid_out())
    if jobs:
        mo.Thread(target=wait).start()


def _laid_out(section: Section, *, busy: bool = False) -> Any:
    """A section as it stands on the page: heading, sentence, chart, table."""
    parts: list[Any] = [mo.Html(showing.heading(section, busy=busy))]
    if section.chart is not None:
        parts.append(showing.pictured(section))
    if section.table is not None:
        parts.append(mo.Html(showing.tabled(section)))
    return mo.vstack(parts)


def home(shown: Shown, lines: str, *, link: bool) -> Any:
    """Buttons to download picture, data and Python lines, the lines to read, and a link."""

    def picture(ending: str) -> Callable[[], bytes]:
        return lambda: picture_of(shown.complete(), ending)

    offers: dict[str, tuple[str, Any]] = {
        "Picture (PNG)": ("memory.png", picture(".png")),
        "Picture (SVG)": ("memory.svg", picture(".svg")),
        "Data (CSV)": ("memory.csv", lambda: table_of(shown.complete())),
        "Data (JSON)": ("memory.json", lambda: json_of(shown.complete())),
        "Python": ("memory.py", lines.encode()),
    }
    buttons = [mo.download(data, name, label=label) for label, (name, data) in offers.items()]
    return mo.vstack(
        [
            mo.Html("<h2>Take it home</h2>"),
            mo.hstack(buttons, wrap=True, justify="start"),
            mo.Html(about_lines(lines, shown.settings.link() if link else None)),
        ]
    )
