"""The one place where an answer becomes a MemoryCurve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve.curve import MemoryCurve
from memcurve.notes import Note
from memcurve.solve.answer import Answer, Outcome
from memcurve.solve.lags import MOST_DEFAULT_LAGS, NEGLIGIBLE_MEMORY
from memcurve.solve.question import Question
from memcurve.types import Floats


def estimate(
    memory: Floats,
    note: str,
    *,
    total: float | None = None,
    bands: Floats | None = None,
    options: Mapping[str, Any] | None = None,
    diagnostics: Mapping[str, Any] | None = None,
) -> Answer:
    """The answer of a method that has no error bound and does not know the rank.

    ``memory`` has a column an input, or is a vector for one; ``note`` says what the method does.
    """
    channels = memory.reshape(len(memory), -1)
    unknown = np.full(channels.shape, np.nan)
    summed = float(channels.sum()) if total is None else total
    text = "no error bound: this method cannot tell how far it is off; method='exact' can"
    return Answer(
        Outcome.of_memory(channels, unknown, summed, np.nan),
        notes=[Note("method", note), Note("unbounded", text)],
        options=dict(options or {}),
        diagnostics=dict(diagnostics or {}),
        bands=bands,
        bounded=False,
    )


def curves_of(
    question: Question, found: Answer, *, method: str, seed: Any = None
) -> tuple[MemoryCurve, ...]:
    """One MemoryCurve a noise level."""
    return tuple(
        _curve(question, found, k, level, method, seed)
        for k, level in enumerate(question.levels.tolist())
    )


def _curve(
    question: Question, found: Answer, k: int, level: float, method: str, seed: Any
) -> MemoryCurve:
    outcome, network, kind = found.outcome, question.network, question.kind
    ahead = kind == "forecasting"
    values = (outcome.forecast if ahead else outcome.memory)[k]
    errors = (outcome.forecast_error if ahead else outcome.memory_error)[k]
    sum_error = (outcome.forecast_sum_error if ahead else outcome.sum_error)[k]
    total = float((outcome.total_forecast if ahead else outcome.total)[k])
    total_error = float((outcome.total_forecast_error if ahead else outcome.total_error)[k])
    summed = values.sum(axis=1)
    loss = values.shape[1] - summed
    if outcome.loss is not None:
        loss = outcome.loss[k].sum(axis=1)
    elif found.bounded:
        loss = np.maximum(loss, 0.0)
    notes, diagnostics = list(found.notes), dict(found.diagnostics)
    if kind != "Fisher" and found.bounded:
        if question.noise is not None:
            diagnostics["noise"] = {"kind": question.noise.label, "level": level}
        whole = not diagnostics.get("unreadable")  # else the rank is that of the other states
        notes += _question_notes(question, level, found.rank if whole else None)
        if not question.is_white:
            more, bounds = _colour_bounds(question, found, k)
            notes += more
            diagnostics |= bounds
        missing = total - float(summed.sum())
        capped = not ahead and question.lags is None and len(summed) == MOST_DEFAULT_LAGS
        if capped and missing > NEGLIGIBLE_MEMORY:
            notes.append(_capped_note(len(summed), missing, total))
    return MemoryCurve(
        lags=np.arange(len(summed)) + (1 if ahead else 0),
        values=summed,
        error=sum_error,
        loss=loss,
        total=total,
        total_error=total_error,
        rank=found.rank,
        channels=values,
        channel_errors=errors,
        kind=kind,
        method=method,
        bands=found.bands,
        notes=(*network.notes, *notes),
        options=question.record(level) | found.options,
        seed=seed if isinstance(seed, int) else None,
        diagnostics=diagnostics,
        network=network.name or f"N = {network.size}",
    )


def _question_notes(question: Question, level: float, rank: int | None) -> list[Note]:
    notes, noise = [], question.noise
    if question.kind == "forecasting" and question.is_white:
        notes.append(Note("question", "white input cannot be forecast: every capacity is zero"))
    if noise is not None:
        size = f" of standard deviation {level:g}" if noise.is_scaled else ""
        known = "" if rank is None else f"; without noise the total for white input is {rank}"
        text = f"usable memory under {noise.label}{size}, relative to input of unit variance{known}"
        notes.append(Note("question", text))
    if not question.is_white:
        text = (
            f"coloured input ({', '.join(question.input_names)}): the number of states is no bound "
            f"on the total, and the curve need not fall from lag to lag"
        )
        notes.append(Note("question", text))
    return notes


def _colour_bounds(question: Question, found: Answer, k: int) -> tuple[list[Note], dict[str, Any]]:
    """Memory and forecasts together lie between bounds, where every state is read exactly."""
    rank = found.rank or 0
    if question.noise is not None or question.network.readout is not None:
        return [], {}
    bounds = [np.array(p.density_bounds()) / p.variance for p in question.processes]
    low = rank * min(float(b[0]) for b in bounds)
    high = rank * max(float(b[1]) for b in bounds)
    both = float(found.outcome.total[k] + found.outcome.total_forecast[k])
    text = (
        f"memory and forecasting capacity together are {both:.6g}, between N·min f = {low:.4g} and "
        f"N·max f = {high:.4g} as they must be"
    )
    return [Note("question", text)], {"memory_plus_forecasting": both, "bounds": [low, high]}


def _capped_note(lags: int, missing: float, total: float) -> Note:
    text = (
        f"lags stop at {lags}: {missing:.3g} of the memory {total:.6g} lies beyond (the default "
        f"aims at {NEGLIGIBLE_MEMORY:g}); give `lags` to see further"
    )
    return Note("lags", text)
