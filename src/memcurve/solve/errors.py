"""How far rounding in the eigenvalues can move the memory curve.

A change δA moves log det(z − A) by −tr((z − A)⁻¹ δA) to first order. On |z| = 1 that is a change of
the phase of the all-pass filter, and hence (Parseval, Cauchy–Schwarz)::

    |δMC_τ| ≤ 4·√(min(MC_τ, 1 − MC_τ)) · ‖δA‖_F · √(Σ_k ‖Aᵏ‖_F²)

Eigenvalue condition numbers do not appear: clusters may be hopeless while the curve is not.

The same change of phase, at its largest, bounds the *gap* between the spaces of past inputs that
the true and the computed poles span: the sine of the largest angle between them is at most::

    sup |δ log B| ≤ 2 ‖δA‖_F · Σ_k ‖Aᵏ‖_F
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.types import EPS, TINY, Complexes, Floats
from memcurve.network.graph import Indices, balanced, strong_components, submatrix
from memcurve.solve.answer import Answer
from memcurve.solve.powers import power_norms

#: LAPACK's eigenvalues are those of A + δA with ‖δA‖_F of at most about this times √N·‖A‖_F.
BACKWARD_ERROR = 4 * EPS
#: A first-order bound is trusted where ‖δA‖ times the resolvent on the unit circle is below this.
FIRST_ORDER = 0.05


class Sensitivity(NamedTuple):
    """What rounding in the poles can do: bounds as above.

    ``curve`` on |δMC_τ| / √(min(MC_τ, 1 − MC_τ)), ``gap`` on the turn of the space remembered.
    """

    curve: float
    gap: float

    def plus(self, other: Sensitivity) -> Sensitivity:
        """Of errors from two sources."""
        return Sensitivity(self.curve + other.curve, self.gap + other.gap)


UNKNOWN = Sensitivity(np.inf, np.inf)


def pole_sensitivity(A: Any, components: Sequence[Indices] | None = None) -> Sensitivity:
    """What computing the eigenvalues of A in float64 can do to the curve and the space behind it.

    Summed over strongly connected components. Infinite where a first-order bound does not hold, or
    an eigenvalue may cross the circle: on it the resolvent is at most Σ_k ‖Aᵏ‖_F.
    """
    curve = gap = 0.0
    for nodes in strong_components(A) if components is None else components:
        if len(nodes) > 1:
            block = balanced(submatrix(A, nodes))[0]
            rounding = backward_error(block)
            norms = power_norms(block)
            if not rounding * norms.norms <= FIRST_ORDER:
                return UNKNOWN
            curve += 4 * rounding * np.sqrt(norms.squares)
            gap += 2 * rounding * norms.norms
    return Sensitivity(float(curve), float(gap))


def normal_sensitivity(poles: Complexes, rounding: float) -> Sensitivity:
    """The same for normal A off by ‖δA‖_F: Σ‖Aᵏ‖_F² = Σ 1/(1 − |λ|²), Σ‖Aᵏ‖_F ≤ Σ 1/(1 − |λ|)."""
    room = 1 - np.abs(poles) - rounding
    if np.any(room <= 0) or not rounding * (1 / room).sum() <= FIRST_ORDER:
        return UNKNOWN
    squares = float((1 / (room * (2 - room))).sum())
    return Sensitivity(4 * rounding * np.sqrt(squares), 2 * rounding * float((1 / room).sum()))


def backward_error(A: Floats) -> float:
    """Bound on ‖δA‖_F such that LAPACK's answer for A is that of A + δA."""
    return float(BACKWARD_ERROR * np.sqrt(len(A) * (A**2).sum()) + TINY)


def uncertain_poles_sensitivity(poles: Complexes, uncertainty: Floats | float) -> Sensitivity:
    """The same for poles known up to δ_k each: 4 Σ δ_k / √(1 − |λ_k|²), 2 Σ δ_k / (1 − |λ_k|)."""
    room = 1 - np.abs(poles) - uncertainty
    if np.any(room <= 0):
        return UNKNOWN
    return Sensitivity(
        float((4 * uncertainty / np.sqrt(room)).sum()), float((2 * uncertainty / room).sum())
    )


def curve_error(memory: Floats, loss: Floats, sensitivity: Floats | float, size: int) -> Floats:
    """Per-lag error (..., m): poles off by rounding (first and second order) and the lattice's."""
    slope = np.sqrt(np.minimum(memory, loss))
    drift = 2 * np.sqrt(np.arange(1, memory.shape[-1] + 1)) * slope
    lattice = EPS * ((8 + 4 * size + drift) * slope + 2 * memory)
    error = sensitivity * slope + sensitivity**2 + lattice
    return np.minimum(1.0, np.where(np.isfinite(error), error, 1.0))


# --- measured: rounding is imitated, and the computation repeated

#: A measured change times this is an error. Doubled: errors twice as large; halved,
#: 2 of 120,000 hostile draws lay outside.
SAFETY = 40.0
#: Where an error comes out above this no digit is known: another change may do far more. Doubled:
#: larger errors are believed.
NOT_SMALL = 1e-4
#: Rounding of sums of squares and of decompositions, in units of eps·√n. Doubled: so are the
#: smallest errors, of some eps.
ARITHMETIC = 16.0


def rounding(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Random numbers of unit variance to imitate it: normal ones would take four times as long."""
    return np.asarray(rng.uniform(-np.sqrt(3), np.sqrt(3), shape))


class Truncation(NamedTuple):
    """What was left out of K, in the units of the noise.

    ``missing`` bounds it within the lags, ``tail`` beyond (without noise: relative to the least
    direction that is read), ``outside`` the square of what rounding leads to beyond the directions.
    """

    missing: float = 0.0
    tail: float = 0.0
    outside: float = 0.0
    gain: float = 1.0
    uncertainty: float = 0.0


def measured(
    systems: Sequence[Any], levels: Floats, rank: int, inputs: int, left: Truncation
) -> Answer:
    """The memory of the first singular system, with errors from those of changed networks.

    Rounding makes the answer that of a network changed by as much: the whole is repeated for such,
    and :data:`SAFETY` times the largest difference is the error. The sizes of directions that
    rounding alone lifts above the noise differ, which gives them away.
    """
    base, *others = systems
    factors = base.filter_factors(levels, rank)
    memory, total = _by_lag(factors @ base.squares.T, inputs), factors @ base.held
    ahead, total_ahead = _by_lag(factors @ base.ahead.T, inputs), factors @ base.held_ahead
    changes, moved = np.zeros((2, 2, len(levels)))
    shifts = np.zeros(len(base.sigma))
    for other in others:
        again = other.filter_factors(levels, min(rank, len(other.sigma)))
        for k, (squares, values) in enumerate(((other.squares, memory), (other.ahead, ahead))):
            difference = _difference(_by_lag(again @ squares.T, inputs), values)
            changes[k] = np.maximum(changes[k], np.abs(difference).max(axis=(1, 2), initial=0.0))
            moved[k] = np.maximum(moved[k], np.abs(difference).sum(axis=(1, 2)))
        moved[0] = np.maximum(moved[0], np.abs(again @ other.held - total))
        moved[1] = np.maximum(moved[1], np.abs(again @ other.held_ahead - total_ahead))
        count = min(len(shifts), len(other.sizes))
        shift = np.where(np.isinf(base.sizes), 0.0, base.sizes)
        with np.errstate(invalid="ignore"):
            shift[:count] = np.abs(other.sizes[:count] - base.sizes[:count])
        shifts = np.maximum(shifts, np.nan_to_num(shift, nan=0.0))
    unknown = SAFETY * np.maximum(changes[0], moved[0] / np.maximum(total, 1.0)) > NOT_SMALL
    changes[:, unknown] = 1.0
    moved[:, unknown] = max(1.0, float(min(rank, len(base.sigma))))
    floor = np.where(levels > 0, levels, base.sigma[min(rank, len(base.sigma)) - 1])
    missing = _share(left.gain * left.missing, floor)
    tail = np.full(len(levels), left.gain * left.tail)
    if left.gain != 1.0:  # lags beyond are correlated with those before
        missing, tail = missing + tail, 0.0 * tail
    # what is left out moves a value by at most twice its size relative to the noise; lags beyond
    # are noise to the reader, of which the square counts. A change of the inputs' density by a
    # share of it moves past inputs and states by half as much each, and what one has of the other
    outside = left.gain**2 * _share(left.outside, floor**2)
    cut = 2 * missing + missing**2 + tail**2 + 4 * left.uncertainty + outside
    arithmetic = ARITHMETIC * EPS * np.sqrt(len(base.sigma) + 1)
    arithmetic = arithmetic + _share(ARITHMETIC * base.rounding, levels)
    spread = base.uncertainty(levels, rank, SAFETY * shifts)
    # where a direction is altogether uncertain, so are those that it is mixed with
    mixed = np.where(spread.max(axis=1) > NOT_SMALL, spread.max(axis=1), 0.0)

    def error(values: Floats, squares: Floats, change: Floats) -> Floats:
        own = _by_lag(spread @ squares.T, inputs)
        rest = (SAFETY * change + cut + mixed)[:, None, None]
        return np.asarray(
            np.minimum(1.0, rest + own + arithmetic[:, None, None] * np.sqrt(values) + EPS)
        )

    slope = np.sqrt((factors * (1 - factors)).sum(axis=1))
    second = (missing**2 + tail**2) * len(base.sigma)
    # d tr(MMᵀ(MMᵀ + s²)⁻¹) = 2 tr(s²(MMᵀ + s²)⁻² M dMᵀ); a direction holds gain² at most
    common = left.gain**2 * (2 * missing * np.maximum(slope, levels == 0) + second)
    common += left.gain**2 * 4 * left.uncertainty * factors.sum(axis=1) + outside
    # without noise, each direction that is read holds one white input
    exact = (levels == 0) & bool((base.held == 1).all())
    total_error = SAFETY * moved[0] + arithmetic * np.maximum(total, 1.0) + spread @ base.held
    ahead_error = SAFETY * moved[1] + arithmetic * total_ahead + spread @ base.held_ahead
    return Answer(
        np.clip(memory, 0.0, 1.0), error(memory, base.squares, changes[0]),
        np.clip(ahead, 0.0, 1.0), error(ahead, base.ahead, changes[1]),
        total, np.where(exact, 0.0, total_error + common), total_ahead, ahead_error + common,
    )  # fmt: skip


def _share(size: float, of: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return (
            np.nan_to_num(size / of, nan=0.0, posinf=1e300) if size > 0 else 0.0 * np.ones(len(of))
        )


def _by_lag(values: Floats, width: int) -> Floats:
    """Values (levels, lags·inputs) as (levels, lags, inputs)."""
    return values.reshape(len(values), values.shape[1] // width, width)


def _difference(one: Floats, other: Floats) -> Floats:
    """Of curves of different lengths (levels, lags, inputs), continued by nothing."""
    lags = max(one.shape[1], other.shape[1])
    whole = np.zeros((len(one), lags, one.shape[2]))
    whole[:, : one.shape[1]] += one
    whole[:, : other.shape[1]] -= other
    return whole
