"""Recordings that need not fit into memory: states and input, handed out in chunks of any length.

Which arrays or columns are the states and the input is told by their names. Views of a recording
and lagged inputs are what estimators read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.arguments import rectangular_array, require_limit, require_size
from memcurve.io.arrays import Archive, Array, Opened, Opener, Table, in_memory, opened
from memcurve.io.hdf5 import open_hdf5, open_mat
from memcurve.io.npy import open_npy, open_npz
from memcurve.io.tables import open_parquet, open_table
from memcurve.result import Floats

#: How to open each ending that recordings come with.
FORMATS: dict[str, Opener] = {
    ".npy": open_npy,
    ".npz": open_npz,
    ".mat": open_mat,
    ".h5": open_hdf5,
    ".hdf5": open_hdf5,
    ".parquet": open_parquet,
    ".csv": open_table,
    ".txt": open_table,
}

#: Where no name is given, these are looked for.
_STATES = ("states", "X", "x")
_INPUTS = ("z", "u", "input", "inputs")
#: Columns that count the rows; among the states they would be a ramp.
_CLOCKS = ("", "t", "time", "Time", "index", "Unnamed: 0", "__index_level_0__")

Change = Callable[[Floats, Floats, int], tuple[Floats, Floats]]


class Source:
    """A recording: ``length`` rows of ``columns`` states of a network, each with its input."""

    def __init__(self, name: str, states: Array, inputs: Array | None) -> None:
        """The input is the last column of the states where it is None."""
        self.name = name
        self.length = states.shape[0]
        self.columns = states.shape[1] - (inputs is None)
        self._states, self._inputs = states, inputs

    def __repr__(self) -> str:
        """Say which recording it is, and how large."""
        return f"<Source {self.name}: {self.length} rows of {self.columns} states>"

    def chunks(self, rows: int, start: int = 0) -> Iterator[tuple[Floats, Floats]]:
        """Go through the recording, any number of times.

        Parameters
        ----------
        rows, start : int
            Length of the chunks, of which the last may be shorter, and the first row to take.

        Yields
        ------
        states, inputs : (rows, N) and (rows,) array
            New float64 arrays, states in C order, that may be changed and kept.
        """
        rows, given = require_size(rows, "rows"), np.asarray(start)
        start = require_limit(given.item() if given.ndim == 0 else start, "start")
        if start > self.length:
            raise ValueError(
                f"`start` must be at most {self.length}, the number of rows of {self.name}; got "
                f"{start}. Start earlier, or record for longer."
            )
        states = _regrouped(self._states, rows, start)
        if self._inputs is None:
            return ((both[:, :-1].copy(), both[:, -1].copy()) for both in states)
        inputs = _regrouped(self._inputs, rows, start)
        return ((x, z.reshape(-1)) for x, z in zip(states, inputs, strict=True))


def open_recording(
    states: Any,
    inputs: Any = None,
    *,
    state_names: str | Sequence[str] | None = None,
    input_name: str | None = None,
) -> Source:
    """Open recorded states and their input, without loading them.

    Parameters
    ----------
    states : (T, N) array or path
        A row for each time, a column for each state. An array of any real dtype is used as it is,
        also a memory map or an h5py dataset. A path ends in ``.npy``; ``.npz``, ``.mat``, ``.h5``
        or ``.hdf5`` (arrays by name); ``.parquet``, ``.csv`` or ``.txt`` (columns, by name if
        there is a header line; empty fields are NaN).
    inputs : (T,) or (T, 1) array or path, optional
        The input of the same rows; where it is left out, it is in the same file as the states.
    state_names : str or sequence of str, optional
        Name of the states' array (default: states, X or x, or the only array there is), or of the
        columns that are states (default: all but the input).
    input_name : str, optional
        Name of the input's array or column (default: z, u, input or inputs).

    Returns
    -------
    Source
        Its ``chunks(rows, start)`` go through states and input together, as float64 arrays. Only
        about a chunk is held in memory, except that matrices of ``.mat`` files older than version
        7.3, and those stored by column in ``.npz`` files, are held whole.

    Raises
    ------
    ValueError, TypeError
        There are no states and input in it that fit together. What lies deep within a file is read
        only with its chunk, and raises then.
    OSError, MemoryError, ModuleNotFoundError
        There is no file to read, what has to be held whole does not fit, or h5py or pyarrow is
        missing, which come with ``pip install memcurve[files]``.

    Examples
    --------
    >>> import numpy as np
    >>> source = open_recording(np.zeros((1000, 3), dtype=np.float32), np.arange(1000))
    >>> source
    <Source recording: 1000 rows of 3 states>
    >>> [z.size for x, z in source.chunks(400, start=100)]
    [400, 400, 100]
    """
    found, alone = _contents(states, "states"), inputs is not None
    if not alone and isinstance(found, Array):
        raise found.fault("holds states alone; give their input too: `inputs` as array or path.")
    z: Array | None = None
    if not alone and isinstance(found, Table):  # one array, whose last column is the input
        place = _column(found, input_name, _INPUTS, "input_name")
        X = found.array([*_state_columns(found, state_names, place), place])
    else:
        X = _array(found, state_names, _STATES, "state_names", alone)
        source = _contents(inputs, "inputs") if alone else found
        z = _array(source, input_name, _INPUTS, "input_name", alone)
    _check(X, z)
    return Source(Path(states).stem if isinstance(states, str | os.PathLike) else "recording", X, z)


def _regrouped(array: Array, rows: int, start: int) -> Iterator[Floats]:
    """Go through the rows from ``start`` on, in float64 chunks of ``rows``."""
    changed = "it changed while it was read: open it again when it is complete."
    left, filled = array.shape[0] - start, 0
    chunk = np.empty((min(rows, left), *array.shape[1:]))
    for block in array.rows(start) if left else ():
        at = 0
        while at < len(block):
            taken = min(len(chunk) - filled, len(block) - at)
            if not taken:
                raise array.fault(f"has more than its {array.shape[0]} rows; {changed}")
            with np.errstate(over="ignore"):  # what float64 cannot hold is infinite
                chunk[filled : filled + taken] = block[at : at + taken]
            at, filled, left = at + taken, filled + taken, left - taken
            if filled == len(chunk):
                yield chunk
                chunk, filled = np.empty((min(rows, left), *array.shape[1:])), 0
    if left:
        raise array.fault(f"ends {left} rows before its {array.shape[0]} rows; {changed}")


def _contents(value: Any, argument: str) -> Opened:
    """Open a path, or take an array, something that is sliced like one, or nested lists."""
    if isinstance(value, str | os.PathLike):
        return opened(value, FORMATS, "pass an array")
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"`{argument}` has masked entries; fill them first, e.g. with .filled(numpy.nan)."
        )
    # arrays on disk (h5py, zarr) have `chunks`, and are not to be loaded
    on_disk = all(hasattr(value, part) for part in ("chunks", "dtype", "shape"))
    array = value if on_disk else rectangular_array(value, argument)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"`{argument}` must be an array of numbers or the path of one file, got "
            f"{type(value).__name__} of dtype {array.dtype}; convert it first, e.g. "
            f"numpy.asarray({argument}, dtype=float)."
        )
    return in_memory(array, f"`{argument}`")


def _array(contents: Opened, names: Any, usual: Sequence[str], option: str, alone: bool) -> Array:
    """The array of states or input by its name; read where its format does not tell its type."""
    if isinstance(contents, Table):
        if usual is _STATES:
            return contents.array(_state_columns(contents, names, None))
        only = names is None and contents.width == 1
        return contents.array([0 if only else _column(contents, names, usual, option)])
    if isinstance(contents, Array):
        if names is None:
            return contents
        raise contents.fault(f"has no names to choose from, got {option}={names!r}; leave it out.")
    if usual is _STATES and names is not None and not isinstance(names, str):
        if len(names) != 1:
            raise ValueError(
                f"`state_names` must be the name of one array, that of all states, got {names!r}; "
                f"lists are for the columns of tables."
            )
        names = names[0]
    array = contents.arrays[_chosen(contents, names, usual, option, alone)]
    if array.is_sparse:
        raise array.fault("is sparse, not a full matrix; store it in full, e.g. X = full(X).")
    array.require_readable()
    array = array.series() if usual is _INPUTS else array
    return in_memory(array.whole(), array.name, array.file) if array.dtype is None else array


def _state_columns(table: Table, names: str | Sequence[str] | None, place: int | None) -> list[int]:
    """Return the columns listed, or all but the input's."""
    if names is None:
        columns = [column for column in range(table.width) if column != place]
        for name in [table.names[column] for column in columns] if table.names else ():
            if name in (*_CLOCKS, *_INPUTS):
                seems = "to be an input" if name in _INPUTS else "to count the rows"
                raise table.fault(
                    f"column {name!r} seems {seems} and not to be a state; remove it, or list the "
                    f"states with state_names=[...]."
                )
        return columns
    wanted = [names] if isinstance(names, str) else names
    columns = [_column(table, name, (), "state_names") for name in wanted]
    if len({*columns}) < len(columns):
        raise ValueError(f"`state_names` must name each column once, got {names!r}.")
    if place in columns:
        raise table.fault(
            f"column {wanted[columns.index(place)]} is the input and in `state_names`; leave it "
            f"out there: it would be remembered perfectly."
        )
    return columns


def _column(table: Table, name: str | None, usual: Sequence[str], option: str) -> int:
    chosen, names = _chosen(table, name, usual, option), table.names or []
    if names.count(chosen) > 1:
        raise table.fault(f"has several columns {chosen!r}; rename them.")
    return names.index(chosen)


def _chosen(
    contents: Archive | Table, name: Any, usual: Sequence[str], option: str, alone: bool = False
) -> str:
    """Return the name asked for, the usual one, or (``alone``) the only one there is."""
    names = contents.names if isinstance(contents, Table) else list(contents.arrays)
    if isinstance(contents, Table) and names is None:
        asked = "" if name is None else f", got {option}={name!r}"
        remedy = "give `inputs` as array or path" if name is None else f"leave `{option}` out"
        raise contents.fault(
            f"has {contents.width} columns without names{asked}; write a header line, or {remedy}."
        )
    if not names:
        raise contents.fault("holds no arrays.")
    if name is not None:
        if name in names or (name := str(name).removeprefix("/")) in names:
            return str(name)
        is_table = isinstance(contents, Table)
        thing, holds = (f"column {name!r}", "has") if is_table else (name, "holds")
        raise contents.fault(f"has no {thing}; it {holds} {contents.listing}. Correct `{option}`.")
    found = [key for key in usual if key in names]
    if len(found) > 1:
        raise contents.fault(f"has {' and '.join(found)}; choose with {option}='{found[0]}'.")
    if not found and not (alone and len(names) == 1):
        raise contents.fault(
            f"has none of {', '.join(usual)}, only {contents.listing}; choose one with "
            f"{option}='...'."
        )
    return found[0] if found else names[0]


def _check(states: Array, inputs: Array | None) -> None:
    """Raise an error unless these are T rows of states, and T numbers."""
    _require_real(states, "both parts as columns, e.g. numpy.hstack([X.real, X.imag])")
    if len(states.shape) != 2:
        raise states.fault(
            f"must be two-dimensional, a row for each time and a column for each state, got "
            f"shape {states.shape}; a single state has shape (T, 1)."
        )
    if 0 in states.shape or (inputs is None and states.shape[1] < 2):
        raise states.fault(f"holds no states, its shape is {states.shape}; check how it was made.")
    if inputs is None:
        return
    _require_real(inputs, "its real part, e.g. z.real")
    shape = inputs.shape
    if len(shape) == 2 and shape[0] == 1 < shape[1]:
        raise inputs.fault(f"is a row of shape {shape}; give a column, e.g. z.reshape(-1).")
    if len(shape) not in (1, 2) or shape[1:] not in ((), (1,)):
        raise inputs.fault(
            f"must be one input of shape (T,) or (T, 1), got several: shape {shape}; choose one, "
            f"e.g. z[:, 0]."
        )
    length, columns = states.shape
    if columns == shape[0] != length:
        raise states.fault(
            f"has shape {states.shape}, and the input {columns} rows: it is transposed, with a "
            f"column for each time; give a row for each time, e.g. X.T."
        )
    if length != shape[0]:
        raise states.fault(
            f"has {length} rows, and the input ({inputs.label}) {shape[0]}; both must be of the "
            f"same times: cut the longer one, at the end where it is too long."
        )


def _require_real(array: Array, remedy: str) -> None:
    array.require_readable()
    kind = "" if array.dtype is None else array.dtype.kind
    if kind not in tuple("biuf"):
        remedy = f"give {remedy}" if kind == "c" else "store it as float64"
        raise array.fault(f"must hold real numbers, got {array.dtype}; {remedy}.")


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
