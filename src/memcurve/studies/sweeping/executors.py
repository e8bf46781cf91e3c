"""Worker pools: this process, local processes or a Dask cluster.

Each is a :class:`Pool` that runs a :class:`CaseRunner`; they differ in how they start, how they end
and how the loss of a worker shows. A case that may end its process is run in a
:class:`WorkerProcess`, on a cluster in one beside each worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import connection, parent_process, resource_tracker
from typing import Any

from memcurve.core.arguments import require_number, require_size, table_entry
from memcurve.core.limits import blas_libraries
from memcurve.core.optional import optional
from memcurve.core.result import installed_versions
from memcurve.studies.sweeping.store import CaseOutcome, fault

Job = Callable[[dict[str, Any]], dict[str, Any]]
#: Key and content, as JSON, of a case without a result.
Pending = tuple[str, str]
Outcome = Future[CaseOutcome]

#: Environment of the workers; BLAS libraries read it once, when they are loaded.
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "BLIS")}
#: One case at a time per process, also of a Dask worker with several threads: the number of BLAS
#: threads and warning filters are global.
_ONE_AT_A_TIME = threading.Lock()
#: Deaths of a process after which the case it ran is blamed. Doubled: more is repeated.
_DEATHS = 4
#: Starts of a process that is killed meanwhile. Doubled: more patience where memory is short.
_STARTS = 20
#: Seconds in which a running Dask scheduler answers. Doubled: wrong addresses are found later.
_ANSWER = 20.0
#: Error of a case that ends its process.
DIED = "the worker process died while it ran this case (a crash, or not enough memory)"
_KEPT = "Finished cases are saved; run the same command again to continue."


class UnusableWorkerError(ChildProcessError):
    """A worker cannot run the job at all, or its results could differ from the driver's."""


class TaskLostError(Exception):
    """Every worker that got this one task is gone; the pool itself goes on."""


def versions() -> dict[str, str]:
    """The versions on which the digits of a result depend."""
    installed = installed_versions()
    return {package: installed[package] for package in ("memcurve", "numpy", "scipy")}


@dataclass(frozen=True)
class CaseRunner:
    """Runs a job on a case: here, or in a process that may be killed after ``limit`` seconds."""

    job: Job
    limit: float | None = None
    versions: dict[str, str] = field(default_factory=versions)

    def run_apart(self, case: Pending) -> CaseOutcome:
        """In the process that this one has for it."""
        with _ONE_AT_A_TIME:
            return self.run_in(_OWN_PROCESS, case)

    def run_here(self, case: Pending | None) -> Any:
        """In this process; without a case that gets ready for the first one."""
        for package, version in versions().items():
            if version != (ours := self.versions[package]):
                raise UnusableWorkerError(
                    fault("worker_version", package=package, version=version, ours=ours)
                )
        # one BLAS thread: more are slower here, and another number of them gives other digits
        with _ONE_AT_A_TIME, blas_libraries().limit(limits=1):
            if case is None:
                return None
            (key, content), start = case, time.perf_counter()
            try:
                values = self.job(json.loads(content))
                return CaseOutcome.of(key, values, None, time.perf_counter() - start)
            except (Exception, SystemExit) as problem:
                error = f"{type(problem).__name__}: {problem}"
                return CaseOutcome.of(key, None, error, time.perf_counter() - start)

    def run_in(self, worker: WorkerProcess, case: Pending) -> CaseOutcome:
        """In a process of its own, which is replaced if a case ends it."""
        error, start = DIED, 0.0
        for _ in range(_DEATHS):  # whoever killed the process need not have meant the case
            worker.prepare(self.run_here, None)  # which is no time of the case
            start = time.perf_counter()
            try:
                return CaseOutcome(*worker.call(self.run_here, case, limit=self.limit))
            except WorkerDiedError:
                continue
            except TimeoutError:  # nothing less ends a call into a C library that does not return
                worker.stop()
                error = f"TimeoutError: ended after {self.limit:g} s, the limit per case"
                break
        return CaseOutcome.of(case[0], None, error, time.perf_counter() - start)


class WorkerDiedError(ChildProcessError):
    """A worker process ended in the middle of a call."""

    def __init__(self, exit_code: int | None) -> None:
        super().__init__(f"a worker process died (exit code {exit_code})")
        self.was_killed = exit_code is None or exit_code < 0


class WorkerProcess:
    """A process of one BLAS thread that makes calls, one by one; it starts anew if it has died."""

    _starting = threading.Lock()  # of all of them: a start changes the environment

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Any = None
        self._function: Any = None  # that it has; a job may be large, and is sent once
        self._is_closed = False

    def prepare(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Start it and let it make this call, unless the function is there already."""
        for _ in range(_STARTS):  # it may be killed as it starts, too
            is_alive = self._process is not None and self._process.is_alive()
            if is_alive and function == self._function:
                return
            try:
                self.call(function, *arguments)
            except WorkerDiedError as death:
                if not death.was_killed:  # by itself, as it would again
                    break
        raise UnusableWorkerError(fault("no_process", kept=_KEPT))

    def call(
        self, function: Callable[..., Any], *arguments: Any, limit: float | None = None
    ) -> Any:
        """What the function returns or raises there, within so many seconds."""
        if self._process is None:
            self._spawn()
        try:
            self._pipe.send((None if function == self._function else function, arguments))
            answer = self._pipe.recv() if self._pipe.poll(limit) else None
        except (EOFError, OSError) as error:
            self._process.join(1)
            code = self._process.exitcode
            self.stop()
            raise WorkerDiedError(code) from error
        if answer is None:
            raise TimeoutError(f"no answer within {limit} s")
        is_error, value = answer
        self._function = None if is_error else function
        if is_error:
            raise value
        return value

    def stop(self) -> None:
        """Kill it: all its results are in the store or can be repeated."""
        if self._process is not None:
            self._process.kill()
            self._process.join(1)
            self._pipe.close()
        self._process = self._function = None

    def close(self) -> None:
        """The same from another thread and for good: a call that is under way raises."""
        with self._starting:
            self._is_closed = True
            if (process := self._process) is not None:
                process.kill()
                process.join(1)

    def _spawn(self) -> None:
        with self._starting:
            if self._is_closed:
                raise UnusableWorkerError(f"the workers have been stopped. {_KEPT}")
            context = multiprocessing.get_context("spawn")
            self._pipe, remote_end = context.Pipe()
            process = context.Process(target=_serve, args=(remote_end,), daemon=True)
            with _worker_environment():
                process.start()
            remote_end.close()
            self._process = process


@contextlib.contextmanager
def _worker_environment() -> Iterator[None]:
    """The environment of a worker from its start: one BLAS thread, and Ctrl-C ignored."""
    # libraries read the environment when they are loaded, long before any code of ours runs;
    # and a blocked signal is inherited, whereas one to the driver waits until it is unblocked
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    # Dask's workers may have no children, since these could outlive them; ours do not
    ours = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    is_daemon = ours.pop("daemon", False)
    masked = None
    if sys.platform != "win32":
        # the process that multiprocessing starts aside, with the first of others, unblocks it
        resource_tracker.ensure_running()
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if masked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        ours["daemon"] = is_daemon
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(pipe: Any) -> None:
    """The life of a worker process: it answers calls until its parent ends."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    if sys.platform == "linux":
        import ctypes

        # the kernel ends it also where a call into a C library never lets the thread below run
        parent_death_signal = 1  # PR_SET_PDEATHSIG
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)

    def watch() -> None:
        connection.wait([parent_process().sentinel])  # type: ignore[union-attr]
        os._exit(1)

    threading.Thread(target=watch, name="parent watch", daemon=True).start()
    function: Any = None
    while True:
        try:
            given, arguments = pipe.recv()
            function = given or function
            answer = False, function(*arguments)
        except EOFError:
            return
        except Exception as error:
            answer = True, error
        pipe.send(answer)


#: Where a process runs cases that may have to be ended, if it is no worker process itself.
_OWN_PROCESS = WorkerProcess()


class Pool:
    """Workers behind a ``concurrent.futures.Executor``."""

    #: Whether ``run`` computes at once, in the calling process.
    inline = False
    #: How many tasks run at the same time.
    workers = 1

    def start(self) -> None:
        """Make the pool ready; a pool that is ready stays as it is."""

    def run(self, runner: CaseRunner, case: Pending) -> Outcome:
        """Compute the outcome of a case in a worker."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise if no result can be expected any more; called about once a second."""

    def stop(self) -> None:
        """End the workers now, whatever they do; may be called again."""


class SerialPool(Pool):
    """No workers: each task is computed when it is given."""

    inline = True

    def run(self, runner: CaseRunner, case: Pending) -> Outcome:
        future: Outcome = Future()
        try:
            future.set_result((runner.run_here if runner.limit is None else runner.run_apart)(case))
        except Exception as error:
            future.set_exception(error)
        return future

    def stop(self) -> None:
        _OWN_PROCESS.stop()


class ProcessPool(Pool):
    """Processes on this machine, each with a thread that feeds it."""

    def __init__(self, workers: int) -> None:
        self.workers, self._own = workers, threading.local()
        self._processes: list[WorkerProcess] = []
        self._executor: Any = None

    def start(self) -> None:
        """The processes themselves start when there is something to do."""
        self._executor = self._executor or ThreadPoolExecutor(
            self.workers, initializer=self._add_process
        )

    def _add_process(self) -> None:
        self._own.process = WorkerProcess()
        self._processes.append(self._own.process)

    def run(self, runner: CaseRunner, case: Pending) -> Outcome:
        executor: ThreadPoolExecutor = self._executor
        return executor.submit(lambda: runner.run_in(self._own.process, case))

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of a call in a process, which may raise a WorkerDiedError."""
        return self._executor.submit(lambda: self._own.process.call(function, *arguments))

    def stop(self) -> None:
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False, cancel_futures=True)
        while self._processes:
            self._processes.pop().close()


class DaskPool(Pool):
    """The workers of a Dask scheduler, which itself hands a dead one's task on a few times."""

    def __init__(self, address: str, timeout: float) -> None:
        self._distributed = optional("distributed", "a sweep on a Dask cluster", "dask")
        self._address, self._timeout = address, timeout
        self._client: Any = None
        self._runner: tuple[CaseRunner, Any] | None = None  # and where the cluster has it
        self._last_seen, self._closing = 0.0, threading.Event()

    def start(self) -> None:
        """Connect, and wait for a worker."""
        if self._client is not None:
            return
        # the errors here say what Dask would report on stderr
        for name in list(logging.root.manager.loggerDict):
            if name.startswith("distributed"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = self._distributed.Client(
                self._address, timeout=min(self._timeout, _ANSWER), set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(
                fault("no_scheduler", address=self._address, error=error)
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=self._timeout)
        except (OSError, TimeoutError):
            raise self._no_workers() from None
        self.workers = max(1, len(self._client.nthreads()))
        self._last_seen = time.monotonic()
        threading.Thread(target=self._watch, name="Dask watch", daemon=True).start()

    def run(self, runner: CaseRunner, case: Pending) -> Outcome:
        future: Outcome = Future()
        try:
            if self._runner is None or self._runner[0] is not runner:
                self._runner = runner, self._sent(runner)
            run = CaseRunner.run_apart
            remote = self._client.submit(run, self._runner[1], case, pure=False, retries=5)
            self._client.loop.add_callback(self._hand_over, remote, future)
        except (OSError, RuntimeError) as error:  # the client has been closed
            raise self._disconnected() from error
        return future

    def _sent(self, runner: CaseRunner) -> Any:
        """Its future: a job may be large, and is sent once, as a task that can be repeated."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(copy.copy, runner, pure=False, retries=5)

    async def _hand_over(self, remote: Any, future: Future[Any]) -> None:
        """Pass the outcome of a task on; Dask's own executor loses it if the worker dies then."""
        try:
            future.set_result(await remote.client.gather(remote, asynchronous=True))
        except self._distributed.KilledWorker as error:
            self._last_seen = time.monotonic()  # there were workers, if not for long
            future.set_exception(TaskLostError(str(error)))
        except (asyncio.CancelledError, CancelledError):  # by a scheduler that ended, none else
            future.set_exception(self._disconnected())
        except BaseException as error:
            future.set_exception(error)

    def check(self) -> None:
        if time.monotonic() - self._last_seen > self._timeout:
            raise self._no_workers()

    def stop(self) -> None:
        """Drop queued tasks; a scheduler that does not answer must not block the driver."""
        closing = threading.Thread(target=self._close, daemon=True)
        closing.start()
        closing.join(1)

    def _close(self) -> None:
        self._closing.set()
        client, self._client, self._runner = self._client, None, None
        with contextlib.suppress(Exception):  # what is not there or does not answer is closed
            client.close(timeout=1)

    def _watch(self) -> None:
        """Poll the workers in a thread: a scheduler that hangs must not hang the driver."""
        client = self._client
        while not self._closing.wait(min(1.0, self._timeout / 4)):
            with contextlib.suppress(Exception):  # `check` sees that nobody has been seen
                if processes := len(client.nthreads()):  # clusters may grow and shrink
                    self.workers, self._last_seen = processes, time.monotonic()

    def _no_workers(self) -> ConnectionError:
        facts = {"address": self._address, "seconds": self._timeout, "kept": _KEPT}
        return ConnectionError(fault("no_workers", **facts))

    def _disconnected(self) -> ConnectionError:
        where = self._address
        return ConnectionError(f"the Dask scheduler at {where} is gone; restart it. {_KEPT}")


@contextlib.contextmanager
def open_executor(
    executor: str,
    *,
    workers: int | None = None,
    address: str | None = None,
    dask_timeout: float = 60.0,
) -> Iterator[Pool]:
    """A pool of workers that end with the context; ``dask_timeout`` is how long to wait for one."""
    if workers is not None:
        require_size(workers, "workers")
        if executor != "processes":
            raise ValueError(fault("workers", workers=workers, executor=executor))
    if (address is not None) != (executor == "dask"):
        raise ValueError(fault("address", address=address, executor=executor))
    require_number(dask_timeout, "dask_timeout", "of seconds above 0", lambda s: s > 0)
    pools: dict[str, Callable[[], Pool]] = {
        "serial": SerialPool,
        "processes": lambda: ProcessPool(workers or cores()),
        "dask": lambda: DaskPool(address or "", dask_timeout),
    }
    pool = table_entry(pools, executor, "executor")()
    try:
        yield pool
    finally:
        pool.stop()


def cores() -> int:
    """The cores this process may use; Windows cannot wait for more than 61 processes."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return min(multiprocessing.cpu_count(), 61)
