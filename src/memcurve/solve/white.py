"""The general problem in floating point, with an error for every number.

Without noise, and with every state read, the map from white states to the network's own drops out:
a realization and the covariances of the input are all (:mod:`memcurve.solve.coloured`). Otherwise
that map is found in one or two ways, and for each noise level the better one is kept:

* from eigenvectors (:func:`memcurve.solve.realization.eigen_state_map`), with relative accuracy at
  any level. Its error is measured: the whole computation is repeated for a network changed at
  random by as much as rounding may change it, and ten times the difference is the error;
* from a Stein equation, T = A T A'ᵀ + C C'ᵀ. The size e of what x − Tξ has left is bounded, and a
  readout w is misled by at most 2√(1 − MC)·‖w‖e + ‖w‖²e², which grows as the noise shrinks.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from memcurve.errors import UncertainResultError
from memcurve.limits import require_room_for_states
from memcurve.network.graph import eigenvalues
from memcurve.result import EPS, Floats
from memcurve.solve.analysis import Task, realized
from memcurve.solve.answer import Outcome
from memcurve.solve.coloured import covariances
from memcurve.solve.evaluation import Doubt, Projection, evaluate, project
from memcurve.solve.realization import StateMap, eigen_state_map, map_error, stein_state_map
from memcurve.solve.errors import backward_error
from memcurve.solve.stein import residual_norm, stein

#: A measured change is taken this many times to be an error.
SAFETY = 10.0
#: Networks up to this size are changed in several ways.
FEW_STATES = 150
#: Where every level is as good as this, the other way is not tried.
GOOD = 1e-9
#: And where a bound is as good as this, it is not replaced by a measured change.
GOOD_BOUND = 5e-7
_SEED = 20230501


class Seen(NamedTuple):
    """What is read of the white states, under which noise, and the peak of the input's density."""

    projection: Projection
    levels: Floats
    peak: float


#: An answer, and what is seen through a map, if there is one.
Once = Callable[[Floats, Floats, int | None], tuple[Outcome, Seen | None]]


def solve_white(task: Task) -> Outcome:
    """Answer any question about memory and forecasts in white coordinates.

    Raises UncertainResultError where floating point has no answer.
    """
    require_room_for_states(len(task.states), "noise")
    if task.states.has_wild_units:
        raise UncertainResultError(
            "the numbers in `A` differ too much in size: measure the states in other units."
        )
    single = task.analysis.inputs == 1
    maps = task.question.noise is not None or not task.reads_all
    _require_sure(task)
    if not maps:
        return _single_input(task) if single else _without_map(task)
    noise = _noise_factor(task)
    outcomes: list[Outcome] = []
    if single and _may_be_changed(task):
        with contextlib.suppress(UncertainResultError):
            outcomes.append(_by_eigenvectors(task, noise))
        if outcomes and outcomes[0].largest_error.max() <= GOOD:
            return outcomes[0]
    try:
        lags = outcomes[0].memory.shape[1] if outcomes else task.question.lags
        outcomes.append(_by_stein(task, noise, lags))
    except UncertainResultError:
        if not outcomes:
            raise
    return outcomes[0] if len(outcomes) == 1 else outcomes[0].better_of(outcomes[1])


def _require_sure(task: Task) -> None:
    """Raise where rounding may move an eigenvalue that counts across the unit circle."""
    if task.analysis.inputs > 1:
        sure = bool(np.isfinite(task.states.sensitivity.gap))
    else:
        spectrum = task.analysis.spectrum()
        sure = spectrum.poles is not None and bool(np.isfinite(spectrum.gap))
    if not sure:
        raise UncertainResultError("the eigenvalues that count are too uncertain.")


def _single_input(task: Task) -> Outcome:
    realization = task.analysis.realization(task.states)
    cov = covariances(*realization, task.question.processes, task.question.horizons)
    turned = task.analysis.spectrum().gap * np.sqrt(cov.condition)
    bounded = evaluate(
        cov, task.question.levels, projection=None, rank=task.rank, lags=task.question.lags,
        doubt=Doubt(turned=float(turned)),
    )  # fmt: skip
    if task.analysis.rank < len(task.states) or bounded.largest_error.max() <= GOOD_BOUND:
        return bounded  # a change at random would not keep the rank
    return bounded.better_of(_without_map(task, bounded.memory.shape[1]))


def _without_map(task: Task, lags: int | None = None) -> Outcome:
    """All states read without noise, the error measured."""
    if task.analysis.inputs > 1 and not _may_be_changed(task):
        raise UncertainResultError("some modes are driven by no more than the last digits.")

    def once(A: Floats, C: Floats, lags: int | None) -> tuple[Outcome, Seen | None]:
        realization = _realization_again(task, A, C)
        cov = covariances(*realization, task.question.processes, task.question.horizons)
        found = evaluate(
            cov, task.question.levels, projection=None, rank=task.rank, lags=lags, doubt=Doubt()
        )
        return found, None

    return _measured(task, once, lags or task.question.lags)


def _may_be_changed(task: Task) -> bool:
    """Whether a network changed at random has modes like this one, and tells its errors.

    It has full rank; modes that coincide, or that nothing but the last digits drives, are lost.
    """
    return task.analysis.rank == len(task.states) and task.analysis.rank_is_robust


def _realization_again(task: Task, A: Floats, C: Floats) -> tuple[Floats, Floats]:
    """The realization, of the network itself or of a changed one of full rank."""
    if A is task.A:
        return task.analysis.realization(task.states)
    poles = eigenvalues(A) if C.shape[1] == 1 else None
    return realized(A, C, task.analysis.rank, poles)


def _by_eigenvectors(task: Task, noise: tuple[_NoiseFactor, float]) -> Outcome:
    factor, doubt = noise

    def once(A: Floats, C: Floats, lags: int | None) -> tuple[Outcome, Seen | None]:
        same = A is task.A
        found = task.analysis.eigen_map(task.states) if same else eigen_state_map(A, C[:, 0])
        if found is None:
            raise UncertainResultError("the network has no basis of eigenvectors.")
        return _read_through(task, found, factor, lags, Doubt(noise=doubt))

    return _measured(task, once, task.question.lags)


def _by_stein(task: Task, noise: tuple[_NoiseFactor, float], lags: int | None) -> Outcome:
    factor, doubt = noise
    found = task.analysis.stein_map(task.states)
    norms = task.states.power_norms
    left_out = map_error(task.A, task.C, found, norms.sum) * factor.inverse_norm
    size = float(np.sqrt((factor.whitened(found.T[task.rows]) ** 2).sum()))
    left_out += 8 * EPS * np.sqrt(len(found.A)) * size
    bounded, _ = _read_through(task, found, factor, lags, Doubt(left_out=left_out, noise=doubt))
    if not _may_be_changed(task) or bounded.largest_error.max() <= GOOD:
        return bounded

    def once(A: Floats, C: Floats, lags: int | None) -> tuple[Outcome, Seen | None]:
        found = stein_state_map(A, C, _realization_again(task, A, C))
        return _read_through(task, found, factor, lags, Doubt(noise=doubt))

    return bounded.better_of(_measured(task, once, bounded.memory.shape[1]))


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


def _noise_factor(task: Task) -> tuple[_NoiseFactor, float]:
    """Factor of the noise at level one, and the relative error of its covariance."""
    observed, entering = task.observation[task.rows], task.state
    unit = float(max(observed.max(), entering.max())) or 1.0  # squares of others may overflow
    observed, entering = observed / unit, entering / unit
    if not entering.any():
        scale = observed if observed.any() else np.ones(len(observed))
        if scale.min() == 0:
            raise UncertainResultError("some of the states are read without noise, others with.")
        return _NoiseFactor(scale, None, float(1 / scale.min()), unit), 0.0
    whole = stein(task.A, np.diag(entering**2))
    read = whole[np.ix_(task.rows, task.rows)] + np.diag(observed**2)
    try:
        L = np.asarray(np.linalg.cholesky(read), dtype=float)
    except np.linalg.LinAlgError:
        raise UncertainResultError("the covariance of the noise is singular.") from None
    if not np.isfinite(L).all():
        raise UncertainResultError("the covariance of the noise is beyond the range of floats.")
    least = float(np.sqrt(entering.min() ** 2 + observed.min() ** 2))
    if entering.min() ** 2 == 0:
        raise UncertainResultError("the noise of some states is too small beside that of others.")
    relative = residual_norm(task.A, whole, np.diag(entering**2)) / float(entering.min()) ** 2
    relative += 4 * EPS * float(np.sqrt(len(L) * (read**2).sum())) / least**2  # of its factor
    return _NoiseFactor(None, L, 1 / least, unit), relative


def _read_through(
    task: Task,
    found: StateMap,
    factor: _NoiseFactor,
    lags: int | None,
    doubt: Doubt,
) -> tuple[Outcome, Seen]:
    """The answer through a map, and what is seen through it."""
    cov = covariances(found.A, found.C, task.question.processes, task.question.horizons)
    M = factor.whitened(found.T[task.rows])
    if cov.factor is not None:
        M = M @ cov.factor
    doubt = doubt._replace(left_out=doubt.left_out * float(np.sqrt(cov.peak)))
    levels = task.question.levels * factor.unit
    projection = project(M)
    answer = evaluate(cov, levels, projection=projection, rank=task.rank, lags=lags, doubt=doubt)
    return answer, Seen(projection, levels, cov.peak)


def _measured(task: Task, once: Once, lags: int | None) -> Outcome:
    """Run for the network and for some changed as much as rounding may change it; compare."""
    outcome, seen = once(task.A, task.C, lags)
    rng = np.random.default_rng(_SEED)
    # a single change may leave some number alone by accident; in a large network it cannot
    trials = 4 if len(task.A) <= FEW_STATES else 1
    lags = outcome.memory.shape[1]
    changed = [once(*_changed(task.A, task.C, rng), lags) for _ in range(trials)]
    others = [other for other, _ in changed]
    if seen is not None:
        again = [other.projection.sigma for _, other in changed if other is not None]
        _doubt_rounding(outcome, seen, task.rank, again)
    for name, total in (("memory", "total"), ("forecast", "total_forecast")):
        value, sum_of_all = getattr(outcome, name), getattr(outcome, total)
        changes = np.abs([getattr(other, name) - value for other in others]).max(axis=0)
        moved = np.abs([getattr(other, total) - sum_of_all for other in others]).max(axis=0)
        moved = np.maximum(moved, changes.sum(axis=(1, 2)))
        error, total_error = getattr(outcome, f"{name}_error"), getattr(outcome, f"{total}_error")
        error += SAFETY * changes.max(axis=(1, 2), initial=0.0)[:, None, None]
        summed = np.abs([(getattr(other, name) - value).sum(axis=2) for other in others])
        sum_error = outcome.sum_error if name == "memory" else outcome.forecast_sum_error
        sum_error += SAFETY * summed.max(axis=(0, 2), initial=0.0)[:, None]
        total_error += np.where(total_error == 0, 0.0, SAFETY * moved)  # zero: it is a rank
    return outcome


def _doubt_rounding(outcome: Outcome, seen: Seen, rank: int, again: list[Floats]) -> None:
    """Widen errors where directions of what is read may be nothing but rounding.

    Such directions are there in every changed network too, with a share of one: that their sizes
    differ gives them away.
    """
    sigma = seen.projection.sigma
    blur = SAFETY * np.max([np.abs(other - sigma) for other in again], axis=0)
    spread = seen.peak * seen.projection.spread(seen.levels, rank, blur)
    outcome.memory_error += spread.max(axis=1)[:, None, None]
    outcome.sum_error += spread.max(axis=1)[:, None] * outcome.memory.shape[2]
    outcome.total_error += np.where(seen.levels == 0, 0.0, spread.sum(axis=1))


def _changed(A: Floats, C: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A network changed at random by as much as LAPACK may change it."""
    change = rng.standard_normal(A.shape)
    change *= backward_error(A) / np.sqrt((change**2).sum())
    if not np.isfinite(change).all():
        raise UncertainResultError("the weights leave the range of floating point.")
    if np.array_equal(A, A.T):
        change = (change + change.T) / 2
    return A + change, C * (1 + 4 * EPS * rng.standard_normal(C.shape))
