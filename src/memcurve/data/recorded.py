"""Memory of a recorded network: states and an input, from a simulation or an experiment."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import require_limit, require_number, require_size, table_entry
from memcurve.curve import MemoryCurve
from memcurve.data.account import PROFILE, notes_on, profile, singular_values
from memcurve.data.checks import Findings, check_recording
from memcurve.data.estimators import ESTIMATORS, estimated
from memcurve.data.factor import Factor, lagged_chunks, triangular_factor
from memcurve.data.inference import infer
from memcurve.data.innovations import (
    Autoregression,
    calibrated_r2,
    fit_autoregression,
)
from memcurve.data.regression import regress
from memcurve.data.sources import Source, open_recording
from memcurve.data.views import SomeColumns, WithInputs, within_range
from memcurve.errors import RecordingWarning
from memcurve.notes import Note

Floats = NDArray[np.float64]

#: Rows that the second look takes at most: its arrays have a column a lag.
SECOND_LOOK = 30_000
#: Error of the total a state that is not statistical: rounding, and lags cut off.
ROUNDING = 1e-9
#: Lags by default, for few states in many rows.
USUAL_LAGS = 100
#: Rows that are checked of a recording that is longer.
CHECKED_ROWS = 60_000


def memory_from_data(
    states: Any,
    inputs: Any = None,
    lags: int | None = None,
    *,
    washout: int = 0,
    noise_floor: float = 1e-12,
    level: float = 0.9,
    estimator: str = "regression",
    innovations: bool | None = None,
    checks: bool = True,
    state_names: str | Sequence[str] | None = None,
    input_name: str | None = None,
    progress: bool = False,
) -> MemoryCurve:
    """Memory of a network known by its recorded states, lag by lag and in total.

    The states are regressed on the lagged input; see :mod:`memcurve.data.regression` and
    :mod:`memcurve.data.inference`.

    Parameters
    ----------
    states : (T, N) array or path
        Row t already driven by ``inputs[t]``; or a file, which is read in chunks and need not fit
        into memory: .npy, .npz, .mat, .h5, .parquet, .csv.
    inputs : (T,) array or path, optional
        The input; None where it is in the same file as the states.
    lags : int, optional
        Number of lags from 0 on. By default 2N, or up to 100 for few states in many rows; for
        innovations of a coloured input as many more as it takes them to come out; never more than
        a third of the rows.
    washout : int
        Rows to leave out at the start.
    noise_floor : float
        Standard deviation of measurement noise, in units of each state's own.
    level : float
        Of the intervals ``bands``; ``error`` is half their width.
    estimator : str
        ``"regression"`` (default), or one that people use, for comparison: ``"in_sample"``,
        ``"ezekiel"``, ``"split"``, ``"k_fold"``, ``"thresholded"``.
    innovations : bool, optional
        Whether to take the memory of the innovations of the input rather than of the input itself;
        by default where the input is not white.
    checks : bool
        Whether to look for what is wrong with the recording first. What makes any number
        meaningless raises a ValueError; the rest is among the notes, and warned of.
    state_names, input_name
        Which arrays or columns of a file, see :func:`memcurve.data.sources.open_recording`.
    progress : bool
        Show a bar on stderr.

    Returns
    -------
    MemoryCurve
        ``total`` is over the lags listed, those after ``end_lag`` counting as zero: no sum of them
        stands out from noise. ``diagnostics`` has ``end_lag``, ``total_listed``, the plain sum,
        ``total_cut``, the sum up to the last lag that is significant by itself, both with their
        errors, the ``profile`` of the total against the noise floor, and the ``singular_values`` of
        the states.

    Examples
    --------
    >>> import memcurve
    >>> import numpy as np
    >>> network = memcurve.ensembles.orthogonal(20, seed=1)
    >>> z = np.random.default_rng(2).standard_normal(1000)
    >>> curve = memcurve.memory_from_data(network.simulate(z), z, 150, washout=100)
    >>> round(curve.total, 4)
    20.0
    """
    source = open_recording(states, inputs, state_names=state_names, input_name=input_name)
    washout = require_limit(washout, "washout")
    floor = require_number(noise_floor, "noise_floor", "at least 0", lambda s: s >= 0)
    level = require_number(level, "level", "between 0 and 1", lambda p: 0 < p < 1)
    if estimator != "regression":
        table_entry(dict.fromkeys(("regression", *ESTIMATORS)), estimator, "estimator")
    recording = within_range(source)
    findings = _checked(recording, washout) if checks else None
    if findings is not None and len(findings.kept) < source.columns:
        recording = SomeColumns(recording, findings.kept)
    coloured = findings is not None and findings.coloured
    count = _lag_count(lags, recording, washout)
    start = max(washout, count - 1)
    raw = None
    notes: list[str] = []
    if findings is not None:
        notes += [Note("finding", str(one)) for one in findings.warnings]
    if innovations if innovations is not None else coloured:
        model = fit_autoregression(_inputs(recording, washout))
        if lags is None:  # what is new in the input goes on coming out for a while
            count = _lag_count(None, recording, washout, model.settling())
        start = max(washout, len(model.weights) + count - 1)
        recording, raw, note = _prewhitened(recording, model, count, start)
        notes.append(note)
    if estimator == "regression":
        curve = _regression(recording, count, start, floor, level, progress)
    else:
        curve = estimated(recording, count, start, estimator)
    return _finished(curve, source, findings, notes, raw, washout)


def _checked(source: Source, washout: int) -> Findings:
    """Check a recording, or the first rows of a long one; raise where no number would mean much."""
    X, z = next(iter(source.chunks(min(source.length, CHECKED_ROWS))))
    findings = check_recording(X, z, washout=washout)
    if findings.errors:
        listed = "\n  ".join(str(one) for one in findings)
        raise ValueError(
            f"this recording gives no memory:\n  {listed}\nchecks=False skips the checks."
        )
    for one in findings.warnings:
        warnings.warn(str(one), RecordingWarning, stacklevel=3)
    return findings


def _lag_count(lags: int | None, recording: Any, washout: int, more: int = 0) -> int:
    rows = recording.length - washout
    if rows < 2:
        raise ValueError(
            f"`washout` must leave rows to look at, got {washout} of {recording.length}."
        )
    if lags is None:
        usual = max(2 * recording.columns, min(USUAL_LAGS, rows // 10))
        return int(max(1, min(usual + more, rows // 3)))
    count = require_size(lags, "lags")
    if count > rows // 2:
        raise ValueError(
            f"`lags` must be at most half of the {rows} rows after the washout, got {count}; "
            f"record longer or ask for fewer."
        )
    return count


def _inputs(recording: Any, start: int = 0) -> Floats:
    return np.concatenate([z for _, z in recording.chunks(100_000, start)])


def _prewhitened(
    recording: Any, model: Autoregression, lags: int, start: int
) -> tuple[Any, dict[str, Any], str]:
    """The recording with innovations for inputs, and raw R² of the input itself."""
    stop = min(recording.length, start + SECOND_LOOK)
    pairs = list(lagged_chunks(recording, lags, start, SECOND_LOOK, stop))
    Z, X = (np.vstack(part) for part in zip(*pairs, strict=True))
    raw = calibrated_r2(X, Z)
    # what the null gives by itself is taken out as Ezekiel does
    corrected = 1 - (1 - raw.raw) / (1 - raw.null)
    total, order = float(corrected.sum()), len(model.weights)
    note = (
        f"the input is coloured: this is the memory of its innovations, the residuals of an "
        f"autoregression of order {order}; of the input itself the states hold {total:.4g} over "
        f"these lags (R² above what shifted inputs give), and the number of states is no bound on "
        f"that"
    )
    known = {"raw_values": corrected.tolist(), "raw_total": total, "raw_null": raw.null}
    innovations = model.innovations(_inputs(recording))
    return WithInputs(recording, innovations), known | {"ar_order": order}, note


def _regression(
    recording: Any, lags: int, start: int, floor: float, level: float, progress: bool
) -> MemoryCurve:
    from scipy.stats import norm

    factor = triangular_factor(recording, lags, start, show=progress)
    _require_finite(factor)
    N = recording.columns
    if factor.rows <= N + 2:
        raise ValueError(
            f"`states` must have more rows than columns by at least 3 after washout and lags, got "
            f"{factor.rows} rows for {N} states; record longer or ask for fewer `lags`."
        )
    fit = regress(factor, floor)
    Z, X = _sample(recording, factor, start)
    found = infer(fit, Z, X, factor.rows)
    width = float(norm.isf((1 - level) / 2))
    error = width * found.standard_error
    memory = found.memory
    bands = np.clip(np.stack([memory - error, memory + error], axis=1), 0.0, 1.0)
    return MemoryCurve(
        lags=np.arange(lags),
        values=memory,
        error=error,
        loss=1 - memory,
        total=float(memory[: found.end + 1].sum()),
        total_error=width * found.total_error + ROUNDING * N,
        rank=None,
        channels=memory[:, None],
        bands=bands,
        method="data",
        notes=tuple(notes_on(factor, fit, found, level)),
        options={"noise_floor": floor, "level": level, "estimator": "regression"},
        diagnostics={
            "rows": factor.rows,
            "states": N,
            "end_lag": found.end,
            "total_listed": float(memory.sum()),
            "total_listed_error": width * found.listed_error + ROUNDING * N,
            "last_lag": found.last,
            "total_cut": float(memory[: found.last + 1].sum()),
            "total_cut_error": width * found.cut_error + ROUNDING * N,
            "null_cut": found.null,
            "fir_length": fit.length,
            "unexplained": fit.unexplained,
            "singular_values": singular_values(factor).tolist(),
            "profile": dict(zip(map(repr, PROFILE), profile(fit, found), strict=True)),
        },
    )


def _require_finite(factor: Factor) -> None:
    if not np.isfinite(factor.R).all():
        raise ValueError(
            "the recording has NaN or infinite entries, or constant columns; remove those rows or "
            "columns."
        )


def _sample(recording: Any, factor: Factor, start: int) -> tuple[Floats, Floats]:
    """Rows of (Z, X), standardised: all, or stretches spread over a long recording."""
    stretches = [(start, recording.length)]
    if factor.rows > SECOND_LOOK:
        firsts = np.linspace(start, recording.length - SECOND_LOOK // 6, 6).astype(int)
        stretches = [(int(first), int(first) + SECOND_LOOK // 6) for first in firsts]
    pairs = [
        pair
        for first, stop in stretches
        for pair in lagged_chunks(recording, factor.lags, first, SECOND_LOOK, stop)
    ]
    Z = np.vstack([(Z - factor.mean_input) / factor.input_deviation for Z, _ in pairs])
    X = np.vstack([(X - factor.means) / factor.deviations for _, X in pairs])
    return Z, X


def _finished(
    curve: MemoryCurve,
    source: Source,
    findings: Findings | None,
    notes: list[str],
    raw: dict[str, Any] | None,
    washout: int,
) -> MemoryCurve:
    diagnostics = dict(curve.diagnostics) | {"washout": washout} | (raw or {})
    if findings is not None:
        diagnostics["findings"] = [dataclasses.asdict(one) for one in findings]
    return dataclasses.replace(
        curve,
        notes=(*curve.notes, *notes),
        diagnostics=diagnostics,
        network=source.name or f"recording of {source.columns} states",
    )
