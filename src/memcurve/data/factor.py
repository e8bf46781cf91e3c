"""One pass over a recording: the triangular factor of [1 | lagged inputs | states].

The factor R of a QR decomposition holds all that least squares needs; it is updated chunk by chunk,
R ← qr([R; chunk]) (TSQR), without ever forming a matrix of products, whose rounding would bury what
lies below 1e-8 of the largest state.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.io import Source
from memcurve.progress import watched

Floats = NDArray[np.float64]

#: Rows of a chunk, in units of the number of columns: the update then costs little beside its QR.
CHUNK = 8
#: Fewer rows than this would cost more to hand over than to decompose.
LEAST_ROWS = 4096


class Factor(NamedTuple):
    """R of the centred [Z | X], with unit mean square inputs and states of unit deviation.

    ``rows`` is the number of time steps, ``lags`` that of the columns of Z, ``mean_input`` and
    ``input_deviation``, ``means`` and ``deviations`` what was taken out.
    """

    R: Floats
    rows: int
    lags: int
    mean_input: Floats
    input_deviation: float
    means: Floats
    deviations: Floats


def lagged_chunks(
    source: Source, lags: int, start: int, rows: int, stop: int | None = None
) -> Iterator[tuple[Floats, Floats]]:
    """Yield (Z, X) with Z[t] = (z_t, z_{t−1}, …, z_{t−lags+1}), from row ``start`` on."""
    before = start - lags + 1
    history = np.zeros(0)
    done = before
    for X, z in source.chunks(rows, before):
        joined = np.concatenate([history, z])
        first = max(start, done)  # rows before it serve as lagged inputs only
        last = min(done + len(z), source.length if stop is None else stop)
        if last > first:
            windows = np.lib.stride_tricks.sliding_window_view(joined, lags)[:, ::-1]
            # the window that ends at time t is number t − (done − len(history)) − lags + 1
            offset = done - len(history) + lags - 1
            yield windows[first - offset : last - offset], X[first - done : last - done]
        done += len(z)
        history = joined[-(lags - 1) :] if lags > 1 else joined[:0]
        if stop is not None and done >= stop:
            return


def triangular_factor(source: Source, lags: int, start: int, *, show: bool = False) -> Factor:
    """Read the recording from row ``start`` on, which must be at least ``lags`` − 1."""
    width = 1 + lags + source.columns
    size = max(CHUNK * width, LEAST_ROWS)
    R, count = np.zeros((0, width)), 0
    total = -(-(source.length - start + lags - 1) // size)
    chunks = lagged_chunks(source, lags, start, size)
    for Z, X in watched(chunks, "reading", total, show):
        block = np.concatenate([R, np.hstack([np.ones((len(Z), 1)), Z, X])])
        R = np.asarray(np.linalg.qr(block, mode="r"))
        count += len(Z)
    means = R[0, 1:] / R[0, 0]
    R = R[1:, 1:]
    deviations = np.sqrt((R[:, lags:] ** 2).sum(axis=0) / count)
    input_deviation = float(np.sqrt((R[:, :lags] ** 2).sum() / (lags * count)))
    scale = np.concatenate([np.full(lags, input_deviation), deviations])
    return Factor(R / scale, count, lags, means[:lags], input_deviation, means[lags:], deviations)
