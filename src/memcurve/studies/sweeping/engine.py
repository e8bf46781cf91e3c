"""The main loop of a sweep: dispatch cases, save results, recover from lost workers."""

import contextlib
import math
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Self

from memcurve.studies.sweeping import executors
from memcurve.studies.sweeping.store import CaseOutcome, Cases, Store, fault, one_line

#: Cases queued per worker. Doubled: more to hold in memory.
_CASES_PER_WORKER = 8
#: Seconds between progress reports, and between results on the disk. Doubled: more to lose.
_BETWEEN_REPORTS = 0.1
#: Seconds between checks of the pool. Doubled: lost clusters are noticed later.
_BETWEEN_CHECKS = 1.0
#: Cases that may be lost with all workers that got them. Doubled: more patience with a cluster.
_LOSSES = 20
#: Seconds within which a repeated signal is ignored. Doubled: a second Ctrl-C has to wait longer.
_IMPATIENCE = 2.0


class CaseCounts(NamedTuple):
    """How many cases of a study are done, failed and pending."""

    done: int
    failed: int
    pending: int

    @property
    def finished(self) -> int:
        """Those that have a result, be it an error."""
        return self.done + self.failed

    @property
    def total(self) -> int:
        """All cases of the study."""
        return self.finished + self.pending


class Interrupted(KeyboardInterrupt):
    """The sweep was stopped, by ``signal`` or on request; the message says how to continue."""

    def __init__(self, counts: CaseCounts, store: Path, by: signal.Signals | None) -> None:
        super().__init__(
            f"stopped{f' by {by.name}' if by else ''}: {counts.finished} of {counts.total} cases "
            f"are finished and saved in {store}; run the same command again to continue."
        )
        self.signal = by


def run_cases(
    store: Store,
    cases: Cases,
    job: executors.Job,
    pool: executors.Pool,
    progress: Callable[[CaseCounts], object] = lambda counts: None,
    *,
    case_timeout: float | None = None,
    retry_failed: bool = False,
) -> CaseCounts:
    """Run a job on the cases without a result, and on those that failed with ``retry_failed``.

    A job, a function at the top level of a module, takes the content of a case and returns a dict
    of values; a case fails whose job raises, ends its process or takes too long. ``progress`` gets
    the counts, earlier runs included. After Ctrl-C, SIGTERM or a KeyboardInterrupt that it raises,
    :class:`Interrupted` says what is saved.
    """
    with StopSignals() as signals:
        counts = CaseCounts(**store.counts(cases))
        if retry_failed:
            counts = CaseCounts(counts.done, failed=0, pending=counts.pending + counts.failed)
        pending = store.pending(cases, retry_failed=retry_failed)
        loop = _Loop(
            store, counts, pending, executors.CaseRunner(job, case_timeout), pool, progress
        )
        try:
            loop.run()
        except BaseException as error:
            loop.save_finished()
            pool.stop()
            if not isinstance(error, KeyboardInterrupt):
                raise
            raise Interrupted(loop.counts, store.path, signals.received) from None
    return loop.counts


@dataclass
class _Loop:
    """One run over the pending cases."""

    _store: Store
    counts: CaseCounts
    _fresh: Iterator[executors.Pending]
    _runner: executors.CaseRunner
    _pool: executors.Pool
    _progress: Callable[[CaseCounts], object]

    def __post_init__(self) -> None:
        self._again, self._losses = list[executors.Pending](), 0
        self._tasks: dict[executors.Outcome, executors.Pending] = {}
        # futures announce themselves, so that a turn costs the same however many are under way
        self._arrived: queue.SimpleQueue[executors.Outcome] = queue.SimpleQueue()
        self._unsaved: list[CaseOutcome] = []
        self._reported = self._checked = 0.0

    def run(self) -> None:
        """Until every case has a result."""
        self._report()
        if not self.counts.pending:
            return
        self._pool.start()
        while self._submit():
            self._collect()
            if time.monotonic() - self._reported >= _BETWEEN_REPORTS:
                self._report()
        self._report()

    def save_finished(self) -> None:
        """Save finished results before the end, without waiting."""
        arrived = [future for future in self._arrivals(timeout=0) if not future.exception()]
        self._unsaved += [future.result() for future in arrived]
        self._save()

    def _submit(self) -> bool:
        """Submit cases to free workers; returns whether any are running."""
        window = 1 if self._pool.inline else _CASES_PER_WORKER * self._pool.workers
        while len(self._tasks) < window:
            case = self._again.pop() if self._again else next(self._fresh, None)
            if case is None:
                break
            future = self._pool.run(self._runner, case)
            self._tasks[future] = case
            future.add_done_callback(self._arrived.put)
        return bool(self._tasks)

    def _collect(self) -> None:
        """Wait for results and take all that have arrived."""
        for future in self._arrivals(timeout=_BETWEEN_REPORTS):
            case, error = self._tasks.pop(future), future.exception()
            if error is None:
                self._unsaved.append(future.result())
            elif isinstance(error, executors.TaskLostError) and self._losses < _LOSSES:
                self._losses += 1
                self._again.append(case)
            else:
                raise _unusable(error) from error
        if time.monotonic() - self._checked > _BETWEEN_CHECKS:
            self._checked = time.monotonic()
            self._pool.check()

    def _arrivals(self, timeout: float) -> Iterator[executors.Outcome]:
        with contextlib.suppress(queue.Empty):
            future = self._arrived.get(timeout=timeout)
            while True:
                yield future
                future = self._arrived.get_nowait()

    def _report(self) -> None:
        """Save new results, and report progress."""
        self._save()
        self._progress(self.counts)
        self._reported = time.monotonic()

    def _save(self) -> None:
        if self._unsaved:
            self._store.put(self._unsaved)
            count, failed = len(self._unsaved), sum(one.error is not None for one in self._unsaved)
            done, before, pending = self.counts
            self.counts = CaseCounts(done + count - failed, before + failed, pending - count)
            self._unsaved = []


class StopSignals:
    """In it the first Ctrl-C or SIGTERM is a KeyboardInterrupt; a second one changes nothing."""

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._deaf_until = math.inf
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        # elsewhere Python allows no handlers, and it is the main thread that is interrupted
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                # ignored, as in the background of a shell, it stays so
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        # after a signal, the first that comes later gives the handlers back
        self._deaf_until = time.monotonic() + _IMPATIENCE
        if self.received is None:
            self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            # None: it was set by other than Python and cannot be given back
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received is None:
            self.received = signal.Signals(number)
            raise KeyboardInterrupt
        if time.monotonic() > self._deaf_until:
            self._restore()
            signal.raise_signal(number)


def _unusable(error: BaseException) -> OSError:
    """The error for workers that cannot run any case."""
    if isinstance(error, OSError):  # which says so itself
        return error
    packages = " ".join(f"{name}=={version}" for name, version in executors.versions().items())
    why = one_line(f"{type(error).__name__}: {error}")
    return executors.UnusableWorkerError(fault("unusable", why=why, packages=packages))
