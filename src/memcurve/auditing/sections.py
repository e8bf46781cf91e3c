"""Sections and charts of one network, each with a sentence that says what to see."""

from __future__ import annotations

import math

import numpy as np

from memcurve.auditing.structure import HOPELESS, WORST_CONDITION, Eigenvalues, Squeezing
from memcurve.auditing.usable import UsableMemory
from memcurve.report import Chart, Section, Series
from memcurve.result import Floats

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
    here, points = "", {"eigenvalues of A": found.all}
    if counting is not None and found.all_count:
        here = f", here all {len(counting)}" if len(counting) != 1 else ", here its only one"
        points = {"eigenvalues, all of which count": counting}
    elif counting is not None:
        here = f", here {len(counting)} of {len(found.all)}"
        points["those that count"] = counting
    series = tuple(Series(name, z.real.copy(), z.imag.copy()) for name, z in points.items())
    text = (
        f"The memory curve is made of the eigenvalues that the input excites{here}. The closer to "
        f"the circle, the longer the memory."
    )
    chart = Chart("Eigenvalues in the unit disc", "real part", "imaginary part", series, "disc")
    return Section("Spectrum", text, chart=chart)


def squeezing_section(found: Squeezing) -> Section:
    """How fast the Krylov vectors run out of new directions."""
    steps = np.arange(1, len(found.components) + 1, dtype=float)
    chart = Chart(
        "Krylov squeezing",
        "j",
        "new direction ‖θ_j‖ / ‖C‖",
        (Series("‖θ_j‖ / ‖C‖", steps, found.components),),
        log_y=True,
        levels=(("rounding", float(np.finfo(float).eps)),),
    )
    seen = "It stays above rounding."
    if found.below_rounding is not None:
        seen = (
            f"From j = {found.below_rounding} on it is below rounding; the Krylov matrix of 5N "
            f"columns looks to be of rank {found.numerical_rank}."
        )
    more = " or more" if found.condition >= WORST_CONDITION else ""
    works = "fail" if found.condition > HOPELESS else "can work"
    text = (
        f"How much of A^(j−1)·C leads out of the space of the inputs before it. {seen} The "
        f"correlations of the states have a condition number of {found.condition:.1e}{more}: "
        f"formulas that invert their covariance {works}."
    )
    return Section("Squeezing", text, chart=chart)


def counted(count: int, noun: str) -> str:
    """A number of things: 1 state, 2 states."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def number(value: float) -> str:
    """A total in a sentence."""
    if not math.isfinite(value):
        return "no number"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"
