"""Problems in ball arithmetic."""

from __future__ import annotations

import numpy as np

from memcurve.core.types import Floats
from memcurve.inputs import White
from memcurve.solve.answer import Answer
from memcurve.solve.balls.arithmetic import FIRST_BITS, Enclosed
from memcurve.solve.balls.general import Enclosable, enclose_any
from memcurve.solve.balls.plain import enclose
from memcurve.solve.fisher import scaled, unit_mask
from memcurve.solve.problem import Problem

#: Seconds of the plain question, times n⁴ (0.35 s at n = 120). Doubled: it is believed to be
#: slower, and left out for networks of a sixth fewer states.
PLAIN_SECONDS = 1.7e-9


def seconds_in_balls(problem: Problem, levels: Floats, bits: int) -> float:
    """About how long ball arithmetic takes for these noise levels."""
    if problem.is_plain:
        return PLAIN_SECONDS * len(problem.states) ** 4
    return sum(each.seconds(bits) for each in enclosables(problem, levels))


def enclosables(problem: Problem, levels: Floats) -> list[Enclosable]:
    """The problem at these noise levels in exact numbers; that of Fisher memory at unit noise."""
    if problem.kind == "Fisher":
        C, unit = unit_mask(problem)[0], np.ones(len(problem.states))
        inputs = [White()] * C.shape[1]
        return [
            Enclosable(
                problem.states.dense, C, processes=inputs, observation=0 * unit, state=unit,
                rows=range(len(unit)), fisher=True,
            )
        ]  # fmt: skip
    A, C, observation, state = problem.matrices()
    return [
        Enclosable(
            A, C, processes=problem.processes, observation=level * observation,
            state=level * state, rows=problem.rows.tolist(),
        )
        for level in levels.tolist()
    ]  # fmt: skip


def solve_in_balls(
    problem: Problem,
    *,
    levels: Floats | None = None,
    lags: int | None = None,
    bits: int = FIRST_BITS,
) -> Enclosed:
    """Enclose the answer to any question, at all its noise levels or at those given."""
    lags = problem.lags if lags is None else lags
    if problem.is_plain:
        return enclose(problem.A, problem.C[:, 0], lags)
    enclosed = list[Enclosed]()
    for each in enclosables(problem, problem.levels if levels is None else levels):
        enclosed.append(enclose_any(each, lags, problem.horizons, bits=bits))
        lags = enclosed[-1].answer.memory.shape[1]  # the same for all levels
    answer = Answer.stacked([each.answer for each in enclosed])
    if problem.kind == "Fisher":
        numbers = answer.memory[0], answer.memory_error[0], answer.total[0], answer.total_error[0]
        return Enclosed(scaled(*numbers, unit_mask(problem)[1]), None, None)
    return Enclosed(answer, enclosed[0].rank, max(each.bits or 0 for each in enclosed))
