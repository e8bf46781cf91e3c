"""A network whose rows are distributed over MPI ranks, if one machine is too small for it.

Every rank calls the same functions with the same arguments, and has only its own rows of A and of
every vector that solvers keep. A product takes one exchange of the numbers that these rows multiply
and other ranks have; sums over all rows take one reduction. All else is small and computed by every
rank; where it decides what comes next, the value of rank 0 is broadcast, so that no rank diverges.

A rank that fails alone ends the job, as the others wait for it: :meth:`Ranks.collective`.
"""

from __future__ import annotations

import contextlib
import copy
import platform
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.optional import optional
from memcurve.core.types import EPS, Floats
from memcurve.network.linear import LinearNetwork, validated_entries
from memcurve.network.operator import ASKED_OF_PRODUCTS, Operator
from memcurve.network.tall import HostBackend, Tall

#: A rank that failed waits so many seconds for the others to fail, too, and then ends the job.
PATIENCE = 3.0


def world() -> Any:
    """The communicator of all ranks of this job."""
    try:
        return optional("mpi4py.MPI", "a job of several ranks", "mpi").COMM_WORLD
    except RuntimeError as error:
        raise ModuleNotFoundError(
            f"mpi4py finds no MPI library ({str(error).splitlines()[0]}); install Open MPI or "
            f"MPICH, e.g. the packages openmpi-bin and libopenmpi-dev."
        ) from error


class Ranks:
    """The ranks of a communicator of mpi4py, of which this process is one."""

    def __init__(self, communicator: Any) -> None:
        self.number, self.count = int(communicator.Get_rank()), int(communicator.Get_size())
        # duplicates: no message of the caller is taken for one of these, nor the last for others
        self.communicator, self._last_call = communicator.Dup(), communicator.Dup()
        hosts = self.communicator.allgather(platform.node())
        #: Ranks on this machine, this one among them.
        self.processes = hosts.count(platform.node())

    def share(self, size: int) -> tuple[int, int]:
        """First and last + 1 of the rows of this rank, where ``size`` are divided evenly."""
        if size < self.count:
            raise ValueError(
                f"`network` must have a node for each of the {self.count} ranks, got {size}; start "
                f"fewer: mpiexec -n {max(1, size)}."
            )
        return size * self.number // self.count, size * (self.number + 1) // self.count

    def split(self, network: LinearNetwork) -> LinearNetwork:
        """The network with its rows over these ranks, each of which has it whole."""
        first, last = self.share(network.size)
        return network.replace(A=RankRows(network.A[first:last], self))

    @contextlib.contextmanager
    def collective(self) -> Iterator[None]:
        """All ranks complete this, or all raise, or the job ends: none waits forever."""
        try:
            yield
        except BaseException as error:
            others, end = self._last_call.Ibarrier(), time.monotonic() + PATIENCE
            while not others.Test():
                if time.monotonic() > end:
                    self._end_job(error)
                time.sleep(1e-3)
            raise

    def _end_job(self, error: BaseException) -> None:
        text = str(error) or type(error).__name__
        of = f"rank {self.number} of {self.count} failed alone, and the job is ended"
        stream = sys.__stderr__ or sys.stderr
        print(f"memcurve: error: {of}: {text}", file=stream, flush=True)
        self.communicator.Abort(130 if isinstance(error, KeyboardInterrupt) else 1)


class RanksBackend(HostBackend):
    """NumPy arrays of which this rank has the rows ``first`` … ``last`` − 1."""

    def __init__(self, ranks: Ranks, first: int, last: int) -> None:
        self.ranks, self._first, self._last = ranks, first, last
        self._communicator, self.processes = ranks.communicator, ranks.processes

    def total(self, values: Any) -> Floats:
        """Sum over all rows, from the sum over the local ones."""
        local = np.array(values, dtype=float, order="C")
        total = np.empty_like(local)
        # not Allreduce, which may round differently for every rank
        self._communicator.Reduce(local, total, root=0)
        self._communicator.Bcast(total, root=0)
        return total

    def put(self, x: NDArray[Any]) -> Tall:
        return x[self._first : self._last].copy()  # of all rows nothing is kept

    def host(self, x: Any) -> NDArray[Any]:
        if isinstance(x, list):
            return np.asarray(x)
        return np.concatenate(self._communicator.allgather(x))

    def broadcast(self, x: Any) -> Any:
        return self._communicator.bcast(x, root=0)

    def local_rows(self, rows: int) -> int:
        return self._last - self._first

    def collective(self) -> contextlib.AbstractContextManager[Any]:
        return self.ranks.collective()

    def empty(self, rows: int, columns: int) -> Tall:
        return super().empty(self.local_rows(rows), columns)

    def rows(self, x: Tall, which: NDArray[np.intp]) -> Tall:
        return x[which[(which >= self._first) & (which < self._last)] - self._first]

    def dot(self, x: Tall, y: Tall) -> Floats:
        return self.total(x.T @ y)

    def square(self, x: Tall) -> Any:
        return float(self.total(super().square(x)))

    def squares(self, x: Tall) -> Floats:
        return self.total(super().squares(x))

    def largest(self, x: Tall) -> Any:
        return max(self._communicator.allgather(float(x.max())))

    def qr(self, x: Tall) -> tuple[Tall, Floats]:
        """Rank 0 factors the factors of all."""
        P, T = super().qr(x)
        triangles, shares = self._communicator.gather(T, root=0), None
        if triangles is not None:
            inner, T = super().qr(np.concatenate(triangles))
            ends = np.cumsum([len(triangle) for triangle in triangles])[:-1]
            shares = [(part, T) for part in np.split(inner, ends)]
        inner, T = self._communicator.scatter(shares, root=0)
        return P @ inner, T

    def triangle(self, x: Tall) -> Floats:
        """Rank 0 factors the factors of all."""
        triangles = self._communicator.gather(super().triangle(x), root=0)
        whole = None if triangles is None else super().triangle(np.concatenate(triangles))
        return np.asarray(self.broadcast(whole))


class RankRows(Operator):
    """A connectivity of which this rank has some rows, for ``LinearNetwork(RankRows(…), C)``.

    Every rank makes one of its own rows, in the order of the ranks, and the same network around it,
    with the whole mask; then all of them ask the same questions: usable memory under observation
    noise, ``memory_curve(network, noise=s)``, ``noise_profile`` and ``pruned``. All get the
    same answer. Needs the extra ``mpi``.

    Parameters
    ----------
    rows : (n, N) array or scipy sparse array
        Consecutive rows of A, at least one: ``A[i, j]`` is the weight from node j to node i.
    communicator : mpi4py.MPI.Comm
        The ranks; all of them by default.

    Examples
    --------
    Run as ``mpiexec -n 4 python -m mpi4py this.py``, where rank r has A[25r : 25r + 25]:

    >>> network = memcurve.LinearNetwork(memcurve.RankRows(mine), C)  # doctest: +SKIP
    >>> memcurve.memory_curve(network, noise=0.1).total  # doctest: +SKIP
    """

    backend: RanksBackend
    #: Number of entries on all ranks, where they are sparse.
    nnz: int = 0

    def __init__(self, rows: Any, communicator: Any = None) -> None:
        if communicator is None:
            communicator = world()
        ranks = communicator if isinstance(communicator, Ranks) else Ranks(communicator)
        with ranks.collective():
            self._rows = self._validated(rows)
            shapes = ranks.communicator.allgather(self._rows.shape)
            ends = np.cumsum([shape[0] for shape in shapes])
            if {int(shape[1]) for shape in shapes} != {int(ends[-1])}:
                raise ValueError(
                    f"`rows` must be the rows of a square matrix, divided among the ranks; got "
                    f"shapes {', '.join(map(str, shapes))}."
                )
            self.shape, self.dtype = (int(ends[-1]), int(ends[-1])), np.dtype(np.float64)
            self._size, self._checked = int(self._rows.shape[0]), True
            first = int(ends[ranks.number]) - self._size
            self.backend = RanksBackend(ranks, first, first + self._size)
            self.kind = f"rows over {ranks.count} ranks"
            self.has_entries = not isinstance(self._rows, np.ndarray)
            entries = int(self._rows.nnz) if self.has_entries else 0
            self.nnz = sum(ranks.communicator.allgather(entries))
            self._plan(ranks, ends)

    @staticmethod
    def _validated(rows: Any) -> Any:
        entries = validated_entries(rows, "rows")
        if entries.ndim != 2 or entries.shape[0] < 1:
            raise ValueError(
                f"`rows` must be a matrix of at least one row of A on every rank, got shape "
                f"{tuple(entries.shape)}; start fewer ranks."
            )
        if entries.dtype.kind == "c":
            raise TypeError(
                "`rows` must be real, got complex numbers; divide the rows of the real pair, "
                "A, C = network.real_pair()."
            )
        return entries

    def _plan(self, ranks: Ranks, ends: NDArray[Any]) -> None:
        """Agree on which numbers each rank sends to each for a product."""
        rows, count = self._rows, self.shape[0]
        if isinstance(rows, np.ndarray):
            self._needed = np.arange(count)
        else:
            is_used = np.zeros(count, dtype=bool)
            is_used[rows.indices] = True
            self._needed = np.flatnonzero(is_used)
            columns = (np.cumsum(is_used) - 1).astype(rows.indices.dtype)[rows.indices]
            shape = (self._size, len(self._needed))
            self._rows = type(rows)((rows.data, columns, rows.indptr), shape=shape)
        bounds = np.searchsorted(self._needed, ends)
        wanted = np.split(self._needed, bounds[:-1])
        starts = ends - np.diff(ends, prepend=0)
        requested = ranks.communicator.alltoall(
            [part - start for part, start in zip(wanted, starts, strict=True)]
        )
        self._sent = np.concatenate(requested)
        self._counts = [len(part) for part in requested], [len(part) for part in wanted]

    def _exchanged(self, x: Floats) -> NDArray[Any]:
        """The numbers of a whole vector that these rows multiply."""
        received, (sent, wanted) = np.empty(len(self._needed), self.dtype), self._counts
        send = np.asarray(x, dtype=self.dtype)[self._sent]
        self.backend.ranks.communicator.Alltoallv([send, sent], [received, wanted])
        return received

    def __matmul__(self, x: Any) -> NDArray[Any]:
        if x.shape[0] != self._size:
            raise self.needs_matrix("products with whole vectors")
        if x.ndim > 1:
            product = np.empty(x.shape, dtype=self.dtype, order="F")
            for j, column in enumerate(x.T):
                product[:, j] = self @ column
            return product
        return np.asarray(self._rows @ self._exchanged(x))

    def astype(self, dtype: Any) -> RankRows:
        """The same in another precision."""
        changed = copy.copy(self)
        changed._rows, changed.dtype = self._rows.astype(dtype), np.dtype(dtype)
        return changed

    def scaled(self, scale: Floats) -> RankRows:
        if np.ptp(scale) == 0:
            return self
        row_scale, column_scale = self.backend.put(scale)[:, None], scale[self._needed]
        changed = copy.copy(self)
        if isinstance(self._rows, np.ndarray):
            changed._rows = self._rows * (column_scale / row_scale)
        else:
            changed._rows = self._rows.multiply(column_scale).multiply(1 / row_scale).tocsr()
        return changed

    def rounding(self, X: Floats, AX: Floats) -> Floats:
        """A few units in the last place of what is added up, as of any matrix that is stored."""
        if isinstance(self._rows, np.ndarray):
            squares = np.einsum("ij,ij->j", self._rows, self._rows)
        else:
            entries = self._rows
            squares = np.bincount(entries.indices, entries.data**2, len(self._needed))
        local = np.array([squares @ self._exchanged(column**2) for column in X.T])
        return np.asarray(EPS * np.sqrt(self.backend.total(local)))

    def needs_matrix(self, what: str) -> TypeError:
        return TypeError(
            f"`A` must be whole for {what}, got rows of it over {self.backend.ranks.count} ranks. "
            f"{ASKED_OF_PRODUCTS} Or ask one process that has all of A, if it fits."
        )
