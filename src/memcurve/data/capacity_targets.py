"""Targets of capacity: products of orthonormal polynomials of lagged inputs.

The polynomials are orthonormal under the law of the input; the targets come in patterns of degrees
and lag differences that are shifted in time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import hermite_e, legendre
from numpy.typing import NDArray

from memcurve.arguments import table_entry

Floats = NDArray[np.float64]

#: The law is recognised by its polynomials up to this degree, hence by six moments: the sample
#: moments of higher degree are too noisy to tell laws apart.
RECOGNISED_BY = 3
#: A sample moment further than this many standard errors from its expectation rules a law out.
RULED_OUT = 5.0
#: Quadrature nodes, enough for the fourth powers of polynomials of degree RECOGNISED_BY.
NODES = 16
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


@dataclass(frozen=True, eq=False)
class Polynomials:
    """Values p_0, …, p_highest of orthonormal polynomials at every input, one row a degree.

    ``name`` is ``"legendre"``, ``"hermite"`` or ``"empirical"``. An input of k different values
    has polynomials up to degree k − 1 only.
    """

    name: str
    values: Floats

    @property
    def highest(self) -> int:
        """Largest degree there is."""
        return len(self.values) - 1


def polynomials_of(inputs: Floats, degree: int, name: str) -> Polynomials:
    """Polynomials up to ``degree`` of the family ``name``; ``"auto"`` finds it from the data.

    Parameters
    ----------
    inputs : (T,) array
        At least two different values.
    degree : int
        Largest degree wanted; an input of few values has fewer.
    name : str
        ``"auto"``, or one of the families.
    """
    chosen = table_entry({"auto": "auto"} | {n: n for n in FAMILIES}, name, "polynomials")
    different = len(np.unique(inputs)) if len(inputs) else 0
    if different < 2:
        raise ValueError(
            "`inputs` must vary, got a constant series; capacity is a share of its variance."
        )
    if chosen == "auto":
        chosen = _recognised(inputs)
    return Polynomials(chosen, FAMILIES[chosen](inputs, min(degree, different - 1)))


def _recognised(inputs: Floats) -> str:
    """The family whose polynomials are orthonormal on the data, ``"empirical"`` if none is.

    Compared are the sample means of p_i p_j, i, j ≤ 3, with δ_ij, in units of their standard
    error under the law.
    """
    for name, (there, weights) in _QUADRATURES.items():
        spread = np.einsum("ik,jk,k->ij", there**2, there**2, weights) - np.eye(len(there))
        values = FAMILIES[name](inputs, RECOGNISED_BY)
        off = values @ values.T / len(inputs) - np.eye(len(values))
        allowed = RULED_OUT * np.sqrt(np.maximum(spread, 0) / len(inputs))
        if (np.abs(off) <= allowed + 1e-9).all():  # p_0² = 1 has no spread, only rounding
            return name
    return "empirical"


def _on_unit_interval(inputs: Floats) -> Floats:
    """The data moved to [−1, 1], which a uniform law fills up to O(1/T)."""
    low, high = inputs.min(), inputs.max()
    return np.asarray(2 * (inputs - low) / (high - low) - 1)


def _legendre(points: Floats, degree: int) -> Floats:
    """√(2d + 1)·P_d."""
    scale = np.sqrt(2 * np.arange(degree + 1) + 1)
    return np.ascontiguousarray((legendre.legvander(points, degree) * scale).T)


def _hermite(points: Floats, degree: int) -> Floats:
    """He_d/√d!."""
    scale = np.array([1 / math.sqrt(math.factorial(d)) for d in range(degree + 1)])
    return np.ascontiguousarray((hermite_e.hermevander(points, degree) * scale).T)


def _empirical(inputs: Floats, degree: int) -> Floats:
    """Orthonormal under the empirical law: QR of a Vandermonde matrix, any law at all.

    The Vandermonde matrix is that of Legendre polynomials, whose condition stays moderate.
    """
    factor, triangle = np.linalg.qr(legendre.legvander(_on_unit_interval(inputs), degree))
    signs = np.where(np.diag(triangle) < 0, -1.0, 1.0)  # leading coefficients above zero
    return np.ascontiguousarray((factor * signs * math.sqrt(len(inputs))).T)


FAMILIES: dict[str, Callable[[Floats, int], Floats]] = {
    "legendre": lambda z, degree: _legendre(_on_unit_interval(z), degree),
    "hermite": lambda z, degree: _hermite((z - z.mean()) / z.std(), degree),
    "empirical": _empirical,
}
#: Gauss quadrature of each law: its polynomials at the nodes, and the weights.
_QUADRATURES = {
    name: (at(nodes, RECOGNISED_BY), weights / weights.sum())
    for name, at, (nodes, weights) in (
        ("legendre", _legendre, legendre.leggauss(NODES)),
        ("hermite", _hermite, hermite_e.hermegauss(NODES)),
    )
}


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
                math.comb(self.degree - 1, k - 1) * math.comb(span - 1, k - 2)
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
