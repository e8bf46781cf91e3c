"""Memory curves from eigenvalues alone: all it takes is the array API.

Each network of a stack goes by the circle or the lattice of :mod:`memcurve.batch.allpass`,
whichever is cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import require_size
from memcurve.batch.allpass import (
    MOST_POINTS,
    circle_curves,
    circle_errors,
    lattice_curves,
    lattice_errors,
    points_needed,
)
from memcurve.batch.backend import Array, Backend, Complexes, Floats, has_gradient, to_host
from memcurve.batch.result import MemoryCurves, Origin, Part, assembled
from memcurve.errors import UnstableNetworkError
from memcurve.notes import Note
from memcurve.solve.lags import MOST_DEFAULT_LAGS, Lags
from memcurve.solve.question import validated_lags

METHODS = ("auto", "circle", "lattice")
LATTICE = 0  # the number of points of a network that goes through the lattice
SMALLEST_GRID = 4  # half a circle of three points
#: Times, in units of one pole at one point of the circle (5 ns on one core): one pole at one lag of
#: the lattice, and what it takes to start the operations of a lag.
LATTICE_POLE = 5
START_ON_HOST, START_ON_DEVICE = 2**13, 2**20
ALL_COUNT = Note("proof", "every given pole counts: the mask is taken to excite all modes")
BY_LATTICE = Note("method", "lattice: lag by lag, without truncation or aliasing")


def curves_of_poles(
    poles: Any,
    lags: int | None = None,
    *,
    add_conjugates: bool = False,
    method: str = "auto",
    grid: int | None = None,
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
    grid : int, optional
        Number of points on the circle, a power of two; by default as many as it takes. Too few
        fold the end of the curve back on its beginning, and ``error`` says how much at most.

    Returns
    -------
    MemoryCurves
        Exact for the stored poles, up to ``error``; the rank is the number of poles.

    Examples
    --------
    >>> from memcurve.batch import curves_of_poles
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
    require_method(method)
    _require_grid(grid, method)
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
    plan = plan_for(backend, known, lags, method, grid, may_pair=may_pair)
    part = computed(backend, flat, plan, lags, np.zeros(stack))
    notes = [*notes_of(plan, lags, part.values.shape[1]), ALL_COUNT]
    return assembled(backend, tuple(lead), [part], notes)


@dataclass(frozen=True, eq=False)
class Plan:
    """How the curves of poles (B, n), of which the host knows the values, are computed.

    By so many points (B,) on the circle, a power of two, or 0 for the lattice; ``paired`` says
    whether the poles of every network come in conjugate pairs.
    """

    poles: Complexes
    points: NDArray[np.int64]
    paired: bool

    def of(self, networks: NDArray[np.intp]) -> Plan:
        """The plan for some of the networks."""
        return Plan(self.poles[networks], self.points[networks], self.paired)

    def error(self, slope: Floats, sensitivity: Floats, lags: int | None) -> Floats:
        """Per-lag error (B, m): poles off by rounding, aliasing, and rounding of the curve itself.

        2·slope·e + 4e² + floor, where e bounds the norm of the error of the all-pass filter's
        coefficients: ``spread``, and half of the poles' ``sensitivity`` (B,). ``slope`` is
        √min(MC_τ, 1 − MC_τ), (B, m) or one for all.
        """
        spread, floor = np.empty(len(self.poles)), np.empty(len(self.poles))
        for points in np.unique(self.points).tolist():
            own = self.points == points
            spread[own], floor[own] = (
                lattice_errors(self.poles[own], lags)
                if points == LATTICE
                else circle_errors(self.poles[own], points)
            )
        off = (spread + sensitivity / 2)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            error = 2 * slope * off + 4 * off**2 + floor[:, None]
        return np.where(np.isfinite(error), np.minimum(error, 1.0), 1.0)

    def largest_error(self, sensitivity: Floats, lags: int | None) -> Floats:
        """The largest error (B,) that a lag can have."""
        return self.error(np.sqrt([[0.5]]), sensitivity, lags)[:, 0]


def plan_for(
    backend: Backend,
    poles: Complexes,
    lags: int | None,
    method: str,
    grid: int | None = None,
    *,
    may_pair: bool = True,
) -> Plan:
    """Choose circle or lattice for each network, whichever is cheaper.

    ``may_pair=False`` takes each pole for itself: half of the circle says nothing about a change
    of one pole of a pair.
    """
    stack, size = poles.shape
    paired = may_pair and _come_in_pairs(poles)
    if grid is not None or method == "lattice":
        return Plan(poles, np.full(stack, LATTICE if grid is None else grid), paired)
    points = points_needed(poles)
    too_many = points > MOST_POINTS
    if method == "auto":
        radius = np.abs(poles).max(axis=1, initial=0.0)
        waves = size + (lags or np.minimum(2 * size + 18 / (1 - radius), MOST_DEFAULT_LAGS))
        start = START_ON_HOST if backend.is_host else START_ON_DEVICE
        on_circle = points // (2 if paired else 1) * size
        too_many |= on_circle > waves * (LATTICE_POLE * size + start / stack)
    return Plan(poles, np.where(too_many, LATTICE, points), paired)


def computed(
    backend: Backend,
    poles: Array,
    plan: Plan,
    lags: int | None,
    sensitivity: Floats,
    *,
    at_least: int = 1,
) -> Part:
    """Curves (B, m) of the poles (B, n), in the order of the stack.

    ``lags=None`` takes as many as hold all but a negligible part of every network's memory, and
    ``at_least`` so many. ``sensitivity`` (B,) says what rounding of the poles does to the curves.
    """
    groups = [np.flatnonzero(plan.points == points) for points in np.unique(plan.points)]

    def curves(own: NDArray[np.intp], lags: int | None) -> tuple[Array, Array]:
        chosen, points = backend.rows(poles, own), int(plan.points[own[0]])
        if points == LATTICE:
            return lattice_curves(backend, chosen, lags, plan.poles[own])
        return circle_curves(backend, chosen, points, paired=plan.paired)

    done = [curves(own, lags) for own in groups]
    if lags is None:
        enough = [_enough_lags(to_host(memory), poles.shape[1]) for memory, _ in done]
        lags = max(at_least, *enough)
        for k, own in enumerate(groups):
            if plan.points[own[0]] == LATTICE and enough[k] < lags:  # it has no further lags yet
                done[k] = curves(own, lags)
    order = np.argsort(np.concatenate(groups), kind="stable")
    memory, loss = (
        backend.rows(
            backend.joined([_to_length(backend, part[k], lags, beyond) for part in done], 0), order
        )
        for k, beyond in enumerate((0.0, 1.0))
    )
    slope = np.sqrt(np.maximum(np.minimum(to_host(memory), to_host(loss)), 0.0))
    error = backend.put(plan.error(slope, sensitivity, lags))
    origins = tuple(Origin("lattice" if p == LATTICE else "circle") for p in plan.points.tolist())
    return Part(memory, error, loss, np.full(len(order), poles.shape[1], np.int64), origins)


def notes_of(plan: Plan, asked: int | None, lags: int) -> list[Note]:
    """What to know about the curves of a plan, of which ``lags`` were computed."""
    points = plan.points[plan.points != LATTICE]
    notes = []
    if len(points):
        least, most = int(points.min()), int(points.max())
        span = f"{most}" if least == most else f"{least} to {most}"
        text = (
            f"circle: the filter sampled at {span} points of the circle; values are right to "
            f"within `error`; memory far below it has no digits of its own (for those, "
            f"method='lattice' or memcurve.memory_curve)"
        )
        notes.append(Note("method", text))
    if len(points) < len(plan.points):
        notes.append(BY_LATTICE)
    if asked is None and lags >= MOST_DEFAULT_LAGS:
        text = (
            f"lags stop at {lags}: memory beyond them is in `total`, not in `values`; give `lags` "
            f"to see further"
        )
        notes.append(Note("lags", text))
    return notes


def require_method(method: Any) -> None:
    """Raise where a way from poles to curves is none."""
    if method not in METHODS:
        raise ValueError(f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")


def require_stable(poles: Complexes, argument: str) -> None:
    """Raise where a network (a row) has an eigenvalue of modulus one or more, naming them all."""
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
    """The networks in words, the first few of many."""
    numbers = ", ".join(str(k) for k in networks[:8].tolist())
    more = f" and {len(networks) - 8} more" if len(networks) > 8 else ""
    return f"network{'s' if len(networks) > 1 else ''} {numbers}{more}"


def _require_grid(grid: int | None, method: str) -> None:
    if grid is None:
        return
    if method == "lattice":
        raise ValueError("`grid` is for the circle, got method='lattice'; leave one of them out.")
    if require_size(grid, "grid") & (grid - 1) or grid < SMALLEST_GRID:
        raise ValueError(
            f"`grid` must be a power of two, {SMALLEST_GRID} or more, got {grid}; give e.g. 4096."
        )


def _enough_lags(memory: Floats, size: int) -> int:
    """How many lags of these curves (B, m) hold nearly all of the memory."""
    chosen = Lags(None, np.full(len(memory), float(size)))
    chosen.enough(memory)
    return min(chosen.count or memory.shape[1], MOST_DEFAULT_LAGS)


def _to_length(backend: Backend, curves: Array, lags: int, beyond: float) -> Array:
    """Cut or continue curves to so many lags; beyond the circle's points nothing is left."""
    missing = lags - curves.shape[1]
    if missing <= 0:
        return curves[:, :lags]
    rest = backend.put(np.full((curves.shape[0], missing), beyond))
    return backend.xp.concat([curves, rest], axis=1)


def _come_in_pairs(poles: Complexes) -> bool:
    """Whether each network's poles are real or conjugate pairs, to the last digit."""

    def ordered(values: Complexes) -> Complexes:
        order = np.lexsort((values.imag, values.real), axis=1)
        return np.take_along_axis(values, order, axis=1)

    return bool(np.array_equal(ordered(poles), ordered(poles.conj())))
