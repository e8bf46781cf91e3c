"""The general problem in floating point, with an error for every number.

Without noise, and with every state read, the map from white states to the network's own drops out:
a realization and the covariances of the input are all (:mod:`memcurve.stationary`). Otherwise that
map is found in one or two ways, and for each noise level the better one is kept:

* from eigenvectors (:func:`memcurve.realization.eigen_state_map`), with relative accuracy at any
  level. Its error is measured: the whole computation is repeated for a network changed at random by
  as much as rounding may change it, and ten times the difference is the error;
* from a Stein equation, T = A T A'ᵀ + C C'ᵀ. The size e of what x − Tξ has left is bounded, and a
  readout w is misled by at most 2√(1 − MC)·‖w‖e + ‖w‖²e², which grows as the noise shrinks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.allpass import cascade, section_poles
from memcurve.errors import UncertainResultError
from memcurve.general.evaluation import Doubt, evaluate
from memcurve.general.modes import Modes
from memcurve.general.problem import Outcome, Problem
from memcurve.general.projection import project
from memcurve.network.graph import eigenvalues
from memcurve.realization import (
    StateMap,
    eigen_state_map,
    leja_order,
    map_error,
    several_input_cascade,
    stein_state_map,
)
from memcurve.spectrum.sensitivity import EPS, backward_error, power_norms
from memcurve.stationary import covariances
from memcurve.stein import residual_norm, stein

Floats = NDArray[np.float64]

#: A measured change is taken this many times to be an error.
SAFETY = 10.0
#: Networks up to this size are changed in several ways.
FEW_STATES = 150
#: Where every level is as good as this, the other way is not tried.
GOOD = 1e-9
#: And where a bound is as good as this, it is not replaced by a measured change.
GOOD_BOUND = 5e-7
_SEED = 20230501

Once = Callable[[Floats, Floats, int | None], Outcome]


def solve(problem: Problem, modes: Modes, rows_rank: int) -> Outcome:
    """Answer the problem; ``rows_rank`` is the rank of the states that are read.

    Raises UncertainResultError where floating point has no answer.
    """
    if not modes.sure:
        raise UncertainResultError("the eigenvalues that count are too uncertain.")
    single = problem.C.shape[1] == 1
    if problem.noise is None and problem.reads_all:
        return _single_input(problem, modes) if single else _without_map(problem, modes)
    noise = _noise_factor(problem)
    outcomes: list[Outcome] = []
    if single and modes.rank == len(problem.A):
        with contextlib.suppress(UncertainResultError):
            outcomes.append(_by_eigenvectors(problem, modes, noise, rows_rank))
        if outcomes and outcomes[0].largest_error.max() <= GOOD:
            return outcomes[0]
    try:
        lags = outcomes[0].memory.shape[1] if outcomes else problem.lags
        outcomes.append(_by_stein(problem, modes, noise, rows_rank, lags))
    except UncertainResultError:
        if not outcomes:
            raise
    return outcomes[0] if len(outcomes) == 1 else outcomes[0].better_of(outcomes[1])


def realization_of(problem: Problem, modes: Modes) -> tuple[Floats, Floats]:
    """An input-normal realization (A', C') of the whole network."""
    return _realization(problem.A, problem.C, modes)


def _realization(A: Floats, C: Floats, modes: Modes) -> tuple[Floats, Floats]:
    if C.shape[1] > 1:
        if modes.rank < len(A):
            raise UncertainResultError("not every mode is driven by the inputs.")
        return several_input_cascade(A, C)
    if modes.poles is None or not np.abs(modes.poles).max() < 1:
        raise UncertainResultError("the eigenvalues that count cannot be told well enough.")
    upper = section_poles(modes.poles)
    A1, C1 = cascade(upper[leja_order(upper)])
    return A1, C1[:, None]


def _single_input(problem: Problem, modes: Modes) -> Outcome:
    cov = covariances(*realization_of(problem, modes), problem.processes, problem.horizons)
    turned = modes.gap * np.sqrt(cov.condition)
    bounded = evaluate(
        cov, problem.levels, projection=None, rank=modes.rank, lags=problem.lags,
        doubt=Doubt(turned=float(turned)),
    )  # fmt: skip
    if modes.rank < len(problem.A) or bounded.largest_error.max() <= GOOD_BOUND:
        return bounded  # a change at random would not keep the rank
    return bounded.better_of(_without_map(problem, modes, bounded.memory.shape[1]))


def _without_map(problem: Problem, modes: Modes, lags: int | None = None) -> Outcome:
    """All states read without noise, the error measured."""

    def once(A: Floats, C: Floats, lags: int | None) -> Outcome:
        realization = _realization(A, C, _modes_again(A, C, modes))
        cov = covariances(*realization, problem.processes, problem.horizons)
        return evaluate(
            cov, problem.levels, projection=None, rank=modes.rank, lags=lags, doubt=Doubt()
        )

    return _measured(problem, once, lags or problem.lags)


def _modes_again(A: Floats, C: Floats, modes: Modes) -> Modes:
    """The modes of a changed network of full rank."""
    return Modes(modes.rank, poles=eigenvalues(A)) if C.shape[1] == 1 else modes


def _by_eigenvectors(
    problem: Problem, modes: Modes, noise: tuple[_NoiseFactor, float], rows_rank: int
) -> Outcome:
    factor, doubt = noise

    def once(A: Floats, C: Floats, lags: int | None) -> Outcome:
        found = eigen_state_map(A, C[:, 0], modes.basis if A is problem.A else None)
        if found is None:
            raise UncertainResultError("the network has no basis of eigenvectors.")
        return _read_through(problem, found, factor, rows_rank, lags, Doubt(noise=doubt))

    return _measured(problem, once, problem.lags)


def _by_stein(
    problem: Problem,
    modes: Modes,
    noise: tuple[_NoiseFactor, float],
    rows_rank: int,
    lags: int | None,
) -> Outcome:
    factor, doubt = noise
    found = stein_state_map(problem.A, problem.C, realization_of(problem, modes))
    norms = power_norms(np.asfortranarray(problem.A))
    left_out = map_error(problem.A, problem.C, found, norms.sum) * factor.inverse_norm
    size = float(np.sqrt((factor.whitened(found.T[problem.rows]) ** 2).sum()))
    left_out += 8 * EPS * np.sqrt(len(found.A)) * size
    bounded = _read_through(
        problem, found, factor, rows_rank, lags, Doubt(left_out=left_out, noise=doubt)
    )
    if modes.rank < len(problem.A) or bounded.largest_error.max() <= GOOD:
        return bounded  # a change at random would not keep the rank

    def once(A: Floats, C: Floats, lags: int | None) -> Outcome:
        found = stein_state_map(A, C, _realization(A, C, _modes_again(A, C, modes)))
        return _read_through(problem, found, factor, rows_rank, lags, Doubt(noise=doubt))

    return bounded.better_of(_measured(problem, once, bounded.memory.shape[1]))


@dataclass(frozen=True, eq=False)
class _NoiseFactor:
    """Λ with unit²·ΛΛᵀ the covariance of the noise on the states read, diagonal or triangular."""

    diagonal: Floats | None
    triangular: Floats | None
    inverse_norm: float
    unit: float

    def whitened(self, T: Floats) -> Floats:
        """Λ⁻¹T."""
        if self.diagonal is not None:
            return np.asarray(T / self.diagonal[:, None])
        from scipy.linalg import solve_triangular

        L: Any = self.triangular
        return np.asarray(solve_triangular(L, T, lower=True))


def _noise_factor(problem: Problem) -> tuple[_NoiseFactor, float]:
    """Factor of the noise at level one, and the relative error of its covariance."""
    observed, entering = problem.observation[problem.rows], problem.state
    unit = float(max(observed.max(), entering.max())) or 1.0  # squares of others may overflow
    observed, entering = observed / unit, entering / unit
    if not entering.any():
        scale = observed if observed.any() else np.ones(len(observed))
        if scale.min() == 0:
            raise UncertainResultError("some of the states are read without noise, others with.")
        return _NoiseFactor(scale, None, float(1 / scale.min()), unit), 0.0
    whole = stein(problem.A, np.diag(entering**2))
    read = whole[np.ix_(problem.rows, problem.rows)] + np.diag(observed**2)
    try:
        L = np.asarray(np.linalg.cholesky(read), dtype=float)
    except np.linalg.LinAlgError:
        raise UncertainResultError("the covariance of the noise is singular.") from None
    least = float(np.sqrt(entering.min() ** 2 + observed.min() ** 2))
    if entering.min() ** 2 == 0:
        raise UncertainResultError("the noise of some states is too small beside that of others.")
    relative = residual_norm(problem.A, whole, np.diag(entering**2)) / float(entering.min()) ** 2
    relative += 4 * EPS * float(np.sqrt(len(L) * (read**2).sum())) / least**2  # of its factor
    return _NoiseFactor(None, L, 1 / least, unit), relative


def _read_through(
    problem: Problem,
    found: StateMap,
    factor: _NoiseFactor,
    rows_rank: int,
    lags: int | None,
    doubt: Doubt,
) -> Outcome:
    cov = covariances(found.A, found.C, problem.processes, problem.horizons)
    M = factor.whitened(found.T[problem.rows])
    if cov.factor is not None:
        M = M @ cov.factor
    doubt = doubt._replace(left_out=doubt.left_out * float(np.sqrt(cov.peak)))
    levels = problem.levels * factor.unit
    return evaluate(cov, levels, projection=project(M), rank=rows_rank, lags=lags, doubt=doubt)


def _measured(problem: Problem, once: Once, lags: int | None) -> Outcome:
    """Run for the network and for some changed as much as rounding may change it; compare."""
    outcome = once(problem.A, problem.C, lags)
    rng = np.random.default_rng(_SEED)
    # a single change may leave some number alone by accident; in a large network it cannot
    trials = 4 if len(problem.A) <= FEW_STATES else 1
    others = [
        once(*_changed(problem.A, problem.C, rng), outcome.memory.shape[1]) for _ in range(trials)
    ]
    for name, total in (("memory", "total"), ("forecast", "total_forecast")):
        value, sum_of_all = getattr(outcome, name), getattr(outcome, total)
        changes = np.abs([getattr(other, name) - value for other in others]).max(axis=0)
        moved = np.abs([getattr(other, total) - sum_of_all for other in others]).max(axis=0)
        moved = np.maximum(moved, changes.sum(axis=(1, 2)))
        error, total_error = getattr(outcome, f"{name}_error"), getattr(outcome, f"{total}_error")
        error += SAFETY * changes.max(axis=(1, 2), initial=0.0)[:, None, None]
        total_error += np.where(total_error == 0, 0.0, SAFETY * moved)  # zero: it is a rank
    return outcome


def _changed(A: Floats, C: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A network changed at random by as much as LAPACK may change it."""
    change = rng.standard_normal(A.shape)
    change *= backward_error(A) / np.sqrt((change**2).sum())
    if np.array_equal(A, A.T):
        change = (change + change.T) / 2
    return A + change, C * (1 + 4 * EPS * rng.standard_normal(C.shape))
