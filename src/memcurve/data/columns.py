"""The columns of a recording: states, or gaps, constants, clocks, copies; their number formats.

Nothing is changed but for medians in place of NaN.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.notes import counted
from memcurve.core.types import EPS, Floats
from memcurve.data.prose import Collected
from memcurve.data.stretches import Stretch, without_stuck
from memcurve.inputs.noise import floating_point_deviations

Indices = NDArray[np.int64]

#: Rows that a recording must have for any check. Doubled: 30 rows are refused.
LEAST = 20
#: Steps of a clock differ from their median by at most this share, and so many of them: it may
#: pause. Doubled, the first: steady ramps are clocks; the second: only lines are.
JITTER = 0.25
MOST_STEPS = 0.9
#: Number formats with their digits.
FORMATS = {"half": ("f2", 10), "single": ("f4", 23), "double": ("f8", 52)}


def without_gaps(
    x: Floats, z: Floats, stretches: list[Stretch], report: Collected
) -> tuple[Floats, Floats, Indices, NDArray[np.bool_]]:
    """States and input with medians in place of NaN, the columns there mostly, and whole rows."""
    recorded_gaps = np.isnan(x)
    if stretches:
        x = without_stuck(x, stretches)
    gaps = np.isnan(x)
    if not gaps.any() and not np.isnan(z).any():
        return x, z, np.arange(x.shape[1]), np.ones(len(x), bool)
    empty = 2 * gaps.sum(axis=0) > len(x)
    usable = np.flatnonzero(~empty)
    if empty.any():
        report.columns(
            "empty_columns" if len(usable) else "empty_columns.all",
            np.flatnonzero(empty),
            x.shape[1],
            what="NaN, or nothing that moves," if stretches else "NaN",
        )
    missing = recorded_gaps[:, usable].any(axis=1) | np.isnan(z)
    if missing.any():
        rows, where = len(z) - int(missing.sum()), ""
        if 2 * rows < len(z):
            worst = usable[np.argsort(-gaps[:, usable].sum(axis=0), kind="stable")]
            where = f"; most of them in the columns {report.few(worst[:3])}"
        report.add(
            "missing_rows",
            level="warning" if rows > len(usable) else "error",
            count=missing.sum(),
            rows=counted(len(z), "row"),
            first=int(missing.argmax()),
            where=where,
        )
    filled = x.copy()
    for column in usable[gaps[:, usable].any(axis=0)].tolist():  # a value that is there: steps stay
        filled[gaps[:, column], column] = _median(filled[:, column])
    filled[:, empty] = 0.0
    whole = np.asarray(~gaps[:, usable].any(axis=1))
    return filled, without_nan(z), usable.astype(np.int64), whole


def without_nan(z: Floats) -> Floats:
    """A series with its median in place of NaN."""
    gaps = np.isnan(z)
    return np.where(gaps, _median(z), z) if gaps.any() else z


def _median(series: Floats) -> float:
    values = series[~np.isnan(series)]
    return float(np.quantile(values, 0.5, method="nearest")) if len(values) else 0.0


def counts_rows(column: NDArray[Any]) -> bool:
    """Whether a column is time or the row number: its steps are equal up to digits or jitter."""
    for part in (column[:LEAST], column):  # a few rows rule out most columns
        series = part[np.isfinite(part)].astype(float)
        steps = np.diff(series)
        if not ((steps >= 0).all() or (steps <= 0).all()):
            return False
    if len(steps) < LEAST - 1 or np.count_nonzero(steps) < LEAST // 2:  # a switch, no clock
        return False
    off = abs(series - np.linspace(series[0], series[-1], len(series))).max()
    usual = np.median(steps)
    even = (abs(steps - usual) <= JITTER * abs(usual)).mean() >= MOST_STEPS
    return bool(off <= abs(steps).max() or even)


def distinct_columns(x: Floats, usable: Indices, report: Collected) -> Indices:
    """Those of ``some`` columns that vary, are no clock and no affine copy of an earlier one."""
    columns = x.shape[1]
    low, high = x.min(axis=0), x.max(axis=0)
    still = high - low <= 4 * EPS * np.maximum(abs(low), abs(high))
    constant, selected = usable[still[usable]], usable[~still[usable]]
    if len(constant):
        kind = "constant_columns" if len(selected) else "constant_columns.all"
        report.columns(kind, constant, columns)
    clocks = selected[np.array([counts_rows(x[:, column]) for column in selected], bool)]
    if len(clocks):
        selected = np.setdiff1d(selected, clocks)
        report.columns("clocks", clocks, columns)
    sample = standardised(x[:: max(1, len(x) // 2000)][:, selected])
    # 1 − |r| is quadratic in the difference: a first look only
    correlated = np.triu(abs(sample.T @ sample) > (1 - 1e-10) * len(sample), 1)
    copies = {
        int(selected[j]): int(selected[i])
        for i, j in np.argwhere(correlated)
        if _affinely_equal(x[:, selected[i]], x[:, selected[j]])
    }
    if copies:
        copy, original = min(copies.items())
        pair = {"copy": report.few([copy]), "original": report.few([original])}
        more = " …" if len(copies) > 1 else ""
        report.columns("equal_columns", sorted(copies), columns, **pair, more=more)
    return np.setdiff1d(selected, list(copies)).astype(np.int64)


def _affinely_equal(one: Floats, other: Floats) -> bool:
    """Whether two columns agree, once centred and scaled, up to the rounding of their numbers."""
    scales = [float(abs(column).max() / column.std()) for column in (one, other)]
    a, b = standardised(one), standardised(other)
    return bool(abs(a - np.sign(a @ b) * b).max() <= 32 * EPS * max(1.0, *scales))


def standardised(x: Floats) -> Floats:
    """Columns, or a series, of mean 0 and deviation 1."""
    x = x - x.mean(axis=0)
    return np.asarray(x / deviations_of(x))


def deviations_of(x: Floats) -> Floats:
    """Standard deviations; 1 for a column that has stopped varying, whose distances are then 0."""
    deviations = x.std(axis=0)
    return np.where(deviations > 0, deviations, 1.0)


def basis_of(x: Floats, rounding: float) -> tuple[Floats, Floats]:
    """An orthonormal basis of centred states above a share ``rounding``; all singular values."""
    if len(x) == 0:
        return np.empty((0, x.shape[1])), np.zeros(x.shape[1])
    q, r = np.linalg.qr(standardised(x))
    u, s, _ = np.linalg.svd(r, full_matrices=False)
    return np.ascontiguousarray(q @ u[:, s > rounding * s[0]]), np.asarray(s / np.sqrt(len(x)))


def check_storage(x: Floats, z: Floats, report: Collected) -> tuple[float, float | None]:
    """Look for quantisation and few digits: rounding, relative to the states, and step."""
    sample = x[:: max(1, len(x) // 2000)]
    distinct = len(np.unique(z))
    steps = np.array([_lattice_step(column, distinct) for column in sample.T])
    deviations = deviations_of(x)
    with np.errstate(over="ignore"):
        stored = next(n for n, (f, _) in FORMATS.items() if (sample.astype(f) == sample).all())
    rms = np.sqrt((x**2).mean(axis=0))
    errors = floating_point_deviations(rms, FORMATS[stored][1]) / deviations
    if stored != "double" and np.isnan(steps).any():
        report.add(f"{stored}_precision", error=np.median(errors))
    errors = np.where(np.isnan(steps), errors, steps / np.sqrt(12) / deviations)
    floor, stepped = float(np.sqrt((errors**2).mean())), steps > 0
    if not stepped.any():
        return floor, None
    step, error = float(steps[stepped].max()), np.median(errors[stepped])
    report.add("quantised", step=step, count=stepped.sum(), columns=len(steps), error=error)
    return floor, step


def _lattice_step(column: Floats, distinct: int) -> float:
    """The q for which all values are offset + kq, k integer; 0 for few values, NaN for no lattice.

    The smallest gap is q where values are many for their number of levels, up to some 20 bits.
    """
    values = np.unique(column)
    # States of a delay line take as many values as a discrete input has: nothing was rounded.
    if len(values) < 3 or len(values) <= distinct <= 64:
        return 0.0
    single = (values.astype("f4") == values).all()
    noise = 2 * (2.0**-23 if single else EPS) * float(abs(values).max())
    gaps = np.diff(values)
    step = float(gaps[gaps > noise].min(initial=np.inf))
    span = float(values[-1] - values[0])
    # levels as fine as that are the rounding of the format
    if not 50 * noise < step < np.inf:
        return np.nan
    for reach in np.geomspace(step, span, 20):  # longer distances make it precise
        within = values[: np.searchsorted(values, values[0] + reach, "right")] - values[0]
        step = within[-1] / max(1, round(within[-1] / step)) if within[-1] > 0 else step
    levels = np.rint((values - values[0]) / step)
    off = abs(values - values[0] - step * levels).max()
    return step if off <= 0.01 * step + noise else np.nan


def check_clipping(x: Floats, selected: Indices, report: Collected) -> None:
    """Look for columns that sit at an extreme, not zero, far more often than next to it."""
    clipped: dict[int, None] = {}  # an ordered set
    most = 0.0
    for j in selected.tolist():
        column = x[:, j]
        for extreme in (column.min(), column.max()):
            share = float((column == extreme).mean())
            # at zero is where rectifying nodes rest
            if extreme == 0 or share < 0.01 or share * len(column) < 5:
                continue
            values, counts = np.unique(column, return_counts=True)
            if extreme == values[-1]:
                counts = counts[::-1]
            # coarse steps fill the last level too, but no more than the one before it
            if len(values) >= 5 and counts[0] > 3 * counts[1] + 5:
                clipped[j] = None
                most = max(most, share)
    if clipped:
        report.columns("clipped", clipped, x.shape[1], percent=100 * most)
