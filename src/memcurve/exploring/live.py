"""Figures that change on the page after they are first shown, and what can be taken home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import marimo as mo

from memcurve.curve import MemoryCurve
from memcurve.exploring import figures, later, showing
from memcurve.exploring.downloads import picture_of, table_of
from memcurve.exploring.remarks import about_lines
from memcurve.exploring.scene import Scene
from memcurve.exploring.settings import Settings
from memcurve.exploring.stems import stems
from memcurve.report import Section

Jobs = Mapping[str, tuple[Callable[..., Any], tuple[Any, ...]]]


def memory(scene: Scene, settings: Settings) -> list[MemoryCurve]:
    """Show the exact curve at once, and the one under input and noise when it is there.

    Returns
    -------
    list of MemoryCurve
        The curves that are shown: the second one is added when it arrives.
    """
    curves = [scene.curve]

    def draw(found: Mapping[str, Any]) -> Section:
        asked = found.get("asked")
        if isinstance(asked, MemoryCurve):
            curves[1:] = [asked]
        return figures.memory_section(scene, settings, asked)

    given = (scene.network, scene.end + 1, settings.arguments())
    _arriving({} if settings.is_plain else {"asked": (later.asked_curve, given)}, draw)
    return curves


def theorem(scene: Scene, lag: Any) -> None:
    """Show the impulse response and the curve it makes, at the lag of a slider."""
    section = figures.theorem_section(scene, int(lag.value))
    parts: list[Any] = [mo.Html(showing.heading(section))]
    if scene.response is not None:
        response = showing.Picture(stems(scene.response, int(lag.value)))
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
    _arriving(jobs, lambda found: figures.usable_section(scene, settings, found.get("usable")))


def squeezing(scene: Scene) -> None:
    """Show Krylov squeezing when it is there."""
    jobs = {"squeezing": (later.squeezing, (scene.network, scene.curve.rank))}
    _arriving(
        jobs,
        lambda found: (
            figures.squeezed_section(found["squeezing"]) if found else figures.SQUEEZING_SOON
        ),
    )


def _arriving(jobs: Jobs, draw: Callable[[Mapping[str, Any]], Section]) -> None:
    """Make ``draw`` of what is there the output of the cell, now and whenever more arrives."""
    found: dict[str, Any] = {}

    def show() -> None:
        mo.output.replace(shown(draw(found), busy=len(found) < len(jobs)))

    def wait() -> None:
        thread = mo.current_thread()
        for name, outcome in later.WORKSHOP.arrivals(jobs, lambda: not thread.should_exit):
            found[name] = outcome
            show()

    show()
    if jobs:
        mo.Thread(target=wait).start()


def shown(section: Section, *, busy: bool = False) -> Any:
    """A section as it stands on the page: heading, sentence, chart, table."""
    parts: list[Any] = [mo.Html(showing.heading(section, busy=busy))]
    if section.chart is not None:
        parts.append(showing.pictured(section))
    if section.table is not None:
        parts.append(mo.Html(showing.tabled(section)))
    return mo.vstack(parts)


def home(curves: list[MemoryCurve], settings: Settings, lines: str, *, link: bool) -> Any:
    """Buttons to download picture, data and Python lines, the lines to read, and a link."""

    def names() -> list[str]:
        return ["exact", figures.asked_name(settings)][: len(curves)]

    def picture(ending: str) -> Callable[[], bytes]:
        return lambda: picture_of(curves, names(), ending)

    offers: dict[str, tuple[str, Any]] = {
        "Picture (PNG)": ("memory.png", picture(".png")),
        "Picture (SVG)": ("memory.svg", picture(".svg")),
        "Data (CSV)": ("memory.csv", lambda: table_of(curves, names())),
        "Data (JSON)": ("memory.json", lambda: curves[0].to_json().encode()),
        "Python": ("memory.py", lines.encode()),
    }
    buttons = [mo.download(data, name, label=label) for label, (name, data) in offers.items()]
    return mo.vstack(
        [
            mo.Html("<h2>Take it home</h2>"),
            mo.hstack(buttons, wrap=True, justify="start"),
            mo.Html(about_lines(lines, settings.link() if link else None)),
        ]
    )
