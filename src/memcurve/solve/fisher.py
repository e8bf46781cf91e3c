"""Fisher memory: how sharply the states, under noise of their own, tell past inputs apart.

With Gaussian noise of variance s² entering every state at every step, the states have covariance
s²R around their mean, R = Σ_j A^j (A^j)ᵀ, and the Fisher information about the input τ steps ago is
(Ganguli, Huh and Sompolinsky 2008; the paper's section "Fischer Memory")::

    F_τ = Cᵀ(Aᵀ)^τ R⁻¹ A^τ C / s²,        Σ_τ F_τ = tr(R⁻¹ G) / s²,    G = Σ_j A^j C Cᵀ (A^j)ᵀ

R is at least the identity, so that solving with it is harmless. For normal A and a mask of unit
length the total is 1/s². The memory with state noise s tends to F_τ as the noise grows.
"""

from __future__ import annotations

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, TINY, Floats
from memcurve.solve.answer import MOST_DEFAULT_LAGS, Answer, Lags
from memcurve.solve.factor import MOST_ENTRIES, TAIL, faded_states, responses_to
from memcurve.solve.powers import power_norms, residual_norm, solve_stein
from memcurve.solve.problem import Problem


def unit_mask(problem: Problem) -> tuple[Floats, float]:
    """The mask in units of a power of two, and what Fisher memory is to be multiplied by then."""
    C = problem.states.mask
    exponent = int(np.frexp(np.abs(C).max(initial=0.0))[1])
    [s] = problem.levels.tolist()
    scale = float(np.ldexp(1.0, exponent)) / s if abs(exponent) < 1000 else np.inf
    scale = scale * scale
    if not scale < 1e300 or (scale < 1e-290 and C.any()):
        raise ValueError(
            f"`noise` must leave Fisher memory, which is about (mask/noise)², within the range of "
            f"floating point; got {s!r} with a mask of size {2.0**exponent:.1e}."
        )
    return np.ldexp(C, -exponent), scale


def scaled(values: Floats, error: Floats, total: float, total_error: float, scale: float) -> Answer:
    """Fisher memory (lags, inputs) for unit noise, for the noise asked for."""
    values, total = scale * values, scale * total
    return Answer.of_memory(
        values,
        scale * error + 2 * EPS * values,
        total,
        scale * total_error + 2 * EPS * total,
        np.full(values.shape, np.nan),
    )


def solve_fisher(problem: Problem, *, largest_error: float = 1e-6) -> Answer:
    """Fisher memory in floating point; a larger relative error is left to ball arithmetic."""
    A = problem.states.dense
    C, scale = unit_mask(problem)
    if not C.any():
        return Answer.nothing(1, problem.lags or 1, 0, C.shape[1])
    norms = power_norms(A)
    if not np.isfinite(norms.squares):
        raise UncertainResultError("the powers of A grow too far for an error estimate.")
    values, error, total, total_error = _in_floats(A, C, problem.lags, norms.norms)
    worst = max(float(error.max()), total_error) / max(total, TINY)
    if not worst <= largest_error:
        raise UncertainResultError(f"the relative error would be {worst:.1e}.")
    return scaled(values, error, total, total_error, scale)


def _in_floats(
    A: Floats, C: Floats, lags: int | None, power_sum: float
) -> tuple[Floats, Floats, float, float]:
    from scipy.linalg import solve_triangular

    identity = np.eye(len(A))
    R = solve_stein(A @ A, identity + A @ A.T)  # the first step, without products of the identity
    root, width = np.sqrt(len(A)), np.sqrt((A**2).sum())
    # the error of R is between ∓off·R: relative
    relative = residual_norm(A, R, identity) + 4 * EPS * root
    try:
        L = np.asarray(np.linalg.cholesky(R))
    except np.linalg.LinAlgError:
        raise UncertainResultError("the covariance of the noise is singular.") from None
    try:  # all lags there are
        K, rest = faded_states(A, C, TAIL * float(np.sqrt((C**2).sum())))
        F, largest = _energies(L, K, C.shape[1])
        total = float(F.sum())
        beyond = rest**2 * (1 + relative)  # of the lags after those: R⁻¹ is at most one
        total_error = total * (relative + len(F) * EPS) + beyond
        F = _listed(F, lags, total)
    except UncertainResultError:
        inverse, G = solve_triangular(L, identity, lower=True), solve_stein(A, C @ C.T)
        total = float(np.einsum("ij,ij->", inverse @ G, inverse))
        # the error of G is between ∓off·R
        total_error = total * relative + len(A) * residual_norm(A, G, C @ C.T)
        count = lags or min(MOST_DEFAULT_LAGS, MOST_ENTRIES // C.size)
        F, largest = _energies(L, responses_to(A, C, count), C.shape[1])
        F, beyond = _listed(F, lags, total), 0.0
    moved = EPS * root * width * power_sum * largest  # rounding in A^τ C
    return F, relative * F + 2 * np.sqrt(F) * moved + moved**2 + beyond, total, total_error


def _energies(L: Floats, K: Floats, inputs: int) -> tuple[Floats, float]:
    """‖L⁻¹A^τC‖² for each lag and input, and the largest ‖A^τC‖."""
    from scipy.linalg import solve_triangular

    half = solve_triangular(L, K, lower=True)
    values = np.einsum("ij,ij->j", half, half).reshape(-1, inputs)
    return values, float(np.sqrt((K**2).sum(axis=0)).max())


def _listed(F: Floats, lags: int | None, total: float) -> Floats:
    """As many lags as were asked for, or as matter."""
    listed = Lags(lags, 1.0)
    listed.enough(F.sum(axis=1) / max(total, TINY))
    count = listed.count or len(F)
    return np.concatenate([F[:count], np.zeros((max(0, count - len(F)), F.shape[1]))])
