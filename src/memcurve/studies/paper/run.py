"""Draw the figures into a folder, one after the other, and write a page that shows them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from memcurve.core.limits import one_thread
from memcurve.core.progress import Progress, listening
from memcurve.core.version import __version__
from memcurve.studies.paper.claims import FAILS, CheckedClaim, check_claims
from memcurve.studies.paper.figures import FIGURES, Settings

ENDINGS = ("png", "pdf")


def reproduce(
    output: Path,
    *,
    figures: Iterable[int] | None = None,
    settings: Settings | None = None,
    claims: bool = False,
    fresh: bool = False,
    progress: Progress = False,
) -> tuple[Path, list[CheckedClaim]]:
    """Draw figures as PNG and PDF, check the claims; return the index page and the outcomes.

    A figure that is there already, drawn with the same settings, is left as it is (unless
    ``fresh``): an interrupted run goes on where it was.
    """
    chosen = tuple(FIGURES if figures is None else figures)
    for number in chosen:
        if number not in FIGURES:
            raise ValueError(
                f"`figures` must be among {', '.join(map(str, FIGURES))}, got {number}."
            )
    settings = settings or Settings()
    output = Path(output)
    output.mkdir(parents=True, exist_ok=True)
    with listening(progress) as tell:
        for number in chosen:
            if not fresh and _record(output, number, settings) is not None:
                tell(f"figure {number}, already there", 1, 1)
                continue
            tell(f"figure {number}", 0, 1)
            with one_thread():  # many small decompositions
                drawn = FIGURES[number].draw(settings, tell)
            for ending in ENDINGS:
                drawn.figure.savefig(output / f"figure{number}.{ending}", dpi=130)
            # written last: a record means that the pictures are complete
            record = {"settings": _fingerprint(settings), "findings": drawn.findings}
            text = json.dumps(record, indent=1, ensure_ascii=False)
            (output / f"figure{number}.json").write_text(text, encoding="utf-8")
            tell(f"figure {number}", 1, 1)
        outcomes = check_claims(tell) if claims else []
    checked, page = output / "claims.json", output / "index.html"
    if claims:
        rows = [dataclasses.asdict(outcome) for outcome in outcomes]
        checked.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    rows = json.loads(checked.read_text(encoding="utf-8")) if checked.exists() else []
    shown = [CheckedClaim(**row) for row in rows]
    page.write_text(_page(output, settings, shown), encoding="utf-8")
    return page, outcomes


def _record(output: Path, number: int, settings: Settings) -> dict[str, Any] | None:
    try:
        file = output / f"figure{number}.json"
        record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    pictures = [(output / f"figure{number}.{ending}").exists() for ending in ENDINGS]
    return record if all(pictures) and record.get("settings") == _fingerprint(settings) else None


def _fingerprint(settings: Settings) -> dict[str, Any]:
    content = dataclasses.asdict(settings) | {"version": __version__}
    return json.loads(json.dumps(content))  # type: ignore[no-any-return]


def _page(output: Path, settings: Settings, outcomes: list[CheckedClaim]) -> str:
    parts = []
    for number, figure in FIGURES.items():
        record = _record(output, number, settings)
        if record is None:
            continue
        measured = "".join(f"<li>{escape(finding)}</li>" for finding in record["findings"])
        parts.append(
            f"<section><h2>Figure {number}. {escape(figure.title)}</h2>"
            f"<img src='figure{number}.png' alt='{escape(figure.title)}'>"
            f"<p>(<a href='figure{number}.pdf'>PDF</a>)</p>"
            f"<h3>The paper says</h3><p>{escape(figure.paper)}</p>"
            f"<h3>Measured here</h3><ul>{measured}</ul></section>"
        )
    if outcomes:
        table = "<tr><th>where</th><th>claim</th><th>verdict</th><th>figure</th></tr>"
        for outcome in outcomes:
            cells = "".join(f"<td>{escape(c)}</td>" for c in dataclasses.astuple(outcome))
            table += f"<tr class='{'fails' if outcome.verdict == FAILS else ''}'>{cells}</tr>"
        parts.append(f"<section><h2>Claims</h2><table>{table}</table></section>")
    masks, samples = settings.masks, settings.samples
    about = f"N = {settings.size}, L = {masks} masks, T = {samples[0]} … {samples[-1]}"
    about += f", seed {settings.seed}, memcurve {__version__}"
    page = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return page.replace("SETTINGS", about).replace("BODY", "".join(parts))
