"""Forecasting capacity: what the states hold of inputs to come."""

from __future__ import annotations

from typing import Any

from memcurve.arguments import require_limit, require_size, table_entry
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError
from memcurve.general import Problem
from memcurve.limits import require_room
from memcurve.methods.general import answer, certified_answer, curves_of
from memcurve.methods.result import problem_options
from memcurve.network import LinearNetwork

MOST_HORIZONS = 100_000
#: Option of each method, and what it is where none is given.
OPTIONS = {"exact": ("certify_up_to", 300), "certified": ("max_size", 1000)}


def forecast(
    network: LinearNetwork, input: Any, horizons: int, *, noise: Any, method: str, **options: Any
) -> MemoryCurve:
    """See :func:`memcurve.forecasting_curve`."""
    horizons = require_size(horizons, "horizons")
    if horizons > MOST_HORIZONS:
        raise ValueError(f"`horizons` must be at most {MOST_HORIZONS:,}, got {horizons:,}.")
    option, usual = table_entry(OPTIONS, method, "method")
    if set(options) - {option}:
        raise TypeError(
            f"method {method!r} takes the option {option}; got {', '.join(sorted(options))}."
        )
    limit = require_limit(options.get(option, usual), option)
    problem = Problem.of(network, 1, input=input, noise=noise, horizons=horizons)
    if problem.noise is not None and problem.noise.is_family:
        raise ValueError("`noise` must be a single level for a forecasting curve, got a sequence.")
    require_room(problem, method)
    if method == "certified" and len(problem.reachable) > limit:
        raise UncertainResultError(
            f"method 'certified' would take hours for {len(problem.reachable)} reachable states; "
            f"the limit is `max_size`={limit}. Raise it if you mean it, or use method='exact'."
        )
    found = answer(problem, limit) if method == "exact" else certified_answer(problem)
    if problem.is_white:
        found.notes.append("white input cannot be forecast: every capacity is zero")
    used = problem_options(problem) | {option: limit}
    [curve] = curves_of(problem, found, method=method, options=used, kind="forecasting")
    return curve
