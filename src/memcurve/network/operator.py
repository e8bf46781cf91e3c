"""Operator: a connectivity that is known by its products only, checked when it is first used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: A(ax + by) and aAx + bAy differ by no more than this share of their size: rounding of single
#: precision. What rounding there is counts in the errors.
LINEAR = 3e-6
_SEED = 20230501


def needs_matrix(what: str) -> TypeError:
    """The error where entries of A are needed and only products are there."""
    return TypeError(
        f"`A` must be an array or a scipy sparse array for {what}, got products with it only. What "
        f"can be asked of these: memory_curve(network, noise=…), noise_profile and "
        f"memcurve.reduced, for errors of reading. Or make the matrix, if it fits: "
        f"network.replace(A=network.A @ numpy.eye(network.size))."
    )


class Operator:
    """Products with a square matrix, of any kind that scipy makes a ``LinearOperator`` of.

    The products of its first use are looked at: they must be linear, and finite as all others.
    Whatever asks for entries gets an error that says what can be asked instead.
    """

    ndim = 2

    def __init__(self, products: Any) -> None:
        self.products = products
        self.shape: tuple[int, int] = tuple(products.shape)
        is_complex = products.dtype is not None and np.dtype(products.dtype).kind == "c"
        self.dtype = np.dtype(np.complex128 if is_complex else np.float64)
        self._checked = False

    def __matmul__(self, x: Any) -> NDArray[Any]:
        if not self._checked:
            self._check()
        if np.iscomplexobj(x) and self.dtype.kind != "c":  # it is the mask that is complex
            return np.asarray(self._times(x.real) + 1j * self._times(x.imag))
        return self._times(np.asarray(x))

    def scaled(self, scale: Floats) -> Operator:
        """D⁻¹AD for the diagonal D."""
        if np.ptp(scale) == 0:
            return self
        return _Derived(self.shape, lambda x: ((self @ (x.T * scale).T).T / scale).T)

    def rounding(self, X: Floats) -> Floats:
        """Lengths of the rounding errors in AX, column by column, by another way to each product.

        A(x + w) − Aw, with w random, but large where x is.
        """
        W = X * np.random.default_rng(_SEED).standard_normal(X.shape)
        difference = self @ (X + W) - self @ W - self @ X
        return np.asarray(np.sqrt((difference**2).sum(axis=0)))

    def real_pair(self) -> Operator:
        """[[Re A, −Im A], [Im A, Re A]]: real and imaginary parts of states one below the other."""
        size = self.shape[0]

        def times(x: NDArray[Any]) -> NDArray[Any]:
            y = self @ (x[:size] + 1j * x[size:])
            return np.concatenate([y.real, y.imag])

        return _Derived((2 * size, 2 * size), times)

    def _times(self, x: NDArray[Any]) -> NDArray[Any]:
        try:
            y = np.asarray(self.products.matvec(x) if x.ndim == 1 else self.products.matmat(x))
        except ValueError as error:
            raise ValueError(
                f"`A` must take vectors of length {len(x)} to such vectors, got: {error}."
            ) from error
        if y.shape != x.shape or y.dtype.kind not in "biuf" + "c" * (self.dtype.kind == "c"):
            raise ValueError(
                f"`A` must take vectors to vectors of numbers like them, got {y.dtype} of shape "
                f"{y.shape} for {x.dtype} of shape {x.shape}; a complex A has dtype=complex."
            )
        if not np.isfinite(y.sum()) and np.isfinite(x.sum()):
            many = int(np.count_nonzero(~np.isfinite(y)))
            raise ValueError(
                f"`A` must have finite products, got {many} numbers that are not, for a vector of "
                f"size up to {float(np.abs(x).max()):.3g}; look at the function behind it."
            )
        return y

    def _check(self) -> None:
        """Raise where products are not linear."""
        rng = np.random.default_rng(_SEED)
        size, (a, b) = self.shape[0], (0.7, -1.9)
        x, y = rng.standard_normal((2, size))
        first, second, both = (self._times(v) for v in (x, y, a * x + b * y))
        parts = abs(a) * np.linalg.norm(first) + abs(b) * np.linalg.norm(second)
        defect = float(np.linalg.norm(both - (a * first + b * second)))
        if not defect <= LINEAR * parts:
            raise ValueError(
                f"`A` must be linear, got A(ax + by) that differs from aAx + bAy by "
                f"{defect / parts:.1e} of its size for random x and y, far more than rounding; "
                f"take off constants, nonlinearities and noise."
            )
        self._checked = True

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise needs_matrix("this question")

    def __getitem__(self, _: Any) -> Any:
        raise needs_matrix("this question")

    def toarray(self, *_: Any) -> Any:
        """Entries there are none."""
        raise needs_matrix("this question")

    tocsr = tocoo = astype = toarray

    @property
    def nnz(self) -> int:
        """Nor are entries counted."""
        raise needs_matrix("this question")


class _Derived(Operator):
    """Products made from those of an operator that is checked itself."""

    def __init__(self, shape: tuple[int, int], times: Any) -> None:
        self.shape, self.dtype, self._times = shape, np.dtype(np.float64), times  # type: ignore[method-assign]
        self._checked = True
