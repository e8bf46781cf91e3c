"""Where tall arrays live, N × few: with NumPy, or on the device of torch, cupy or jax.

Solvers keep vectors of all states where A is, and bring only small factors to the host. What they
do with such arrays beyond the operators that all libraries share is here, twice: with BLAS and
LAPACK in place, and in terms of the array API. On a device nothing is looked at more often than
it must, since every look waits for all work before it.
"""

from __future__ import annotations

import contextlib
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.backend import Backend, to_host
from memcurve.types import EPS, TINY, Floats

Tall = Any  # an array (N,) or (N, k) of any library


#: Rows of a chunk, in units of the number of columns, and at least; on a device so many rows where
#: they are multiplied, added up so many at a time, and so many entries where they are reflected.
CHUNK, LEAST_ROWS, PRODUCT_ROWS, SHORT_SUM, MOST_ENTRIES = 4, 2048, 2**17, 2**12, 2**28
#: Rows of a sketch, in units of the number of columns, and at least.
SKETCH, LEAST_SKETCH = 3, 256
#: Directions of columns that are below this share of all are given up; a sketch shows the others
#: well, if no length is off by more than this factor; and their triangle is well inverted if
#: rounding is as much more at most, relative to their number.
GIVEN_UP, WELL_SHOWN, INDEPENDENT = 4 * EPS, 8.0, 4.0
#: Pivots of a Cholesky factor down to this share of the largest are good enough to divide by twice.
WELL_CONDITIONED = 1e-4
#: ‖R⁻¹‖ of columns of unit length, at most, where inner products will do, and of the first rows of
#: so many chunks or more.
WELL_APART, ROUGHLY_APART, MANY_CHUNKS, POWER_STEPS = 8.0, 16.0, 4, 12
_SEED = 20230501


def _unit_factor(G: Floats, most: float) -> Floats | None:
    """R of RᵀR = G (its upper half), unless ‖R⁻¹‖ is above this for columns of unit length."""
    from scipy.linalg.lapack import dpotrf, dtrtri

    lengths = np.sqrt(np.diag(G))
    if not lengths.min() > np.sqrt(TINY):
        return None
    R, failed = dpotrf(G / lengths / lengths[:, None], overwrite_a=True)
    if failed:
        return None
    inverse, x = dtrtri(R)[0], np.random.default_rng(_SEED).standard_normal(len(R))
    for _ in range(POWER_STEPS):
        x = inverse @ (x @ inverse)
        x, size = x / np.linalg.norm(x), np.linalg.norm(x)
    # x had length one before the last step
    return np.asarray(R * lengths) if size <= most**2 else None


class Factor(NamedTuple):
    """R (k, n) of N×n columns K, RᵀR = (K + δK)ᵀ(K + δK), and a bound on the size of δK."""

    R: Floats
    off: float

    @classmethod
    def by_reflections(cls, R: Floats, stages: float) -> Factor:
        """A triangle that so many columns and chunks of rows went into, one after another."""
        return cls(R, 8 * EPS * float(np.sqrt(stages * (R**2).sum())))


class Host:
    """NumPy's arrays, columns one after another in memory."""

    #: Steps between two looks at the numbers: these cost nothing here.
    ahead = 1
    #: Whether every new shape is compiled first.
    compiles = False
    #: The functions of the library.
    xp: Any = np

    #: Processes on this machine that have as many rows each.
    sharing = 1

    def put(self, x: NDArray[Any]) -> Tall:
        """A tall array of the host, here."""
        return x

    def small(self, x: NDArray[Any]) -> Any:
        """An array of the host that is not tall, here."""
        return x

    def same(self, x: Any) -> Any:
        """What small problems come to, the same to the last digit wherever it decides something."""
        return x

    def here(self, rows: int) -> int:
        """How many of all rows are here."""
        return rows

    def together(self) -> contextlib.AbstractContextManager[Any]:
        """Within this all that have some rows fail, or none."""
        return contextlib.nullcontext()

    def host(self, x: Any) -> NDArray[Any]:
        """An array, or a list of numbers that are here, on the host."""
        return np.asarray(x)

    def single(self, x: Tall) -> Tall:
        """The same in single precision."""
        return x.astype(np.float32)

    def empty(self, rows: int, columns: int) -> Tall:
        """Room for columns."""
        return np.empty((rows, columns), order="F")

    def write(self, block: Tall, first: int, columns: Tall) -> Tall:
        """The block with some columns written over, in place where that can be."""
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
        return np.asarray(x.T @ y)

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
        """Normal numbers, drawn here."""
        return rng.standard_normal((rows, columns)).astype(dtype)

    def square(self, x: Tall) -> Any:
        """The squared length of a vector, not looked at yet."""
        return x @ x

    def squares(self, x: Tall) -> Floats:
        """Squared lengths of the columns."""
        return np.asarray(np.einsum("ij,ij->j", x, x), dtype=float)

    def largest(self, x: Tall) -> Any:
        """The largest number, not looked at yet."""
        return x.max()

    def lengths(self, x: Tall) -> Floats:
        """Lengths of the columns."""
        return np.asarray(np.sqrt(self.squares(x)))

    def qr(self, x: Tall) -> tuple[Tall, Floats]:
        """X = PT, P orthonormal and T triangular; X may be overwritten."""
        from scipy.linalg import qr

        P, T = qr(x, mode="economic", overwrite_a=True, check_finite=False)
        return P, np.asarray(T)

    def signs(self, rows: int) -> Any:
        """Random signs of rows, the same each time."""
        return self.xp.sign(self.normal(np.random.default_rng(_SEED), rows, 1, np.float32)[:, 0])

    def sketch(self, parts: list[Tall]) -> Floats:
        """Columns side by side, of which many rows are added up with random signs (CountSketch).

        Their combinations keep their lengths, about, unless few rows hold all there is.
        """
        return self.host(self._sketched(parts))

    def _sketched(self, parts: list[Tall]) -> Tall:
        xp, rows = self.xp, parts[0].shape[0]
        width = sum(part.shape[1] for part in parts)
        count = max(SKETCH * width, LEAST_SKETCH)
        times = rows // count
        whole, signs, found = times * count, self.signs(rows), []
        for part in parts:
            lines = xp.matrix_transpose(part) * signs
            sums = xp.sum(xp.reshape(lines[:, :whole], (part.shape[1], times, count)), axis=1)
            rest = lines[:, whole:]
            ends = [sums[:, : rows - whole] + rest, sums[:, rows - whole :]]
            found.append(xp.matrix_transpose(xp.concat(ends, axis=1)))
        return self.joined(found)

    def _chunk_rows(self, width: int) -> int:
        """Rows that are factored at a time."""
        return max(CHUNK * width, LEAST_ROWS)

    def factor(self, parts: list[Tall]) -> Factor:
        """R of columns side by side, RᵀR = KᵀK, from chunks of rows.

        By reflections, or in half the time from inner products, where columns are far apart.
        """
        width = sum(part.shape[1] for part in parts)
        R, step = np.zeros((0, width)), self._chunk_rows(width)
        if len(parts[0]) >= MANY_CHUNKS * step:
            found = self._cholesky(parts, step)
            if found is not None:
                return found
        for first in range(0, len(parts[0]), step):
            R = self._reflected(R, [part[first : first + step] for part in parts])
        return Factor.by_reflections(R, width + len(parts[0]) / step)

    @staticmethod
    def _reflected(R: Floats, rows: list[Tall]) -> Floats:
        """The triangular factor of a triangle and further rows."""
        from scipy.linalg.lapack import dgeqrf, dgeqrf_lwork

        width = R.shape[1]
        chunk = np.empty((len(R) + len(rows[0]), width), order="F")
        chunk[: len(R)] = R
        np.concatenate(rows, axis=1, out=chunk[len(R) :])
        work = int(dgeqrf_lwork(*chunk.shape)[0])
        return np.asarray(np.triu(dgeqrf(chunk, lwork=work, overwrite_a=True)[0][:width]))

    def _cholesky(self, parts: list[Tall], step: int) -> Factor | None:
        """The same from KᵀK, if columns of unit length are far enough apart; the first rows tell.

        Rounding of a few eps in those inner products moves columns by ‖R⁻¹‖ times as much, of their
        own lengths.
        """
        from scipy.linalg.blas import dsyrk

        width = sum(part.shape[1] for part in parts)
        G, room = np.zeros((width, width), order="F"), np.empty(step * width)
        for first in range(0, len(parts[0]), step):
            rows = [part[first : first + step] for part in parts]
            chunk = room[: len(rows[0]) * width].reshape(-1, width, order="F")
            np.concatenate(rows, axis=1, out=chunk)
            G = dsyrk(1.0, chunk, beta=1.0, c=G, trans=True, overwrite_c=True)
            if not first and _unit_factor(G, ROUGHLY_APART) is None:
                return None
        R = _unit_factor(G, WELL_APART)
        # inner products are off by some eps each, all of them together by √n times as much
        return (
            R if R is None else Factor(R, WELL_APART * EPS * float(np.sqrt(width * (R**2).sum())))
        )

    @property
    def room(self) -> int | None:
        """Bytes that can be had here, where that is not the memory of the host."""
        return None


HOST = Host()


class Device(Host):
    """Arrays of another library, on its device."""

    ahead = 16

    def __init__(self, backend: Backend) -> None:
        self.backend, self.xp = backend, backend.xp
        self.compiles = backend.name == "jax"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return False
        mine, theirs = self.backend, other.backend
        return (mine.name, str(mine.device)) == (theirs.name, str(theirs.device))

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.backend.name} on {self.backend.device}"

    def put(self, x: NDArray[Any]) -> Tall:
        if x.ndim == 2:
            return self.xp.matrix_transpose(self.backend.put(x.T))
        return self.backend.put(x)

    def small(self, x: NDArray[Any]) -> Any:
        return self.put(x)

    def host(self, x: Any) -> NDArray[Any]:
        return to_host(self.xp.stack(x) if isinstance(x, list) else x)

    def single(self, x: Tall) -> Tall:
        return self.xp.astype(x, self.xp.float32)

    def empty(self, rows: int, columns: int) -> Tall:
        xp = self.xp
        make = xp.zeros if self.compiles else xp.empty
        made = make((columns, rows), dtype=xp.float64, device=self.backend.device)
        return xp.matrix_transpose(made)

    def write(self, block: Tall, first: int, columns: Tall) -> Tall:
        if self.compiles:  # in place too, as the old block is given away
            return self._jax_write(block, columns, first)
        return super().write(block, first, columns)

    @cached_property
    def _jax_write(self) -> Any:
        import jax

        def update(block: Any, columns: Any, first: int) -> Any:
            return jax.lax.dynamic_update_slice(block, columns, (0, first))

        return jax.jit(update, donate_argnums=0)

    def rows(self, x: Tall, which: NDArray[np.intp]) -> Tall:
        return self.xp.take(x, self.backend.put(which.astype(np.int64)), axis=0)

    def joined(self, parts: list[Tall]) -> Tall:
        across = self.xp.matrix_transpose
        return across(self.xp.concat([across(part) for part in parts], axis=0))

    def stacked(self, vectors: list[Tall]) -> Tall:
        """Vectors side by side."""
        return self.xp.matrix_transpose(self.xp.stack(vectors))

    def dot(self, x: Tall, y: Tall) -> Floats:
        return to_host(x.T @ y)

    def combined(self, x: Tall, S: Floats) -> Tall:
        if S.ndim == 1:
            return x @ self.put(S)
        # this way columns of the product lie one after another
        return self.xp.matrix_transpose(self.backend.put(S.T) @ x.T)

    def minus(self, y: Tall, x: Tall, S: Floats) -> Tall:
        return y - self.combined(x, S)

    def normal(self, rng: np.random.Generator, rows: int, columns: int, dtype: Any) -> Tall:
        name, seed, device = self.backend.name, int(rng.integers(2**31)), self.backend.device
        kind = getattr(self.xp, np.dtype(dtype).name)
        if name == "torch":
            import torch

            source = torch.Generator(device=device).manual_seed(seed)
            return torch.randn((columns, rows), generator=source, dtype=kind, device=device).T
        if name == "cupy":
            import cupy

            return cupy.random.default_rng(seed).standard_normal((columns, rows), dtype=kind).T
        return self.put(super().normal(rng, rows, columns, dtype))

    def squares(self, x: Tall) -> Floats:
        if self.backend.name == "torch":
            return np.asarray(to_host(self.xp.linalg.vector_norm(x, axis=0)), dtype=float) ** 2
        # sums along an axis take other libraries far longer than this
        return np.asarray(np.diagonal(to_host(self.xp.matrix_transpose(x) @ x)), dtype=float)

    def qr(self, x: Tall) -> tuple[Tall, Floats]:
        """Cholesky's way, twice, which is but products; by reflections where that is not enough."""
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

    def _chunk_rows(self, width: int) -> int:
        return max(CHUNK * width, MOST_ENTRIES // width)

    def factor(self, parts: list[Tall]) -> Factor:
        """The same by wide products alone, where a sketch shows the columns well.

        With T the triangular factor of a sketch, made regular by rows of a size that is given up,
        the columns of Y = KT⁻¹ are close to orthonormal, and YᵀY = UΛUᵀ is good to the last digits:
        R = √Λ·UᵀT, though not triangular.
        """
        width, rows = sum(part.shape[1] for part in parts), parts[0].shape[0]
        shown = self._sketched(parts)
        size = float(np.sqrt(self.squares(shown).sum()))
        if not 0 < size < np.inf:
            return self._reflections(parts)
        regular = self.put(GIVEN_UP * size * np.eye(width))
        T = to_host(self._triangle(self.xp.concat([shown, regular])))
        inverse, T, spread = _inverted(T)
        weights, G = self.put(inverse), self.put(np.zeros((width, width)))
        for first in range(0, rows, PRODUCT_ROWS):
            chunk = self.joined([part[first : first + PRODUCT_ROWS, :] for part in parts])
            G = G + self._gram(chunk @ weights)
        G, kept = to_host(G), len(T)
        if not np.isfinite(G).all():
            return self._reflections(parts)
        lengths, U = np.linalg.eigh(G[:kept, :kept])
        R, left = U.T @ T, float(np.sqrt(np.trace(G[kept:, kept:])))
        # sums one after another go astray by a share of a digit each, where all are alike; short
        # columns of YU are known that much worse
        sums = EPS * (8 * np.sqrt(width) + SHORT_SUM / 16)
        off = np.sqrt((R**2).sum(axis=1)) * sums / np.sqrt(np.maximum(lengths, sums))
        off = float(np.sqrt((off**2).sum())) + EPS * (spread + 8 * np.sqrt(width)) * size + left
        if lengths[-1] > WELL_SHOWN**2 or off > WELL_SHOWN * sums * size:
            return self._reflections(parts)
        return Factor(np.sqrt(np.maximum(lengths, 0.0))[:, None] * R, off)

    def _reflections(self, parts: list[Tall]) -> Factor:
        width = sum(part.shape[1] for part in parts)
        R, step = self.put(np.zeros((0, width))), self._chunk_rows(width)
        for first in range(0, parts[0].shape[0], step):
            rows = self.joined([part[first : first + step, :] for part in parts])
            R = self._triangle(self.xp.concat([R, rows], axis=0) if first else rows)
        return Factor.by_reflections(to_host(R), width + parts[0].shape[0] / step)

    def _gram(self, x: Tall) -> Any:
        """XᵀX, from short sums."""
        xp, (rows, width), lines = self.xp, x.shape, self.xp.matrix_transpose(x)
        count = rows // SHORT_SUM
        whole = count * SHORT_SUM
        parts = xp.permute_dims(xp.reshape(lines[:, :whole], (width, count, SHORT_SUM)), (1, 0, 2))
        sums = xp.sum(parts @ xp.matrix_transpose(parts), axis=0)
        return sums + lines[:, whole:] @ x[whole:, :]

    def _triangle(self, x: Tall) -> Tall:
        """R of X = QR alone, which the array API does not offer."""
        if self.backend.name == "torch":
            import torch

            return torch.linalg.qr(x, mode="r").R
        if self.backend.name == "cupy":
            import cupy

            return cupy.linalg.qr(x, mode="r")
        return self.xp.linalg.qr(x, mode="r")

    @property
    def room(self) -> int | None:
        name, device = self.backend.name, self.backend.device
        if self.backend.is_host:
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
        known = device.memory_stats() or {}
        if "bytes_limit" not in known:
            return None
        return int(known["bytes_limit"] - known["bytes_in_use"])


def _inverted(T: Floats) -> tuple[Floats, Floats, float]:
    """T'⁻¹ and T', T up to a rotation, and how many times rounding of KT'⁻¹ becomes that of K.

    Rows of any size do no harm, as columns of the inverse have the inverse sizes. The rotation,
    which takes longer, is made where rows of about one size are far from independent; rows that are
    given up then are left out, and as further columns of the inverse show what K has of them.
    """
    diagonal = np.diag(T)
    rows = T / diagonal[:, None]
    # all of it by NumPy's LAPACK: threads of SciPy's would get in its way
    inverse = np.linalg.inv(rows)
    spread = float(np.linalg.norm(np.abs(inverse) @ np.abs(rows)))
    if spread <= INDEPENDENT * len(T):
        return inverse / diagonal, T, spread
    _, sigma, Vt = np.linalg.svd(T)
    sigma = sigma[sigma > 2 * GIVEN_UP * np.linalg.norm(sigma)]
    kept, lost = np.split(Vt, [len(sigma)])
    return np.concatenate([kept.T / sigma, lost.T], axis=1), sigma[:, None] * kept, float(len(T))


def place_of(A: Any) -> Host:
    """Where the products of a matrix or an operator are."""
    place: Host = getattr(A, "place", HOST)
    return place
