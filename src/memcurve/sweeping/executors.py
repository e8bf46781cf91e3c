"""Where the cases are computed: here, in processes, on a Dask cluster or under MPI.

Each kind is a :class:`Pool` around a ``concurrent.futures.Executor``; what differs between them is
how they start, how they end, and what the loss of a worker looks like.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

from memcurve.arguments import require_number, require_size, table_entry
from memcurve.sweeping.workers import ONE_THREAD, UnusableWorkerError, prepare_process


class Pool(ABC):
    """Workers behind a ``concurrent.futures.Executor``, and what to do when they are lost."""

    #: Whether ``submit`` computes at once, in the calling process.
    inline = False
    #: How many crashes the loss of one task stands for.
    crashes_per_loss = 1

    @property
    @abstractmethod
    def workers(self) -> int:
        """How many tasks run at the same time."""

    @abstractmethod
    def start(self) -> None:
        """Make the pool ready; a pool that is ready stays as it is."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run ``function`` in a worker; a BrokenExecutor says that the pool has to be renewed."""

    def check(self) -> None:  # noqa: B027, for most there is nothing to check
        """Raise if no result can be expected any more; called about once a second."""

    def lost(self, error: BaseException) -> bool:
        """Whether ``error`` means that the worker of this one task died."""
        return False

    def renew(self) -> None:
        """Replace an executor that is broken."""
        raise UnusableWorkerError(
            "the workers have gone. What is finished is kept: run the same command again to go on."
        )

    @abstractmethod
    def stop(self) -> None:
        """End the workers now, whatever they do; may be called again."""

    def finish(self) -> None:
        """End the workers, none of which has anything to do."""
        self.stop()


class SerialPool(Pool):
    """No workers: each task is computed when it is submitted."""

    inline = True
    workers = 1

    def start(self) -> None:
        """There is nothing to start."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Compute it here; Ctrl-C is not an outcome of the task and is passed on."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def stop(self) -> None:
        """There is nothing to stop."""


class _Worker(SpawnProcess):
    """A process that starts with one BLAS thread and deaf to Ctrl-C."""

    def start(self) -> None:
        # libraries read the environment when they are loaded, long before any code of ours runs;
        # and a blocked signal is inherited, whereas one to the driver waits until it is unblocked
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        try:
            with blocked_interrupts():
                super().start()
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


class _Context(SpawnContext):
    """Spawned processes, all of which are known, so that they can be ended."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[_Worker] = []

    def Process(self, *arguments: Any, **options: Any) -> _Worker:  # type: ignore[override]
        """Make a process, as the pool asks for it."""
        process = _Worker(*arguments, **options)
        self.started = [p for p in self.started if p.exitcode is None] + [process]
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
        self._workers = workers
        self._context = _Context()
        self._executor: Executor | None = None

    @property
    def workers(self) -> int:
        """The number of processes."""
        return self._workers

    def start(self) -> None:
        """The processes themselves start when there is something to do."""
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self._workers, mp_context=self._context, initializer=prepare_process
            )

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run it in a process."""
        if self._executor is None:
            raise RuntimeError("the pool has not been started")
        return self._executor.submit(function, *arguments)

    def renew(self) -> None:
        """New processes in place of those of which one has died."""
        self.stop()
        self.start()

    def stop(self) -> None:
        """Kill them: they have nothing that the store does not have or that cannot be redone."""
        executor, self._executor = self._executor, None
        if executor is None:
            return
        executor.shutdown(wait=False, cancel_futures=True)
        for process in self._context.started:
            with contextlib.suppress(ValueError):  # it has been closed
                process.kill()
        for process in self._context.started:
            with contextlib.suppress(ValueError):
                process.join(1)
        self._context.started.clear()

    def finish(self) -> None:
        """Let the processes end by themselves."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=True)


KINDS = ("serial", "processes", "dask", "mpi")


@contextlib.contextmanager
def open_executor(
    kind: str,
    *,
    workers: int | None = None,
    address: str | None = None,
    dask_timeout: float = 60.0,
) -> Iterator[Pool]:
    """Open a pool of workers, and end them when it is left.

    Enter it before the store: under MPI every rank comes here, and those that work for rank 0 go no
    further. They leave by ``SystemExit(0)`` when it has finished.

    Parameters
    ----------
    kind : {"serial", "processes", "dask", "mpi"}
        Where the cases are computed.
    workers : int, optional
        How many processes; one for each core by default. For "processes", and for "dask" without
        an address. Under MPI it is ``mpiexec -n`` that says so, and one rank drives.
    address : str, optional
        A Dask scheduler, e.g. "tcp://10.0.0.1:8786"; without it a cluster on this machine is
        started. Its workers need memcurve, numpy and scipy in the versions of the driver, and one
        process each (``dask worker --nworkers 8 --nthreads 1``): threads of one process take turns.
    dask_timeout : float
        Seconds to wait for a Dask worker, at the start and when all have died.
    """
    table_entry(dict.fromkeys(KINDS), kind, "kind")
    if workers is not None:
        require_size(workers, "workers")
        if kind in ("serial", "mpi") or address is not None:
            remedy = {"serial": "leave it out", "mpi": "use mpiexec -n"}.get(
                kind, "the cluster has the workers it has; leave it out"
            )
            raise ValueError(f"`workers` must not be given for {kind}, got {workers}; {remedy}.")
    if address is not None and kind != "dask":
        raise ValueError(f"`address` is for kind='dask' alone, got {address!r} with {kind!r}.")
    require_number(dask_timeout, "dask_timeout", "of seconds above 0", lambda s: s > 0)
    pool = _pool(kind, workers or _cores(), address, dask_timeout)
    try:
        yield pool
    except BaseException:
        pool.stop()
        raise
    pool.finish()


def _pool(kind: str, workers: int, address: str | None, dask_timeout: float) -> Pool:
    if kind == "dask":
        from memcurve.sweeping.dask_cluster import DaskPool

        return DaskPool(address, workers, dask_timeout)
    if kind == "mpi":
        from memcurve.sweeping.mpi_ranks import MpiPool

        return MpiPool()
    return SerialPool() if kind == "serial" else ProcessPool(workers)


def _cores() -> int:
    """The cores this process may use; Windows cannot wait for more than 61 processes."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return min(multiprocessing.cpu_count(), 61)
