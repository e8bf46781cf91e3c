"""Targets: products of polynomials of lagged inputs, in patterns that are shifted in time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: By degree: how far apart the lags of a product may lie, and the longest lag. The number of
#: targets grows like window^(degree − 1)·lag; these keep it near one or two thousand a degree.
DEFAULT_REACH = {
    1: (0, 80),
    2: (20, 40),
    3: (12, 30),
    4: (7, 16),
    5: (6, 12),
    6: (5, 10),
    7: (4, 8),
}
#: Window for degrees beyond the table.
LAST_WINDOW = 3
#: More targets than this are refused: the scan would take hours.
MOST_TARGETS = 5_000_000


@dataclass(frozen=True)
class Reach:
    """Which targets of one total degree to look at: window and longest lag."""

    degree: int
    window: int
    lag: int

    def count(self) -> int:
        """Number of targets if every polynomial exists: Σ over spans and numbers of factors."""
        total = self.lag + 1
        for span in range(1, self.window + 1):
            inner = sum(
                comb(self.degree - 1, k - 1) * comb(span - 1, k - 2)
                for k in range(2, self.degree + 1)
            )
            total += inner * (self.lag - span + 1)
        return total


@dataclass(frozen=True)
class Pattern:
    """Degrees of the factors and their lags, the first at 0: ∏ p_{d_i}(z_{u − o_i})."""

    degrees: tuple[int, ...]
    offsets: tuple[int, ...]


def reaches(degrees: Any) -> tuple[Reach, ...]:
    """The argument ``degrees`` checked and filled up, lowest degree first."""
    if _is_integer(degrees) and degrees in DEFAULT_REACH:
        degrees = {d: DEFAULT_REACH[d] for d in range(1, degrees + 1)}
    if not isinstance(degrees, Mapping) or not degrees:
        raise ValueError(
            f"`degrees` must map each total degree to its longest lag or to (window, longest lag), "
            f"e.g. {{1: 80, 2: (20, 40)}}, or be a number from 1 to {max(DEFAULT_REACH)}; got "
            f"{degrees!r}."
        )
    plan = sorted((_reach(d, reach) for d, reach in degrees.items()), key=lambda r: r.degree)
    count = sum(reach.count() for reach in plan)
    if count > MOST_TARGETS:
        raise ValueError(
            f"`degrees` asks for {count:,} targets, more than {MOST_TARGETS:,}; give smaller "
            f"windows, e.g. 3: (12, 30)."
        )
    return tuple(plan)


def _reach(degree: Any, reach: Any) -> Reach:
    if not _is_integer(degree) or degree < 1:
        raise ValueError(
            f"`degrees` must have positive integers as keys, got {degree!r}; the total degree of "
            f"a linear target is 1."
        )
    degree = int(degree)
    if _is_integer(reach):
        usual = DEFAULT_REACH[degree][0] if degree in DEFAULT_REACH else LAST_WINDOW
        reach = (min(usual, max(int(reach), 0)), reach)
    if (
        not isinstance(reach, Sequence)
        or len(reach) != 2
        or not all(_is_integer(number) and number >= 0 for number in reach)
    ):
        raise ValueError(
            f"`degrees` must give a longest lag or (window, longest lag) in whole time steps from "
            f"0 on, got {reach!r} for degree {degree}; take e.g. {degree}: (4, 8)."
        )
    window, lag = (int(number) for number in reach)
    # one factor has no second lag for a window to bound
    return Reach(degree, min(window, lag) if degree > 1 else 0, lag)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def patterns(reach: Reach, highest: int) -> Iterator[Pattern]:
    """All patterns of ``reach`` whose factors have degree at most ``highest``, by span.

    Pattern p at shift τ = 0, …, lag − span is one target: each target comes up once.
    """
    by_factors = {
        k: [split for split in _compositions(reach.degree, k) if max(split) <= highest]
        for k in range(1, reach.degree + 1)
    }
    yield from (Pattern(split, (0,)) for split in by_factors[1])
    for span in range(1, reach.window + 1):
        for k in range(2, min(reach.degree, span + 1) + 1):
            for between in itertools.combinations(range(1, span), k - 2):
                for split in by_factors[k]:
                    yield Pattern(split, (0, *between, span))


def _compositions(degree: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Ordered sums of ``parts`` positive integers that give ``degree``."""
    for cuts in itertools.combinations(range(1, degree), parts - 1):
        edges = (0, *cuts, degree)
        yield tuple(b - a for a, b in itertools.pairwise(edges))


def columns(values: Floats, chosen: Sequence[tuple[Pattern, int]], start: int, stop: int) -> Floats:
    """Targets (pattern, shift) at the times ``start`` … ``stop`` − 1, one a row.

    Parameters
    ----------
    values : (degree + 1, T) array
        The polynomials at every time step.
    chosen : sequence of (Pattern, int)
        Patterns, and by how much each is shifted into the past.
    start, stop : int
        ``start`` is not below the longest lag.
    """
    made = np.empty((len(chosen), stop - start))
    for row, (pattern, shift) in zip(made, chosen, strict=True):
        for k, (degree, offset) in enumerate(zip(pattern.degrees, pattern.offsets, strict=True)):
            back = shift + offset
            factor = values[degree, start - back : stop - back]
            if k == 0:
                row[:] = factor
            else:
                row *= factor
    return made
