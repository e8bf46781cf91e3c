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
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import require_flag
from memcurve.core.errors import UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.types import EPS, Complexes, Floats
from memcurve.memory.batch.result import MemoryCurves
from memcurve.network.backend import Array, Backend, has_gradient, to_host
from memcurve.solve import MOST_DEFAULT_LAGS, Lags, memory_of_poles, validated_lags

#: Waves between two convergence checks. Doubled: more lags than needed.
LOOK_EVERY = 256
#: Imaginary parts of conjugate pairs add up to nothing, up to this share: rounding.
_PAIRED = 1e-9
ALL_COUNT = Note("proof", "all given poles are taken to be controllable")
WITHOUT_CONJUGATES = Note(
    "question",
    "complex poles count once, as for a readout with complex weights; read through real and "
    "imaginary parts, as by memory_curve and layers, they count twice: add_conjugates=True",
)


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
    given = backend.float64(poles, "poles")
    if len(given.shape) == 0 or given.shape[-1] == 0:
        raise ValueError(
            f"`poles` must have shape (..., n) with n of at least one, got {tuple(given.shape)}."
        )
    lags, paired = validated_lags(lags), require_flag(add_conjugates, "add_conjugates")
    *shape, size = given.shape
    stack = int(np.prod(shape, dtype=int))
    flat = backend.complex128(backend.xp.reshape(given, (stack, size)))
    if paired:
        flat = backend.xp.concat([flat, backend.xp.conj(flat)], axis=1)
    host_poles = to_host(flat)
    require_stable(host_poles, "poles")
    if stack == 0:
        return empty_stack(backend, shape, lags)
    curves = lattice_curves(backend, flat, host_poles, np.zeros(stack), lags)
    notes = [*truncation_notes(curves, lags), ALL_COUNT]
    if np.any(np.abs(host_poles.imag.sum(axis=1)) > _PAIRED * np.abs(host_poles.imag).sum(axis=1)):
        notes.append(WITHOUT_CONJUGATES)
    return curves.of_stack(backend, shape, np.full(stack, host_poles.shape[1]), "lattice", notes)


class Curves(NamedTuple):
    """Memory, its error and the loss (B, m)."""

    values: Array
    error: Array
    loss: Array

    def of_stack(
        self,
        backend: Backend,
        shape: Sequence[int],
        rank: NDArray[Any],
        method: str,
        notes: Sequence[Note],
    ) -> MemoryCurves:
        """The result of a stack with these leading axes."""
        count = int(self.values.shape[1])
        folded = {n: backend.xp.reshape(x, (*shape, count)) for n, x in self._asdict().items()}
        ranks = rank.astype(np.int64).reshape(shape)
        return MemoryCurves(
            shape=tuple(shape),
            lags=backend.put(np.arange(count)),
            **folded,
            total=backend.put(ranks.astype(float)),
            rank=backend.put(ranks),
            method=method,
            notes=tuple(notes),
        )


def empty_stack(backend: Backend, shape: Sequence[int], lags: int | None) -> MemoryCurves:
    """The result of no networks."""
    nothing = Curves(*[backend.put(np.zeros((0, lags or 0)))] * 3)
    note = Note("question", "the stack is empty")
    return nothing.of_stack(backend, shape, np.zeros(0), "", [note])


def require_stable(poles: Complexes, argument: str) -> None:
    """Raise where a network (a row) has an eigenvalue of modulus one or more."""
    radius = np.abs(poles).max(axis=1, initial=0.0)
    outside = np.flatnonzero(radius >= 1)
    if len(outside):
        raise UnstableNetworkError(
            f"unstable: {listed(outside)} of the stack, as far as floating point can tell: "
            f"`{argument}` has eigenvalues of modulus up to {radius.max():.6g}. Scale them below "
            f"1, or leave them out; memcurve.memory_curve decides more carefully for one network."
        )


def listed(networks: NDArray[np.intp]) -> str:
    """The networks by number, at most eight of them."""
    numbers = ", ".join(str(k) for k in networks[:8].tolist())
    more = f" and {len(networks) - 8} more" if len(networks) > 8 else ""
    return f"network{'s' if len(networks) > 1 else ''} {numbers}{more}"


def truncation_notes(curves: Curves, asked: int | None) -> list[Note]:
    """A note where the default number of lags ends before the memory does."""
    lags = int(curves.values.shape[1])
    if asked is not None or lags < MOST_DEFAULT_LAGS:
        return []
    text = f"lags are truncated at {lags}: memory beyond is in `total`; give `lags`"
    return [Note("lags", text)]


def rounding_error(
    poles: Complexes, sensitivity: Floats, slope: Floats, lags: int | None
) -> Floats:
    """Per-lag error (B, m): poles off by rounding, and rounding of the lattice itself.

    2·slope·e + 4e² + 4·eps, where e bounds the norm of the error of the all-pass filter's
    coefficients, ``spread`` and half of the poles' ``sensitivity`` (B,); ``slope`` is
    √min(MC_τ, 1 − MC_τ), (B, m) or one for all.

    Each rotation is turned by about eps, and about eps is added to its signals at each step. A
    relative error u in λ_k changes 1 − λ_k z by u/|1 − λ_k z| relative to itself, whose mean square
    over the circle is u²/(1 − |λ_k|²).
    """
    modulus = np.abs(poles)
    roots = (1 / np.sqrt(np.maximum((1 - modulus) * (1 + modulus), EPS))).sum(axis=1)
    spread = EPS * (4 * roots + 2 * np.sqrt(lags or MOST_DEFAULT_LAGS) + 8)
    off = (spread + sensitivity / 2)[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        error = 2 * slope * off + 4 * off**2 + 4 * EPS
    return np.where(np.isfinite(error), np.minimum(error, 1.0), 1.0)


def lattice_curves(
    backend: Backend,
    poles: Array,
    host_poles: Complexes,
    sensitivity: Floats,
    lags: int | None,
    *,
    at_least: int = 1,
) -> Curves:
    """Curves of the poles (B, n), whose values on the host are ``host_poles``.

    ``lags=None`` takes as many lags as matter, and ``at_least`` so many.
    """
    stack, size = host_poles.shape
    pairs = np.sort_complex(host_poles), np.sort_complex(host_poles.conj())
    if stack <= size and not has_gradient(poles) and np.array_equal(*pairs):
        memory, loss = map(backend.put, _one_by_one(host_poles, lags, at_least))
    else:
        memory, loss = _together(backend, poles, host_poles, lags, at_least)
    slope = np.sqrt(np.maximum(np.minimum(to_host(memory), to_host(loss)), 0.0))
    error = rounding_error(host_poles, sensitivity, slope, int(memory.shape[1]))
    return Curves(memory, backend.put(error), loss)


def _one_by_one(poles: Complexes, lags: int | None, at_least: int) -> tuple[Floats, Floats]:
    curves = [memory_of_poles(own, lags) for own in poles]
    count = lags or max(at_least, *(len(memory) for memory, _ in curves))
    for k, own in enumerate(poles):
        if len(curves[k][0]) < count:
            curves[k] = memory_of_poles(own, count)
    memory, loss = zip(*curves, strict=True)
    return np.stack(memory), np.stack(loss)


def _together(
    backend: Backend, poles: Array, host_poles: Complexes, lags: int | None, at_least: int
) -> tuple[Array, Array]:
    xp = backend.xp
    stack, size = poles.shape
    poles = _ascending(backend, poles, host_poles)
    s = xp.sqrt(1 - _energy(xp, poles))
    conjugate = xp.conj(poles)
    nothing = xp.zeros_like(poles[:, :1])
    # a product with ones: the `sum` of some versions of array-api-compat drops torch's gradient
    ones = backend.put(np.ones(size))
    x = xp.zeros_like(poles)
    u = xp.concat([nothing + 1, x[:, 1:]], axis=1)
    held, left = list[Array](), list[Array]()
    listed, count = Lags(None, np.full(stack, float(size))), lags
    for wave in itertools.count(1):
        out = s * x - conjugate * u
        x = poles * x + s * u
        u = xp.concat([nothing, out[:, :-1]], axis=1)
        if wave < size:  # lag 0 has not left yet
            continue
        held.append(xp.matmul(_energy(xp, x) + _energy(xp, u), ones))
        left.append(_energy(xp, out[:, -1]))
        if count is None and len(held) % LOOK_EVERY == 0:
            listed.enough(to_host(xp.stack(held[-LOOK_EVERY:], axis=1)))
            count = None if listed.count is None else max(listed.count, at_least)
        if count is not None and len(held) >= count:
            break
    memory = xp.stack(held[:count], axis=1)
    running_sum = getattr(xp, "cumulative_sum", None) or xp.cumsum  # its name before NumPy 2.1
    loss = running_sum(xp.stack(left[:count], axis=1), axis=-1)
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
