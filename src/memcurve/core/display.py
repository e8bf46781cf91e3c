"""What notebooks show of networks and curves: small HTML tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(rows: Iterable[tuple[str, str]], notes: Iterable[str] = ()) -> str:
    """Named figures and notes, everything escaped."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in rows
    )
    points = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<table>{cells}</table>" + (f"<ul>{points}</ul>" if points else "")


def grid(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a row of headings, everything escaped."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>" for cells in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def columns_of_text(rows: Iterable[Sequence[str]], left: int = 0) -> list[str]:
    """Lines of cells in columns, the first ``left`` of which are aligned on the left."""
    table = list(rows)
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if k < left else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in table
    ]
