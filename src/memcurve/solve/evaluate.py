"""From a factor to memory: rows that are read, noise, colour, levels, lags and horizons.

With x = Mξ, ξ = Wᵀz white, and errors of covariance s²ΛΛᵀ on the rows that are read, the singular
value decomposition Λ⁻¹M = UΣZᵀ gives the memory at every noise level at once::

    MC_τ(s) = Σ_i σ_i²/(σ_i² + s²)·V²_{τi},        V = WZ

(ridge leverage scores; σ²/(σ² + s²) are the filter factors); s = 0 is the projection on what is
read. Coloured input is z = Ψe of white noise e: with ΨᵀW = QR the states are x = MRᵀ(Qᵀe), and
V = ΨQZ, of which negative lags are forecasts. Jacobi rotations (LAPACK's dgejsv) find singular
values of graded matrices to *relative* accuracy: memory far below eps·‖M‖ is not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, Floats
from memcurve.inputs.filters import Filter
from memcurve.solve.factor import KrylovFactor, state_covariance
from memcurve.solve.powers import solve_stein

#: Noise above this share of the states is not reached by rounding of eps·‖M‖: any decomposition
#: will do. Doubled: nothing but time.
NORMWISE = 1e-3

#: Λ⁻¹ on the rows that are read, a function of M.
Whiten = Callable[[Floats], Floats]


class SingularSystem(NamedTuple):
    """Singular values of what is read, and the squared share of each input in each direction.

    ``squares`` (lags·d, k) of past inputs, ``ahead`` (horizons·d, k) of those to come, ``held``
    and ``held_ahead`` (k,) their sums. ``sizes`` (k,) tell directions from rounding: σ, or what
    each adds where all is read exactly; ``rounding`` is what the decomposition changes.
    """

    sigma: Floats
    squares: Floats
    held: Floats
    ahead: Floats
    held_ahead: Floats
    sizes: Floats
    rounding: float

    def filter_factors(self, levels: Floats, rank: int) -> Floats:
        """σ²/(σ² + s²) for each level s, as (levels, k); without noise one, ``rank`` times."""
        # as 1/(1 + (s/σ)²), which neither underflows nor divides zero by zero
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            factors = 1 / (1 + (levels[:, None] / self.sigma) ** 2)
        factors[levels == 0] = np.arange(len(self.sigma)) < rank
        return np.where(self.sigma > 0, factors, factors * (levels == 0)[:, None])

    def uncertainty(self, levels: Floats, rank: int, shifts: Floats) -> Floats:
        """How far filter factors are off where singular values move by ``shifts``, or vanish."""
        most, least = self.sigma + shifts, np.maximum(self.sizes - shifts, 0.0)
        both = [self._replace(sigma=x).filter_factors(levels, rank) for x in (most, least)]
        spread = both[0] - both[1]
        spread[levels == 0] = (least == 0) & (np.arange(len(self.sigma)) < rank)
        return np.asarray(np.nan_to_num(spread, nan=1.0))


def singular_system(
    factor: KrylovFactor,
    *,
    levels: Floats,
    whiten: Whiten | None,
    filters: Sequence[Filter],
    horizons: int = 0,
) -> SingularSystem:
    """What can be read of past inputs, and of ``horizons`` to come; exactly without ``whiten``."""
    d = factor.inputs
    white = all(each.is_white for each in filters)
    M, V, beyond = factor.M, factor.W, None
    future = np.zeros((0, V.shape[1]))
    if not white:
        V, future, M, beyond = _past_and_future(factor, filters)
    sigma = np.full(V.shape[1], np.inf)
    sizes, rounding = np.abs(np.diag(M)) if len(M) == len(sigma) else sigma, 0.0
    if whiten is not None:
        sigma, Z, rounding = decomposed(whiten(M), levels)
        sizes = sigma
        V, future = V @ Z, future @ Z
        beyond = None if beyond is None else beyond @ Z
    squares, ahead = np.square(V), np.square(future)
    held = np.ones(len(sigma))
    if not white:
        held = np.ascontiguousarray(squares.T).sum(axis=1)  # as a row, NumPy adds it up by halves
        if beyond is not None:
            held += np.square(beyond).sum(axis=0)
    held_ahead = ahead.sum(axis=0) if len(ahead) else np.zeros(len(sigma))
    # the horizon farthest ahead comes first
    listed = np.zeros((horizons, d, len(sigma)))
    nearest = ahead.reshape(len(ahead) // d, d, len(sigma))[::-1][:horizons]
    listed[: len(nearest)] = nearest
    return SingularSystem(
        sigma, squares, held, listed.reshape(horizons * d, len(sigma)), held_ahead, sizes, rounding
    )


def _past_and_future(
    factor: KrylovFactor, filters: Sequence[Filter]
) -> tuple[Floats, Floats, Floats, Floats | None]:
    """Covariances V of past inputs with white states, those of inputs to come, and M.

    The latter from the farthest on; and a factor of what lies beyond the lags that are listed.
    """
    W, d, n = factor.W, len(filters), factor.W.shape[1]
    if factor.input_normal is not None:
        V, future, R, beyond = _stationary(*factor.input_normal, filters, len(W) // d)
        return V, future, factor.M @ R.T, beyond
    lags, reach = len(W) // d, max(len(each.psi) for each in filters) - 1
    both = np.zeros((lags + reach, d, n))
    for j, each in enumerate(filters):
        part = each.adjoint(W[j::d], reach)
        both[: len(part), j] = part
    return both[reach:].reshape(lags * d, n), both[:reach].reshape(reach * d, n), factor.M, None


def _stationary(
    A: Floats, C: Floats, filters: Sequence[Filter], lags: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """The same where responses do not fade: p_τ = Cov(ξ_t, z_{t−τ}) = Ap_{τ−1} + Cγ(τ), all τ.

    Γ = LLᵀ is the covariance of ξ, V = L⁻¹p; beyond γ sums over all lags solve a Stein equation.
    """
    from scipy.linalg import solve_triangular

    n, d = C.shape
    covariance = state_covariance(A, C, filters)[1]
    try:
        L: Any = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise UncertainResultError("the covariance of the states is nearly singular.") from None
    reach = max(len(each.gamma) for each in filters) - 1
    gamma = np.zeros((reach + lags, d))
    for j, each in enumerate(filters):
        gamma[: len(each.gamma), j] = each.gamma
    # p_{−h} = Σ_k γ(k + h)A^k C from the farthest to the nearest, then lags 0, 1, 2, …
    p, columns = np.zeros((n, d)), []
    for h in range(-reach, lags):
        p = A @ p + C * gamma[abs(h)]
        columns.append(p)
    V = np.asarray(solve_triangular(L, np.concatenate(columns, axis=1), lower=True)).T
    later = A @ p  # no colour reaches beyond the lags that are listed
    rest = solve_stein(A, later @ later.T)
    half = np.asarray(solve_triangular(L, rest, lower=True))
    rest = np.asarray(solve_triangular(L, half.T, lower=True))
    values, axes = np.linalg.eigh((rest + rest.T) / 2)
    beyond = np.sqrt(np.maximum(values, 0.0))[:, None] * axes.T
    return V[reach * d :], V[: reach * d], L.T, beyond


def _condensed(M: Floats) -> Floats:
    """As few rows as hold the same, where there are many, large ones first."""
    if not np.isfinite(M).all():
        raise UncertainResultError("the states leave the range of floating point.")
    if len(M) <= 2 * M.shape[1]:
        return M
    order = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    return np.asarray(np.linalg.qr(M[order], mode="r"))


def decomposed(M: Floats, levels: Floats) -> tuple[Floats, Floats, float]:
    """Singular values, right singular vectors and their rounding; relative where levels need it."""
    M = _condensed(M)
    rows, columns = M.shape
    if not M.any():
        smaller = min(rows, columns)
        return np.zeros(smaller), np.eye(columns, smaller), 0.0
    size = float(np.sqrt((M**2).sum()))
    if levels.min() >= NORMWISE * size:
        _, sigma, Zt = np.linalg.svd(M, full_matrices=False)
        return sigma, Zt.T, EPS * size
    # Jacobi works on tall matrices: Z is then the left factor of Mᵀ
    return *(_jacobi(M.T, left=True) if len(M) < columns else _jacobi(M, left=False)), 0.0


def _jacobi(M: Floats, *, left: bool) -> tuple[Floats, Floats]:
    from scipy.linalg.lapack import dgejsv

    # large rows first: they may differ by any factor. LAPACK's own way (joba=2) takes the square of
    # their number
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
    Zt = np.empty((len(sigma), len(M)))
    Zt[:, order] = U[:, : len(sigma)].T
    # LAPACK's are of unit length up to rounding of as many terms; rows are added up by halves
    lengths = np.sqrt((Zt**2).sum(axis=1, keepdims=True))
    return sigma, (Zt / np.where(lengths > 0, lengths, 1.0)).T
