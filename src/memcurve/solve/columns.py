"""The Krylov matrix of a large sparse network, lag by lag, and its triangular factor.

Where the lags that stand above the noise are few, nothing is cheaper than K = [C, AC, A²C, …]
itself: one product a lag, and a factor R with RᵀR = KᵀK by Householder reflections, rows of K a
chunk at a time (TSQR), or on a device by the triangle of a sketch and one Gram matrix. Q is never
formed, and of rows that are not read nothing is kept.

Errors: what lies beyond the lags is bounded by the powers of A; some more lags, in single precision
and not kept, lead to where that bound is small. Rounding of all products is measured: the same
columns are made in single precision, where it is 2²⁹ times as large, until the difference has grown
as far as it will, and twenty times it, scaled back, is taken for it. That of the factor is a few
units in the last place. Both count relative to the noise, not to each direction:
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
from memcurve.result import EPS, TINY, Floats
from memcurve.solve.errors import powers_times, sums_of_powers

#: What all lags beyond those listed may hold, relative to the noise, where only its square counts,
#: as far as they are followed, and all of them by a proof.
TAIL, PROVEN_TAIL = 3e-7, 3e-6
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
#: A vector of single precision is divided by its length, or by this.
VANISHED = 1e-30


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
        width = self._x.shape[1]
        for first in range(0, lags, self._place.ahead):
            count = min(self._place.ahead, lags - first)
            made = powers_times(self._A, self._x, count)
            self._x = made[:, -width:]
            self._take(made)
            if len(self.sizes) // TOLD_EVERY > (len(self.sizes) - count) // TOLD_EVERY:
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
            count = part.shape[1] // width
            made = powers_times(self._single, rough, count) if done else rough
            rough = made[:, -width:]
            changed = float(place.squares(part - self._read(made)).sum())
            here = float(np.linalg.norm(self.sizes[done : done + count]))
            total, done = total + changed, done + count
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

    def finished(self, small: float, most: int, proven: float) -> Columns:
        """Go on until all that follows is small, and at most what has to be proven, and factor."""
        if len(self.sizes) > FEWEST_LAGS:
            self._foreseen = f" of about {self.lags_needed(small * self.passed_on):,.0f}"
        while (later := self._later(small, most - len(self.sizes), proven)) is None:
            if len(self.sizes) >= most or not np.isfinite(self.sizes[-1]):
                raise UncertainResultError("the states do not decay soon.")
            self.advance(self._place.ahead)
        sizes = np.array(self.sizes + later)
        after = np.sqrt(np.cumsum(np.square(sizes[::-1]))[::-1])
        count = max(1, int(np.count_nonzero(after[: len(self.sizes)] > small)))
        beyond = (after[count] if count < len(after) else 0.0) + sizes[-1] * self.passed_on
        self._tell(f"directions among {count:,} lags", count, None)
        parts = self._first(count)
        R, off = self._place.factor(parts)
        # of the products, of the factor, and of its singular values
        rounding = SAFETY * SINGLE * self._changed(parts) + off
        rounding += 8 * EPS * float(np.sqrt(R.shape[1] * (R**2).sum()))
        return Columns(R, rounding, float(beyond))

    def _later(self, small: float, most: int, proven: float) -> list[float] | None:
        """Sizes of lags beyond, as far as a proof takes; None where one of them is not small.

        Looked at where the last lag is small itself; it may vanish and come back.
        """
        size, later, place = self.sizes[-1], list[float](), self._place
        if not size <= NO_MORE * small:
            return None
        x = place.single(self._x / max(size, TINY))
        while not size * self.passed_on <= proven:
            made = powers_times(self._single, x, place.ahead)
            lengths = np.sqrt(place.squares(made).reshape(-1, x.shape[1]).sum(axis=1))
            for last in (size * lengths).tolist():
                size = last
                if not size <= small or len(later) >= most:
                    return None
                later.append(size)
                if size * self.passed_on <= proven:
                    break
            x = made[:, -x.shape[1] :] / max(float(lengths[-1]), VANISHED)
        return later

    def rough_triangle(self) -> Floats:
        """About the triangular factor of the columns kept so far."""
        return np.asarray(np.linalg.qr(self._place.sketch(self._kept), mode="r"))

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
