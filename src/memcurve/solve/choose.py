"""Which solver answers a question: one tree, and one step on to ball arithmetic.

{tree}

A solver gives an :class:`Answer` whose errors hold, or raises an UncertainResultError with the
reason; then the next one down the tree is asked. Of several answers each noise level keeps the
one with the smaller error. An error that is not small is reported, not chased: a curve known to
± 1e-3 is an answer. ``curve.diagnostics["solver"]`` names what answered, and
``memory_curve(…, solver=name)`` asks for one of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError, UnstableNetworkError, unstable
from memcurve.core.limits import fits, one_thread
from memcurve.core.notes import Note, NoteTexts, counted, texts_beside
from memcurve.core.types import Floats
from memcurve.network.graph import is_symmetric
from memcurve.solve.answer import Answer
from memcurve.solve.balls.general import seconds_in_balls, solve_in_balls
from memcurve.solve.fisher import solve_fisher
from memcurve.solve.leaves import (
    solve_arnoldi,
    solve_cascade,
    solve_hessenberg,
    solve_lattice,
    solve_nothing,
)
from memcurve.solve.powers import MANY_STATES, GrowingPowersError
from memcurve.solve.problem import Problem
from memcurve.solve.spectrum import Spectrum

#: An error up to this is small, unless a tolerance says otherwise. Doubled: fewer answers in balls.
LARGEST_ERROR = 1e-6
#: Seconds that balls may take unasked. Doubled: a fifth more states are answered in balls.
MOST_SECONDS_UNASKED = 5.0
#: Seconds that they may take where a tolerance was asked for, or nothing else is known. Doubled: a
#: fifth more states are answered in place of a refusal.
MOST_SECONDS = 300.0
#: Up to this many states one thread is faster than several (N = 500 on two cores: 0.55 s, 0.85 s).
ONE_THREAD = 700
#: Up to this many states the rank is told along with usable memory, which does not need it.
#: Doubled: usable memory of networks between takes as long as the exact rank.
RANK_UNDER_NOISE = 50
#: From this many states on, an answer that is not good enough is not tried again. Doubled: usable
#: memory below the rounding of products, as of measured connectomes, takes minutes.
LONG = 1500


#: What notes and refusals say.
TEXTS = texts_beside(__file__, "notes.toml")
NOTES = NoteTexts(TEXTS["notes"])


class Solver(NamedTuple):
    """A leaf of the tree: its name, which questions reach it in words and in code, what it runs."""

    name: str
    condition: str
    answers: Callable[[Problem], bool]
    solve: Callable[[Problem], Answer]


def is_usable_memory(problem: Problem) -> bool:
    """Whether the question is one of memory and observation noise at positive levels."""
    noise = problem.noise
    if problem.kind != "memory" or noise is None:
        return False
    return bool(np.all(problem.levels > 0)) and not noise.state(np.ones(1)).any()


def is_products_only(problem: Problem) -> bool:
    """Whether usable memory has to come from products with A: no dense matrix of it fits, or is."""
    if not is_usable_memory(problem) or isinstance(problem.network.A, np.ndarray):
        return False
    return problem.analysis.products_only or not fits(len(problem.states), "noise")


def _is_sparse_under_noise(problem: Problem) -> bool:
    """Whether a basis of the directions above the noise may be small, or is all there can be."""
    return is_usable_memory(problem) and (
        not isinstance(problem.states.multiplied, np.ndarray) or len(problem.states) >= MANY_STATES
    )


def _takes_a_factor(problem: Problem) -> bool:
    return not (problem.is_plain or problem.kind == "Fisher" or is_products_only(problem))


def _has_poles_on_a_line(problem: Problem) -> bool:
    """Whether poles are real, as well known as A, and all that matters."""
    single = problem.analysis.inputs == 1 and problem.noise is None and problem.reads_all
    return single and not problem.is_plain and is_symmetric(problem.states.stored)


SOLVERS = (
    Solver("nothing", "no input reaches what is read", lambda p: not p.is_driven, solve_nothing),
    Solver(
        "lattice", "one white input, no noise, all states: poles", lambda p: p.is_plain,
        solve_lattice,
    ),
    Solver(
        "fisher", "Fisher memory: the covariance of the noise", lambda p: p.kind == "Fisher",
        solve_fisher,
    ),
    Solver(
        "arnoldi", "observation noise, A sparse or known by its products: Krylov factor of the "
        "directions above the noise", _is_sparse_under_noise, solve_arnoldi,
    ),
    Solver(
        "hessenberg", "any other question, responses fade: Krylov factor in graded coordinates",
        _takes_a_factor, solve_hessenberg,
    ),
    Solver(
        "cascade", "they do not fade, the error is large, or A is symmetric and poles are all that "
        "matters: factor from the poles",
        _takes_a_factor, solve_cascade,
    ),
)  # fmt: skip
#: What is done where the errors of these are above the tolerance.
LAST_LEAVES = (
    ("balls", "the error is above the tolerance, balls take seconds: ball arithmetic"),
    ("", "else the error is said; where nothing is known, the rank and a refusal"),
)


def tree() -> str:
    """The tree as text."""
    leaves = [(solver.name, solver.condition) for solver in SOLVERS] + list(LAST_LEAVES)
    return "\n".join(f"    {name:<12}{condition}" for name, condition in leaves)


__doc__ = (__doc__ or "").format(tree=tree())


def choose(problem: Problem, solver: str | None = None) -> Iterator[Solver]:
    """The solvers that may answer, in the order of the tree; or the one that is asked for."""
    *first, hessenberg, cascade = SOLVERS
    last = (cascade, hessenberg) if _has_poles_on_a_line(problem) else (hessenberg, cascade)
    for each in (*first, *last):
        if (solver is None or each.name == solver) and each.answers(problem):
            yield each
            if each.name == "nothing":
                return


def answered(
    problem: Problem, certify_up_to: int, tolerance: float | None = None, solver: str | None = None
) -> Answer:
    """Answer in floating point, and in balls what is not good enough, where that is quick."""
    notes, lost = reach_notes(problem), unreadable(problem)
    problem = problem.narrowed()
    enough = tolerance or LARGEST_ERROR
    with few_threads(len(problem.states)), np.errstate(all="ignore"):
        # overflow ends in errors that are not finite, and is dealt with as such
        best, reason, name, merged = None, "", "", merged_inputs(problem)
        if merged is not None:  # rounded: errors of float64 hold for both, those of balls do not
            best, reason, name = _in_floating_point(merged[0], enough, solver)
            best = best and best.shared(merged[1])
        if best is None or reason:
            best, reason, name = _in_floating_point(problem, enough, solver)
    rank = problem.rank if _wants_rank(problem) else None
    if reason and solver is None and _is_affordable(problem, best, certify_up_to, tolerance):
        with few_threads(len(problem.states)):
            best = _in_balls(problem, best, enough)
        name = "balls"
        notes.append(NOTES("balls", reason=reason))
    elif best is None or (reason and not np.any(best.largest_error < 1)):
        raise UncertainResultError(_unknown(problem, reason, rank, certify_up_to))
    elif reason:
        notes.append(_error_note(problem, best, enough))
    diagnostics: dict[str, Any] = {"reachable": len(problem.analysis), "solver": name}
    small = len(problem.states) <= RANK_UNDER_NOISE
    if problem.analysis.inputs == 1 and rank is not None and (problem.analysis.knows_rank or small):
        spectrum = problem.analysis.spectrum
        diagnostics["rank_robust"] = spectrum.rank_robust
        diagnostics["margin"] = None if np.isnan(spectrum.margin) else spectrum.margin
        notes += rank_notes(spectrum)
    diagnostics |= lost
    diagnostics["arithmetic"] = "ball" if name == "balls" else "float64"
    return replace(best, rank=rank, notes=notes, diagnostics=diagnostics)


def merged_inputs(problem: Problem) -> tuple[Problem, Floats] | None:
    """The problem with inputs of the same mask as one, and the share of each in it.

    With c_j = α_j c the states see Σα_j z_j, of which z_j is α_j²/Σα²; α are powers of two, signed.
    """
    C = problem.network.C
    if problem.analysis.inputs == 1 or np.iscomplexobj(C) or not isinstance(C, np.ndarray):
        return None
    inputs = np.arange(C.shape[1])
    largest = C[np.abs(C).argmax(axis=0), inputs]
    alpha = np.copysign(np.ldexp(1.0, np.frexp(largest)[1]), largest)
    groups = dict[Any, list[int]]()
    for j in inputs[largest != 0].tolist():
        kind = None if problem.processes[j].is_white else id(problem.processes[j])
        groups.setdefault((kind, (C[:, j] / alpha[j] + 0.0).tobytes()), []).append(j)
    if len(groups) in (0, C.shape[1]):
        return None
    columns, shares = list[Floats](), np.zeros((len(groups), C.shape[1]))
    for share, group in zip(shares, groups.values(), strict=True):
        strongest = group[np.argmax(np.abs(alpha[group]))]
        squares = np.square(alpha[group] / alpha[strongest])
        share[group] = squares / squares.sum()
        alone = problem.noise is None and len(groups) == 1  # the rank is that of these numbers
        columns.append(C[:, strongest] * (1.0 if alone else np.sqrt(squares.sum())))
    network = problem.network.replace(C=np.stack(columns, axis=1) if columns[1:] else columns[0])
    processes = tuple(problem.processes[group[0]] for group in groups.values())
    return replace(problem, given_analysis=None, network=network, processes=processes), shares


def _error_note(problem: Problem, best: Answer, enough: float) -> Note:
    worst, certified = best.largest_error, not is_products_only(problem)
    slower = "; method='certified' is slower and more accurate" if certified else ""
    if np.any(good := worst <= enough):
        least = float(problem.levels[good].min())
        return NOTES("levels", enough=enough, least=least, slower=slower)
    return NOTES("error", worst=float(worst.max()), slower=slower)


def _is_affordable(
    problem: Problem, best: Answer | None, certify_up_to: int, tolerance: float | None
) -> bool:
    """Whether balls take seconds, or minutes where a tolerance was asked for."""
    if is_products_only(problem) or len(problem.states) > certify_up_to:
        return False
    levels, lags = problem.levels, problem.lags or 0
    if best is not None:
        levels = levels[~(best.largest_error <= (tolerance or LARGEST_ERROR))]
        lags = best.memory.shape[1]
    vague = best is not None and bool(np.any(best.largest_error < 1))
    most = MOST_SECONDS_UNASKED if tolerance is None and vague else MOST_SECONDS
    return seconds_in_balls(problem, levels, lags) <= most


def _unknown(problem: Problem, reason: str, rank: int | None, certify_up_to: int) -> str:
    facts = "" if rank is None else f" What is known: the rank is {rank}."
    return str(TEXTS["unknown"]["products" if is_products_only(problem) else "dense"]).format(
        reason=reason, facts=facts, limit=certify_up_to, states=len(problem.states),
        minutes=MOST_SECONDS / 60,
    )  # fmt: skip


def _wants_rank(problem: Problem) -> bool:
    """Whether the rank is told: usable memory does not need it, and large networks make it dear."""
    if problem.kind == "Fisher" or is_products_only(problem):
        return False
    cheap = len(problem.states) <= RANK_UNDER_NOISE or problem.analysis.knows_rank
    return bool(cheap or not is_usable_memory(problem))


def certified(problem: Problem) -> Answer:
    """Answer a problem in ball arithmetic: every error is proven."""
    notes, lost = reach_notes(problem), unreadable(problem)
    problem = problem.narrowed()
    if not problem.is_driven:
        return replace(solve_nothing(problem), notes=notes, diagnostics=lost)
    answer = solve_in_balls(problem)
    notes += _proof_notes(problem, answer)
    diagnostics = {"reachable": len(problem.analysis), "solver": "balls"} | lost
    return replace(answer, notes=notes, diagnostics=diagnostics | answer.diagnostics)


def _in_floating_point(
    problem: Problem, tolerance: float, asked: str | None
) -> tuple[Answer | None, str, str]:
    """The best answer of the solvers, why it is not good enough (or nothing), and who gave it."""
    best, reason, name = None, "no solver answers this question", ""
    for solver in choose(problem, asked):
        try:
            answer = solver.solve(problem)
        except UncertainResultError as error:
            reason = str(error).rstrip(".")
            if is_usable_memory(problem) and problem.states.unstable_radius:
                raise unstable(problem.states.unstable_radius) from None
            dear = is_products_only(problem) or len(problem.states) >= MANY_STATES
            if isinstance(error, GrowingPowersError) and dear:
                raise UnstableNetworkError(
                    f"the network is unstable, or so far from normal that its states overflow: "
                    f"{reason}. Scale `A` below spectral radius 1."
                ) from None
            continue
        better = answer if best is None else best.better_of(answer)
        if better is not best:
            best, name = better, f"{name}, {solver.name}" if best is not None else solver.name
        worst = float(best.largest_error.max())
        if problem.kind == "Fisher" or worst <= tolerance:  # its own bound is relative
            return best, "", name
        reason = f"the error would be {worst:.1e}"
        if len(problem.states) >= LONG and worst < 1:  # others take minutes, for few digits
            break
        if problem.lags is None:  # the next one lists the same lags
            problem = problem.listing(best.memory.shape[1])
    return best, reason, name


def _in_balls(problem: Problem, best: Answer | None, tolerance: float) -> Answer:
    """The answer with the levels that are not good enough computed in balls."""
    if best is None:
        enclosed = solve_in_balls(problem)
    else:
        poor = ~(best.largest_error <= tolerance)
        levels, lags = problem.levels[poor], best.memory.shape[1]
        enclosed = solve_in_balls(problem, levels=levels, lags=lags)
    if enclosed.rank is not None and enclosed.rank != problem.rank:
        raise UncertainResultError(
            f"two exact computations of the rank disagree ({problem.rank} and {enclosed.rank}): "
            f"please report this network; method='certified' gives an enclosure for the latter."
        )
    if best is None or poor.all():
        return enclosed
    best.put(poor, enclosed)
    return best


def few_threads(states: int) -> contextlib.AbstractContextManager[Any]:
    """One thread for networks so small that the threads of two BLAS wait for each other."""
    return contextlib.nullcontext() if states > ONE_THREAD else one_thread()


def reach_notes(problem: Problem) -> list[Note]:
    """What to say where inputs do not reach, or readers do not see, all states."""
    network, notes = problem.network, list[Note]()
    if not network.C.any():
        return [NOTES("zero_mask")]
    part = problem.analysis.network.states
    if unreached := part - len(problem.states):
        notes.append(NOTES("unreached", count=unreached, part=part, are=_are(unreached)))
    if network.readout is not None:
        notes.append(NOTES("readout", count=len(network.readout), nodes=network.size))
    return notes + [Note("reach", text) for text in problem.range_remarks()]


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def unreadable(problem: Problem) -> dict[str, Any]:
    """How many states their number format does not hold, where there are such."""
    lost = problem.readable
    return {} if lost is None else {"unreadable": int(np.count_nonzero(~lost))}


def rank_notes(spectrum: Spectrum) -> list[Note]:
    """A note where the rank hangs on the last digits; the entry points make it a warning too."""
    if spectrum.rank_robust >= spectrum.rank:
        return []
    lost = spectrum.rank - spectrum.rank_robust
    return [NOTES("rounding", rank=spectrum.rank, robust=spectrum.rank_robust,
                  modes=counted(lost, "mode"), are=_are(lost))]  # fmt: skip


def _proof_notes(problem: Problem, enclosed: Answer) -> list[Note]:
    plain = problem.is_plain
    count = len(problem.states) if plain else len(problem.rows)
    if enclosed.rank is None or enclosed.rank >= count:
        return []
    of = "reachable states" if plain else "states read"
    return [NOTES("rank", rank=enclosed.rank, count=count, of=of)]
