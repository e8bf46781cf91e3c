"""The loop that drives a sweep: send cases out, keep what comes back, survive what breaks."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future, wait
from dataclasses import dataclass
from typing import Any

from memcurve.arguments import require_size
from memcurve.sweeping.encoding import Encoded
from memcurve.sweeping.executors import Pool
from memcurve.sweeping.flight import TASK_SECONDS, Flight, Task
from memcurve.sweeping.sending import cannot_start, error_of, pickled, unusable
from memcurve.sweeping.stopping import StopSignals
from memcurve.sweeping.store import Store
from memcurve.sweeping.workers import Job, run_chunk, versions

#: done, failed, total, and the seconds since the start.
Progress = Callable[[int, int, int, float], object]

_TASKS_PER_WORKER = 4
#: A worker returns what it has when a task took this much longer than planned.
_BUDGET = 2 * TASK_SECONDS
_BETWEEN_REPORTS = 0.1
_BETWEEN_CHECKS = 1.0
_DIED = "the worker process died while it ran this case (a crash, or not enough memory)"


@dataclass(frozen=True)
class Counts:
    """How many cases of a study are done, failed and pending."""

    done: int
    failed: int
    pending: int

    @property
    def total(self) -> int:
        """All cases of the study."""
        return self.done + self.failed + self.pending


class Interrupted(KeyboardInterrupt):
    """The sweep was stopped, by ``signal`` or as asked; the message says how to go on."""

    signal: int | None = None


def run_cases(
    store: Store,
    study_id: int,
    job: Job,
    pool: Pool,
    *,
    window: int | None = None,
    on_progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Counts:
    """Run a job on the pending cases of a study, and keep each result as soon as it is there.

    Results do not depend on the pool or on the order in which they arrive. A job that raises makes
    its case a failed one, with the error in one line, and so does a job that ends its process; the
    sweep goes on with the others.

    Parameters
    ----------
    store : Store
        Where the study has been begun.
    study_id : int
        Its number.
    job : callable
        A function at the top level of a module. It is given the content of a case, and returns
        ``{"values": …, "curve": …}``, each a dict or None.
    pool : Pool
        From :func:`memcurve.sweeping.executors.open_executor`.
    window : int, optional
        How many tasks may be under way; four for each worker by default.
    on_progress : callable, optional
        Called with the numbers of cases done and failed (those of earlier runs included), that of
        all cases, and the seconds since the start: at once, at most ten times a second, and at the
        end.
    stop : callable, optional
        Asked now and then; the sweep stops as by Ctrl-C once it returns True.

    Raises
    ------
    Interrupted
        After Ctrl-C, SIGTERM or ``stop``. The workers have been ended, finished cases are kept.
    """
    if window is not None:
        require_size(window, "window")
    counts = store.counts(study_id)
    if counts["pending"]:
        sweep = _Sweep(store, study_id, job, pool, window, on_progress, stop)
        with sweep.signals:
            try:
                sweep.run()
            except KeyboardInterrupt:
                sweep.keep_what_has_arrived()
                pool.stop()
                stopped = Interrupted(sweep.interruption())
                stopped.signal = sweep.signals.received
                raise stopped from None
            except BaseException:
                pool.stop()
                raise
        counts = store.counts(study_id)
        if counts["pending"]:
            raise RuntimeError(f"{counts['pending']} cases of {store.path} have been left out")
    elif on_progress is not None:
        on_progress(counts["done"], counts["failed"], sum(counts.values()), 0.0)
    return Counts(**counts)


class _Sweep:
    """One run over the pending cases."""

    def __init__(
        self,
        store: Store,
        study_id: int,
        job: Job,
        pool: Pool,
        window: int | None,
        on_progress: Progress | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self._store = store
        self._pool = pool
        self._window = window
        self._on_progress = on_progress
        self._stop = stop
        self._counts = store.counts(study_id)
        self._job = pickled(job)
        self._versions = versions()
        self._flight = Flight(store.pending_texts(study_id))
        # futures announce themselves, so that a turn costs the same however many are under way
        self._arrived: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._start = time.monotonic()
        self._reported = self._checked = 0.0
        self.signals = StopSignals()

    def run(self) -> None:
        """Until every case has a result."""
        self._report()
        with self.signals.interruptible():
            self._pool.start()
        self._require_workers()
        while True:
            broken = self._send_out()
            if not broken and not self._flight.tasks:
                break
            broken |= self._bring_in()
            if broken:
                self._recover()
            self._report()
        self._report(last=True)

    def interruption(self) -> str:
        """What was reached, and how to go on."""
        finished = self._counts["done"] + self._counts["failed"]
        reason = f"stopped by {self.signals.received.name}" if self.signals.received else "stopped"
        return (
            f"{reason}: {finished} of {sum(self._counts.values())} cases are finished and kept in "
            f"{self._store.path}; run the same command again to go on."
        )

    def keep_what_has_arrived(self) -> None:
        """Before the end, without waiting for anything."""
        finished: list[Encoded] = []
        for future in self._arrivals(timeout=0):
            if error_of(future) is None:
                finished += future.result()
        self._keep(finished)

    def _send_out(self) -> bool:
        """Give the workers what they can take; returns whether the pool turns out to be broken."""
        while not self._stop_asked():
            workers = self._pool.workers
            window = 1 if self._pool.inline else self._window or _TASKS_PER_WORKER * workers
            task = self._flight.next_task(workers, window)
            if task is None:
                return False
            future = self._submitted(task)
            if future is None:
                self._flight.not_sent(task)
                return True
            self._flight.tasks[future] = task
            future.add_done_callback(self._arrived.put)
        raise KeyboardInterrupt

    def _submitted(self, task: Task) -> Future[Any] | None:
        arguments = (self._job, self._versions, task.cases, _BUDGET)
        inline = self.signals.interruptible() if self._pool.inline else contextlib.nullcontext()
        try:
            with inline:
                return self._pool.submit(run_chunk, *arguments)
        except BrokenExecutor:  # a worker died while nothing was under way
            return None

    def _bring_in(self) -> bool:
        """Wait for results and keep all that have arrived; returns whether the pool is broken."""
        futures = list(self._arrivals(timeout=_BETWEEN_REPORTS))
        finished: list[Encoded] = []
        broken = False
        for future in futures:
            error = error_of(future)
            if isinstance(error, BrokenExecutor):
                broken = True  # the task stays under way until all of them have been looked at
                continue
            task = self._flight.tasks.pop(future)
            if error is None:
                outcomes = future.result()
                self._flight.landed(task, outcomes)
                finished += outcomes
            elif self._pool.lost(error):
                finished += self._blamed(task, self._pool.crashes_per_loss)
            else:
                self._keep(finished)
                raise unusable(error) from error
        self._keep(finished)
        if time.monotonic() - self._checked > _BETWEEN_CHECKS:
            self._checked = time.monotonic()
            self._pool.check()
        return broken

    def _arrivals(self, timeout: float) -> Iterator[Future[Any]]:
        with contextlib.suppress(queue.Empty):
            future = self._arrived.get(timeout=timeout)
            while True:
                if future in self._flight.tasks:
                    yield future
                future = self._arrived.get_nowait()

    def _recover(self) -> None:
        """Replace the broken pool; what was under way goes again, unless it is to blame."""
        with self.signals.interruptible():  # every task of a broken pool is soon given back
            wait(self._flight.tasks, timeout=5)
        finished: list[Encoded] = []
        for future, task in list(self._flight.tasks.items()):
            del self._flight.tasks[future]
            if future.done() and error_of(future) is None:
                outcomes = future.result()
                self._flight.landed(task, outcomes)
                finished += outcomes
            else:
                finished += self._blamed(task, 1)
        self._keep(finished)
        with self.signals.interruptible():
            self._pool.renew()
        self._require_workers()

    def _blamed(self, task: Task, crashes: int) -> list[Encoded]:
        return [
            Encoded(key, None, None, _DIED, 0.0) for key, _ in self._flight.crashed(task, crashes)
        ]

    def _require_workers(self) -> None:
        """A task without cases: if that fails, it is not for any of the cases."""
        try:
            with self.signals.interruptible():
                future = self._pool.submit(run_chunk, self._job, self._versions, [], 0.0)
                while not future.done():
                    self._pool.check()
                    time.sleep(0.01)
        except BrokenExecutor as error:
            raise cannot_start(error) from error
        problem = error_of(future)
        if isinstance(problem, BrokenExecutor):
            raise cannot_start(problem) from problem
        if problem is not None:
            self._pool.lost(problem)  # which may know better what it means
            raise unusable(problem) from problem

    def _keep(self, finished: list[Encoded]) -> None:
        if not finished:
            return
        self._store.put_encoded(finished)
        failed = sum(outcome.error is not None for outcome in finished)
        self._counts["failed"] += failed
        self._counts["done"] += len(finished) - failed
        self._counts["pending"] -= len(finished)

    def _stop_asked(self) -> bool:
        return self.signals.received is not None or (self._stop is not None and self._stop())

    def _report(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self._on_progress is None or (now - self._reported < _BETWEEN_REPORTS and not last):
            return
        self._reported = now
        done, failed = self._counts["done"], self._counts["failed"]
        self._on_progress(done, failed, sum(self._counts.values()), now - self._start)
