"""What notebooks show of networks and curves: small HTML tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), notes: Iterable[str] = ()
) -> str:
    """Rows under a head, or of names and figures, and notes, everything escaped."""
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    cells = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    points = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"<table><tr>{heads}</tr>{cells}</table>" + (f"<ul>{points}</ul>" if points else "")


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
