"""The formula taken literally: MC_τ = Cᵀ(Aᵀ)^τ G⁻¹ A^τ C (the paper's "naïve algebraic" method).

The Gramian G = Σ_j A^j C Cᵀ (Aᵀ)^j, however it is computed, has eigenvalues far below eps·‖G‖ for
almost every network of more than some twenty nodes. Inverting it then loses memory (pseudo-inverse,
regularisation) or returns noise of any size and sign (solve).

For coloured input, noise, several inputs and readout subsets the same is done with the covariances
p_τ = Ap_{τ−1} + Cγ(τ) and Γ = AΓAᵀ + p₀Cᵀ + Cp₀ᵀ − CCᵀ of the states that are read.
"""

from __future__ import annotations

import math
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
    table_entry(_GRAMIANS, gramian, "gramian")
    invert: Any = table_entry(_INVERSES, inverse, "inverse")
    ridge = require_number(ridge, "ridge", "above 0", lambda r: r > 0)
    projects, plain = inverse == "projector", problem.is_plain
    if not plain and (gramian != "lyapunov" or projects):
        raise ValueError(
            "method 'naive' takes gramian='lyapunov' and any inverse but 'projector' for coloured "
            f"input, noise, several inputs or readouts; got gramian={gramian!r}, "
            f"inverse={inverse!r}."
        )
    options: dict[str, Any] = {"inverse": inverse} | ({} if projects else {"gramian": gramian})
    if plain:
        A, C = dense_single_input(problem)
        columns = truncation_for(len(C), terms, "terms")
        count = problem.lags or 5 * len(C)
        if gramian == "series" or projects:
            options["terms"] = columns
    if inverse == "tikhonov":
        options["ridge"] = ridge
    inverted, condition = "Gramian", math.inf
    try:
        if projects:
            K = krylov_matrix(A, C, max(count, columns))
            _, singular, Vh = np.linalg.svd(K, full_matrices=False)
            condition = _condition(singular) ** 2
            # K⁺K is the projector on the rows above the cut-off, here MATLAB's
            rows = Vh[singular > max(K.shape) * EPS * singular[0]]
            memory = np.einsum("ij,ij->j", rows, rows)[:count]
        elif plain:
            X, G, condition = kept_gramian(problem, gramian, columns)
            memory = np.einsum("ij,ij->j", X, invert(G, X, ridge))
        else:
            inverted, X, G = "covariance", *_covariances(problem)
            condition = float(np.linalg.cond(G))
            memory = np.einsum("ij,ij->j", X, invert(G, X, ridge))
            memory = memory.reshape(-1, len(problem.processes))
    except np.linalg.LinAlgError as error:
        raise UncertainResultError(
            f"method 'naive' with gramian={gramian!r}, inverse={inverse!r} fails: {error} "
            f"(condition number of the {inverted} {condition:.1e}). Use method='exact', which "
            f"does not form it."
        ) from None
    return estimate(
        memory,
        f"inverts a {inverted} of condition number {condition:.1e}",
        options=options,
        diagnostics={"condition": condition},
    )


def _condition(singular: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(singular[0] / singular[-1])


def kept_gramian(
    problem: Problem, gramian: str = "lyapunov", terms: int | None = None
) -> tuple[Floats, Floats, float]:
    """Responses to all lags of a plain question, their Gramian and its condition number.

    Kept with the network, since every inverse is one of this Gramian.
    """
    A, C = dense_single_input(problem)
    count = problem.lags or 5 * len(C)
    key, kept = (gramian, terms, count), problem.analysis.models
    if key not in kept:
        X = krylov_matrix(A, C, count)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # the condition number tells
            G = _GRAMIANS[gramian](A, C, X, terms or 5 * len(C))
        if not np.isfinite(G).all():  # LAPACK would print complaints
            raise np.linalg.LinAlgError("entries of the Gramian overflow")
        kept[key] = X, G, _condition(np.sort(np.abs(np.linalg.eigvalsh(G)))[::-1])
    X, G, condition = kept[key]
    return X, G, condition


def _covariances(problem: Problem) -> tuple[Floats, Floats]:
    """Covariances of the states that are read with past inputs (states, lags·d), and their own."""
    require_driven(problem)
    processes, rows = problem.processes, problem.rows
    count = problem.lags or 5 * len(problem.C)
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
    return lagged[:, rows].transpose(1, 0, 2).reshape(len(rows), -1), covariance


def _series(A: Floats, C: Floats, X: Floats, terms: int) -> Floats:
    K = X if X.shape[1] == terms else krylov_matrix(A, C, terms)
    return K @ K.T


def _lyapunov(A: Floats, C: Floats, X: Floats, terms: int) -> Floats:
    """The solution of G = AGAᵀ + CCᵀ, from its series where all that follows is below rounding."""
    sizes = np.einsum("ij,ij->j", X, X)
    fades = len(sizes) > len(C) and sizes[-1] <= EPS**2 * sizes.max()
    return X @ X.T if fades else solve_stein(A, np.outer(C, C))


def _eigenbasis(A: Floats, C: Floats, X: Floats, terms: int) -> Floats:
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
