"""Selective state-space layers: diagonal recurrences whose decay the input gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import exact_array, require_number
from memcurve.state_affine.network import Formula, Power, StateAffineNetwork


def gated_layer(
    decays: ArrayLike,
    rate: Callable[[Any, Any], Any],
    drives: Sequence[tuple[Callable[[Any, Any], Any], ArrayLike]],
    *,
    input: Any = "normal",
    **options: Any,
) -> StateAffineNetwork:
    """The diagonal layer x_n ← exp(−a_n·rate(z)) x_n + Σ_j drive_j(z) B_jn.

    Its letters differ by many orders, so that its capacities are computed in balls, from the
    formulas on: rounded letters would pass for capacity of high degree.

    Parameters
    ----------
    decays : (N,) array
        a_n, positive.
    rate : function
        ``rate(z, m)`` with exp, log and sqrt taken from ``m``, positive.
    drives : list of pairs
        Functions of the same kind, and weights (N,) or a number for each.
    input, **options
        As for :class:`memcurve.StateAffineNetwork`: readout, name.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import gated_layer
    >>> layer = gated_layer([1, 2], lambda z, m: 1 + m.exp(z), [(lambda z, m: z, 1.0)])
    >>> memcurve.capacities(layer).total
    2.0
    """
    a = exact_array(decays, "decays")
    if a.ndim != 1 or not len(a) or np.iscomplexobj(a) or not (a > 0).all():
        raise ValueError(f"`decays` must be positive numbers, one per state; got {decays!r}.")

    def gate(decay: float) -> Formula:
        return Formula(lambda z, m: m.exp(-(rate(z, m) * decay)))

    different, place = np.unique(a, return_inverse=True)
    driven = [Formula(drive) for drive, _ in drives]
    functions: list[Any] = [Power(0), *map(gate, different.tolist()), *driven]
    p, q = np.zeros((1 + len(different), len(a), len(a))), np.zeros((len(functions), len(a)))
    p[1 + place, np.arange(len(a)), np.arange(len(a))] = 1.0
    for row, (_, weights) in zip(q[len(p) :], drives, strict=True):
        row[:] = exact_array(weights, "drives")
    return StateAffineNetwork(p, q, input, functions=functions, rounding="formula", **options)


def selective_layer(
    decays: ArrayLike = tuple(range(1, 17)),
    *,
    weight: float = 1.0,
    bias: float = 0.0,
    drive: ArrayLike = 1.0,
    drive_slope: ArrayLike = 0.0,
    **options: Any,
) -> StateAffineNetwork:
    """One channel of a Mamba-like layer (Gu and Dao 2023).

    Δ = log(1 + exp(weight·z + bias)), x_n ← exp(−a_nΔ) x_n + Δ(drive_n + drive_slope_n·z) z.
    ``options`` are those of :func:`gated_layer`: input, readout, name.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import selective_layer
    >>> result = memcurve.capacities(selective_layer([1, 2, 3, 4]), degree=4)
    >>> result.total, round(result.of((1, 0, 1)) - result.of((0, 1, 1)), 12)
    (4.0, 0.0)
    """
    w, b = require_number(weight, "weight", "for Δ"), require_number(bias, "bias", "for Δ")

    def step(z: Any, m: Any) -> Any:
        return m.log(1 + m.exp(z * w + b))

    drives: list[Any] = [(lambda z, m: step(z, m) * z, drive)]
    if np.any(drive_slope):
        drives.append((lambda z, m: step(z, m) * z * z, drive_slope))
    return gated_layer(decays, step, drives, **options)


def rg_lru_layer(
    decays: ArrayLike,
    *,
    weight: float = 1.0,
    bias: float = 0.0,
    input_weight: float = 1.0,
    input_bias: float = 0.0,
    **options: Any,
) -> StateAffineNetwork:
    """A real-gated linear recurrent unit (De et al. 2024, arXiv 2402.19427).

    x_n ← exp(−a_n g) x_n + √(1 − exp(−2a_n g))·i·z with the recurrence gate g = σ(weight·z + bias)
    and the input gate i = σ(input_weight·z + input_bias), a_n = 8·softplus(Λ_n): one channel of
    google-deepmind/recurrentgemma, torch/layers.py (RGLRU), driven by its own input. ``options``
    are those of :func:`gated_layer`: input, readout, name.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import rg_lru_layer
    >>> memcurve.capacities(rg_lru_layer([0.5, 1.0]), degree=3).total
    2.0
    """
    gate, entrance = _sigmoid(weight, bias), _sigmoid(input_weight, input_bias)

    def driven(decay: float) -> Callable[[Any, Any], Any]:
        return lambda z, m: z * entrance(z, m) * m.sqrt(1 - m.exp(gate(z, m) * (-2 * decay)))

    a = np.atleast_1d(exact_array(decays, "decays"))
    drives = [(driven(decay), 1.0 * (a == decay)) for decay in np.unique(a).tolist()]
    return gated_layer(decays, gate, drives, **options)


def _sigmoid(weight: float, bias: float) -> Callable[[Any, Any], Any]:
    w, b = (require_number(x, "weight", "for a gate, and its bias too") for x in (weight, bias))
    return lambda z, m: 1 / (1 + m.exp(-(z * w + b)))
