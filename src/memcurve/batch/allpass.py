"""Poles → memory curves of stacks, by the all-pass filter of :mod:`memcurve.solve.allpass`.

**Circle**: the filter sampled, and one Fourier transform. On |z| = 1 the filter
B(z) = Π (z − λ̄_k)/(1 − λ_k z) = Σ_j b_j zʲ is a pure phase::

    B(z) = zⁿ · conj(D)/D,        D(z) = Π_k (1 − λ_k z)

Sampled at the M-th roots of unity, the discrete Fourier transform gives b̃_j = Σ_l b_{j+lM}: what
lies beyond M is folded back (*aliasing*). For every radius 1 < r < 1/ρ Parseval's identity on the
circle |z| = r says Σ_j |b_j|² r²ʲ ≤ G(r)², so that::

    √(Σ_{j≥M} |b_j|²) ≤ G(r) r⁻ᴹ,        G(r) = Π_k (r − |λ_k|)/(1 − |λ_k| r) ≥ max_{|z|=r} |B(z)|

and the folded part has norm at most a = G(r) r⁻ᴹ/(1 − r⁻ᴹ). M is a power of two with a ≤ 2⁻⁵⁴.

**Lattice**: causal, so without aliasing. A cascade of first-order sections with the pole λ, whose
state is x, and s = √(1 − |λ|²)::

    x ← λ x + s u,    u ← s x − λ̄ u,        u = 1, 0, 0, … into the first section

The sections of all networks advance at once: section k handles time τ in wave k + τ. What has not
left yet is in the states and in the signals under way, and that is the memory.

Errors of both are two numbers a network: ``spread`` bounds the Euclidean norm of the error of the
coefficients b, which moves MC_τ by up to 2·√min(MC_τ, 1 − MC_τ)·spread to first order; ``floor`` is
added to that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.batch.backend import Array, Backend, Complexes, Floats, spans, to_host
from memcurve.solve.lags import MOST_DEFAULT_LAGS, Lags
from memcurve.solve.sensitivity import EPS

#: Larger grids are left to the lattice, which has no aliasing at all.
MOST_POINTS = 2**20
#: Smaller ones save nothing.
FEWEST_POINTS = 64
#: ln of the aliasing that is allowed.
_ALLOWED = -54 * np.log(2)
#: Factors 1 − λz multiplied before they are scaled to modulus one: no product of so many leaves
#: float64, however close the poles are to the circle (their distance is 2⁻⁵³ at least).
FACTORS = 16
#: Entries of the largest arrays, poles × points: they bound the memory it takes.
BLOCK_ON_HOST, BLOCK_ON_DEVICE = 2**18, 2**24
#: Lags of the lattice between two looks at whether there are enough, by default.
LOOK_EVERY = 256


# --- circle


def points_needed(poles: Complexes) -> NDArray[np.int64]:
    """Powers of two at which the aliasing of each network (B,) is below rounding."""
    growth, log_radius = _growth(poles)
    least = ((growth - _ALLOWED + 1) / log_radius).min(axis=1)
    least = np.clip(least, FEWEST_POINTS, 2.0**60)
    powers: NDArray[np.int64] = 2 ** np.ceil(np.log2(least)).astype(np.int64)
    return powers


def _growth(poles: Complexes) -> tuple[Floats, Floats]:
    """Logarithms of G(r) and r for radii r = ρ^(−t), 0 < t < 1, of each network."""
    modulus = np.abs(poles)
    largest = modulus.max(axis=1, keepdims=True, initial=0.0)
    log_radius = -np.log(np.maximum(largest, 1e-3)) * np.linspace(0.05, 0.95, 19)
    growth = np.zeros_like(log_radius)
    for k in range(log_radius.shape[1]):
        radius = np.exp(log_radius[:, k : k + 1])
        room = np.maximum(1 - modulus * radius, EPS)
        growth[:, k] = np.log((radius - modulus) / room).sum(axis=1)
    return growth * (1 + 1e-9) + 1e-6, log_radius  # rounding of these sums included


def aliasing(poles: Complexes, points: int) -> Floats:
    """Bound on the norm of what is folded back, the best over some radii; inf if none is known."""
    growth, log_radius = _growth(poles)
    exponent = (growth - points * log_radius).min(axis=1)
    known = exponent < -1
    bound = np.exp(np.where(known, exponent, -1.0))
    return np.where(known, bound / (1 - bound), np.inf)


def rounding_of_poles(poles: Complexes) -> Floats:
    """Σ_k 1/√(1 − |λ_k|²): the norm, over the circle, of a relative change by one in each 1 − λz.

    A relative rounding error u in λ_k z changes 1 − λ_k z by u/|1 − λ_k z| relative to itself,
    whose mean square over the circle is u²/(1 − |λ_k|²).
    """
    modulus = np.abs(poles)
    sums: Floats = (1 / np.sqrt(np.maximum((1 - modulus) * (1 + modulus), EPS))).sum(axis=1)
    return sums


def circle_errors(poles: Complexes, points: int) -> tuple[Floats, Floats]:
    """Return ``spread`` and ``floor`` of :func:`circle_curves`, known beforehand.

    With u = eps/2: (√5 + √2)u for λz and z, (1 + √5)u for a difference and a product, twice, as B
    holds the phase of D twice; 4·eps a level of the Fourier transform; and the sums from either
    end, whose rounding is at most u·Σ_τ MC_τ ≤ u·n.
    """
    folded = aliasing(poles, points)
    levels = np.log2(points)
    spread = folded + EPS * (8 * rounding_of_poles(poles) + 4 * levels + 8)
    floor = np.minimum(folded, 1.0) ** 2 + EPS * (poles.shape[1] + levels + 2)
    return spread, floor


def circle_curves(
    backend: Backend, poles: Array, points: int, *, paired: bool
) -> tuple[Array, Array]:
    """Memory and loss (B, points) for τ = 0 … points − 1, of the poles (B, n).

    ``paired``: the poles come in conjugate pairs, so that half of the circle is enough.
    """
    xp = backend.xp
    sampled = roots_of_unity(points)[: points // 2 + 1 if paired else points]
    phase = _phase_of_denominator(backend, poles, sampled)
    all_pass = xp.conj(phase) * xp.conj(phase)  # without the factor zⁿ, which only shifts b
    if paired:
        b = xp.fft.irfft(xp.conj(all_pass), n=points)
        energy = b * b
    else:
        b = xp.fft.fft(all_pass) / points
        energy = _energy(xp, b)
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
    missing = -size % FACTORS if size > FACTORS else 2 ** (size - 1).bit_length() - size
    if missing:  # poles at zero, whose factor is one: groups are then halved without a rest
        poles = xp.concat([poles, backend.put(np.zeros((stack, missing), complex))], axis=1)
    block = BLOCK_ON_HOST if backend.is_host else BLOCK_ON_DEVICE
    width = max(1, block // (stack * FACTORS))
    parts = []
    for own in spans(len(points), width):
        some = z[own][None, None, :]
        phase: Any = 1.0
        for group in spans(size + missing, FACTORS):
            factors = 1 - poles[:, group, None] * some
            while (half := factors.shape[1] // 2) > 0:
                factors = factors[:, :half, :] * factors[:, half:, :]
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
    roots: Complexes = (np.cos(angle) + 1j * np.sin(angle)) * turn
    return roots


# --- lattice


def lattice_errors(poles: Complexes, lags: int | None = None) -> tuple[Floats, Floats]:
    """Return ``spread`` and ``floor`` of :func:`lattice_curves`, known beforehand.

    Rounding turns each rotation by about eps, which moves the section's response by eps/√(1 − |λ|²)
    over the circle, and adds about eps to its signals at each step.
    """
    steps = np.sqrt(lags or MOST_DEFAULT_LAGS)
    spread = EPS * (4 * rounding_of_poles(poles) + 2 * steps + 8)
    return spread, np.full(len(poles), 4 * EPS)


def lattice_curves(
    backend: Backend, poles: Array, lags: int | None, known: Complexes
) -> tuple[Array, Array]:
    """Memory and loss (B, m) of the poles (B, n); ``lags=None`` goes on until there are enough.

    ``known`` are the values of the poles on the host.
    """
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
    listed = Lags(lags, np.full(stack, float(size)))
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
            listed.enough(to_host(xp.stack(held[-LOOK_EVERY:], axis=1)))
            lags = listed.count
        if lags is not None and len(held) >= lags:
            break
    memory = xp.stack(held[:lags], axis=1)
    loss = backend.running_sum(xp.stack(left[:lags], axis=1))
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
