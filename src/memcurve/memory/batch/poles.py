"""Memory curves from eigenvalues alone: all it takes is the array API.

Each network of a stack goes by circle or lattice, whichever is cheaper, two ways to the all-pass
filter of :mod:`memcurve.solve.allpass`.

**Circle**: the filter sampled, and one Fourier transform. On |z| = 1 the filter
B(z) = Π (z − λ̄_k)/(1 − λ_k z) = Σ_j b_j zʲ is a pure phase::

    B(z) = zⁿ · conj(D)/D,        D(z) = Π_k (1 − λ_k z)

Sampled at the M-th roots of unity, the discrete Fourier transform gives b̃_j = Σ_l b_{j+lM}: what
lies beyond M is folded back (*aliasing*). For every radius 1 < r < 1/ρ Parseval's identity on the
circle |z| = r says Σ_j |b_j|² r²ʲ ≤ G(r)², so that::

    √(Σ_{j≥M} |b_j|²) ≤ G(r) r⁻ᴹ,        G(r) = Π_k (r − |λ_k|)/(1 − |λ_k| r) ≥ max_{|z|=r} |B(z)|

and the folded part has norm at most a = G(r) r⁻ᴹ/(1 − r⁻ᴹ). M is a power of two with a ≤ 2⁻⁵⁴,
a quarter of the rounding of 1.

**Lattice**: causal, so without aliasing, for poles close to the circle. A cascade of first-order
sections with the pole λ, whose state is x, and s = √(1 − |λ|²)::

    x ← λ x + s u,    u ← s x − λ̄ u,        u = 1, 0, 0, … into the first section

The sections of all networks advance at once: section k handles time τ in wave k + τ. What has not
left yet is in the states and in the signals under way, and that is the memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.types import EPS, Complexes, Floats
from memcurve.memory.batch.result import MemoryCurves
from memcurve.network.backend import Array, Backend, spans, to_host
from memcurve.solve import MOST_DEFAULT_LAGS, Lags, validated_lags

LATTICE = 0  # the number of points of a network that goes through the lattice
#: Cost of one pole at one lag of the lattice, in units of one pole at one point of the circle (5 ns
#: on one core). Doubled: the circle is chosen more often.
LATTICE_POLE = 5
#: Overhead of one lag of the lattice on a CPU, in these units. Doubled: the same.
START_ON_HOST = 2**13
#: Overhead on a device. Doubled: the same.
START_ON_DEVICE = 2**20
#: Points of the circle at most; beyond, the lattice is used. Doubled: more memory.
MOST_POINTS = 2**20
#: Points at least. Doubled: small networks take longer.
FEWEST_POINTS = 64
#: ln of the aliasing that is allowed.
_ALLOWED = -54 * np.log(2)
#: Factors 1 − λz multiplied before they are scaled to modulus one: no product of so many leaves
#: float64, however close the poles are to the circle (their distance is 2⁻⁵³ at least).
FACTORS = 16
#: Entries of the largest arrays, poles × points, on a CPU. Doubled: more memory.
BLOCK_ON_HOST = 2**18
#: The same on a device.
BLOCK_ON_DEVICE = 2**24
#: Lags of the lattice between two convergence checks. Doubled: more lags than needed.
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
    lags = validated_lags(lags)
    *shape, size = given.shape
    stack = int(np.prod(shape, dtype=int))
    flat = backend.complex128(backend.xp.reshape(given, (stack, size)))
    if add_conjugates:
        flat = backend.xp.concat([flat, backend.xp.conj(flat)], axis=1)
    known = to_host(flat)
    require_stable(known, "poles")
    if stack == 0:
        return empty_stack(backend, shape, lags)
    plan = Plan(backend, flat, known, np.zeros(stack), points_for(backend, known, lags))
    curves = plan.curves(lags)
    notes = [*plan.notes(lags, curves), ALL_COUNT]
    if np.any(np.abs(known.imag.sum(axis=1)) > _PAIRED * np.abs(known.imag).sum(axis=1)):
        notes.append(WITHOUT_CONJUGATES)
    rank = np.full(stack, known.shape[1])
    return curves.of_stack(backend, shape, rank, plan.methods, notes)


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
        methods: set[str],
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
            method=" and ".join(sorted(methods)),
            notes=tuple(notes),
        )


def empty_stack(backend: Backend, shape: Sequence[int], lags: int | None) -> MemoryCurves:
    """The result of no networks."""
    nothing = Curves(*[backend.put(np.zeros((0, lags or 0)))] * 3)
    note = Note("question", "the stack is empty")
    return nothing.of_stack(backend, shape, np.zeros(0), set(), [note])


class Plan(NamedTuple):
    """How the curves of poles (B, n) are computed."""

    backend: Backend
    poles: Array
    known: Complexes  # their values, on the host
    sensitivity: Floats  # what rounding of the poles does to the curves, (B,)
    points: NDArray[np.int64]  # of the circle, (B,), powers of two; 0 is the lattice

    @property
    def methods(self) -> set[str]:
        """Which of the two are used."""
        return {"lattice" if points == LATTICE else "circle" for points in self.points.tolist()}

    def error(self, slope: Floats, lags: int | None) -> Floats:
        """Per-lag error (B, m): poles off by rounding, and rounding of the curve itself.

        2·slope·e + 4e² + floor, where e bounds the norm of the error of the all-pass filter's
        coefficients, ``spread`` and half of the poles' ``sensitivity``; ``slope`` is
        √min(MC_τ, 1 − MC_τ), (B, m) or one for all.

        A relative rounding error u in λ_k z changes 1 − λ_k z by u/|1 − λ_k z| relative to itself,
        whose mean square over the circle is u²/(1 − |λ_k|²); ``roots`` sums the roots of these.
        Circle, with u = eps/2: (√5 + √2)u for λz and z, (1 + √5)u for a difference and a product,
        twice, as B holds the phase of D twice; 4·eps a level of the Fourier transform; aliasing;
        and the sums from either end, whose rounding is at most u·Σ_τ MC_τ ≤ u·n. Lattice: each
        rotation is turned by about eps, and about eps is added to its signals at each step.
        """
        modulus, on_lattice = np.abs(self.known), self.points == LATTICE
        roots = (1 / np.sqrt(np.maximum((1 - modulus) * (1 + modulus), EPS))).sum(axis=1)
        levels, steps = np.log2(np.maximum(self.points, 1)), np.sqrt(lags or MOST_DEFAULT_LAGS)
        spread = EPS * np.where(on_lattice, 4 * roots + 2 * steps + 8, 8 * roots + 4 * levels + 9)
        floor = EPS * np.where(on_lattice, 4, modulus.shape[1] + levels + 2)
        off = (spread + self.sensitivity / 2)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            error = 2 * slope * off + 4 * off**2 + floor[:, None]
        return np.where(np.isfinite(error), np.minimum(error, 1.0), 1.0)

    def curves(self, lags: int | None, *, at_least: int = 1) -> Curves:
        """As many lags as matter by default, and ``at_least`` so many."""
        backend, size = self.backend, self.known.shape[1]
        # the lattice comes last, and then knows how many lags the others take
        groups = [np.flatnonzero(self.points == p) for p in np.unique(self.points)[::-1]]
        parts, count = [], lags or at_least
        for own in groups:
            poles, points = backend.rows(self.poles, own), int(self.points[own[0]])
            if points == LATTICE:
                part = lattice_curves(backend, poles, lags, self.known[own], at_least=count)
                count = int(part[0].shape[1])
            else:
                part = circle_curves(backend, poles, points)
                if lags is None:
                    listed = Lags(None, np.full(len(own), float(size)))
                    listed.enough(to_host(part[0]))
                    count = max(count, min(listed.count or points, MOST_DEFAULT_LAGS))
            parts.append(part)

        def at_all_lags(curves: Array, beyond: float) -> Array:
            """Cut or continued: beyond the points of the circle nothing is left."""
            if (missing := count - curves.shape[1]) <= 0:
                return curves[:, :count]
            rest = backend.put(np.full((curves.shape[0], missing), beyond))
            return backend.joined([curves, rest], 1)

        order = np.argsort(np.concatenate(groups), kind="stable")
        memory, loss = (
            backend.joined([at_all_lags(part[k], float(k)) for part in parts], 0) for k in (0, 1)
        )
        memory, loss = backend.rows(memory, order), backend.rows(loss, order)
        slope = np.sqrt(np.maximum(np.minimum(to_host(memory), to_host(loss)), 0.0))
        return Curves(memory, backend.put(self.error(slope, count)), loss)

    def notes(self, asked: int | None, curves: Curves) -> list[Note]:
        """What to know about the curves."""
        notes, lags = [], int(curves.values.shape[1])
        if "circle" in self.methods:
            text = (
                f"circle: the filter sampled at up to {self.points.max()} points of the unit "
                f"circle; values far below `error` have no relative accuracy (use "
                f"memcurve.memory_curve)"
            )
            notes.append(Note("method", text))
        if "lattice" in self.methods:
            notes.append(Note("method", "lattice: lag by lag, without truncation or aliasing"))
        if asked is None and lags >= MOST_DEFAULT_LAGS:
            text = f"lags are truncated at {lags}: memory beyond is in `total`; give `lags`"
            notes.append(Note("lags", text))
        return notes


def points_for(backend: Backend, poles: Complexes, lags: int | None) -> NDArray[np.int64]:
    """Points of the circle for each network, or the lattice where that is cheaper."""
    stack, size = poles.shape
    points = points_needed(poles)
    radius = np.abs(poles).max(axis=1, initial=0.0)
    waves = size + (lags or np.minimum(2 * size + 18 / (1 - radius), MOST_DEFAULT_LAGS))
    start = START_ON_HOST if backend.is_host else START_ON_DEVICE
    dearer = points * size > waves * (LATTICE_POLE * size + start / stack)
    return np.where(dearer | (points > MOST_POINTS), LATTICE, points)


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


# --- circle


def points_needed(poles: Complexes) -> NDArray[np.int64]:
    """Powers of two at which the aliasing of each network (B,) is below rounding.

    The fewest over the radii r = ρ^(−t), 0 < t < 1; rounding of the sums of ln G(r) is included.
    """
    modulus = np.abs(poles)
    largest = modulus.max(axis=1, initial=0.0)
    least = np.full(len(poles), 2.0**60)
    for t in np.linspace(0.05, 0.95, 19):
        log_radius = -t * np.log(np.maximum(largest, 1e-3))
        radius = np.exp(log_radius)[:, None]
        room = np.maximum(1 - modulus * radius, EPS)
        growth = np.log((radius - modulus) / room).sum(axis=1) * (1 + 1e-9) + 1e-6
        least = np.minimum(least, (growth - _ALLOWED + 1) / log_radius)
    return np.asarray(2 ** np.ceil(np.log2(np.maximum(least, FEWEST_POINTS))).astype(np.int64))


def circle_curves(backend: Backend, poles: Array, points: int) -> tuple[Array, Array]:
    """Memory and loss (B, points) of the poles (B, n)."""
    xp = backend.xp
    phase = _phase_of_denominator(backend, poles, roots_of_unity(points))
    all_pass = xp.conj(phase) * xp.conj(phase)  # without the factor zⁿ, which only shifts b
    energy = _energy(xp, xp.fft.fft(all_pass) / points)
    energy = xp.roll(energy, poles.shape[1] % points, axis=-1)
    tail = backend.running_sum(energy, from_the_end=True)
    memory = xp.concat([tail[:, 1:], xp.zeros_like(tail[:, :1])], axis=1)
    lost = backend.running_sum(energy)
    # summed over many lags the loss collects rounding; where it is large the memory is exact
    return memory, xp.where(lost < 0.5, lost, 1 - memory)


def _phase_of_denominator(backend: Backend, poles: Array, points: Complexes) -> Array:
    """D/|D| at some points of the circle, blocks of points and poles at a time."""
    xp = backend.xp
    z = backend.put(points)
    stack, size = poles.shape
    block = BLOCK_ON_HOST if backend.is_host else BLOCK_ON_DEVICE
    width = max(1, block // (stack * FACTORS))
    parts = []
    for own in spans(len(points), width):
        some = z[own][None, None, :]
        phase: Any = 1.0
        for group in spans(size, FACTORS):
            factors = 1 - poles[:, group, None] * some
            while (half := factors.shape[1] // 2) > 0:
                halves, odd = factors[:, :half, :] * factors[:, -half:, :], factors.shape[1] % 2
                factors = xp.concat([halves, factors[:, half:-half, :]], axis=1) if odd else halves
            product = factors[:, 0, :]
            phase = phase * (product / xp.abs(product))
        parts.append(phase / xp.abs(phase))
    return backend.joined(parts, axis=1)


def roots_of_unity(points: int) -> Complexes:
    """exp(2πi k/M) for k = 0 … M − 1, each to the last digit: only angles up to π/4 are needed."""
    k = np.arange(points)
    quarter = (8 * k + points) // (2 * points)  # the nearest multiple of π/2
    angle = 2 * np.pi * ((k - quarter * points / 4) / points)
    turn = np.array([1, 1j, -1, -1j])[quarter % 4]
    return np.asarray((np.cos(angle) + 1j * np.sin(angle)) * turn)


# --- lattice


def lattice_curves(
    backend: Backend, poles: Array, lags: int | None, known: Complexes, *, at_least: int = 1
) -> tuple[Array, Array]:
    """Memory and loss (B, m) of the poles (B, n); ``lags=None`` goes on until there are enough."""
    xp = backend.xp
    stack, size = poles.shape
    poles = _ascending(backend, poles, known)
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
    loss = backend.running_sum(xp.stack(left[:count], axis=1))
    energy = memory + loss  # one in theory: dividing by it removes the drift
    return memory / energy, loss / energy


def _energy(xp: Any, signal: Array) -> Array:
    return xp.real(signal) ** 2 + xp.imag(signal) ** 2


def _ascending(backend: Backend, poles: Array, known: Complexes) -> Array:
    """The poles of each network by modulus, conjugate pairs side by side: best for rounding."""
    order = np.lexsort((known.imag, np.abs(known.imag), known.real, np.abs(known)), axis=1)
    stack, size = known.shape
    flat = order + size * np.arange(stack)[:, None]
    picked = backend.rows(backend.xp.reshape(poles, (stack * size,)), flat.ravel())
    return backend.xp.reshape(picked, (stack, size))
