"""Results as tables in the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from memcurve.comparison import Comparison
    from memcurve.curve import MemoryCurve
    from memcurve.data.capacity import Capacity
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


def print_recorded(result: MemoryCurve) -> None:
    """Memory from data: what the checks found, totals, the memory at some lags, and the notes."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    known = result.diagnostics
    findings: Sequence[str] = known.get("findings", ())
    _print_findings(console, findings, "findings" in known)
    for name, text in _recorded_summary(result):
        console.print(f"[bold]{name:>14}[/]  {escape(text)}", soft_wrap=True)
    banded = result.bands is not None
    head = f"{100 * result.options['level']:g} % interval" if banded else "interval"
    table = Table("lag", "memory", head, "", box=None, padding=(0, 2))
    for column in table.columns[:3]:
        column.justify = "right"
    first, last, end = int(result.lags[0]), int(result.lags[-1]), known.get("last_lag", -1)
    shown = sorted({*_SHOWN_LAGS, end, last})
    for lag in [s for s in shown if first <= s <= last]:
        k = lag - first
        low, high = result.bands[k] if result.bands is not None else (math.nan, math.nan)
        table.add_row(
            str(lag),
            f"{result.values[k]:.5f}",
            f"{low:.5f} … {high:.5f}" if banded else "unknown",
            "last significant lag" if lag == end else "",
        )
    console.print(table)
    _print_notes(console, [note for note in result.notes if note not in findings])


def _print_findings(console: Console, findings: Sequence[str], checked: bool) -> None:
    from rich.markup import escape

    if not findings:
        text = "nothing to report" if checked else "left out"
        console.print(f"[bold]{'checks':>14}[/]  {text}")
    for k, finding in enumerate(findings):
        level, _, text = finding.partition(": ")
        colour = {"error": "red", "warning": "yellow"}.get(level, "dim")
        head = "checks" if k == 0 else ""
        console.print(f"[bold]{head:>14}[/]  [{colour}]{level}:[/] {escape(text)}", soft_wrap=True)


def _recorded_summary(result: MemoryCurve) -> list[tuple[str, str]]:
    known = result.diagnostics
    error = "" if math.isnan(result.total_error) else f" ± {result.total_error:.2g}"
    last = result.diagnostics.get("end_lag", result.lags[-1])
    span = f"over lags {result.lags[0]} … {last}"
    rows = [
        ("recording", f"{result.network}: {known['rows']} rows of {known['states']} states"),
        ("estimator", str(result.options["estimator"])),
        ("total memory", f"{result.total:.4f}{error} {span}"),
    ]
    if "total_cut" in known:
        cut = f"{known['total_cut']:.4f} ± {known['total_cut_error']:.2g}"
        rows.append(("total cut", f"{cut} up to the last significant lag, {known['last_lag']}"))
    if "raw_total" in known:
        text = f"{known['raw_total']:.4f} of the coloured input itself, lags not being independent"
        rows.append(("raw total", text))
    return rows


def print_estimators(curves: Sequence[MemoryCurve]) -> None:
    """Estimators of one recording side by side, and the notes of the first."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    first = curves[0]
    findings: Sequence[str] = first.diagnostics.get("findings", ())
    _print_findings(console, findings, "findings" in first.diagnostics)
    console.print(f"[bold]{'recording':>14}[/]  {escape(_recorded_summary(first)[0][1])}")
    table = Table("estimator", "total", "± error", "note", box=None, padding=(0, 2))
    for column in table.columns[1:3]:
        column.justify = "right"
    for curve in curves:
        error = "unknown" if math.isnan(curve.total_error) else f"{curve.total_error:.2g}"
        note = escape(curve.notes[0])
        table.add_row(str(curve.options["estimator"]), f"{curve.total:.4f}", error, note)
    console.print(table)
    _print_notes(console, [note for note in first.notes[1:] if note not in findings])


def print_capacity(result: Capacity) -> None:
    """One row a degree, the total, and the notes."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table("degree", "capacity", "± error", "significant", box=None, padding=(0, 2))
    for column in table.columns:
        column.justify = "right"
    for degree, value in result.by_degree.items():
        counts = f"{len(result.significant(degree))} of {result.count[degree]} targets"
        table.add_row(str(degree), f"{value:.4f}", f"{result.errors[degree]:.2g}", counts)
    counts = f"{len(result.targets)} of {sum(result.count.values())} targets"
    table.add_row("total", f"{result.total:.4f}", f"{result.total_error:.2g}", counts)
    console.print(table)
    console.print(f"at most {result.rank}, the number of linearly independent states")
    _print_notes(console, result.notes)


def print_outcomes(outcomes: list[Outcome]) -> None:
    """One row a claim."""
    from rich.console import Console
    from rich.table import Table

    table = Table("where", "claim", "verdict", "figure", box=None, padding=(0, 2, 0, 0))
    for outcome in outcomes:
        table.add_row(outcome.where, outcome.statement, outcome.verdict, outcome.figure)
    Console(highlight=False, markup=False).print(table)
