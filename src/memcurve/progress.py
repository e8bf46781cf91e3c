"""Progress of long work: one keyword, ``progress=``, everywhere.

``False`` says nothing, ``True`` shows a bar on stderr, and a function is called as
``progress(label, done, total)``, with ``total=None`` where the end is not known: such a step takes
the place of the one before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
Listener = Callable[[str, int, int | None], None]
Progress = bool | Listener


@contextlib.contextmanager
def listening(progress: Progress) -> Iterator[Listener]:
    """The function to call with (label, done, total) as the work goes on."""
    if callable(progress):
        yield progress
    elif not progress:
        yield lambda label, done, total: None
    else:
        from rich.console import Console
        from rich.progress import Progress as Bars

        with Bars(console=Console(stderr=True)) as bars:
            tasks: dict[str | None, Any] = {}

            def show(label: str, done: int, total: int | None) -> None:
                key = None if total is None else label  # steps of unknown length share one line
                if key not in tasks:
                    tasks[key] = bars.add_task(label, total=total)
                bars.update(tasks[key], description=label, completed=done, total=total)

            yield show
            if None in tasks:
                bars.remove_task(tasks[None])


def watched(items: Iterable[T], label: str, total: int, progress: Progress) -> Iterator[T]:
    """Go through ``items`` and tell ``progress`` after each."""
    with listening(progress) as tell:
        tell(label, 0, total)
        for done, item in enumerate(items, 1):
            yield item
            tell(label, done, total)
