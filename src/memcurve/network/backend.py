"""Array backends: NumPy, or torch, cupy, jax and others through array-api-compat.

Numbers are computed where the array is. Decisions (stability, rank, how many lags) are made on
the host, from values that carry no gradient, so that they never become part of a graph.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import LARGEST_EXACT_INTEGER, exact_array, require_finite
from memcurve.core.optional import optional

Array = Any  # an array of any namespace

#: Entries of the matrices processed together, which bounds the memory it takes.
TOGETHER = 2**26


def _compat() -> Any:
    return optional("array_api_compat", "arrays other than NumPy's", "arrays")


def _library(array: Any) -> str:
    """The library of an array, if it needs special care; lists and numbers are NumPy's."""
    if isinstance(array, np.ndarray | np.generic | list | tuple | int | float | complex):
        return "numpy"
    compat = _compat()
    libraries = ("torch", "jax", "cupy")
    return next((n for n in libraries if getattr(compat, f"is_{n}_array")(array)), "another")


@dataclass(frozen=True)
class Backend:
    """A namespace of the array API and a device."""

    xp: Any
    device: Any  # where new arrays go; None for NumPy
    name: str  # what messages call it, e.g. "torch"
    is_host: bool  # the CPU: operations start at once, and cost by their size

    @classmethod
    def of(cls, array: Any, argument: str) -> Backend:
        """The backend of an array; lists and numbers are NumPy's."""
        if _library(array) == "numpy":
            return cls(np, None, "numpy", True)
        compat = _compat()
        try:
            xp = compat.array_namespace(array)
        except TypeError:
            raise TypeError(
                f"`{argument}` must be an array of NumPy, torch, cupy, jax or another namespace of "
                f"the array API, got {type(array).__name__}; sparse networks go one by one, "
                f"through memcurve.memory_curve."
            ) from None
        name = xp.__name__.removeprefix("array_api_compat.").partition(".")[0]
        device = compat.device(without_gradient(array))
        is_host = any(word in str(device).lower() for word in ("cpu", "host"))
        return cls(xp, device, name, is_host)

    def float64(self, array: Any, argument: str) -> Array:
        """The same numbers as float64 or complex128, where that is exact; gradients pass."""
        if self.xp is np:
            return exact_array(array, argument)
        xp = self.xp
        if self.name == "torch" and str(array.layout) != "torch.strided":
            raise TypeError(
                f"`{argument}` must be a dense tensor, got {array.layout}; sparse networks go one "
                f"by one, through memcurve.memory_curve."
            )
        self._require_float64(argument)
        is_complex = xp.isdtype(array.dtype, "complex floating")
        if not is_complex and not xp.isdtype(array.dtype, ("real floating", "integral", "bool")):
            raise TypeError(
                f"`{argument}` must hold real or complex numbers, got dtype {array.dtype}; convert "
                f"it first."
            )
        exact = xp.astype(array, xp.complex128 if is_complex else xp.float64, copy=False)
        plain = without_gradient(exact)
        if not to_host(xp.all(xp.isfinite(plain))):
            require_finite(to_host(plain), argument)
        integers = xp.isdtype(array.dtype, "integral") and math.prod(plain.shape) > 0
        if integers and to_host(xp.max(xp.abs(plain)) >= LARGEST_EXACT_INTEGER):
            raise ValueError(
                f"`{argument}` holds integers of 2**53 or beyond, which float64 may not "
                f"represent; divide by a common factor or convert to float yourself."
            )
        return exact

    def complex128(self, array: Array) -> Array:
        """Float64 numbers as complex ones; gradients pass."""
        if self.xp is np:  # whose astype is a function from NumPy 2.1 on
            return np.asarray(array, dtype=np.complex128)
        return self.xp.astype(array, self.xp.complex128, copy=False)

    def _require_float64(self, argument: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # jax warns and goes on in single precision
            try:
                double = self.xp.zeros(1, dtype=self.xp.float64, device=self.device).dtype
            except (TypeError, RuntimeError):
                double = None
        if double != self.xp.float64:
            remedy = (
                'call jax.config.update("jax_enable_x64", True) first'
                if self.name == "jax"
                else "move the array to a device that has it, e.g. the CPU"
            )
            raise TypeError(
                f"`{argument}` is on a device without float64 ({self.name}, {self.device}), and "
                f"single precision is not enough for a memory curve; {remedy}."
            )

    def put(self, array: NDArray[Any]) -> Array:
        """A host array on this backend's device."""
        if self.xp is np:
            return array
        # a copy, as libraries on the host may share the memory of what they are given
        host = np.array(array, order="C") if self.is_host else np.ascontiguousarray(array)
        return self.xp.asarray(host, device=self.device)

    def rows(self, array: Array, index: NDArray[Any]) -> Array:
        """Some entries of the first axis, in the order of ``index``."""
        if len(index) == array.shape[0] and np.array_equal(index, np.arange(len(index))):
            return array
        return self.xp.take(array, self.put(index.astype(np.int64)), axis=0)

    def joined(self, parts: Sequence[Array], axis: int) -> Array:
        """Arrays one after another."""
        return parts[0] if len(parts) == 1 else self.xp.concat(list(parts), axis=axis)


def blocks(stack: int, size: int) -> Iterator[slice]:
    """Slices of a stack of N×N matrices, as many at a time as fit."""
    width = max(1, TOGETHER // size**2)
    for start in range(0, stack, width):
        yield slice(start, min(start + width, stack))


def without_gradient(array: Any) -> Any:
    """The same values, detached from the autograd graph."""
    library = _library(array)
    if library == "jax":
        import jax

        return jax.lax.stop_gradient(array)
    return array.detach() if library == "torch" else array


def has_gradient(array: Any) -> bool:
    """Whether gradients with respect to this array are requested."""
    library = _library(array)
    if library == "torch":
        import torch

        return bool(array.requires_grad) and torch.is_grad_enabled()
    if library == "jax":
        import jax

        return isinstance(array, jax.core.Tracer)
    return False


def to_host(array: Any) -> NDArray[Any]:
    """The values as a NumPy array."""
    plain, library = without_gradient(array), _library(array)
    if library == "torch":
        return np.asarray(plain.cpu().resolve_conj().resolve_neg().numpy())
    if library == "cupy":
        return np.asarray(plain.get())
    if has_gradient(plain):  # jax.jit and jax.vmap leave nothing to look at
        raise TypeError(
            "memory curves cannot be traced by jax.jit or jax.vmap: stability, rank and the number "
            "of points depend on the numbers themselves. Call the function outside of jit; "
            "jax.grad works."
        )
    return np.asarray(plain)
