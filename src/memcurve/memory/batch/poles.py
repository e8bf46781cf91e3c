"""Memory curves from eigenvalues alone: all it takes is the array API.

With B(z) = Π_k (z − λ̄_k)/(1 − λ_k z) = Σ_j b_j zʲ the memory is MC_τ = Σ_{j>τ} |b_j|², see
:mod:`memcurve.solve.allpass`, whose lattice takes large networks one by one. Many small ones, and
those with a gradient, advance together through a cascade of first-order sections, one per pole λ,
with the state x and s = √(1 − |λ|²)::

    x ← λ x + s u,    u ← s x − λ̄ u,        u = 1, 0, 0, … into the first section

Section k handles time τ in wave k + τ. What has not left yet is in the states and in the signals
under way, and that is the memory.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from memcurve.core.arguments import require_flag
from memcurve.core.types import EPS, Complexes, Floats
from memcurve.memory.batch.result import MemoryCurves, require_stable, stacked, truncation_notes
from memcurve.memory.curve import fault, note
from memcurve.network.backend import Array, Backend, has_gradient, to_host
from memcurve.solve import Lags, curve_error, memory_of_poles, validated_lags

#: Waves between two convergence checks. Doubled: more lags than needed.
LOOK_EVERY = 256
#: Imaginary parts of conjugate pairs add up to nothing, up to this share: rounding.
_PAIRED = 1e-9


def curves_of_poles(
    poles: Any, lags: int | None = None, *, add_conjugates: bool = False
) -> MemoryCurves:
    """Memory of networks with given eigenvalues, each excited by the input.

    ``MC_τ = Σ_{j>τ} |b_j|²`` with ``Σ_j b_j zʲ = Π_k (z − λ̄_k)/(1 − λ_k z)``: the mask does not
    matter as long as it excites every mode, and repeated eigenvalues stand for Jordan blocks.
    Differentiable with respect to the eigenvalues, with torch (``backward``) and jax
    (``jax.grad``, outside of ``jax.jit``).

    Parameters
    ----------
    poles : (..., n) array
        Eigenvalues of modulus below one, real or complex, of NumPy, torch, cupy, jax or another
        namespace of the array API. Those of a real network come in conjugate pairs: give both, or
        say ``add_conjugates``.
    lags : int, optional
        ``lags=m`` gives lags 0 … m − 1; by default enough to hold all but 1e-12 of the memory of
        every network.
    add_conjugates : bool
        Add the conjugate of every pole: the states of a complex diagonal network (LRU, S4D), read
        through real and imaginary parts, have both, and count twice.

    Returns
    -------
    MemoryCurves
        Exact for the stored poles, up to ``error``; the rank is the number of poles.

    Examples
    --------
    >>> from memcurve.memory.batch import curves_of_poles
    >>> curves = curves_of_poles([[0.0, 0.0, 0.0], [0.9, 0.5, -0.5]], lags=4)
    >>> curves.values.round(4)
    array([[1.    , 1.    , 1.    , 0.    ],
           [0.9494, 0.9471, 0.1612, 0.1417]])
    """
    backend = Backend.of(poles, "poles")
    values = backend.float64(poles, "poles")
    if len(values.shape) == 0 or values.shape[-1] == 0:
        raise ValueError(fault("no_poles", shape=tuple(values.shape)))
    lags, paired = validated_lags(lags), require_flag(add_conjugates, "add_conjugates")
    *shape, size = map(int, values.shape)
    stack = int(np.prod(shape, dtype=int))
    flat = backend.complex128(backend.xp.reshape(values, (stack, size)))
    if paired:
        flat = backend.xp.concat([flat, backend.xp.conj(flat)], axis=1)
    host_poles = to_host(flat)
    require_stable(host_poles, "poles")
    curves = lattice_curves(backend, flat, np.zeros(stack), lags)
    notes = [*truncation_notes(curves[0], lags), note("all_controllable")]
    if np.any(np.abs(host_poles.imag.sum(axis=1)) > _PAIRED * np.abs(host_poles.imag).sum(axis=1)):
        notes.append(note("complex_once"))
    rank = np.full(stack, host_poles.shape[1])
    return stacked(backend, tuple(shape), curves, rank, "lattice", notes)


def lattice_curves(
    backend: Backend, poles: Array, sensitivity: Floats, lags: int | None
) -> tuple[Array, Array, Array]:
    """Memory, its error and the loss (B, m) of poles (B, n), which are as sensitive as that (B,).

    A relative error u in λ_k, or in its s, changes 1 − λ_k z by u/|1 − λ_k z| relative to itself,
    whose mean square over the circle is u²/(1 − |λ_k|²).
    """
    host = to_host(poles)
    stack, size = host.shape
    if stack == 0:
        return (backend.put(np.zeros((0, lags or 0))),) * 3
    pairs = np.sort_complex(host), np.sort_complex(host.conj())
    if stack <= size and not has_gradient(poles) and np.array_equal(*pairs):
        memory, loss = map(backend.put, _one_by_one(host, lags))
    else:
        memory, loss = _together(backend, _ascending(backend, poles, host), lags)
    roots = 1 / np.sqrt(np.maximum(1 - np.abs(host), EPS))
    felt = sensitivity + 8 * EPS * roots.sum(axis=1)
    error = curve_error(to_host(memory), to_host(loss), felt[:, None], size)
    return memory, backend.put(error), loss


def _one_by_one(poles: Complexes, lags: int | None) -> tuple[Floats, Floats]:
    curves = [memory_of_poles(spectrum, lags) for spectrum in poles]
    count = max(len(memory) for memory, _ in curves)
    for k, spectrum in enumerate(poles):
        if len(curves[k][0]) < count:
            curves[k] = memory_of_poles(spectrum, count)
    memory, loss = zip(*curves, strict=True)
    return np.stack(memory), np.stack(loss)


def _together(backend: Backend, poles: Array, lags: int | None) -> tuple[Array, Array]:
    xp, (stack, size) = backend.xp, poles.shape
    s = xp.sqrt(1 - _energy(xp, poles))
    conjugate = xp.conj(poles)
    nothing = xp.zeros_like(poles[:, :1])
    # a product with ones: the `sum` of some versions of array-api-compat drops torch's gradient
    ones = backend.put(np.ones(size))
    x = xp.zeros_like(poles)
    u = xp.concat([nothing + 1, x[:, 1:]], axis=1)
    held, left = list[Array](), list[Array]()
    listed = Lags(lags, np.full(stack, float(size)))
    for wave in itertools.count(1):
        out = s * x - conjugate * u
        x = poles * x + s * u
        u = xp.concat([nothing, out[:, :-1]], axis=1)
        if wave < size:  # lag 0 has not left yet
            continue
        held.append(xp.matmul(_energy(xp, x) + _energy(xp, u), ones))
        left.append(_energy(xp, out[:, -1]))
        if listed.count is None and len(held) % LOOK_EVERY == 0:
            listed.enough(to_host(xp.stack(held[-LOOK_EVERY:], axis=1)))
        if listed.count is not None and len(held) >= listed.count:
            break
    memory = xp.stack(held[: listed.count], axis=1)
    running_sum = getattr(xp, "cumulative_sum", None) or xp.cumsum  # its name before NumPy 2.1
    loss = running_sum(xp.stack(left[: listed.count], axis=1), axis=-1)
    energy = memory + loss  # one in theory: dividing by it removes the drift
    return memory / energy, loss / energy


def _energy(xp: Any, signal: Array) -> Array:
    return xp.real(signal) ** 2 + xp.imag(signal) ** 2


def _ascending(backend: Backend, poles: Array, host_poles: Complexes) -> Array:
    """The poles of each network by modulus, conjugate pairs side by side: best for rounding."""
    order = np.lexsort(
        (host_poles.imag, np.abs(host_poles.imag), host_poles.real, np.abs(host_poles)), axis=1
    )
    stack, size = host_poles.shape
    flat = order + size * np.arange(stack)[:, None]
    picked = backend.rows(backend.xp.reshape(poles, (stack * size,)), flat.ravel())
    return backend.xp.reshape(picked, (stack, size))
