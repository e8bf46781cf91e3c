"""Numbers that are an artefact of how they were made."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from memcurve.auditing.claims.case import SCATTER, Case, Explanation
from memcurve.auditing.estimates import Estimate
from memcurve.auditing.structure import HOPELESS

#: Lengths of simulations that people choose.
ROUND_SAMPLES = (500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000, 10_000, 20_000, 50_000)
#: The excess of one simulation scatters about its mean by some of it.
EXCESS_SCATTER = 0.25
#: Totals of simulations and of ill-conditioned inverses differ by at least this, relative to them.
ROUNDING_SCATTER = 0.01


def number_of_states(case: Case) -> Iterator[Explanation]:
    """OSM and OSM+ report the number of states, whatever the memory is."""
    if case.curve.rank is None or case.curve.rank >= case.states:
        return
    text = (
        f"it is the number of states, {case.states}: OSM and OSM+ report it by construction (the "
        f"trace of a projector), and so does whoever takes theory's N; but the input drives only "
        f"{case.curve.rank} of them"
    )
    yield from case.explanation("osm", float(case.states), "as it is", text)


def usual_estimates(case: Case) -> Iterator[Explanation]:
    """What the usual ways report for this very network, as far as it repeats."""
    if not case.white:  # they were run with white input
        return
    for estimate in case.estimates:
        if estimate.key.startswith("osm"):  # the total is no measurement
            continue
        algebraic = estimate.samples is None
        if not algebraic and not _may_be_this(case, estimate):
            continue
        spread = estimate.spread if math.isfinite(estimate.spread) else 0.0
        tolerance = SCATTER * max(spread, ROUNDING_SCATTER * abs(estimate.total))
        off = abs(estimate.total - case.curve.total)
        if off <= max(case.tolerance, tolerance):  # it is right here, and explains nothing
            continue
        text = f"it is what {estimate.name} gives here, {estimate.total:.4g} ({estimate.about})"
        # a simulation has settings, which are guessed
        kind, fit = ("gramian", "as it is") if algebraic else ("simulation", "round value")
        yield from case.explanation(kind, estimate.total, fit, text, tolerance)


def _may_be_this(case: Case, estimate: Estimate) -> bool:
    """Whether what is known of the claim does not speak against this simulation."""
    return case.samples in (None, estimate.samples) and case.k_max in (None, estimate.last_lag)


def hopeless_inverse(case: Case) -> Iterator[Explanation]:
    """No sum of squares is negative, but the noise of a hopeless inverse is."""
    if case.claimed >= -case.tolerance or not case.condition > HOPELESS:
        return
    text = (
        "it is rounding noise, since memory is never negative, of a Gramian that floating point "
        "cannot invert"
    )
    yield from case.explanation("gramian", case.claimed, "as it is", text)


def few_samples(case: Case) -> Iterator[Explanation]:
    """R² on the data it was fitted to is too large, by N/T of what is missing, at every lag.

    Over lags up to k, E Σ R² ≈ Σ MC_τ + Σ (1 − MC_τ)·N/T.
    """
    told = case.samples is not None and case.k_max is not None
    above = case.claimed > case.curve.total + case.tolerance
    if not (above or told) or case.network.inputs > 1:
        return
    N = case.states
    usual = dict.fromkeys([2 * N, N, 3 * N, 5 * N, 100, 200])
    spans = [case.k_max] if case.k_max is not None else list(usual)
    for last in spans:
        lengths = [case.samples] if case.samples is not None else list(ROUND_SAMPLES)
        fitting = [
            found
            for samples in lengths
            for found in _in_sample(case, last, samples, "as it is" if told else "round value")
        ]
        yield from sorted(fitting, key=lambda one: abs(one.value - case.claimed))[:1]
    if case.samples is None:
        samples = _samples_for(case, spans[0])
        if samples is not None:
            yield from _in_sample(case, spans[0], samples, "solved for")


def _in_sample(case: Case, last: int, samples: int, fit: str) -> Iterator[Explanation]:
    found = _in_sample_total(case, last, samples)
    if found is None:
        return
    value, by_chance = found
    N = case.states
    text = (
        f"it is what R² on the training data itself gives from too few samples: {N} states fit "
        f"{N}/{samples} of any lag by chance, and lags up to {last} of {samples:,} samples add up "
        f"to about {value:.4g}"
    )
    scatter = EXCESS_SCATTER * by_chance
    usual = 1.0 if last in (case.k_max, 2 * N) else 0.5
    yield from case.explanation("few_samples", value, fit, text, scatter, usual)


def _in_sample_total(case: Case, last: int, samples: int) -> tuple[float, float] | None:
    """E Σ R² over lags 0 … last, and what of it is chance; None where there are too few samples.

    What double precision does not hold is not found by a regression either.
    """
    if samples - last <= case.states + 1:
        return None
    memory = np.zeros(last + 1)
    listed = case.curve.values[: last + 1]
    memory[: len(listed)] = listed
    held = case.usable.at("float64")
    if held is not None and held.total < case.curve.total - 1:
        memory[math.ceil(held.total) :] = 0.0
    by_chance = float((1 - memory).sum()) * case.states / samples
    return float(memory.sum()) + by_chance, by_chance


def _samples_for(case: Case, last: int) -> int | None:
    """The number of samples that gives the claimed number, by bisection."""
    low, high = last + case.states + 2, 10_000_000
    most, least = _in_sample_total(case, last, low), _in_sample_total(case, last, high)
    if most is None or least is None or not least[0] < case.claimed < most[0]:
        return None
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        value = _in_sample_total(case, last, middle)
        over = value is None or value[0] > case.claimed
        low, high = (middle, high) if over else (low, middle)
    return high
