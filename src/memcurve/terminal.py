"""Results as tables in the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from memcurve.comparison import Comparison
    from memcurve.curve import MemoryCurve
    from memcurve.paper import Outcome
    from memcurve.profile import NoiseProfile

# lags shown in the table, besides the horizons
_SHOWN_LAGS = (0, 1, 2, 3, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000, 5000, 10_000)

# inputs whose own curves are shown
_SHOWN_INPUTS = 6


def print_curve(result: MemoryCurve) -> None:
    """The main figures, the memory at some lags, and the notes."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    for name, text in result.summary():
        console.print(f"[bold]{name:>14}[/]  {escape(text)}", soft_wrap=True)
    inputs = result.channels.shape[1]
    channels = [f"input {k}" for k in range(min(inputs, _SHOWN_INPUTS))] if inputs > 1 else []
    head = "horizon" if result.kind == "forecasting" else "lag"
    table = Table(head, result.kind, "± error", *channels, "", box=None, padding=(0, 2))
    for column in table.columns[: 3 + len(channels)]:
        column.justify = "right"
    levels = (0.5, 0.1) if result.kind == "memory" and inputs == 1 else ()
    horizons = {level: result.horizon(level) for level in levels}
    shown = sorted({*_SHOWN_LAGS, *(h for h in horizons.values() if h is not None)})
    first, last = int(result.lags[0]), int(result.lags[-1])
    for lag in [s for s in shown if first <= s < last] + [last]:
        k = lag - first
        firsts = " and ".join(f"{level:g}" for level, h in horizons.items() if h == lag)
        table.add_row(
            str(lag),
            f"{result.values[k]:.{15 if inputs == 1 else 9}f}",
            "unknown" if math.isnan(result.error[k]) else f"{result.error[k]:.1e}",
            *(f"{result.channels[k, j]:.6f}" for j in range(len(channels))),
            f"first below {firsts}" if firsts else "",
        )
    console.print(table)
    _print_notes(console, result.notes)


def print_profile(family: NoiseProfile) -> None:
    """One row a noise level, and the number formats."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    name = escape(family.curves[0].network)
    console.print(f"[bold]network[/]  {name}; {family.noise}", soft_wrap=True)
    table = Table("noise", "usable memory", "± error", "", box=None, padding=(0, 2))
    for column in table.columns[:3]:
        column.justify = "right"
    formats = sorted(family.marks.items(), key=lambda mark: mark[1])
    rows = sorted(zip(family.levels, family.totals, family.total_errors, strict=True))
    for level, total, error in rows:
        passed = [f"{mark}: {value:.1e}" for mark, value in formats if value <= level]
        formats = formats[len(passed) :]
        below = f"above {', '.join(passed)}" if passed else ""
        table.add_row(f"{level:.2e}", f"{total:.6f}", f"{error:.1e}", below)
    console.print(table)
    _print_notes(console, family.notes)


def _print_notes(console: Console, notes: Sequence[str]) -> None:
    from rich.markup import escape

    for note in notes:
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
    setting = escape("".join(f"; {part}" for part in comparison.setting))
    console.print(
        f"[bold]network[/]  {name}{setting}; totals over lags 0 … {lags - 1}", soft_wrap=True
    )
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
