"""Reports in the terminal, with charts of braille dots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcurve.cli.console import (
    print_line,
    print_notes,
    print_table,
    print_wrapped,
    stdout_console,
    styled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from memcurve.report import Chart, Document, Section

# columns and rows of a plot, of 2 × 4 dots each
_PLOT_WIDTH, _PLOT_HEIGHT = 60, 8
# bits of the eight dots of a braille character, by column and row
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def print_document(document: Document) -> None:
    """Verdict, figures and sections; of the charts the first line of each.

    Lines are wrapped at the width of the terminal; a file or pipe gets them whole.
    """
    from memcurve.report.document import NOTES

    console = stdout_console()
    _print_paragraph(console, document.title, "bold")
    if document.subtitle.strip():
        _print_paragraph(console, document.subtitle, "dim")
    _print_verdict(console, document)
    if document.figures:
        console.print()
        width = max(len(name) for name, _ in document.figures)
        for name, value in document.figures:
            print_line(console, (f"{name:>{width}}", "dim"), "  ", (value, "bold"))
    for section in document.sections:
        _print_section(console, section)
    if document.notes:
        console.print()
        _print_paragraph(console, NOTES, "bold")
        print_notes(console, document.notes)
    if document.footer.strip():
        console.print()
        _print_paragraph(console, document.footer, "dim")


def _print_paragraph(console: Console, content: str, style: str = "", bullet: str = "") -> None:
    from memcurve.report.document import one_line

    print_wrapped(console, styled(one_line(content), style), bullet)


def _print_verdict(console: Console, document: Document) -> None:
    from rich.text import Text

    from memcurve.report.document import one_line

    tone = {True: "green", False: "red", None: "cyan"}[document.good]
    bar = "| " if console.options.ascii_only else "▌ "
    for k, sentence in enumerate(document.verdict):
        text = styled(one_line(sentence))
        if k == 0:
            console.print()
            text = Text.assemble((f"{one_line(document.word)}. ", f"bold {tone}"), text)
        print_wrapped(console, text, bar, tone)


def _print_section(console: Console, section: Section) -> None:
    from memcurve.report.document import one_line, split_paragraphs

    console.print()
    _print_paragraph(console, section.title, "bold")
    for paragraph in split_paragraphs(section.text):
        _print_paragraph(console, paragraph)
    chart = section.chart
    if chart is not None and chart.kind == "lines" and not console.options.ascii_only:
        lines = plot_lines(chart, min(_PLOT_WIDTH, console.width - 16))
        if lines:
            name = next(series.name for series in chart.series if series.shown)
            _print_paragraph(console, f"{chart.y_label} over {chart.x_label}: {name}", "dim")
        for line in lines:
            print_line(console, line)
    table = section.table
    if table is not None:
        rows = [[one_line(cell) for cell in row] for row in (table.head, *table.rows)]
        print_table(console, rows[0], rows[1:], right=table.numeric, indent=0)
    for point in section.points:
        _print_paragraph(console, point, bullet="• ")


def plot_lines(chart: Chart, width: int = _PLOT_WIDTH) -> Sequence[str]:
    """The first shown series of a chart as lines of braille dots; none where it has no points.

    The ends of both axes are written beside and below.
    """
    import numpy as np

    from memcurve.report.decimation import decimated

    first = next((series for series in chart.series if series.shown), None)
    if first is None or width < 10:
        return []
    points = decimated(chart, first, most=20_000)
    known = np.isfinite(points.y)
    if not known.any():
        return []
    x, y = points.x[known], points.y[known]
    low, high = float(y.min()), float(y.max())
    if not chart.log_y and 0 < low <= 0.6 * high:
        low = 0.0  # as the chart has it
    columns = _dots(x, float(x.min()), float(x.max()), chart.log_x, 2 * width)
    heights = _dots(y, low, high, chart.log_y, 4 * _PLOT_HEIGHT)
    cells = np.zeros((_PLOT_HEIGHT, width), dtype=np.int64)
    places = np.flatnonzero(known)
    previous: tuple[int, int] | None = None
    for k, dot in enumerate(zip(columns.tolist(), heights.tolist(), strict=True)):
        gap = k > 0 and places[k] != places[k - 1] + 1
        for column, height in _segment(None if gap else previous, dot):
            row = 4 * _PLOT_HEIGHT - 1 - height
            cells[row // 4, column // 2] |= _DOTS[column % 2][row % 4]
        previous = dot
    top, bottom = f"{high:.3g}", f"{low:.3g}"
    margin = max(len(top), len(bottom))
    labels = {0: top, _PLOT_HEIGHT - 1: bottom}
    lines = []
    for row in range(_PLOT_HEIGHT):
        dots = "".join(chr(0x2800 + int(cell)) for cell in cells[row])
        lines.append(f"{labels.get(row, ''):>{margin}} │{dots}".rstrip("\u2800"))
    left, right = f"{x.min():.3g}", f"{x.max():.3g}"
    lines.append(f"{'':{margin}} └{'─' * width}")
    lines.append(f"{'':{margin}}  {left}{right:>{width - len(left)}}")
    return lines


def _dots(
    values: NDArray[np.float64], low: float, high: float, log: bool, count: int
) -> NDArray[np.int64]:
    """Where values fall among so many dots."""
    import numpy as np

    if log:
        values, low, high = np.log(values), float(np.log(low)), float(np.log(high))
    span = high - low or 1.0
    return np.clip(np.round((values - low) / span * (count - 1)), 0, count - 1).astype(np.int64)


def _segment(start: tuple[int, int] | None, end: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots of a straight line."""
    if start is None:
        return [end]
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    count = max(abs(dx), abs(dy), 1)
    return [(round(x + dx * k / count), round(y + dy * k / count)) for k in range(count + 1)]
