"""Documents as GitHub-flavoured Markdown (GFM)."""

import re
from collections.abc import Iterator

from memcurve.rendering.report import document as parts

#: Signs that mean something within a line of Markdown.
_SIGNS = re.compile(r"([\\`*_{}\[\]|~$])")
#: Starts of a line that would make it a heading, a list, a quotation or a rule.
_STARTS = re.compile(r"^(?:([#+\-=])|(\d+)([.)]))")


def markdown(document: parts.Document) -> str:
    """A document as GitHub Markdown; of charts there is what their section says about them."""
    return "\n\n".join(_blocks(document)) + "\n"


def _blocks(document: parts.Document) -> Iterator[str]:
    yield f"# {_line(document.title)}"
    if document.subtitle.strip():
        yield _line(document.subtitle)
    word = _inline(document.word)
    for k, sentence in enumerate(document.verdict):
        yield f"**{word}.** {_inline(sentence)}" if k == 0 else _line(sentence)
    if document.figures:
        yield _table(parts.Table(("", ""), tuple(document.figures), frozenset({1})))
    notes = [parts.Section(parts.NOTES, points=tuple(document.notes))] if document.notes else []
    for section in (*document.sections, *notes):
        if not (section.text or section.table or section.points):  # a chart alone
            continue
        yield f"## {_line(section.title)}"
        yield from map(_line, parts.split_paragraphs(section.text))
        if section.table is not None:
            yield _table(section.table)
        if section.points:
            yield "\n".join(f"- {_line(point)}" for point in section.points)
    if document.footer.strip():
        yield _line(document.footer)


def _inline(text: str) -> str:
    escaped = _SIGNS.sub(r"\\\1", parts.one_line(text).replace("&", "&amp;"))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def _line(text: str) -> str:
    """Text at the start of a line, where more signs have a meaning."""
    return _STARTS.sub(
        lambda start: f"\\{start[1]}" if start[1] else f"{start[2]}\\{start[3]}", _inline(text)
    )


def _table(table: parts.Table) -> str:
    rule = ["--:" if k in table.numeric else "---" for k in range(len(table.head))]
    head, *rows = [[_inline(cell) for cell in row] for row in (table.head, *table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rows))
