"""What notebooks show of networks and curves: small HTML tables and a sparkline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

SPARKLINE_WIDTH, SPARKLINE_HEIGHT, SPARKLINE_POINTS = 360, 60, 400


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


def sparkline(values: Sequence[float], label: str) -> str:
    """Numbers from 0 up as a small picture, in the colour of the text around it."""
    finite = [max(0.0, value) if math.isfinite(value) else 0.0 for value in values]
    if len(finite) < 2:
        return ""
    step = max(1, len(finite) // SPARKLINE_POINTS)
    shown, top = finite[::step], max(1.0, max(finite))
    across = SPARKLINE_WIDTH / (len(shown) - 1)
    points = " ".join(
        f"{k * across:.1f},{2 + (SPARKLINE_HEIGHT - 4) * (1 - value / top):.1f}"
        for k, value in enumerate(shown)
    )
    return (
        f"<svg role='img' aria-label='{escape(label, quote=True)}' width='{SPARKLINE_WIDTH}' "
        f"height='{SPARKLINE_HEIGHT}' style='max-width:100%'><polyline points='{points}' "
        f"fill='none' stroke='currentColor' stroke-width='1.5'/></svg>"
    )
