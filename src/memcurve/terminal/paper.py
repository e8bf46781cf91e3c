"""The paper's claims after their checks, as a table and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memcurve.terminal.console import plain_table, print_table, stdout_console

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from memcurve.paper import Outcome


def print_outcomes(outcomes: Sequence[Outcome]) -> None:
    """One row a claim."""
    from rich.markup import escape

    table = plain_table("where", "claim", "verdict", "figure", padding=(0, 2, 0, 0))
    for outcome in outcomes:
        cells = (outcome.where, outcome.statement, outcome.verdict, outcome.figure)
        table.add_row(*map(escape, cells))
    print_table(stdout_console(), table)


def paper_content(
    page: Path, figures: Sequence[Path], outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """Where the page and the figures are, and what became of the claims."""
    return {
        "page": str(page),
        "figures": [str(figure) for figure in figures],
        "claims": [dict(vars(outcome)) for outcome in outcomes],
    }
