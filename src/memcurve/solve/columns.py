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
from memcurve.progress import Listener, silent
from memcurve.solve.sensitivity import EPS, TINY, sums_of_powers, times

Floats = NDArray[np.float64]

#: What all lags beyond those listed may hold, relative to the noise, where only its square counts.
TAIL = 3e-7
#: Lags are kept until one is below this share of it.
NO_MORE = 0.3
#: After so many columns, and at least so many lags, it is foreseen how many there will be.
PILOT, FEWEST_LAGS = 64, 8
#: Progress is told after so many lags or steps.
TOLD_EVERY = 16
#: Rows of a chunk, in units of the number of columns, and at least.
CHUNK, LEAST_ROWS = 4, 2048
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
        self._A, self._single = A, A.astype(np.float32)
        self._x, self._rough = C, C.astype(np.float32)
        self._rows = rows
        self._kept: list[Floats] = []
        self.sizes: list[float] = []
        self._lost = self._energy = self._share = 0.0
        self._is_settled = False
        self.powers = sums_of_powers(self._single)
        self.passed_on = self.powers.norms
        self._take()

    def _take(self) -> None:
        """Keep the current lag."""
        x, rough = self._x, self._rough
        self.sizes.append(float(np.sqrt((x**2).sum())))
        self._energy += self.sizes[-1] ** 2
        if self._is_settled:  # should a lag come back, it has its share of rounding
            self._lost += (self._share * self.sizes[-1]) ** 2
        else:
            lost = float(np.sqrt(((x - rough) ** 2).sum()))
            self._lost += lost**2
            self._share = max(self._share, lost / max(self.sizes[-1], TINY))
            left = max(lost / np.sqrt(self._lost + TINY), self.sizes[-1] / np.sqrt(self._energy))
            self._is_settled = left <= SETTLED
        self._kept.append(np.array(x if self._rows is None else x[self._rows], order="F"))

    def advance(self, lags: int) -> None:
        """Make further lags."""
        for _ in range(lags):
            self._x = times(self._A, self._x)
            if not self._is_settled:
                self._rough = times(self._single, self._rough)
            self._take()
            if len(self.sizes) % TOLD_EVERY == 0:
                self._tell(f"lag {len(self.sizes):,}{self._foreseen}", len(self.sizes), None)

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
        self._foreseen = f" of about {self.lags_needed(small * self.passed_on):,.0f}"
        while (later := self._later(small, most - len(self.sizes))) is None:
            if len(self.sizes) >= most or not np.isfinite(self.sizes[-1]):
                raise UncertainResultError("the states do not decay soon.")
            self.advance(1)
        sizes = np.array(self.sizes + later)
        after = np.sqrt(np.cumsum(np.square(sizes[::-1]))[::-1])
        count = max(1, int(np.count_nonzero(after[: len(self._kept)] > small)))
        beyond = (after[count] if count < len(after) else 0.0) + sizes[-1] * self.passed_on
        del self._kept[count:]
        self._tell(f"directions among {count:,} lags", count, None)
        R = self.factor()
        size = float(np.sqrt((R**2).sum()))
        rounding = SAFETY * SINGLE * np.sqrt(self._lost)
        stages = R.shape[1] + len(self._kept[0]) / self._chunk_rows
        return Columns(R, float(rounding + 8 * EPS * np.sqrt(stages) * size), float(beyond))

    def _later(self, small: float, most: int) -> list[float] | None:
        """Sizes of lags beyond, to where all that follows is small; None where one of them is not.

        Looked at where the last lag is small itself; it may vanish and come back.
        """
        if not self.sizes[-1] <= NO_MORE * small:
            return None
        size, later = self.sizes[-1], list[float]()
        x: Any = (self._x / max(size, TINY)).astype(np.float32)
        while not size * self.passed_on <= small:
            x = times(self._single, x)
            length = float(np.sqrt(np.einsum("ij,ij->", x, x, dtype=float)))
            x /= max(length, TINY)
            size *= length
            if not size <= small or len(later) >= most:
                return None
            later.append(size)
        return later

    @property
    def _width(self) -> int:
        return len(self._kept) * int(self._kept[0].shape[1])

    @property
    def _chunk_rows(self) -> int:
        return max(CHUNK * self._width, LEAST_ROWS)

    def factor(self) -> Floats:
        """The triangular factor of the columns kept so far, from chunks of rows."""
        from scipy.linalg.lapack import dgeqrf, dgeqrf_lwork

        total, step = len(self._kept[0]), self._chunk_rows
        width = self._width
        R = np.zeros((0, width))
        for first in range(0, total, step):
            parts = [column[first : first + step] for column in self._kept]
            chunk = np.empty((len(R) + len(parts[0]), width), order="F")
            chunk[: len(R)] = R
            np.concatenate(parts, axis=1, out=chunk[len(R) :])
            work = int(dgeqrf_lwork(*chunk.shape)[0])
            factors = dgeqrf(chunk, lwork=work, overwrite_a=True)[0]
            R = np.triu(factors[:width])
        return np.asarray(R)

    def require_room(self, lags: float) -> None:
        """Raise a TooLargeError where so many lags do not fit into memory."""
        require_room_for_columns(
            len(self._kept[0]), lags * self._kept[0].shape[1], "its Krylov matrix"
        )
