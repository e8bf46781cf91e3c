"""The paper's algebraic methods, for comparison; none knows how far it is off.

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

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from memcurve.core.arguments import Seed, generator, require_number, require_size, table_entry
from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import Work
from memcurve.core.progress import Progress, watched
from memcurve.core.types import EPS, Floats
from memcurve.memory.methods.method import (
    EVERYTHING,
    Variant,
    declared,
    dense_single_input,
    estimate,
    krylov_columns,
    require_driven,
)
from memcurve.network import masks as mask_table
from memcurve.network.krylov import arnoldi_basis, krylov_matrix
from memcurve.solve import Answer, Problem, solve_stein

#: Of the paper's scripts, in Arnoldi's method. Doubled: nothing that can be seen.
REGULARISATION = 1e-14
#: The bands of OSM+ are these quantiles over the masks.
QUANTILES = (0.05, 0.95)
#: Random masks that an audit takes, to ± 0.02 or so. Doubled: a third of its time.
_AUDITED_MASKS = 20
_BY_CONSTRUCTION = "the total equals the number of states by construction, whatever the memory is"


@declared(
    "The formula taken literally: invert the Gramian of the states.",
    Work(4, 3, 8),
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
        columns = krylov_columns(len(C), terms, "terms")
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


def _cholesky(G: Floats, X: Floats, ridge: float) -> Any:
    L = np.linalg.cholesky(G)
    return np.linalg.solve(L.T, np.linalg.solve(L, X))


_GRAMIANS = {"lyapunov": _lyapunov, "series": _series, "eigenbasis": _eigenbasis}
_INVERSES: dict[str, Any] = {
    "solve": lambda G, X, ridge: np.linalg.solve(G, X),
    "cholesky": _cholesky,
    "pinv": lambda G, X, ridge: np.linalg.pinv(G) @ X,
    "tikhonov": lambda G, X, ridge: np.linalg.solve(G + ridge * np.eye(len(G)), X),
    "projector": None,
}


@declared(
    "The paper's formula without the mask, from eigenvalues alone.", Work(5, 8, 5), compared=True
)
def neutral(problem: Problem, *, inverse: str = "solve") -> Answer:
    """Invert the matrix L_A of the eigenvalues.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means 5N.
    inverse : str
        ``"solve"`` or ``"pinv"``.
    """
    invert = {name: _INVERSES[name] for name in ("solve", "pinv")}
    table_entry(invert, inverse, "inverse")
    A, C = dense_single_input(problem)
    values = np.linalg.eigvals(A).astype(complex)
    L = 1 / (1 - values[:, None] * values.conj())
    condition = float(np.linalg.cond(L))
    X = np.vander(values, problem.lags or 5 * len(C), increasing=True)
    try:
        memory = np.einsum("ij,ij->j", X.conj(), invert[inverse](L, X, 0.0)).real
    except np.linalg.LinAlgError as error:
        raise UncertainResultError(
            f"method 'neutral' fails: {error} in L_A (condition number {condition:.1e}; repeated "
            f"eigenvalues make it singular). Use method='exact'."
        ) from None
    return estimate(
        memory,
        f"inverts a matrix L_A of condition number {condition:.1e} and ignores the mask",
        options={"inverse": inverse},
        diagnostics={"condition": condition},
    )


@declared(
    "The paper's orthogonalised subspace method.",
    Work(4, 4, 5),
    columns=lambda problem, options: options.get("truncation"),
    compared=True,
    variants=(
        Variant(
            "osm", "OSM", "orthogonalised subspace method", largest_size=600, by_construction=True
        ),
    ),
)
def osm(problem: Problem, *, truncation: int | None = None) -> Answer:
    """Project on the right singular vectors of the Krylov matrix.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means ``truncation`` lags.
    truncation : int
        Number m of columns of the Krylov matrix, at least N; 5N by default.
    """
    A, C = dense_single_input(problem)
    truncation = krylov_columns(len(C), truncation, "truncation", problem.lags)
    whole = _subspace_memory(A, C, truncation)
    return estimate(
        whole[: problem.lags or truncation],
        _BY_CONSTRUCTION,
        total=float(whole.sum()),
        options={"truncation": truncation},
    )


@declared(
    "OSM averaged over random masks.",
    Work(4, 4, 6),
    columns=lambda problem, options: options.get("truncation"),
    compared=True,
    variants=(
        Variant(
            "osm_plus", "OSM+", f"OSM averaged over {_AUDITED_MASKS} masks",
            {"masks": _AUDITED_MASKS}, largest_size=200, by_construction=True,
        ),
    ),
)  # fmt: skip
def osm_plus(
    problem: Problem,
    *,
    seed: Seed,
    masks: int = 1000,
    distribution: str | Callable[..., Floats] = "normal",
    mask_options: Mapping[str, Any] | None = None,
    truncation: int | None = None,
    mapper: Callable[..., Iterable[Any]] = map,
    progress: Progress = False,
) -> Answer:
    """Average the subspace method over random masks of unit norm.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means ``truncation`` lags. The
        network's own mask is not used.
    seed : int, SeedSequence or Generator
        Of the masks.
    masks : int
        Their number L.
    distribution : str or callable
        A random mask of :data:`memcurve.masks.MASKS`, or a function of (size, seed=…) like these.
    mask_options : mapping
        Options of the mask, e.g. ``{"low": 0}`` for the paper's sparse uniform one.
    truncation : int
        Number of columns of the Krylov matrix, at least N; 5N by default.
    mapper : callable
        Anything like ``map``, e.g. that of a ``concurrent.futures`` executor.
    progress : bool or callable
        Show a bar on stderr, or call a function of (label, done, total).
    """
    A, C = dense_single_input(problem)
    truncation = krylov_columns(len(C), truncation, "truncation", problem.lags)
    count = require_size(masks, "masks")
    draw = distribution
    if isinstance(draw, str):
        random = {n: mask for n, mask in mask_table.MASKS.items() if mask_table.is_random(n)}
        draw = table_entry(random, draw, "distribution")
    streams = generator(seed).spawn(count)
    drawn = [draw(len(C), seed=stream, **(mask_options or {})) for stream in streams]
    computed = mapper(partial(_subspace_memory, A, truncation=truncation), drawn)
    curves = np.array(list(watched(computed, "OSM+ masks", count, progress)))
    values = curves.mean(axis=0)
    return estimate(
        values[: problem.lags or truncation],
        f"mean and 90 % bands over {count} masks; {_BY_CONSTRUCTION}",
        total=float(values.sum()),
        bands=np.quantile(curves, QUANTILES, axis=0).T[: problem.lags or truncation],
        options={
            "masks": count,
            "distribution": getattr(distribution, "__name__", distribution),
            "mask_options": dict(mask_options or {}),
            "truncation": truncation,
        },
    )


def _subspace_memory(A: Floats, C: Floats, truncation: int) -> Floats:
    """Diagonal of the projector on the rows of the Krylov matrix, to all ``truncation`` lags."""
    W = np.linalg.svd(krylov_matrix(A, C, truncation), full_matrices=False)[2]
    return np.asarray(np.einsum("ij,ij->j", W, W))


@declared("One for each Arnoldi vector, as in the paper's published scripts.", Work(4, 0, 2))
def arnoldi(problem: Problem, *, breakdown: float = 1e-13) -> Answer:
    """Count the Arnoldi vectors.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means N.
    breakdown : float
        The iteration ends where a step is not longer than this.
    """
    A, C = dense_single_input(problem)
    breakdown = require_number(breakdown, "breakdown", "at least 0", lambda b: b >= 0)
    Q, _ = arnoldi_basis(A, C / np.linalg.norm(C), len(C), breakdown=breakdown)
    regular = Q @ Q.T + REGULARISATION * np.eye(len(C))
    ones = np.einsum("ij,ij->j", Q, np.linalg.solve(regular, Q))
    count = problem.lags or len(C)
    return estimate(
        np.pad(ones, (0, max(0, count - len(ones))))[:count],
        f"one for each of {len(ones)} Arnoldi vectors by construction, zero after",
        total=float(ones.sum()),
        options={"breakdown": breakdown},
    )
