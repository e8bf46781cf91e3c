"""Solvers in order, and the one escalation from floating point to ball arithmetic.

A solver says which tasks it answers, and gives an :class:`Outcome` whose errors hold or raises an
UncertainResultError with the reason. They are tried in order until every error is small:

1. *nothing*: no input reaches what is read;
2. *lattice*: one white input without noise, all states read: poles are all it takes;
3. *Fisher*: linear algebra with a covariance that is never ill-conditioned;
4. *direct*: memory under errors of reading: few directions of the Krylov space suffice;
5. *white*: any other question about memory and forecasts, in coordinates where states are white;
6. *balls*: what is left, noise level by noise level, where that takes seconds;
7. *more noise*: where it takes longer and nothing else is known, the first lags.

An error that is not small is reported, not chased: a curve known to ± 1e-3 is an answer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, NamedTuple

import numpy as np

from memcurve.errors import UncertainResultError, UnstableNetworkError, unstable
from memcurve.limits import fits, one_thread
from memcurve.noise import ObservationNoise
from memcurve.notes import Note
from memcurve.result import EPS
from memcurve.solve.allpass import memory_of_poles, memory_of_ring
from memcurve.solve.analysis import Task
from memcurve.solve.answer import Answer, Outcome
from memcurve.solve.balls.solver import Enclosed, solve_in_balls
from memcurve.solve.direct import is_direct, is_listable, solve_by_lags, solve_direct
from memcurve.solve.fisher import solve_fisher
from memcurve.solve.modes import Spectrum
from memcurve.solve.errors import MANY_STATES, GrowingPowersError, curve_error
from memcurve.solve.white import solve_white
from memcurve.solve.whole import is_whole, solve_whole

#: An error up to this is small, unless a tolerance says otherwise.
LARGEST_ERROR = 1e-6
#: Ball arithmetic takes about so many seconds times n⁴, for the plain question (0.35 s at n = 120)
#: and for every noise level of any other; it runs unasked where that is at most so many in all.
BALL_SECONDS, GENERAL_BALL_SECONDS = 1.7e-9, 5e-8
MOST_SECONDS_UNASKED, MOST_SECONDS = 3.0, 120.0
#: Noise, relative to the largest input weight, at which memory is a lower bound of what there is
#: with less of it; bounds that are further apart than this are no answer.
MORE_NOISE, CLOSE_BOUNDS = np.array([1e-12, 1e-11, 1e-10, 1e-8, 1e-6]), 1e-2
#: Up to this many states one thread is faster than several (N = 500 on two cores: 0.55 s, 0.85 s).
ONE_THREAD = 700
#: Up to this many states the rank is told along with usable memory, which does not need it.
RANK_UNDER_NOISE = 300


class Solver(NamedTuple):
    """A way to answer some questions in floating point."""

    answers: Callable[[Task], bool]
    solve: Callable[[Task], Outcome]
    is_dense: bool = True


def solve_nothing(task: Task) -> Outcome:
    """No memory, where no input reaches what is read."""
    question = task.question
    levels, lags = len(question.levels), question.lags or 1
    return Outcome.nothing(levels, lags, question.horizons, question.network.inputs)


def solve_lattice(task: Task) -> Outcome:
    """The tail energy of the all-pass filter whose poles are the controllable eigenvalues."""
    return lattice_outcome(task.analysis.spectrum(poles=False), task.question.lags)


def lattice_outcome(spectrum: Spectrum, lags: int | None) -> Outcome:
    """The same for a spectrum, decided or assumed."""
    if spectrum.ring is not None:
        memory, loss, error = memory_of_ring(*spectrum.ring, lags)
        return Outcome.of_memory(memory[:, None], error[:, None], spectrum.rank, 0.0, loss[:, None])
    poles, shift, sensitivity = spectrum.poles, 0, spectrum.sensitivity
    if spectrum.response is not None:
        poles, shift, sensitivity = spectrum.response
    if poles is None:
        raise UncertainResultError(
            "the eigenvalues that count cannot be told from those that do not."
        )
    radius = float(np.abs(poles).max(initial=0.0))
    if radius >= 1:
        raise UncertainResultError(f"the spectral radius comes out as {radius:.6g}, not below 1.")
    if not np.isfinite(sensitivity):
        raise UncertainResultError("the powers of A grow too far for an error estimate.")
    listed = None if lags is None else lags + shift
    memory, loss = memory_of_poles(poles, listed)
    error = curve_error(memory, loss, sensitivity, len(poles))
    if shift and not loss[shift - 1] <= error[shift - 1]:  # what a delay lets through is rounding
        raise UncertainResultError("the zeros that do not count cannot be told well enough.")
    memory, loss, error = memory[shift:], loss[shift:], error[shift:]
    return Outcome.of_memory(memory[:, None], error[:, None], spectrum.rank, 0.0, loss[:, None])


def solve_above(task: Task) -> Outcome | None:
    """The first lags of a curve without noise, or with too little of it for floating point.

    Memory falls as the noise rises: what is left at a level that can be dealt with is there below
    it, and no more than one. The total is the rank without noise, and at most that with it.
    """
    question, level = task.question, float(task.question.levels[0])
    levels = MORE_NOISE * float(np.abs(task.states.mask).max(initial=0.0))
    levels = levels[levels > level]
    is_one = len(question.levels) == 1 and question.kind == "memory" and question.is_white
    is_read = question.noise is None or isinstance(question.noise, ObservationNoise)
    if not (is_one and is_read and len(levels)):
        return None
    noisier = replace(question, noise=ObservationNoise(levels))
    try:
        with few_threads(len(task.states)), np.errstate(all="ignore"):
            found = solve_direct(Task(noisier, task.analysis))
    except UncertainResultError:
        return None
    if not np.isfinite(found.memory_error).all():
        return None
    below = np.clip((found.memory - found.memory_error).max(axis=0), 0.0, 1.0)
    least = 0.0 if level == 0 else float(np.max(found.total - found.total_error, initial=0.0))
    total = (float(task.rank), 0.0)
    if level > 0:
        total = ((task.rank + least) / 2, (task.rank - least) / 2 + EPS * task.rank)
    apart = (below.min(axis=1) < 1 - CLOSE_BOUNDS).tolist()
    count = (*apart, True).index(True)
    below, error = below[:count], (1 - below[:count]) / 2 + EPS
    return Outcome.of_memory((1 + below) / 2, error, *total) if count else None


def is_general(task: Task) -> bool:
    """Whether it takes white coordinates to answer."""
    return not task.question.is_plain and task.question.kind != "Fisher"


SOLVERS = (
    Solver(lambda task: not task.is_driven, solve_nothing, is_dense=False),
    Solver(lambda task: task.question.is_plain, solve_lattice),
    Solver(lambda task: task.question.kind == "Fisher", solve_fisher),
    Solver(is_direct, solve_direct, is_dense=False),
    Solver(is_whole, solve_whole),
    Solver(is_general, solve_white),
    Solver(is_listable, solve_by_lags, is_dense=False),
)


def answered(task: Task, certify_up_to: int, tolerance: float | None = None) -> Answer:
    """Answer a task in floating point, and the levels that are not good enough in balls.

    Where that would take long, or more than ``certify_up_to`` states are at work, the errors are
    what they are, and a note says so.
    """
    with few_threads(len(task.states)), np.errstate(all="ignore"):
        # overflow ends in errors that are not finite, and is dealt with as such
        outcome, reason = _in_floating_point(task, tolerance or LARGEST_ERROR)
    arithmetic, notes = "float64", reach_notes(task)
    rank = task.rank if _wants_rank(task, reason) else None
    if reason and _is_affordable(task, outcome, certify_up_to, tolerance):
        with few_threads(len(task.states)):
            outcome = _in_balls(task, outcome, tolerance or LARGEST_ERROR)
        arithmetic = "ball"
        text = f"computed in ball arithmetic, since in floating point {reason}"
        notes.append(Note("arithmetic", text))
    elif outcome is None or (reason and not np.any(outcome.largest_error < 1)):
        outcome = None if _is_products_only(task) else solve_above(task)
        known = 0 if outcome is None else outcome.memory.shape[1]
        if outcome is None or known < (task.question.lags or 1):
            raise UncertainResultError(_unknown(task, reason, rank, certify_up_to, known))
        text = (
            f"known for the first lags, where noise leaves nearly all of it, since in floating "
            f"point {reason}; method='certified' is slower and knows more"
        )
        notes.append(Note("arithmetic", text))
    elif reason:
        worst, enough = outcome.largest_error, tolerance or LARGEST_ERROR
        text = f"known to ± {float(worst.max()):.1g} only, as the errors say"
        if np.any(good := worst <= enough):
            least = float(task.question.levels[good].min())
            text = f"known to ± {enough:g} for noise down to {least:.3g}, below as the errors say"
        if not _is_products_only(task):
            text += "; method='certified' is slower and knows more"
        notes.append(Note("arithmetic", text))
    assert outcome is not None
    diagnostics: dict[str, Any] = {"reachable": len(task.analysis.reached)}
    if task.analysis.inputs == 1 and rank is not None:
        spectrum = task.analysis.spectrum(poles=False)
        diagnostics["rank_robust"] = spectrum.rank_robust
        diagnostics["margin"] = None if np.isnan(spectrum.margin) else spectrum.margin
        notes += rank_notes(spectrum)
    return Answer(outcome, rank, notes, diagnostics=diagnostics | {"arithmetic": arithmetic})


def _is_products_only(task: Task) -> bool:
    """Whether usable memory has to come from products with A: no dense matrix of it fits, or is."""
    A = task.question.network.A
    if not is_direct(task) or isinstance(A, np.ndarray):
        return False
    return task.analysis.products_only or not fits(len(task.states), "noise")


def _is_affordable(
    task: Task, outcome: Outcome | None, certify_up_to: int, tolerance: float | None
) -> bool:
    """Whether balls take seconds, or minutes where a tolerance was asked for."""
    if _is_products_only(task):
        return False
    count, levels = len(task.states), len(task.question.levels)
    if outcome is not None:
        levels = int(np.count_nonzero(~(outcome.largest_error <= (tolerance or LARGEST_ERROR))))
    seconds = BALL_SECONDS if task.question.is_plain else GENERAL_BALL_SECONDS * levels
    most = MOST_SECONDS_UNASKED if tolerance is None else MOST_SECONDS
    return count <= certify_up_to and seconds * count**4 <= most


def _unknown(task: Task, reason: str, rank: int | None, certify_up_to: int, lags: int = 0) -> str:
    if _is_products_only(task):
        return (
            f"products with A cannot give this answer: {reason}. Ask for more noise, fewer nodes "
            f"to read, or a network further below spectral radius 1; exact curves take a dense "
            f"matrix of {len(task.states):,} states, which does not fit or is not there."
        )
    known = "" if rank is None else f" What is known: the rank is {rank}."
    known += f" The first lags are known, too: ask for lags={lags}." if lags else ""
    return (
        f"floating point cannot give this answer: {reason}.{known} Ball arithmetic can: ask for "
        f"method='certified', or for a `tolerance`, with `certify_up_to` (now {certify_up_to}) at "
        f"least the {len(task.states)} states at work. The time grows like the fourth power of "
        f"their number, about a minute at 500. Or change the question: more noise, a network "
        f"further below spectral radius 1."
    )


def _wants_rank(task: Task, reason: str) -> bool:
    """Whether the rank is told: usable memory does not need it, and large networks make it dear."""
    if task.question.kind == "Fisher" or _is_products_only(task):
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


def _in_floating_point(task: Task, tolerance: float) -> tuple[Outcome | None, str]:
    """The best outcome of the solvers, and why it is not good enough, or an empty string."""
    best, reason = None, "no solver answers this question"
    for solver in SOLVERS:
        if not solver.answers(task) or (solver.is_dense and _is_products_only(task)):
            continue
        try:
            found = solver.solve(task)
        except UncertainResultError as error:
            reason = str(error).rstrip(".")
            if is_direct(task) and task.states.runaway:
                raise unstable(task.states.runaway) from None
            dear = _is_products_only(task) or len(task.states) >= MANY_STATES
            if isinstance(error, GrowingPowersError) and dear:
                raise UnstableNetworkError(
                    f"the network is unstable, or so far from normal that its states swell beyond "
                    f"all measure: {reason}. Scale `A` below spectral radius 1."
                ) from None
            continue
        best = found if best is None else best.better_of(found)
        if task.question.lags is None:  # the next one lists the same lags
            task = Task(replace(task.question, lags=best.memory.shape[1]), task.analysis)
        worst = float(best.largest_error.max())
        if task.question.kind == "Fisher" or worst <= tolerance:  # its own bound is relative
            return best, ""
        reason = f"the error would be {worst:.1e}"
    return best, reason


def _in_balls(task: Task, outcome: Outcome | None, tolerance: float) -> Outcome:
    """The outcome with the levels that are not good enough computed in balls."""
    if outcome is None:
        found = solve_in_balls(task)
    else:
        poor = ~(outcome.largest_error <= tolerance)
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
    return contextlib.nullcontext() if states > ONE_THREAD else one_thread()


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
