"""Problems in ball arithmetic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memcurve.core.types import Floats
from memcurve.inputs import White
from memcurve.solve.answer import Answer
from memcurve.solve.balls.general import Enclosable, enclose_any
from memcurve.solve.balls.plain import enclose
from memcurve.solve.fisher import scaled, unit_mask
from memcurve.solve.problem import Problem


class Enclosed(NamedTuple):
    """Numbers with proven errors, the rank of what is read, and the precision it took."""

    answer: Answer
    rank: int | None
    bits: int | None


def solve_in_balls(
    problem: Problem, *, levels: Floats | None = None, lags: int | None = None
) -> Enclosed:
    """Enclose the answer to any question, at all its noise levels or at those given."""
    lags = problem.lags if lags is None else lags
    if problem.kind == "Fisher":
        (C, scale), unit = unit_mask(problem), np.ones(len(problem.states))
        enclosable = Enclosable(
            problem.states.dense,
            C,
            processes=[White()] * C.shape[1],
            observation=0 * unit,
            state=unit,
            rows=range(len(unit)),
            fisher=True,
        )
        answer = enclose_any(enclosable, lags)[0]
        numbers = answer.memory[0], answer.memory_error[0], answer.total[0], answer.total_error[0]
        return Enclosed(scaled(*numbers, scale), None, None)
    if problem.is_plain:
        memory, loss, error, rank, bits = enclose(problem.A, problem.C[:, 0], lags)
        answer = Answer.of_memory(memory[:, None], error[:, None], rank, 0.0, loss[:, None])
        return Enclosed(answer, rank, bits)
    enclosed = []
    A, C, observation, state = problem.matrices()
    for level in (problem.levels if levels is None else levels).tolist():
        enclosable = Enclosable(
            A,
            C,
            processes=problem.processes,
            observation=level * observation,
            state=level * state,
            rows=problem.rows.tolist(),
        )
        enclosed.append(enclose_any(enclosable, lags, problem.horizons))
        lags = enclosed[-1][0].memory.shape[1]  # the same for all levels
    answers, ranks, precisions = zip(*enclosed, strict=True)
    return Enclosed(Answer.stacked(list(answers)), ranks[0], max(precisions))
