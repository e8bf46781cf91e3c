"""Operator: a connectivity known only by its products, checked when it is first used."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from memcurve.core.types import SEED, Floats
from memcurve.network.backend import Backend
from memcurve.network.tall import HOST, DeviceBackend, HostBackend, Tall

#: A(ax + by) and aAx + bAy differ by no more than this share of their size: rounding of single
#: precision. What rounding there is counts in the errors.
LINEAR = 3e-6
ASKED_OF_PRODUCTS = (
    "What can be asked of these: memory_curve(network, noise=…), noise_profile and "
    "memcurve.pruned, with observation noise."
)


REAL_PAIR = "Give the real pair, [[Re A, −Im A], [Im A, Re A]] and [Re C; Im C]."


class Operator:
    """Products with a square matrix, checked when first used."""

    ndim = 2
    backend: HostBackend
    #: What is known of A, in a word; and whether that includes entries.
    kind, has_entries = "products only", False

    def __init__(self, products: Any) -> None:
        self.products, self.backend = products, HOST
        self.shape: tuple[int, int] = tuple(products.shape)
        if products.dtype is not None and np.dtype(products.dtype).kind == "c":
            raise TypeError(f"`A` must have real products, got dtype {products.dtype}. {REAL_PAIR}")
        self.dtype = np.dtype(np.float64)
        self._checked = False

    def __matmul__(self, x: Any) -> Any:
        if not self._checked:
            self._check()
        if not isinstance(x, np.ndarray):
            return self._times(x)
        return self.backend.host(self._times(self.backend.put(x)))

    def scaled(self, scale: Floats) -> Operator:
        """D⁻¹AD for the diagonal D."""
        if np.ptp(scale) == 0:
            return self
        d = self.backend.put(scale)

        def times(x: Tall) -> Tall:
            units = d if x.ndim == 1 else d[:, None]
            return (self @ (x * units)) / units

        scaled = copy.copy(self)
        scaled._times, scaled._checked = times, True  # type: ignore[method-assign]
        return scaled

    def rounding(self, X: Tall, AX: Tall) -> Floats:
        """Rounding in AX: lengths of A(x + y) − Ax − Ay, x and y large at the same indices."""
        pairs = self @ (X[:, ::2] + X[:, 1::2]) - AX[:, ::2] - AX[:, 1::2]
        return np.repeat(self.backend.lengths(pairs), 2)

    def needs_matrix(self, what: str) -> TypeError:
        """The error where entries of A are needed."""
        return TypeError(
            f"`A` must be an array or a scipy sparse array for {what}, got products with it only. "
            f"{ASKED_OF_PRODUCTS} Or make the matrix, if it fits: "
            f"network.replace(A=network.A @ numpy.eye(network.size))."
        )

    def _product(self, x: Tall) -> Tall:
        return np.asarray(self.products.matvec(x) if x.ndim == 1 else self.products.matmat(x))

    def _times(self, x: Tall) -> Tall:
        try:
            y = self._product(x)
        except (ValueError, RuntimeError, TypeError) as error:
            raise ValueError(
                f"`A` must take vectors of length {x.shape[0]} to such vectors; its function "
                f"raised {type(error).__name__}: {error}."
            ) from error
        self._require_same_kind(x, y)
        output_sum, input_sum = self.backend.host([y.sum(), x.sum()])
        if not np.isfinite(output_sum) and np.isfinite(input_sum):
            many = int(np.count_nonzero(~np.isfinite(self.backend.host(y))))
            largest = float(np.abs(self.backend.host(x)).max())
            raise ValueError(
                f"`A` must have finite products, got {many} numbers that are not, for a vector of "
                f"size up to {largest:.3g}; look at the function behind it."
            )
        return y

    def _require_same_kind(self, x: Tall, y: Tall) -> None:
        real = y.dtype.kind in "biuf" if isinstance(y, np.ndarray) else y.dtype == x.dtype
        if tuple(y.shape) != tuple(x.shape) or not real:
            raise ValueError(
                f"`A` must take vectors to vectors of numbers like them, got {y.dtype} of shape "
                f"{tuple(y.shape)} for {x.dtype} of shape {tuple(x.shape)}."
            )

    def _check(self) -> None:
        """Raise where products are not linear."""
        rng = np.random.default_rng(SEED)
        size, (a, b) = self.shape[0], (0.7, -1.9)
        x, y = rng.standard_normal((2, size))
        vectors = (x, y, a * x + b * y)
        first, second, both = (self.backend.host(self._times(self.backend.put(v))) for v in vectors)
        parts = abs(a) * np.linalg.norm(first) + abs(b) * np.linalg.norm(second)
        defect = float(np.linalg.norm(both - (a * first + b * second)))
        if not defect <= LINEAR * parts:
            raise ValueError(
                f"`A` must be linear, got A(ax + by) that differs from aAx + bAy by "
                f"{defect / parts:.1e} of its size for random x and y, far more than rounding; "
                f"remove constants, nonlinearities and noise."
            )
        self._checked = True

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise self.needs_matrix("this question")

    def __getitem__(self, _: Any) -> Any:
        raise self.needs_matrix("this question")

    def toarray(self, *_: Any) -> Any:
        """There are no entries."""
        raise self.needs_matrix("this question")

    tocsr = tocoo = astype = toarray

    @property
    def nnz(self) -> int:
        """There are no entries to count."""
        raise self.needs_matrix("this question")


class FunctionOperator(Operator):
    """Products by a function of vectors like the mask, of its size, library and device."""

    def __init__(self, function: Callable[[Any], Any], mask: Any) -> None:
        shape = tuple(getattr(mask, "shape", ())) or np.shape(mask)
        if len(shape) not in (1, 2) or shape[0] == 0:
            raise ValueError(f"`C` must have shape (N,) or (N, d), got {shape}; `A` is a function.")
        library = Backend.of(mask, "C")
        self.backend = HOST if library.xp is np else DeviceBackend(library)
        self.function, self.shape = function, (int(shape[0]),) * 2
        self.dtype, self._checked = np.dtype(np.float64), False

    def _product(self, x: Tall) -> Tall:
        if x.ndim == 1:
            return self._one(x)
        return self.backend.joined([self._one(x[:, j])[:, None] for j in range(x.shape[1])])

    def _one(self, x: Tall) -> Tall:
        y = np.asarray(self.function(x)) if self.backend is HOST else self.function(x)
        if self.backend is not HOST and (
            type(y) is not type(x) or DeviceBackend(Backend.of(y, "A")) != self.backend
        ):
            raise ValueError(
                f"a result of type {type(y).__name__} that is not of {self.backend}, where `C` is"
            )
        self._require_same_kind(x, y)
        return y
