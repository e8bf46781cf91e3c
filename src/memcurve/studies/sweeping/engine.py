"""The main loop of a sweep: dispatch cases, save results, recover from crashed workers."""

from __future__ import annotations

import contextlib
import functools
import itertools
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Future, wait
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, Self

from memcurve.studies.sweeping.executors import (
    CRASHES_ALLOWED,
    DIED,
    Job,
    Pool,
    UnusableWorkerError,
    run_chunk,
    versions,
)
from memcurve.studies.sweeping.store import CaseOutcome, Store, one_line

#: Key and content, as JSON, of a case without a result.
Pending = tuple[str, str]

#: Chunks queued per worker. Doubled: more to repeat after a crash.
_CHUNKS_PER_WORKER = 4
#: Seconds of work per chunk. Doubled: less overhead, more to lose.
_CHUNK_SECONDS = 0.2
#: Cases per chunk at most. Doubled: hardly faster.
_MOST_AT_ONCE = 256
#: Seconds after which a worker returns what it has. Doubled: results are saved later.
_BUDGET = 2 * _CHUNK_SECONDS
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


#: Called with the counts and the seconds since the start.
ProgressCallback = Callable[[CaseCounts, float], object]


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
    progress: ProgressCallback = lambda counts, seconds: None,
    *,
    case_timeout: float | None = None,
) -> CaseCounts:
    """Run a job on the pending cases of a study, and save each result as soon as it arrives.

    A job, a function at the top level of a module, takes the content of a case and returns
    ``{"values": …, "curve": …}``, each a dict or None. A case whose job raises, ends its process or
    takes more than ``case_timeout`` seconds fails, and the sweep continues with the others. With a
    time limit, each worker runs its cases in a second process.

    ``progress`` is called with the counts (earlier runs included) and the seconds since the start:
    at once, at most ten times a second, and at the end. After Ctrl-C, SIGTERM or a
    KeyboardInterrupt that it raises, :class:`Interrupted` says what is saved.
    """
    run = functools.partial(run_chunk, job, versions(), limit=case_timeout)
    loop = _Loop(store, study, run, pool, progress)
    if not loop.counts.pending:
        progress(loop.counts, 0.0)
        return loop.counts
    with loop.signals:
        try:
            loop.run()
        except KeyboardInterrupt:
            loop.keep_what_has_arrived()
            pool.stop()
            raise Interrupted(loop.counts, store.path, loop.signals.received) from None
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
        run: Callable[..., Any],
        pool: Pool,
        progress: ProgressCallback,
    ) -> None:
        self._store, self._run_chunk, self._pool, self._progress = store, run, pool, progress
        self.counts = CaseCounts(**store.counts(study))
        self.signals = StopSignals()
        self._schedule = Schedule(store.pending(study))
        # futures announce themselves, so that a turn costs the same however many are under way
        self._arrived: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._start = time.monotonic()
        self._reported = self._checked = 0.0

    def run(self) -> None:
        """Until every case has a result."""
        self._report()
        with self.signals.interruptible():
            self._pool.start()
        self._require_workers()
        while (broken := self._send_out()) or self._schedule.tasks:
            if self._bring_in() or broken:
                self._recover()
            self._report()
        self._report(last=True)

    def keep_what_has_arrived(self) -> None:
        """Before the end, without waiting for anything."""
        landed = [future for future in self._arrivals(timeout=0) if _error_of(future) is None]
        self._keep([outcome for future in landed for outcome in self._taken(future)])

    def _send_out(self) -> bool:
        """Give the workers what they can take; returns whether the pool turns out to be broken."""
        pool, schedule = self._pool, self._schedule
        while self.signals.received is None:
            window = 1 if pool.inline else _CHUNKS_PER_WORKER * pool.workers
            task = schedule.next_task(pool.workers, window)
            if task is None:
                return False
            try:
                with self.signals.interruptible() if pool.inline else contextlib.nullcontext():
                    future = pool.submit(self._run_chunk, task.cases, _BUDGET)
            except BrokenExecutor:  # a worker died while nothing was under way
                schedule.put_back(task)
                return True
            schedule.tasks[future] = task
            future.add_done_callback(self._arrived.put)
        raise KeyboardInterrupt

    def _bring_in(self) -> bool:
        """Wait for results and keep all that have arrived; returns whether the pool is broken."""
        finished: list[CaseOutcome] = []
        broken = False
        for future in list(self._arrivals(timeout=_BETWEEN_REPORTS)):
            error = _error_of(future)
            if isinstance(error, BrokenExecutor):
                broken = True  # the task stays under way until all of them have been looked at
            elif error is None or self._pool.lost(error):
                finished += self._taken(future, self._pool.crashes_per_loss)
            else:
                self._keep(finished)
                raise _unusable(error) from error
        self._keep(finished)
        if time.monotonic() - self._checked > _BETWEEN_CHECKS:
            self._checked = time.monotonic()
            self._pool.check()
        return broken

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
        with self.signals.interruptible():  # every task of a broken pool is soon given back
            wait(tasks, timeout=5)
        self._keep([outcome for future in list(tasks) for outcome in self._taken(future)])
        with self.signals.interruptible():
            self._pool.renew()
        self._require_workers()

    def _taken(self, future: Future[Any], crashes: int = 1) -> list[CaseOutcome]:
        """What a task brought back, or whom its worker's death is blamed on."""
        task = self._schedule.tasks.pop(future)
        if future.done() and _error_of(future) is None:
            return self._schedule.finished(task, future.result())
        blamed = self._schedule.crashed(task, crashes)
        return [CaseOutcome(key, None, None, DIED, 0.0) for key, _ in blamed]

    def _require_workers(self) -> None:
        """A task without cases: if that fails again and again, it is not for any of the cases."""
        for left in reversed(range(CRASHES_ALLOWED)):
            error: BaseException | None
            with self.signals.interruptible():
                try:
                    future = self._pool.submit(self._run_chunk, [], 0.0)
                    while not future.done():
                        self._pool.check()
                        time.sleep(0.01)
                    error = _error_of(future)
                except BrokenExecutor as broken:
                    error = broken
                if error is None:
                    return
                if left and isinstance(error, BrokenExecutor):
                    self._pool.renew()  # a worker may be killed as it starts, too
                elif not self._pool.lost(error) or not left:  # which may know what it means
                    raise _unusable(error) from error

    def _keep(self, finished: list[CaseOutcome]) -> None:
        if finished:
            self._store.put(finished)
            failed = sum(outcome.error is not None for outcome in finished)
            done, before, pending = self.counts
            new = len(finished)
            self.counts = CaseCounts(done + new - failed, before + failed, pending - new)

    def _report(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if last or now - self._reported >= _BETWEEN_REPORTS:
            self._reported = now
            self._progress(self.counts, now - self._start)


class Chunk(NamedTuple):
    """Cases under way through one call of a worker."""

    cases: list[Pending]
    alone: bool = False


class Schedule:
    """The cases of a study that are waiting or under way.

    When a worker process dies, nobody knows which of the cases under way did it. All of them are
    suspects: they go again one by one, before anything new. A case that was under way at three
    crashes is tried alone; if that crashes as well, the case is the reason.
    """

    def __init__(self, fresh: Iterator[Pending]) -> None:
        self.tasks: dict[Future[Any], Chunk] = {}
        self._fresh, self._at_once = fresh, 1
        self._left_over: deque[Pending] = deque()
        self._suspects: deque[Pending] = deque()
        self._alone: deque[Pending] = deque()
        self._crashes: dict[str, int] = {}
        self._case_seconds: float | None = None

    def next_task(self, workers: int, window: int) -> Chunk | None:
        """The task to send out now, or None if there is none or if enough are under way."""
        under_way = len(self.tasks)
        if self._suspects:
            return Chunk([self._suspects.popleft()]) if under_way < min(workers, window) else None
        if self._crashes and under_way:  # suspects under way: let nothing else come under suspicion
            return None
        if self._alone:
            return Chunk([self._alone.popleft()], alone=True)
        if under_way >= window:
            return None
        count = min(self._at_once, len(self._left_over))
        cases = [self._left_over.popleft() for _ in range(count)]
        cases += itertools.islice(self._fresh, self._at_once - count)
        return Chunk(cases) if cases else None

    def finished(self, task: Chunk, finished: list[CaseOutcome]) -> list[CaseOutcome]:
        """Take note of what a task brought back, and keep for later what it left undone."""
        self._left_over.extend(task.cases[len(finished) :])
        for outcome in finished:
            self._crashes.pop(outcome.key, None)
        if finished:
            seconds = sum(outcome.seconds for outcome in finished) / len(finished)
            before = seconds if self._case_seconds is None else self._case_seconds
            self._case_seconds = max(1e-9, 0.8 * before + 0.2 * seconds)
            fitting = round(_CHUNK_SECONDS / max(self._case_seconds, seconds))
            self._at_once = max(1, min(fitting, 2 * self._at_once, _MOST_AT_ONCE))
        return finished

    def put_back(self, task: Chunk) -> None:
        """Take back a task that no worker has seen."""
        suspect = task.cases[0][0] in self._crashes
        home = self._alone if task.alone else self._suspects if suspect else self._left_over
        home.extendleft(reversed(task.cases))

    def crashed(self, task: Chunk, crashes: int = 1) -> list[Pending]:
        """Take note of a worker's death; returns the cases that are to blame for it."""
        if task.alone:
            self._crashes.pop(task.cases[0][0], None)
            return task.cases
        for case in task.cases:
            count = self._crashes.get(case[0], 0) + (crashes if len(task.cases) == 1 else 1)
            self._crashes[case[0]] = count
            (self._alone if count >= CRASHES_ALLOWED else self._suspects).append(case)
        return []


class StopSignals:
    """Signals that ask the sweep to stop, from entering to leaving the context.

    They do not raise where they happen to arrive, which could be in the middle of anything: they
    set :attr:`received`, which the sweep looks at several times a second. Another one changes
    nothing, not even shortly after leaving, while the caller says what happened. Only within
    :meth:`interruptible` do they raise KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._interruptible = self._left = False
        self._last = 0.0
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
        if self.received is None:
            self._give_back()
        self._left = True  # else the first signal that comes later gives the handlers back

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Within it, a signal raises KeyboardInterrupt at once."""
        self._interruptible = True
        try:
            if self.received:
                raise KeyboardInterrupt
            yield
        finally:
            self._interruptible = False

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            # None: it was set by other than Python and cannot be given back
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._left:
            if time.monotonic() - self._last > _IMPATIENCE:
                self._give_back()
                signal.raise_signal(number)
            return
        self._last = time.monotonic()
        self.received = signal.Signals(number)
        if self._interruptible:
            self._interruptible = False  # a second one must not raise in the midst of the clean-up
            raise KeyboardInterrupt


def _error_of(future: Future[Any]) -> BaseException | None:
    """What went wrong with a task that is over; to be cancelled is one way."""
    return CancelledError() if future.cancelled() else future.exception()


def _unusable(error: BaseException) -> UnusableWorkerError:
    """The error for workers that cannot run any case."""
    if isinstance(error, UnusableWorkerError):
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
