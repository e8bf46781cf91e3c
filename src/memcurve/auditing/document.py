"""An audit as sentences, tables and charts."""

from __future__ import annotations

import math

import numpy as np

from memcurve.auditing.facts import Facts
from memcurve.auditing.structure import (
    HOPELESS,
    WORST_CONDITION,
    Eigenvalues,
    Squeezing,
)
from memcurve.auditing.usable import UsableMemory
from memcurve.auditing.verdict import counted, number, verdict
from memcurve.report import Chart, Document, Section, Series, Table
from memcurve.result import Complexes, Floats

#: Estimates drawn at first; the others can be switched on.
SHOWN_AT_FIRST = ("gramian_pinv", "osm", "reservoirpy")


def document(audit: Facts) -> Document:
    """What a report of the audit says."""
    sections = [
        _claim(audit),
        _memory(audit),
        _estimates(audit),
        _losses(audit),
        _usable(audit),
        spectrum_section(audit.eigenvalues),
        None if audit.squeezing is None else squeezing_section(audit.squeezing),
        _sensitivity(audit),
    ]
    versions = ", ".join(f"{name} {version}" for name, version in audit.versions.items())
    return Document(
        title=f"Memory audit: {audit.network}",
        subtitle=_subtitle(audit),
        verdict=verdict(audit),
        good=None if audit.claim is None else audit.claim.holds,
        word=_word(audit),
        figures=_figures(audit),
        sections=[section for section in sections if section is not None],
        notes=audit.notes,
        footer=f"{versions}; seed {audit.seed}.",
    )


def _word(audit: Facts) -> str:
    if audit.claim is None:
        return "Summary"
    return "The claim holds" if audit.claim.holds else "The claim does not hold"


def _subtitle(audit: Facts) -> str:
    states = f" ({counted(audit.states, 'real state')})" if audit.states != audit.size else ""
    inputs = "one input" if audit.inputs == 1 else f"{audit.inputs} inputs"
    read = "" if audit.account.read == audit.states else f", {audit.account.read} states read"
    return f"{counted(audit.size, 'node')}{states}, {inputs}{read}, input: {audit.input}"


def _figures(audit: Facts) -> list[tuple[str, str]]:
    curve = audit.curve
    error = f" ± {curve.total_error:.1g}" if curve.total_error > 0 else ""
    figures = [("total memory", f"{curve.total:.10g}{error}")]
    if audit.claim is not None:
        figures.insert(0, ("claimed", f"{audit.claim.value:.10g}"))
    figures += [
        ("rank", f"{audit.account.rank} of {audit.account.read}"),
        ("largest error of a lag", _small(float(curve.error.max()))),
        ("spectral radius", f"{audit.eigenvalues.radius:.6g}"),
    ]
    for level, words in (("0.5", "half"), ("0.1", "a tenth")):
        lag = audit.horizons[level]
        figures.append(
            (f"less than {words} from", "beyond the lags listed" if lag is None else f"lag {lag}")
        )
    return figures


def _claim(audit: Facts) -> Section | None:
    if audit.claim is None:
        return None
    rows = tuple(
        (one.kind.replace("_", " "), number(one.value), one.fit, one.text)
        for one in audit.claim.explanations
    )
    text = (
        "Ways to arrive at the number, the most likely first. One number cannot prove how it was "
        "made; what is known of k_max, samples and ridge narrows it down."
        if rows
        else "None of the known conventions and artefacts gives this number."
    )
    head = ("way", "gives", "setting", "in words")
    table = Table(head, rows, frozenset({1})) if rows else None
    return Section(f"The claimed {audit.claim.value:.10g}", text, table)


def _memory(audit: Facts) -> Section:
    curve = audit.curve
    end = max([visible_end(curve.values), *(e.last_lag for e in audit.estimates)], default=1)
    end = min(end, max(4 * audit.account.rank, 2 * visible_end(curve.values), 10), len(curve) - 1)
    lags = curve.lags[: end + 1].astype(float)
    values, error = curve.values[: end + 1], curve.error[: end + 1]
    seen = bool(error.max(initial=0.0) > INVISIBLE)
    low, high = (np.maximum(values - error, 0), values + error) if seen else (None, None)
    series = [Series("exact", lags, values, low, high)]
    for one in audit.estimates:
        shown = np.arange(one.first_lag, one.last_lag + 1, dtype=float)
        inside = shown <= end
        series.append(
            Series(
                one.name,
                shown[inside],
                np.clip(one.values[inside], -0.25, 1.5 * max(1, audit.inputs)),
                shown=one.key in SHOWN_AT_FIRST,
            )
        )
    white = audit.input == "white"
    text = (
        "The share of an input that the states hold τ steps later; the area under the curve is the "
        "total. The other curves are what the usual ways report"
        + (" (cut at −0.25 and 1.5)." if white else " for white input (cut at −0.25 and 1.5).")
    )
    chart = Chart("Memory curve", "lag τ", "memory MC_τ", tuple(series))
    return Section("Memory", text, chart=chart)


def _estimates(audit: Facts) -> Section | None:
    if not audit.estimates:
        return None
    rows = [
        (
            "exact",
            str(audit.account.rank),
            str(audit.account.rank),
            "all",
            _small(float(audit.curve.error.max())),
            "—",
            "",
        )
    ]
    for one in audit.estimates:
        rows.append(
            (
                f"{one.name}: {one.about}",
                number(one.total),
                number(one.truth),
                f"{one.first_lag}\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}{one.last_lag}",
                f"{one.largest_error:.1e}",
                f"{one.seconds:.2g} s",
                one.why,
            )
        )
    head = ("method", "total", "true sum", "lags", "off by up to", "time", "why")
    text = (
        "What would have been reported for this network, the true sum over the same lags, and how "
        "far off the worst lag is."
    )
    if audit.input != "white":
        text += " All of this is for white input."
    return Section(
        "What the usual ways say", text, Table(head, tuple(rows), frozenset({1, 2, 4, 5}))
    )


def _losses(audit: Facts) -> Section:
    account = audit.account
    rows = [
        ("states that are read", str(account.read)),
        ("reached from the input", str(account.reached)),
        ("driven independently (rank)", str(account.rank)),
    ]
    if account.rank_robust is not None:
        rows.append(("of these, beyond rounding", str(account.rank_robust)))
    if account.margin is not None:
        rows.append(("margin", _small(account.margin)))
    text = "Every state holds memory of its own."
    if account.lost > 0:
        hold = "holds no memory of its own" if account.lost == 1 else "hold no memory of their own"
        text = f"{account.lost} of {counted(account.read, 'state')} {hold}."
    if account.margin is not None:
        text += (
            f" Of those that count, the mode that is excited least would be silenced by a change "
            f"of the mask by {_small(account.margin)} of its length."
        )
    points = tuple(loss.text for loss in account.losses)
    return Section(
        "What is lost, and why", text, Table(("", ""), tuple(rows), frozenset({1})), points=points
    )


def _usable(audit: Facts) -> Section:
    usable = audit.usable
    if usable.reason:
        return Section("Usable memory", usable.reason)
    rows = tuple(
        (
            f"the noise given, {row.name}" if row.given else row.name,
            "—" if math.isnan(row.level) else f"{row.level:.1e}",
            f"{row.total:.4f}",
            _small(row.error),
            "—" if row.horizon is None else str(row.horizon),
        )
        for row in usable.rows
    )
    head = ("states read in", "noise", "usable memory", "± error", "less than half from lag")
    chart = usable_chart(usable, audit.total)
    text = (
        "Memory in directions in which the states hardly vary lies below the noise floor of the "
        "numbers they are read with. Floating point rounds each state relative to its size; "
        "converters of 16 and 12 bits are taken to span four standard deviations of the largest."
    )
    return Section("Usable memory", text, Table(head, rows, frozenset({1, 2, 3, 4})), chart)


def _sensitivity(audit: Facts) -> Section:
    rounded = audit.rounded
    largest = _small(float(audit.curve.error.max()))
    points = [f"Rounding in this computation moves no value by more than {largest}."]
    if rounded.reason:
        points.append(f"Weights in single precision: {rounded.reason}")
    else:
        same = "stays" if rounded.rank == audit.account.rank else "becomes"
        points.append(
            f"Weights rounded to single precision move the curve by up to {_small(rounded.moved)}; "
            f"the rank {same} {rounded.rank}."
        )
    return Section("Sensitivity", points=tuple(points))


def _small(value: float) -> str:
    return (
        "unknown" if math.isnan(value) else f"{value:.1e}" if 0 < value < 0.01 else f"{value:.3g}"
    )


# --- Pictures of one network, each with a sentence that says what to see.

#: Charts of memory end where less than this is left.
INVISIBLE = 1e-4
#: They hold all but this share of it.
SHARE_BEYOND = 1e-3


def visible_end(values: Floats) -> int:
    """The lag up to which nearly all memory lies; slow networks hold it in many tiny parts."""
    held = np.cumsum(values)
    share = int(np.searchsorted(held, (1 - SHARE_BEYOND) * held[-1])) if held[-1] > 0 else 0
    seen = np.flatnonzero(values >= INVISIBLE)
    end = max(share, int(seen[-1]) if len(seen) else 10)
    return min(end + 2, len(values) - 1)


def usable_chart(usable: UsableMemory, without: float) -> Chart:
    """Usable memory against noise; number formats, and the noise given, are marked."""
    marks = tuple(
        (f"{'given' if row.given else row.name}: {number(row.total)}", row.level)
        for row in usable.rows
        if not math.isnan(row.level)
    )
    return Chart(
        "Usable memory against noise",
        "noise on the states (input of variance 1)",
        "total usable memory",
        (Series("usable memory", usable.levels, usable.totals),),
        log_x=True,
        marks=marks,
        levels=((f"without noise: {number(without)}", without),),
    )


def spectrum_section(found: Eigenvalues) -> Section:
    """The eigenvalues in the unit disc, and which of them count."""
    counting = found.counting
    text = "The memory curve is made of the eigenvalues that the input excites"
    if counting is None:
        series = [_points("eigenvalues of A", found.all)]
    elif found.all_count:
        series = [_points("eigenvalues, all of which count", counting)]
        text += f", here all {len(counting)}" if len(counting) != 1 else ", here its only one"
    else:
        series = [_points("eigenvalues of A", found.all), _points("those that count", counting)]
        text += f", here {len(counting)} of {len(found.all)}"
    chart = Chart(
        "Eigenvalues in the unit disc", "real part", "imaginary part", tuple(series), "disc"
    )
    text += ". The closer to the circle, the longer the memory."
    return Section("Spectrum", text, chart=chart)


def _points(name: str, values: Complexes) -> Series:
    return Series(name, values.real.copy(), values.imag.copy())


def squeezing_section(found: Squeezing) -> Section:
    """How fast the Krylov vectors run out of new directions."""
    steps = np.arange(1, len(found.components) + 1, dtype=float)
    eps = float(np.finfo(float).eps)
    chart = Chart(
        "Krylov squeezing",
        "j",
        "new direction ‖θ_j‖ / ‖C‖",
        (Series("‖θ_j‖ / ‖C‖", steps, found.components),),
        log_y=True,
        levels=(("rounding", eps),),
    )
    seen = (
        f"From j = {found.below_rounding} on it is below rounding; the Krylov matrix of 5N columns "
        f"looks to be of rank {found.numerical_rank}."
        if found.below_rounding is not None
        else "It stays above rounding."
    )
    condition = f"{found.condition:.1e}" + (
        " or more" if found.condition >= WORST_CONDITION else ""
    )
    works = "fail" if found.condition > HOPELESS else "can work"
    seen += (
        f" The correlations of the states have a condition number of {condition}: formulas that "
        f"invert their covariance {works}."
    )
    text = f"How much of A^(j−1)·C leads out of the space of the inputs before it. {seen}"
    return Section("Squeezing", text, chart=chart)
