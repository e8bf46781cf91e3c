"""Methods side by side, as a table and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcurve.terminal.console import plain_table, print_table, stdout_console
from memcurve.terminal.json_text import strict_json

if TYPE_CHECKING:
    from memcurve.comparison import Comparison


def print_comparison(comparison: Comparison) -> None:
    """One row a method."""
    from rich.markup import escape

    from memcurve.comparison import HEADER

    console = stdout_console()
    lags = len(comparison.exact)
    name = escape(comparison.exact.network)
    setting = escape("".join(f"; {part}" for part in comparison.setting))
    console.print(
        f"[bold]network[/]  {name}{setting}; totals over lags 0 … {lags - 1}", soft_wrap=True
    )
    table = plain_table(*HEADER, right=slice(1, 4))
    for cells in comparison.table():
        table.add_row(*map(escape, cells))
    print_table(console, table)


def print_comparison_as_json(comparison: Comparison) -> None:
    """The rows without their curves."""
    print(strict_json(comparison_content(comparison)))


def comparison_content(comparison: Comparison, *, curves: bool = False) -> dict[str, Any]:
    """The rows; with ``curves`` each has its own too, as ``MemoryCurve.from_json`` reads it."""
    import json

    rows: list[dict[str, Any]] = []
    for row in comparison.rows:
        content = {key: value for key, value in vars(row).items() if key != "curve"}
        if curves:
            content["curve"] = None if row.curve is None else json.loads(row.curve.to_json())
        rows.append(content)
    network, setting = comparison.exact.network, list(comparison.setting)
    return {"network": network, "setting": setting, "rows": rows}
