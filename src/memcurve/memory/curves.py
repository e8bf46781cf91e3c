"""From the answer of a solver to a MemoryCurve."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.core.notes import Note
from memcurve.memory.curve import MemoryCurve, note
from memcurve.solve import MOST_DEFAULT_LAGS, NEGLIGIBLE_MEMORY, Answer, Problem


def curves_of(
    problem: Problem, answer: Answer, *, method: str, seed: Any = None
) -> tuple[MemoryCurve, ...]:
    """One MemoryCurve for each noise level."""
    levels = enumerate(problem.levels.tolist())
    return tuple(_curve(problem, answer, k, level, method, seed) for k, level in levels)


def _curve(
    problem: Problem, answer: Answer, k: int, level: float, method: str, seed: Any
) -> MemoryCurve:
    network, kind = problem.network, problem.kind
    ahead = kind == "forecasting"
    values = (answer.forecast if ahead else answer.memory)[k]
    errors = (answer.forecast_error if ahead else answer.memory_error)[k]
    total = float((answer.total_forecast if ahead else answer.total)[k])
    total_error = float((answer.total_forecast_error if ahead else answer.total_error)[k])
    summed = values.sum(axis=1)
    loss = values.shape[1] - summed
    if answer.loss is not None:
        loss = answer.loss[k].sum(axis=1)
    elif answer.bounded:
        loss = np.maximum(loss, 0.0)
    notes, diagnostics = list(answer.notes), dict(answer.diagnostics)
    if problem.is_plain and answer.bounded and answer.rank:
        diagnostics |= _traces(problem)
    if kind != "Fisher" and answer.bounded:
        if problem.noise is not None:
            diagnostics["noise"] = {"kind": problem.noise.label, "level": level}
        whole = not diagnostics.get("unreadable")  # else the rank is that of the other states
        notes += _question_notes(problem, level, answer.rank if whole else None)
        if not problem.is_white:
            more, bounds = _colour_bounds(problem, answer, k)
            notes += more
            diagnostics |= bounds
        missing = total - float(summed.sum())
        capped = not ahead and problem.lags is None and len(summed) == MOST_DEFAULT_LAGS
        if capped and missing > NEGLIGIBLE_MEMORY:
            facts = {"missing": missing, "total": total, "negligible": NEGLIGIBLE_MEMORY}
            notes.append(note("truncated", count=len(summed), **facts))
    return MemoryCurve(
        lags=np.arange(len(summed)) + (1 if ahead else 0),
        values=summed,
        error=Answer.error_of_sum(values, errors),
        loss=loss,
        total=total,
        total_error=total_error,
        rank=answer.rank,
        channels=values,
        channel_errors=errors,
        kind=kind,
        method=method,
        bands=answer.bands,
        notes=(*network.notes, *notes),
        options=problem.record(level) | answer.options,
        seed=seed if isinstance(seed, int) else None,
        diagnostics=diagnostics,
        network=network.name or f"N = {network.size}",
    )


def _traces(problem: Problem, *, block: int = 2**15) -> dict[str, float]:
    """Σ_j |tr A^j|² = Σ_kl λ_kλ̄_l/(1 − λ_kλ̄_l), which mean age and spread are made of."""
    spectrum = vars(problem.analysis).get("spectrum")
    if spectrum is None:
        return {}
    poles = spectrum.poles
    if poles is None or len(poles) != spectrum.rank or not np.abs(poles).max(initial=0.0) < 1:
        return {}
    total = 0.0
    re, im, upper = poles.real, poles.imag, poles[poles.imag >= 0]
    for part in np.array_split(upper, max(1, len(upper) * len(poles) // block)):
        # of λ_kλ̄_l = a + ib in real numbers, with (a + ib)/(1 − a − ib) summed over pairs
        a = part.real[:, None] * re + part.imag[:, None] * im
        squares = (part.imag[:, None] * re - part.real[:, None] * im) ** 2
        parts = (a * (1 - a) - squares) / ((1 - a) ** 2 + squares)
        total += float(np.where(part.imag > 0, 2.0, 1.0) @ parts.sum(axis=1))
    return {"squared_traces": total}


def _question_notes(problem: Problem, level: float, rank: int | None) -> list[Note]:
    notes, noise = [], problem.noise
    if problem.kind == "forecasting" and problem.is_white:
        notes.append(note("white_forecast"))
    if noise is not None:
        size = f" of standard deviation {level:g}" if noise.is_scaled else ""
        without = "" if rank is None else f"; without noise the total for white input is {rank}"
        notes.append(note("usable", noise=f"{noise.label}{size}", without=without))
    if not problem.is_white:
        notes.append(note("coloured", inputs=", ".join(problem.input_names)))
    return notes


def _colour_bounds(problem: Problem, answer: Answer, k: int) -> tuple[list[Note], dict[str, Any]]:
    """Memory and forecasts together lie between bounds, where every state is read exactly."""
    rank = answer.rank or 0
    if problem.noise is not None or problem.network.readout is not None:
        return [], {}
    bounds = [np.array(p.density_bounds()) / p.variance for p in problem.processes]
    low = rank * min(float(b[0]) for b in bounds)
    high = rank * max(float(b[1]) for b in bounds)
    both = float(answer.total[k] + answer.total_forecast[k])
    bound_note = note("colour_bounds", both=both, low=low, high=high)
    return [bound_note], {"memory_plus_forecasting": both, "bounds": [low, high]}
