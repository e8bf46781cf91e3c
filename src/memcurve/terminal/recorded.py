"""Memory from recorded states as tables: with intervals, by estimator, by degree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from memcurve.terminal.console import (
    SHOWN_LAGS,
    plain_table,
    print_named,
    print_notes,
    print_table,
    stdout_console,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from memcurve.curve import MemoryCurve
    from memcurve.data.capacity import Capacity


def print_recorded(result: MemoryCurve) -> None:
    """Memory from data: what the checks found, totals, the memory at some lags, and the notes."""
    console = stdout_console()
    known = result.diagnostics
    _print_findings(console, known.get("findings"))
    print_named(console, _recorded_summary(result))
    banded = result.bands is not None
    head = f"{100 * result.options['level']:g} % interval" if banded else "interval"
    table = plain_table("lag", "memory", head, "", right=3)
    first, last, end = int(result.lags[0]), int(result.lags[-1]), known.get("last_lag", -1)
    shown = sorted({*SHOWN_LAGS, end, last})
    for lag in [s for s in shown if first <= s <= last]:
        k = lag - first
        low, high = result.bands[k] if result.bands is not None else (math.nan, math.nan)
        table.add_row(
            str(lag),
            f"{result.values[k]:.5f}",
            f"{low:.5f} … {high:.5f}" if banded else "unknown",
            "last significant lag" if lag == end else "",
        )
    print_table(console, table)
    print_notes(console, [note for note in result.notes if note.kind != "finding"])


def _print_findings(console: Console, findings: Sequence[Mapping[str, str]] | None) -> None:
    """Findings as level, name, message and remedy; None where there were no checks."""
    from rich.markup import escape

    if not findings:
        text = "left out" if findings is None else "nothing to report"
        console.print(f"[bold]{'checks':>14}[/]  {text}")
    for k, finding in enumerate(findings or ()):
        level, text = finding["level"], f"{finding['message']}; {finding['remedy']}"
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
    from rich.markup import escape

    console = stdout_console()
    first = curves[0]
    _print_findings(console, first.diagnostics.get("findings"))
    print_named(console, _recorded_summary(first)[:1])
    table = plain_table("estimator", "total", "± error", "note", right=slice(1, 3))
    for curve in curves:
        error = "unknown" if math.isnan(curve.total_error) else f"{curve.total_error:.2g}"
        note = escape(curve.notes[0])
        table.add_row(str(curve.options["estimator"]), f"{curve.total:.4f}", error, note)
    print_table(console, table)
    print_notes(console, [note for note in first.notes[1:] if note.kind != "finding"])


def print_capacity(result: Capacity) -> None:
    """One row a degree, the total, and the notes."""
    console = stdout_console()
    table = plain_table("degree", "capacity", "± error", "significant", right=4)
    for degree, value in result.by_degree.items():
        counts = f"{len(result.significant(degree))} of {result.count[degree]} targets"
        table.add_row(str(degree), f"{value:.4f}", f"{result.errors[degree]:.2g}", counts)
    counts = f"{len(result.targets)} of {sum(result.count.values())} targets"
    table.add_row("total", f"{result.total:.4f}", f"{result.total_error:.2g}", counts)
    print_table(console, table)
    console.print(f"at most {result.rank}, the number of linearly independent states")
    print_notes(console, result.notes)
