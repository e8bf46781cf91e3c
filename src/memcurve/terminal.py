"""Results as tables in the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memcurve.comparison import Comparison
    from memcurve.curve import MemoryCurve
    from memcurve.paper import Outcome

# lags shown in the table, besides the horizons
_SHOWN_LAGS = (0, 1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000)


def print_curve(result: MemoryCurve) -> None:
    """The main figures, the memory at some lags, and the notes."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    for name, text in result.summary():
        console.print(f"[bold]{name:>14}[/]  {escape(text)}", soft_wrap=True)
    table = Table("lag", "memory", "± error", "", box=None, padding=(0, 2))
    for column in table.columns[:3]:
        column.justify = "right"
    horizons = {level: result.horizon(level) for level in (0.5, 0.1)}
    shown = sorted({*_SHOWN_LAGS, *(h for h in horizons.values() if h is not None)})
    last = int(result.lags[-1])
    for lag in [s for s in shown if s < last] + [last]:
        firsts = " and ".join(f"{level:g}" for level, h in horizons.items() if h == lag)
        table.add_row(
            str(lag),
            f"{result.values[lag]:.15f}",
            "unknown" if math.isnan(result.error[lag]) else f"{result.error[lag]:.1e}",
            f"first below {firsts}" if firsts else "",
        )
    console.print(table)
    for note in result.notes:
        console.print(f"[yellow]note:[/] {escape(note)}", soft_wrap=True)


def print_comparison(comparison: Comparison) -> None:
    """One row a method."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from memcurve.comparison import HEADER

    console = Console(highlight=False)
    lags = len(comparison.exact)
    name = escape(comparison.exact.network)
    console.print(f"[bold]network[/]  {name}; totals over lags 0 … {lags - 1}", soft_wrap=True)
    table = Table(*HEADER, box=None, padding=(0, 2))
    for column in table.columns[1:4]:
        column.justify = "right"
    for cells in comparison.table():
        table.add_row(*map(escape, cells))
    console.print(table)


def print_comparison_as_json(comparison: Comparison) -> None:
    """The rows without their curves."""
    import dataclasses
    import json

    rows = [dataclasses.asdict(dataclasses.replace(row, curve=None)) for row in comparison.rows]
    for row in rows:
        del row["curve"]
        for key, value in row.items():
            if isinstance(value, float) and value != value:  # NaN is no JSON
                row[key] = None
    print(json.dumps({"network": comparison.exact.network, "rows": rows}, indent=1))


def print_outcomes(outcomes: list[Outcome]) -> None:
    """One row a claim."""
    from rich.console import Console
    from rich.table import Table

    table = Table("where", "claim", "verdict", "figure", box=None, padding=(0, 2, 0, 0))
    for outcome in outcomes:
        table.add_row(outcome.where, outcome.statement, outcome.verdict, outcome.figure)
    Console(highlight=False, markup=False).print(table)
