"""Pictures of one network, each with a sentence that says what to see."""

from __future__ import annotations

import math

import numpy as np

from memcurve.auditing.structure import (
    HOPELESS,
    WORST_CONDITION,
    Complexes,
    Eigenvalues,
    Floats,
    Squeezing,
)
from memcurve.auditing.usable import GIVEN, UsableMemory
from memcurve.auditing.verdict import number
from memcurve.report import Chart, Section, Series

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
        (f"{row.name.replace(GIVEN, 'given')}: {number(row.total)}", row.level)
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
