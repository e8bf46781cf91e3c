"""What commands print: tables, notes, JSON.

A terminal has some width; in a file or pipe nothing is cut. Texts are shown as they are, less the
escape sequences that names from files may hold.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

#: Columns of a file or pipe; rich would take 80, or those of the terminal behind, and cut there.
PIPE_WIDTH = 10_000
#: Columns at least; a narrower terminal wraps lines by itself, and better than cells would be.
LEAST_WIDTH = 72

#: Lags shown in tables, besides those that mean something.
SHOWN_LAGS = (0, 1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000)


def stdout_console() -> Console:
    """A console on stdout."""
    from rich.console import Console

    console = Console(highlight=False)
    console.width = max(console.width, LEAST_WIDTH) if sys.stdout.isatty() else PIPE_WIDTH
    return console


def styled(content: str, style: str = "") -> Text:
    """Text without escape sequences, in a style."""
    from rich.text import Text

    from memcurve.report.document import clean

    return Text(clean(content), style=style)


def print_table(
    console: Console,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    right: Collection[int] = (),
    indent: int = 2,
) -> None:
    """Print a table without lines, the columns ``right`` aligned to the right.

    Those are numbers and stay whole; words too long for a narrow terminal are folded, never cut. In
    a file or pipe lines have no blanks at their ends.
    """
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, indent))
    for k, head in enumerate(heads):
        justify: Any = "right" if k in right else "left"
        table.add_column(styled(head), overflow="fold", justify=justify, no_wrap=k in right)
    for row in rows:
        table.add_row(*map(styled, row))
    if sys.stdout.isatty():
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def print_line(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print one line of texts, each as it is or with a style; a terminal wraps it by itself."""
    from rich.text import Text

    texts = [styled(part) if isinstance(part, str) else styled(*part) for part in parts]
    console.print(Text.assemble(*texts), soft_wrap=True)


def print_wrapped(console: Console, text: Text, prefix: str = "", style: str = "") -> None:
    """Print one paragraph, each of its lines behind the prefix."""
    from rich.text import Text

    for line in text.wrap(console, max(console.width - len(prefix), 20)):
        line.rstrip()
        console.print(Text.assemble((prefix, style), line), soft_wrap=True)


def print_named(console: Console, rows: Iterable[tuple[str, str]]) -> None:
    """Print a name and a text a line."""
    for name, text in rows:
        print_line(console, (f"{name:>14}", "bold"), f"  {text}")


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print one note a line."""
    for note in notes:
        print_line(console, ("note:", "yellow"), f" {note}")


def save_plot(result: Any, path: Path) -> None:
    """Draw a result to a file."""
    from memcurve import plot

    plot.save(result.plot(), path)


def say_written(**files: Path | None) -> None:
    """Name the files written, on stderr: stdout is for the result alone."""
    for kind, path in files.items():
        if path is not None:
            print(f"{kind} written to {path}", file=sys.stderr)


def json_text(content: Any) -> str:
    """``content`` as JSON, which has no NaN and no infinity: null stands for "not known"."""
    import json

    return json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False)


def _finite(content: Any) -> Any:
    import math

    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return content
