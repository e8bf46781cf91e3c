"""Recordings as estimators read them: chosen columns, safe units, another input, lagged inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from memcurve.io import Source
from memcurve.result import Floats

Change = Callable[[Floats, Floats, int], tuple[Floats, Floats]]


class View(Source):
    """Another recording's rows, of which ``change(X, z, start)`` makes others, chunk by chunk."""

    def __init__(self, source: Source, change: Change, columns: int | None = None) -> None:
        self.length, self.name = source.length, source.name
        self.columns = source.columns if columns is None else columns
        self._source, self._change = source, change

    def chunks(self, rows: int, start: int = 0) -> Iterator[tuple[Floats, Floats]]:
        """Go through the recording, any number of times."""
        for X, z in self._source.chunks(rows, start):
            yield self._change(X, z, start)
            start += len(X)


def within_range(source: Source) -> Source:
    """The recording itself, or rescaled where squares of its numbers would leave float64."""
    X, z = first_rows(source, 10_000)
    with np.errstate(invalid="ignore"):
        exponents = np.frexp(np.nanmax(np.abs(X), axis=0, initial=0.0))[1]
        input_exponent = int(np.frexp(np.nanmax(np.abs(z), initial=0.0))[1])
    if max(np.abs(exponents).max(initial=0), abs(input_exponent)) <= 300:
        return source
    # division by powers of two is exact
    return View(source, lambda X, z, _: (np.ldexp(X, -exponents), np.ldexp(z, -input_exponent)))


def first_rows(source: Source, most: int) -> tuple[Floats, Floats]:
    """States and inputs of the first rows, ``most`` of them or all there are."""
    return next(iter(source.chunks(min(source.length, most))))


def lagged_chunks(
    source: Source, lags: int, start: int, rows: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield (Z, X) with Z[t] = (z_t, z_{t−1}, …, z_{t−lags+1}), from row ``start`` on.

    ``start`` is at least ``lags`` − 1: rows before it serve as lagged inputs only.
    """
    history = np.zeros(0)
    done = start - lags + 1
    for X, z in source.chunks(rows, done):
        joined = np.concatenate([history, z])
        first = max(start - done, 0)
        if first < len(z):
            windows = np.lib.stride_tricks.sliding_window_view(joined, lags)[:, ::-1]
            # the last window ends with the last row
            yield windows[len(windows) - (len(z) - first) :], X[first:]
        done += len(z)
        history = joined[max(len(joined) - lags + 1, 0) :]


def lagged(source: Source, lags: int, start: int, stop: int) -> tuple[Floats, Floats]:
    """(Z, X) of the rows ``start`` … ``stop`` − 1 in one piece."""
    Z, X = next(lagged_chunks(source, lags, start, stop - start + lags - 1))
    return np.ascontiguousarray(Z), X


def require_rows(rows: int, columns: int) -> None:
    """Refuse what least squares would fit perfectly."""
    if rows <= columns + 2:
        raise ValueError(
            f"`states` must have more rows than columns by at least 3 after washout and lags, got "
            f"{rows} rows for {columns} states; record longer or ask for fewer `lags`."
        )
