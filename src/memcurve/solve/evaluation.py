"""From covariances to memory: lag by lag, level by level, with the errors that are known here."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from memcurve.errors import UncertainResultError
from memcurve.result import EPS, Floats
from memcurve.solve.answer import Outcome
from memcurve.solve.coloured import Covariances
from memcurve.solve.lags import Lags

#: Rounding of a sum of squares, of its factor and its right-hand sides, in units of eps·√n.
ARITHMETIC = 8.0


class Doubt(NamedTuple):
    """What is not known about the states.

    How far their span may be turned, how large the part of them that was left out may be (relative
    to the noise), and the relative error of the covariance of the noise.
    """

    turned: float = 0.0
    left_out: float = 0.0
    noise: float = 0.0


def evaluate(
    cov: Covariances,
    levels: Floats,
    *,
    projection: Projection | None,
    rank: int,
    lags: int | None,
    doubt: Doubt,
) -> Outcome:
    """Memory and forecasts of all levels.

    Without a projection every white state is read exactly; with one, ``rank`` of its directions are
    read where there is no noise.
    """
    reader = _Reader(cov, levels, projection, rank, doubt)
    total, total_error = reader.total(cov.all_past, len(cov.A) + cov.span, cov.added)
    blocks, listed = [], Lags(lags, total)
    for q in cov.lags():
        blocks.append(reader.read(q))
        if listed.enough(blocks[-1][0].sum(axis=2)):
            break
    memory, error = (
        np.concatenate(part, axis=1)[:, : listed.count] for part in zip(*blocks, strict=True)
    )
    return Outcome(
        memory,
        error,
        *reader.read(cov.ahead),
        total,
        total_error,
        *reader.total(cov.all_future, cov.span),
    )


class _Reader:
    """Turns whitened covariances q into capacities and errors."""

    def __init__(
        self,
        cov: Covariances,
        levels: Floats,
        projection: Projection | None,
        rank: int,
        doubt: Doubt,
    ) -> None:
        self._cov, self._doubt, self._levels = cov, doubt, levels
        self._rounding = ARITHMETIC * EPS * np.sqrt(len(cov.A) + 1)
        if cov.C.shape[1] > 1:  # sections of several inputs are as white as they turn out to be
            off = cov.A @ cov.A.T + cov.C @ cov.C.T - np.eye(len(cov.A))
            self._rounding += 2 * np.sqrt((off**2).sum())
        self._amplified = cov.rounded / cov.least  # rounding in Γ
        self._W = None
        if projection is not None:
            self._W = projection.W
            self._shares = projection.shares(levels, rank)
            self._weights = projection.weights(levels, rank)
            # a direction that is not seen at all may stand above the noise by what was left out
            floor = np.where(
                levels > 0,
                levels,
                projection.sigma[min(rank, len(projection.sigma)) - 1] - doubt.left_out,
            )
            with np.errstate(divide="ignore"):
                unseen = (doubt.left_out / np.maximum(floor, 0.0)) ** 2
            self._unseen = np.nan_to_num(unseen, posinf=1e300) + self._rounding**2

    def read(self, q: Floats) -> tuple[Floats, Floats]:
        """Capacities and errors (levels, lags, inputs) of covariances (n, inputs, lags)."""
        n, d, m = q.shape
        flat = q.transpose(0, 2, 1).reshape(n, m * d)
        if self._W is None:
            memory = np.einsum("ij,ij->j", flat, flat)[None]
            error = self._rounding * (memory + self._cov.rounded * self._readout_norm(flat)[None])
        else:
            squares = (self._W.T @ flat) ** 2
            memory = self._shares @ squares
            misled = self._doubt.left_out * np.sqrt(self._weights @ squares)
            error = self._rounding * self._amplified * np.sqrt(memory)
            error += self._unseen[:, None] * np.einsum("ij,ij->j", flat, flat)
            error += 2 * np.sqrt(np.clip(1 - memory, 0, 1)) * misled + misled**2
            error += self._doubt.noise * ((self._shares * (1 - self._shares)) @ squares)
        turned = self._doubt.turned
        error += 2 * turned * np.sqrt(np.clip(memory * (1 - memory), 0, 1)) + turned**2
        error += EPS  # the last digit of a number near one
        shape = (len(memory), m, d)
        # a capacity is a share: rounding may leave [0, 1] by its error, the value need not
        return np.clip(memory, 0.0, 1.0).reshape(shape), np.minimum(error, 1.0).reshape(shape)

    def total(self, outer: Floats, span: float, added: float = 0.0) -> tuple[Floats, Floats]:
        """Capacity over all lags, from Σ q_τq_τᵀ, and its error, for each level.

        ``span`` is about how many lags matter: Σ_τ √MC_τ is at most √(span·ΣMC_τ); ``added`` is the
        size of what Σ p_τp_τᵀ was added up from.
        """
        peak, doubt, exact = self._cov.peak, self._doubt, self._cov.factor is None
        if self._W is None:
            total = np.trace(outer)[None]
            error = np.zeros(1)
            if not exact:
                readers, unwhitened = self._readout_norms(outer, added)
                readers *= self._cov.rounded
                error = self._rounding * (np.maximum(total, 1.0) + readers + unwhitened)
        else:
            along = self._along(outer)
            total = self._shares @ along
            misled = doubt.left_out * np.sqrt(self._weights)
            change = misled * self._turning(exact) + misled**2
            error = peak * np.minimum(change + self._unseen[:, None], 1.0).sum(axis=1)
            error += doubt.noise * (self._shares * (1 - self._shares)).sum(axis=1) * peak
            error += self._rounding * self._amplified * np.maximum(total, 1.0)
            if exact:  # without noise the total is a rank, or nothing for the future
                quiet = self._levels == 0
                total, error = np.where(quiet, np.rint(total), total), np.where(quiet, 0.0, error)
            else:
                error += self._rounding * added * (self._shares @ self._readout_norm(self._W))
        if not exact:
            error = error + 2 * doubt.turned * np.sqrt(np.maximum(total, 0.0) * max(span, 1.0))
        return total, error

    def _turning(self, exact: bool) -> Floats:
        """What the total gains or loses as a direction that is read turns, relative to the peak.

        The total is tr ΠG for the projection Π on what is read and 0 ≤ G ≤ peak, so that a unit
        vector u of it, σ²/(σ² + s²) of which is states, changes by 2‖(I − Π)Gu‖ times its turn.
        White input is G = 1 on all states.
        """
        if exact:
            return np.asarray(2 * np.sqrt(1 - self._shares))
        with np.errstate(divide="ignore"):
            return np.asarray(np.minimum(2.0, 1 / np.sqrt(self._shares)))

    def _along(self, outer: Floats) -> Floats:
        """Diagonal of WᵀSW for S = Σ q_τq_τᵀ."""
        W: Any = self._W
        if self._cov.factor is None:  # S is the identity, or nothing
            return np.full(W.shape[1], outer[0, 0])
        return np.asarray(np.einsum("ij,ij->j", W, outer @ W))

    def _readout_norms(self, outer: Floats, added: float) -> tuple[float, float]:
        """Σ_τ ‖Γ⁻¹p_τ‖² = tr(L⁻ᵀ S L⁻¹), and what rounding of Σ_τ p_τp_τᵀ = LSLᵀ is multiplied by.

        That is found as the sum over past and future, less the future.
        """
        L: Any = self._cov.factor
        inverse = self._inverse
        readers = float(np.einsum("ij,ij->", inverse, outer))
        size = max(added, 2 * float(np.sqrt(((L @ outer @ L.T) ** 2).sum())))
        return max(0.0, readers), size * float(np.trace(inverse))

    @cached_property
    def _inverse(self) -> Floats:
        """L⁻¹L⁻ᵀ, whose trace is ‖L⁻¹‖²."""
        from scipy.linalg import solve_triangular

        L: Any = self._cov.factor
        inverse = solve_triangular(L, np.eye(len(L)), lower=True)
        return np.asarray(inverse @ inverse.T)

    def _readout_norm(self, flat: Floats) -> Floats:
        """‖Γ⁻¹p‖² = ‖L⁻ᵀq‖²: what an error of Γ is multiplied by."""
        if self._cov.factor is None:
            return np.zeros(flat.shape[1])
        from scipy.linalg import solve_triangular

        y = solve_triangular(self._cov.factor, flat, lower=True, trans="T")
        return np.asarray(np.einsum("ij,ij->j", y, y))


# --- Reading states through noise: a soft projection, for all noise levels from one decomposition.
#
# With x = Tξ, ξ white of covariance LLᵀ, and errors of covariance s²S, S = ΛΛᵀ, the singular value
# decomposition Λ⁻¹TL = UΣWᵀ gives, with q_τ = L⁻¹p_τ::
#
#     MC_τ(s²) = Σ_i σ_i²/(σ_i² + s²) (Wᵀq_τ)_i²
#
# for every s at once; s = 0 is the projection on the states that are read. One-sided Jacobi
# rotations (LAPACK's dgejsv) find the singular values of a T with graded columns, and with rows of
# any size, to *relative* accuracy: memory far below eps·‖T‖ is not lost.


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

    def spread(self, levels: Floats, rank: int, blur: Floats) -> Floats:
        """How far the shares may be off where the singular values are, by ``blur`` each.

        Without noise a direction is read or not: what may be nothing but rounding is in doubt
        altogether.
        """
        most, least = self.sigma + blur, np.maximum(self.sigma - blur, 0.0)
        shares = [self._replace(sigma=sigma).shares(levels, rank) for sigma in (most, least)]
        spread = shares[0] - shares[1]
        spread[levels == 0] = (least == 0) & (np.arange(len(self.sigma)) < rank)
        return np.asarray(spread)

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


def normwise(M: Floats) -> Projection:
    """The same where rounding of the size of eps·‖M‖ does no harm, in a fourth of the time."""
    if not np.isfinite(M).all():
        raise UncertainResultError("the states leave the range of floating point.")
    _, sigma, Wt = np.linalg.svd(M, full_matrices=False)
    return Projection(sigma, Wt.T)


def _jacobi(M: Floats, *, left: bool) -> tuple[Floats, Floats]:
    from scipy.linalg.lapack import dgejsv

    # large rows first: they may differ by any factor, as the noise of states may. LAPACK's own way
    # (joba=2) takes the square of their number
    order = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    values, U, V, work, _, info = dgejsv(
        np.asfortranarray(M[order]), joba=0, jobu=0 if left else 3, jobv=3 if left else 0, jobr=0,
        jobt=0, jobp=0,
    )  # fmt: skip
    if info != 0:
        raise UncertainResultError(f"LAPACK's dgejsv ends with info = {info}.")
    sigma = values * (work[0] / work[1])
    if not left:
        return sigma, V
    Wt = np.empty((len(sigma), len(M)))
    Wt[:, order] = U[:, : len(sigma)].T
    # LAPACK's are of unit length up to rounding of as many terms; rows are added up by halves
    lengths = np.sqrt((Wt**2).sum(axis=1, keepdims=True))
    return sigma, (Wt / np.where(lengths > 0, lengths, 1.0)).T
