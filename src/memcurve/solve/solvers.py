"""Solvers in order, and the one escalation from floating point to ball arithmetic.

A solver says which tasks it answers, and gives an :class:`Outcome` whose errors hold or raises an
UncertainResultError with the reason. They are tried in order until every error is small:

1. *nothing*: no input reaches what is read;
2. *lattice*: one white input without noise, all states read: poles are all it takes;
3. *Fisher*: linear algebra with a covariance that is never ill-conditioned;
4. *direct*: memory under errors of reading: few directions of the Krylov space suffice;
5. *white*: any other question about memory and forecasts, in coordinates where states are white;
6. *balls*: what is left, noise level by noise level, for up to ``certify_up_to`` states.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.notes import Note
from memcurve.solve.allpass import memory_of_poles, memory_of_ring
from memcurve.solve.analysis import Task
from memcurve.solve.answer import Answer, Outcome
from memcurve.solve.balls.solver import Enclosed, solve_in_balls
from memcurve.solve.direct import is_direct, solve_direct
from memcurve.solve.fisher import solve_fisher
from memcurve.solve.modes import Spectrum
from memcurve.solve.sensitivity import curve_error
from memcurve.solve.white import solve_white

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]

#: An error above this is not given out: ball arithmetic takes over.
LARGEST_ERROR = 1e-6
#: Up to this many states one thread is faster than several (N = 500 on two cores: 0.55 s, 0.85 s).
ONE_THREAD = 700
#: Up to this many states the rank is told along with usable memory, which does not need it.
RANK_UNDER_NOISE = 500


class Solver(NamedTuple):
    """A way to answer some questions in floating point."""

    name: str
    answers: Callable[[Task], bool]
    solve: Callable[[Task], Outcome]


def solve_nothing(task: Task) -> Outcome:
    """No memory, where no input reaches what is read."""
    question = task.question
    levels, lags = len(question.levels), question.lags or 1
    return Outcome.nothing(levels, lags, question.horizons, question.network.inputs)


def solve_lattice(task: Task) -> Outcome:
    """The tail energy of the all-pass filter whose poles are the controllable eigenvalues."""
    return lattice_outcome(task.analysis.spectrum(), task.question.lags)


def lattice_outcome(spectrum: Spectrum, lags: int | None) -> Outcome:
    """The same for a spectrum, decided or assumed."""
    if spectrum.ring is not None:
        memory, loss, error = memory_of_ring(*spectrum.ring, lags)
        return Outcome.of_memory(memory[:, None], error[:, None], spectrum.rank, 0.0, loss[:, None])
    poles, shift = (spectrum.poles, 0) if spectrum.response is None else spectrum.response
    if poles is None:
        raise UncertainResultError(
            "the eigenvalues that count cannot be told from those that do not."
        )
    radius = float(np.abs(poles).max(initial=0.0))
    if radius >= 1:
        raise UncertainResultError(f"the spectral radius comes out as {radius:.6g}, not below 1.")
    if not np.isfinite(spectrum.sensitivity):
        raise UncertainResultError("the powers of A grow too far for an error estimate.")
    memory, loss = memory_of_poles(poles, None if lags is None else lags + shift)
    error = curve_error(memory, loss, spectrum.sensitivity, len(poles))
    if shift and not loss[shift - 1] <= error[shift - 1]:  # what a delay lets through is rounding
        raise UncertainResultError("the zeros that do not count cannot be told well enough.")
    memory, loss, error = memory[shift:], loss[shift:], error[shift:]
    return Outcome.of_memory(memory[:, None], error[:, None], spectrum.rank, 0.0, loss[:, None])


def is_general(task: Task) -> bool:
    """Whether it takes white coordinates to answer."""
    return not task.question.is_plain and task.question.kind != "Fisher"


SOLVERS = (
    Solver("nothing", lambda task: not task.is_driven, solve_nothing),
    Solver("lattice", lambda task: task.question.is_plain, solve_lattice),
    Solver("Fisher", lambda task: task.question.kind == "Fisher", solve_fisher),
    Solver("direct", is_direct, solve_direct),
    Solver("white", is_general, solve_white),
)


def answered(task: Task, certify_up_to: int) -> Answer:
    """Answer a task in floating point, and the levels that are not good enough in balls."""
    with few_threads(len(task.states)), np.errstate(all="ignore"):
        # overflow ends in errors that are not finite, and is dealt with as such
        outcome, reason = _in_floating_point(task)
    arithmetic, notes = "float64", reach_notes(task)
    rank = task.rank if _wants_rank(task, reason) else None
    if reason:
        with few_threads(len(task.states)):
            outcome = _in_balls(task, outcome, certify_up_to, reason)
        arithmetic = "ball"
    assert outcome is not None
    diagnostics: dict[str, Any] = {"reachable": len(task.analysis.reached)}
    if task.analysis.inputs == 1 and rank is not None:
        spectrum = task.analysis.spectrum()
        diagnostics["rank_robust"] = spectrum.rank_robust
        diagnostics["margin"] = None if np.isnan(spectrum.margin) else spectrum.margin
        notes += rank_notes(spectrum)
    if reason:
        text = f"computed in ball arithmetic, since in floating point {reason}"
        notes.append(Note("arithmetic", text))
    return Answer(outcome, rank, notes, diagnostics=diagnostics | {"arithmetic": arithmetic})


def _wants_rank(task: Task, reason: str) -> bool:
    """Whether the rank is told: usable memory does not need it, and large networks make it dear."""
    if task.question.kind == "Fisher":
        return False
    cheap = len(task.states) <= RANK_UNDER_NOISE or task.analysis.knows_rank
    return bool(cheap or reason or not is_direct(task))


def certified(task: Task) -> Answer:
    """Answer a task in ball arithmetic: every error is proven."""
    notes = reach_notes(task)
    if not task.is_driven:
        return Answer(solve_nothing(task), 0, notes)
    found = solve_in_balls(task)
    notes += _proof_notes(task, found)
    diagnostics: dict[str, Any] = {"reachable": len(task.analysis.reached)}
    if found.bits is not None:
        diagnostics["bits"] = found.bits
    return Answer(found.outcome, found.rank, notes, diagnostics=diagnostics)


def _in_floating_point(task: Task) -> tuple[Outcome | None, str]:
    """The best outcome of the solvers, and why it is not good enough, or an empty string."""
    best, reason = None, "no solver answers this question"
    for solver in SOLVERS:
        if not solver.answers(task):
            continue
        try:
            found = solver.solve(task)
        except UncertainResultError as error:
            reason = str(error).rstrip(".")
            continue
        best = found if best is None else best.better_of(found)
        worst = float(best.largest_error.max())
        if task.question.kind == "Fisher" or worst <= LARGEST_ERROR:  # its own bound is relative
            return best, ""
        reason = f"the error would be {worst:.1e}"
    return best, reason


def _in_balls(task: Task, outcome: Outcome | None, certify_up_to: int, reason: str) -> Outcome:
    """The outcome with the levels that are not good enough computed in balls."""
    count = len(task.states)
    if count > certify_up_to:
        raise UncertainResultError(
            f"floating point cannot give this answer: {reason}. Ball arithmetic can, but "
            f"{count} states are at work and `certify_up_to` is {certify_up_to}; raise it (the "
            f"time grows like the fourth power of the size, about a minute at 500), or change the "
            f"question: more noise, a network further below spectral radius 1."
        )
    if outcome is None:
        found = solve_in_balls(task)
    else:
        poor = ~(outcome.largest_error <= LARGEST_ERROR)
        levels, lags = task.question.levels[poor], outcome.memory.shape[1]
        found = solve_in_balls(task, levels=levels, lags=lags)
    if found.rank is not None and found.rank != task.rank:
        raise UncertainResultError(
            f"two exact computations of the rank disagree ({task.rank} and {found.rank}): please "
            f"report this network; method='certified' gives an enclosure for the latter."
        )
    if outcome is None or poor.all():
        return found.outcome
    for item in fields(Outcome):
        if item.name != "loss":
            values = getattr(outcome, item.name).copy()
            values[poor] = getattr(found.outcome, item.name)
            setattr(outcome, item.name, values)
    return outcome


def few_threads(states: int) -> contextlib.AbstractContextManager[Any]:
    """One thread for networks so small that several get in each other's way.

    NumPy's and SciPy's BLAS have threads of their own, which wait for each other in turn.
    """
    if states > ONE_THREAD:
        return contextlib.nullcontext()
    one_thread: contextlib.AbstractContextManager[Any] = _blas_libraries().limit(
        limits=1, user_api="blas"
    )
    return one_thread


@functools.cache
def _blas_libraries() -> ThreadpoolController:
    """NumPy's and SciPy's; to look for them takes as long as the curve of a small network."""
    import scipy.linalg  # noqa: F401 - what is not loaded yet is not found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def reach_notes(task: Task) -> list[Note]:
    """What to say where inputs do not reach, or readers do not see, all states."""
    network = task.question.network
    if not network.C.any():
        return [Note("reach", "the mask is zero: the input never enters the network")]
    notes = []
    unreached = network.states - len(task.states)
    if unreached:
        are = "is" if unreached == 1 else "are"
        text = f"{unreached} of {network.states} states {are} never reached from the input"
        notes.append(Note("reach", text))
    if network.readout is not None:
        text = f"read from {len(network.readout)} of {network.size} nodes"
        notes.append(Note("reach", text))
    return notes


def rank_notes(spectrum: Spectrum) -> list[Note]:
    """A note where the rank hangs on the last digits; the entry points make it a warning too."""
    if spectrum.rank_robust >= spectrum.rank:
        return []
    lost = spectrum.rank - spectrum.rank_robust
    modes, are = ("1 mode", "is") if lost == 1 else (f"{lost} modes", "are")
    text = (
        f"rank {spectrum.rank} holds for the stored numbers, but up to rounding it is "
        f"{spectrum.rank_robust}: {modes} would be lost by a change in the last digits and {are} "
        f"of no practical use"
    )
    return [Note("rank", text)]


def _proof_notes(task: Task, found: Enclosed) -> list[Note]:
    plain = task.question.is_plain
    count = len(task.states) if plain else len(task.rows)
    if found.rank is None or found.rank >= count:
        return []
    text = (
        f"rank {found.rank} of {count} {'reachable states' if plain else 'states read'}: proven as "
        f"a lower bound, and equal unless a non-zero integer is divisible by two given 62-bit "
        f"primes"
    )
    return [Note("proof", text)]
