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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import table_entry
from memcurve.core.errors import UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.types import EPS, Complexes, Floats
from memcurve.memory.batch.result import MemoryCurves, Origin, Part, assembled
from memcurve.network.backend import Array, Backend, has_gradient, spans, to_host
from memcurve.solve import MOST_DEFAULT_LAGS, Lags, validated_lags

METHODS = dict.fromkeys(("auto", "circle", "lattice"))
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
BY_LATTICE = Note("method", "lattice: lag by lag, without truncation or aliasing")


def curves_of_poles(
    poles: Any,
    lags: int | None = None,
    *,
    add_conjugates: bool = False,
    method: str = "auto",
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
    method : str
        ``"circle"``: the filter at points of the unit circle, and a Fourier transform;
        ``"lattice"``: lag by lag, for poles close to the circle or few lags; ``"auto"``: whichever
        is cheaper.

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
    xp = backend.xp
    if len(given.shape) == 0 or given.shape[-1] == 0:
        raise ValueError(
            f"`poles` must have shape (..., n) with n of at least one, got {tuple(given.shape)}."
        )
    lags = validated_lags(lags)
    table_entry(METHODS, method, "method")
    *lead, size = given.shape
    stack = int(np.prod(lead, dtype=int))
    flat = backend.complex128(xp.reshape(given, (stack, size)))
    if add_conjugates:
        flat = xp.concat([flat, xp.conj(flat)], axis=1)
    known = to_host(flat)
    require_stable(known, "poles")
    if stack == 0:
        return assembled(backend, tuple(lead), [], [], lags=lags)
    may_pair = add_conjugates or not has_gradient(flat)
    plan = plan_for(backend, flat, known, np.zeros(stack), lags, method, may_pair=may_pair)
    part = computed(plan, lags)
    notes = [*notes_of(plan, lags, part), ALL_COUNT]
    if np.any(np.abs(known.imag.sum(axis=1)) > _PAIRED * np.abs(known.imag).sum(axis=1)):
        notes.append(WITHOUT_CONJUGATES)
    return assembled(backend, tuple(lead), [part], notes)


@dataclass(frozen=True, eq=False)
class Plan:
    """How the curves of poles (B, n) are computed."""

    backend: Backend
    poles: Array
    known: Complexes  # their values, on the host
    sensitivity: Floats  # what rounding of the poles does to the curves, (B,)
    points: NDArray[np.int64]  # of the circle, (B,), powers of two; 0 is the lattice
    paired: bool  # the poles of every network come in conjugate pairs

    def of(self, networks: NDArray[np.intp]) -> Plan:
        """The plan for some of the networks."""
        return replace(
            self,
            poles=self.backend.rows(self.poles, networks),
            known=self.known[networks],
            sensitivity=self.sensitivity[networks],
            points=self.points[networks],
        )

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


def plan_for(
    backend: Backend,
    poles: Array,
    known: Complexes,
    sensitivity: Floats,
    lags: int | None,
    method: str,
    *,
    may_pair: bool = True,
) -> Plan:
    """Choose circle or lattice for each network, whichever is cheaper.

    Half of the circle says nothing about a change of one pole of a pair: see ``may_pair``.
    """
    stack, size = known.shape
    paired = may_pair and _come_in_pairs(known)
    points = points_needed(known)
    too_many = (points > MOST_POINTS) | (method == "lattice")
    if method == "auto":
        radius = np.abs(known).max(axis=1, initial=0.0)
        waves = size + (lags or np.minimum(2 * size + 18 / (1 - radius), MOST_DEFAULT_LAGS))
        start = START_ON_HOST if backend.is_host else START_ON_DEVICE
        on_circle = points // (2 if paired else 1) * size
        too_many |= on_circle > waves * (LATTICE_POLE * size + start / stack)
    points = np.where(too_many, LATTICE, points)
    return Plan(backend, poles, known, sensitivity, points, paired)


def computed(plan: Plan, lags: int | None, *, at_least: int = 1) -> Part:
    """Curves (B, m) of the poles; by default as many lags as matter, and ``at_least`` so many."""
    backend, size = plan.backend, int(plan.poles.shape[1])
    groups = [np.flatnonzero(plan.points == points) for points in np.unique(plan.points)]

    def curves(own: NDArray[np.intp], lags: int | None) -> tuple[Array, Array]:
        poles, points = backend.rows(plan.poles, own), int(plan.points[own[0]])
        if points == LATTICE:
            return lattice_curves(backend, poles, lags, plan.known[own])
        return circle_curves(backend, poles, points, paired=plan.paired)

    def to_length(curve: Array, lags: int, beyond: float) -> Array:
        """Cut or continue curves to so many lags; beyond the circle's points nothing is left."""
        if lags <= curve.shape[1]:
            return curve[:, :lags]
        rest = backend.put(np.full((curve.shape[0], lags - curve.shape[1]), beyond))
        return backend.xp.concat([curve, rest], axis=1)

    done = [curves(own, lags) for own in groups]
    if lags is None:  # as many as hold nearly all of the memory of every network
        enough = []
        for memory, _ in done:
            chosen = Lags(None, np.full(memory.shape[0], float(size)))
            chosen.enough(to_host(memory))
            enough.append(min(chosen.count or memory.shape[1], MOST_DEFAULT_LAGS))
        lags = max(at_least, *enough)
        for k, own in enumerate(groups):
            if plan.points[own[0]] == LATTICE and enough[k] < lags:  # it has no further lags yet
                done[k] = curves(own, lags)
    order = np.argsort(np.concatenate(groups), kind="stable")
    memory, loss = (
        backend.rows(backend.joined([to_length(part[k], lags, beyond) for part in done], 0), order)
        for k, beyond in enumerate((0.0, 1.0))
    )
    slope = np.sqrt(np.maximum(np.minimum(to_host(memory), to_host(loss)), 0.0))
    origins = tuple(Origin("lattice" if p == LATTICE else "circle") for p in plan.points.tolist())
    ranks = np.full(len(order), size, np.int64)
    return Part(memory, backend.put(plan.error(slope, lags)), loss, ranks, origins)


def notes_of(plan: Plan, asked: int | None, part: Part) -> list[Note]:
    """What to know about the curves that were computed by a plan."""
    notes, on_circle = [], plan.points != LATTICE
    if on_circle.any():
        text = (
            f"circle: the filter sampled at up to {plan.points.max()} points of the unit circle; "
            f"values far below `error` have no relative accuracy (use method='lattice' or "
            f"memcurve.memory_curve)"
        )
        notes.append(Note("method", text))
    if not on_circle.all():
        notes.append(BY_LATTICE)
    lags = part.values.shape[1]
    if asked is None and lags >= MOST_DEFAULT_LAGS:
        text = f"lags are truncated at {lags}: memory beyond is in `total`; give `lags` for more"
        notes.append(Note("lags", text))
    return notes


def require_stable(poles: Complexes, argument: str) -> None:
    """Raise where a network (a row) has an eigenvalue of modulus one or more."""
    radius = np.abs(poles).max(axis=1, initial=0.0)
    outside = np.flatnonzero(radius >= 1)
    if len(outside):
        raise UnstableNetworkError(
            f"{listed(outside)} of the stack {'is' if len(outside) == 1 else 'are'} unstable as "
            f"far as floating point can tell: `{argument}` has eigenvalues of modulus up to "
            f"{radius.max():.6g}. Scale them below 1, or leave them out; memcurve.memory_curve "
            f"decides more carefully for a single network."
        )


def listed(networks: NDArray[np.intp]) -> str:
    """The networks by number, at most eight of them."""
    numbers = ", ".join(str(k) for k in networks[:8].tolist())
    more = f" and {len(networks) - 8} more" if len(networks) > 8 else ""
    return f"network{'s' if len(networks) > 1 else ''} {numbers}{more}"


def _come_in_pairs(poles: Complexes) -> bool:
    """Whether each network's poles are real or conjugate pairs, to the last digit."""

    def ordered(values: Complexes) -> Complexes:
        order = np.lexsort((values.imag, values.real), axis=1)
        return np.take_along_axis(values, order, axis=1)

    return bool(np.array_equal(ordered(poles), ordered(poles.conj())))


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


def circle_curves(
    backend: Backend, poles: Array, points: int, *, paired: bool
) -> tuple[Array, Array]:
    """Memory and loss (B, points) of the poles (B, n); half of the circle is enough for pairs."""
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
    return np.asarray((np.cos(angle) + 1j * np.sin(angle)) * turn)


# --- lattice


def lattice_curves(
    backend: Backend, poles: Array, lags: int | None, known: Complexes
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
