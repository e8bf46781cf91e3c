"""Numbers that are right for another question: noise, a ridge, coloured input, Fisher memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from memcurve.auditing.claims.case import Case, Explanation, Floats
from memcurve.auditing.usable import GIVEN
from memcurve.errors import UncertainResultError, rank_among_notes
from memcurve.fisher import fisher_curve
from memcurve.inputs import ARMA
from memcurve.memory import memory_curve

#: Variances of the inputs that people choose: unit, uniform on ±1, ±0.8, ±0.5.
ROUND_VARIANCES = (1.0, 1 / 3, 0.64 / 3, 1 / 12)
#: First autocorrelations that are tried; fewer for large networks, each takes some eigvals.
AR_COEFFICIENTS = (0.5, 0.8, 0.9, 0.95, 0.99, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.75, 0.85, 0.98)
FEW_COEFFICIENTS = 5
MOST_STATES = 300
#: How far a simulation with a ridge, and one in a number format, may lie from what is predicted.
RIDGE_SCATTER = 0.03
TEST_SCATTER = 0.08
FORMAT_SCATTER = 0.01


def number_formats(case: Case) -> Iterator[Explanation]:
    """The states were stored, or read, with few digits."""
    for row in case.usable.rows:
        if case.matches(case.curve.total, row.total - case.curve.total):
            continue
        kind = "noise" if row.name.startswith(GIVEN) else "number_format"
        where = "under the noise given" if kind == "noise" else f"in {row.name}"
        text = f"it is what can be used {where}, {row.total:.4g} of {case.curve.total:.6g}"
        # the formats are idealised: converters span four standard deviations of the largest state
        tolerance = 0.0 if kind == "noise" else FORMAT_SCATTER * row.total
        yield from case.explanation(kind, row.total, "as it is", text, tolerance)


def noise(case: Case) -> Iterator[Explanation]:
    """There was noise on the states: memory below it cannot be used."""
    told = "it is what can be used under a noise of standard deviation {:.2g} on the states"
    yield from _at_some_level(case, "noise", _usable_total, case.usable.totals, told)


def ridge(case: Case) -> Iterator[Explanation]:
    """The readout was regularised: a ridge α over T samples acts like noise of variance α/T.

    Not quite: with g = σ²/(σ² + s²) for each direction of the states, s² = α/T, noise leaves Σ g of
    the total, and the R² of a ridge regression is Σ 1 − (1 − g)², which is half a derivative more,
    Σ g − ½ d(Σ g)/d ln s.
    """
    if case.ridge is None or case.samples is None:
        totals = case.usable.totals
        if len(totals) > 1:
            totals = totals - np.gradient(totals, np.log(case.usable.levels)) / 2
        told = (
            "it is the R² of a ridge regression whose ridge is α/T = {variance:.1e}, for input of "
            "unit variance"
        )
        yield from _at_some_level(case, "ridge", _ridge_total, totals, told)
        return
    told_variance = case.input_variance is not None
    for variance in (case.input_variance,) if told_variance else ROUND_VARIANCES:
        assert variance is not None
        level = float(np.sqrt(case.ridge / (case.samples * variance)))
        total = _ridge_total(case, level)
        if total is None:
            return
        text = (
            f"it is what a ridge of {case.ridge:g} over {case.samples:,} samples leaves: like a "
            f"noise of standard deviation {level:.2g}, for input of variance {variance:.3g}"
        )
        # one simulation, with what is fitted by chance
        fit = "as it is" if told_variance else "round value"
        yield from case.explanation("ridge", total, fit, text, RIDGE_SCATTER * total)
        tested = _usable_total(case, level)
        if tested is not None:
            text += ", on data that were not trained on"
            yield from case.explanation("ridge", tested, fit, text, TEST_SCATTER * tested)


def _at_some_level(
    case: Case,
    kind: str,
    total_at: Callable[[Case, float], float | None],
    totals: Floats,
    told: str,
) -> Iterator[Explanation]:
    """A variance that is a power of ten, or else the one that fits; ``totals`` fall with noise."""
    levels = case.usable.levels
    if len(levels) == 0 or not totals[-1] < case.claimed < min(totals[0], case.curve.total):
        return
    power = 2 * float(np.interp(-case.claimed, -totals, np.log10(levels)))
    level = 10.0 ** (round(power) / 2)
    value = total_at(case, level)
    if value is not None and case.matches(value):
        text = told.format(level, variance=level**2)
        yield from case.explanation(kind, value, "round value", text)
        return
    text = told.format(10.0 ** (power / 2), variance=10.0**power)
    yield from case.explanation(kind, case.claimed, "solved for", text)


def coloured_input(case: Case) -> Iterator[Explanation]:
    """The input was correlated in time: N is no bound, and lags repeat each other."""
    if not case.white or case.network.inputs > 1:
        return
    chosen = AR_COEFFICIENTS if case.states <= MOST_STATES else AR_COEFFICIENTS[:FEW_COEFFICIENTS]
    totals: dict[float, float] = {}
    for coefficient in chosen:
        found = _coloured_totals(case, coefficient)
        if found is None:
            return
        totals[coefficient] = found[0]
        for value, what in zip(found, ("", ", without lag 0"), strict=True):
            text = (
                f"it is the total for input correlated in time, AR(1) with coefficient "
                f"{coefficient:g}{what}; for such input the number of nodes is no bound"
            )
            yield from case.explanation("coloured_input", value, "round value", text)
    fitting = _fitting_coefficient(case, totals)
    if fitting is not None:
        text = (
            f"it is about the total for input correlated in time, AR(1) with coefficient "
            f"{fitting:.3g}; for such input the number of nodes is no bound"
        )
        yield from case.explanation("coloured_input", case.claimed, "solved for", text)


def _fitting_coefficient(case: Case, totals: dict[float, float]) -> float | None:
    """The smallest coefficient that gives a number above the total for white input."""
    if case.claimed <= case.curve.total + case.tolerance:
        return None
    order = [0.0, *sorted(totals)]
    over = [case.curve.total, *(totals[c] for c in order[1:])]
    for low, high, start, end in zip(order, order[1:], over, over[1:], strict=False):
        if start < case.claimed <= end:
            return _refined(case, low, high, start)
    return None


def _refined(case: Case, low: float, high: float, start: float) -> float:
    """The coefficient between ``low`` and ``high``, to three digits."""
    from scipy.optimize import brentq

    def excess(coefficient: float) -> float:
        found = (start,) if coefficient == low else _coloured_totals(case, coefficient)
        return (case.claimed if found is None else found[0]) - case.claimed

    return float(brentq(excess, low, high, xtol=5e-4))


def fisher_memory(case: Case) -> Iterator[Explanation]:
    """Fisher memory, another quantity of the same network."""
    if case.network.readout is not None or case.states > MOST_STATES:
        return
    try:
        total = fisher_curve(case.network).total
    except (UncertainResultError, ValueError):
        return
    text = f"it is the total Fisher memory, {total:.6g} at unit noise, which is another quantity"
    yield from case.explanation("fisher", total, "as it is", text)


def _usable_total(case: Case, level: float) -> float | None:
    totals = _totals_under(case, [level])
    return None if totals is None else float(totals[0])


def _ridge_total(case: Case, level: float) -> float | None:
    step = 1e-3
    totals = _totals_under(case, [level * np.exp(-step), level, level * np.exp(step)])
    return None if totals is None else float(totals[1] - (totals[2] - totals[0]) / (4 * step))


def _totals_under(case: Case, levels: list[float]) -> Floats | None:
    try:
        with rank_among_notes():
            return memory_curve(case.network, 1, input=case.input, noise=levels).totals
    except UncertainResultError:
        return None


def _coloured_totals(case: Case, coefficient: float) -> tuple[float, float] | None:
    """The total for AR(1) input, with and without lag 0."""
    try:
        with rank_among_notes():
            curve = memory_curve(case.network, 1, input=ARMA(ar=[coefficient]))
    except UncertainResultError:
        return None
    return curve.total, curve.total - float(curve.values[0])
