"""The exact method, and the certified one: the answers of :mod:`memcurve.solve`.

The exact method takes the first solver of the tree in :mod:`memcurve.solve.choose` that knows its
error. Where that is not small it goes on in ball arithmetic if that takes seconds, and reports the
error it has otherwise. The certified method takes ball arithmetic at once, for the very numbers
stored in the network (:mod:`memcurve.solve.balls`).
"""

from typing import Any

from memcurve.core.arguments import require_choice, require_limit, require_number
from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import WORK, Work
from memcurve.memory.curve import fault
from memcurve.memory.methods.method import EVERYTHING, declared
from memcurve.solve import SOLVERS, Answer, Problem, answered
from memcurve.solve import certified as enclosed

_KINDS = ("memory", "forecasting", "Fisher")


@declared(
    "Rounding accuracy, in a few times the time of the eigenvalues.",
    WORK["exact"],
    answers=EVERYTHING,
    kinds=_KINDS,
    bounded=True,
)
def exact(
    problem: Problem,
    *,
    tolerance: float | None = None,
    certify_up_to: int = 1000,
    solver: str | None = None,
) -> Answer:
    """Memory curve to rounding accuracy.

    Parameters
    ----------
    tolerance : float, optional
        The largest error that will do; by default 1e-6, which measured networks meet. Where
        floating point has a larger one, ball arithmetic computes the curve anew if that takes
        seconds, or up to five minutes for a tolerance that is given. Otherwise the curve comes with
        the error it has, and a note.
    certify_up_to : int
        Number of reachable states up to which ball arithmetic may take over at all.
    solver : str, optional
        Ask one solver of the tree in :mod:`memcurve.solve.choose` alone, e.g. to compare two.
    """
    options: dict[str, Any] = {"certify_up_to": require_limit(certify_up_to, "certify_up_to")}
    if tolerance is not None:
        rule = "above 0"
        options["tolerance"] = require_number(tolerance, "tolerance", rule, lambda t: t > 0)
    if solver is not None:
        options["solver"] = require_choice(solver, "solver", [s.name for s in SOLVERS])
    answer = answered(problem, certify_up_to, tolerance, solver)
    answer.options.update(options)
    return answer


@declared(
    "A proven enclosure in ball arithmetic, for up to some hundred nodes.",
    Work(0, 0, 1000),
    answers=EVERYTHING,
    kinds=_KINDS,
    bounded=True,
)
def certified(problem: Problem, *, certify_up_to: int = 1000) -> Answer:
    """Enclose the memory curve rigorously; ``error`` is a proven bound.

    Parameters
    ----------
    certify_up_to : int
        Refuse more reachable states than this. The time grows like the fourth power of the size:
        0.1 s at 100 states, 2 s at 200, about a minute at 500; with noise like the cube, times the
        bits that the condition of the states takes.
    """
    certify_up_to = require_limit(certify_up_to, "certify_up_to")
    if len(problem.states) > certify_up_to:
        raise UncertainResultError(
            fault("certify_limit", limit=certify_up_to, states=len(problem.states))
        )
    answer = enclosed(problem)
    answer.options["certify_up_to"] = certify_up_to
    return answer
