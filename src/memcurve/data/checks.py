"""Checks of a recording before any memory number is computed from it.

A recording is states X (T×N) and the input z (T) that drove them, row t of X already driven by
z_t. Wrong pairing, clipping, a transient or input that repeats show in the numbers only as more or
less memory; here they are named, with the remedy. Nothing is changed.

Recordings longer than :data:`LONG` rows (or 20N) are read whole for what one pass finds (numbers
that are not finite, constant, equal and clipped columns, everything about z); the rest is checked
on as many rows: half of them the first ones, half from the middle on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.core.arguments import rectangular_array, require_limit, require_number
from memcurve.core.notes import counted
from memcurve.core.types import EPS, Floats
from memcurve.data.autocorrelation import beta_cut, correlation, fit_autoregression, ljung_box
from memcurve.data.findings import Finding, Findings, Level
from memcurve.data.prose import finding, note
from memcurve.data.stretches import Stretch, stuck_stretches, without_stuck
from memcurve.data.tails import pareto_tail
from memcurve.inputs.noise import floating_point_deviations

Indices = NDArray[np.int64]
Facts = dict[str, Any]

#: Rows of a recording that always suffice. Doubled: twice the time for long recordings.
LONG = 20_000
#: Rows that a recording must have for any of this. Doubled: 30 rows are refused.
LEAST = 20
#: Chance of a false alarm about the start, and about the alignment. Doubled: twice as many.
LEVEL = 1e-4
#: Share of it that each of the three tests of the input has: p-values of rare inputs are too small.
#: Of 20,000 series of independent spikes 2 are below, and 6 below 1e-5, three times it (measured).
INPUT_SHARE = 1 / 30
#: A clock's steps differ from their median by at most this share. Doubled: steady ramps are clocks.
JITTER = 0.25
#: Share of the steps of which that holds: a clock may pause. Doubled: only lines are clocks.
MOST_STEPS = 0.9
#: Where fewer of the rows than this share decide R², those of the largest inputs, chance is larger
#: than its law says. Doubled: leads of less than half of the largest R² pass for all inputs.
MOST_DECIDE = 0.67
#: Rows weigh at most so many times the mean in the test of alignment. Doubled: an input of 100
#: deviations, with the states that follow, hides the others.
MOST_LEVERAGE = 10.0
#: Shape of the tail of the squared input from which on its variance is hardly known: 0.67 for
#: Student's t of 3 degrees, 0.4 for 5. Doubled: nothing is said of any tail.
HEAVY = 0.7
#: Number formats with their digits; a lattice of more levels than 2 to the last number is the
#: format's own, not an AD converter's.
FORMATS = {"half": ("f2", 10, 10), "single": ("f4", 23, 20), "double": ("f8", 52, 30)}


def check_recording(
    states: ArrayLike,
    inputs: ArrayLike,
    *,
    washout: int = 0,
    level: float = LEVEL,
    names: Sequence[str] = (),
) -> Findings:
    """Look for whatever would falsify the memory computed from a recording.

    Parameters
    ----------
    states : (T, N) array
        A state a row; row t is already driven by ``inputs[t]``.
    inputs : (T,) array
        The input.
    washout : int
        Rows at the start not to look at.
    level : float
        Chance of a false alarm about the start, about the alignment, and, at most, about the input.
    names : sequence of str
        What findings call the columns, if not by their numbers.

    Notes
    -----
    *Columns.* Those that are NaN in most rows, are constant, count the rows (a clock: equal steps,
    up to rounding, or nearly equal ones) or copy another hold nothing, and are not among ``kept``.
    NaN elsewhere is taken for a row that is missing: the tests see the median there.

    *Stuck rows.* Where all states keep their values to the last digit though the input changes, ten
    times or more and longer than they rest elsewhere, the recorder hung or dropped out; the other
    tests then see the longest stretch between. The same in a single column is a gap of it.

    *Alignment.* Of independent inputs, states know nothing of those to come: R²_k of z_{t+k} on
    x_t, k > 0, is Beta(N/2, (n − 1 − N)/2) distributed, and so is R²_{−k} for inputs that have not
    reached the states yet. A lag into the future with more means that the states lead; dead lags
    0 … k − 1 mean that they are late. All shifts up to n/2 are tested, with z and z² as targets
    (intensities are even in z), clipped at their 0.5 % quantiles; of coloured z, its innovations.

    *Input.* Ljung and Box's Q over min(50, n/5) lags for z, for z² (volatility), and for z_{t+k}
    with z_t² (chaotic maps); of coloured z, for the innovations of the AR model least in BIC.

    *Transient.* Means over blocks of the Mahalanobis distance of the first rows, under mean and
    covariance of the later ones, against their scatter.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(1).standard_normal(1000)
    >>> states = np.stack([np.roll(z, k) for k in range(4)], axis=1)
    >>> print(check_recording(states[10:990], z[12:992]))
    warning: the states are late by 2 steps: they hold nothing of the input at lags 0 to 1 and \
R² = 1.00 at lag 2; take shift=2, states[2:] with inputs[:-2], unless this delay is the system's own
    """
    x, z = _validated(states, inputs, require_limit(washout, "washout"))
    level = require_number(level, "level", "above 0 and at most 0.05", lambda p: 0 < p <= 0.05)
    if broken := _not_finite(x, z, washout):
        return Findings((broken,), kept=np.arange(x.shape[1]), washout=washout)
    findings: list[Finding] = []
    stretches = stuck_stretches(x, z)
    if stretches:
        findings.append(_stuck(stretches, len(x), washout, names))
    if together := [one for one in stretches if one.column is None]:
        first, last = _longest_between(together, len(x))
        if last - first < LEAST:
            return Findings(tuple(findings), kept=np.arange(x.shape[1]), washout=washout)
        part = slice(washout + last)
        rest = check_recording(
            np.asarray(states)[part],
            np.asarray(inputs)[part],
            washout=washout + first,
            level=level,
            names=names,
        )
        settled = washout if rest.washout == washout + first else rest.washout
        return replace(rest, found=_worst_first([*findings, *rest]), washout=settled)
    x, z, some, whole = _without_gaps(x, z, names, findings, stretches)
    kept = _distinct_columns(x, some, names, findings)
    constant = np.ptp(z) <= 4 * EPS * abs(z).max()
    if constant:
        findings.append(finding("constant_input", value=z[0]))
    else:
        targets, coloured, period = _check_input(z, level, findings)
    if len(kept) == 0 or constant:
        return Findings(tuple(findings), kept=kept, washout=washout)
    rows, columns = len(x), len(kept)
    _check_length(rows, columns, findings)
    half = min(rows // 2, max(LONG, 20 * columns) // 2)
    head, body = (x[a : a + half][:, kept].astype(float) for a in (0, rows // 2))
    floor, step = _check_storage(body, z, findings)
    if not period:  # a repeated peak is no clipping
        _check_clipping(x, kept, names, findings)
    start = _check_transient(head, body, z, whole[:half], washout, level, findings)
    # of a long recording its middle, unless the input repeats: its targets cover the first period
    first, last = (start, rows) if rows < 2 * half + 2 else (rows // 2, rows // 2 + half)
    basis = _check_rank(x[first:last][:, kept].astype(float), floor, findings)
    if period:
        first, last = start, min(period, start + 2 * half)
        basis = _basis_of(x[first:last][:, kept].astype(float))[0]
    shift = _check_alignment(basis, [one[first:last] for one in targets], level, findings)
    partly = note("partly_checked", rows=rows, checked=2 * half)
    return Findings(
        _worst_first(findings),
        kept=kept,
        step=step,
        shift=shift,
        washout=washout + start,
        coloured=coloured,
        period=period,
        notes=(partly,) if rows > 2 * half + 1 else (),
    )


def _worst_first(findings: list[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda one: get_args(Level).index(one.level)))


#: Findings that are about the input, or its relation to the states.
_OF_INPUT = (
    "not_finite", "missing_rows", "constant_input", "heavy_tails", "repeated", "coloured",
    "dependent", "two_valued", "alignment_untested", "unpaired", "misaligned",
)  # fmt: skip


def merged(channels: Sequence[Findings]) -> Findings:
    """Findings of several inputs of the same states: of the states those of the first."""
    if len(channels) == 1:
        return channels[0]
    findings = [one for one in channels[0] if one.name not in _OF_INPUT]
    silent = [any(one.name == "unpaired" for one in each) for each in channels]
    leads = [each.shift < 0 for each in channels]
    # the states may well hold nothing of some inputs, if they do of others; and seem to lead one
    # that follows another
    excused: dict[str, Level] = {} if all(silent) else {"unpaired": "info"}
    if not all(lead or mute for lead, mute in zip(leads, silent, strict=True)):
        excused["misaligned"] = "warning"
    for k, each in enumerate(channels):
        for one in (one for one in each if one.name in _OF_INPUT):
            level = excused.get(one.name, one.level)
            findings.append(replace(one, level=level, message=f"input {k}: {one.message}"))
    return replace(
        channels[0],
        found=_worst_first(findings),
        coloured=any(each.coloured for each in channels),
        period=next((each.period for each in channels if each.period), None),
    )


def _validated(states: Any, inputs: Any, washout: int) -> tuple[NDArray[Any], Floats]:
    """Views of what was passed, less the washout, if it has the form of a recording."""
    x, z = _real(states, "states"), _real(inputs, "inputs")
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(
            f"`states` must be a T×N array, one state a row, got shape {x.shape}; a single node's "
            f"series is states[:, None]."
        )
    if z.ndim == 2 and z.shape[1] == 1:
        z = z[:, 0]
    if z.ndim != 1:
        raise ValueError(
            f"`inputs` must be one series of T values, got shape {z.shape}; of several inputs "
            f"pass one column after the other, e.g. inputs[:, 0]."
        )
    if len(x) != len(z):
        remedy = "cut them to the same time steps, row t of `states` being driven by inputs[t]"
        if x.shape[1] == len(z):
            remedy = "`states` seems transposed: pass states.T"
        raise ValueError(
            f"`states` and `inputs` must have a row for every time step, got {len(x)} rows of "
            f"states (shape {x.shape}) and {len(z)} inputs; {remedy}."
        )
    if len(z) - washout < LEAST:
        raise ValueError(
            f"`states` must have at least {LEAST} rows after the washout, got {len(z)} rows and a "
            f"`washout` of {washout}; leave out fewer rows, or record more, 20 a state at least."
        )
    return x[washout:], z[washout:].astype(float)


def _real(value: Any, argument: str) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"`{argument}` must be a plain array, got a masked one; cut the recording to a stretch "
            f"without masked entries and pass its .data."
        )
    array = rectangular_array(value, argument)
    if array.dtype.kind == "c":
        raise TypeError(
            f"`{argument}` must be real, got dtype {array.dtype}; read complex states through real "
            f"and imaginary parts, e.g. numpy.hstack([x.real, x.imag])."
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"`{argument}` must hold numbers, got dtype {array.dtype}; convert them first, e.g. "
            f"numpy.asarray({argument}, dtype=float)."
        )
    return array


def _few(names: Sequence[str], columns: Iterable[int]) -> str:
    """The first columns, by their names where they have some, separated by commas."""
    texts = [str(names[i] if len(names) else int(i)) for i in columns]
    return ", ".join(texts[:5]) + (" …" if len(texts) > 5 else "")


def _not_finite(x: NDArray[Any], z: Floats, washout: int) -> Finding | None:
    """An infinite number is no gap, but something that went wrong."""
    bad = np.isinf(x).any(axis=1) | np.isinf(z)
    if not bad.any():
        return None
    ends = np.concatenate([[-1], np.flatnonzero(bad), [len(z)]]) + washout
    longest = int(np.diff(ends).argmax())
    start, stop = int(ends[longest]) + 1, int(ends[longest + 1])
    facts: Facts = {"count": bad.sum(), "rows": len(z), "first": int(ends[1])}
    return finding("not_finite", **facts, start=start, stop=stop, length=stop - start)


def _stuck(stretches: list[Stretch], rows: int, washout: int, names: Sequence[str]) -> Finding:
    """What is said of stretches that do not move."""
    together = [one for one in stretches if one.column is None]
    chosen = together or stretches
    where = [f"{one.first + washout}:{one.last + washout}" for one in chosen]
    facts: Facts = {
        "where": ", ".join(where[:5]) + (" …" if len(where) > 5 else ""),
        "count": sum(one.last - one.first for one in chosen),
        "rows": rows,
    }
    if not together:
        columns = dict.fromkeys(one.column for one in stretches if one.column is not None)
        return finding("stuck.columns", columns=_few(names, columns), **facts)
    first, last = _longest_between(together, rows)
    return finding("stuck.everywhere" if last - first < LEAST else "stuck", **facts)


def _longest_between(stretches: list[Stretch], rows: int) -> tuple[int, int]:
    """The longest run of rows, from … to, in no stretch."""
    starts = [0, *(one.last for one in stretches)]
    stops = [*(one.first for one in stretches), rows]
    return max(zip(starts, stops, strict=True), key=lambda ends: ends[1] - ends[0])


def _without_gaps(
    x: NDArray[Any],
    z: Floats,
    names: Sequence[str],
    findings: list[Finding],
    stretches: list[Stretch],
) -> tuple[NDArray[Any], Floats, Indices, NDArray[np.bool_]]:
    """States and input with medians in place of NaN, the columns there mostly, and whole rows."""
    own = np.isnan(x)
    if stretches:
        x = without_stuck(x, stretches)
    gaps = np.isnan(x)
    if not gaps.any() and not np.isnan(z).any():
        return x, z, np.arange(x.shape[1]), np.ones(len(x), bool)
    empty = 2 * gaps.sum(axis=0) > len(x)
    some = np.flatnonzero(~empty)
    if empty.any():
        facts: Facts = {"count": empty.sum(), "columns": x.shape[1]}
        facts["what"] = "NaN, or nothing that moves," if stretches else "NaN"
        facts["names"] = _few(names, np.flatnonzero(empty))
        findings.append(finding("empty_columns" if len(some) else "empty_columns.all", **facts))
    missing = own[:, some].any(axis=1) | np.isnan(z)
    if missing.any():
        rows, where = len(z) - int(missing.sum()), ""
        if 2 * rows < len(z):
            worst = some[np.argsort(-gaps[:, some].sum(axis=0), kind="stable")]
            where = f"; most of them in the columns {_few(names, worst[:3])}"
        facts = {
            "count": missing.sum(),
            "rows": counted(len(z), "row"),
            "where": where,
        }
        level: Level = "warning" if rows > len(some) else "error"
        findings.append(finding("missing_rows", level=level, first=int(missing.argmax()), **facts))
    filled = x.astype(float)
    for column in some[gaps[:, some].any(axis=0)].tolist():  # a value that is there: steps stay
        filled[gaps[:, column], column] = _median(filled[:, column])
    filled[:, empty] = 0.0
    return filled, without_nan(z), some, ~gaps[:, some].any(axis=1)


def without_nan(z: Floats) -> Floats:
    """A series with its median in place of NaN."""
    gaps = np.isnan(z)
    return np.where(gaps, _median(z), z) if gaps.any() else z


def _median(series: Floats) -> float:
    known = series[~np.isnan(series)]
    return float(np.quantile(known, 0.5, method="nearest")) if len(known) else 0.0


def counts_rows(column: NDArray[Any]) -> bool:
    """Whether a column is a clock: time, or the number of the row.

    Its steps go one way, and are equal up to the rounding of what was printed, so that the column
    keeps within a step of a straight line, or nearly equal: those of a computer's clock jitter.
    """
    steps = np.diff(column[:LEAST].astype(float))
    if not ((steps >= 0).all() or (steps <= 0).all()):  # soon seen of most
        return False
    series = column[np.isfinite(column)].astype(float)
    steps = np.diff(series)
    if len(steps) < LEAST - 1 or not ((steps >= 0).all() or (steps <= 0).all()):
        return False
    if np.count_nonzero(steps) < LEAST // 2:  # a switch, no clock
        return False
    line = np.linspace(series[0], series[-1], len(series))
    middle = np.median(steps)
    even = abs(steps - middle) <= JITTER * abs(middle)
    return bool(abs(series - line).max() <= abs(steps).max() or even.mean() >= MOST_STEPS)


def _check_length(rows: int, columns: int, findings: list[Finding]) -> None:
    if rows >= 20 * columns:
        return
    kind = "perfect" if rows <= columns else "unreliable" if rows < 10 * columns else "slow"
    facts: Facts = {
        "rows": rows,
        "columns": columns,
        "ratio": rows / columns,
        "wanted": 20 * columns,
    }
    findings.append(finding(f"short.{kind}", **facts))


def _check_input(
    z: Floats, level: float, findings: list[Finding]
) -> tuple[list[Floats], bool, int | None]:
    """Targets for the test of alignment, whether the input is coloured, and its period."""
    distinct = len(np.unique(z))
    _check_tails(z, findings)
    period = _period(_clipped(z), level)
    if period:
        findings.append(finding("repeated", period=period, rows=len(z)))
        z = z[: max(period, LEAST)]  # what repeats is no further sample
    h, level = min(50, len(z) // 5), level * INPUT_SHARE
    white = _clipped(z)
    r, p = ljung_box(white, white, h)
    coloured, settled, order = p < level, True, 0
    if coloured:
        model = fit_autoregression(z, h)
        innovations, order = model.innovations(z), len(model.weights)
        innovations[:order] = 0.0  # their past is not known
        white = _clipped(innovations)
        settled = ljung_box(white[order:], white[order:], h, order)[1] >= level
        kind = "coloured" if settled else "coloured.still"
        findings.append(finding(kind, r=r[0], lags=h, p=p))
    targets = [white] if settled else []
    if distinct == 2:
        findings.append(finding("two_valued"))
    elif settled:
        square = white**2 - (white[order:] ** 2).mean()
        square[:order] = 0
        p = ljung_box(square[order:], square[order:], h)[1]
        signs = np.sign(white - np.median(white))  # of inputs that mostly rest, those that do not
        signs -= signs.mean()
        chaos = ljung_box(square[order:], signs[order:], h)[1]
        targets = [white, square]
        if min(p, chaos) < level:
            what = "later ones and squares of" if chaos < level else "squares of later and"
            series = "the innovations of the input are" if coloured else "the input is"
            findings.append(finding("dependent", series=series, what=what, p=min(p, chaos)))
            # of volatile inputs the signs are still a coin's; what the past tells is no null
            targets = [] if chaos < level or coloured else [signs]
    return targets, coloured, period


def _check_tails(z: Floats, findings: list[Finding]) -> None:
    """Say where the largest inputs are so large that the variance of the input is hardly known."""
    shape = float(pareto_tail((z - z.mean())[:, None] ** 2, len(z), len(z))[0][0])
    if shape > HEAVY:
        findings.append(finding("heavy_tails", order=2 / shape, rows=len(z)))


def _clipped(z: Floats) -> Floats:
    """z, centred, its 0.5 % largest and smallest cut back: tests hold under heavy tails too."""
    clipped = np.clip(z, *np.quantile(z, [0.005, 0.995]))
    return np.asarray(clipped - clipped.mean() if np.ptp(clipped) else z - z.mean())


def is_coloured(z: Floats) -> bool:
    """Whether an input, gaps or not, is correlated in time, by the test of the checks."""
    known = without_nan(np.where(np.isfinite(z), z, np.nan))
    white = _clipped(known) if len(z) >= LEAST else np.zeros(0)
    h = min(50, len(white) // 5)
    return bool(h) and ljung_box(white, white, h)[1] < LEVEL * INPUT_SHARE


def _period(z: Floats, level: float) -> int | None:
    """The first lag, after the correlation has died down, at which it comes back to near one.

    Bernstein's inequality keeps few large values that happen to meet from being a repetition.
    """
    n = len(z)
    last = 4 * n // 5
    energy = np.cumsum(z**2)
    lags = np.arange(1, last)
    r = correlation(z, z)[1:last] / np.sqrt(energy[n - 1 - lags] * (energy[-1] - energy[lags - 1]))
    tail, peak = np.log(n / level), float((z**2).max() / (z**2).mean())
    b, overlap = 2 * peak * tail / 3, n - lags
    cut = np.maximum((b + np.sqrt(b**2 + 8 * overlap * tail)) / (2 * overlap), 0.5)
    if abs(r[:5]).max() > 0.3:  # slow or narrow-band input nearly comes back
        cut = np.where(lags <= n // 2, np.maximum(cut, 0.98), np.inf)
    died = int(np.argmax(r < 0.5))
    back = np.flatnonzero((r >= np.minimum(cut, 0.99)) & (lags > died + 1) & (cut < 1))
    if len(back) == 0:
        return None
    first = int(back[0])  # of a rise: its top counts
    return int(lags[first + np.argmax(np.append(np.diff(r[first:]) <= 0, True))])


def _distinct_columns(
    x: NDArray[Any], some: Indices, names: Sequence[str], findings: list[Finding]
) -> Indices:
    """Those of ``some`` columns that vary, are no clock and no affine copy of an earlier one."""
    low, high = x.min(axis=0).astype(float), x.max(axis=0).astype(float)
    still = high - low <= 4 * EPS * np.maximum(abs(low), abs(high))
    constant, kept = some[still[some]], some[~still[some]]
    if len(constant):
        kind = "constant_columns" if len(kept) else "constant_columns.all"
        facts: Facts = {
            "count": len(constant),
            "columns": len(low),
            "names": _few(names, constant),
        }
        findings.append(finding(kind, **facts))
    clocks = kept[np.array([counts_rows(x[:, column]) for column in kept], bool)]
    if len(clocks):
        kept = np.setdiff1d(kept, clocks)
        facts = {
            "count": len(clocks),
            "columns": len(low),
            "names": _few(names, clocks),
        }
        findings.append(finding("clocks", **facts))
    sample = _standardised(x[:: max(1, len(x) // 2000)][:, kept].astype(float))
    # 1 − |r| is quadratic in the difference: a first look only
    alike = np.triu(abs(sample.T @ sample) > (1 - 1e-10) * len(sample), 1)
    copies = {
        int(kept[j]): int(kept[i])
        for i, j in np.argwhere(alike)
        if _affinely_equal(x[:, kept[i]].astype(float), x[:, kept[j]].astype(float))
    }
    if copies:
        copy, original = min(copies.items())
        facts = {
            "count": len(copies),
            "columns": len(low),
            "copy": _few(names, [copy]),
            "original": _few(names, [original]),
            "more": " …" if len(copies) > 1 else "",
            "names": _few(names, sorted(copies)),
        }
        findings.append(finding("equal_columns", **facts))
    return np.setdiff1d(kept, list(copies)).astype(np.int64)


def _affinely_equal(one: Floats, other: Floats) -> bool:
    """Whether two columns agree, once centred and scaled, up to the rounding of their numbers."""
    scales = [float(abs(column).max() / column.std()) for column in (one, other)]
    a, b = _standardised(one), _standardised(other)
    return bool(abs(a - np.sign(a @ b) * b).max() <= 32 * EPS * max(1.0, *scales))


def _standardised(x: Floats) -> Floats:
    x = x - x.mean(axis=0)
    return np.asarray(x / _deviations(x))


def _check_storage(x: Floats, z: Floats, findings: list[Finding]) -> tuple[float, float | None]:
    """Look for quantisation and few digits: rounding, relative to the states, and step."""
    sample = x[:: max(1, len(x) // 2000)]
    distinct = len(np.unique(z))
    steps = np.array([_lattice_step(column, distinct) for column in sample.T])
    deviations = _deviations(x)
    stored = _narrowest(sample)
    digits = FORMATS[stored][1]
    errors = floating_point_deviations(np.sqrt((x**2).mean(axis=0)), digits) / deviations
    if stored != "double" and np.isnan(steps).any():
        findings.append(finding(f"{stored}_precision", error=np.median(errors)))
    errors = np.where(np.isnan(steps), errors, steps / np.sqrt(12) / deviations)
    floor, stepped = float(np.sqrt((errors**2).mean())), steps > 0
    if not stepped.any():
        return floor, None
    step = float(steps[stepped].max())
    facts: Facts = {
        "count": stepped.sum(),
        "columns": len(steps),
        "error": np.median(errors[stepped]),
    }
    findings.append(finding("quantised", step=step, **facts))
    return floor, step


def _deviations(x: Floats) -> Floats:
    """Standard deviations; 1 for a column that has stopped varying, whose distances are then 0."""
    deviations = x.std(axis=0)
    return np.where(deviations > 0, deviations, 1.0)


def _narrowest(values: Floats) -> str:
    """The first of FORMATS that holds all of them."""
    with np.errstate(over="ignore"):
        return next(n for n in FORMATS if (values.astype(FORMATS[n][0]) == values).all())


def _lattice_step(column: Floats, distinct: int) -> float:
    """The q for which all values are offset + kq, k integer; 0 for few values, NaN for no lattice.

    Gaps between neighbouring values are small multiples of q, so that Euclid's algorithm on them
    does not blow up their rounding; distances from the median, longer and longer, make q precise.
    """
    values = np.unique(column)
    # States of a delay line take as many values as a discrete input has: nothing was rounded.
    if len(values) < 3 or len(values) <= distinct <= 64:
        return 0.0
    stored = _narrowest(values)
    # decimals are multiples of their step only up to the rounding of the format they are stored in
    for eps in (EPS,) if stored == "double" else (EPS, 2.0**-23):
        noise = 2 * eps * float(abs(values).max())
        gaps = np.diff(values)
        gaps = np.sort(gaps[gaps > noise])
        step = float(gaps[0]) if len(gaps) else 0.0
        for gap in gaps[1:64].tolist():
            while gap > max(8 * noise, 1e-4 * step):  # remainders inherit the larger ones' error
                step, gap = gap, step - gap * round(step / gap)
                gap = abs(gap)
        if step <= 20 * noise:
            continue
        distances = np.sort(abs(values - values[len(values) // 2]))  # gaps are widest in the tails
        for some in (distances[:64], distances):  # a few tell at once of most that are no lattice
            for distance in some[1:].tolist():
                step = distance / max(1, round(distance / step))
            off = abs(some - step * np.rint(some / step)).max()
            if off > 0.01 * step + noise:
                break
        else:
            if distances[-1] <= 2 ** FORMATS[stored][2] * step:
                return step
    return np.nan


def _check_clipping(
    x: NDArray[Any], kept: Indices, names: Sequence[str], findings: list[Finding]
) -> None:
    """Look for columns that sit at an extreme far more often than next to it."""
    clipped: dict[int, None] = {}  # ordered sets of columns
    rectified: dict[int, None] = {}
    most = 0.0
    for j in kept.tolist():
        column = x[:, j]
        for extreme in (column.min(), column.max()):
            share = float((column == extreme).mean())
            if share < 0.01 or share * len(column) < 5:
                continue
            values, counts = np.unique(column, return_counts=True)
            if extreme == values[-1]:
                counts = counts[::-1]
            # coarse steps fill the last level too, but no more than the one before it
            if len(values) >= 5 and counts[0] > 3 * counts[1] + 5:
                (rectified if extreme == 0 else clipped)[j] = None
                most = max(most, share)
    if clipped:
        facts: Facts = {"count": len(clipped), "names": _few(names, clipped)}
        findings.append(finding("clipped", percent=100 * most, **facts))
    if rectified:
        findings.append(finding("rectified", count=len(rectified), names=_few(names, rectified)))


def _check_transient(
    head: Floats,
    body: Floats,
    z: Floats,
    whole: NDArray[np.bool_],
    washout: int,
    level: float,
    findings: list[Finding],
) -> int:
    """Rows at the start whose Mahalanobis distance under the later rows is out of their range."""
    from scipy import stats

    length = max(5, min(25, len(head) // 40))
    count = len(head) // length
    if count < 8 or len(body) < 2 * body.shape[1]:
        return 0
    mean, deviation = body.mean(axis=0), _deviations(body)
    _, s, vt = np.linalg.svd(np.linalg.qr((body - mean) / deviation, mode="r"))
    whitening = vt[s > 1e-12 * s[0]].T / s[s > 1e-12 * s[0]]
    distances = (((head - mean) / deviation @ whitening) ** 2).sum(axis=1)
    if whole.any():  # medians in single columns are far off where columns go together
        distances[~whole] = np.median(distances[whole])
    blocks = np.log(distances[: count * length].reshape(count, length).mean(axis=1) + 1e-300)
    reference = blocks[count // 2 :]
    off, scatter = abs(blocks - reference.mean()), float(reference.std(ddof=1))
    # neighbouring blocks share what is remembered: that many of them are as good as independent
    steps = np.diff(reference)
    persistence = 1 - float(steps @ steps) / max(2 * len(steps) * scatter**2, 1e-300)
    freedom = np.clip(len(reference) * (1 - persistence) / (1 + persistence), 5, len(reference) / 2)
    if off[0] <= max(np.log(1.5), scatter * stats.t.isf(level / 2, freedom)):
        return 0
    if blocks[0] < reference.mean() and np.ptp(z[:length]) == 0:  # the input rests, and so they do
        return 0
    # what started so far off has ended where it is no longer remarkable, one block later
    settled = np.append(off <= max(3 * scatter, np.log(1.2)), True)
    start = min(int(np.argmax(settled)) + 1, count // 2) * length
    ratio = float(np.exp((blocks[0] - reference.mean()) / 2))
    findings.append(finding("transient", start=start, ratio=ratio, washout=washout + start))
    return start


def _basis_of(x: Floats) -> tuple[Floats, Floats]:
    """An orthonormal basis of the centred states, and their singular values in deviations."""
    if len(x) == 0:
        return np.empty((0, x.shape[1])), np.zeros(x.shape[1])
    q, r = np.linalg.qr(_standardised(x))
    u, s, _ = np.linalg.svd(r, full_matrices=False)
    return np.asarray(q @ u[:, s > 8 * EPS * s[0]]), np.asarray(s / np.sqrt(len(x)))


def _check_rank(x: Floats, floor: float, findings: list[Finding]) -> Floats:
    """Return the basis; say whether some directions of the states are but rounding."""
    basis, s = _basis_of(x)
    weak = int((s < max(3 * floor, 8 * EPS * s[0])).sum())
    if weak and len(x) > x.shape[1]:
        findings.append(finding("rank_deficient", weak=weak, count=len(s), ratio=s[-1] / s[0]))
    return basis


def _check_alignment(
    basis: Floats, targets: list[Floats], level: float, findings: list[Finding]
) -> int:
    """By how many steps the states are late (or lead, negative), where the input tells."""
    n, rank = basis.shape
    if not targets or n < max(LEAST, 2 * rank):
        findings.append(finding(f"alignment_untested.{'rows' if targets else 'input'}"))
        return 0
    leverage = (basis**2).sum(axis=1)
    most = MOST_LEVERAGE * rank / n
    if leverage.max() > most:  # a few rows would be the basis
        basis = np.linalg.qr(basis * np.sqrt(most / leverage.clip(most))[:, None])[0]
    reach, count = n // 2, len(targets)
    shares = np.array([_shares(basis, target, reach) for target in targets])
    cuts = np.array([_chance(s, n, rank, level / (2 * reach + 1) / count) for s in shares])
    known = shares > cuts[:, None]
    persistence = float(np.median((basis[1:] * basis[:-1]).sum(axis=0)))
    # rows that decide: as many as there are for Gaussian input, a few for rare or large ones
    deciding = 3 * float((targets[0] ** 2).sum() ** 2 / (targets[0] ** 4).sum())
    if persistence > 0.8:
        # The basis was made with later rows too: slow states seem to foresee a little of what is
        # about to come. Those that really lead hold far more of the input they saw last.
        known[:, :reach] &= shares[:, :reach] > np.maximum(2 * cuts[:, None], 0.3 * shares.max())
    elif deciding < MOST_DECIDE * n:
        # a few large inputs that meet others of the past by chance are foretold by them, a little
        known[:, :reach] &= shares[:, :reach] > 0.5 * shares.max()
    alive = np.flatnonzero(known.any(axis=0)) - reach
    if len(alive) == 0:
        best = int(shares.max(axis=1).argmax())
        # few rows, or memory spread thin over many lags, show nothing at any single one
        window = max(1, reach // 8)
        sums = [np.convolve(share, np.ones(window), "valid") for share in shares]
        thin = any(one[reach] > 1.5 * one[: reach - window].max() for one in sums)
        sure = not thin and min(n, deciding) >= max(300, 20 * (1 + persistence) / (1 - persistence))
        facts: Facts = {"largest": shares[best].max(), "chance": cuts[best]}
        findings.append(finding("unpaired", level="error" if sure else "info", **facts))
        return 0
    k = int(alive[0])
    if k > 0:
        # a weak lag before the first sure one counts as alive where chance is rarely so large
        loose = np.array([_chance(s, n, rank, 1e-3 / k / count) for s in shares])
        weak = np.flatnonzero((shares[:, reach : reach + k] > loose[:, None]).any(axis=0))
        k = int(weak[0]) if len(weak) else k
    largest = float(shares[:, reach + k].max())
    facts = {"k": abs(k), "steps": counted(abs(k), "step"), "r2": largest}
    if k < 0:
        findings.append(finding("misaligned.lead", chance=cuts.max(), **facts))
    elif k > 0:
        dead = "lag 0" if k == 1 else f"lags 0 to {k - 1}"
        findings.append(finding("misaligned.late", dead=dead, **facts))
    return k


def _chance(shares: Floats, n: int, rank: int, level: float) -> float:
    """The R² that chance exceeds at ``level``: Beta's, or a wider one where the far future is.

    Of rare or heavy-tailed inputs a few rows decide R², which then scatters more than Beta. No
    state knows the far future, so its R² show by how much.
    """
    from scipy import stats

    far = shares[: max(2, len(shares) // 4)]
    mean, size = float(far.mean()), (n - 1) / 2
    spread = mean * (1 - mean) / max(float(far.var()), EPS) - 1
    cuts = [beta_cut(rank, n, level)]
    if 0 < spread < size:
        cuts.append(stats.beta.isf(level, mean * spread, (1 - mean) * spread))
        cuts.append(mean + 1.5 * (far.max() - mean))
    return float(max(cuts))


def _shares(basis: Floats, target: Floats, reach: int) -> Floats:
    """R² of target_{t−τ} on the states for τ = −reach … reach, from one correlation a direction.

    R²_τ = Σ_j (Σ_t Q_tj y_{t−τ})² / Σ_t y²_{t−τ}, sums over the rows where both are known.
    """
    from scipy.signal import fftconvolve

    middle = len(target) - 1  # lag 0
    power = np.zeros(2 * reach + 1)
    for first in range(0, basis.shape[1], 64):
        sums = fftconvolve(basis[:, first : first + 64], target[::-1, None], axes=0)
        power += (sums[middle - reach : middle + reach + 1] ** 2).sum(axis=1)
    energy = np.concatenate([[0.0], np.cumsum(target**2)])
    past = energy[-1 - np.arange(reach + 1)]  # lag τ: the last τ targets are not used
    future = energy[-1] - energy[np.arange(1, reach + 1)]
    # slow states weigh some rows more: by chance R² is their mean leverage, here made the same
    weight = np.concatenate([[0.0], np.cumsum((basis**2).sum(axis=1))])
    counts = np.arange(len(target), len(target) - reach - 1, -1)
    early, late = weight[counts] / counts, (weight[-1] - weight[: reach + 1]) / counts
    scale = np.concatenate([early[:0:-1], late]) * len(target) / basis.shape[1]
    return np.asarray(power / np.maximum(np.concatenate([future[::-1], past]) * scale, EPS))
