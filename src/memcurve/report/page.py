"""Documents as one web page that needs nothing else: no network, no other file."""

from __future__ import annotations

import functools
import json
import re
from importlib import resources
from string import Template
from typing import Any

from memcurve.optional import optional
from memcurve.report import axes, markup, palette, vega
from memcurve.report.document import Chart, Document, Section
from memcurve.report.thinning import MOST
from memcurve.report.wording import NOTES, one_line

#: Points drawn on a whole page: what keeps it below three megabytes.
_PAGE_POINTS = 36_000
#: Reports with more sections begin with a table of contents.
_FEW_SECTIONS = 4
#: Charts of more points are drawn on a canvas: as elements of the page they would be slow.
_MOST_ELEMENTS = 3000

_HINTS = (
    "<span class='hint mouse'>Click a name to hide or show it. Drag to move; click the chart, "
    "then scroll, to zoom; double-click to reset.</span>"
    "<span class='hint touch'>Tap a name to hide or show it, and the chart for values.</span>"
)
_SIGNS = {True: "✓", False: "!", None: "·"}
_CLASSES = {True: "good", False: "bad", None: "neutral"}


def html(document: Document) -> str:
    """A document as one self-contained web page.

    Readers hover over the charts for values, zoom, switch series on and off, and choose a light
    or a dark page. Nothing is loaded from anywhere: the page works from a file, without network.

    Parameters
    ----------
    document : Document
        What to write.

    Returns
    -------
    str
        The page, to be written as UTF-8.

    Raises
    ------
    ModuleNotFoundError
        Where there are charts and vl-convert-python, which brings the library that draws them, is
        not installed.
    """
    charts = [section.chart for section in document.sections if section.chart is not None]
    series = sum(len(chart.series) for chart in charts)
    most = min(MOST, max(200, _PAGE_POINTS // max(series, 1)))
    drawn = [_drawn(chart, most) for chart in charts]
    content = {
        "charts": drawn,
        "configs": {
            "light": palette.vega_config(palette.LIGHT),
            "dark": palette.vega_config(palette.DARK),
        },
    }
    style = Template(_file("page.css")).substitute(
        light=palette.variables(palette.LIGHT),
        dark=palette.variables(palette.DARK),
        font=palette.FONT,
    )
    return Template(_file("page.html")).substitute(
        title=markup.text(one_line(document.title)),
        subtitle=markup.prose(document.subtitle),
        style=style,
        body=_body(document, most),
        footer=markup.prose(document.footer),
        content=_json(content),
        library=f"<script>(() => {{{library()}}})();</script>" if charts else "",
        script=_file("figure.js") + _file("page.js"),
    )


@functools.cache
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed, as JavaScript to be written into a page."""
    bundle: str = optional("vl_convert", "a page with charts", "report").javascript_bundle()
    return bundle.replace("</script", "<\\/script")


def _file(name: str) -> str:
    return resources.files("memcurve.report").joinpath(name).read_text(encoding="utf-8")


def _json(content: Any) -> str:
    """JSON within a script element, which the browser ends at the first ``</script``."""
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _drawn(chart: Chart, most: int) -> dict[str, Any]:
    spec = vega.specification(chart, most)
    rows = len(spec["data"]["values"])
    return {
        "spec": spec,
        "kind": chart.kind,
        "names": [series.name for series in chart.series],
        "across": chart.across,
        "lines": {"x": axes.title_lines(chart.across), "y": axes.title_lines(chart.up)},
        "wide": axes.WIDE,
        "renderer": "canvas" if rows > _MOST_ELEMENTS else "svg",
        "file": re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")[:60] or "chart",
    }


def _body(document: Document, most: int) -> str:
    parts = [_verdict(document), _figures(document)]
    if len(document.sections) > _FEW_SECTIONS:
        parts.append(_contents(document))
    number = 0
    for k, section in enumerate(document.sections):
        parts.append(_section(section, k, number, most))
        number += section.chart is not None
    if document.notes:
        notes = markup.points(document.notes)
        parts.append(f"<section id='notes' class='notes'>\n<h2>{NOTES}</h2>\n{notes}</section>\n")
    return "".join(parts)


def _verdict(document: Document) -> str:
    if not document.verdict:
        return ""
    first, *others = document.verdict
    rest = "".join(f"<p>{markup.text(sentence)}</p>\n" for sentence in others)
    return (
        f"<section class='verdict {_CLASSES[document.good]}' aria-labelledby='verdict'>\n"
        f"<h2 id='verdict'><span class='sign' aria-hidden='true'>{_SIGNS[document.good]}</span>"
        f"{markup.text(document.word)}</h2>\n"
        f"<p class='lead'>{markup.text(first)}</p>\n{rest}</section>\n"
    )


def _figures(document: Document) -> str:
    if not document.figures:
        return ""
    inner = "".join(
        f"<div><dt>{markup.text(name)}</dt><dd>{markup.text(value)}</dd></div>\n"
        for name, value in document.figures
    )
    return f"<dl class='figures'>\n{inner}</dl>\n"


def _contents(document: Document) -> str:
    links = [(f"section-{k + 1}", s.title) for k, s in enumerate(document.sections)]
    if document.notes:
        links.append(("notes", NOTES))
    inner = "".join(
        f"<li><a href='#{target}'>{markup.text(title)}</a></li>\n" for target, title in links
    )
    return f"<nav aria-label='Contents'>\n<h2>Contents</h2>\n<ol>\n{inner}</ol>\n</nav>\n"


def _section(section: Section, k: int, number: int, most: int) -> str:
    name = f"section-{k + 1}"
    parts = [f"<h2 id='{name}-title'>{markup.text(section.title)}</h2>\n"]
    parts.append(markup.prose(section.text))
    if section.chart is not None:
        parts.append(_chart(section.chart, section.title, number, most))
    if section.table is not None:
        table = markup.table(section.table, number="class='number'", wordy="class='wordy'")
        label = f"role='region' aria-labelledby='{name}-title'"
        parts.append(f"<div class='scroll' {label}>\n{table}</div>\n")
    parts.append(markup.points(section.points))
    inner = "".join(parts)
    return f"<section id='{name}' aria-labelledby='{name}-title'>\n{inner}</section>\n"


def _chart(chart: Chart, heading: str, number: int, most: int) -> str:
    title = f"<h3>{markup.text(chart.title)}</h3>\n" if chart.title not in ("", heading) else ""
    buttons = "".join(
        f"<button type='button' data-series='{k}' aria-pressed='{str(series.shown).lower()}'>"
        f"{markup.swatch(chart, k)}<span>{markup.text(series.name)}</span></button>\n"
        for k, series in enumerate(chart.series)
    )
    remarks = "".join(f" {markup.text(remark)}" for remark in vega.remarks(chart, most))
    label = f"role='img' aria-label='{markup.text(vega.described(chart))}'"
    return (
        f"<figure class='{chart.kind}' data-chart='{number}'>\n{title}"
        f"<div class='legend' role='group' aria-label='Series'>\n{buttons}</div>\n"
        f"<div class='plot' tabindex='0' {label}></div>\n"
        "<div class='readout' aria-live='polite' hidden></div>\n"
        f"<figcaption><span>{_HINTS}{remarks}</span>\n"
        "<span class='tools'><button type='button' data-do='reset'>Reset</button>"
        "<button type='button' data-do='png'>Save PNG</button>"
        "<button type='button' data-do='svg'>Save SVG</button></span></figcaption>\n"
        "</figure>\n"
    )
