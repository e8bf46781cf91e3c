"""Memory curves and noise profiles as tables."""

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
    from memcurve.curve import MemoryCurve
    from memcurve.profile import NoiseProfile

# inputs whose own curves are shown
_SHOWN_INPUTS = 6


def print_curve(result: MemoryCurve) -> None:
    """The main figures, the memory at some lags, and the notes."""
    console = stdout_console()
    print_named(console, result.summary())
    inputs = result.channels.shape[1]
    channels = [f"input {k}" for k in range(min(inputs, _SHOWN_INPUTS))] if inputs > 1 else []
    head = "horizon" if result.kind == "forecasting" else "lag"
    table = plain_table(head, result.kind, "± error", *channels, "", right=3 + len(channels))
    levels = (0.5, 0.1) if result.kind == "memory" and inputs == 1 else ()
    horizons = {level: result.horizon(level) for level in levels}
    shown = sorted({*SHOWN_LAGS, *(h for h in horizons.values() if h is not None)})
    first, last = int(result.lags[0]), int(result.lags[-1])
    for lag in [s for s in shown if first <= s < last] + [last]:
        k = lag - first
        firsts = " and ".join(f"{level:g}" for level, h in horizons.items() if h == lag)
        table.add_row(
            str(lag),
            f"{result.values[k]:.{15 if inputs == 1 else 9}f}",
            "unknown" if math.isnan(result.error[k]) else f"{result.error[k]:.1e}",
            *(f"{result.channels[k, j]:.6f}" for j in range(len(channels))),
            f"below {firsts} from here on" if firsts else "",
        )
    print_table(console, table)
    print_notes(console, result.notes)


def print_profile(family: NoiseProfile) -> None:
    """One row a noise level, and the number formats."""
    from rich.markup import escape

    console = stdout_console()
    name = escape(family.curves[0].network)
    console.print(f"[bold]network[/]  {name}; {family.noise}", soft_wrap=True)
    table = plain_table("noise", "usable memory", "± error", "", right=3)
    formats = sorted(family.marks.items(), key=lambda mark: mark[1])
    rows = sorted(zip(family.levels, family.totals, family.total_errors, strict=True))
    for level, total, error in rows:
        passed = [f"{mark}: {value:.1e}" for mark, value in formats if value <= level]
        formats = formats[len(passed) :]
        below = f"above {', '.join(passed)}" if passed else ""
        table.add_row(f"{level:.2e}", f"{total:.6f}", f"{error:.1e}", below)
    print_table(console, table)
    print_notes(console, family.notes)
