"""The paper's algebraic methods, for comparison; none knows how far it is off.

``lags=None`` means 5N lags, N for ``arnoldi``, ``truncation`` for ``osm`` and ``osm_plus``.

**naive**: the formula taken literally, MC_τ = Cᵀ(Aᵀ)^τ G⁻¹ A^τ C. The Gramian G = Σ_j A^j C Cᵀ
(Aᵀ)^j, however it is computed, has eigenvalues far below eps·‖G‖ for almost every network of more
than some twenty nodes. Inverting it loses memory (pseudo-inverse, regularisation) or returns noise
of any size and sign (solve). For coloured input, noise, several inputs and readouts the same is
done with the covariances p_τ = Ap_{τ−1} + Cγ(τ) and Γ = AΓAᵀ + p₀Cᵀ + Cp₀ᵀ − CCᵀ.

**neutral**: MC_τ = ι*(Λ*)^τ L_A⁻¹ Λ^τ ι with (L_A)_{kl} = 1/(1 − λ_k λ̄_l): the mask is cancelled.
As ill-conditioned; it takes every eigenvalue as excited and needs them to be distinct.

**osm**: MC_τ = (WWᵀ)_{ττ} of the Krylov matrix K_m = UΣWᵀ. No inverse, but singular vectors that
belong to singular values below rounding are arbitrary. The total is the trace of a projector of
rank N: it equals N by construction. **osm_plus**: its mean over random masks (Algorithm 1), which
converges, but not to the memory curve: at N = 100 it stays off by 0.2 to 0.35.

**arnoldi**: MC_τ = (Qᵀ(QQᵀ + 10⁻¹⁴I)⁻¹Q)_{ττ} with one Arnoldi vector per lag, as in the paper's
published scripts: one for every lag up to the step at which the iteration breaks down.
"""

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve.core import arguments
from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import Work, require_room_for_array
from memcurve.core.types import EPS, Floats
from memcurve.memory.curve import fault
from memcurve.memory.methods import method
from memcurve.network import masks as mask_table
from memcurve.network.krylov import arnoldi_basis, krylov_matrix
from memcurve.solve import Answer, Problem, solve_stein

#: Of the paper's scripts, in Arnoldi's method. Doubled: nothing that can be seen.
REGULARISATION = 1e-14
#: The bands of OSM+ are these quantiles over the masks.
QUANTILES = (0.05, 0.95)
_BY_CONSTRUCTION = "the total equals the number of states by construction, whatever the memory is"


@method.declared(
    "The formula taken literally: invert the Gramian of the states.",
    Work(4, 3, 8),
    answers=method.EVERYTHING,
    compared=True,
    variants=method.VARIANTS["naive"],
)
def naive(problem: Problem, *, inverse: str = "solve", ridge: float = 1e-9) -> Answer:
    """Invert the Gramian of the states.

    Parameters
    ----------
    inverse : str
        ``"solve"``, ``"pinv"``, ``"tikhonov"`` (G + ridge·I), or ``"projector"``: K⁺K from the
        pseudo-inverse of the Krylov matrix of 5N columns, as in the paper's published scripts.
    ridge : float
        For ``"tikhonov"``.
    """
    invert: Any = arguments.table_entry(_INVERSES, inverse, "inverse")
    ridge = arguments.require_number(ridge, "ridge", "above 0", lambda r: r > 0)
    inverted, condition = "Gramian", math.inf
    try:
        if inverse == "projector":
            if not problem.is_plain:
                raise ValueError(fault("projector"))
            memory, condition = _projected(problem)
        else:
            if problem.is_plain:
                X, G, condition = cached_gramian(problem)
            else:
                inverted, X, G = "covariance", *_covariances(problem)
                condition = float(np.linalg.cond(G))
            memory = np.einsum("ij,ij->j", X, invert(G, X, ridge))
            memory = memory.reshape(-1, len(problem.processes))
    except np.linalg.LinAlgError as error:
        facts = {"inverse": inverse, "inverted": inverted, "condition": condition}
        raise UncertainResultError(fault("singular_gramian", error=error, **facts)) from None
    return method.estimate(
        memory,
        f"inverts a {inverted} of condition number {condition:.1e}",
        options={"inverse": inverse} | ({"ridge": ridge} if inverse == "tikhonov" else {}),
        diagnostics={"condition": condition},
    )


def _condition(singular: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(singular[0] / singular[-1])


def _projected(problem: Problem) -> tuple[Floats, float]:
    """Diagonal of K⁺K, the projector on the rows of K above MATLAB's cut-off."""
    A, C = method.dense_single_input(problem)
    count = problem.lags or 5 * len(C)
    K = krylov_matrix(A, C, max(count, 5 * len(C)))
    _, singular, Vh = np.linalg.svd(K, full_matrices=False)
    rows = Vh[singular > max(K.shape) * EPS * singular[0]]
    return np.einsum("ij,ij->j", rows, rows)[:count], _condition(singular) ** 2


def cached_gramian(problem: Problem) -> tuple[Floats, Floats, float]:
    """Responses to all lags, their Gramian and its condition number, kept with the network."""
    A, C = method.dense_single_input(problem)
    count = problem.lags or 5 * len(C)
    key, models = ("gramian", count), problem.analysis.models
    if key not in models:
        X = krylov_matrix(A, C, count)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)  # the condition number tells
            sizes = np.einsum("ij,ij->j", X, X)
            fades = count > len(C) and sizes[-1] <= EPS**2 * sizes.max()
            G = X @ X.T if fades else solve_stein(A, np.outer(C, C))
        if not np.isfinite(G).all():  # LAPACK would print complaints
            raise np.linalg.LinAlgError("entries of the Gramian overflow")
        models[key] = X, G, _condition(np.sort(np.abs(np.linalg.eigvalsh(G)))[::-1])
    X, G, condition = models[key]
    return X, G, condition


def _covariances(problem: Problem) -> tuple[Floats, Floats]:
    """Covariances of the states that are read with past inputs (states, lags·d), and their own."""
    method.require_driven(problem)
    processes, rows = problem.processes, problem.rows
    count = problem.lags or 5 * len(problem.C)
    present, covariance = problem.states.covariance(processes)
    [level] = problem.levels.tolist()
    if problem.state.any():
        covariance = covariance + solve_stein(problem.A, np.diag((level * problem.state) ** 2))
    with np.errstate(over="ignore"):  # the condition number tells
        noise = np.diag((level * problem.observation) ** 2)
    covariance = (covariance + noise)[np.ix_(rows, rows)]
    gamma = np.stack([process.autocovariance(count) / process.variance for process in processes])
    lagged = np.empty((count, *present.shape))
    for lag in range(count):
        lagged[lag] = present
        present = problem.A @ present + problem.C * gamma[:, min(lag + 1, count - 1)]
    return lagged[:, rows].transpose(1, 0, 2).reshape(len(rows), -1), covariance


_INVERSES: dict[str, Any] = {
    "solve": lambda G, X, ridge: np.linalg.solve(G, X),
    "pinv": lambda G, X, ridge: np.linalg.pinv(G) @ X,
    "tikhonov": lambda G, X, ridge: np.linalg.solve(G + ridge * np.eye(len(G)), X),
    "projector": None,
}


@method.declared(
    "The paper's formula without the mask, from eigenvalues alone.", Work(5, 8, 5), compared=True
)
def neutral(problem: Problem) -> Answer:
    """Invert the matrix L_A of the eigenvalues."""
    A, C = method.dense_single_input(problem)
    values = np.linalg.eigvals(A).astype(complex)
    L = 1 / (1 - values[:, None] * values.conj())
    condition = float(np.linalg.cond(L))
    X = np.vander(values, problem.lags or 5 * len(C), increasing=True)
    try:
        memory = np.einsum("ij,ij->j", X.conj(), np.linalg.solve(L, X)).real
    except np.linalg.LinAlgError as error:
        raise UncertainResultError(
            fault("singular_eigenvalues", error=error, condition=condition)
        ) from None
    return method.estimate(
        memory,
        f"inverts a matrix L_A of condition number {condition:.1e} and ignores the mask",
        diagnostics={"condition": condition},
    )


@method.declared(
    "The paper's orthogonalised subspace method.",
    Work(4, 4, 5),
    columns=lambda problem, options: options.get("truncation"),
    compared=True,
    variants=method.VARIANTS["osm"],
)
def osm(problem: Problem, *, truncation: int | None = None) -> Answer:
    """Project on the right singular vectors of the Krylov matrix.

    Parameters
    ----------
    truncation : int
        Number m of columns of the Krylov matrix, at least N; 5N by default.
    """
    A, C = method.dense_single_input(problem)
    truncation = method.krylov_columns(len(C), truncation, problem.lags)
    whole = _subspace_memory(A, C, truncation)
    return method.estimate(
        whole[: problem.lags or truncation],
        _BY_CONSTRUCTION,
        total=float(whole.sum()),
        options={"truncation": truncation},
    )


@method.declared(
    "OSM averaged over random masks.",
    Work(4, 4, 6),
    columns=lambda problem, options: options.get("truncation"),
    compared=True,
    variants=method.VARIANTS["osm_plus"],
)
def osm_plus(
    problem: Problem,
    *,
    seed: arguments.Seed,
    masks: int = 1000,
    distribution: str = "normal",
    mask_options: Mapping[str, Any] | None = None,
    truncation: int | None = None,
) -> Answer:
    """Average the subspace method over random masks of unit norm, in place of the network's own.

    Parameters
    ----------
    seed : int, SeedSequence or Generator
        Of the masks.
    masks : int
        Their number L.
    distribution : str
        A random mask of :data:`memcurve.masks.MASKS`.
    mask_options : mapping
        Options of the mask, e.g. ``{"low": 0}`` for the paper's sparse uniform one.
    truncation : int
        Number of columns of the Krylov matrix, at least N; 5N by default.
    """
    A, C = method.dense_single_input(problem)
    truncation = method.krylov_columns(len(C), truncation, problem.lags)
    count = arguments.require_size(masks, "masks")
    random = {n: mask for n, mask in mask_table.MASKS.items() if mask_table.is_random(n)}
    draw = arguments.table_entry(random, distribution, "distribution")
    given = {} if mask_options is None else mask_options
    if not isinstance(given, Mapping):
        raise TypeError(f"`mask_options` must be a mapping of names to values, got {given!r:.80}.")
    arguments.require_options(draw, {"seed": seed, **given})
    require_room_for_array((count, truncation), f"`masks`={count}")
    curves = np.empty((count, truncation))
    notify = problem.analysis.notify
    for k, stream in enumerate(arguments.generator(seed).spawn(count)):
        notify("OSM+ masks", k, count)
        curves[k] = _subspace_memory(A, draw(len(C), seed=stream, **given), truncation)
    notify("OSM+ masks", count, count)
    values = curves.mean(axis=0)
    return method.estimate(
        values[: problem.lags or truncation],
        f"mean and 90 % bands over {count} masks; {_BY_CONSTRUCTION}",
        total=float(values.sum()),
        bands=np.quantile(curves, QUANTILES, axis=0).T[: problem.lags or truncation],
        options={
            "masks": count,
            "distribution": distribution,
            "mask_options": dict(given),
            "truncation": truncation,
        },
    )


def _subspace_memory(A: Floats, C: Floats, truncation: int) -> Floats:
    """Diagonal of the projector on the rows of the Krylov matrix, to all ``truncation`` lags."""
    K = krylov_matrix(A, C, truncation)
    if not np.isfinite(K).all():
        raise UncertainResultError(fault("responses_overflow"))
    W = np.linalg.svd(K, full_matrices=False)[2]
    return np.asarray(np.einsum("ij,ij->j", W, W))


@method.declared("One for each Arnoldi vector, as in the paper's published scripts.", Work(4, 0, 2))
def arnoldi(problem: Problem) -> Answer:
    """Count the Arnoldi vectors, up to a step not longer than 1e-13."""
    A, C = method.dense_single_input(problem)
    Q, _ = arnoldi_basis(A, C / np.linalg.norm(C), len(C), breakdown=1e-13)
    regular = Q @ Q.T + REGULARISATION * np.eye(len(C))
    ones = np.einsum("ij,ij->j", Q, np.linalg.solve(regular, Q))
    count = problem.lags or len(C)
    return method.estimate(
        np.pad(ones, (0, max(0, count - len(ones))))[:count],
        f"one for each of {len(ones)} Arnoldi vectors by construction, zero after",
        total=float(ones.sum()),
    )
