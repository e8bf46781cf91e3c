"""Documents as HTML: one self-contained page."""

import functools
import itertools
import json
import math
import re
from collections.abc import Iterable, Sequence
from html import escape
from string import Template
from typing import Any

from memcurve.core.notes import text_beside
from memcurve.core.optional import optional
from memcurve.rendering.report import vega
from memcurve.rendering.report.document import (
    NOTES,
    Chart,
    Document,
    Section,
    Table,
    clean,
    one_line,
    split_paragraphs,
)

# reports with more sections begin with a table of contents
_FEW_SECTIONS = 4
# tables with more columns do not fit a phone
_FEW_COLUMNS = 2
# cells with more letters hold sentences, which are wrapped
_SHORT = 24

_HINTS = (
    "<span class='hint mouse'>Click a name to hide or show it. Drag to move; click the chart, "
    "then scroll, to zoom; double-click to reset.</span>"
    "<span class='hint touch'>Tap a name to hide or show it, and the chart for values.</span>"
)
# sign and class of a verdict
_SIGNS = {True: ("✓", "good"), False: ("!", "bad"), None: ("·", "neutral")}


# Elements, every text in them escaped


def text(content: str) -> str:
    """Text that is safe within an element and within a quoted attribute."""
    return escape(clean(content))


def paragraphs(content: str) -> str:
    """The paragraphs of a text."""
    return "".join(f"<p>{text(part)}</p>\n" for part in split_paragraphs(content))


def bullets(items: Iterable[str]) -> str:
    """A list."""
    inner = "".join(f"<li>{text(item)}</li>\n" for item in items)
    return f"<ul>\n{inner}</ul>\n" if inner else ""


def table(content: Table) -> str:
    """A table; the first cell of a row names it, and each cell knows the head of its column."""
    kinds = []
    for k in range(len(content.head)):
        long = any(len(row[k]) > _SHORT for row in content.rows)
        kinds.append("class='number'" if k in content.numeric else "class='wordy'" if long else "")

    def line(tags: Sequence[str], row: Sequence[str]) -> str:
        cells = zip(tags, kinds, row, strict=True)
        inner = (f"<{tag} {kind}>{text(value)}</{tag[:2]}>" for tag, kind, value in cells)
        return f"<tr>{''.join(inner)}</tr>"

    head = line(["th scope='col'"] * len(kinds), content.head)
    tags = ["th scope='row'", *(f"td data-head='{text(name)}'" for name in content.head[1:])]
    rows = "".join(f"{line(tags, row)}\n" for row in content.rows)
    return f"<table>\n<thead>{head}</thead>\n<tbody>\n{rows}</tbody>\n</table>\n"


def _swatch(chart: Chart, k: int) -> str:
    """The line or the point of a series, as a small picture."""
    colour = f"var(--series-{k % vega.COLOURS})"
    if chart.kind != "lines":
        shape = [*vega.SHAPES.values()][k % len(vega.SHAPES) if chart.kind == "disc" else 0]
        return f"<svg width='12' height='12' fill='{colour}' aria-hidden='true'>{shape}</svg>"
    dashes = vega.dash(chart, k)
    dashed = "" if dashes == vega.SOLID else f" stroke-dasharray='{dashes[0]} {dashes[1]}'"
    return (
        f"<svg width='22' height='12' stroke='{colour}' stroke-width='3' aria-hidden='true'>"
        f"<path d='M0 6h22'{dashed}/></svg>"
    )


# The page


def html(document: Document) -> str:
    """A document as one page that loads nothing; vl-convert-python brings what draws its charts."""
    charts = [section.chart for section in document.sections if section.chart is not None]
    charted = [_chart_content(chart) for chart in charts]
    content = {"charts": charted, "config": vega.config()}
    variables = {
        page: " ".join(f"--{name}: {value};" for name, value in colours.items())
        for page, colours in {"light": vega.LIGHT, "dark": vega.DARK}.items()
    }
    style = Template(text_beside(__file__, "page.css")).substitute(font=vega.FONT, **variables)
    return Template(text_beside(__file__, "page.html")).substitute(
        title=text(one_line(document.title)),
        subtitle=paragraphs(document.subtitle),
        style=style,
        body=_body(document),
        footer=paragraphs(document.footer),
        # within a script element, which the browser ends at the first ``</script``
        content=json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        library=f"<script>(() => {{{library()}}})();</script>" if charts else "",
        script=text_beside(__file__, "figure.js") + text_beside(__file__, "page.js"),
    )


@functools.cache
def library() -> str:
    """Vega, Vega-Lite and Vega-Embed, as JavaScript to be written into a page."""
    bundle: str = optional("vl_convert", "a page with charts", "report").javascript_bundle()
    return bundle.replace("</script", "<\\/script")


def _chart_content(chart: Chart) -> dict[str, Any]:
    return {
        "spec": vega.specification(chart),
        "kind": chart.kind,
        "names": [series.name for series in chart.series],
        "x_label": chart.x_label,
        "file": re.sub(r"[^a-z0-9]+", "-", chart.title.lower()).strip("-")[:60] or "chart",
    }


def _body(document: Document) -> str:
    titles = [section.title for section in document.sections]
    links = {f"section-{k + 1}": text(title) for k, title in enumerate(titles)}
    number = itertools.count()
    sections = ""
    for name, section in zip(links, document.sections, strict=True):
        heading = f"<h2 id='{name}-title'>{links[name]}</h2>\n"
        label = f"aria-labelledby='{name}-title'"
        chart = section.chart and _chart(section.chart, section.title, next(number))
        inner = _inside(section, chart or "", label)
        sections += f"<section id='{name}' {label}>\n{heading}{inner}</section>\n"
    if document.notes:
        links["notes"] = NOTES
        notes = bullets(document.notes)
        sections += f"<section id='notes' class='notes'>\n<h2>{NOTES}</h2>\n{notes}</section>\n"
    contents = ""
    if len(titles) > _FEW_SECTIONS:
        inner = "".join(
            f"<li><a href='#{name}'>{title}</a></li>\n" for name, title in links.items()
        )
        contents = f"<nav aria-label='Contents'>\n<h2>Contents</h2>\n<ol>\n{inner}</ol>\n</nav>\n"
    figures = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>\n"
        for name, value in document.figures
    )
    figures = f"<dl class='figures'>\n{figures}</dl>\n" if figures else ""
    return f"{_verdict(document)}{figures}{contents}{sections}"


def _inside(section: Section, picture: str, label: str) -> str:
    """What a section has below its heading; ``label`` says to screen readers what is scrolled."""
    parts = [paragraphs(section.text), picture]
    if section.picture:
        parts.append(f"<img src='{text(section.picture)}' alt='{text(section.title)}'>\n")
    if section.table is not None:  # rows of many columns become lists where the window is narrow
        kind = "scroll turned" if len(section.table.head) > _FEW_COLUMNS else "scroll"
        parts.append(f"<div class='{kind}' role='region' {label}>\n{table(section.table)}</div>\n")
    return "".join([*parts, bullets(section.points)])


def _verdict(document: Document) -> str:
    if not document.verdict:
        return ""
    first, *others = document.verdict
    rest = "".join(f"<p>{text(sentence)}</p>\n" for sentence in others)
    sign, kind = _SIGNS[document.good]
    shown = [bar for bar in document.bars if math.isfinite(bar.value)]
    longest, bars = max((bar.value for bar in shown), default=0.0), ""
    for bar in shown:  # they need no script and are printed as they are
        share = max(100 * bar.value / longest, 0.5) if bar.value > 0 else 0
        bars += (
            f"<li><span>{text(bar.name)}</span> <b>{text(bar.text)}</b>"
            "<svg width='100%' height='14' aria-hidden='true'>"
            "<rect width='100%' height='14' rx='3' fill='var(--grid)'/>"
            f"<rect width='{share:.4g}%' height='14' rx='3' fill='var(--{text(bar.colour)})'/>"
            "</svg></li>\n"
        )
    if bars:
        bars = (
            f"<div class='bars' role='figure' aria-labelledby='scale'>\n"
            f"<p id='scale'>{text(document.scale)}</p>\n<ul>\n{bars}</ul>\n</div>\n"
        )
    return (
        f"<section class='verdict {kind}' aria-labelledby='verdict'>\n"
        f"<h2 id='verdict'><span class='sign' aria-hidden='true'>{sign}</span>"
        f"{text(document.word)}</h2>\n{bars}"
        f"<p class='lead'>{text(first)}</p>\n<div class='rest'>\n{rest}</div>\n</section>\n"
    )


def _chart(chart: Chart, heading: str, number: int) -> str:
    title = f"<h3>{text(chart.title)}</h3>\n" if chart.title not in ("", heading) else ""
    buttons = "".join(
        f"<button type='button' data-series='{k}' aria-pressed='{str(series.shown).lower()}'>"
        f"{_swatch(chart, k)}<span>{text(series.name)}</span></button>\n"
        for k, series in enumerate(chart.series)
    )
    remarks = "".join(f" {text(remark)}" for remark in vega.remarks(chart))
    label = f"role='img' aria-label='{text(vega.described(chart))}'"
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
