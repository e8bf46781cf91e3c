"""Exact answers for any input, noise and readout: floating point first, balls where it must be."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.curve import MemoryCurve
from memcurve.enclosure import enclose_any
from memcurve.errors import UncertainResultError
from memcurve.general import Outcome, Problem, modes_of, solve
from memcurve.spectrum import Spectrum
from memcurve.spectrum.block import rows_rank

Floats = NDArray[np.float64]

#: An error above this is not given out: ball arithmetic takes over.
LARGEST_ERROR = 1e-6
#: Up to this many states one thread is faster than several (N = 500 on two cores: 0.55 s, 0.85 s).
ONE_THREAD = 700
#: Words of the note that is a warning too.
HANGS_ON_DIGITS = "holds for the stored numbers"


@dataclass(eq=False)
class Answer:
    """An outcome with what one should know about it."""

    outcome: Outcome
    rank: int
    notes: list[str] = field(default_factory=list)
    diagnostics: dict[str, Any] = field(default_factory=dict)


def answer(problem: Problem, certify_up_to: int) -> Answer:
    """Solve a problem in floating point, and its levels that are not good enough in balls."""
    from threadpoolctl import threadpool_limits

    # NumPy's and SciPy's BLAS have threads of their own, which wait for each other in turn
    few = 1 if len(problem.reachable) <= ONE_THREAD else None
    with threadpool_limits(few, user_api="blas"):
        return _answer(problem, certify_up_to)


def _answer(problem: Problem, certify_up_to: int) -> Answer:
    notes = reach_notes(problem)
    if len(problem.rows) == 0 or not problem.C.any():
        return Answer(_nothing(problem), 0, notes)
    modes = modes_of(problem)
    diagnostics: dict[str, Any] = {"reachable": len(problem.reachable)}
    if modes.spectrum is not None:
        margin = modes.spectrum.margin
        diagnostics["rank_robust"] = modes.spectrum.rank_robust
        diagnostics["margin"] = None if np.isnan(margin) else margin
        notes += rank_notes(modes.spectrum)
    read = rows_rank(problem.A, problem.C, problem.rows, modes.rank)
    outcome, reason, arithmetic = None, "", "float64"
    try:
        # overflow ends in errors that are not finite, which are dealt with below
        with np.errstate(all="ignore"):
            outcome = solve(problem, modes, read)
    except UncertainResultError as error:
        reason = str(error).rstrip(".")
    if outcome is not None:
        poor = ~(outcome.largest_error <= LARGEST_ERROR)
        reason = f"the error would be {outcome.largest_error.max():.1e}" if poor.any() else ""
    if reason:
        outcome = _enclosed(problem, outcome, certify_up_to, reason)
        notes.append(f"computed in ball arithmetic, since in floating point {reason}")
        arithmetic = "ball"
    assert outcome is not None
    return Answer(outcome, read, notes, diagnostics | {"arithmetic": arithmetic})


def certified_answer(problem: Problem) -> Answer:
    """Solve a problem in ball arithmetic: every error is proven."""
    notes = reach_notes(problem)
    if len(problem.rows) == 0 or not problem.C.any():
        return Answer(_nothing(problem), 0, notes)
    outcome, rank, bits = enclosed_levels(problem, problem.levels, problem.lags)
    if rank < len(problem.rows):
        notes.append(
            f"rank {rank} of {len(problem.rows)} states read: proven as a lower bound, and equal "
            f"unless a non-zero integer is divisible by two given 62-bit primes"
        )
    return Answer(outcome, rank, notes, {"reachable": len(problem.reachable), "bits": bits})


def reach_notes(problem: Problem) -> list[str]:
    """What to say where inputs do not reach, or readers do not see, all states."""
    network = problem.network
    if not network.C.any():
        return ["the mask is zero: the input never enters the network"]
    notes = []
    unreached = network.states - len(problem.reachable)
    if unreached:
        are = "is" if unreached == 1 else "are"
        notes.append(f"{unreached} of {network.states} states {are} never reached from the input")
    if network.readout is not None:
        seen = len(network.readout)
        notes.append(f"read from {seen} of {network.size} nodes")
    return notes


def rank_notes(spectrum: Spectrum) -> list[str]:
    """A note where the rank hangs on the last digits; the entry points make it a warning too."""
    if spectrum.rank_robust >= spectrum.rank:
        return []
    lost = spectrum.rank - spectrum.rank_robust
    modes, are = ("1 mode", "is") if lost == 1 else (f"{lost} modes", "are")
    return [
        f"rank {spectrum.rank} {HANGS_ON_DIGITS}, but up to rounding it is "
        f"{spectrum.rank_robust}: {modes} would be lost by a change in the last digits and {are} "
        f"of no practical use"
    ]


def _nothing(problem: Problem) -> Outcome:
    levels, d = len(problem.levels), problem.C.shape[1]
    memory, ahead = (
        np.zeros((levels, problem.lags or 1, d)),
        np.zeros((levels, problem.horizons, d)),
    )
    none = np.zeros(levels)
    return Outcome(
        memory, memory.copy(), ahead, ahead.copy(), none, none.copy(), none.copy(), none.copy()
    )


def enclosed_levels(problem: Problem, levels: Floats, lags: int | None) -> tuple[Outcome, int, int]:
    """The outcome in ball arithmetic, level by level, with the rank and the precision needed."""
    found = []
    for level in levels.tolist():
        enclosure = enclose_any(
            problem.A,
            problem.C,
            processes=problem.processes,
            lags=lags,
            horizons=problem.horizons,
            observation=level * problem.observation,
            state=level * problem.state,
            rows=problem.rows.tolist(),
        )
        lags = len(enclosure.memory)  # the same for all levels
        found.append(enclosure)
    names = [item.name for item in dataclasses.fields(Outcome)]
    parts = {name: np.array([getattr(one, name) for one in found]) for name in names}
    return Outcome(**parts), found[0].rank, max(one.bits for one in found)


def _enclosed(
    problem: Problem, outcome: Outcome | None, certify_up_to: int, reason: str
) -> Outcome:
    count = len(problem.reachable)
    if count > certify_up_to:
        raise UncertainResultError(
            f"floating point cannot give this answer: {reason}. Ball arithmetic can, but the "
            f"network has {count} reachable states and `certify_up_to` is {certify_up_to}; raise "
            f"it (the time grows like the fourth power of the size), or change the problem: more "
            f"noise, a network further below spectral radius 1."
        )
    if outcome is None:
        return enclosed_levels(problem, problem.levels, problem.lags)[0]
    poor = ~(outcome.largest_error <= LARGEST_ERROR)
    lags = outcome.memory.shape[1]
    better, _, _ = enclosed_levels(problem, problem.levels[poor], lags)
    for item in dataclasses.fields(Outcome):
        getattr(outcome, item.name)[poor] = getattr(better, item.name)
    return outcome


def curves_of(
    problem: Problem, found: Answer, *, method: str, options: dict[str, Any], kind: str = "memory"
) -> list[MemoryCurve]:
    """One MemoryCurve a noise level."""
    ahead = kind == "forecasting"
    outcome, network = found.outcome, problem.network
    values = outcome.forecast if ahead else outcome.memory
    errors = outcome.forecast_error if ahead else outcome.memory_error
    totals = outcome.total_forecast if ahead else outcome.total
    total_errors = outcome.total_forecast_error if ahead else outcome.total_error
    curves = []
    for k, level in enumerate(problem.levels.tolist()):
        notes, diagnostics = list(found.notes), dict(found.diagnostics)
        if problem.noise is not None:
            diagnostics["noise"] = {"kind": problem.noise.label, "level": level}
            notes.append(_noise_note(problem, level, found.rank))
        if not problem.is_white:
            more, bounds = _colour_notes(problem, found, k)
            notes += more
            diagnostics |= bounds
        summed = values[k].sum(axis=1)
        curves.append(
            MemoryCurve(
                lags=np.arange(len(summed)) + (1 if ahead else 0),
                values=summed,
                error=errors[k].sum(axis=1),
                loss=np.maximum(values.shape[2] - summed, 0.0),
                total=float(totals[k]),
                total_error=float(total_errors[k]),
                rank=found.rank,
                channels=values[k],
                kind=kind,
                method=method,
                notes=tuple(notes),
                options=options,
                diagnostics=diagnostics,
                network=network.name or f"N = {network.size}",
            )
        )
    return curves


def _noise_note(problem: Problem, level: float, rank: int) -> str:
    noise = problem.noise
    assert noise is not None
    size = f" of standard deviation {level:g}" if noise.is_scaled else ""
    return (
        f"usable memory under {noise.label}{size}, relative to input of unit variance; without "
        f"noise the total for white input is {rank}"
    )


def _colour_notes(problem: Problem, found: Answer, k: int) -> tuple[list[str], dict[str, Any]]:
    names = sorted({process.name for process in problem.processes})
    notes = [
        f"coloured input ({', '.join(names)}): the number of states is no bound on the total, and "
        f"the curve need not fall from lag to lag"
    ]
    if problem.noise is not None or not problem.reads_all:
        return notes, {}
    bounds = [np.array(p.density_bounds()) / p.variance for p in problem.processes]
    low = found.rank * min(float(b[0]) for b in bounds)
    high = found.rank * max(float(b[1]) for b in bounds)
    both = float(found.outcome.total[k] + found.outcome.total_forecast[k])
    notes.append(
        f"memory and forecasting capacity together are {both:.6g}, between N·min f = {low:.4g} and "
        f"N·max f = {high:.4g} as they must be"
    )
    return notes, {"memory_plus_forecasting": both, "bounds": [low, high]}
