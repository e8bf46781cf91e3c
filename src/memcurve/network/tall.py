"""Array backends for tall arrays, N × few: NumPy, or the device of torch, cupy or jax.

Solvers keep vectors of all states where A is, and copy only small factors to the host. What they
do with such arrays beyond the operators that all libraries share is implemented twice: with BLAS
and LAPACK in place, and by the array API. On a device numbers are read as seldom as possible,
since reading one waits for all work before it.
"""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import Floats
from memcurve.network.backend import Backend, to_host

Tall = Any  # an array (N,) or (N, k) of any library


#: Pivots of a Cholesky factor down to this share of the largest are good enough to divide by twice.
#: Doubled: reflections, which take longer, a little more often.
WELL_CONDITIONED = 1e-4


class HostBackend:
    """NumPy arrays, stored column by column (Fortran order)."""

    #: Steps between two synchronisations with the host, which cost nothing here.
    ahead = 1
    #: Whether every new shape is compiled first.
    compiles = False
    #: The functions of the library.
    xp: Any = np

    #: Processes on this machine that have as many rows each, and share its memory.
    processes = 1

    def put(self, x: NDArray[Any]) -> Tall:
        """A copy on this backend of a tall array of the host."""
        return x

    def small(self, x: NDArray[Any]) -> Any:
        """A copy on this backend of a small array of the host."""
        return x

    def broadcast(self, x: Any) -> Any:
        """The result of a small problem, bit for bit the same on all ranks."""
        return x

    def local_rows(self, rows: int) -> int:
        """How many of all rows this process has."""
        return rows

    def collective(self) -> contextlib.AbstractContextManager[Any]:
        """A context in which all ranks fail, or none."""
        return contextlib.nullcontext()

    def host(self, x: Any) -> NDArray[Any]:
        """A copy on the host of an array, or of a list of numbers."""
        return np.asarray(x)

    def empty(self, rows: int, columns: int) -> Tall:
        """An uninitialised block of columns."""
        return np.empty((rows, columns), order="F")

    def write(self, block: Tall, first: int, columns: Tall) -> Tall:
        """The block with some columns replaced, in place if possible."""
        block[:, first : first + columns.shape[1]] = columns
        return block

    def rows(self, x: Tall, which: NDArray[np.intp]) -> Tall:
        """Some rows."""
        return x[which]

    def joined(self, parts: list[Tall]) -> Tall:
        """Columns side by side."""
        return np.concatenate(parts, axis=1)

    def dot(self, x: Tall, y: Tall) -> Floats:
        """XᵀY, on the host."""
        return self.host(x.T @ y)

    def combined(self, x: Tall, S: Floats) -> Tall:
        """XS."""
        return x @ S

    def minus(self, y: Tall, x: Tall, S: Floats) -> Tall:
        """Y − XS; Y may be overwritten where it has columns."""
        if y.ndim == 1:
            return y - x @ S
        from scipy.linalg.blas import dgemm

        return dgemm(-1.0, x, S, 1.0, y, overwrite_c=True)

    def normal(self, rng: np.random.Generator, rows: int, columns: int, dtype: Any) -> Tall:
        """Normally distributed numbers, drawn on the host."""
        return self.put(rng.standard_normal((rows, columns)).astype(dtype))

    def square(self, x: Tall) -> Any:
        """The squared length of a vector, left on the device."""
        return x @ x

    def squares(self, x: Tall) -> Floats:
        """Squared lengths of the columns."""
        return np.asarray(np.einsum("ij,ij->j", x, x), dtype=float)

    def largest(self, x: Tall) -> Any:
        """The largest number, left on the device."""
        return x.max()

    def lengths(self, x: Tall) -> Floats:
        """Lengths of the columns."""
        return np.asarray(np.sqrt(self.squares(x)))

    def qr(self, x: Tall) -> tuple[Tall, Floats]:
        """X = PT, P orthonormal and T triangular; X may be overwritten."""
        from scipy.linalg import qr

        P, T = qr(x, mode="economic", overwrite_a=True, check_finite=False)
        return P, np.asarray(T)

    def triangle(self, x: Tall) -> Floats:
        """R of X = QR alone, RᵀR = XᵀX."""
        return np.asarray(np.linalg.qr(x, mode="r"))

    @property
    def room(self) -> int | None:
        """Free bytes of the device; None for the host."""
        return None


HOST = HostBackend()


class DeviceBackend(HostBackend):
    """Arrays of another library on its device."""

    ahead = 16

    def __init__(self, library: Backend) -> None:
        self.library, self.xp = library, library.xp
        self.compiles = library.name == "jax"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceBackend):
            return False
        mine, theirs = self.library, other.library
        return (mine.name, str(mine.device)) == (theirs.name, str(theirs.device))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.library.name} on {self.library.device}"

    def put(self, x: NDArray[Any]) -> Tall:
        if x.ndim == 2:
            return self.xp.matrix_transpose(self.library.put(x.T))
        return self.library.put(x)

    def small(self, x: NDArray[Any]) -> Any:
        return self.put(x)

    def host(self, x: Any) -> NDArray[Any]:
        return to_host(self.xp.stack(x) if isinstance(x, list) else x)

    def empty(self, rows: int, columns: int) -> Tall:
        xp = self.xp
        make = xp.zeros if self.compiles else xp.empty
        made = make((columns, rows), dtype=xp.float64, device=self.library.device)
        return xp.matrix_transpose(made)

    def write(self, block: Tall, first: int, columns: Tall) -> Tall:
        if self.compiles:  # in place too, as the old block is donated
            return self._jax_write(block, columns, first)
        return super().write(block, first, columns)

    @cached_property
    def _jax_write(self) -> Any:
        import jax

        def update(block: Any, columns: Any, first: int) -> Any:
            return jax.lax.dynamic_update_slice(block, columns, (0, first))

        return jax.jit(update, donate_argnums=0)

    def rows(self, x: Tall, which: NDArray[np.intp]) -> Tall:
        return self.xp.take(x, self.library.put(which.astype(np.int64)), axis=0)

    def joined(self, parts: list[Tall]) -> Tall:
        across = self.xp.matrix_transpose
        return across(self.xp.concat([across(part) for part in parts], axis=0))

    def stacked(self, vectors: list[Tall]) -> Tall:
        """Vectors side by side."""
        return self.xp.matrix_transpose(self.xp.stack(vectors))

    def combined(self, x: Tall, S: Floats) -> Tall:
        if S.ndim == 1:
            return x @ self.put(S)
        # this way columns of the product lie one after another
        return self.xp.matrix_transpose(self.library.put(S.T) @ x.T)

    def minus(self, y: Tall, x: Tall, S: Floats) -> Tall:
        return y - self.combined(x, S)

    def squares(self, x: Tall) -> Floats:
        if self.library.name == "torch":
            return np.asarray(to_host(self.xp.linalg.vector_norm(x, axis=0)), dtype=float) ** 2
        # sums along an axis take other libraries far longer than this
        return np.asarray(np.diagonal(to_host(self.xp.matrix_transpose(x) @ x)), dtype=float)

    def qr(self, x: Tall) -> tuple[Tall, Floats]:
        """CholeskyQR2, which is only products; Householder where that is too inaccurate."""
        P, T = x, np.eye(x.shape[1])
        for _ in range(2):
            try:
                L = np.linalg.cholesky(self.dot(P, P))
            except np.linalg.LinAlgError:
                L = np.zeros_like(T)
            pivots = np.diag(L)
            if not pivots.min() > WELL_CONDITIONED * pivots.max():
                P, R = self.xp.linalg.qr(x)
                return P, to_host(R)
            P, T = self.combined(P, np.linalg.inv(L).T), L.T @ T
        return P, T

    def triangle(self, x: Tall) -> Floats:
        return self.qr(x)[1]

    @property
    def room(self) -> int | None:
        name, device = self.library.name, self.library.device
        if self.library.is_host:
            return None
        if name == "torch":
            import torch

            unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
            return int(torch.cuda.mem_get_info(device)[0] + unused)
        if name == "cupy":
            import cupy

            with device:
                unused = cupy.get_default_memory_pool().free_bytes()
                return int(cupy.cuda.runtime.memGetInfo()[0] + unused)
        stats = device.memory_stats() or {}
        if "bytes_limit" not in stats:
            return None
        return int(stats["bytes_limit"] - stats["bytes_in_use"])


def backend_of(A: Any) -> HostBackend:
    """The backend that computes the products of a matrix or an operator."""
    backend: HostBackend = getattr(A, "backend", HOST)
    return backend
