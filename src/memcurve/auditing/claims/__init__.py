"""Which convention, or which artefact, gives a claimed number?

Every recogniser is a function of the :class:`Case` that yields the explanations that fit. One
number cannot prove how it was made: explanations are ranked by how likely they are to give it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memcurve.auditing.claims.artefacts import (
    few_samples,
    hopeless_inverse,
    number_of_states,
    usual_estimates,
)
from memcurve.auditing.claims.case import Case, Explanation, claimed_number
from memcurve.auditing.claims.conventions import (
    absolute_correlation,
    complex_nodes,
    cut_off,
    lags_from_one,
    one_input,
    the_total,
)
from memcurve.auditing.claims.disturbed import (
    coloured_input,
    fisher_memory,
    noise,
    number_formats,
    ridge,
)

__all__ = ["RECOGNISERS", "Case", "Claim", "Explanation", "claimed_number", "judged"]

#: In the order in which they are told where they fit equally well.
RECOGNISERS: tuple[Callable[[Case], Iterator[Explanation]], ...] = (
    the_total,
    lags_from_one,
    cut_off,
    number_of_states,
    complex_nodes,
    one_input,
    absolute_correlation,
    few_samples,
    coloured_input,
    ridge,
    noise,
    usual_estimates,
    number_formats,
    fisher_memory,
    hopeless_inverse,
)

#: Kinds that leave a claim right: only the convention is another.
CONVENTIONS = ("total", "from_lag_1")


@dataclass(frozen=True)
class Claim:
    """A claimed total, judged.

    Attributes
    ----------
    value, tolerance : float
        The number, and half a unit of its last digit.
    holds : bool
        Whether it is the total memory, lag 0 or not, or the sum up to the lag that was said.
    explanations : tuple of Explanation
        Ways to arrive at it, the most likely first; may be empty.
    """

    value: float
    tolerance: float
    holds: bool
    explanations: tuple[Explanation, ...]

    @property
    def explanation(self) -> Explanation | None:
        """The most likely one."""
        return self.explanations[0] if self.explanations else None


def judged(case: Case) -> Claim:
    """Judge a claimed number."""
    found: list[Explanation] = []
    for recogniser in RECOGNISERS:
        fitting = list(recogniser(case))
        found += fitting
        if fitting and fitting[0].kind in CONVENTIONS:
            break  # it is right: there is nothing to explain away
    found.sort(key=lambda one: -one.likelihood)  # equals stay in the order they were found in
    best = found[0] if found else None
    said = best is not None and best.kind == "cut_off" and case.k_max is not None
    holds = best is not None and (best.kind in CONVENTIONS or said)
    return Claim(case.claimed, case.tolerance, holds, _distinct(found))


def _distinct(found: list[Explanation]) -> tuple[Explanation, ...]:
    """At most two explanations a kind, the most likely."""
    kept: list[Explanation] = []
    for one in found:
        if sum(other.kind == one.kind for other in kept) < 2:
            kept.append(one)
    return tuple(kept)
