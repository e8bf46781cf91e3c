"""Checks of the states alone: columns, storage, clipping, transient and rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.data.checks.findings import EPS, Finding, Floats, Indices, Level, listed
from memcurve.noise import floating_point_deviations

#: A lattice of more levels than this is the number format's own, not a converter's.
MOST_LEVELS = {np.float16: 2**10, np.float32: 2**20, np.float64: 2**30}


def distinct_columns(x: NDArray[Any], found: list[Finding]) -> Indices:
    """Columns that vary and are no affine copy of an earlier one."""
    low, high = x.min(axis=0).astype(float), x.max(axis=0).astype(float)
    constant = high - low <= 4 * EPS * np.maximum(abs(low), abs(high))
    kept = np.flatnonzero(~constant)
    if constant.any():
        message = f"{constant.sum()} of {len(low)} columns are constant: "
        message += listed(np.flatnonzero(constant))
        remedy = "leave them out, they hold nothing" if len(kept) else "record the states again"
        level: Level = "warning" if len(kept) else "error"
        found.append(Finding(level, "constant_columns", message, remedy))
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
        message = (
            f"{len(copies)} columns equal earlier ones up to scale and offset: {copy} equals "
            f"{original}" + (" …" if len(copies) > 1 else "")
        )
        remedy = f"leave out {listed(sorted(copies))}: a linear readout gains nothing from them"
        found.append(Finding("warning", "equal_columns", message, remedy))
    return np.setdiff1d(kept, list(copies)).astype(np.int64)


def _affinely_equal(one: Floats, other: Floats) -> bool:
    """Whether two columns agree, once centred and scaled, up to the rounding of their numbers."""
    scales = [float(abs(column).max() / column.std()) for column in (one, other)]
    a, b = _standardised(one), _standardised(other)
    return bool(abs(a - np.sign(a @ b) * b).max() <= 32 * EPS * max(1.0, *scales))


def _standardised(x: Floats) -> Floats:
    x = x - x.mean(axis=0)
    deviation = x.std(axis=0)
    return np.asarray(x / np.where(deviation > 0, deviation, 1.0))


def check_storage(x: Floats, z: Floats, found: list[Finding]) -> tuple[float, float | None]:
    """Look for a converter's steps and few digits: rounding, relative to the states, and step."""
    sample = x[:: max(1, len(x) // 2000)]
    letters = len(np.unique(z))
    steps = [_lattice_step(column, letters) for column in sample.T]
    deviations = x.std(axis=0)
    types: list[tuple[str, type, int]] = [("half", np.float16, 10), ("single", np.float32, 23)]
    with np.errstate(over="ignore"):
        stored = [t for t in types if np.array_equal(sample.astype(t[1]).astype(float), sample)]
    digits = stored[0][2] if stored else 52
    rounding = floating_point_deviations(np.sqrt((x**2).mean(axis=0)), digits)
    stepped = np.array([step is not None for step in steps])
    if stored and not stepped.all():
        message = f"states look stored in {stored[0][0]} precision: errors of "
        message += f"{np.median(rounding / deviations):.1e} of their standard deviations"
        remedy = "record in double precision if memory below this noise floor matters"
        found.append(Finding("info", f"{stored[0][0]}_precision", message, remedy))
    rounding = np.where(stepped, np.array([s or 0.0 for s in steps]) / np.sqrt(12), rounding)
    floor = float(np.sqrt(((rounding / deviations) ** 2).mean()))
    step = max((s for s in steps if s is not None), default=0.0)
    if step == 0:
        return floor, None
    stepped = np.array([bool(s) for s in steps])
    message = f"{stepped.sum()} of {len(steps)} columns are quantised in steps of up to {step:.4g}:"
    message += (
        f" errors of {np.median((rounding / deviations)[stepped]):.1e} of their standard deviations"
    )
    remedy = "quote the memory as that at this noise floor, or record with more bits"
    found.append(Finding("info", "quantised", message, remedy))
    return floor, step


def _lattice_step(column: Floats, letters: int) -> float | None:
    """The q for which all values are offset + kq, k integer, if above rounding; 0 for few values.

    Gaps between neighbouring values are small multiples of q, so that Euclid's algorithm on them
    does not blow up their rounding; distances from the median, longer and longer, make q precise.
    """
    values = np.unique(column)
    # States of a delay line take as many values as a discrete input has: nothing was rounded.
    if len(values) < 3 or len(values) <= letters <= 64:
        return 0.0
    with np.errstate(over="ignore"):
        kind, most = next(
            one for one in MOST_LEVELS.items() if (values.astype(one[0]) == values).all()
        )
    # decimals are multiples of their step only up to the rounding of the format they are stored in
    for eps in (EPS,) if kind is np.float64 else (EPS, 2.0**-23):
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
        for distance in distances[1:].tolist():
            step = distance / max(1, round(distance / step))
        off = abs(distances - step * np.rint(distances / step)).max()
        if off <= 0.01 * step + noise and distances[-1] <= most * step:
            return step
    return None


def check_clipping(x: NDArray[Any], kept: Indices, found: list[Finding]) -> None:
    """Look for columns that sit at an extreme far more often than next to it."""
    clipped: list[int] = []
    rectified: list[int] = []
    most = 0.0
    for j in kept:
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
                (rectified if extreme == 0 else clipped).append(int(j))
                most = max(most, share)
    if clipped:
        message = f"{len(set(clipped))} columns sit at their largest or smallest value in up to "
        message += f"{100 * most:.1f} % of the rows: clipped or saturated ("
        message += f"{listed(dict.fromkeys(clipped))})"
        remedy = "widen the recorder's range or drive the system less"
        found.append(Finding("warning", "clipped", message, remedy))
    if rectified:
        message = f"{len(set(rectified))} columns have their extreme at zero in 1 % of the rows or "
        message += f"more: rectified ({listed(dict.fromkeys(rectified))})"
        found.append(Finding("info", "rectified", message, "as it should be for rectifying nodes"))


def check_transient(
    head: Floats, body: Floats, washout: int, level: float, found: list[Finding]
) -> int:
    """Rows at the start whose Mahalanobis distance under the later rows is out of their range."""
    from scipy import stats

    length = max(5, min(25, len(head) // 40))
    count = len(head) // length
    if count < 8 or len(body) < 2 * body.shape[1]:
        return 0
    mean, deviation = body.mean(axis=0), body.std(axis=0)
    _, s, vt = np.linalg.svd(np.linalg.qr((body - mean) / deviation, mode="r"))
    whitening = vt[s > 1e-12 * s[0]].T / s[s > 1e-12 * s[0]]
    distances = (((head - mean) / deviation @ whitening) ** 2).sum(axis=1)
    blocks = np.log(distances[: count * length].reshape(count, length).mean(axis=1) + 1e-300)
    reference = blocks[count // 2 :]
    off, scatter = abs(blocks - reference.mean()), float(reference.std(ddof=1))
    # neighbouring blocks share what is remembered: that many of them are as good as independent
    steps = np.diff(reference)
    likeness = 1 - float(steps @ steps) / max(2 * len(steps) * scatter**2, 1e-300)
    freedom = np.clip(len(reference) * (1 - likeness) / (1 + likeness), 5, len(reference) / 2)
    if off[0] <= max(np.log(1.5), scatter * stats.t.isf(level / 2, freedom)):
        return 0
    # what started so far off has ended where it is no longer remarkable, one block later
    settled = np.append(off <= max(3 * scatter, np.log(1.2)), True)
    start = min(int(np.argmax(settled)) + 1, count // 2) * length
    ratio = float(np.exp((blocks[0] - reference.mean()) / 2))
    message = f"the first {start} rows have not settled: at the start the states are {ratio:.2g} "
    message += "times as far from their mean as later"
    remedy = f"drop them, e.g. with washout={washout + start}"
    found.append(Finding("warning", "transient", message, remedy))
    return start


def basis_of(x: Floats) -> tuple[Floats, Floats]:
    """An orthonormal basis of the centred states, and their singular values in deviations."""
    if len(x) == 0:
        return np.empty((0, x.shape[1])), np.zeros(x.shape[1])
    q, r = np.linalg.qr(_standardised(x))
    u, s, _ = np.linalg.svd(r, full_matrices=False)
    return np.asarray(q @ u[:, s > 8 * EPS * s[0]]), np.asarray(s / np.sqrt(len(x)))


def check_rank(x: Floats, floor: float, found: list[Finding]) -> Floats:
    """Return the basis; say whether some directions of the states are but rounding."""
    basis, s = basis_of(x)
    weak = int((s < max(3 * floor, 8 * EPS * s[0])).sum())
    if weak and len(x) > x.shape[1]:
        message = f"{weak} of {len(s)} directions of the states are not above their rounding, "
        message += f"σ_min/σ_max = {s[-1] / s[0]:.1e}"
        remedy = "what they hold is lost: quote the memory as that at this noise floor"
        found.append(Finding("warning", "rank_deficient", message, remedy))
    return basis
