"""Ground truth for any input, noise and readout, from the definition and in high precision.

Everything is written out as sums over the impulse response A^j C, cut where it is negligible::

    Γ_x = Σ_ij A^i C γ(i − j) (A^j C)ᵀ,    p_τ = Σ_j A^j C γ(τ − j),
    MC_τ = p_τᵀ (Γ_x + Γ_noise)⁻¹ p_τ / γ(0)

as products of power series in γ and of matrices. No Stein equation, no eigenvalue, no realization:
no step is shared with the package.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from flint import arb, arb_mat, arb_poly, ctx

BITS = 700
NEGLIGIBLE = 1e-60


class Truth(NamedTuple):
    """Arrays (lags, inputs) and (horizons, inputs), and the total over all lags, if asked for."""

    memory: np.ndarray
    forecast: np.ndarray
    total: float


def arma_covariance(ar: Sequence[float], ma: Sequence[float], count: int) -> list[arb]:
    """γ(0 … count − 1) from the MA(∞) form, cut where it is negligible."""
    terms = [arb(1)]
    ma = [0.0, *ma]
    while len(terms) <= len(ma) or any(abs(t) > NEGLIGIBLE for t in terms[-len(ar) - 1 :]):
        k = len(terms)
        value = arb(ma[k]) if k < len(ma) else arb(0)
        value += sum((arb(a) * terms[k - i] for i, a in enumerate(ar, 1) if i <= k), arb(0))
        terms.append(value)
    square = arb_poly(terms) * arb_poly(terms[::-1])
    gamma = [square[len(terms) - 1 + k] for k in range(min(count, len(terms)))]
    return gamma + [arb(0)] * (count - len(gamma))


def truth(
    A: np.ndarray,
    C: np.ndarray,
    lags: int,
    *,
    arma: tuple[Sequence[float], Sequence[float]] = ((), ()),
    covariance: Sequence[float] | None = None,
    horizons: int = 0,
    observation: Sequence[float] | float = 0.0,
    state: Sequence[float] | float = 0.0,
    readout: Sequence[int] | None = None,
    total_lags: int = 0,
    bits: int = BITS,
) -> Truth:
    """Memory of every lag and input; ``observation`` and ``state`` are noise variances.

    The noise is relative to input of unit variance, and every input has the same autocovariance.
    """
    A, C = np.asarray(A, float), np.asarray(C, float).reshape(len(A), -1)
    size, inputs = C.shape
    with ctx.workprec(bits):
        matrix = arb_mat(A.tolist())
        columns = _powers_times(matrix, arb_mat(C.tolist()))
        depth, span = len(columns), max(lags, horizons, total_lags)
        if covariance is not None:
            gamma = [arb(float(g)) for g in covariance]
            gamma += [arb(0)] * (depth + span - len(gamma))
        else:
            gamma = arma_covariance(*arma, depth + span)
        gamma = [g / gamma[0] for g in gamma]
        # coefficient k of `two_sided` is γ(k − reach)
        reach = depth + span - 1
        two_sided = arb_poly(gamma[:0:-1] + gamma)
        rows = list(range(size)) if readout is None else list(readout)
        responses = [[[c[i, j] for c in columns] for j in range(inputs)] for i in rows]
        # Σ_j A^j C γ(τ − j) is coefficient τ + reach of the product
        filtered = [[arb_poly(r) * two_sided for r in of_input] for of_input in responses]
        covariance_of_states = arb_mat(len(rows), len(rows))
        for j in range(inputs):
            left = arb_mat([[f[j][reach + t] for t in range(depth)] for f in filtered])
            right = arb_mat([r[j] for r in responses])
            covariance_of_states += left * right.transpose()
        covariance_of_states += _noise(matrix, observation, state, rows)

        def capacity(lag_range: range) -> np.ndarray:
            wanted = [(lag, j) for lag in lag_range for j in range(inputs)]
            p = arb_mat([[f[j][reach + lag] for lag, j in wanted] for f in filtered])
            y = covariance_of_states.solve(p)
            values = []
            for k in range(len(wanted)):
                value = sum((p[i, k] * y[i, k] for i in range(len(rows))), arb(0))
                assert float(value.rad()) < 1e-25, f"more bits needed: {value}"
                values.append(float(value.mid()))
            return np.array(values).reshape(len(lag_range), inputs)

        memory = capacity(range(lags))
        forecast = capacity(range(-1, -horizons - 1, -1)) if horizons else np.zeros((0, inputs))
        total = float(capacity(range(total_lags)).sum()) if total_lags else np.nan
    return Truth(memory, forecast, total)


def _noise(
    matrix: arb_mat,
    observation: Sequence[float] | float,
    state: Sequence[float] | float,
    rows: list[int],
) -> arb_mat:
    """The rows and columns of D + Σ_j A^j E (A^j)ᵀ that are read, D and E diagonal."""
    size = matrix.nrows()
    seen, inner = np.broadcast_to(observation, size), np.broadcast_to(state, size)
    total, power = arb_mat(np.diag(inner).tolist()), matrix
    while np.any(inner) and _largest(power) > NEGLIGIBLE:
        total += power * total * power.transpose()
        power = power * power
    total += arb_mat(np.diag(seen).tolist())
    return arb_mat([[total[i, j] for j in rows] for i in rows])


def _powers_times(matrix: arb_mat, start: arb_mat) -> list[arb_mat]:
    """[X, AX, A²X, …] until A^k is negligible, doubling so that the balls stay small."""
    columns, power = [start], matrix
    while _largest(power) > NEGLIGIBLE:
        columns += [power * column for column in columns]
        power = power * power
    return columns


def _largest(matrix: arb_mat) -> float:
    return max(float(abs(x).mid()) for x in matrix.entries())
