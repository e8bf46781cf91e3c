"""The formula taken literally: MC_τ = Cᵀ(Aᵀ)^τ G⁻¹ A^τ C (the paper's "naïve algebraic" method).

The Gramian G = Σ_j A^j C Cᵀ (Aᵀ)^j, however it is computed, has eigenvalues far below eps·‖G‖ for
almost every network of more than some twenty nodes. Inverting it then loses memory (pseudo-inverse,
regularisation) or returns noise of any size and sign (solve).

For coloured input, noise, several inputs and readout subsets the same is done with the covariances
p_τ = Ap_{τ−1} + Cγ(τ) and Γ = AΓAᵀ + p₀Cᵀ + Cp₀ᵀ − CCᵀ of the states that are read.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from memcurve.core.arguments import require_number, table_entry
from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import Work
from memcurve.core.types import EPS, Floats
from memcurve.memory.curves import estimate
from memcurve.memory.methods.method import (
    EVERYTHING,
    Method,
    Variant,
    dense_single_input,
    require_driven,
    truncation_for,
)
from memcurve.network.krylov import krylov_matrix
from memcurve.solve import Answer, Problem, solve_stein


def naive(
    problem: Problem,
    *,
    gramian: str = "lyapunov",
    inverse: str = "solve",
    terms: int | None = None,
    ridge: float = 1e-9,
) -> Answer:
    """Invert the Gramian of the states.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means 5N.
    gramian : str
        ``"lyapunov"``: solve G = AGAᵀ + CCᵀ; ``"series"``: the first ``terms`` terms;
        ``"eigenbasis"``: Σ c_k c̄_l/(1 − λ_k λ̄_l) v_k v_l*.
    inverse : str
        ``"solve"``, ``"cholesky"``, ``"pinv"``, ``"tikhonov"`` (G + ridge·I), or ``"projector"``:
        K⁺K from the pseudo-inverse of the Krylov matrix of ``terms`` columns, as in the paper's
        published scripts.
    terms : int
        Length of the series, at least N; 5N by default.
    ridge : float
        For ``"tikhonov"``.
    """
    if not problem.is_plain:
        return _general(problem, gramian, inverse, ridge)
    A, C = dense_single_input(problem)
    terms = truncation_for(len(C), terms, "terms")
    count = problem.lags or 5 * len(C)
    form = table_entry(_GRAMIANS, gramian, "gramian")
    invert: Any = table_entry(_INVERSES, inverse, "inverse")
    ridge = require_number(ridge, "ridge", "above 0", lambda r: r > 0)
    if inverse == "projector":
        K = krylov_matrix(A, C, max(count, terms))
        _, singular, Vh = np.linalg.svd(K, full_matrices=False)
        with np.errstate(divide="ignore"):
            condition = float((singular[0] / singular[-1]) ** 2)
        # K⁺K is the projector on the rows above the cut-off, here MATLAB's
        kept = Vh[singular > max(K.shape) * EPS * singular[0]]
        memory = np.einsum("ij,ij->j", kept, kept)[:count]
    else:
        condition = np.inf
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore", RuntimeWarning)  # the condition number tells
                G = form(A, C, terms)
            if not np.isfinite(G).all():  # LAPACK would print complaints
                raise np.linalg.LinAlgError("entries of the Gramian overflow")
            condition = float(np.linalg.cond(G))
            X = krylov_matrix(A, C, count)
            memory = np.einsum("ij,ij->j", X, invert(G, X, ridge))
        except np.linalg.LinAlgError as error:
            raise UncertainResultError(
                f"method 'naive' with gramian={gramian!r}, inverse={inverse!r} fails: {error} "
                f"(condition number of the Gramian {condition:.1e}). Use method='exact', which "
                f"does not form it."
            ) from None
    options: dict[str, Any] = {"inverse": inverse}
    if inverse != "projector":
        options["gramian"] = gramian
    if gramian == "series" or inverse == "projector":
        options["terms"] = terms
    if inverse == "tikhonov":
        options["ridge"] = ridge
    return estimate(
        memory,
        f"inverts a Gramian of condition number {condition:.1e}",
        options=options,
        diagnostics={"condition": condition},
    )


def _general(problem: Problem, gramian: str, inverse: str, ridge: float) -> Answer:
    invert: Any = table_entry(_INVERSES, inverse, "inverse")
    if gramian != "lyapunov" or inverse == "projector":
        raise ValueError(
            "method 'naive' takes gramian='lyapunov' and any inverse but 'projector' for coloured "
            f"input, noise, several inputs or readouts; got gramian={gramian!r}, "
            f"inverse={inverse!r}."
        )
    require_driven(problem)
    processes = problem.processes
    rows, count = problem.rows, problem.lags or 5 * len(problem.C)
    present, covariance = problem.states.covariance(processes)
    [level] = problem.levels.tolist()
    if problem.state.any():
        covariance = covariance + solve_stein(problem.A, np.diag((level * problem.state) ** 2))
    covariance = (covariance + np.diag((level * problem.observation) ** 2))[np.ix_(rows, rows)]
    gamma = np.stack([process.autocovariance(count) / process.variance for process in processes])
    lagged = np.empty((count, *present.shape))
    for lag in range(count):
        lagged[lag] = present
        present = problem.A @ present + problem.C * gamma[:, min(lag + 1, count - 1)]
    condition = float(np.linalg.cond(covariance))
    X = lagged[:, rows].transpose(1, 0, 2).reshape(len(rows), -1)
    try:
        memory = np.einsum("ij,ij->j", X, invert(covariance, X, ridge)).reshape(count, -1)
    except np.linalg.LinAlgError as error:
        raise UncertainResultError(
            f"method 'naive' with inverse={inverse!r} fails: {error} (condition number of the "
            f"covariance {condition:.1e}). Use method='exact', which does not form it."
        ) from None
    return estimate(
        memory,
        f"inverts a covariance of condition number {condition:.1e}",
        options={"gramian": gramian, "inverse": inverse},
        diagnostics={"condition": condition},
    )


def _series(A: Floats, C: Floats, terms: int) -> Floats:
    K = krylov_matrix(A, C, terms)
    return K @ K.T


def _lyapunov(A: Floats, C: Floats, terms: int) -> Floats:
    from scipy.linalg import solve_discrete_lyapunov

    try:
        return np.asarray(solve_discrete_lyapunov(A, np.outer(C, C)))
    except ValueError:  # infinite on the way
        return np.full(A.shape, np.inf)


def _eigenbasis(A: Floats, C: Floats, terms: int) -> Floats:
    values, V = np.linalg.eig(A)
    weighted = V * np.linalg.solve(V, C)
    kernel = 1 / (1 - values[:, None] * values.conj())
    return np.asarray(weighted @ kernel @ weighted.conj().T).real


_GRAMIANS = {"lyapunov": _lyapunov, "series": _series, "eigenbasis": _eigenbasis}


def _cholesky(G: Floats, X: Floats, ridge: float) -> Any:
    L = np.linalg.cholesky(G)
    return np.linalg.solve(L.T, np.linalg.solve(L, X))


_INVERSES: dict[str, Any] = {
    "solve": lambda G, X, ridge: np.linalg.solve(G, X),
    "cholesky": _cholesky,
    "pinv": lambda G, X, ridge: np.linalg.pinv(G) @ X,
    "tikhonov": lambda G, X, ridge: np.linalg.solve(G + ridge * np.eye(len(G)), X),
    "projector": None,
}


METHOD = Method(
    name="naive",
    run=naive,
    help="The formula taken literally: invert the Gramian of the states.",
    cost=Work(4, 3, 8),
    answers=EVERYTHING,
    compared=True,
    variants=(
        Variant(
            "gramian_solve", "Gramian, solved", "MC_τ from G⁻¹ by a linear solver",
            largest_size=2000, inverts=True,
        ),
        Variant(
            "gramian_pinv", "Gramian, pseudo-inverse", "MC_τ from the pseudo-inverse of G",
            {"inverse": "pinv"}, largest_size=2000, inverts=True,
        ),
    ),
)  # fmt: skip
