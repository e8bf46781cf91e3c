"""The main loop of a sweep: dispatch cases, save results, recover from crashed workers."""

from __future__ import annotations

import contextlib
import functools
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Self

from memcurve.studies.sweeping.executors import (
    CRASHES_ALLOWED,
    DIED,
    Job,
    Pending,
    Pool,
    TaskLostError,
    UnusableWorkerError,
    run_cases_of,
    versions,
)
from memcurve.studies.sweeping.store import CaseOutcome, Store, one_line

#: Tasks queued per worker. Doubled: more to repeat after a crash.
_TASKS_PER_WORKER = 4
#: Seconds of work per task. Doubled: less overhead, more to lose.
_TASK_SECONDS = 0.2
#: Cases per task at most. Doubled: hardly faster.
_MOST_AT_ONCE = 256
#: Seconds between progress reports. Doubled: a slower bar.
_BETWEEN_REPORTS = 0.1
#: Seconds between checks of the pool. Doubled: lost clusters are noticed later.
_BETWEEN_CHECKS = 1.0
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

    A job, a function at the top level of a module, takes the content of a case and returns
    ``{"values": …, "curve": …}``, each a dict or None. A case whose job raises, ends its process or
    takes more than ``case_timeout`` seconds fails, and the sweep continues with the others. With a
    time limit, each worker runs its cases in a second process.

    ``progress`` is called with the counts, earlier runs included: at once, at most ten times a
    second, and at the end. After Ctrl-C, SIGTERM or a KeyboardInterrupt that it raises,
    :class:`Interrupted` says what is saved.
    """
    # a worker returns what it has after twice the time that a task should take
    run = functools.partial(run_cases_of, job, versions(), 2 * _TASK_SECONDS, limit=case_timeout)
    with StopSignals() as signals:
        loop = _Loop(store, study, run, pool, progress, signals)
        try:
            loop.run()
        except KeyboardInterrupt:
            loop.save_what_has_arrived()
            pool.stop()
            counts = CaseCounts(**store.counts(study))
            raise Interrupted(counts, store.path, signals.received) from None
        except BaseException:
            pool.stop()
            raise
    return loop.counts


class _Loop:
    """One run over the pending cases."""

    def __init__(
        self,
        store: Store,
        study: int,
        run_task: Callable[..., Any],
        pool: Pool,
        progress: Callable[[CaseCounts], object],
        signals: StopSignals,
    ) -> None:
        self._store, self._run_task, self._pool = store, run_task, pool
        self._progress, self._signals = progress, signals
        self.counts = CaseCounts(**store.counts(study))
        self._schedule = Schedule(store.pending(study))
        # futures announce themselves, so that a turn costs the same however many are under way
        self._arrived: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._outcomes: list[CaseOutcome] = []  # that are to be written
        self._reported = self._checked = 0.0

    def run(self) -> None:
        """Until every case has a result."""
        self._report()
        if not self.counts.pending:
            return
        self._pool.start()
        self._signals.raises = self._pool.inline
        self._require_workers()
        while (is_broken := self._send_out()) or self._schedule.tasks:
            if self._bring_in() or is_broken:
                self._recover()
            self._report()
        self._report(last=True)

    def save_what_has_arrived(self) -> None:
        """Before the end, without waiting for anything."""
        for future in self._arrivals(timeout=0):
            if future.exception() is None:
                self._take(future)
        self._write()

    def _send_out(self) -> bool:
        """Give the workers what they can take; returns whether the pool turns out to be broken."""
        pool, schedule = self._pool, self._schedule
        window = 1 if pool.inline else _TASKS_PER_WORKER * pool.workers
        while cases := schedule.next_cases(pool.workers, window):
            self._signals.check()
            try:
                future = pool.submit(self._run_task, cases)
            except BrokenExecutor:  # a worker died while nothing was under way
                schedule.put_back(cases)
                return True
            schedule.tasks[future] = cases
            future.add_done_callback(self._arrived.put)
        return False

    def _bring_in(self) -> bool:
        """Wait for results and save all that have arrived; returns whether the pool is broken."""
        self._signals.check()
        is_broken = False
        for future in self._arrivals(timeout=_BETWEEN_REPORTS):
            error = future.exception()
            if isinstance(error, BrokenExecutor):
                is_broken = True  # the task stays under way until all of them have been looked at
            elif error is None or isinstance(error, TaskLostError):
                self._take(future)
            else:
                self._write()
                raise _unusable(error) from error
        self._write()
        if time.monotonic() - self._checked > _BETWEEN_CHECKS:
            self._checked = time.monotonic()
            self._pool.check()
        return is_broken

    def _arrivals(self, timeout: float) -> Iterator[Future[Any]]:
        with contextlib.suppress(queue.Empty):
            future = self._arrived.get(timeout=timeout)
            while True:
                if future in self._schedule.tasks:
                    yield future
                future = self._arrived.get_nowait()

    def _recover(self) -> None:
        """Replace the broken pool; what was under way goes again, unless it is to blame."""
        tasks = self._schedule.tasks
        wait(tasks, timeout=5)  # every task of a broken pool is soon given back
        for future in list(tasks):
            self._take(future)
        self._write()
        self._pool.renew()
        self._require_workers()

    def _take(self, future: Future[Any]) -> None:
        """Keep what a task brought back, or what its worker's death is blamed on."""
        cases = self._schedule.tasks.pop(future)
        error = future.exception() if future.done() else BrokenExecutor()
        if error is None:
            self._outcomes += self._schedule.finished(cases, future.result())
        else:  # a task is lost after several deaths
            crashes = CRASHES_ALLOWED if isinstance(error, TaskLostError) else 1
            blamed = self._schedule.crashed(cases, crashes)
            self._outcomes += [CaseOutcome(key, None, None, DIED, 0.0) for key, _ in blamed]

    def _require_workers(self) -> None:
        """A task without cases: if that fails again and again, it is not for any of the cases."""
        error: BaseException | None = None
        for attempt in range(CRASHES_ALLOWED):
            if attempt and isinstance(error, BrokenExecutor):
                self._pool.renew()  # a worker may be killed as it starts, too
            try:
                future = self._pool.submit(self._run_task, [])
                while not wait([future], timeout=0.05).done:
                    self._signals.check()
                    self._pool.check()
                error = future.exception()
            except BrokenExecutor as broken:
                error = broken
            if error is None:
                return
            if not isinstance(error, BrokenExecutor | TaskLostError):
                break
        raise _unusable(error) from error

    def _write(self) -> None:
        if new := self._outcomes:
            self._store.put(new)
            self._outcomes = []
            failed = sum(outcome.error is not None for outcome in new)
            done, before, pending = self.counts
            self.counts = CaseCounts(done + len(new) - failed, before + failed, pending - len(new))

    def _report(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if last or now - self._reported >= _BETWEEN_REPORTS:
            self._reported = now
            self._progress(self.counts)


class Schedule:
    """The cases of a study that are waiting or under way.

    When a worker process dies, nobody knows which of the cases under way did it. All of them are
    suspects: they go again, one per worker, before anything new. A case that was under way at three
    crashes is tried alone; if that crashes as well, the case is the reason.
    """

    def __init__(self, fresh: Iterator[Pending]) -> None:
        self.tasks: dict[Future[Any], list[Pending]] = {}
        self._fresh, self._at_once = fresh, 1
        self._waiting: deque[Pending] = deque()
        self._suspects: list[Pending] = []
        self._crashes: dict[str, int] = {}

    def next_cases(self, workers: int, window: int) -> list[Pending]:
        """The task to send out now; empty if there is none or if enough are under way."""
        under_way = len(self.tasks)
        if self._suspects:
            case = min(self._suspects, key=lambda suspect: self._crashes[suspect[0]])
            is_alone = self._crashes[case[0]] >= CRASHES_ALLOWED
            if under_way >= (1 if is_alone else workers):
                return []
            self._suspects.remove(case)
            return [case]
        # suspects under way: let nothing else come under suspicion
        if under_way >= window or (self._crashes and under_way):
            return []
        while len(self._waiting) < self._at_once and (fresh := next(self._fresh, None)):
            self._waiting.append(fresh)
        count = min(self._at_once, len(self._waiting))
        return [self._waiting.popleft() for _ in range(count)]

    def put_back(self, cases: list[Pending]) -> None:
        """Take back cases that no worker has got to."""
        suspects = [case for case in cases if case[0] in self._crashes]
        self._suspects += suspects
        self._waiting.extendleft(reversed(cases if not suspects else []))

    def finished(self, cases: list[Pending], outcomes: list[CaseOutcome]) -> list[CaseOutcome]:
        """Take note of what a task brought back, and put back what it left undone."""
        for outcome in outcomes:
            self._crashes.pop(outcome.key, None)
        self.put_back(cases[len(outcomes) :])
        seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
        fitting = round(_TASK_SECONDS / max(1e-9, seconds))
        self._at_once = max(1, min(fitting, 2 * self._at_once, _MOST_AT_ONCE))
        return outcomes

    def crashed(self, cases: list[Pending], crashes: int = 1) -> list[Pending]:
        """Take note of a worker's death; returns the case that is to blame for it, if known."""
        for case in cases:
            before = self._crashes.pop(case[0], 0)
            if before >= CRASHES_ALLOWED:  # it was alone
                return [case]
            self._crashes[case[0]] = before + (crashes if len(cases) == 1 else 1)
            self._suspects.append(case)
        return []


class StopSignals:
    """Ctrl-C and SIGTERM, from entering to leaving the context: the next :meth:`check` raises.

    Only while ``raises`` do they raise where they happen to arrive, which could be in the middle of
    starting a process. A second one changes nothing, not even shortly after leaving, while the
    caller says what happened.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self.raises = True
        self._is_left, self._last = False, 0.0
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
        self._is_left = True  # after a signal, the first that comes later gives the handlers back
        if self.received is None:
            self._give_back()

    def check(self) -> None:
        """Raise KeyboardInterrupt if there was a signal."""
        if self.received is not None:
            raise KeyboardInterrupt

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            # None: it was set by other than Python and cannot be given back
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._is_left:
            if time.monotonic() - self._last > _IMPATIENCE:
                self._give_back()
                signal.raise_signal(number)
        elif self.received is None:
            self.received, self._last = signal.Signals(number), time.monotonic()
            if self.raises:
                raise KeyboardInterrupt


def _unusable(error: BaseException | None) -> OSError:
    """The error for workers that cannot run any case."""
    if isinstance(error, OSError):  # which says so itself
        return error
    if isinstance(error, BrokenExecutor):
        return UnusableWorkerError(
            f"no worker process could be started ({one_line(str(error))}); a script must start a "
            f"sweep under `if __name__ == '__main__':`. Finished cases are saved."
        )
    packages = " ".join(f"{name}=={version}" for name, version in versions().items())
    return UnusableWorkerError(
        f"the workers could not run the job ({one_line(f'{type(error).__name__}: {error}')}); they "
        f"need the modules of the job and the versions of the driver: pip install {packages}"
    )
