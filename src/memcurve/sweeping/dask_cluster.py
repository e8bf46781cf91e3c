"""A Dask cluster as the place where cases are computed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from typing import Any

from memcurve.optional import optional
from memcurve.sweeping.executors import Pool, blocked_interrupts
from memcurve.sweeping.workers import UnusableWorkerError, versions

#: What Dask calls the processes of a cluster on this machine.
_WORKER_NAME = "Dask Worker process"
_KEPT = "What is finished is kept: run the same command again to go on."


class DaskPool(Pool):
    """The workers of a Dask scheduler, or of a cluster of processes started on this machine.

    Dask itself gives the task of a worker that died to another one, up to its
    ``distributed.scheduler.allowed-failures``; only then is the task lost.
    """

    crashes_per_loss = 3

    def __init__(self, address: str | None, workers: int, timeout: float) -> None:
        self._distributed = optional("distributed", "a sweep on a Dask cluster", "dask")
        self._address = address
        self._asked_for = workers
        self._timeout = timeout
        self._client: Any = None
        self._cluster: Any = None
        self._processes = 1
        self._last_seen = 0.0
        self._log_levels: dict[logging.Logger, int] = {}
        self._closing = threading.Event()

    @property
    def workers(self) -> int:
        """The worker processes there are now; clusters may grow and shrink."""
        return self._processes

    def start(self) -> None:
        """Connect, and make sure that there are workers and that they are like the driver."""
        if self._client is not None:
            return
        self._log_levels = _silenced()
        if self._address is None:
            self._start_cluster()
        where = self._address or self._cluster
        try:
            self._client = self._distributed.Client(
                where, timeout=self._timeout, set_as_default=False
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
        self._require_equal_workers()
        self._last_seen = time.monotonic()
        threading.Thread(target=self._watch, name="Dask watch", daemon=True).start()

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run it on some worker."""
        if self._client is None:
            raise RuntimeError("the pool has not been started")
        future: Future[Any] = Future()
        try:
            remote = self._client.submit(function, *arguments, pure=False, retries=5)
            self._client.loop.add_callback(_hand_over, self._client, remote, future)
        except (OSError, RuntimeError) as error:  # the client has been closed
            raise self._disconnected() from error
        return future

    def check(self) -> None:
        """Raise if no worker has been there for the time that was set."""
        if time.monotonic() - self._last_seen > self._timeout:
            raise self._abandoned()

    def lost(self, error: BaseException) -> bool:
        """Whether Dask gave a task up since every worker that tried it died."""
        if isinstance(error, CancelledError):  # nobody but a scheduler that ended cancels tasks
            raise self._disconnected() from error
        if not isinstance(error, self._distributed.KilledWorker):
            return False
        self._last_seen = time.monotonic()  # there were workers, if not for long
        return True

    def stop(self) -> None:
        """Drop what is queued; a cluster that was started here ends, others stay."""
        self._closing.set()
        client, cluster = self._client, self._cluster
        self._client = self._cluster = None
        if client is None and cluster is None:
            return
        closing = threading.Thread(target=_close, args=(client, cluster), daemon=True)
        closing.start()
        if cluster is not None:
            cluster.shutdown_on_close = False  # the interpreter would wait for it once more
            closing.join(0.1)  # so that those that are killed are not replaced
            for process in multiprocessing.active_children():
                if process.name.startswith(_WORKER_NAME):
                    process.kill()
        closing.join(1)  # a scheduler that does not answer must not keep the driver

    def finish(self) -> None:
        """Close what has nothing left to do."""
        self._closing.set()
        _close(self._client, self._cluster)
        self._client = self._cluster = None
        for logger, level in self._log_levels.items():
            logger.setLevel(level)

    def _start_cluster(self) -> None:
        """Start it in a thread to which Ctrl-C means nothing, as do then its processes.

        They inherit what is blocked. Dask's own would end, with a traceback each, and be replaced.
        """
        dask = optional("dask", "a sweep on a Dask cluster", "dask")
        problems: list[BaseException] = []

        def start() -> None:
            try:
                # a case that kills its worker is tried again by the sweep itself
                few = dask.config.set({"distributed.scheduler.allowed-failures": 1})
                with blocked_interrupts(), few:
                    self._cluster = self._distributed.LocalCluster(
                        n_workers=self._asked_for,
                        threads_per_worker=1,
                        dashboard_address=None,
                        silence_logs=logging.CRITICAL,
                    )
            except BaseException as error:
                problems.append(error)

        starting = threading.Thread(target=start, daemon=True)
        starting.start()
        while starting.is_alive():
            starting.join(0.1)
        if problems:
            raise UnusableWorkerError(
                f"no Dask cluster could be started on this machine ({problems[0]}); a script that "
                f"starts a sweep has to do so under `if __name__ == '__main__':`."
            ) from problems[0]

    def _watch(self) -> None:
        """Ask who is there, aside: a scheduler that hangs must not hang the driver."""
        client = self._client
        while not self._closing.wait(min(1.0, self._timeout / 4)):
            with contextlib.suppress(Exception):  # `check` sees that nobody has been seen
                processes = len(client.nthreads())
                if processes:
                    self._processes, self._last_seen = processes, time.monotonic()

    def _require_equal_workers(self) -> None:
        found = self._client.run(_carried_by_value())
        self._processes = max(1, len(found))
        ours = versions()
        problems = list(_differences(found, ours))
        if problems:
            wanted = " ".join(f"{name}=={version}" for name, version in ours.items())
            raise UnusableWorkerError(
                f"Dask workers must have the packages of the driver, so that results do not depend "
                f"on where they are computed: {'; '.join(problems)}. Run there: pip install "
                f"{wanted}"
            )

    def _abandoned(self) -> ConnectionError:
        where = self._address or "the cluster on this machine"
        return ConnectionError(
            f"no Dask worker at {where} for {self._timeout:g} s; start some with `dask worker "
            f"{self._address or 'ADDRESS'}`. {_KEPT}"
        )

    def _disconnected(self) -> ConnectionError:
        where = self._address or "this machine"
        return ConnectionError(f"the Dask scheduler at {where} has gone; start it again. {_KEPT}")


async def _hand_over(client: Any, remote: Any, future: Future[Any]) -> None:
    """Pass the outcome of a task on.

    Dask's own executor looks at the state of a task after it has fetched the result. If the worker
    dies in between the result is lost there, and if the fetching fails its future never ends.
    """
    try:
        result = await client.gather(remote, asynchronous=True)
    except asyncio.CancelledError:
        future.set_exception(CancelledError())
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


def _carried_by_value() -> Callable[[], dict[str, str | None]]:
    """A function that runs on workers without memcurve: pickle sends local ones with their code."""

    def found() -> dict[str, str | None]:
        import importlib

        # not what the distribution says, but what a job would import
        homes = {"memcurve": "memcurve.version", "numpy": "numpy", "scipy": "scipy"}
        there: dict[str, str | None] = {}
        for package, home in homes.items():
            try:
                there[package] = importlib.import_module(home).__version__
            except ImportError:
                there[package] = None
        return there

    return found


def _differences(found: dict[str, dict[str, str | None]], ours: dict[str, str]) -> Iterator[str]:
    for worker, there in found.items():
        for package, version in ours.items():
            if there[package] is None:
                yield f"{worker} lacks {package}"
            elif there[package] != version:
                yield f"{worker} has {package} {there[package]}, not {version}"


def _silenced() -> dict[logging.Logger, int]:
    """Keep Dask from reporting on stderr what the errors here say; returns the levels before."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    before = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger in before:
        logger.setLevel(logging.CRITICAL)
    return before


def _close(client: Any, cluster: Any) -> None:
    for part in (client, cluster):
        if part is not None:
            with contextlib.suppress(Exception):  # what does not answer is closed enough
                part.close(timeout=1)
