"""The ranks of an MPI job as the place where cases are computed: rank 0 drives, the others work."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from memcurve.optional import optional
from memcurve.sweeping.executors import Pool


class MpiPool(Pool):
    """The other ranks of ``mpiexec -n 4 memcurve sweep …``; these never get past making it.

    MPI ends all ranks of a job when one of them dies, the driver included. The store stays whole,
    and the same command goes on; a case that always kills its process is found out by running the
    study in processes, where it becomes a failed row.
    """

    def __init__(self) -> None:
        futures = optional("mpi4py.futures", "a sweep under MPI", "mpi")
        self._mpi = optional("mpi4py.MPI", "a sweep under MPI", "mpi")
        self._world = self._mpi.COMM_WORLD
        if self._world.Get_size() < 2:
            raise ValueError(
                "kind='mpi' needs at least two ranks, got one: rank 0 drives and the others "
                "compute; run: mpiexec -n 4 memcurve sweep …"
            )
        self._communicator = futures.MPICommExecutor(self._world, root=0)
        self._executor = self._communicator.__enter__()  # here the other ranks do all their work
        if self._executor is None:
            raise SystemExit(0)
        self._stopped = False

    @property
    def workers(self) -> int:
        """All ranks but the one that drives."""
        return int(self._world.Get_size()) - 1

    def start(self) -> None:
        """The ranks are there already."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run it on some rank."""
        future: Future[Any] = self._executor.submit(function, *arguments)
        return future

    def stop(self) -> None:
        """Drop what is queued and wait a second for what runs; then end the whole job.

        A rank cannot be interrupted, and the driver cannot end before the others.
        """
        if self._stopped:
            return
        self._stopped = True
        self._executor.shutdown(wait=False, cancel_futures=True)
        waiting = threading.Thread(
            target=self._communicator.__exit__, args=(None,) * 3, daemon=True
        )
        waiting.start()
        waiting.join(1)
        if waiting.is_alive():
            problem = sys.exception()
            print(f"memcurve: {problem or 'stopped'}", file=sys.stderr, flush=True)
            self._world.Abort(130)

    def finish(self) -> None:
        """Let the ranks go on to their end."""
        if not self._stopped:
            self._stopped = True
            self._communicator.__exit__(None, None, None)
