"""Memory of a recorded network: states and an input, from a simulation or an experiment."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import require_limit, require_number, require_size, table_entry
from memcurve.curve import MemoryCurve
from memcurve.data.checks import Findings, check_recording
from memcurve.data.estimators import ESTIMATORS
from memcurve.data.factor import Factor, lagged_chunks, triangular_factor
from memcurve.data.inference import Inference, infer
from memcurve.data.innovations import WithInputs, calibrated_r2, fit_autoregression
from memcurve.data.regression import Fit, regress
from memcurve.data.sources import Source, open_recording
from memcurve.errors import RecordingWarning

Floats = NDArray[np.float64]

#: Rows that the second look takes at most: its arrays have a column a lag.
SECOND_LOOK = 30_000
#: Rows that are checked of a recording that is longer.
CHECKED_ROWS = 60_000
#: Noise floors of the profile, relative to each state's deviation.
PROFILE = tuple(float(x) for x in np.logspace(-15, 0, 31))
#: The total of a network with a long thin tail needs this many rows a state, any other 20.
ROWS_FOR_SLOW, ROWS_FOR_ANY = 60, 20


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
        Number of lags from 0 on, 2N by default, and at most a third of the rows.
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
        ``total`` is over the lags listed; ``diagnostics`` has ``total_cut``, the total up to the
        last significant lag, and its error, the ``profile`` of the total against the noise floor,
        and the ``singular_values`` of the states.

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
    findings = _checked(source, washout) if checks else None
    recording: Any = source
    if findings is not None and len(findings.kept) < source.columns:
        recording = _SomeColumns(source, findings.kept)
    coloured = findings is not None and findings.coloured
    count = _lag_count(lags, recording, washout)
    raw = None
    notes = [] if findings is None else [str(one) for one in findings if one.level == "warning"]
    if innovations if innovations is not None else coloured:
        recording, raw, more = _prewhitened(recording, count, washout)
        notes += more
    start = max(washout, count - 1)
    if estimator == "regression":
        curve = _regression(recording, count, start, floor, level, progress)
    else:
        curve = _other(recording, count, start, estimator)
    return _finished(curve, source, findings, notes, raw, washout)


@dataclass(frozen=True, eq=False)
class _SomeColumns:
    """A recording without its constant and duplicate columns."""

    source: Source
    kept: NDArray[np.intp]

    @property
    def length(self) -> int:
        return self.source.length

    @property
    def columns(self) -> int:
        return len(self.kept)

    @property
    def name(self) -> str:
        return self.source.name

    def chunks(self, rows: int, start: int = 0) -> Any:
        for X, z in self.source.chunks(rows, start):
            yield X[:, self.kept], z


def _checked(source: Source, washout: int) -> Findings:
    """Check a recording, or the first rows of a long one; raise where no number would mean much."""
    X, z = next(iter(source.chunks(min(source.length, CHECKED_ROWS))))
    findings = check_recording(X, z, washout=washout)
    if findings.errors:
        listed = "\n  ".join(str(one) for one in findings.errors)
        raise ValueError(
            f"this recording gives no memory:\n  {listed}\nchecks=False skips the checks."
        )
    for one in findings.warnings:
        warnings.warn(str(one), RecordingWarning, stacklevel=3)
    return findings


def _lag_count(lags: int | None, recording: Any, washout: int) -> int:
    rows = recording.length - washout
    if rows < 2:
        raise ValueError(
            f"`washout` must leave rows to look at, got {washout} of {recording.length}."
        )
    if lags is None:
        return int(max(1, min(2 * recording.columns, rows // 3)))
    count = require_size(lags, "lags")
    if count > rows // 2:
        raise ValueError(
            f"`lags` must be at most half of the {rows} rows after the washout, got {count}; "
            f"record longer or ask for fewer."
        )
    return count


def _prewhitened(recording: Any, lags: int, washout: int) -> tuple[Any, dict[str, Any], list[str]]:
    """The recording with innovations for inputs, and raw R² of the input itself."""
    z = np.concatenate([part for _, part in recording.chunks(100_000)])
    model = fit_autoregression(z)
    order = len(model.weights)
    X = next(iter(recording.chunks(min(recording.length, SECOND_LOOK), washout)))[0]
    raw = calibrated_r2(X, z[washout : washout + len(X)], lags)
    # what the null gives by itself is taken out as Ezekiel does
    corrected = 1 - (1 - raw.raw) / (1 - raw.null)
    total = float(corrected.sum())
    notes = [
        f"the input is coloured: this is the memory of its innovations, the residuals of an "
        f"autoregression of order {order}; of the input itself the states hold {total:.4g} over "
        f"these lags (R² above what shifted inputs give), and the number of states is no bound on "
        f"that"
    ]
    known = {"raw_values": corrected.tolist(), "raw_total": total, "raw_null": raw.null}
    return WithInputs(recording, model.innovations(z)), known | {"ar_order": order}, notes


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
    cut = float(memory[: found.last + 1].sum())
    total = float(memory.sum())
    return MemoryCurve(
        lags=np.arange(lags),
        values=memory,
        error=error,
        loss=1 - memory,
        total=total,
        total_error=width * found.total_error,
        rank=None,
        channels=memory[:, None],
        bands=bands,
        method="data",
        notes=tuple(_notes(factor, fit, found, N, total, cut, level)),
        options={"noise_floor": floor, "level": level, "estimator": "regression"},
        diagnostics={
            "rows": factor.rows,
            "states": N,
            "total_cut": cut,
            "total_cut_error": width * found.cut_error,
            "last_lag": found.last,
            "null_cut": found.null,
            "fir_length": fit.length,
            "unexplained": fit.unexplained,
            "singular_values": _singular_values(factor).tolist(),
            "profile": dict(zip(map(repr, PROFILE), _profile(fit), strict=True)),
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


def _singular_values(factor: Factor) -> Floats:
    """Of the standardised states, as deviations."""
    values = np.linalg.svd(factor.R[:, factor.lags :], compute_uv=False)
    return np.asarray(values / np.sqrt(factor.rows))


def _profile(fit: Fit) -> list[float]:
    """Total against the noise floor: one decomposition serves all."""
    U, sigma, _ = np.linalg.svd(fit.unwhiten)
    squares = (fit.response @ U) ** 2
    residual = np.diag(U.T @ fit.residual @ U)
    totals = []
    for floor in PROFILE:
        shares = sigma**2 / (sigma**2 + floor**2)
        raw = squares @ shares
        bias = float(residual @ shares) / fit.freedom * fit.inflation * (1 - raw)
        totals.append(float((raw - bias).sum()))
    return totals


def _notes(
    factor: Factor, fit: Fit, found: Inference, N: int, total: float, cut: float, level: float
) -> list[str]:
    notes = [
        f"estimated from {factor.rows} rows; errors are half the {level:.0%} intervals, and the "
        f"total is over the {factor.lags} lags listed, {cut:.4g} of it up to the last significant "
        f"one, {found.last}"
    ]
    slow = found.last + 1 > 2 * max(cut, 1.0)
    if slow and factor.rows < ROWS_FOR_SLOW * N:
        notes.append(
            f"a slow network: memory spread thin over {found.last + 1} lags. Its total needs "
            f"about {ROWS_FOR_SLOW} rows a state, and there are {factor.rows / N:.3g}; its "
            f"interval is too narrow"
        )
    elif factor.rows < ROWS_FOR_ANY * N:
        notes.append(
            f"{factor.rows / N:.3g} rows a state, below {ROWS_FOR_ANY}: intervals may be too narrow"
        )
    if found.last == factor.lags - 1:
        notes.append("memory is significant up to the last lag: ask for more `lags`")
    if fit.unexplained > 0.5:
        notes.append(
            f"noise-limited at {N - fit.unexplained:.3g}: {fit.unexplained:.3g} of {N} dimensions "
            f"of the states are not explained by the last {fit.length} inputs, but by noise, "
            f"nonlinearity, or older inputs"
        )
    return notes


def _other(recording: Any, lags: int, start: int, estimator: str) -> MemoryCurve:
    """One of the estimators that people use; the recording is loaded whole."""
    pairs = list(lagged_chunks(recording, lags, start, recording.length))
    Z, X = (np.vstack(part) for part in zip(*pairs, strict=True))
    if len(X) <= X.shape[1] + 2:
        raise ValueError(
            f"`states` must have more rows than columns by at least 3 after washout and lags, got "
            f"{X.shape}; record longer or ask for fewer `lags`."
        )
    chosen = ESTIMATORS[estimator]
    values = chosen.function(X, Z)
    unknown = np.full(lags, np.nan)
    return MemoryCurve(
        lags=np.arange(lags),
        values=values,
        error=unknown,
        loss=1 - values,
        total=float(values.sum()),
        rank=None,
        channels=values[:, None],
        method=f"data: {estimator}",
        notes=(chosen.note, "no error bound: this estimator has none; the default one has"),
        options={"estimator": estimator},
        diagnostics={"rows": len(X), "states": X.shape[1]},
    )


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
        diagnostics["findings"] = [str(one) for one in findings]
    return dataclasses.replace(
        curve,
        notes=(*curve.notes, *notes),
        diagnostics=diagnostics,
        network=source.name or f"recording of {source.columns} states",
    )
