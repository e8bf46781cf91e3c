"""Checks of a recording before any memory number is computed from it.

A recording is states X (T×N) and the input z (T) that drove them, row t of X already driven by
z_t. Wrong pairing, clipping, a transient or input that repeats show in the numbers only as more or
less memory; here they are named, with the remedy. No data are changed.

Recordings longer than :data:`LONG` rows (or 20N) are read whole for what one pass finds (numbers
that are not finite, constant, equal and clipped columns, everything about z); the rest is checked
on as many rows: half of them the first ones, half from the middle on.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.core.arguments import require_limit
from memcurve.core.notes import counted
from memcurve.core.types import EPS, TINY, Floats
from memcurve.data import columns
from memcurve.data.autocorrelation import beta_cut, correlation, fit_autoregression, ljung_box
from memcurve.data.findings import Findings, Level
from memcurve.data.prose import Collected, fault, note, shortened
from memcurve.data.stretches import Stretch, stuck_stretches
from memcurve.data.tails import pareto_tail
from memcurve.io import open_recording

#: Rows of a recording that always suffice. Doubled: twice the time for long recordings.
LONG = 20_000
#: Chance of a false alarm about the start, and about the alignment. Doubled: twice as many.
LEVEL = 1e-4
#: The same for each of the three tests of the input: p-values of rare inputs are too small. Of
#: 20,000 series of independent spikes 2 are below, and 6 below 1e-5 (measured).
INPUT_LEVEL = LEVEL / 30
#: Where fewer of the rows than this share decide R², those of the largest inputs, chance is larger
#: than its law says. Doubled: leads of less than half of the largest R² pass for all inputs.
MOST_DECIDE = 0.67
#: Rows weigh at most so many times the mean in the test of alignment. Doubled: an input of 100
#: deviations, with the states that follow, hides the others.
MOST_LEVERAGE = 10.0
#: Shape of the tail of the squared input from which on its variance is hardly known: 0.67 for
#: Student's t of 3 degrees, 0.4 for 5. Doubled: no tail is reported.
HEAVY = 0.7
#: An input that is held changes so often at least: fewer changes are a multiple of two rows apart
#: by chance. Doubled: shorter recordings of held input are reported as coloured.
LEAST_CHANGES = 20


def check_recording(
    states: ArrayLike, inputs: ArrayLike, *, washout: int = 0, names: Sequence[str] = ()
) -> Findings:
    """Check a recording for problems that would bias its memory.

    Parameters
    ----------
    states : (T, N) array
        One row per time step; row t is already driven by ``inputs[t]``.
    inputs : (T,) or (T, d) array
        The input, or several.
    washout : int
        Rows at the start to skip.
    names : sequence of str
        Names of the columns in findings; their numbers by default.

    Notes
    -----
    *Columns* that are NaN in most rows, are constant, count the rows or copy another are not among
    ``kept``. The tests and their levels: docs/theory/data_estimation.md.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.random.default_rng(1).standard_normal(1000)
    >>> states = np.stack([np.roll(z, k) for k in range(4)], axis=1)
    >>> print(check_recording(states[10:990], z[12:992]))
    warning: the states are late by 2 steps: no significant R² at lags 0 to 1, R² = 1.00 at lag 2; \
take shift=2, states[2:] with inputs[:-2], unless this delay is the system's own
    """
    source = open_recording(states, inputs)
    require_limit(washout, "washout")
    return checked(*next(iter(source.chunks(source.length))), washout, names)


def checked(x: Floats, z: Floats, washout: int = 0, names: Sequence[str] = ()) -> Findings:
    """The same for valid arguments."""
    if len(z) - washout < columns.LEAST:
        raise ValueError(fault("few_rows", least=columns.LEAST, rows=len(z), washout=washout))
    return _merged([_of_one_input(x, one, washout, names) for one in z.reshape(len(z), -1).T])


def _of_one_input(all_x: Floats, all_z: Floats, washout: int, names: Sequence[str]) -> Findings:
    """Findings about the states, and one of their inputs."""
    x, z, report = all_x[washout:], all_z[washout:], Collected(names)
    nothing_else = Findings((), kept=np.arange(x.shape[1]), washout=washout)
    _check_finite(x, z, washout, report)
    if report:
        return replace(nothing_else, found=tuple(report))
    stretches = stuck_stretches(x, z)
    if together := [one for one in stretches if one.column is None]:
        first, last = _longest_between(together, len(x))
        suffices = last - first >= columns.LEAST
        _say_stuck("stuck" if suffices else "stuck.everywhere", together, len(x), washout, report)
        if not suffices:
            return replace(nothing_else, found=tuple(report))
        part, start = slice(washout + last), washout + first
        rest = _of_one_input(all_x[part], all_z[part], start, names)
        report += rest
        settled = washout if rest.washout == start else rest.washout
        return replace(rest, found=report.worst_first(), washout=settled)
    if stretches:
        _say_stuck("stuck.columns", stretches, len(x), washout, report)
    x, z, usable, whole = columns.without_gaps(x, z, stretches, report)
    selected = columns.distinct_columns(x, usable, report)
    constant = np.ptp(z) <= 4 * EPS * abs(z).max()
    if constant:
        report.add("constant_input", value=z[0])
    else:
        targets, coloured, period = _check_input(z, washout, report)
    if len(selected) == 0 or constant:
        return Findings(tuple(report), kept=selected, washout=washout)
    rows, width = len(x), len(selected)
    if rows < 20 * width:
        kind = "perfect" if rows <= width else "unreliable" if rows < 10 * width else "slow"
        wanted, ratio = 20 * width, rows / width
        report.add(f"short.{kind}", rows=rows, columns=width, ratio=ratio, wanted=wanted)
    half = min(rows // 2, max(LONG, 20 * width) // 2)
    head, body = (x[a : a + half][:, selected] for a in (0, rows // 2))
    floor, step = columns.check_storage(body, z, report)
    if not period:  # a repeated peak is no clipping
        columns.check_clipping(x, selected, report)
    start = _check_transient(head, body, z, whole[:half], washout, report)
    # of a long recording its middle, unless the input repeats: its targets cover the first period
    first, last = (start, rows) if rows < 2 * half + 2 else (rows // 2, rows // 2 + half)
    basis = _check_rank(x[first:last][:, selected], floor, report)
    if period:
        first, last = start, min(period, start + 2 * half)
        basis = columns.basis_of(x[first:last][:, selected], 8 * EPS)[0]
    shift = _check_alignment(basis, [one[first:last] for one in targets], report)
    partly = note("partly_checked", rows=rows, checked=2 * half)
    return Findings(
        report.worst_first(),
        kept=selected,
        step=step,
        shift=shift,
        washout=washout + start,
        coloured=coloured,
        period=period,
        notes=(partly,) if rows > 2 * half + 1 else (),
    )


#: Findings about the input, or its relation to the states.
_OF_INPUT = (
    "not_finite", "missing_rows", "constant_input", "heavy_tails", "held", "repeated", "coloured",
    "dependent", "alignment_untested", "unpaired", "misaligned",
)  # fmt: skip


def _merged(channels: Sequence[Findings]) -> Findings:
    """Findings of several inputs of the same states: of the states those of the first."""
    if len(channels) == 1:
        return channels[0]
    report = Collected()
    report += [one for one in channels[0] if one.name not in _OF_INPUT]
    unrelated = [any(one.name == "unpaired" for one in findings) for findings in channels]
    # states that remember some inputs need not remember all; and they seem to lead an input that
    # follows another
    excused: dict[str, Level] = {} if all(unrelated) else {"unpaired": "info"}
    if not all(one.shift < 0 or mute for one, mute in zip(channels, unrelated, strict=True)):
        excused["misaligned"] = "warning"
    for k, findings in enumerate(channels):
        for one in (one for one in findings if one.name in _OF_INPUT):
            level = excused.get(one.name, one.level)
            report.append(replace(one, level=level, message=f"input {k}: {one.message}"))
    return replace(
        channels[0],
        found=report.worst_first(),
        coloured=any(findings.coloured for findings in channels),
        period=next((findings.period for findings in channels if findings.period), None),
    )


def _check_finite(x: Floats, z: Floats, washout: int, report: Collected) -> None:
    """Report infinite numbers, which unlike NaN are not gaps but overflow."""
    bad = np.isinf(x).any(axis=1) | np.isinf(z)
    if bad.any():
        ends = np.concatenate([[-1], np.flatnonzero(bad), [len(z)]]) + washout
        longest = int(np.diff(ends).argmax())
        start, stop = int(ends[longest]) + 1, int(ends[longest + 1])
        facts: dict[str, Any] = {"start": start, "stop": stop, "length": stop - start}
        facts["first"] = int(ends[1])
        report.add("not_finite", count=bad.sum(), rows=len(z), **facts)


def _say_stuck(
    kind: str, stretches: list[Stretch], rows: int, washout: int, report: Collected
) -> None:
    stuck = dict.fromkeys(one.column for one in stretches if one.column is not None)
    report.add(
        kind,
        where=shortened(f"{one.first + washout}:{one.last + washout}" for one in stretches),
        count=sum(one.last - one.first for one in stretches),
        rows=rows,
        columns=report.few(stuck),
    )


def _longest_between(stretches: list[Stretch], rows: int) -> tuple[int, int]:
    """The longest run of rows, from … to, in no stretch."""
    starts = [0, *(one.last for one in stretches)]
    stops = [*(one.first for one in stretches), rows]
    return max(zip(starts, stops, strict=True), key=lambda ends: ends[1] - ends[0])


def _check_input(
    z: Floats, washout: int, report: Collected
) -> tuple[list[Floats], bool, int | None]:
    """Targets for the test of alignment, whether the input is coloured, and its period."""
    distinct = len(np.unique(z))
    # a tail of the squares, where the variance of the input is hardly known; few values have none
    shape = float(pareto_tail((z - z.mean())[:, None] ** 2, len(z), len(z))[0][0])
    if shape > HEAVY and distinct > columns.LEAST:
        report.add("heavy_tails", order=2 / shape, rows=len(z))
    if _check_held(z, washout, report):
        return [], True, None
    period = _period(_clipped(z))
    if period:
        report.add("repeated", period=period, rows=len(z))
        z = z[: max(period, columns.LEAST)]  # what repeats is no further sample
    h = min(50, len(z) // 5)
    white = _clipped(z)
    r, p = ljung_box(white, white, h)
    coloured, settled = p < INPUT_LEVEL, True
    # correlation too weak for that test would still be a lead of the states: innovations have none
    model = fit_autoregression(z if coloured else white, h)
    innovations, order = model.innovations(z if coloured else white), len(model.weights)
    if order:
        innovations[:order] = 0.0  # their past is not known
        white = _clipped(innovations)
    if coloured:
        settled = ljung_box(white[order:], white[order:], h, order)[1] >= INPUT_LEVEL
        report.add("coloured" if settled else "coloured.still", r=r[0], lags=h, p=p)
    targets = [white] if settled else []
    if settled and distinct > 2:  # the square of two values is one
        square = white**2 - (white[order:] ** 2).mean()
        square[:order] = 0
        p = ljung_box(square[order:], square[order:], h)[1]
        signs = np.sign(white - np.median(white))  # of inputs that mostly rest, those that do not
        signs -= signs.mean()
        chaos = ljung_box(square[order:], signs[order:], h)[1]
        targets = [white, square]
        if min(p, chaos) < INPUT_LEVEL:
            chaotic = chaos < INPUT_LEVEL
            relation = "later ones and squares of" if chaotic else "squares of later and"
            series = "the innovations of the input are" if coloured else "the input is"
            report.add("dependent", series=series, what=relation, p=min(p, chaos))
            # signs of volatile inputs are still random; what the past predicts is no null model
            targets = [] if chaotic or coloured else [signs]
    return targets, coloured, period


def _check_held(z: Floats, washout: int, report: Collected) -> bool:
    """Whether each value is repeated, as by sample and hold: it changes every k rows only."""
    changes = np.flatnonzero(np.diff(z)) + 1  # the first row of each value but the first
    if len(changes) < LEAST_CHANGES:
        return False
    k = int(np.gcd.reduce(np.diff(changes)))
    if k > 1:
        first = (int(changes[0]) + washout) % k
        report.add("held", k=k, start=f"rows='{first}:' and " if first else "")
    return k > 1


def _clipped(z: Floats) -> Floats:
    """z, centred, its 0.5 % largest and smallest cut back: tests hold under heavy tails too."""
    clipped = np.clip(z, *np.quantile(z, [0.005, 0.995]))
    return np.asarray(clipped - clipped.mean() if np.ptp(clipped) else z - z.mean())


def is_coloured(z: Floats) -> bool:
    """Whether an input, gaps or not, is correlated in time, by the test of the checks."""
    filled = columns.without_nan(np.where(np.isfinite(z), z, np.nan))
    white = _clipped(filled) if len(z) >= columns.LEAST else np.zeros(0)
    h = min(50, len(white) // 5)
    return bool(h) and ljung_box(white, white, h)[1] < INPUT_LEVEL


def _period(z: Floats) -> int | None:
    """The first lag, after the correlation has died down, at which it is near one beyond chance."""
    n = len(z)
    last = 4 * n // 5
    energy = np.cumsum(z**2)
    lags = np.arange(1, last)
    r = correlation(z, z)[1:last] / np.sqrt(energy[n - 1 - lags] * (energy[-1] - energy[lags - 1]))
    tail, peak = np.log(n / LEVEL), float((z**2).max() / (z**2).mean())
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


def _check_transient(
    head: Floats, body: Floats, z: Floats, whole: NDArray[np.bool_], washout: int, report: Collected
) -> int:
    """Rows at the start whose Mahalanobis distance under the later rows is out of their range."""
    from scipy import stats

    length = max(5, min(25, len(head) // 40))
    count = len(head) // length
    if count < 8 or len(body) < 2 * body.shape[1]:
        return 0
    mean, deviation = body.mean(axis=0), columns.deviations_of(body)
    _, s, vt = np.linalg.svd(np.linalg.qr((body - mean) / deviation, mode="r"))
    significant = s > max(1e-12 * s[0], TINY)
    whitening = vt[significant].T / s[significant]
    first, later = (
        (((part - mean) / deviation @ whitening) ** 2).sum(axis=1) for part in (head, body)
    )
    if whole.any():  # medians in single columns are far off where columns go together
        first[~whole] = np.median(first[whole])
    blocks, others = (
        np.log(part[: count * length].reshape(count, length).mean(axis=1) + TINY)
        for part in (first, later)
    )
    reference = blocks[count // 2 :]
    # rare inputs may all lie in one of the two
    off, scatter = abs(blocks - reference.mean()), float(max(reference.std(ddof=1), others.std()))
    # neighbouring blocks share what is remembered: that many of them are as good as independent
    steps = np.diff(reference)
    persistence = 1 - float(steps @ steps) / max(2 * len(steps) * scatter**2, TINY)
    freedom = np.clip(len(reference) * (1 - persistence) / (1 + persistence), 5, len(reference) / 2)
    if off[0] <= max(np.log(1.5), scatter * stats.t.isf(LEVEL / 2, freedom)):
        return 0
    if blocks[0] < reference.mean() and np.ptp(z[:length]) == 0:  # the input rests, and so they do
        return 0
    centred = z - z.mean()
    size = abs(centred)
    is_rare = _effective_rows(centred) < MOST_DECIDE * len(z)
    if is_rare and size[:length].max() >= np.quantile(size, 0.99):
        return 0  # of heavy tails one of the largest inputs is there
    # what started so far off has ended where it is no longer remarkable, one block later
    settled = np.append(off <= max(3 * scatter, np.log(1.2)), True)
    start = min(int(np.argmax(settled)) + 1, count // 2) * length
    ratio = float(np.exp((blocks[0] - reference.mean()) / 2))
    report.add("transient", start=start, ratio=ratio, washout=washout + start)
    return start


def _check_rank(x: Floats, floor: float, report: Collected) -> Floats:
    """Return the basis; say whether some directions of the states are but rounding."""
    basis, s = columns.basis_of(x, 8 * EPS)
    weak = int((s < max(3 * floor, 8 * EPS * s[0])).sum())
    if weak and len(x) > x.shape[1]:
        report.add("rank_deficient", weak=weak, count=len(s), ratio=s[-1] / s[0])
    return basis


def _check_alignment(basis: Floats, targets: list[Floats], report: Collected) -> int:
    """The delay of the states in steps (negative if they lead), as far as the input shows it."""
    n, rank = basis.shape
    if not targets or n < max(columns.LEAST, 2 * rank):
        report.add(f"alignment_untested.{'rows' if targets else 'input'}")
        return 0
    leverage = (basis**2).sum(axis=1)
    most = MOST_LEVERAGE * rank / n
    if leverage.max() > most:  # a few rows would be the basis
        basis = np.linalg.qr(basis * np.sqrt(most / leverage.clip(most))[:, None])[0]
    reach, count = n // 2, len(targets)
    r2 = np.array([_r2_by_lag(basis, target, reach) for target in targets])
    cuts = np.array([_chance(one, n, rank, LEVEL / (2 * reach + 1) / count) for one in r2])
    exceeds = r2 > cuts[:, None]
    persistence = float(np.median((basis[1:] * basis[:-1]).sum(axis=0)))
    effective = _effective_rows(targets[0])
    if persistence > 0.8:
        # The basis was made with later rows too: slow states seem to foresee a little of what is
        # about to come. Those that really lead hold far more of the input they saw last.
        exceeds[:, :reach] &= r2[:, :reach] > np.maximum(2 * cuts[:, None], 0.3 * r2.max())
    elif effective < MOST_DECIDE * n:
        # a few large inputs that meet others of the past by chance are foretold by them, a little
        exceeds[:, :reach] &= r2[:, :reach] > 0.5 * r2.max()
    alive = np.flatnonzero(exceeds.any(axis=0)) - reach
    if len(alive) == 0:
        best = int(r2.max(axis=1).argmax())
        # few rows, or memory spread thin over many lags, show nothing at any single one
        window = max(1, reach // 8)
        sums = [np.convolve(one, np.ones(window), "valid") for one in r2]
        thin = any(one[reach] > 1.5 * one[: reach - window].max() for one in sums)
        sure = not thin and min(n, effective) >= max(
            300, 20 * (1 + persistence) / (1 - persistence)
        )
        level: Level = "error" if sure else "info"
        report.add("unpaired", level=level, largest=r2[best].max(), chance=cuts[best])
        return 0
    k = int(alive[0])
    if k > 0:
        # a weak lag before the first sure one counts as alive where chance is rarely so large
        loose = np.array([_chance(one, n, rank, 1e-3 / k / count) for one in r2])
        weak = np.flatnonzero((r2[:, reach : reach + k] > loose[:, None]).any(axis=0))
        k = int(weak[0]) if len(weak) else k
    facts: dict[str, Any] = {"k": abs(k), "steps": counted(abs(k), "step")}
    facts["r2"] = float(r2[:, reach + k].max())
    if k < 0:
        report.add("misaligned.lead", chance=cuts.max(), **facts)
    elif k > 0:
        report.add("misaligned.late", dead="lag 0" if k == 1 else f"lags 0 to {k - 1}", **facts)
    return k


def _effective_rows(z: Floats) -> float:
    """Rows that decide a sum of squares: all for Gaussian input, few for rare or large ones."""
    return 3 * float((z**2).sum() ** 2 / (z**4).sum())


def _chance(r2: Floats, n: int, rank: int, level: float) -> float:
    """The R² that chance exceeds at ``level``: Beta's, or a wider one where the far future is.

    Of rare or heavy-tailed inputs a few rows decide R², which then scatters more than Beta. No
    state knows the far future, so its R² show by how much.
    """
    from scipy import stats

    far = r2[: max(2, len(r2) // 4)]
    mean, size = float(far.mean()), (n - 1) / 2
    spread = mean * (1 - mean) / max(float(far.var()), EPS) - 1
    cuts = [beta_cut(rank, n, level)]
    if 0 < spread < size:
        cuts.append(stats.beta.isf(level, mean * spread, (1 - mean) * spread))
        cuts.append(mean + 1.5 * (far.max() - mean))
    return float(max(cuts))


def _r2_by_lag(basis: Floats, target: Floats, reach: int) -> Floats:
    """R² of target_{t−τ} on states, τ = −reach … reach: Σ_j (Σ_t Q_tj y_{t−τ})² / Σ_t y²_{t−τ}."""
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
