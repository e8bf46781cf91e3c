"""Draw the figures into a folder, one after the other, and write a page that shows them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from html import escape
from pathlib import Path

from memcurve.core.limits import one_thread
from memcurve.core.progress import Progress, listening
from memcurve.core.version import __version__
from memcurve.studies.paper.claims import FAILS, CheckedClaim, check_claims
from memcurve.studies.paper.figures import FIGURES, Settings


def reproduce(
    output: Path,
    *,
    figures: Iterable[int] | None = None,
    settings: Settings | None = None,
    claims: bool = False,
    progress: Progress = False,
) -> tuple[Path, list[CheckedClaim]]:
    """Draw figures as PNG and PDF, check the claims; return the page of both and the outcomes."""
    chosen = tuple(FIGURES if figures is None else figures)
    for number in chosen:
        if number not in FIGURES:
            raise ValueError(
                f"`figures` must be among {', '.join(map(str, FIGURES))}, got {number}."
            )
    settings = settings or Settings()
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    sections = []
    with listening(progress) as tell:
        for number in chosen:
            tell(f"figure {number}", 0, 1)
            with one_thread():  # many small decompositions
                drawn = FIGURES[number].draw(settings, tell)
            for ending in ("png", "pdf"):
                drawn.figure.savefig(output / f"figure{number}.{ending}", dpi=130)
            sections.append(_section(number, drawn.findings))
            tell(f"figure {number}", 1, 1)
        outcomes = check_claims(tell) if claims else []
    if outcomes:
        sections.append(_claims(outcomes))
    page = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    page = page.replace("SETTINGS", _about(settings)).replace("BODY", "".join(sections))
    place = output / "index.html"
    place.write_text(page, encoding="utf-8")
    return place, outcomes


def _about(settings: Settings) -> str:
    first, *_, last = settings.samples
    return (
        f"N = {settings.size}, L = {settings.masks} masks, T = {first} … {last}, "
        f"seed {settings.seed}, memcurve {__version__}"
    )


def _section(number: int, findings: list[str]) -> str:
    """What the page shows of a figure."""
    figure = FIGURES[number]
    measured = "".join(f"<li>{escape(finding)}</li>" for finding in findings)
    return (
        f"<section><h2>Figure {number}. {escape(figure.title)}</h2>"
        f"<img src='figure{number}.png' alt='{escape(figure.title)}'>"
        f"<p>(<a href='figure{number}.pdf'>PDF</a>)</p>"
        f"<h3>The paper says</h3><p>{escape(figure.paper)}</p>"
        f"<h3>Measured here</h3><ul>{measured}</ul></section>"
    )


def _claims(outcomes: list[CheckedClaim]) -> str:
    """The claims as a table."""
    table = "<tr><th>where</th><th>claim</th><th>verdict</th><th>figure</th></tr>"
    for outcome in outcomes:
        cells = "".join(f"<td>{escape(c)}</td>" for c in dataclasses.astuple(outcome))
        table += f"<tr class='{'fails' if outcome.verdict == FAILS else ''}'>{cells}</tr>"
    return f"<section><h2>Claims</h2><table>{table}</table></section>"
