"""Reports in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memcurve.terminal.console import plain_table, print_notes, print_table, stdout_console

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from memcurve.report import Chart, Document, Section, Table
    from memcurve.report.document import Floats

# columns and rows of a plot, of 2 × 4 dots each
_PLOT_WIDTH, _PLOT_HEIGHT = 60, 8
# bits of the eight dots of a braille character, by column and row
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def print_document(document: Document) -> None:
    """Verdict, figures and sections; of the charts the first line of each.

    Lines are wrapped at the width of the terminal; a file or pipe gets them whole.
    """
    from rich.markup import escape

    from memcurve.report.wording import NOTES, clean

    console = stdout_console()
    _print_line(console, document.title, "bold")
    if document.subtitle.strip():
        _print_line(console, document.subtitle, "dim")
    _print_verdict(console, document)
    if document.figures:
        console.print()
        names = [clean(name) for name, _ in document.figures]
        width = max(map(len, names))
        for name, (_, value) in zip(names, document.figures, strict=True):
            label = escape(name.rjust(width))
            console.print(f"[dim]{label}[/]  [bold]{escape(clean(value))}[/]", soft_wrap=True)
    for section in document.sections:
        _print_section(console, section)
    if document.notes:
        console.print()
        _print_line(console, NOTES, "bold")
        print_notes(console, [clean(note) for note in document.notes])
    if document.footer.strip():
        console.print()
        _print_line(console, document.footer, "dim")


def _print_line(console: Console, content: str, style: str = "", prefix: str = "") -> None:
    """Print one paragraph, each of its lines behind the prefix."""
    from rich.text import Text

    from memcurve.report.wording import one_line

    text = Text(one_line(content), style=style)
    for line in text.wrap(console, max(console.width - len(prefix), 20)):
        line.rstrip()
        console.print(Text(prefix) + line, soft_wrap=True)


def _print_verdict(console: Console, document: Document) -> None:
    from rich.text import Text

    from memcurve.report.wording import one_line

    if not document.verdict:
        return
    tone = {True: "green", False: "red", None: "cyan"}[document.good]
    bar = "| " if console.options.ascii_only else "▌ "
    word = (f"{one_line(document.word)}. ", f"bold {tone}")
    console.print()
    for k, sentence in enumerate(document.verdict):
        text = Text.assemble(*((word,) if k == 0 else ()), one_line(sentence))
        for line in text.wrap(console, max(console.width - len(bar), 20)):
            line.rstrip()
            console.print(Text.assemble((bar, tone), line), soft_wrap=True)


def _print_section(console: Console, section: Section) -> None:
    from memcurve.report.wording import paragraphs

    console.print()
    _print_line(console, section.title, "bold")
    for paragraph in paragraphs(section.text):
        _print_line(console, paragraph)
    chart = section.chart
    if chart is not None and chart.kind == "lines" and not console.options.ascii_only:
        lines = plot_lines(chart, min(_PLOT_WIDTH, console.width - 16))
        if lines:
            name = next(series.name for series in chart.series if series.shown)
            _print_line(console, f"{chart.up} over {chart.across}: {name}", "dim")
        for line in lines:
            console.print(line, markup=False, soft_wrap=True)
    if section.table is not None:
        _print_table(console, section.table)
    for point in section.points:
        _print_line(console, point, prefix="• ")


def _print_table(console: Console, content: Table) -> None:
    from rich.markup import escape

    from memcurve.report.wording import one_line

    table = plain_table(*(escape(one_line(name)) for name in content.head), padding=(0, 2, 0, 0))
    for k in content.numeric:
        table.columns[k].justify, table.columns[k].no_wrap = "right", True
    for row in content.rows:
        table.add_row(*(escape(one_line(cell)) for cell in row))
    print_table(console, table)


def plot_lines(chart: Chart, width: int = _PLOT_WIDTH) -> Sequence[str]:
    """The first shown series of a chart as lines of braille dots; none where it has no points.

    The ends of both axes are written beside and below.
    """
    import numpy as np

    from memcurve.report.thinning import drawn

    first = next((series for series in chart.series if series.shown), None)
    if first is None or width < 10:
        return []
    points = drawn(chart, first, most=20_000)
    known = np.isfinite(points.y)
    if not known.any():
        return []
    x, y = points.x[known], points.y[known]
    low, high = float(y.min()), float(y.max())
    if not chart.log_y and 0 < low <= 0.6 * high:
        low = 0.0  # as the chart has it
    across = _places(x, float(x.min()), float(x.max()), chart.log_x, 2 * width)
    up = _places(y, low, high, chart.log_y, 4 * _PLOT_HEIGHT)
    cells = np.zeros((_PLOT_HEIGHT, width), dtype=np.int64)
    previous: tuple[int, int] | None = None
    joined = np.flatnonzero(known)
    for k, (column, height) in enumerate(zip(across.tolist(), up.tolist(), strict=True)):
        gap = k > 0 and joined[k] != joined[k - 1] + 1
        for c, h in _steps(None if gap else previous, (column, height)):
            row = 4 * _PLOT_HEIGHT - 1 - h
            cells[row // 4, c // 2] |= _DOTS[c % 2][row % 4]
        previous = (column, height)
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


def _places(values: Floats, low: float, high: float, log: bool, dots: int) -> NDArray[np.int64]:
    """Where values fall among so many dots."""
    import numpy as np

    if log:
        values, low, high = np.log(values), float(np.log(low)), float(np.log(high))
    span = high - low or 1.0
    return np.clip(np.round((values - low) / span * (dots - 1)), 0, dots - 1).astype(np.int64)


def _steps(start: tuple[int, int] | None, end: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots of a straight line."""
    if start is None:
        return [end]
    count = max(abs(end[0] - start[0]), abs(end[1] - start[1]), 1)
    return [
        (
            round(start[0] + (end[0] - start[0]) * k / count),
            round(start[1] + (end[1] - start[1]) * k / count),
        )
        for k in range(count + 1)
    ]
