"""Progress of long computations: one keyword, ``progress=``, everywhere.

``False`` shows nothing, ``True`` shows a bar on stderr, or lines now and then where that is no
terminal, and a function is called as ``progress(label, done, total)``, with ``total=None`` where
the end is not known: such a step replaces the one before. ``None`` shows the progress after two
seconds, in terminals and notebooks.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
ProgressCallback = Callable[[str, int, int | None], None]
Progress = bool | ProgressCallback | None

#: Seconds after which progress is shown by itself.
PATIENCE = 2.0
#: Seconds between lines where stderr is no terminal. Doubled: half as many.
BETWEEN_LINES = 10.0


@contextlib.contextmanager
def progress_callback(progress: Progress) -> Iterator[ProgressCallback]:
    """The progress callback, called with (label, done, total)."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TypeError(
            f"`progress` must be True, False, None or a function of (label, done, total); got "
            f"{progress!r:.80}."
        )
    terminal = not callable(progress) and sys.stderr.isatty()
    if callable(progress):
        yield progress
    elif progress or (progress is None and (terminal or is_notebook())):
        with (_bars if terminal else _lines)(0.0 if progress else PATIENCE) as show:
            yield show
    else:
        yield no_progress


def no_progress(label: str, done: int, total: int | None) -> None:
    """Show nothing."""


def is_notebook() -> bool:
    """Whether a kernel runs this, whose output is a page."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return hasattr(shell, "kernel")


@contextlib.contextmanager
def _bars(patience: float) -> Iterator[ProgressCallback]:
    """Progress bars on a terminal, shown once it takes this long."""
    from rich.console import Console
    from rich.progress import BarColumn
    from rich.progress import Progress as Bars

    text, _, *figures = Bars.get_default_columns()
    # half the default width, so that the label fits beside it in 80 columns
    bars = Bars(text, BarColumn(bar_width=20), *figures, console=Console(stderr=True))
    tasks = dict[str | None, Any]()

    def show(label: str, done: int, total: int | None) -> None:
        key = None if total is None else label  # steps of unknown length share one line
        if key not in tasks:
            tasks[key] = bars.add_task(label, total=total)
        bars.update(tasks[key], description=label, completed=done, total=total)

    timer = threading.Timer(patience, bars.start)  # none of work that is soon done
    timer.daemon = True
    (timer.start if patience else bars.start)()
    try:
        yield show
    finally:
        timer.cancel()
        if patience:
            timer.join()
        if None in tasks:
            bars.remove_task(tasks[None])
        bars.stop()


@contextlib.contextmanager
def _lines(patience: float) -> Iterator[ProgressCallback]:
    """Lines in a notebook, pipe or file, now and then; none for short computations."""
    from memcurve.core.limits import in_words

    begun, due = dict[str, tuple[float, int]](), time.monotonic() + max(patience, PATIENCE)

    def show(label: str, done: int, total: int | None) -> None:
        nonlocal due
        now, line = time.monotonic(), label if total is None else f"{label}: {done:,} of {total:,}"
        if not begun and done and total is not None:
            print(f"{line} were done before", file=sys.stderr, flush=True)
        start, before = begun.setdefault(label, (now, done))
        if now < due:
            return
        due, rate = now + BETWEEN_LINES, (done - before) / max(now - start, 1e-9)
        if rate and total is not None:
            line += f", {rate:,.2g} per second, about {in_words((total - done) / rate)} left"
        print(line, file=sys.stderr, flush=True)

    yield show


def tracked(items: Iterable[T], label: str, total: int, progress: Progress) -> Iterator[T]:
    """Go through ``items`` and report progress after each."""
    with progress_callback(progress) as notify:
        notify(label, 0, total)
        for done, item in enumerate(items, 1):
            yield item
            notify(label, done, total)
