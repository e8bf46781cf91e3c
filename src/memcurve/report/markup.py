"""Pieces of HTML, every text in them escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from memcurve.report.document import Chart, Table
from memcurve.report.layers import SOLID, dash, shape
from memcurve.report.palette import COLOURS
from memcurve.report.wording import clean, paragraphs

#: Cells with more letters hold sentences, which are wrapped.
_SHORT = 24
_SHAPES = {
    "circle": "<circle cx='6' cy='6' r='4'/>",
    "diamond": "<path d='M6 1l4 5-4 5-4-5z'/>",
    "triangle-up": "<path d='M6 2l5 8H1z'/>",
    "square": "<path d='M2 2h8v8H2z'/>",
}


def text(content: str) -> str:
    """Text that is safe within an element and within a quoted attribute."""
    return html.escape(clean(content))


def prose(content: str) -> str:
    """The paragraphs of a text."""
    return "".join(f"<p>{text(part)}</p>\n" for part in paragraphs(content))


def points(items: Iterable[str]) -> str:
    """A list."""
    inner = "".join(f"<li>{text(item)}</li>\n" for item in items)
    return f"<ul>\n{inner}</ul>\n" if inner else ""


def table(content: Table, *, number: str = "", wordy: str = "", cell: str = "") -> str:
    """A table; the first cell of a row names it.

    ``number``, ``wordy`` and ``cell`` are attributes of cells: of those in columns of numbers, of
    sentences, and of the others.
    """
    kinds = []
    for k in range(len(content.head)):
        longest = max((len(row[k]) for row in content.rows), default=0)
        kind = number if k in content.numeric else wordy if longest > _SHORT else cell
        kinds.append(f" {kind}" if kind else "")
    names = "".join(
        f"<th scope='col'{kind}>{text(name)}</th>"
        for name, kind in zip(content.head, kinds, strict=True)
    )
    rows = ""
    for row in content.rows:
        first = "".join(f"<th scope='row'{kinds[0]}>{text(value)}</th>" for value in row[:1])
        rest = "".join(f"<td{kinds[k]}>{text(v)}</td>" for k, v in enumerate(row) if k > 0)
        rows += f"<tr>{first}{rest}</tr>\n"
    return f"<table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"


def swatch(chart: Chart, k: int) -> str:
    """The line or the point of a series, as a small picture."""
    colour = f"var(--series-{k % COLOURS})"
    if chart.kind == "disc":
        size = "width='12' height='12'"
        return f"<svg {size} fill='{colour}' aria-hidden='true'>{_SHAPES[shape(k)]}</svg>"
    dashes = dash(chart, k)
    dashed = "" if dashes == SOLID else f" stroke-dasharray='{dashes[0]} {dashes[1]}'"
    return (
        f"<svg width='22' height='12' stroke='{colour}' stroke-width='3' aria-hidden='true'>"
        f"<path d='M0 6h22'{dashed}/></svg>"
    )
