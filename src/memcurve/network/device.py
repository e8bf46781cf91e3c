"""Sparse matrices of torch, cupy and jax: their products stay on the device."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import Floats
from memcurve.network.backend import Backend, to_host, without_gradient
from memcurve.network.tall import HOST, DeviceBackend, HostBackend, Tall

#: Places are counted in 32 bits up to here: products read less.
MOST_IN_32_BITS = 2**31 - 1


def is_device_sparse(A: Any) -> bool:
    """Whether A is a sparse matrix of torch, cupy or jax, or a DeviceMatrix."""
    if isinstance(A, DeviceMatrix):
        return True
    # none of these is imported for the question: what is theirs has imported them
    torch, cupyx = sys.modules.get("torch"), sys.modules.get("cupyx.scipy.sparse")
    jax = sys.modules.get("jax.experimental.sparse")
    return (
        (torch is not None and isinstance(A, torch.Tensor) and A.layout != torch.strided)
        or (cupyx is not None and cupyx.issparse(A))
        or (jax is not None and isinstance(A, jax.JAXSparse))
    )


class DeviceMatrix:
    """A sparse matrix by rows in float64 on a device; its copy ``host`` is made when asked for."""

    ndim = 2
    #: As of operators: the entries of this one are known, not only its products.
    has_entries = True

    def __init__(
        self, backend: DeviceBackend, shape: tuple[int, int], parts: tuple[Any, Any, Any]
    ) -> None:
        self.backend, self.shape = backend, shape
        self._data, self._indices, self._indptr = parts
        self.dtype = np.dtype(str(self._data.dtype).rpartition(".")[2])
        self.nnz = int(self._data.shape[0])
        self._matrix = _made(backend, shape, parts)

    @classmethod
    def of(cls, A: Any, argument: str) -> DeviceMatrix:
        """The matrix of another library, checked."""
        if isinstance(A, cls):
            return A
        A = without_gradient(A) if hasattr(A, "detach") else A
        if len(A.shape) != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(
                f"`{argument}` must be a square matrix, got shape {tuple(A.shape)}; "
                f"{argument}[i, j] is the weight from node j to node i."
            )
        data, indices, indptr = _parts(A)
        backend = DeviceBackend(Backend.of(data, argument))
        data, size, xp = backend.library.float64(data, argument), int(A.shape[0]), backend.xp
        count = int(data.shape[0])
        shaped = indices.shape[0] == count and indptr.shape[0] == size + 1
        ends = xp.stack([indptr[0], indptr[-1], xp.min(indptr[1:] - indptr[:-1])])
        least, most = (xp.min(indices), xp.max(indices)) if count else (0 * ends[0], 0 * ends[0])
        first, last, step, least, most = backend.host([*ends, least, most]).tolist()
        if (
            not shaped
            or (first, last) != (0, count)
            or step < 0
            or least < 0
            or most >= max(size, 1)
        ):
            raise ValueError(
                f"`{argument}` is a damaged sparse array: {count} entries in rows from {first} to "
                f"{last}, columns from {least} to {most} of {size}; build it anew."
            )
        kind = xp.int32 if max(count, size) <= MOST_IN_32_BITS else xp.int64
        indices, indptr = (xp.astype(array, kind, copy=False) for array in (indices, indptr))
        return cls(backend, (size, size), (data, indices, indptr))

    @cached_property
    def host(self) -> Any:
        """A copy as a scipy sparse array, repeated entries summed."""
        from scipy.sparse import csr_array

        parts = (self._data, self._indices, self._indptr)
        data, indices, indptr = (self.backend.host(part) for part in parts)
        matrix = csr_array((data.copy(), indices.copy(), indptr.copy()), shape=self.shape)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return matrix

    def like(self, matrix: Any) -> DeviceMatrix:
        """A scipy sparse array on the same device."""
        matrix = matrix.tocsr()
        put = self.backend.library.put
        parts = (put(matrix.data), put(matrix.indices), put(matrix.indptr))
        made = DeviceMatrix(self.backend, matrix.shape, parts)
        made.__dict__["host"] = matrix
        return made

    def _with(self, data: Any) -> DeviceMatrix:
        """Other numbers at the same positions."""
        return DeviceMatrix(self.backend, self.shape, (data, self._indices, self._indptr))

    def astype(self, dtype: Any) -> Any:
        """In single precision, on the device; in any other, on the host."""
        if np.dtype(dtype) == np.float32:
            xp = self.backend.xp
            return self._with(xp.astype(self._data, xp.float32))
        return self.host.astype(dtype)

    def scaled(self, scale: Floats) -> DeviceMatrix:
        """D⁻¹AD for the diagonal D."""
        if np.ptp(scale) == 0:
            return self
        xp, d = self.backend.xp, self.backend.put(scale)
        numbers = xp.arange(self.nnz, dtype=self._indptr.dtype, device=self.backend.library.device)
        rows = xp.searchsorted(self._indptr, numbers, side="right") - 1
        columns = xp.take(d, self._indices, axis=0)
        return self._with(self._data * columns / xp.take(d, rows, axis=0))

    def product_sizes(self, x: Tall) -> Floats:
        """Sizes of what is added up in each column of AX."""
        sums = self._with(self._data * self._data) @ (x * x)
        return np.asarray(np.sqrt(self.backend.host(self.backend.xp.sum(sums, axis=0))))

    def count_nonzero(self) -> int:
        """How many entries are not zero."""
        return int(self.backend.host(self.backend.xp.sum(self._data != 0)))

    def __matmul__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            return self.host @ x
        if x.ndim == 1:
            return self._matrix @ x
        products = [(self._matrix @ x[:, j])[:, None] for j in range(x.shape[1])]
        return products[0] if len(products) == 1 else self.backend.joined(products)

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return np.asarray(self.host.toarray(), dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.host[key]

    def __mul__(self, other: Any) -> Any:
        return self.host * other

    __rmul__ = __mul__

    def __abs__(self) -> Any:
        return abs(self.host)

    def __neg__(self) -> Any:
        return -self.host

    def __getattr__(self, name: str) -> Any:
        """What else scipy's have; the library's own matrix is not copied for names of Python's."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.host, name)

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        """Pickled as scipy's: who reads it may have no such device."""
        return type(self.host), (self.host,)


def on_host(A: Any) -> Any:
    """The matrix as a NumPy or scipy array."""
    return A.host if isinstance(A, DeviceMatrix) else A


def mask_on_host(C: Any, backend: HostBackend) -> Any:
    """The mask as a NumPy array; one of another library must be on the device of A."""
    if isinstance(C, np.ndarray | np.generic | Sequence) or hasattr(C, "toarray"):
        return C
    library = Backend.of(C, "C")
    if library.xp is np or backend is HOST:
        return C
    if DeviceBackend(library) != backend:
        raise ValueError(
            f"`C` must be on the device of `A`, {backend}, or a NumPy array; got one of "
            f"{DeviceBackend(library)}; move it there first."
        )
    return to_host(library.float64(C, "C"))


def _parts(A: Any) -> tuple[Any, Any, Any]:
    """Entries, columns and the beginnings of rows."""
    if hasattr(A, "layout") and hasattr(A, "to_sparse_csr"):  # torch
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that such matrices are new
            if str(A.layout) == "torch.sparse_coo":
                A = A.coalesce()
            A = A.to_sparse_csr()
        return A.values(), A.col_indices(), A.crow_indices()
    if hasattr(A, "tocsr"):  # cupy
        A = A.tocsr()
        return A.data, A.indices, A.indptr
    from jax.experimental import sparse

    if not isinstance(A, sparse.BCOO | sparse.BCSR) or A.n_batch or A.n_dense:
        raise TypeError(
            f"`A` must be a BCOO or BCSR of two sparse axes for jax, got {type(A).__name__}; "
            f"convert it first."
        )
    if isinstance(A, sparse.BCOO):
        A = sparse.BCSR.from_bcoo(A.sum_duplicates())
    return A.data, A.indices, A.indptr


def _made(backend: DeviceBackend, shape: tuple[int, int], parts: tuple[Any, Any, Any]) -> Any:
    """The library's own matrix."""
    data, indices, indptr = parts
    if backend.library.name == "torch":
        import torch

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return torch.sparse_csr_tensor(indptr, indices, data, shape, check_invariants=False)
    if backend.library.name == "cupy":
        from cupyx.scipy.sparse import csr_matrix

        return csr_matrix((data, indices, indptr), shape=shape)
    from jax.experimental.sparse import BCSR

    return BCSR((data, indices, indptr), shape=shape)
