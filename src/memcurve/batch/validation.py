"""Checks of a stack and its masks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import exact_array
from memcurve.batch.backend import Array, Backend, to_host

Floats = NDArray[np.float64]

_SEED = 20230501


def validated_shape(A: Array) -> tuple[int, ...]:
    """The leading axes of a stack of square matrices."""
    shape = tuple(int(length) for length in A.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] == 0:
        raise ValueError(
            f"`A` must be a stack of square matrices, of shape (B, N, N) or (N, N) with N of at "
            f"least one, got shape {shape}."
        )
    return shape[:-2]


def validated_mask(C: Any, shape: tuple[int, ...], size: int) -> NDArray[Any] | None:
    """Masks on the host, one for each network (B, N): they only enter decisions."""
    if C is None:
        return None
    mask = exact_array(to_host(C), "C")
    if mask.shape not in ((size,), (*shape, size)):
        raise ValueError(
            f"`C` must have shape ({size},), or {(*shape, size)} with a mask for each network, to "
            f"fit `A`; got {mask.shape}. Networks of several inputs go one by one, through "
            f"memcurve.memory_curve."
        )
    return np.broadcast_to(mask, (*shape, size)).reshape(-1, size)


def real_stack(backend: Backend, A: Array, C: NDArray[Any] | None) -> tuple[Array, Floats]:
    """Real networks (B, N, N) and masks (B, N) whose states are the ones read.

    Complex ones become [[Re A, −Im A], [Im A, Re A]] and [Re C; Im C], as in
    :meth:`memcurve.LinearNetwork.real_pair`. Without masks, one is drawn at random for all.
    """
    xp = backend.xp
    size = int(A.shape[-1])
    stack = math.prod(A.shape[:-2])
    A = xp.reshape(A, (stack, size, size))
    complex_matrix = bool(xp.isdtype(A.dtype, "complex floating"))
    if complex_matrix or (C is not None and np.iscomplexobj(C)):
        real = xp.real(A) if complex_matrix else A
        imaginary = xp.imag(A) if complex_matrix else xp.zeros_like(A)
        upper = xp.concat([real, -imaginary], axis=2)
        A = xp.concat([upper, xp.concat([imaginary, real], axis=2)], axis=1)
        C = None if C is None else np.concatenate([C.real, C.imag], axis=1)
        size = 2 * size
    if C is None:
        drawn = np.random.default_rng(_SEED).integers(1, 2**20, size).astype(float)
        C = np.broadcast_to(drawn, (stack, size))
    return A, np.asarray(C, dtype=float)
