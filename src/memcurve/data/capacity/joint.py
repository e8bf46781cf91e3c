"""Capacities of the significant targets together: the states regressed on all of them.

One R² a target counts what the targets share by chance several times, so that their sum has a
large variance and exceeds the number of states. Regress the states on the targets instead: with
whitened states x = Bᵀw + e for orthonormal targets w,

    capacity of target s = b_sᵀ Γ⁻¹ b_s,    Γ = BᵀB + Cov(e),

which sum to r − tr Γ⁻¹Cov(e) ≤ r, and to r without error if the targets explain the states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.data.capacity.polynomials import Polynomials
from memcurve.data.capacity.scan import Basis
from memcurve.data.capacity.targets import Pattern, columns

Floats = NDArray[np.float64]

#: Numbers of the targets that are in memory at a time (64 MiB).
CHUNK_NUMBERS = 1 << 23
#: Directions of the Gram matrix of the targets below this share of the largest are dropped:
#: they come from inputs that repeat, whose targets coincide.
COINCIDENT = 1e-10
#: The share of the state covariance left to the residual is never estimated below this.
LEAST_RESIDUAL = 0.05


@dataclass(frozen=True, eq=False)
class Joint:
    """Capacities with their errors, and the errors of their sums by group and over all."""

    capacity: Floats
    error: Floats
    group_errors: Floats
    total_error: float


def joint_capacities(
    basis: Basis,
    polynomials: Polynomials,
    chosen: Sequence[tuple[Pattern, int]],
    groups: NDArray[np.intp],
    count: int,
) -> Joint:
    """Capacities b_sᵀΓ⁻¹b_s of the ``chosen`` targets, less their bias.

    Bias: b̂_s has the covariance E(w_s² eeᵀ)/n, which adds Σ_t w_ts² (e_tᵀΓ⁻¹e_t)/n² by chance,
    reduced by the share 1 − capacity that chance is left with. Errors: the influence function

        ψ_t = 2 (v·e_t)(w_ts − v·g_t) − (v·e_t)²,    v = Γ⁻¹b_s,  g_t = Bᵀw_t,

    averaged over ⌊√n⌋ blocks in time, whose means are nearly independent, and the variance
    2 tr (Γ⁻¹Cov e)²/n² that chance has where b_s = 0.

    ``groups`` gives each target's group, 0 … ``count`` − 1, for the errors of sums over groups.
    """
    n, k = basis.rows, len(chosen)
    if k == 0:
        return Joint(np.zeros(0), np.zeros(0), np.zeros(count), 0.0)
    gram, cross, mean = _moments(basis, polynomials, chosen)
    scale = np.sqrt(np.diag(gram) / n)
    inverse = _inverse(gram / np.outer(scale, scale))
    B = inverse @ (cross / scale[:, None]) * np.sqrt(n)
    variances = np.diag(inverse)  # of each b̂_s, in units of the residual's
    explained = B.T @ (cross / scale[:, None]) / np.sqrt(n)
    covariance = (np.eye(basis.rank) - (explained + explained.T) / 2) * (n / (n - 1 - k))
    # B̂ᵀB̂ has Σ_s Var b̂_s too much, which is taken from the residual's share
    share = max(1 - float(variances.sum()), LEAST_RESIDUAL)
    metric = np.linalg.inv(B.T @ B + share * covariance)
    V, spread = metric @ B.T, metric @ covariance
    leverage = np.clip(np.einsum("sr,rs->s", B, V), 0, 1)

    blocks = _Blocks(n, k, count)
    noise = np.zeros(k)
    for rows, w in _chunks(basis, polynomials, chosen):
        w = (w - mean[:, None]) / scale[:, None]
        fitted = w.T @ B
        e = basis.Q[rows] * np.sqrt(n) - fitted
        noise += (w * w) @ np.einsum("tr,rq,tq->t", e, metric, e)
        along = e @ V
        blocks.add(rows.start, 2 * along * (w.T - fitted @ V) - along**2, groups)
    bias = noise / n * variances * (1 - leverage) * (n / (n - 1 - k))
    second = 2 * float(np.trace(spread @ spread)) * (variances * (1 - leverage)) ** 2
    by_group = np.bincount(groups, weights=second, minlength=count)
    return Joint(
        capacity=np.clip(leverage - bias, 0, 1),
        error=np.sqrt(blocks.variance(blocks.single) + second),
        group_errors=np.sqrt(blocks.variance(blocks.grouped) + by_group),
        total_error=float(
            np.sqrt(blocks.variance(blocks.grouped.sum(1, keepdims=True))[0] + second.sum())
        ),
    )


def _chunks(
    basis: Basis, polynomials: Polynomials, chosen: Sequence[tuple[Pattern, int]]
) -> Iterator[tuple[slice, Floats]]:
    """Rows of the basis a few at a time, with the targets (k, rows) there."""
    size = max(1, CHUNK_NUMBERS // len(chosen))
    for first in range(0, basis.rows, size):
        last = min(first + size, basis.rows)
        times = basis.start + first, basis.start + last
        yield slice(first, last), columns(polynomials.values, chosen, *times)


def _moments(
    basis: Basis, polynomials: Polynomials, chosen: Sequence[tuple[Pattern, int]]
) -> tuple[Floats, Floats, Floats]:
    """Gram matrix of the centred targets, their products with Q, and their means."""
    k = len(chosen)
    gram, cross, total = np.zeros((k, k)), np.zeros((k, basis.rank)), np.zeros(k)
    for rows, w in _chunks(basis, polynomials, chosen):
        gram += w @ w.T
        cross += w @ basis.Q[rows]
        total += w.sum(axis=1)
    mean = total / basis.rows
    return gram - basis.rows * np.outer(mean, mean), cross, mean


def _inverse(gram: Floats) -> Floats:
    """Inverse of a Gram matrix, on the directions in which its targets differ."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > COINCIDENT * values[-1]
    return np.asarray((vectors[:, kept] / values[kept]) @ vectors[:, kept].T)


class _Blocks:
    """Means over blocks of time of series that arrive a few rows at a time."""

    def __init__(self, rows: int, series: int, groups: int) -> None:
        self.count = max(2, int(np.sqrt(rows)))
        self.rows = rows
        self.single = np.zeros((self.count, series))
        self.grouped = np.zeros((self.count, groups))

    def add(self, first: int, psi: Floats, groups: NDArray[np.intp]) -> None:
        """Add the rows ``first`` … of ψ (rows, series)."""
        block = (np.arange(first, first + len(psi)) * self.count) // self.rows
        starts = np.flatnonzero(np.diff(block, prepend=-1))
        sums = np.add.reduceat(psi, starts, axis=0)
        self.single[block[starts]] += sums
        for group in range(self.grouped.shape[1]):
            self.grouped[block[starts], group] += sums[:, groups == group].sum(axis=1)

    def variance(self, sums: Floats) -> Floats:
        """Variance of the mean of each series, from the sums over blocks."""
        means = sums * (self.count / self.rows)
        return np.asarray(means.var(axis=0, ddof=1) / self.count)
