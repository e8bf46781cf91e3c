"""Poles → memory curve by a lattice of rotations, for stacks: causal, so without aliasing.

The filter of :mod:`memcurve.solve.allpass` as a cascade of first-order sections with the pole λ,
whose state is x, and s = √(1 − |λ|²)::

    x ← λ x + s u,    u ← s x − λ̄ u,        u = 1, 0, 0, … into the first section

The sections of all networks advance at once: section k handles time τ in wave k + τ. What has not
left yet is in the states and in the signals under way, and that is the memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.batch.backend import Array, Backend, to_host
from memcurve.batch.circle import Evaluation, rounding_of_poles
from memcurve.solve.lags import MOST_DEFAULT_LAGS
from memcurve.solve.sensitivity import EPS

Floats = NDArray[np.float64]

#: Lags between two looks at whether there are enough, by default.
LOOK_EVERY = 256


def lattice_errors(poles: NDArray[np.complex128], lags: int | None = None) -> tuple[Floats, Floats]:
    """Return ``spread`` and ``floor`` of :func:`lattice_curves`, known beforehand.

    Rounding turns each rotation by about eps, which moves the section's response by eps/√(1 − |λ|²)
    over the circle, and adds about eps to its signals at each step.
    """
    steps = np.sqrt(lags or MOST_DEFAULT_LAGS)
    spread = EPS * (4 * rounding_of_poles(poles) + 2 * steps + 8)
    return spread, np.full(len(poles), 4 * EPS)


def lattice_curves(
    backend: Backend, poles: Array, lags: int | None, *, known: NDArray[np.complex128]
) -> Evaluation:
    """Memory and loss (B, m) of the poles (B, n); ``lags=None`` goes on until there are enough.

    ``known`` are the values of the poles on the host.
    """
    xp = backend.xp
    stack, size = poles.shape
    poles = _ascending(backend, poles, known)
    real, imaginary = xp.real(poles), xp.imag(poles)
    s = xp.sqrt(1 - (real * real + imaginary * imaginary))
    conjugate = xp.conj(poles)
    nothing = xp.zeros_like(poles[:, :1])
    # a product with ones: the `sum` of some versions of array-api-compat drops torch's gradient
    ones = backend.put(np.ones(size))
    x = xp.zeros_like(poles)
    u = xp.concat([nothing + 1, x[:, 1:]], axis=1)
    held: list[Array] = []
    left: list[Array] = []
    seen = np.zeros(stack)  # memory of the lags looked at, where their number is not given
    wave = 0
    while True:
        out = s * x - conjugate * u
        x = poles * x + s * u
        u = xp.concat([nothing, out[:, :-1]], axis=1)
        wave += 1
        if wave < size:  # lag 0 has not left yet
            continue
        held.append(xp.matmul(_energy(xp, x) + _energy(xp, u), ones))
        left.append(_energy(xp, out[:, -1]))
        if lags is None and len(held) % LOOK_EVERY == 0:
            latest = to_host(xp.stack(held[-LOOK_EVERY:], axis=1))
            lags = enough_lags(latest, float(size), first=len(held) - LOOK_EVERY, held=seen)
            lags = MOST_DEFAULT_LAGS if len(held) >= MOST_DEFAULT_LAGS else lags
            seen += latest.sum(axis=1)
        if lags is not None and len(held) >= lags:
            break
    memory = xp.stack(held[:lags], axis=1)
    loss = backend.running_sum(xp.stack(left[:lags], axis=1))
    energy = memory + loss  # one in theory: dividing by it removes the drift
    return Evaluation(memory / energy, loss / energy, *lattice_errors(known, lags))


def _energy(xp: Any, signal: Array) -> Array:
    return xp.real(signal) ** 2 + xp.imag(signal) ** 2


def _ascending(backend: Backend, poles: Array, known: NDArray[np.complex128]) -> Array:
    """The poles of each network by modulus, conjugate pairs side by side: best for rounding."""
    order = np.lexsort((known.imag, np.abs(known.imag), known.real, np.abs(known)), axis=1)
    stack, size = known.shape
    flat = order + size * np.arange(stack)[:, None]
    picked = backend.rows(backend.xp.reshape(poles, (stack * size,)), flat.ravel())
    return backend.xp.reshape(picked, (stack, size))
