"""The Krylov matrix of a large sparse network, lag by lag, and its triangular factor.

Where the lags that stand above the noise are few, nothing is cheaper than K = [C, AC, A²C, …]
itself: one product a lag, and the factor R of K = QR by Householder reflections, rows of K a chunk
at a time (TSQR). Q is never formed, and of rows that are not read nothing is kept.

Errors: what lies beyond the lags is bounded by the powers of A; some more lags, in single precision
and not kept, lead to where that bound is small. Rounding of all products is measured: the same
columns are made in single precision, where it is 2²⁹ times as large, until the difference has grown
as far as it will, and twenty times it, scaled back, is taken for it. That of the reflections is a
few units in the last place of each column. Both count relative to the noise, not to each direction:
far below 1e-6 of the mask another way is the better one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.limits import require_room_for_columns
from memcurve.network.places import Tall, place_of
from memcurve.progress import Listener, silent
from memcurve.solve.sensitivity import EPS, TINY, sums_of_powers, times

Floats = NDArray[np.float64]

#: What all lags beyond those listed may hold, relative to the noise, where only its square counts.
TAIL = 1e-6
#: After so many columns, and at least so many lags, it is foreseen how many there will be.
PILOT, FEWEST_LAGS = 64, 8
#: Lags are kept until one is below this share of it.
NO_MORE = 0.3
#: Progress is told after so many lags or steps.
TOLD_EVERY = 16
#: A measured difference is taken this many times to be an error.
SAFETY = 20.0
#: Unit roundoff of double precision over that of single.
SINGLE = 2.0**-29
#: Rounding is not followed further once a lag has less than this share of what all lags have, and
#: the lags themselves have as little left.
SETTLED = 1e-3


class Columns(NamedTuple):
    """R (k, lags·d) of what is read of K, and bounds on its rounding and on the lags beyond."""

    R: Floats
    rounding: float
    beyond: float


class LagByLag:
    """Columns of K as they are made, those of the rows read being kept.

    Parameters
    ----------
    A, C : matrices
        The network, A sparse, C (n, d) of about unit size.
    rows : int array or None
        States that are read.
    tell : function
        Told how far it is.
    """

    def __init__(
        self, A: Any, C: Floats, rows: NDArray[np.intp] | None, tell: Listener = silent
    ) -> None:
        self._tell, self._foreseen = tell, ""
        self._A, self._single, self._place = A, A.astype(np.float32), place_of(A)
        self._x = self._place.put(C)
        self._rough = self._place.single(self._x)
        self._rows = rows
        self._kept: list[Tall] = []
        self.sizes: list[float] = []
        self.powers = sums_of_powers(self._single)
        self.passed_on = self.powers.norms
        self._take(self._x)

    def advance(self, lags: int) -> None:
        """Make further lags."""
        for first in range(0, lags, self._place.ahead):
            made = []
            for _ in range(min(self._place.ahead, lags - first)):
                self._x = times(self._A, self._x)
                made.append(self._x)
            self._take(self._place.joined(made))
            if len(self.sizes) // TOLD_EVERY > (len(self.sizes) - len(made)) // TOLD_EVERY:
                self._tell(f"lag {len(self.sizes):,}{self._foreseen}", len(self.sizes), None)

    def _take(self, columns: Tall) -> None:
        """Keep lags, with their sizes."""
        squares = self._place.squares(columns).reshape(-1, self._x.shape[1]).sum(axis=1)
        self.sizes += np.sqrt(squares).tolist()
        self._kept.append(self._read(columns))

    def _read(self, columns: Tall) -> Tall:
        return columns if self._rows is None else self._place.rows(columns, self._rows)

    def _changed(self, parts: list[Tall]) -> float:
        """How far single precision changes the columns kept."""
        place, width, rough = self._place, self._x.shape[1], self._rough
        total, share, done = 0.0, 0.0, 0
        for part in parts:
            made = []
            for _ in range(part.shape[1] // width):
                made.append(rough)
                rough = times(self._single, rough)
            changed = float(place.squares(part - self._read(place.joined(made))).sum())
            here = float(np.linalg.norm(self.sizes[done : done + len(made)]))
            total, done = total + changed, done + len(made)
            share = max(share, np.sqrt(changed) / max(here, TINY))
            held = float(np.linalg.norm(self.sizes[:done]))
            if place.same(changed <= SETTLED**2 * total and here <= SETTLED * held):
                # should a lag come back, it has its share of rounding
                total += float((share * np.linalg.norm(self.sizes[done:])) ** 2)
                break
        return float(np.sqrt(total))

    def lags_needed(self, small: float) -> float:
        """Lags until those that follow are small, as it went in the second half of these."""
        middle, end = len(self.sizes) // 2, len(self.sizes) - 1
        if self.sizes[end] * self.passed_on <= small:
            return end + 1
        slope = np.log(self.sizes[end] / self.sizes[middle]) / (end - middle)
        missing = np.log(small / (self.sizes[end] * self.passed_on))
        return end + 1 + float(missing / slope) if slope < 0 else np.inf

    def finished(self, small: float, most: int) -> Columns:
        """Go on until all that follows is small, and factor."""
        if len(self.sizes) > FEWEST_LAGS:
            self._foreseen = f" of about {self.lags_needed(small * self.passed_on):,.0f}"
        while (later := self._later(small, most - len(self.sizes))) is None:
            if len(self.sizes) >= most or not np.isfinite(self.sizes[-1]):
                raise UncertainResultError("the states do not decay soon.")
            self.advance(self._place.ahead)
        sizes = np.array(self.sizes + later)
        after = np.sqrt(np.cumsum(np.square(sizes[::-1]))[::-1])
        count = max(1, int(np.count_nonzero(after[: len(self.sizes)] > small)))
        beyond = (after[count] if count < len(after) else 0.0) + sizes[-1] * self.passed_on
        self._tell(f"directions among {count:,} lags", count, None)
        parts = self._first(count)
        R = self._place.triangle(parts)
        size = float(np.sqrt((R**2).sum()))
        rounding = SAFETY * SINGLE * self._changed(parts)
        stages = R.shape[1] + len(self._kept[0]) / self._place.chunk_rows(R.shape[1])
        return Columns(R, float(rounding + 8 * EPS * np.sqrt(stages) * size), float(beyond))

    def _later(self, small: float, most: int) -> list[float] | None:
        """Sizes of lags beyond, to where all that follows is small; None where one of them is not.

        Looked at where the last lag is small itself; it may vanish and come back.
        """
        size, later = self.sizes[-1], list[float]()
        if not size <= NO_MORE * small:
            return None
        x = self._place.single(self._x / max(size, TINY))
        while not size * self.passed_on <= small:
            x = times(self._single, x)
            length = float(np.sqrt(self._place.squares(x).sum()))
            x = x / max(length, TINY)
            size *= length
            if not size <= small or len(later) >= most:
                return None
            later.append(size)
        return later

    def factor(self) -> Floats:
        """The triangular factor of the columns kept so far."""
        return self._place.triangle(self._kept)

    def _first(self, lags: int) -> list[Tall]:
        """The columns of the first lags; those of later ones are given up."""
        parts, left = list[Tall](), lags * self._x.shape[1]
        while left > 0:
            part = self._kept[len(parts)]
            parts.append(part if part.shape[1] <= left else part[:, :left])
            left -= part.shape[1]
        self._kept = parts
        return parts

    def require_room(self, lags: float) -> None:
        """Raise a TooLargeError where so many lags do not fit into memory."""
        require_room_for_columns(
            len(self._kept[0]),
            lags * self._x.shape[1],
            "its Krylov matrix",
            self._place.room,
            sharing=self._place.sharing,
        )
