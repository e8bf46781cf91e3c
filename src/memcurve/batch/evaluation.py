"""Which way each network of a stack goes, circle or lattice, and the curves of all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.batch.backend import Array, Backend, to_host
from memcurve.batch.circle import (
    MOST_POINTS,
    Evaluation,
    circle_curves,
    circle_errors,
    points_needed,
)
from memcurve.batch.lattice import lattice_curves, lattice_errors
from memcurve.solve.lags import MOST_DEFAULT_LAGS

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

METHODS = ("auto", "circle", "lattice")
LATTICE = 0  # the number of points of a network that goes through the lattice
#: Times, in units of one pole at one point of the circle (5 ns on one core): one pole at one lag of
#: the lattice, and what it takes to start the operations of a lag.
LATTICE_POLE = 5
START_ON_HOST, START_ON_DEVICE = 2**13, 2**20


@dataclass(frozen=True, eq=False)
class Plan:
    """How the curves of poles (B, n) are computed.

    Attributes
    ----------
    poles : (B, n) complex array
        Their values on the host.
    points : (B,) int array
        Points on the circle, a power of two; 0 for the lattice.
    paired : bool
        Whether the poles of every network come in conjugate pairs.
    spread, floor : (B,) arrays
        What bounds the errors, see :class:`memcurve.batch.circle.Evaluation`.
    """

    poles: Complexes
    points: NDArray[np.int64]
    paired: bool
    spread: Floats
    floor: Floats

    def largest_error(self, sensitivity: Floats) -> Floats:
        """The largest error a lag can have, for poles that are off by rounding themselves."""
        off = self.spread + sensitivity / 2
        with np.errstate(over="ignore", invalid="ignore"):
            error = 2 * np.sqrt(0.5) * off + 4 * off**2 + self.floor
        return np.where(np.isfinite(error), np.minimum(error, 1.0), 1.0)

    def of(self, networks: NDArray[np.intp]) -> Plan:
        """The plan for some of the networks."""
        parts = (self.poles[networks], self.points[networks])
        return Plan(*parts, self.paired, self.spread[networks], self.floor[networks])


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
    needed = points_needed(poles)
    if grid is not None:
        needed = np.full(stack, grid)
    elif method == "lattice":
        needed = np.full(stack, LATTICE)
    else:
        too_many = needed > MOST_POINTS
        if method == "auto":
            radius = np.abs(poles).max(axis=1, initial=0.0)
            waves = size + (lags or np.minimum(2 * size + 18 / (1 - radius), MOST_DEFAULT_LAGS))
            start = START_ON_HOST if backend.is_host else START_ON_DEVICE
            on_circle = needed // (2 if paired else 1) * size
            too_many |= on_circle > waves * (LATTICE_POLE * size + start / stack)
        needed = np.where(too_many, LATTICE, needed)
    spread, floor = np.empty(stack), np.empty(stack)
    for points in np.unique(needed).tolist():
        own = needed == points
        spread[own], floor[own] = (
            lattice_errors(poles[own], lags)
            if points == LATTICE
            else circle_errors(poles[own], points)
        )
    return Plan(poles, needed, paired, spread, floor)


def evaluate(
    backend: Backend, poles: Array, plan: Plan, lags: int | None, *, at_least: int = 1
) -> Evaluation:
    """Memory and loss (B, m) of the poles (B, n), in the order of the stack.

    ``lags=None`` takes as many as hold all but a negligible part of every network's memory, and
    ``at_least`` so many.
    """
    groups = [np.flatnonzero(plan.points == points) for points in np.unique(plan.points)]
    done = [_group(backend, backend.rows(poles, own), plan.of(own), lags) for own in groups]
    if lags is None:
        size = plan.poles.shape[1]
        enough = [_lags_of(part, size) for part in done]
        lags = max(at_least, *enough)
        for k, own in enumerate(groups):
            if plan.points[own[0]] == LATTICE and enough[k] < lags:  # it has no further lags yet
                done[k] = _group(backend, backend.rows(poles, own), plan.of(own), lags)
    memory = [_to_length(backend, part.memory, lags, 0.0) for part in done]
    loss = [_to_length(backend, part.loss, lags, 1.0) for part in done]
    order = np.argsort(np.concatenate(groups), kind="stable")
    join = backend.xp.concat
    return Evaluation(
        backend.rows(memory[0] if len(memory) == 1 else join(memory, axis=0), order),
        backend.rows(loss[0] if len(loss) == 1 else join(loss, axis=0), order),
        np.concatenate([part.spread for part in done])[order],
        np.concatenate([part.floor for part in done])[order],
    )


def error_of(backend: Backend, found: Evaluation, sensitivity: Floats) -> Array:
    """Per-lag error (B, m): poles off by rounding, aliasing, and rounding of the curve itself.

    2·√min(MC_τ, 1 − MC_τ)·e + 4e² + floor, where e bounds the norm of the error of the all-pass
    filter's coefficients: ``spread``, and half of the poles' ``sensitivity``.
    """
    memory, loss = to_host(found.memory), to_host(found.loss)
    off = np.asarray(found.spread + sensitivity / 2)[:, None]
    slope = np.sqrt(np.maximum(np.minimum(memory, loss), 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        error = 2 * slope * off + 4 * off**2 + found.floor[:, None]
    error = np.where(np.isfinite(error), np.minimum(error, 1.0), 1.0)
    return backend.put(error)


def _group(backend: Backend, poles: Array, plan: Plan, lags: int | None) -> Evaluation:
    points = int(plan.points[0])
    if points == LATTICE:
        return lattice_curves(backend, poles, lags, known=plan.poles)
    return circle_curves(backend, poles, points, paired=plan.paired, known=plan.poles)


def _lags_of(part: Evaluation, size: int) -> int:
    memory = to_host(part.memory)
    return min(enough_lags(memory, float(size)) or memory.shape[1], MOST_DEFAULT_LAGS)


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
