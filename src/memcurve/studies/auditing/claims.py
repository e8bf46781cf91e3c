"""The convention or artefact that explains a claimed number.

Every recogniser is a function of the :class:`ClaimContext` that yields the explanations that fit.
One number cannot prove how it was made: they are ranked by how likely they are to give it.
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError, rank_among_notes
from memcurve.core.types import Floats
from memcurve.memory import MemoryCurve, noise_profile
from memcurve.network import LinearNetwork
from memcurve.studies.auditing.estimates import Estimate
from memcurve.studies.auditing.sentences import say
from memcurve.studies.auditing.usable import UsableMemory

#: Numbers are compared to this relative accuracy at best, whatever digits were given.
BEST_PRECISION = 1e-6

#: How an explanation came to fit: nothing was chosen, a round value of some setting was found to
#: fit, or the setting was solved for; and the share of all settings that this leaves.
FITS = {"as it is": 1.0, "round value": 1 / 30, "solved for": 0.1}
#: How usual a kind of number is, relative to a plain cut-off: guesses, which only rank what fits
#: equally well.
USUAL = {"simulation": 6.0, "ridge": 0.3, "noise": 0.3, "number_format": 0.2}
#: Numbers that scatter are taken to stay within this many standard deviations.
SCATTER = 3.0


@dataclass(frozen=True)
class Explanation:
    """One explanation of a claimed number.

    ``value`` is the predicted number, ``tolerance`` how far a number obtained so may be off.
    ``fit`` is one of ``FITS``; ``likelihood`` is how usual such numbers are, times the share of
    settings that the fit leaves, times the chance that one is rounded to the claimed digits.
    """

    kind: str
    value: float
    tolerance: float
    fit: str
    likelihood: float
    text: str


@dataclass(frozen=True)
class Claim:
    """A claimed total, judged: ``value``, and half a unit of its last digit, ``tolerance``.

    ``holds`` is whether it is the total memory, lag 0 or not, or the sum up to the lag that was
    said, or the usable memory under the noise that was given; None where the network is too large
    to decide, and the claim is possible. ``explanations`` are possible ones, the most likely first.
    The true total without noise is between ``least`` and ``most``: both are it, where it is known.
    """

    value: float
    tolerance: float
    holds: bool | None
    explanations: tuple[Explanation, ...]
    least: float = float("nan")
    most: float = float("nan")

    @property
    def explanation(self) -> Explanation | None:
        """The most likely one."""
        return self.explanations[0] if self.explanations else None


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on the memory without noise of a network that is too large for its curve.

    Noise never adds memory: usable memory is a lower bound, at each lag (``held``) and in all
    (``least``); the rank, or what the wiring allows it to be, is an upper one (``most``).
    """

    least: float
    most: float
    held: Floats

    def over(self, first: int, last: int | None, inputs: int) -> tuple[float, float]:
        """Bounds of the sum over lags first … last, or all from the first on."""
        held = float(self.held[first : None if last is None else last + 1].sum())
        if last is not None:
            return held, min(float(inputs * (last + 1 - first)), self.most)
        return max(self.least - inputs * first, held), self.most - float(self.held[:first].sum())

    def start(self, network: LinearNetwork, rank: int, tolerance: float) -> MemoryCurve:
        """The curve as far as its sum is known to ``tolerance``; ``rank`` is an upper bound."""
        inputs = network.inputs
        missing = np.cumsum(inputs - self.held)
        values = self.held[: int(np.searchsorted(missing, tolerance))]
        return MemoryCurve(
            lags=np.arange(len(values)),
            values=values,
            error=inputs - values,
            loss=inputs - values,
            total=self.most if math.isfinite(self.most) else float(rank),
            rank=rank,
            channels=values[:, None],
            method="exact",
        )


@dataclass(frozen=True, eq=False)
class ClaimContext:
    """A claimed total of a network, and what is known about either."""

    claimed: float
    tolerance: float  # half a unit of the last digit
    network: LinearNetwork
    curve: MemoryCurve  # exact, for the input in question; its start where there are bounds only
    estimates: tuple[Estimate, ...]
    usable: UsableMemory
    input: Any = None  # None for white
    # how the number was made, where it is known
    k_max: int | None = None
    samples: int | None = None
    ridge: float | None = None
    input_variance: float | None = None
    bounds: Bounds | None = None  # where the network is too large for its curve

    @property
    def states(self) -> int:
        """Number of states that are read."""
        return self.network.read_states

    @property
    def cut(self) -> bool:
        """Whether the largest lag is known, and memory is left beyond it."""
        return self.k_max is not None and self._is_left_after(self.k_max + 1)

    @property
    def whole(self) -> bool:
        """Whether the listed lags hold all of the memory, up to the digits of the claim."""
        return not self._is_left_after(len(self.curve))

    def _is_left_after(self, lags: int) -> bool:
        held = float(self.sums[min(lags, len(self.sums) - 1)])
        return self.curve.total - held > self.tolerance

    @cached_property
    def sums(self) -> Floats:
        """Memory of the first k lags, k = 0, 1, …, as far as the curve goes."""
        return np.concatenate([[0.0], np.cumsum(self.curve.values)])

    def matches(self, value: float, tolerance: float = 0.0) -> bool:
        """Whether the claimed number is ``value``, up to its own digits and ``tolerance``."""
        return abs(self.claimed - value) <= max(self.tolerance, tolerance)

    def explanation(
        self, kind: str, value: float, fit: str, sentence: str = "", *,
        tolerance: float = 0.0, share: float = 1.0, **facts: Any,
    ) -> Iterator[Explanation]:  # fmt: skip
        """The explanation, if it fits: numbers scatter by ``tolerance``, ``share`` is how usual."""
        if not self.matches(value, tolerance):
            return
        chance = 1.0
        if fit == "solved for":  # it could have been any number
            chance = 2 * self.tolerance / max(1.0, self.curve.total, abs(self.claimed))
        elif tolerance > self.tolerance:
            deviation = tolerance / SCATTER
            density = math.exp(-(((self.claimed - value) / deviation) ** 2) / 2) / deviation
            chance = 2 * self.tolerance * density / math.sqrt(2 * math.pi)
        text = say(f"explanations.{sentence or kind}", value=value, **facts)
        if not self.matches(value):
            text = say("explanations.scatter", text=text, tolerance=tolerance)
        likelihood = share * USUAL.get(kind, 1.0) * FITS[fit] * min(1.0, chance)
        scatter = max(self.tolerance, tolerance)
        yield Explanation(kind, value, scatter, fit, likelihood, text)


def claimed_number(claimed: Any) -> tuple[float, float]:
    """A claimed total and half a unit of its last digit, or the deviation that stands beside it.

    Text keeps the digits that were given.

    Examples
    --------
    >>> claimed_number("98.70")
    (98.7, 0.005)
    >>> claimed_number(99)
    (99.0, 0.5)
    >>> claimed_number("61.3 ± 0.4")
    (61.3, 0.4)
    """
    text = str(claimed).strip().replace("−", "-")  # "True" and "False" are no numbers
    total, *beside = re.split(r"\s*(?:±|\+/?-)\s*", text, maxsplit=1)
    try:
        number, deviation = Decimal(total), abs(Decimal(beside[0])) if beside else Decimal(0)
    except InvalidOperation:
        number = deviation = Decimal("nan")
    if not (number + deviation).is_finite() or abs(number) > Decimal("1e12"):
        raise ValueError(say("faults.claimed", claimed=claimed))
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    value = float(number)
    floor = BEST_PRECISION * max(1.0, abs(value))
    return value, max(floor, 0.5 * 10.0 ** min(exponent, 0), float(deviation))


# --- numbers that are right by another convention

#: Largest lags that people choose, besides multiples of the number of nodes.
ROUND_LAGS = (10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500, 1000)


def conventions(case: ClaimContext) -> Iterator[Explanation]:
    """The claim is right, or leaves lag 0 out, as many libraries do."""
    if case.cut:  # what is summed up to k_max is another number
        return
    total, first = case.curve.total, float(case.curve.values[0])
    right = [*case.explanation("total", total, "as it is", tolerance=case.curve.total_error)]
    yield from right
    if not right and first > case.tolerance:
        yield from case.explanation(
            "from_lag_1", total - first, "as it is", total=total, first=first
        )


def given_noise(case: ClaimContext) -> Iterator[Explanation]:
    """The claim is right for the noise that was given, lag 0 or not."""
    of = f" of {case.curve.total:.6g} without noise" if case.bounds is None else ""
    for row in case.usable.rows if not case.cut else ():
        first = float(row.values[0])
        totals = {"given_noise": row.total, "given_noise_from_lag_1": row.total - first}
        for sentence, value in totals.items() if row.given else ():
            yield from case.explanation(
                "given_noise", value, "as it is", sentence,
                tolerance=row.error, of=of, total=row.total, first=first,
            )  # fmt: skip


def cut_off(case: ClaimContext) -> Iterator[Explanation]:
    """The sum ends at some lag k_max, before the memory does."""
    yield from _partial_sums(case, case.curve.values, case.curve.total, "cut_off")


def absolute_correlation(case: ClaimContext) -> Iterator[Explanation]:
    """|r| is summed instead of r²: Σ√MC_τ."""
    if case.network.inputs > 1:
        return
    roots = np.sqrt(np.clip(case.curve.values, 0, None))
    if case.k_max is None and case.whole:
        for first in (0, 1):
            value, kind = float(roots[first:].sum()), "absolute_correlation"
            yield from case.explanation(kind, value, "as it is", "all_correlations", first=first)
    # what lies beyond the lags listed is known of the memory, not of its roots
    yield from _partial_sums(case, roots, float(roots.sum()), "absolute_correlation")


def numbers_of_states(case: ClaimContext) -> Iterator[Explanation]:
    """The number of states, which OSM and OSM+ always report; complex nodes, which count twice."""
    rank, size, states = case.curve.rank, case.network.size, case.states
    if rank is not None and rank < states:
        yield from case.explanation("osm", float(states), "as it is", states=states, rank=rank)
    if case.network.is_complex and rank == case.network.states:
        total = case.curve.total
        yield from case.explanation("complex_nodes", size, "as it is", size=size, total=total)


def one_input(case: ClaimContext) -> Iterator[Explanation]:
    """The memory of one of several inputs."""
    if case.network.inputs == 1 or not case.whole or case.k_max is not None:
        return
    for (channel, values), first in itertools.product(enumerate(case.curve.channels.T), (0, 1)):
        total = float(values[first:].sum())
        yield from case.explanation("one_input", total, "as it is", channel=channel, first=first)


def _partial_sums(case: ClaimContext, terms: Floats, total: float, kind: str) -> list[Explanation]:
    """Sums over lags 0 … k−1, 0 … k and 1 … k for a known, a round or the fitting k."""
    sums, k = np.concatenate([[0.0], np.cumsum(terms)]), case.k_max
    if k is not None:
        spans = [(0, k - 1, "as it is"), (0, k, "as it is"), (1, k, "as it is")]
    else:
        N = case.states
        lags = sorted({*ROUND_LAGS, N // 2, N, 3 * N // 2, 2 * N, 3 * N, 4 * N, 5 * N} - {0})
        spans = [(first, end - 1 + first, "round value") for end in lags for first in (0, 1)]
        for first in (0, 1) if len(terms) > 2 else ():
            near = np.abs(sums[first + 1 : -1] - sums[first] - case.claimed)
            last = first + int(np.argmin(near))
            if (first, last, "round value") not in spans:
                spans.append((first, last, "solved for"))
    fitting: list[Explanation] = []
    for first, last, fit in spans:
        end = min(last + 1, len(sums) - 1)
        if last < first or total - sums[end] <= case.tolerance:
            continue  # nothing is cut off
        if last >= len(terms) and case.bounds is not None:
            continue  # what lies there is not known
        value, squares = float(sums[end] - sums[first]), float(case.sums[end] - case.sums[first])
        if kind == "cut_off" or abs(squares - value) > case.tolerance:  # taking roots matters
            fitting += case.explanation(kind, value, fit, first=first, last=last)
    return sorted(fitting, key=lambda one: abs(one.value - case.claimed))


# --- numbers that are an artefact of how they were made

#: Lengths of simulations that people choose.
ROUND_SAMPLES = (500, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000, 10_000, 20_000, 50_000)
#: The excess of one simulation scatters about its mean by some of it.
EXCESS_SCATTER = 0.25
#: Totals of simulations and of ill-conditioned inverses differ by at least this, relative to them.
ROUNDING_SCATTER = 0.01


def estimates_of(case: ClaimContext) -> Iterator[Explanation]:
    """What standard methods report for this very network, as far as it repeats."""
    for estimate in case.estimates if case.input is None else ():  # they were run with white input
        algebraic = estimate.samples is None
        # whether what is known of the claim does not speak against this simulation
        fits = case.samples in (None, estimate.samples) and case.k_max in (None, estimate.last_lag)
        if estimate.by_construction or not (algebraic or fits):
            continue
        spread = estimate.spread if math.isfinite(estimate.spread) else 0.0
        tolerance = SCATTER * max(spread, ROUNDING_SCATTER * abs(estimate.total))
        off = abs(estimate.total - case.curve.total)
        if off > max(case.tolerance, tolerance):  # else it is right here, and explains nothing
            # a simulation has settings, which are guessed
            kind, fit = ("gramian", "as it is") if algebraic else ("simulation", "round value")
            yield from case.explanation(
                kind, estimate.total, fit, "estimate", tolerance=tolerance, name=estimate.name,
                about=estimate.about,
            )  # fmt: skip


def few_samples(case: ClaimContext) -> Iterator[Explanation]:
    """In-sample R² is too large at every lag, by N/T of the missing variance.

    Over lags up to k, E Σ R² ≈ Σ MC_τ + Σ (1 − MC_τ)·N/T.
    """
    given = case.samples is not None and case.k_max is not None
    above = case.claimed > case.curve.total + case.tolerance
    if not (above or given) or case.network.inputs > 1:
        return
    N = case.states
    spans = [case.k_max] if case.k_max is not None else [2 * N, N, 3 * N, 5 * N, 100, 200]
    lengths = [case.samples] if case.samples is not None else ROUND_SAMPLES
    for last in dict.fromkeys(spans):
        fit = "as it is" if given else "round value"
        fitting = [one for samples in lengths for one in _in_sample(case, last, samples, fit)]
        yield from sorted(fitting, key=lambda one: abs(one.value - case.claimed))[:1]


def _in_sample(case: ClaimContext, last: int, samples: int, fit: str) -> Iterator[Explanation]:
    """The sum of in-sample R² over lags 0 … last, unless there are too few samples to fit."""
    N = case.states
    if samples - last > N + 1:
        held, missing = _held(case, last)
        by_chance = missing * N / samples
        yield from case.explanation(
            "few_samples", held + by_chance, fit, tolerance=EXCESS_SCATTER * by_chance,
            share=1.0 if last in (case.k_max, 2 * N) else 0.5, N=N, samples=samples, last=last,
        )  # fmt: skip


def _held(case: ClaimContext, last: int) -> tuple[float, float]:
    """Memory of lags 0 … last that a regression in double precision finds, and what is missing."""
    listed = case.curve.values[: last + 1]
    memory = np.pad(listed, (0, last + 1 - len(listed)))
    held = case.usable.at("float64")
    if held is not None and held.total < case.curve.total - 1:
        memory[math.ceil(held.total) :] = 0.0
    return float(memory.sum()), float((1 - memory).sum())


# --- numbers that are right for another question: noise, a ridge

#: Variances of the inputs that people choose: unit, uniform on ±1, ±0.8, ±0.5.
ROUND_VARIANCES: tuple[float, ...] = (1.0, 1 / 3, 0.64 / 3, 1 / 12)
#: How far a simulation with a ridge, and one in a number format, may lie from what is predicted.
RIDGE_SCATTER = 0.03
TEST_SCATTER = 0.08


def number_formats(case: ClaimContext) -> Iterator[Explanation]:
    """The states were stored, or read, with few digits."""
    total, kind = case.curve.total, "number_format"
    of = f" of {total:.6g}" if case.bounds is None else ""
    for row in case.usable.rows:
        if not row.given and not case.matches(total, row.total - total):
            yield from case.explanation(kind, row.total, "as it is", name=row.name, of=of)


def noise(case: ClaimContext) -> Iterator[Explanation]:
    """There was noise on the states: memory below it cannot be used."""
    yield from _at_some_level(case, "noise", case.usable.totals)


def ridge(case: ClaimContext) -> Iterator[Explanation]:
    """The readout was regularised: a ridge α over T samples acts like noise of variance α/T.

    Not quite: with g = σ²/(σ² + s²) for each direction of the states, s² = α/T, noise leaves Σ g of
    the total, and the R² of a ridge regression is Σ 1 − (1 − g)², which is half a derivative more,
    Σ g − ½ d(Σ g)/d ln s.
    """
    if case.ridge is None or case.samples is None:
        totals = case.usable.totals
        if len(totals) > 1:
            totals = totals - np.gradient(totals, np.log(case.usable.levels)) / 2
        yield from _at_some_level(case, "ridge", totals)
        return
    variances, fit = ROUND_VARIANCES, "round value"
    if case.input_variance is not None:
        variances, fit = (case.input_variance,), "as it is"
    for variance in variances:
        level = float(np.sqrt(case.ridge / (case.samples * variance)))
        # one simulation, with what is fitted by chance; and one on data that were not trained on
        for sentence, kind, scatter in (
            ("known_ridge", "ridge", RIDGE_SCATTER),
            ("tested_ridge", "noise", TEST_SCATTER),
        ):
            total = _total_under(case, level, kind)
            if total is not None:
                yield from case.explanation(
                    "ridge", total, fit, sentence, tolerance=scatter * total, ridge=case.ridge,
                    samples=case.samples, level=level, variance=variance,
                )  # fmt: skip


def _at_some_level(case: ClaimContext, kind: str, totals: Floats) -> Iterator[Explanation]:
    """A variance that is a power of ten, or else the one that fits; ``totals`` fall with noise."""
    levels = case.usable.levels
    if len(levels) == 0 or not totals[-1] < case.claimed < min(totals[0], case.curve.total):
        return
    power = 2 * float(np.interp(-case.claimed, -totals, np.log10(levels)))
    level, fit, digits = 10.0 ** (round(power) / 2), "round value", 2
    value = _total_under(case, level, kind)
    if value is None or not case.matches(value):
        # with so many digits it is not read as the round value, which does not fit
        level, fit, value, digits = 10.0 ** (power / 2), "solved for", case.claimed, 6
    level_text, variance = f"{level:.{digits}g}", f"{level**2:.{digits - 1}e}"
    yield from case.explanation(kind, value, fit, level=level_text, variance=variance)


def _total_under(case: ClaimContext, level: float, kind: str) -> float | None:
    """What is left under noise, or what a ridge leaves, where half a derivative comes to it."""
    step = 1e-3
    levels = level * np.exp([0.0] if kind == "noise" else [0.0, -step, step])
    try:
        with rank_among_notes():
            profile = noise_profile(case.network, levels, lags=1, input=case.input)
    except UncertainResultError:
        return None
    totals = profile.known_totals
    if np.isnan(totals).any():
        return None
    half = 0.0 if kind == "noise" else (totals[2] - totals[1]) / (4 * step)
    return float(totals[0] - half)


# --- the judgement

#: In the order in which they are listed where they fit equally well.
RECOGNISERS: tuple[Callable[[ClaimContext], Iterator[Explanation]], ...] = (
    conventions, given_noise, cut_off, numbers_of_states, one_input, absolute_correlation,
    few_samples, ridge, noise, estimates_of, number_formats,
)  # fmt: skip

#: Kinds that leave a claim right: only the convention is another.
CONVENTIONS = ("total", "from_lag_1", "given_noise")
#: Those that need no noise-free curve.
RECOGNISERS_AT_SCALE = (cut_off, numbers_of_states, ridge, noise, number_formats)


@np.errstate(all="ignore")
def judged(case: ClaimContext) -> Claim:
    """Judge a claimed number."""
    if case.bounds is not None:
        return _judged_by_bounds(case, case.bounds)
    explanations: list[Explanation] = []
    for recogniser in RECOGNISERS:
        fitting = list(recogniser(case))
        explanations += fitting
        if fitting and fitting[0].kind in CONVENTIONS:
            break  # it is right: there is nothing to explain away
    best = _most_likely(explanations)
    right = (*CONVENTIONS, "cut_off") if case.k_max is not None else CONVENTIONS
    holds = bool(best) and best[0].kind in right
    return Claim(case.claimed, case.tolerance, holds, best, case.curve.total, case.curve.total)


def _judged_by_bounds(case: ClaimContext, bounds: Bounds) -> Claim:
    """Right if only the claimed value is possible, wrong if it is impossible."""
    inputs, k = case.network.inputs, case.k_max
    spans: list[tuple[int, int | None]] = [(0, None), (1, None)]
    if k is not None:
        spans = [(0, k - 1), (0, k), (1, k)]
    right: list[Explanation] = []
    is_possible = False
    for first, last in spans:
        least, most = bounds.over(first, last, inputs)
        is_possible |= least - case.tolerance <= case.claimed <= most + case.tolerance
        if case.matches(least) and case.matches(most):
            kind = "cut_off" if last is not None else CONVENTIONS[first]
            sentence = {"cut_off": "partial_sum", "from_lag_1": "from_lag_1_bound"}.get(kind, "")
            right += case.explanation(kind, most, "as it is", sentence, first=first, last=last)
            break
    best = tuple(right or given_noise(case))[:1]
    holds = True if best else None if is_possible else False
    if not best:
        best = _most_likely([one for find in RECOGNISERS_AT_SCALE for one in find(case)])
    return Claim(case.claimed, case.tolerance, holds, best, bounds.least, bounds.most)


def _most_likely(explanations: list[Explanation]) -> tuple[Explanation, ...]:
    """The two most likely of each kind; equals stay in their order."""
    best: list[Explanation] = []
    for one in sorted(explanations, key=lambda one: -one.likelihood):
        if sum(other.kind == one.kind for other in best) < 2:
            best.append(one)
    return tuple(best)
