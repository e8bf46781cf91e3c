"""Memory of a recorded network: states and an input, from a simulation or an experiment."""

import dataclasses
import warnings
from typing import Any

import numpy as np

from memcurve import io
from memcurve.core.arguments import require_limit, require_number, require_size, table_entry
from memcurve.core.errors import RecordingWarning
from memcurve.core.limits import require_room
from memcurve.core.notes import Note
from memcurve.core.progress import Progress
from memcurve.core.types import Floats
from memcurve.data.autocorrelation import correlation, fit_autoregression
from memcurve.data.checks import checked, is_coloured
from memcurve.data.columns import counts_rows, without_nan
from memcurve.data.estimators import ESTIMATORS, estimated, r2_above_shifted
from memcurve.data.findings import Findings
from memcurve.data.prose import fault, note
from memcurve.data.regression import CHUNK, SAMPLED_ROWS, regression_curve, require_varying
from memcurve.data.stretches import Stretch, stuck_stretches, without_stuck
from memcurve.memory import MemoryCurve
from memcurve.solve import few_threads

#: Lags by default, for few states in many rows.
USUAL_LAGS = 100
#: Rows that are checked of a recording that is longer.
CHECKED_ROWS = 60_000
#: Correlations of independent inputs, in standard deviations, are below this.
RELATED = 5.0


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
    state_names: io.Names | None = None,
    input_name: io.Names | None = None,
    drop: io.Names = (),
    rows: slice | str | None = None,
    every: int = 1,
    shift: int = 0,
    skip_rows: int | None = None,
    progress: Progress = False,
) -> MemoryCurve:
    """Memory of a network from its recorded states, lag by lag and in total.

    The states are regressed on the lagged input; see :mod:`memcurve.data.regression`.

    Parameters
    ----------
    states : (T, N) array or path
        Row t already driven by ``inputs[t]``; or a file, which need not fit into memory unless it
        is .npz or an old .mat: .npy, .h5, .parquet, .csv, .txt, .csv.gz. Rows that hold NaN, or
        have NaN among their past inputs, are left out; so are columns that count the rows.
    inputs : (T,) or (T, d) array or path, optional
        The input; None where it is in the same file as the states. Of several, which should be
        independent, ``channels`` has the memory of each, and ``values`` their sum.
    lags : int, optional
        Number of lags from 0 on. By default 2N, or up to 100 for few states in many rows; more for
        innovations of a coloured input; never more than a third of the rows.
    washout : int
        Rows to leave out at the start.
    noise_floor : float
        Standard deviation of measurement noise, in units of each state's own.
    level : float
        Of the intervals ``bands``; ``error`` is half their width.
    estimator : str
        ``"regression"`` (default), or a standard one, for comparison: ``"in_sample"``,
        ``"ezekiel"``, ``"split"``, ``"k_fold"``, ``"thresholded"``.
    innovations : bool, optional
        Whether to take the memory of the innovations of the input; by default where the input is
        not white. Without them this is the memory that white input would have with the same
        response. That of a coloured input itself is ``raw_values`` among the diagnostics.
    checks : bool
        Whether to check the recording first. Problems that make any number meaningless raise a
        ValueError; others are warned of, and listed among the notes.
    state_names, input_name, drop, rows, every, shift, skip_rows
        Which arrays, columns and rows: see :func:`memcurve.io.open_recording`.
    progress : bool or callable
        Show a bar on stderr, or call ``progress(label, done, total)``.

    Returns
    -------
    MemoryCurve
        ``total`` is over the lags listed, those after ``end_lag`` counting as zero: no sum of them
        stands out from noise. ``diagnostics`` has ``end_lag``, ``total_listed``, the plain sum,
        and ``channel_totals``, with their errors, the ``profile`` of the total against the noise
        floor, the ``singular_values`` of the states, ``findings`` of the checks, and stretches that
        are ``stuck`` (first row, the one after the last, column or None for all).

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
    selection: dict[str, Any] = {"state_names": state_names, "input_name": input_name, "drop": drop}
    selection |= {"rows": rows, "every": every, "shift": shift, "skip_rows": skip_rows}
    source = io.open_recording(states, inputs, **selection)
    washout = require_limit(washout, "washout")
    floor = require_number(noise_floor, "noise_floor", "at least 0", lambda s: s >= 0)
    level = require_number(level, "level", "between 0 and 1, e.g. 0.95", lambda p: 0 < p < 1)
    table_entry(dict.fromkeys(["regression", *ESTIMATORS]), estimator, "estimator")
    _require_room(source, lags)
    recording = io.within_range(source)
    notes: list[Note] = []
    further: dict[str, Any] = {"washout": washout}
    if checks:
        findings = _checked(recording, washout)
        if stretches := _stuck(recording, washout):
            further["stuck"] = [list(one) for one in stretches]
            # the checks see the first rows, and say nothing of later ones
            if later := [one for one in stretches if one.last > CHECKED_ROWS]:
                others = "and others " if len(later) > 1 else ""
                rows_left_out = {"first": later[0].first, "last": later[0].last}
                notes.append(note("stuck", others=others, **rows_left_out))
            whole = recording
            recording = io.View(whole, lambda X, z, first: (without_stuck(X, stretches, first), z))
        selected = findings.kept
        coloured = findings.coloured
        if innovations is None:
            innovations = coloured
        reported = (one for one in findings if one.level == "warning" or one.name == "clocks")
        notes += [Note("finding", str(one)) for one in reported]
        further["findings"] = [dataclasses.asdict(one) for one in findings]
    else:
        X, z = io.first_rows(recording, CHECKED_ROWS)
        coloured = any(map(is_coloured, z[washout:].reshape(-1, source.channels).T))
        selected = np.flatnonzero([not counts_rows(column) for column in X.T])
        if len(selected) < source.columns:
            clocks = source.columns - len(selected)
            notes.append(note("clocks", count=clocks, columns=source.columns))
    if len(selected) < source.columns:
        recording = io.View(recording, lambda X, z, _: (X[:, selected], z), len(selected))
        further["kept"] = selected.tolist()
    count = _lag_count(lags, recording, washout)
    start = max(washout, count - 1)
    if innovations:
        models = [fit_autoregression(without_nan(z)) for z in _inputs(recording, washout).T]
        if lags is None:  # innovations affect the input for a while
            settling = max(model.settling() for model in models)
            count = _lag_count(None, recording, washout, settling)
        order = max(len(model.weights) for model in models)
        start = max(washout, order + count - 1)
        raw = _raw_memory(recording, order, count, start)
        notes.append(note("innovations", order=order, total=raw["raw_total"]))
        further |= raw
        series = zip(models, _inputs(recording).T, strict=True)
        new = np.column_stack([model.innovations(z) for model, z in series])
        new = new if recording.channels > 1 else new[:, 0]
        recording = io.View(recording, lambda X, _, start: (X, new[start : start + len(X)]))
    if recording.channels > 1:
        recording, related = _standardised(recording, washout)
        notes += [related] if related else []
    if estimator == "regression":
        if coloured and not innovations:
            notes.append(note("taken_for_white"))
        with few_threads(count * recording.channels + recording.columns):  # of two BLAS
            curve = regression_curve(recording, count, start, floor, level, progress)
    else:
        curve = estimated(recording, count, start, estimator)
    return dataclasses.replace(
        curve,
        notes=(*curve.notes, *notes),
        diagnostics={**curve.diagnostics, **further},
        network=source.name or f"recording of {source.columns} states",
    )


def _require_room(source: io.Source, lags: int | None) -> None:
    """Raise where the rows that are checked, or the factor of the regression, cannot fit."""
    width = source.columns + (2 * source.columns if lags is None else lags) * source.channels
    # the rows and a copy of them; a chunk and its factor
    need = max(2 * min(source.length, CHECKED_ROWS) * source.columns, (CHUNK + 2) * width**2)
    subject = f"the recording {source.name} of {source.columns:,} states"
    require_room(8 * need, subject, "Choose fewer of them with `state_names`.")


def _checked(source: io.Source, washout: int) -> Findings:
    """Check a recording, or the first rows of a long one; raise where no number would mean much."""
    findings = checked(*io.first_rows(source, CHECKED_ROWS), washout, source.labels)
    if findings.errors:
        listed = "\n  ".join(
            ["no memory can be estimated from this recording:", *map(str, findings.errors)]
        )
        raise ValueError(f"{listed}\nchecks=False skips the checks.")
    for one in findings.warnings:
        warnings.warn(str(one), RecordingWarning, stacklevel=3)
    return findings


def _stuck(recording: io.Source, washout: int) -> list[Stretch]:
    """Stretches of the whole recording that do not move though the input does."""
    stretches, start = list[Stretch](), washout
    for X, z in recording.chunks(CHECKED_ROWS, washout):
        chunk = stuck_stretches(X, z)
        stretches += [Stretch(one.first + start, one.last + start, one.column) for one in chunk]
        start += len(X)
    return stretches


def _lag_count(lags: int | None, recording: io.Source, washout: int, more: int = 0) -> int:
    rows = recording.length - washout
    if rows < 2:
        raise ValueError(fault("no_rows", washout=washout, rows=recording.length))
    if lags is None:
        usual = max(2 * recording.columns, min(USUAL_LAGS, rows // 10))
        return int(max(1, min(usual + more, rows // 3)))
    count = require_size(lags, "lags")
    if count > rows // 2:
        raise ValueError(fault("many_lags", rows=rows, lags=count))
    return count


def _inputs(recording: io.Source, start: int = 0) -> Floats:
    """The inputs, one column each."""
    shape = (-1, recording.channels)
    return np.concatenate([z.reshape(shape) for _, z in recording.chunks(100_000, start)])


def _standardised(recording: io.Source, washout: int) -> tuple[io.Source, Note | None]:
    """Inputs in their own units; a note where √n·r of two, up to ten lags apart, is not normal."""
    series = np.column_stack([without_nan(z) for z in _inputs(recording, washout).T])
    require_varying(series.min(axis=0), series.max(axis=0))
    mean, deviation = series.mean(axis=0), series.std(axis=0)
    series, n, d = (series - mean) / deviation, len(series), recording.channels
    pairs = [(i, j) for i in range(d) for j in range(d) if i != j]
    r = [correlation(series[:, i], series[:, j])[: min(11, n)] / n for i, j in pairs]
    largest = float(np.abs(r).max())
    view = io.View(recording, lambda X, z, _: (X, (z - mean) / deviation))
    if largest <= RELATED / np.sqrt(n):
        return view, None
    return view, note("inputs_related", r=largest)


def _raw_memory(recording: io.Source, order: int, lags: int, start: int) -> dict[str, Any]:
    """R² of the coloured input itself, for the diagnostics."""
    Z, X = io.lagged(recording, lags, start, min(recording.length, start + SAMPLED_ROWS))
    valid = io.present(Z, X)
    Z[~valid], X[~valid] = Z[valid].mean(axis=0), X[valid].mean(axis=0)  # which add nothing
    channels = [
        r2_above_shifted(X, Z[:, k :: recording.channels]) for k in range(recording.channels)
    ]
    values = np.sum([values for values, _ in channels], axis=0)
    total, null = float(values.sum()), float(np.mean([null for _, null in channels]))
    return {"raw_values": values.tolist(), "raw_total": total, "raw_null": null, "ar_order": order}
