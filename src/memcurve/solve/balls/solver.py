"""Tasks in ball arithmetic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memcurve.inputs import White
from memcurve.result import Floats
from memcurve.solve.analysis import Task
from memcurve.solve.answer import Outcome
from memcurve.solve.balls.general import Problem, enclose_any
from memcurve.solve.balls.plain import enclose
from memcurve.solve.fisher import scaled, unit_mask


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
        (C, scale), unit = unit_mask(task), np.ones(len(task.states))
        problem = Problem(
            task.states.dense,
            C,
            processes=[White()] * C.shape[1],
            observation=0 * unit,
            state=unit,
            rows=range(len(unit)),
            fisher=True,
        )
        found = enclose_any(problem, lags)[0]
        numbers = found.memory[0], found.memory_error[0], found.total[0], found.total_error[0]
        return Enclosed(scaled(*numbers, scale), None, None)
    if question.is_plain:
        memory, loss, error, rank, bits = enclose(task.A, task.C[:, 0], lags)
        outcome = Outcome.of_memory(memory[:, None], error[:, None], rank, 0.0, loss[:, None])
        return Enclosed(outcome, rank, bits)
    enclosed = []
    A, C, observation, state = task.matrices()
    for level in (question.levels if levels is None else levels).tolist():
        problem = Problem(
            A,
            C,
            processes=question.processes,
            observation=level * observation,
            state=level * state,
            rows=task.rows.tolist(),
        )
        enclosed.append(enclose_any(problem, lags, question.horizons))
        lags = enclosed[-1][0].memory.shape[1]  # the same for all levels
    outcomes, ranks, precisions = zip(*enclosed, strict=True)
    return Enclosed(Outcome.stacked(list(outcomes)), ranks[0], max(precisions))
