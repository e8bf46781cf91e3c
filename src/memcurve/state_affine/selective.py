"""Selective state-space layers: diagonal recurrences whose decay the input gates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import exact_array, require_number
from memcurve.core.types import Floats
from memcurve.state_affine.network import Formula, Power, StateAffineNetwork


def gated_layer(
    decays: ArrayLike,
    rate: Callable[[Any, Any], Any],
    drives: list[tuple[Callable[[Any, Any], Any], ArrayLike]],
    *,
    input: Any = "normal",
    readout: ArrayLike | None = None,
    name: str | None = None,
) -> StateAffineNetwork:
    """The diagonal layer x_n ← exp(−a_n·rate(z)) x_n + Σ_j drive_j(z) B_jn.

    Its letters differ by many orders, so that its capacities are computed in balls, from the
    formulas on: rounded letters would pass for capacity of high degree.

    Parameters
    ----------
    decays : (N,) array
        a_n, positive and different.
    rate : function
        ``rate(z, m)`` with exp, log and sqrt taken from ``m``, positive.
    drives : list of pairs
        Functions of the same kind, and weights (N,) or a number for each.
    input, readout, name
        As for :class:`memcurve.StateAffineNetwork`.

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
        raise ValueError(f"`decays` must be positive numbers, one a state; got {decays!r}.")

    def gate(decay: float) -> Formula:
        return Formula(lambda z, m: m.exp(-(rate(z, m) * decay)))

    functions: list[Any] = [Power(0), *(gate(decay) for decay in a.tolist())]
    functions += [Formula(drive) for drive, _ in drives]
    size, count = len(a), len(functions)
    p, q = np.zeros((count, size, size)), np.zeros((count, size))
    for n in range(size):
        p[1 + n, n, n] = 1.0
    for j, (_, weights) in enumerate(drives):
        q[1 + size + j] = np.broadcast_to(exact_array(weights, "drives"), (size,))
    return StateAffineNetwork(
        p, q, input, functions=functions, readout=readout, rounding="formula", name=name
    )


def selective_layer(
    decays: ArrayLike = tuple(range(1, 17)),
    *,
    weight: float = 1.0,
    bias: float = 0.0,
    drive: ArrayLike = 1.0,
    drive_slope: ArrayLike = 0.0,
    input: Any = "normal",
    readout: ArrayLike | None = None,
    name: str | None = None,
) -> StateAffineNetwork:
    """One channel of a Mamba-like layer (Gu and Dao 2023).

    Δ = log(1 + exp(weight·z + bias)), x_n ← exp(−a_nΔ) x_n + Δ(drive_n + drive_slope_n·z) z.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import selective_layer
    >>> result = memcurve.capacities(selective_layer([1, 2, 3, 4]), degree=4)
    >>> result.total, round(result.of((1, 0, 1)) - result.of((0, 1, 1)), 12)
    (4.0, 0.0)
    """
    w, b = _gate_numbers(weight, bias)

    def step(z: Any, m: Any) -> Any:
        return m.log(1 + m.exp(z * w + b))

    drives: list[Any] = [(lambda z, m: step(z, m) * z, drive)]
    if np.any(drive_slope):
        drives.append((lambda z, m: step(z, m) * z * z, drive_slope))
    return gated_layer(decays, step, drives, input=input, readout=readout, name=name)


def rg_lru_layer(
    decays: ArrayLike,
    *,
    weight: float = 1.0,
    bias: float = 0.0,
    input: Any = "normal",
    readout: ArrayLike | None = None,
    name: str | None = None,
) -> StateAffineNetwork:
    """A real-gated linear recurrent unit (De et al. 2024).

    g = 1/(1 + exp(−weight·z − bias)), x_n ← exp(−a_n g) x_n + √(1 − exp(−2a_n g)) z.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import rg_lru_layer
    >>> memcurve.capacities(rg_lru_layer([0.5, 1.0]), degree=3).total
    2.0
    """
    w, b = _gate_numbers(weight, bias)

    def gate(z: Any, m: Any) -> Any:
        return 1 / (1 + m.exp(-(z * w + b)))

    a: Floats = np.atleast_1d(exact_array(decays, "decays"))

    def driven(decay: float) -> Callable[[Any, Any], Any]:
        return lambda z, m: z * m.sqrt(1 - m.exp(gate(z, m) * (-2 * decay)))

    drives: list[Any] = [
        (driven(one), row) for one, row in zip(a.tolist(), np.eye(len(a)), strict=True)
    ]
    return gated_layer(decays, gate, drives, input=input, readout=readout, name=name)


def _gate_numbers(weight: Any, bias: Any) -> tuple[float, float]:
    return require_number(weight, "weight", "for the gate"), require_number(bias, "bias", "for it")
