"""What is known about a claimed number, and what would explain it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np

from memcurve.auditing.estimates import Estimate
from memcurve.auditing.usable import UsableMemory
from memcurve.curve import MemoryCurve
from memcurve.network import LinearNetwork
from memcurve.result import Floats

#: Numbers are compared to this many parts in one at best, whatever digits were given.
BEST_PRECISION = 1e-6

#: How an explanation came to fit: nothing was chosen, a round value of some setting was found to
#: fit, or the setting was solved for; and the share of all settings that this leaves.
FITS = {"as it is": 1.0, "round value": 1 / 30, "solved for": 0.1}
#: How usual a kind of number is, relative to a plain cut-off: guesses, which only rank what fits
#: equally well.
USUAL = {"simulation": 6.0, "ridge": 0.3, "noise": 0.3, "number_format": 0.2, "coloured_input": 0.5}
#: Numbers that scatter are taken to stay within this many standard deviations.
SCATTER = 3.0


@dataclass(frozen=True)
class Explanation:
    """One way to arrive at a claimed number.

    Attributes
    ----------
    kind : str
        ``"total"``, ``"from_lag_1"``, ``"cut_off"``, ``"absolute_correlation"``, ``"osm"``,
        ``"gramian"``, ``"simulation"``, ``"few_samples"``, ``"coloured_input"``, ``"ridge"``,
        ``"number_format"``, ``"complex_nodes"`` or ``"fisher"``.
    value : float
        What this way gives.
    tolerance : float
        How far a number made this way may lie from ``value``.
    fit : str
        ``"as it is"``, ``"round value"`` or ``"solved for"``, see ``FITS``.
    likelihood : float
        How likely this way gives the very digits that were claimed: how usual it is, times the
        share of settings that the fit leaves, times the chance that such a number is rounded so.
    text : str
        In words.
    """

    kind: str
    value: float
    tolerance: float
    fit: str
    likelihood: float
    text: str


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


@dataclass(frozen=True, eq=False)
class Case:
    """A claimed total of a network, and what is known about either."""

    claimed: float
    tolerance: float  # half a unit of the last digit
    network: LinearNetwork
    curve: MemoryCurve  # exact, for the input in question
    estimates: tuple[Estimate, ...]
    usable: UsableMemory
    input: Any = None  # None for white
    condition: float = float("nan")  # of the states' correlations, where it is known
    # how the number was made, where it is known
    k_max: int | None = None
    samples: int | None = None
    ridge: float | None = None
    input_variance: float | None = None

    @property
    def states(self) -> int:
        """Number of states that are read."""
        return self.network.read_states

    @property
    def cut(self) -> bool:
        """Whether the largest lag is known, and memory is left beyond it."""
        return self.k_max is not None and self._is_left_after(self.k_max)

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
        self,
        kind: str,
        value: float,
        fit: str,
        text: str,
        tolerance: float = 0.0,
        share: float = 1.0,
    ) -> Iterator[Explanation]:
        """The explanation, if it fits.

        ``tolerance`` is how far the number scatters, ``share`` how usual the settings are.
        """
        widest = max(self.tolerance, tolerance)
        if not self.matches(value, tolerance):
            return
        chance = 1.0
        if fit == "solved for":  # it could have been any number
            chance = 2 * self.tolerance / max(1.0, self.curve.total, abs(self.claimed))
        elif tolerance > self.tolerance:
            deviation = tolerance / SCATTER
            density = math.exp(-(((self.claimed - value) / deviation) ** 2) / 2) / deviation
            chance = 2 * self.tolerance * density / math.sqrt(2 * math.pi)
        likelihood = share * USUAL.get(kind, 1.0) * FITS[fit] * min(1.0, chance)
        yield Explanation(kind, value, widest, fit, likelihood, text)


def claimed_number(claimed: Any) -> tuple[float, float]:
    """A claimed total and half a unit of its last digit; text keeps the digits that were given.

    Examples
    --------
    >>> claimed_number("98.70")
    (98.7, 0.005)
    >>> claimed_number(99)
    (99.0, 0.5)
    """
    text = str(claimed).strip().replace("−", "-")  # "True" and "False" are no numbers
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite() or abs(number) > Decimal("1e12"):
        raise ValueError(
            f"`claimed` must be a total memory, a finite number such as 98.7; got {claimed!r}."
        )
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    value = float(number)
    floor = BEST_PRECISION * max(1.0, abs(value))
    return value, max(floor, 0.5 * 10.0 ** min(exponent, 0))
