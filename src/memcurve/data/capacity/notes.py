"""What one should know before quoting a capacity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memcurve.data.capacity.polynomials import Polynomials
from memcurve.data.capacity.result import Target
from memcurve.data.capacity.targets import Reach

Floats = NDArray[np.float64]

#: Kurtosis from which on an input counts as heavy-tailed: that of the Laplace law.
HEAVY_TAILS = 6.0
#: Rows per state below which the errors are unreliable.
ROWS_PER_STATE = 20
#: Capacity at the end of the lags or of the window that suggests more beyond.
AT_THE_EDGE = 0.01
#: Serial correlation is tested at these many lags and this level.
SERIAL_LAGS, SERIAL_LEVEL = 20, 1e-6


def of_inputs(inputs: Floats, polynomials: Polynomials, degree: int) -> list[str]:
    """Notes on the input alone."""
    notes = []
    centred = (inputs - inputs.mean()) / inputs.std()
    kurtosis = float((centred**4).mean())
    if kurtosis >= HEAVY_TAILS:
        notes.append(
            f"the input is heavy-tailed (kurtosis {kurtosis:.3g}): a few large values decide the "
            f"targets of higher degree, whose capacities and errors are unreliable"
        )
    if serially_dependent(centred) or serially_dependent(centred**2):
        notes.append(
            "the inputs are not independent in time, so that the targets are not orthogonal: `raw` "
            "counts some capacity under several of them; `capacity` is what independent inputs "
            "would give with the same response"
        )
    if polynomials.highest < degree:
        notes.append(
            f"the input takes {polynomials.highest + 1} values only, so that no factor of a target "
            f"has a degree above {polynomials.highest}"
        )
    return notes


def serially_dependent(series: Floats) -> bool:
    """Whether a Ljung–Box test finds correlation in time."""
    from scipy.stats import chi2

    lags = min(SERIAL_LAGS, len(series) // 4)
    series = series - series.mean()
    energy = float(series @ series)
    if lags < 1 or energy <= len(series) * 1e-12:  # e.g. the square of ±1
        return False
    rho = np.array([float(series[j:] @ series[:-j]) for j in range(1, lags + 1)]) / energy
    n = len(series)
    statistic = n * (n + 2) * float((rho**2 / (n - np.arange(1, lags + 1))).sum())
    return statistic > float(chi2.isf(SERIAL_LEVEL, lags))


def of_states(states: int, rank: int, constant: int, rows: int) -> list[str]:
    """Notes on the states."""
    notes = []
    if rank < states:
        cause = f", {constant} of them constant" if constant else ""
        notes.append(
            f"the {states} states have rank {rank}{cause}: what the others hold lies below "
            f"rounding, and the capacity is at most {rank}"
        )
    if rows < ROWS_PER_STATE * rank:
        notes.append(
            f"{rows} rows are few for {rank} states (below {ROWS_PER_STATE} a state): weak "
            f"targets are lost and errors are unreliable; record more"
        )
    return notes


def of_results(
    plan: Sequence[Reach],
    targets: Sequence[Target],
    count: Mapping[int, int],
    threshold: float,
    unexplained: float,
    error: float,
) -> list[str]:
    """Notes on what was found, and on what the choice of degrees may have missed."""
    notes = []
    by_chance = threshold * sum(count.values())
    if by_chance >= 1:
        notes.append(
            f"about {by_chance:.0f} of the {sum(count.values()):,} targets pass the cut by chance; "
            f"their capacities are small. A lower `threshold` admits fewer"
        )
    for reach in plan:
        own = [target for target in targets if target.degree == reach.degree]
        last = sum(t.capacity for t in own if t.lags[-1] == reach.lag)
        wide = sum(t.capacity for t in own if t.lags[-1] - t.lags[0] == reach.window > 0)
        if last > AT_THE_EDGE:
            notes.append(
                f"degree {reach.degree} still has a capacity of {last:.2g} at its longest lag "
                f"{reach.lag}; longer ones hold more"
            )
        if wide > AT_THE_EDGE and reach.window < reach.lag:
            notes.append(
                f"degree {reach.degree} still has a capacity of {wide:.2g} at the end of its "
                f"window {reach.window}; a wider one holds more"
            )
    if unexplained > max(3 * error, AT_THE_EDGE):
        notes.append(
            f"{unexplained:.3g} of the states' dimensions are unaccounted for: higher degrees, "
            f"longer lags, weak targets below the cut, or noise"
        )
    return notes
