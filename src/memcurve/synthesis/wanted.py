"""Wanted curves: by name, as an array or a function; and which of them no network has.

MC_τ of n states is P(J > τ) of a random lag J of mean n: it does not rise, is at most one and sums
to n. Beyond that it must be the tail energy of an all-pass filter. What is proven here holds for
every network of any size (theory page "Design").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from memcurve.core.arguments import exact_array, table_entry
from memcurve.core.types import Floats

#: Lags for each state at which names and functions are taken. Doubled: longer lists, of less.
LAGS = 40
#: How far the sum of a curve may be from the number of states, relative to it. Doubled: curves
#: that miss it by as much are taken for rounded ones.
SUM = 1e-3
#: What a tail beyond the last lag given may hold, in units of last value × lags: a power law τ^−α
#: has 1/(α − 1). Doubled: heavier tails may be left out of an array.
TAIL = 4.0
#: An array may leave out a tail from a value of at most this on. Doubled: more of a curve.
SMALL = 0.05
#: Jumps of a curve, largest first, whose pairs are examined. Doubled: four times the pairs.
JUMPS = 40


def step(lags: Floats, size: int) -> Floats:
    """One up to lag n − 1, then nothing: a delay line."""
    return (lags < size).astype(float)


def exponential(lags: Floats, size: int) -> Floats:
    """q^(τ+1) with q = n/(n + 1)."""
    return np.asarray((size / (size + 1)) ** (lags + 1))


def ramp(lags: Floats, size: int) -> Floats:
    """A straight line to zero at lag 2n."""
    return np.clip(1 - (lags + 0.5) / (2 * size), 0, None)


def power(lags: Floats, size: int) -> Floats:
    """(1 + (τ + 1)/a)^−2, with a such that the sum is n: a²ψ′(a + 1) = n."""
    from scipy.optimize import brentq
    from scipy.special import polygamma

    a = brentq(lambda a: a**2 * float(polygamma(1, a + 1)) - size, 1e-3, 4.0 * size + 10)
    return np.asarray((1 + (lags + 1) / a) ** -2.0)


#: The curves that have a name.
CURVES: dict[str, Callable[[Floats, int], Floats]] = {
    "step": step,
    "exponential": exponential,
    "power": power,
    "ramp": ramp,
}


def wanted_curve(curve: Any, size: int) -> Floats:
    """The values that ``curve`` stands for, from lag 0 on, if the memory of a network may be so."""
    if isinstance(curve, str) or callable(curve):
        lags = np.arange(LAGS * size + LAGS, dtype=float)
        make = table_entry(CURVES, curve, "curve") if isinstance(curve, str) else None
        values = _evaluated(curve, lags) if make is None else make(lags, size)
        # where nothing is left to see, a few lags more than the network has states tell enough
        visible = int(np.count_nonzero(values > 1e-4))
        values = values[: max(visible, min(len(values), 10 * size + 40))]
    else:
        values = exact_array(curve, "curve")
    if np.iscomplexobj(values) or values.ndim != 1 or len(values) == 0:
        raise ValueError(
            f"`curve` must be real values MC_0, MC_1, … in one row, a function of the lag or one "
            f"of {', '.join(CURVES)}; got an array of shape {values.shape}, {values.dtype}."
        )
    _require_curve(values, size)
    return np.asarray(values)


def _evaluated(curve: Callable[[Any], Any], lags: Floats) -> Floats:
    """A function at all lags at once, or lag by lag where it does not take arrays."""
    try:
        values = np.asarray(curve(lags))
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != lags.shape:
        values = np.array([curve(int(lag)) for lag in lags])
    return exact_array(values, "curve")


def _require_curve(values: Floats, size: int, *, slack: float = 1e-9) -> None:
    """Raise a ValueError that names the rule which a curve breaks."""
    rising = np.flatnonzero(np.diff(values) > slack)
    if len(rising):
        lag = int(rising[0]) + 1
        raise ValueError(
            f"`curve` must not rise from lag to lag, as no memory does; got {values[lag]:.6g} at "
            f"lag {lag} after {values[lag - 1]:.6g}. Sort it, or take its running minimum."
        )
    if values[0] > 1 + slack or values[-1] < -slack:
        wrong = values[0] if values[0] > 1 + slack else values[-1]
        raise ValueError(
            f"`curve` must lie between 0 and 1, shares of the variance of an input; got "
            f"{wrong:.6g}. Divide it by its largest value."
        )
    products = (1 + np.arange(len(values))) * values
    total, worst = float(values.sum()), int(np.argmax(products))
    if products[worst] > size * (1 + SUM):
        raise ValueError(
            f"`curve` must stay below n/(τ + 1) for n = {size} states; got {values[worst]:.6g} at "
            f"lag {worst}, above {size / (worst + 1):.6g}. Ask for `size` of at least "
            f"{int(np.ceil(total))}."
        )
    beyond = TAIL * float(values[-1]) * len(values) if values[-1] <= SMALL else 0.0
    if not total - SUM * size <= size <= total + SUM * size + beyond:
        whole = round(total)
        other = f", or ask for size={whole}" if whole and abs(total - whole) <= SUM * whole else ""
        remedy = "Give values above zero"
        if total > 0:
            remedy = f"Stretch the curve by a factor of {size / total:.6g} along the lags"
        raise ValueError(
            f"`curve` must sum to `size`, as the memory of n states sums to n; got a sum of "
            f"{total:.6g} over {len(values):,} lags and a size of {size}. {remedy}{other}."
        )


def is_step(values: Floats, size: int, *, slack: float = 1e-9) -> bool:
    """Whether a curve is that of a delay line."""
    lags = np.arange(len(values), dtype=float)
    return bool(np.all(np.abs(values - step(lags, size)) <= slack))


def least_gap(values: Floats) -> tuple[float, int, int]:
    """A proven bound from below on the largest distance of any network's curve; between which lags.

    The coefficients b of an all-pass filter have no correlation with themselves at any shift k:
    by Cauchy and Schwarz, with p_j = b_j² = MC_{j−1} − MC_j::

        p_i p_{i+k} ≤ (√((1 − MC_{i−1}) Σ_{k≤j<i+k} p_j) + √(MC_i MC_{i+k}))²

    A curve within δ of the wanted one has p of at least 2δ less, and a right side of at most that
    of values δ higher: the largest δ for which it would still be broken is the bound.
    """
    padded = np.concatenate([[1.0], values])  # MC_{j−1} is padded[j]
    p = -np.diff(padded)
    order = np.sort(np.argsort(-p, kind="stable")[:JUMPS])
    first, second = (order[k] for k in np.triu_indices(len(order), 1))
    if len(first) == 0:
        return 0.0, 0, 0
    own = np.where(first == 0, 1.0, 2.0)  # MC_{−1} = 1 is known

    def is_broken(delta: Floats) -> Any:
        left = np.maximum(p[first] - own * delta, 0) * np.maximum(p[second] - 2 * delta, 0)
        before = np.where(first == 0, 0.0, 1 - padded[first] + delta)
        between = np.maximum(padded[second - first] - padded[second] + 2 * delta, 0)
        after = np.maximum(values[first] + delta, 0) * np.maximum(values[second] + delta, 0)
        return np.sqrt(left) > np.sqrt(np.maximum(before, 0) * between) + np.sqrt(after)

    low, high = np.zeros(len(first)), np.ones(len(first))
    for _ in range(50):
        middle = (low + high) / 2
        broken = is_broken(middle)
        low, high = np.where(broken, middle, low), np.where(broken, high, middle)
    worst = int(np.argmax(low))
    bound = max(0.0, float(low[worst]) - 1e-12)  # rounding
    return bound, int(first[worst]), int(second[worst])
