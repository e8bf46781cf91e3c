"""Worker pools: this process, local processes, a Dask cluster or MPI ranks.

Each is a :class:`Pool` around a ``concurrent.futures.Executor``; they differ in how they start, how
they end, and how the loss of a worker shows. The workers run :func:`run_cases_of`.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, parent_process, resource_tracker, util
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from memcurve.core.arguments import require_number, require_size, table_entry
from memcurve.core.limits import blas_libraries
from memcurve.core.optional import optional
from memcurve.core.result import installed_versions
from memcurve.studies.sweeping.store import CaseOutcome

Job = Callable[[dict[str, Any]], dict[str, Any]]
#: Key and content, as JSON, of a case without a result.
Pending = tuple[str, str]

#: Environment of the workers; BLAS libraries read it once, when they are loaded.
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL", "BLIS")}
#: One case at a time per process, also of a Dask worker with several threads: the number of BLAS
#: threads and warning filters are global.
_ONE_AT_A_TIME = threading.Lock()
#: Crashes after which a suspected case is run alone. Doubled: more work is repeated.
CRASHES_ALLOWED = 3
#: Error of a case that ends its process.
DIED = "the worker process died while it ran this case (a crash, or not enough memory)"
_KEPT = "Finished cases are saved; run the same command again to continue."


class UnusableWorkerError(ChildProcessError):
    """A worker cannot run the job at all, or its results could differ from the driver's."""


class TaskLostError(Exception):
    """Every worker that got this one task died; the pool itself goes on."""


def versions() -> dict[str, str]:
    """The versions on which the digits of a result depend."""
    installed = installed_versions()
    return {package: installed[package] for package in ("memcurve", "numpy", "scipy")}


def run_cases_of(
    job: Job,
    expected: dict[str, str],
    budget: float,
    cases: list[Pending],
    *,
    limit: float | None = None,
) -> list[CaseOutcome]:
    """Run a job on some cases and return their outcomes.

    After ``budget`` seconds the rest is left for later, so that finished cases reach the store. The
    versions of the packages must be ``expected``, those of the driver. A case that takes more than
    ``limit`` seconds fails.
    """
    differing = [f"{n} {v}, not {expected[n]}" for n, v in versions().items() if v != expected[n]]
    if differing:
        raise UnusableWorkerError(
            f"a worker has {' and '.join(differing)}, so results could differ; install the "
            f"versions of the driver on all workers."
        )
    outcomes: list[CaseOutcome] = []
    # one BLAS thread: more are slower here, and another number of them gives other digits
    with _ONE_AT_A_TIME, blas_libraries().limit(limits=1):
        end = time.perf_counter() + budget
        for case in cases:
            if limit is None:
                outcomes.append(_outcome(job, *case))
            else:
                run = functools.partial(run_cases_of, job, expected, 0.0)
                outcomes.append(_within(limit, case, run))
            if time.perf_counter() > end:
                break
    return outcomes


def _outcome(job: Job, key: str, content: str) -> CaseOutcome:
    start = time.perf_counter()
    try:
        result = job(json.loads(content))
        if not isinstance(result, dict) or result.keys() != {"values", "curve"}:
            raise TypeError(f"a job must return a dict of values and curve, got {result!r:.200}")
        return CaseOutcome.of(key, **result, error=None, seconds=time.perf_counter() - start)
    except (Exception, SystemExit) as problem:
        error = f"{type(problem).__name__}: {problem}"
        return CaseOutcome.of(key, None, None, error, time.perf_counter() - start)


def _within(limit: float, case: Pending, run: Callable[[list[Pending]], Any]) -> CaseOutcome:
    """The outcome of a case in a process of its own, which is killed after ``limit`` seconds.

    Nothing less ends a call into a C library that does not return.
    """
    error, start = "", time.perf_counter()
    for _ in range(CRASHES_ALLOWED + 1):  # whoever killed the process need not have meant the case
        try:
            _ASIDE.start()
            _ASIDE.submit(run, []).result()  # its start is no time of the case
            error, start = DIED, time.perf_counter()
            outcome: CaseOutcome = _ASIDE.submit(run, [case]).result(limit)[0]
            return outcome
        except TimeoutError:
            error = f"TimeoutError: ended after {limit:g} s, the limit per case"
            break
        except BrokenProcessPool:
            _ASIDE.stop()
    _ASIDE.stop()
    if not error:
        raise UnusableWorkerError(f"no process could be started for a case. {_KEPT}")
    return CaseOutcome.of(case[0], None, None, error, time.perf_counter() - start)


def prepare_process() -> None:
    """Initialise a worker process: it ignores Ctrl-C and ends when its parent does."""
    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the driver's to handle
    if sys.platform == "linux":
        import ctypes

        # the kernel ends it also where a call into a C library never lets the thread below run
        parent_death_signal = 1  # PR_SET_PDEATHSIG
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)
    if (parent := parent_process()) is not None:

        def watch() -> None:
            connection.wait([parent.sentinel])
            os._exit(1)

        threading.Thread(target=watch, name="parent watch", daemon=True).start()


class Pool:
    """Workers behind a ``concurrent.futures.Executor``, and how to handle their loss."""

    #: Whether ``submit`` computes at once, in the calling process.
    inline = False
    #: How many tasks run at the same time.
    workers = 1
    _executor: Any = None

    def start(self) -> None:
        """Make the pool ready; a pool that is ready stays as it is."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run ``function`` in a worker; a BrokenExecutor says that the pool has to be renewed."""
        future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def check(self) -> None:
        """Raise if no result can be expected any more; called about once a second."""

    def renew(self) -> None:
        """Replace an executor that is broken."""
        raise UnusableWorkerError(f"the workers are gone. {_KEPT}")

    def stop(self) -> None:
        """End the workers now, whatever they do; may be called again."""

    def finish(self) -> None:
        """End the workers, none of which has anything to do."""
        self.stop()


class SerialPool(Pool):
    """No workers: each task is computed when it is submitted."""

    inline = True

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def stop(self) -> None:
        """End what :func:`_within` has started."""
        _ASIDE.stop()


class _Worker(SpawnProcess):
    """A process that starts with one BLAS thread and deaf to Ctrl-C."""

    def start(self) -> None:
        # libraries read the environment when they are loaded, long before any code of ours runs;
        # and a blocked signal is inherited, whereas one to the driver waits until it is unblocked
        before = dict(os.environ)
        os.environ.update(_ONE_THREAD)
        # Dask's workers may have no children, since these could outlive them; ours do not
        ours = multiprocessing.current_process()._config  # type: ignore[attr-defined]
        is_daemon = ours.pop("daemon", False)
        try:
            with blocked_interrupts():
                super().start()
        finally:
            ours["daemon"] = is_daemon
            for name in _ONE_THREAD.keys() - before:
                del os.environ[name]
            os.environ.update({name: before[name] for name in _ONE_THREAD.keys() & before})


class _Context(SpawnContext):
    """Spawned processes, all of which are known, so that they can be ended."""

    started: tuple[_Worker, ...] = ()

    def Process(self, *arguments: Any, **options: Any) -> _Worker:  # type: ignore[override]
        """Make a process, as the pool asks for it."""
        process = _Worker(*arguments, **options)
        self.started = (*(p for p in self.started if p.exitcode is None), process)
        return process


@contextlib.contextmanager
def blocked_interrupts() -> Iterator[None]:
    """Keep Ctrl-C from this thread for a while, and for good from what is started meanwhile."""
    if sys.platform == "win32":
        yield
        return
    # the process that multiprocessing starts aside, with the first of others, unblocks it
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessPool(Pool):
    """Processes on this machine, one BLAS thread each."""

    def __init__(self, workers: int) -> None:
        self.workers, self._context = workers, _Context()

    def start(self) -> None:
        """The processes themselves start when there is something to do."""
        self._executor = self._executor or ProcessPoolExecutor(
            self.workers, mp_context=self._context, initializer=prepare_process
        )

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        try:
            return super().submit(function, *arguments)
        except (OSError, ValueError) as error:
            # where a process dies while another one is being started, the pool closes the pipes
            # that the latter is to inherit
            if getattr(self._executor, "_broken", False):
                raise BrokenProcessPool("a worker died while another was started") from error
            raise

    def renew(self) -> None:
        self.stop()
        self.start()

    def stop(self) -> None:
        """Kill them: they have nothing that the store does not have or that cannot be redone."""
        self._shut_down(wait=False)
        for process in self._context.started:
            # one that has been closed, or was never started
            with contextlib.suppress(ValueError, AttributeError, AssertionError):
                process.kill()
                process.join(1)
        self._context.started = ()

    def finish(self) -> None:
        self._shut_down(wait=True)

    def _shut_down(self, *, wait: bool) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=wait, cancel_futures=True)
            self._executor = None


#: Where this process runs cases that have a time limit; at its end it would wait for it forever.
_ASIDE = ProcessPool(1)
util.Finalize(None, _ASIDE.stop, exitpriority=0)


class MpiPool(Pool):
    """The other ranks of ``mpiexec -n 4 memcurve sweep …``; these never get past making it.

    MPI ends all ranks of a job when one of them dies, the driver included. The store stays whole,
    and the same command goes on; a case that always kills its process is found out by running the
    study in processes, where it becomes a failed row.
    """

    def __init__(self) -> None:
        futures = optional("mpi4py.futures", "a sweep under MPI", "mpi")
        self._world = optional("mpi4py.MPI", "a sweep under MPI", "mpi").COMM_WORLD
        if self._world.Get_size() < 2:
            raise ValueError(
                "kind='mpi' needs at least two ranks, got one: rank 0 drives and the others "
                "compute; run: mpiexec -n 4 memcurve sweep …"
            )
        self._context = contextlib.ExitStack()
        communicator = futures.MPICommExecutor(self._world, root=0)
        self._executor = self._context.enter_context(communicator)  # here the other ranks work
        if self._executor is None:
            raise SystemExit(0)
        self.workers = int(self._world.Get_size()) - 1

    def stop(self) -> None:
        """Drop what is queued and wait a second for what runs; then end the whole job.

        A rank cannot be interrupted, and the driver cannot end before the others.
        """
        self._executor.shutdown(wait=False, cancel_futures=True)
        waiting = threading.Thread(target=self.finish, daemon=True)
        waiting.start()
        waiting.join(1)
        if waiting.is_alive():
            print(f"memcurve: {sys.exception() or 'stopped'}", file=sys.stderr, flush=True)
            self._world.Abort(130)

    def finish(self) -> None:
        self._context.close()  # which does so once


class DaskPool(Pool):
    """The workers of a Dask scheduler, which may come and go.

    Dask itself gives the task of a worker that died to another one, up to its
    ``distributed.scheduler.allowed-failures``; only then is the task lost.
    """

    def __init__(self, address: str, timeout: float) -> None:
        self._distributed = optional("distributed", "a sweep on a Dask cluster", "dask")
        self._address, self._timeout = address, timeout
        self._client: Any = None
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
                self._address, timeout=self._timeout, set_as_default=False
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise ConnectionError(
                f"no Dask scheduler answers at {self._address} ({error}); start one with `dask "
                f"scheduler`, or check the address."
            ) from error
        try:
            self._client.wait_for_workers(1, timeout=self._timeout)
        except (OSError, TimeoutError):
            raise self._abandoned() from None
        self.workers = max(1, len(self._client.nthreads()))
        self._last_seen = time.monotonic()
        threading.Thread(target=self._watch, name="Dask watch", daemon=True).start()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            remote = self._client.submit(function, *arguments, pure=False, retries=5)
            self._client.loop.add_callback(self._hand_over, remote, future)
        except (OSError, RuntimeError) as error:  # the client has been closed
            raise self._disconnected() from error
        return future

    async def _hand_over(self, remote: Any, future: Future[Any]) -> None:
        """Pass the outcome of a task on.

        Dask's own executor looks at the state of a task after it has fetched the result. If the
        worker dies in between the result is lost there, and if the fetching fails its future never
        ends.
        """
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
            raise self._abandoned()

    def stop(self) -> None:
        """Drop what is queued; a scheduler that does not answer must not keep the driver."""
        closing = threading.Thread(target=self.finish, daemon=True)
        closing.start()
        closing.join(1)

    def finish(self) -> None:
        self._closing.set()
        client, self._client = self._client, None
        with contextlib.suppress(Exception):  # what is not there or does not answer is closed
            client.close(timeout=1)

    def _watch(self) -> None:
        """Ask who is there, aside: a scheduler that hangs must not hang the driver."""
        client = self._client
        while not self._closing.wait(min(1.0, self._timeout / 4)):
            with contextlib.suppress(Exception):  # `check` sees that nobody has been seen
                if processes := len(client.nthreads()):  # clusters may grow and shrink
                    self.workers, self._last_seen = processes, time.monotonic()

    def _abandoned(self) -> ConnectionError:
        return ConnectionError(
            f"no Dask worker at {self._address} for {self._timeout:g} s; start some with `dask "
            f"worker {self._address}`. {_KEPT}"
        )

    def _disconnected(self) -> ConnectionError:
        where = self._address
        return ConnectionError(f"the Dask scheduler at {where} is gone; restart it. {_KEPT}")


@contextlib.contextmanager
def open_executor(
    kind: str, *, workers: int | None = None, address: str | None = None, dask_timeout: float = 60.0
) -> Iterator[Pool]:
    """A pool of workers, which end with the context.

    Enter it before the store: under MPI every rank gets here, and those that work for rank 0 leave
    by ``SystemExit(0)`` when it has finished. Dask workers at ``address`` need the driver's
    versions of memcurve, numpy and scipy, and one process each, since threads of one process take
    turns; ``dask_timeout`` is how many seconds to wait for a worker.
    """
    if workers is not None:
        require_size(workers, "workers")
        if kind != "processes":
            raise ValueError(
                f"`workers` is for kind='processes' alone, got {workers} with {kind!r}."
            )
    if (address is not None) != (kind == "dask"):
        raise ValueError(
            f"`address` is that of a Dask scheduler, for kind='dask' alone, which needs one; got "
            f"{address!r} with {kind!r}."
        )
    require_number(dask_timeout, "dask_timeout", "of seconds above 0", lambda s: s > 0)
    pools: dict[str, Callable[[], Pool]] = {
        "serial": SerialPool,
        "processes": lambda: ProcessPool(workers or cores()),
        "dask": lambda: DaskPool(address or "", dask_timeout),
        "mpi": MpiPool,
    }
    pool = table_entry(pools, kind, "kind")()
    try:
        yield pool
    except BaseException:
        pool.stop()
        raise
    pool.finish()


def cores() -> int:
    """The cores this process may use; Windows cannot wait for more than 61 processes."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return min(multiprocessing.cpu_count(), 61)
