"""Tasks in ball arithmetic."""

from __future__ import annotations

from typing import NamedTuple

from memcurve.result import Floats
from memcurve.solve.answer import Answer
from memcurve.solve.balls.fisher import enclose_fisher
from memcurve.solve.balls.general import enclose_any
from memcurve.solve.balls.plain import enclose
from memcurve.solve.fisher import scaled, unit_mask
from memcurve.solve.problem import Problem


class Enclosed(NamedTuple):
    """Numbers with proven errors, the rank of what is read, and the precision it took."""

    outcome: Answer
    rank: int | None
    bits: int | None


def solve_in_balls(
    problem: Problem, *, levels: Floats | None = None, lags: int | None = None
) -> Enclosed:
    """Enclose the answer to any question, at all its noise levels or at those given."""
    lags = problem.lags if lags is None else lags
    if problem.kind == "Fisher":
        C, scale = unit_mask(problem)
        return Enclosed(scaled(*enclose_fisher(problem.states.dense, C, lags), scale), None, None)
    if problem.is_plain:
        memory, loss, error, rank, bits = enclose(problem.A, problem.C[:, 0], lags)
        outcome = Answer.of_memory(memory[:, None], error[:, None], rank, 0.0, loss[:, None])
        return Enclosed(outcome, rank, bits)
    found = []
    A, C, observation, state = problem.matrices()
    for level in (problem.levels if levels is None else levels).tolist():
        outcome, rank, bits = enclose_any(
            A,
            C,
            processes=problem.processes,
            lags=lags,
            horizons=problem.horizons,
            observation=level * observation,
            state=level * state,
            rows=problem.rows.tolist(),
        )
        lags = outcome.memory.shape[1]  # the same for all levels
        found.append(Enclosed(outcome, rank, bits))
    outcomes, ranks, precisions = zip(*found, strict=True)
    return Enclosed(Answer.stacked(list(outcomes)), ranks[0], max(precisions))
