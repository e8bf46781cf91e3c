"""Terminal output: tables, notes, reports with charts, JSON.

Lines are wrapped between words at the width of a terminal, but never in a file or pipe. Texts are
shown without escape sequences, which names from files may hold.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.text import Text

    from memcurve.rendering.report import Chart, Document

#: Columns of a file or pipe; rich would take 80, or those of the terminal behind, and cut there.
PIPE_WIDTH = 10_000
#: Columns at least; a narrower terminal wraps lines by itself, and better than cells would be.
LEAST_WIDTH = 40
#: Columns of a name at least that is folded within words.
LEAST_CELL = 10

#: Lags shown in tables, besides thresholds.
SHOWN_LAGS = (0, 1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000)

# columns and rows of a plot, and what fills a row by eighths
_PLOT_WIDTH = 60
_PLOT_HEIGHT = 8
_BLOCKS = " ▁▂▃▄▅▆▇█"
# a small terminal, and how many figures and at least how many rows of a chart are shown there;
# twice as many rows are two screens, of which the first has scrolled away
_SCREEN_ROWS = 24
_SCREEN_COLUMNS = 80
_SCREEN_FIGURES = 5
_LEAST_HEIGHT = 4


def styled(content: str, style: str = "") -> Text:
    """Text without escape sequences, in a style."""
    from rich.text import Text

    from memcurve.rendering.report.document import clean

    return Text(clean(content), style=style)


class Printer:
    """Prints to stdout."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console(highlight=False)
        self.console.width = (
            max(self.console.width, LEAST_WIDTH) if sys.stdout.isatty() else PIPE_WIDTH
        )

    def line(self, *parts: str | tuple[str, str]) -> None:
        """Print texts in one line, each as it is or with a style; a terminal may take several."""
        from rich.text import Text

        texts = [styled(part) if isinstance(part, str) else styled(*part) for part in parts]
        self.wrapped(Text.assemble(*texts))

    def wrapped(
        self, text: Text, prefix: str = "", style: str = "", *, hanging: bool = False
    ) -> None:
        """Print one paragraph, each of its lines behind the prefix, or behind blanks as wide."""
        from rich.text import Text

        for line in text.wrap(self.console, max(self.console.width - len(prefix), 20)):
            line.rstrip()
            self.console.print(Text.assemble((prefix, style), line), soft_wrap=True)
            prefix = " " * len(prefix) if hanging else prefix

    def paragraph(self, content: str, style: str = "", bullet: str = "") -> None:
        """Print a text as one paragraph."""
        from memcurve.rendering.report.document import one_line

        self.wrapped(styled(one_line(content), style), bullet, hanging=True)

    def title(self, content: str, style: str = "bold") -> None:
        """Print a paragraph below an empty line."""
        self.console.print()
        self.paragraph(content, style)

    def named(self, rows: Iterable[tuple[str, str]], width: int = 14) -> None:
        """Print one name and its text per line."""
        for name, text in rows:
            self.wrapped(styled(text), f"{name:>{width}}  ", "bold", hanging=True)

    def notes(self, notes: Iterable[str]) -> None:
        """Print one note per line."""
        for note in notes:
            self.wrapped(styled(note), "note: ", "yellow", hanging=True)

    def table(
        self,
        heads: Sequence[str],
        rows: Iterable[Sequence[str]],
        *,
        right: Collection[int] = (),
        indent: int = 2,
    ) -> None:
        """Print a table without lines; numbers, columns ``right``, stay whole, others may fold."""
        from rich.cells import cell_len
        from rich.table import Table

        body = [[styled(cell) for cell in row] for row in rows]
        shown = [k for k, head in enumerate(heads) if head or any(row[k].plain for row in body)]
        widths, least = {}, {}
        for k in shown:
            cells = [row[k].plain for row in body]
            whole = cells if k in right else " ".join(cells).split()
            least[k] = max(map(cell_len, (*heads[k].split(), *whole)), default=0)
            widths[k] = max(map(cell_len, (heads[k], *cells)))
        width, gaps = self.console.width - indent, len(shown) - 1
        gap = 2 if sum(least.values()) + 2 * gaps <= width else 1
        width -= gap * gaps
        # the longest name folds within words where nothing else helps
        longest = max((k for k in shown if k not in right), key=least.__getitem__, default=shown[0])
        name = width - sum(least.values()) + least[longest]
        least[longest] = min(least[longest], max(name, LEAST_CELL))
        while sum(widths.values()) > max(width, sum(least.values())):
            widths[max(shown, key=lambda k: widths[k] - least[k])] -= 1
        table = Table(
            box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold",
            width=sum(widths.values()) + gap * gaps,
        )  # fmt: skip
        for k in shown:
            side: Any = "right" if k in right else "left"
            table.add_column(styled(heads[k]), justify=side, width=widths[k], overflow="fold")
        for row in body:
            table.add_row(*(row[k] for k in shown))
        with self.console.capture() as lines:
            self.console.print(table, width=self.console.width - indent, crop=False)
        for line in lines.get().splitlines():
            print((" " * indent + line).rstrip(), file=self.console.file)


def print_table(
    about: tuple[str, str],
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int],
    more: str = "",
    notes: Iterable[str] = (),
) -> None:
    """Print the subject of a table as a word and a text, the table, a sentence and notes."""
    printer = Printer()
    printer.line((about[0], "bold"), f"  {about[1]}")
    printer.table(heads, rows, right=right)
    if more:
        printer.wrapped(styled(more))
    printer.notes(notes)


def say_written(**files: Path | None) -> None:
    """Name the files written, on stderr: stdout is for the result alone."""
    for kind, path in files.items():
        if path is not None:
            print(f"{kind} written to {path}", file=sys.stderr)


def print_screen(document: Document, more: str) -> None:
    """Verdict, five figures and the curve in the rows of a small terminal; then ``more``."""
    from rich.console import Console

    from memcurve.core.notes import counted

    printer = Printer()
    screen = Console(width=min(printer.console.width, _SCREEN_COLUMNS))
    if document.notes:
        more = f"{counted(len(document.notes), 'note')} on these numbers: {more}"

    def rows(text: str, less: int = 0) -> int:
        return len(styled(text).wrap(screen, screen.width - less))

    curves = (s.chart for s in document.sections if s.chart and "lag" in s.chart.x_label)
    chart, figures = next(curves, None), document.figures[:_SCREEN_FIGURES]
    # below the prompt that follows; two rows are empty, and a chart takes three besides its own
    free = _SCREEN_ROWS - 3 - rows(document.title) - len(figures) - rows(more)
    verdict: list[str] = []
    for sentence in document.verdict:
        taken = rows(f"{'' if verdict else document.word}. {sentence}", 2)
        if not verdict or taken + (3 + _LEAST_HEIGHT if chart else 0) <= free:
            verdict.append(sentence)
            free -= taken
    _print_head(printer, dataclasses.replace(document, verdict=verdict, figures=figures))
    if chart is not None and free >= 3 + _LEAST_HEIGHT:
        _print_chart(printer, chart, min(_PLOT_HEIGHT, free - 3))
    printer.paragraph(more, "dim")


def print_document(document: Document) -> None:
    """Verdict, figures, sections and each chart's first line; files and pipes get whole lines."""
    from memcurve.rendering.report.document import NOTES, one_line, split_paragraphs

    printer = Printer()
    _print_head(printer, document, document.subtitle)
    for section in document.sections:
        printer.title(section.title)
        for paragraph in split_paragraphs(section.text):
            printer.paragraph(paragraph)
        if section.chart is not None:
            _print_chart(printer, section.chart, _PLOT_HEIGHT)
        if section.table is not None:
            table = section.table
            head, *rows = [[one_line(cell) for cell in row] for row in (table.head, *table.rows)]
            printer.table(head, rows, right=table.numeric, indent=0)
        for point in section.points:
            printer.paragraph(point, bullet="• ")
    if document.notes:
        printer.title(NOTES)
        printer.notes(document.notes)
    if document.footer.strip():
        printer.title(document.footer, "dim")


def _print_head(printer: Printer, document: Document, subtitle: str = "") -> None:
    """Title, verdict and figures."""
    from rich.text import Text

    from memcurve.rendering.report.document import one_line

    console = printer.console
    printer.paragraph(document.title, "bold")
    if subtitle.strip():
        printer.paragraph(subtitle, "dim")
    tone = {True: "green", False: "red", None: "cyan"}[document.good]
    for k, sentence in enumerate(document.verdict):
        text = styled(one_line(sentence))
        if k == 0:
            console.print()
            text = Text.assemble((f"{one_line(document.word)}. ", f"bold {tone}"), text)
        printer.wrapped(text, "| " if console.options.ascii_only else "▌ ", tone)
    if document.figures:
        console.print()
        width = max(len(name) for name, _ in document.figures)
        for name, value in document.figures:
            printer.line((f"{name:>{width}}", "dim"), "  ", (value, "bold"))


def _print_chart(printer: Printer, chart: Chart, height: int) -> None:
    if chart.kind != "lines" or printer.console.options.ascii_only:
        return
    lines = plot_lines(chart, min(_PLOT_WIDTH, printer.console.width - 16), height)
    if lines:
        name = next(series.name for series in chart.series if series.shown)
        printer.paragraph(f"{chart.y_label} over {chart.x_label}: {name}", "dim")
    for line in lines:
        printer.line(line)


def plot_lines(chart: Chart, width: int = _PLOT_WIDTH, height: int = _PLOT_HEIGHT) -> list[str]:
    """The first shown series of a chart as columns of blocks with both axes' ends; or no lines."""
    import numpy as np

    first = next((series for series in chart.series if series.shown), None)
    if first is None or width < 10:
        return []
    is_shown = np.isfinite(first.y) & ((first.x > 0) if chart.log_x else True)
    is_shown &= (first.y > 0) if chart.log_y else True
    x, y = first.x[is_shown], first.y[is_shown]
    if not x.size:
        return []
    across, up = np.log(x) if chart.log_x else x, np.log(y) if chart.log_y else y
    low, high = float(y.min()), float(y.max())
    if not chart.log_y and low > 0:
        low = 0.0
    bottom, top = np.log([low, high]) if chart.log_y else (low, high)
    values = np.interp(np.linspace(across[0], across[-1], width), across, up)
    eighths = np.rint((values - bottom) / ((top - bottom) or 1.0) * 8 * height).astype(int)
    digits = next((n for n in range(3, 16) if f"{low:.{n}g}" != f"{high:.{n}g}"), 3)
    labels = [f"{high:.{digits}g}", *[""] * (height - 2), f"{low:.{digits}g}"]
    margin = max(map(len, labels))
    lines = []
    for row, label in enumerate(labels):
        filled = np.clip(eighths - 8 * (height - 1 - row), 0, 8)
        lines.append(f"{label:>{margin}} │{''.join(_BLOCKS[k] for k in filled)}".rstrip())
    left, right = f"{x.min():.3g}", f"{x.max():.3g}"
    lines.append(f"{'':{margin}} └{'─' * width}")
    lines.append(f"{'':{margin}}  {left}{right:>{width - len(left)}}")
    return lines
