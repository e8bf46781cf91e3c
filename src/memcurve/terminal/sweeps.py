"""Sweeps in the terminal: what a study would take, what became of it, and both as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from memcurve.terminal.console import plain_table, print_notes, print_table, stdout_console

if TYPE_CHECKING:
    from pathlib import Path

    from memcurve.sweeping import Study, Sweep
    from memcurve.sweeping.run import Estimate

#: A terminal shows so many groups, a file or pipe all of them.
_MOST_ROWS = 60


def print_studies(studies: list[Study]) -> None:
    """The shipped studies by name, with what each asks."""
    table = plain_table("study", "cases", "question", padding=(0, 2, 0, 0))
    table.columns[1].justify = "right"
    for study in studies:
        table.add_row(study.name, f"{study.count:,}", study.title)
    print_table(stdout_console(), table)


def print_sweep(sweep: Sweep) -> None:
    """The summary over seeds, what failed, and the sentence."""
    from rich.markup import escape
    from rich.text import Text

    console = stdout_console()
    if sweep.study and sweep.study.title:
        console.print(f"[bold]{escape(sweep.study.title)}[/]", soft_wrap=True)
    head, *body = sweep.cells(most=_MOST_ROWS if sys.stdout.isatty() else None)
    words = sum(axis in ("ensemble", "mask", "input", "method") for axis in sweep.axes)
    table = plain_table(*map(escape, head), right=len(head))
    for k, name in enumerate(head):
        if words and name in ("ensemble", "mask", "input", "method"):
            table.columns[k].justify = "left"
    for row in body:
        table.add_row(*map(escape, row))
    print_table(console, table)
    print_notes(console, sweep.notes)
    for line in Text(sweep.sentence).wrap(console, console.width):
        line.rstrip()
        console.print(line, soft_wrap=True)


def sweep_content(sweep: Sweep, store: Path) -> dict[str, Any]:
    """Counts, the sentence, the summary, and the cases that failed."""
    return {
        "study": sweep.name,
        "store": str(store),
        "counts": sweep.counts,
        "sentence": sweep.sentence,
        "summary": sweep.summary(),
        "failed": [{"case": row.case, "error": row.error} for row in sweep.failed],
    }


def print_estimate(study: Study, guess: Estimate) -> None:
    """How many cases there are, are done and are left, and about how long those take."""
    from memcurve.sweeping.run import duration

    print(f"{study.name}: {guess.count:,} cases ({study.design})")
    if guess.done is None:
        print("too many to look up which of them are done")
    else:
        print(f"{guess.done:,} done, {guess.failed or 0:,} failed, {guess.pending:,} to compute")
    if guess.seconds is not None:
        several = "1 worker" if guess.workers == 1 else f"{guess.workers} workers"
        print(
            f"about {duration(guess.seconds)} with {several}: an estimate, from {guess.timed} of "
            f"these cases timed here"
        )
    if guess.error is not None:
        print(f"note: not all of those timed succeeded: {guess.error}")


def estimate_content(study: Study, guess: Estimate, store: Path) -> dict[str, Any]:
    """The same as JSON; what is not known is null."""
    return {
        "study": study.name,
        "store": str(store),
        "count": guess.count,
        "done": guess.done,
        "failed": guess.failed,
        "pending": guess.pending,
        "workers": guess.workers,
        "estimated_seconds": guess.seconds,
        "timed_cases": guess.timed,
        "error": guess.error,
    }
