"""Tasks in ball arithmetic."""

from __future__ import annotations

from typing import NamedTuple

from memcurve.solve.analysis import Task
from memcurve.solve.answer import Outcome
from memcurve.solve.balls.fisher import enclose_fisher
from memcurve.solve.balls.general import enclose_any
from memcurve.solve.balls.plain import enclose
from memcurve.solve.fisher import scaled, unit_mask
from memcurve.types import Floats


class Enclosed(NamedTuple):
    """Numbers with proven errors, the rank of what is read, and the precision it took."""

    outcome: Outcome
    rank: int | None
    bits: int | None


def solve_in_balls(
    task: Task, *, levels: Floats | None = None, lags: int | None = None
) -> Enclosed:
    """Enclose the answer to any question, at all its noise levels or at those given."""
    question = task.question
    lags = question.lags if lags is None else lags
    if question.kind == "Fisher":
        C, scale = unit_mask(task)
        return Enclosed(scaled(*enclose_fisher(task.states.dense, C, lags), scale), None, None)
    if question.is_plain:
        memory, loss, error, rank, bits = enclose(task.A, task.C[:, 0], lags)
        outcome = Outcome.of_memory(memory[:, None], error[:, None], rank, 0.0, loss[:, None])
        return Enclosed(outcome, rank, bits)
    found = []
    A, C, observation, state = task.matrices()
    for level in (question.levels if levels is None else levels).tolist():
        outcome, rank, bits = enclose_any(
            A,
            C,
            processes=question.processes,
            lags=lags,
            horizons=question.horizons,
            observation=level * observation,
            state=level * state,
            rows=task.rows.tolist(),
        )
        lags = outcome.memory.shape[1]  # the same for all levels
        found.append(Enclosed(outcome, rank, bits))
    outcomes, ranks, precisions = zip(*found, strict=True)
    return Enclosed(Outcome.stacked(list(outcomes)), ranks[0], max(precisions))
