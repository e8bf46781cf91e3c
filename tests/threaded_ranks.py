"""Ranks of a job as threads of one process, with the calls of mpi4py that memcurve makes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np

from memcurve.solve import Analysis, Problem

#: Seconds after which a rank that waits for another is taken to hang.
HANGS = 120


# Before Python 3.12 one lock serves a cached property of all instances, here of all ranks: the one
# that computes it would wait within for numbers of one that waits for the lock.
for _value in (*vars(Analysis).values(), *vars(Problem).values()):
    if isinstance(_value, cached_property):
        _value.lock = nullcontext()  # type: ignore[attr-defined]


class Aborted(Exception):
    """The job was ended by a rank."""


class _Job:
    """What the ranks of a communicator share."""

    def __init__(self, size: int, jobs: list[_Job]) -> None:
        self.size, self.jobs = size, jobs
        self.barrier, self.slots = threading.Barrier(size), [None] * size
        self.lock, self.arrived = threading.Lock(), 0
        jobs.append(self)


class Communicator:
    """One rank's."""

    def __init__(self, rank: int, job: _Job) -> None:
        self.rank, self.job = rank, job

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.job.size

    def allgather(self, value: Any) -> list[Any]:
        try:
            self.job.slots[self.rank] = value
            self.job.barrier.wait(HANGS)
            found = list(self.job.slots)
            self.job.barrier.wait(HANGS)
        except threading.BrokenBarrierError:
            raise Aborted from None
        return found

    def Dup(self) -> Communicator:
        fresh = _Job(self.job.size, self.job.jobs) if self.rank == 0 else None
        return Communicator(self.rank, self.bcast(fresh))

    def bcast(self, value: Any, root: int = 0) -> Any:
        return self.allgather(value)[root]

    def gather(self, value: Any, root: int = 0) -> list[Any] | None:
        found = self.allgather(value)
        return found if self.rank == root else None

    def scatter(self, values: list[Any] | None, root: int = 0) -> Any:
        return self.allgather(values)[root][self.rank]

    def alltoall(self, values: list[Any]) -> list[Any]:
        return [each[self.rank] for each in self.allgather(values)]

    def Alltoallv(self, send: list[Any], receive: list[Any]) -> None:
        numbers, counts = send
        parts = self.alltoall(np.split(numbers, np.cumsum(counts)[:-1]))
        assert [len(part) for part in parts] == receive[1]
        receive[0][:] = np.concatenate(parts)

    def Reduce(self, here: Any, total: Any, root: int = 0) -> None:
        found = self.allgather(here.copy())
        assert len({each.shape for each in found}) == 1
        if self.rank == root:
            total[...] = sum(found)

    def Bcast(self, values: Any, root: int = 0) -> None:
        values[...] = self.allgather(values.copy())[root]

    def Ibarrier(self) -> _Request:
        with self.job.lock:
            self.job.arrived += 1
        return _Request(self.job)

    def Abort(self, code: int) -> None:
        for job in self.job.jobs:
            job.barrier.abort()
        raise Aborted(code)


class _Request:
    def __init__(self, job: _Job) -> None:
        self.job = job
        self.awaited = -(-job.arrived // job.size) * job.size

    def Test(self) -> bool:
        return self.job.arrived >= self.awaited


def on_ranks(count: int, work: Callable[[Any], Any]) -> list[Any]:
    """What ``work(communicator)`` comes to on each of so many ranks, or the error it ends with."""
    job, found = _Job(count, []), [None] * count

    def run(rank: int) -> None:
        try:
            found[rank] = work(Communicator(rank, job))
        except BaseException as error:
            found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * HANGS)
        assert not thread.is_alive(), "a rank hangs"
    return found


def answers(count: int, work: Callable[[Any], Any]) -> list[Any]:
    """The same where no rank fails."""
    found = on_ranks(count, work)
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return found
