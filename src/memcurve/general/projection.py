"""Reading states through noise: a soft projection, for all noise levels from one decomposition.

With x = Tξ, ξ white of covariance LLᵀ, and errors of covariance s²S, S = ΛΛᵀ, the singular value
decomposition Λ⁻¹TL = UΣWᵀ gives, with q_τ = L⁻¹p_τ::

    MC_τ(s²) = Σ_i σ_i²/(σ_i² + s²) (Wᵀq_τ)_i²

for every s at once; s = 0 is the projection on the states that are read. One-sided Jacobi
rotations (LAPACK's dgejsv) find the singular values of a T with graded columns, and with rows of
any size, to *relative* accuracy: memory far below eps·‖T‖ is not lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError

Floats = NDArray[np.float64]


class Projection(NamedTuple):
    """Singular values σ (k,) and right singular vectors W (n, k) of Λ⁻¹TL."""

    sigma: Floats
    W: Floats

    def shares(self, levels: Floats, rank: int) -> Floats:
        """σ²/(σ² + s²) for each level s, as (levels, k); without noise one, ``rank`` times."""
        # as 1/(1 + (s/σ)²), which neither underflows nor divides zero by zero
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            shares = 1 / (1 + (levels[:, None] / self.sigma) ** 2)
        shares[levels == 0] = np.arange(len(self.sigma)) < rank
        return np.where(self.sigma > 0, shares, shares * (levels == 0)[:, None])

    def weights(self, levels: Floats, rank: int) -> Floats:
        """(σ/(σ² + s²))²: squared length of the readout that finds each direction."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            weights = (self.shares(levels, rank) / self.sigma) ** 2
        return np.where(np.isnan(weights), 0.0, weights)


def project(M: Floats) -> Projection:
    """Decompose M = Λ⁻¹TL, (states read, white states), by Jacobi rotations."""
    rows, columns = M.shape
    if not np.isfinite(M).all():
        raise UncertainResultError("the states leave the range of floating point.")
    if not M.any():
        smaller = min(rows, columns)
        return Projection(np.zeros(smaller), np.eye(columns, smaller))
    if rows < columns:  # Jacobi works on tall matrices: W is then the left factor of Mᵀ
        sigma, W = _jacobi(M.T, left=True)
    else:
        sigma, W = _jacobi(M, left=False)
    return Projection(sigma, W)


def _jacobi(M: Floats, *, left: bool) -> tuple[Floats, Floats]:
    from scipy.linalg.lapack import dgejsv

    # joba=2 sorts the rows first: they may differ by any factor, as the noise of states may
    values, U, V, work, _, info = dgejsv(
        np.asfortranarray(M), joba=2, jobu=0 if left else 3, jobv=3 if left else 0, jobr=0, jobt=0,
        jobp=0,
    )  # fmt: skip
    if info != 0:
        raise UncertainResultError(f"LAPACK's dgejsv ends with info = {info}.")
    sigma = values * (work[0] / work[1])
    return sigma, (U[:, : len(sigma)] if left else V)
