"""Progress of a sweep on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from typing import Any, Self

#: Seconds between lines where there is no terminal.
BETWEEN_LINES = 10.0


class Reporter:
    """Called with the numbers of cases done and failed, of all, and the seconds so far."""

    def __init__(self, name: str, *, show: bool = True) -> None:
        self._name, self._show = name, show
        self._bar: Any = None
        self._task: Any = None
        self._before: int | None = None
        self._said = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, done: int, failed: int, total: int, seconds: float) -> None:
        if not self._show:
            return
        finished = done + failed
        if self._before is None:
            self._before = finished
            if finished:
                _say(f"{self._name}: {finished:,} of {total:,} cases were computed before")
        rate = (finished - self._before) / seconds if seconds > 0 else 0.0
        if sys.stderr.isatty():
            self._draw(finished, failed, total, rate)
        elif seconds - self._said >= BETWEEN_LINES:
            self._said = seconds
            left = f", about {duration((total - finished) / rate)} left" if rate else ""
            bad = f", {failed:,} failed" if failed else ""
            _say(f"{self._name}: {finished:,} of {total:,} cases{bad}, {_per_second(rate)}{left}")

    def _draw(self, finished: int, failed: int, total: int, rate: float) -> None:
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
                TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task(self._name, total=total, note="")
            self._bar.start()
        left = f", {duration((total - finished) / rate)} left" if rate else ""
        bad = f", {failed:,} failed" if failed else ""
        note = f"{_per_second(rate)}{left}{bad}" if rate else "starting"
        self._bar.update(self._task, completed=finished, note=note)


def duration(seconds: float) -> str:
    """A time as one says it: 8 s, 3 min, 2.5 h, 4 days."""
    for unit, length, most in (("s", 1.0, 100), ("min", 60.0, 100), ("h", 3600.0, 50)):
        if seconds < most * length:
            value = seconds / length
            return f"{value:.1f} {unit}" if 0 < value < 9.95 else f"{value:.0f} {unit}"
    return f"{seconds / 86400:,.0f} days"


def _per_second(rate: float) -> str:
    return f"{rate:,.1f} a second" if rate >= 0.1 else f"{60 * rate:.1f} a minute"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
