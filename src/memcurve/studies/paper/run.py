"""Draw the figures into a folder, one after the other, and write a page that shows them."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from memcurve.core.limits import one_thread
from memcurve.core.progress import Progress, progress_callback
from memcurve.core.version import __version__
from memcurve.rendering.report import Document, Section, Table, html
from memcurve.studies.paper.claims import CheckedClaim, check_claims
from memcurve.studies.paper.figures import FIGURES, TEXTS, Settings


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
    with progress_callback(progress) as notify:
        for number in chosen:
            notify(f"figure {number}", 0, 1)
            with one_thread():  # many small decompositions
                figure, findings = FIGURES[number](settings, notify)
            for ending in ("png", "pdf"):
                figure.savefig(output / f"figure{number}.{ending}", dpi=130)
            texts, picture = TEXTS[str(number)], f"figure{number}.png"
            title, points = f"Figure {number}. {texts['title']}", tuple(findings)
            sections.append(Section(title, texts["paper"], points=points, picture=picture))
            notify(f"figure {number}", 1, 1)
        outcomes = check_claims(notify) if claims else []
    texts = TEXTS["page"]
    if outcomes:
        rows = tuple(dataclasses.astuple(outcome) for outcome in outcomes)
        sections.append(Section(texts["claims"], table=Table(tuple(texts["heads"]), rows)))
    facts = dataclasses.asdict(settings) | {"first": settings.samples[0], "version": __version__}
    footer = texts["settings"].format(last=settings.samples[-1], **facts)
    document = Document(texts["title"], texts["about"], (), None, (), sections, footer=footer)
    page = output / "index.html"
    page.write_text(html(document), encoding="utf-8")
    return page, outcomes
