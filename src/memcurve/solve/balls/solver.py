"""Problems in ball arithmetic."""

from __future__ import annotations

import numpy as np

from memcurve.core.types import Floats
from memcurve.inputs import White
from memcurve.solve.answer import Answer
from memcurve.solve.balls.arithmetic import Enclosed
from memcurve.solve.balls.general import Enclosable, enclose_any
from memcurve.solve.balls.plain import enclose
from memcurve.solve.fisher import scaled, unit_mask
from memcurve.solve.problem import Problem


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
        answer = enclose_any(enclosable, lags).answer
        numbers = answer.memory[0], answer.memory_error[0], answer.total[0], answer.total_error[0]
        return Enclosed(scaled(*numbers, scale), None, None)
    if problem.is_plain:
        return enclose(problem.A, problem.C[:, 0], lags)
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
        lags = enclosed[-1].answer.memory.shape[1]  # the same for all levels
    answers = [each.answer for each in enclosed]
    bits = max(each.bits or 0 for each in enclosed)
    return Enclosed(Answer.stacked(answers), enclosed[0].rank, bits)
