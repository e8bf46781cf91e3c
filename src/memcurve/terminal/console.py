"""Where tables go: a terminal of some width, or a file or pipe where nothing is cut."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

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


def plain_table(*heads: str, right: int | slice = 0, padding: tuple[int, ...] = (0, 2)) -> Table:
    """A table without lines; ``right`` is the columns aligned to the right, or how many they are.

    Those are numbers and stay whole; words too long for a narrow terminal are folded, never cut.
    """
    from rich.table import Table

    table = Table(box=None, padding=padding)  # type: ignore[arg-type]
    for head in heads:
        table.add_column(head, overflow="fold")
    for column in table.columns[right if isinstance(right, slice) else slice(right)]:
        column.justify, column.no_wrap = "right", True
    return table


def print_table(console: Console, table: Table) -> None:
    """Print a table; in a file or pipe without the blanks that would fill its lines."""
    if sys.stdout.isatty():
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    lines = captured.get().splitlines()
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))


def print_named(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Print a name and a text a line."""
    from rich.markup import escape

    for name, text in rows:
        console.print(f"[bold]{name:>14}[/]  {escape(text)}", soft_wrap=True)


def print_notes(console: Console, notes: Sequence[str]) -> None:
    """Print one note a line."""
    from rich.markup import escape

    for note in notes:
        console.print(f"[yellow]note:[/] {escape(note)}", soft_wrap=True)
