"""The main loop of a sweep: dispatch cases, save results, recover from lost workers."""

from __future__ import annotations

import contextlib
import math
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Self

from memcurve.studies.sweeping.executors import (
    TASK_SECONDS,
    CaseRunner,
    Job,
    Outcomes,
    Pending,
    Pool,
    TaskLostError,
    UnusableWorkerError,
    versions,
)
from memcurve.studies.sweeping.store import CaseOutcome, Store, one_line

#: Tasks queued per worker. Doubled: more to repeat after a crash.
_TASKS_PER_WORKER = 4
#: Cases per task at most. Doubled: hardly faster.
_MOST_AT_ONCE = 256
#: Seconds between progress reports. Doubled: a slower bar.
_BETWEEN_REPORTS = 0.1
#: Seconds between checks of the pool. Doubled: lost clusters are noticed later.
_BETWEEN_CHECKS = 1.0
#: Tasks that may be lost with all workers that got them. Doubled: more patience with a cluster.
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
    study: int,
    job: Job,
    pool: Pool,
    progress: Callable[[CaseCounts], object] = lambda counts: None,
    *,
    case_timeout: float | None = None,
) -> CaseCounts:
    """Run a job on the pending cases of a study, and save each result as soon as it arrives.

    A job, a function at the top level of a module, takes the content of a case and returns a dict
    of values. A case whose job raises, ends its process or takes more than ``case_timeout`` seconds
    fails, and the sweep continues with the others.

    ``progress`` is called with the counts, earlier runs included: at once, at most ten times a
    second, and at the end. After Ctrl-C, SIGTERM or a KeyboardInterrupt that it raises,
    :class:`Interrupted` says what is saved.
    """
    with StopSignals() as signals:
        loop = _Loop(store, study, CaseRunner(job, case_timeout), pool, progress)
        try:
            loop.run()
        except BaseException as error:
            loop.save_what_has_arrived()
            pool.stop()
            if not isinstance(error, KeyboardInterrupt):
                raise
            counts = CaseCounts(**store.counts(study))
            raise Interrupted(counts, store.path, signals.received) from None
    return loop.counts


class _Loop:
    """One run over the pending cases."""

    def __init__(
        self,
        store: Store,
        study: int,
        runner: CaseRunner,
        pool: Pool,
        progress: Callable[[CaseCounts], object],
    ) -> None:
        self._store, self._runner, self._pool = store, runner, pool
        self._progress, self._losses = progress, 0
        self.counts = CaseCounts(**store.counts(study))
        self._fresh, self._waiting = store.pending(study), deque[Pending]()
        self._tasks: dict[Outcomes, list[Pending]] = {}
        self._at_once = 1  # cases per task
        # futures announce themselves, so that a turn costs the same however many are under way
        self._arrived: queue.SimpleQueue[Outcomes] = queue.SimpleQueue()
        self._reported = self._checked = 0.0

    def run(self) -> None:
        """Until every case has a result."""
        self._report()
        if not self.counts.pending:
            return
        self._pool.start()
        while self._send_out():
            self._bring_in()
            self._report()
        self._report(last=True)

    def save_what_has_arrived(self) -> None:
        """Before the end, without waiting for anything."""
        arrived = [future for future in self._arrivals(timeout=0) if not future.exception()]
        self._write([outcome for future in arrived for outcome in future.result()])

    def _send_out(self) -> bool:
        """Give the workers what they can take; returns whether anything is under way."""
        while cases := self._next_cases():
            future = self._pool.run(self._runner, cases)
            self._tasks[future] = cases
            future.add_done_callback(self._arrived.put)
        return bool(self._tasks)

    def _next_cases(self) -> list[Pending]:
        """The task to send out now; empty if there is none or if enough are under way."""
        window = 1 if self._pool.inline else _TASKS_PER_WORKER * self._pool.workers
        if len(self._tasks) >= window:
            return []
        while len(self._waiting) < self._at_once and (fresh := next(self._fresh, None)):
            self._waiting.append(fresh)
        count = min(self._at_once, len(self._waiting))
        return [self._waiting.popleft() for _ in range(count)]

    def _bring_in(self) -> None:
        """Wait for results and save all that have arrived."""
        outcomes: list[CaseOutcome] = []
        problem = None
        for future in self._arrivals(timeout=_BETWEEN_REPORTS):
            cases, error = self._tasks.pop(future), future.exception()
            if isinstance(error, TaskLostError) and self._losses < _LOSSES:
                self._losses += 1
                self._waiting.extend(cases)
            elif error is not None:
                problem = error
            else:
                outcomes += self._finished(cases, future.result())
        self._write(outcomes)
        if problem is not None:
            raise _unusable(problem) from problem
        if time.monotonic() - self._checked > _BETWEEN_CHECKS:
            self._checked = time.monotonic()
            self._pool.check()

    def _arrivals(self, timeout: float) -> Iterator[Outcomes]:
        with contextlib.suppress(queue.Empty):
            future = self._arrived.get(timeout=timeout)
            while True:
                yield future
                future = self._arrived.get_nowait()

    def _finished(self, cases: list[Pending], outcomes: list[CaseOutcome]) -> list[CaseOutcome]:
        """Take back what a task left undone, and choose how many cases the next ones have."""
        self._waiting.extendleft(reversed(cases[len(outcomes) :]))
        seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
        fitting = round(TASK_SECONDS / max(1e-9, seconds))
        self._at_once = max(1, min(fitting, 2 * self._at_once, _MOST_AT_ONCE))
        return outcomes

    def _write(self, outcomes: list[CaseOutcome]) -> None:
        if outcomes:
            self._store.put(outcomes)
            failed = sum(outcome.error is not None for outcome in outcomes)
            done, before, pending = self.counts
            succeeded = len(outcomes) - failed
            self.counts = CaseCounts(done + succeeded, before + failed, pending - len(outcomes))

    def _report(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if last or now - self._reported >= _BETWEEN_REPORTS:
            self._reported = now
            self._progress(self.counts)


class StopSignals:
    """From entering to leaving the context, the first Ctrl-C or SIGTERM is a KeyboardInterrupt.

    A second one changes nothing, not even shortly after leaving, while the caller says what
    happened.
    """

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
            self._give_back()

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            # None: it was set by other than Python and cannot be given back
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.received is None:
            self.received = signal.Signals(number)
            raise KeyboardInterrupt
        if time.monotonic() > self._deaf_until:
            self._give_back()
            signal.raise_signal(number)


def _unusable(error: BaseException) -> OSError:
    """The error for workers that cannot run any case."""
    if isinstance(error, OSError):  # which says so itself
        return error
    packages = " ".join(f"{name}=={version}" for name, version in versions().items())
    return UnusableWorkerError(
        f"the workers could not run the job ({one_line(f'{type(error).__name__}: {error}')}); they "
        f"need the modules of the job and the versions of the driver: pip install {packages}"
    )
