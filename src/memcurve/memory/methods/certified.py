"""Proven enclosures by ball arithmetic, for the very numbers stored in the network.

See :mod:`memcurve.solve.balls`.
"""

from __future__ import annotations

from memcurve.core.arguments import require_limit
from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import Work
from memcurve.memory.methods.method import EVERYTHING, Method
from memcurve.solve import Answer, Problem
from memcurve.solve import certified as enclosed


def certified(problem: Problem, *, certify_up_to: int = 1000) -> Answer:
    """Enclose the memory curve rigorously; ``error`` is a proven bound.

    Parameters
    ----------
    problem
        The question in the matrices of its network.
    certify_up_to : int
        Refuse more reachable states than this. The time grows a little faster than the fourth
        power of the size: 0.1 s at 100 states, 2 s at 200, about a minute at 500.
    """
    certify_up_to = require_limit(certify_up_to, "certify_up_to")
    if len(problem.states) > certify_up_to:
        raise UncertainResultError(
            f"method 'certified' is limited to `certify_up_to`={certify_up_to} reachable states, "
            f"since its time grows with their fourth power, got {len(problem.states)}. Raise the "
            f"limit if you can wait, or use method='exact'."
        )
    found = enclosed(problem)
    found.options["certify_up_to"] = certify_up_to
    return found


METHOD = Method(
    name="certified",
    run=certified,
    help="A proven enclosure in ball arithmetic, for up to some hundred nodes.",
    cost=Work(0, 0, 1000),
    answers=EVERYTHING,
    kinds=("memory", "forecasting", "Fisher"),
    bounded=True,
)
