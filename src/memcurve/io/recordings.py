"""Recordings that need not fit into memory: states and input, read in chunks of any length.

Names decide which arrays or columns are the states and the input. Estimators read views of a
recording and lagged inputs.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import rectangular_array, require_limit, require_size
from memcurve.core.limits import require_room
from memcurve.core.notes import counted
from memcurve.core.types import Floats
from memcurve.io.arrays import Archive, Array, Opened, Opener, in_memory, opened, stem_of, words
from memcurve.io.arrow import ARROW, open_columns
from memcurve.io.hdf5 import open_hdf5
from memcurve.io.matlab import open_mat
from memcurve.io.npy import open_npy, open_npz
from memcurve.io.text import open_table

#: Tables of text, plain or packed.
_TEXT = (".csv", ".txt", ".tsv", ".csv.gz", ".txt.gz", ".tsv.gz")
#: How to open each ending that recordings come with.
RECORDING_FORMATS: dict[str, Opener] = {
    ".npy": open_npy,
    ".npz": open_npz,
    ".mat": open_mat,
    ".h5": open_hdf5,
    ".hdf5": open_hdf5,
    **dict.fromkeys(ARROW, open_columns),
    **dict.fromkeys(_TEXT, open_table),
}

#: Where no name is given, these are looked for.
_STATES = ("states", "X", "x")
_INPUTS = ("z", "u", "input", "inputs")
_UNIT = re.compile(r"[\[(].*[\])]$")
#: Bytes that a column takes in a list of them: its number, as text, too.
_COLUMN = 100
#: From one name to another that differs by a number: ch0-ch29, 8_V-23_V.
_SPAN = re.compile(r"(?P<before>.*?)(?P<first>\d+)(?P<after>.*)-(?P=before)(?P<last>\d+)(?P=after)")

Names = str | int | Sequence[str | int]
Change = Callable[[Floats, Floats, int], tuple[Floats, Floats]]


class Source:
    """A recording: ``length`` rows of ``columns`` states of a network, each with its input."""

    def __init__(
        self,
        name: str,
        states: Array,
        inputs: Array | None,
        labels: Sequence[str] = (),
        channels: int = 1,
    ) -> None:
        """The inputs are the last columns of the states where they are None."""
        self.name = name
        self.labels = tuple(labels)  # names of the states, or nothing
        self.channels = channels  # of the input
        self.length = states.shape[0]
        self.columns = states.shape[1] - channels * (inputs is None)
        self._states, self._inputs = states, inputs

    def __repr__(self) -> str:
        """Name and size of the recording."""
        return f"<Source {self.name}: {self.length} rows of {self.columns} states>"

    def chunks(self, rows: int, start: int = 0) -> Iterator[tuple[Floats, Floats]]:
        """Go through the recording in chunks of so many ``rows``, any number of times.

        Yields states and inputs as new float64 arrays that may be changed and kept: (rows, N), and
        (rows,) or, for several inputs, (rows, d).
        """
        rows, start = require_size(rows, "rows"), require_limit(start, "start")
        if start > self.length:
            facts = {"rows": self.length, "name": self.name, "start": start}
            raise ValueError(words("contents", "start", **facts))
        states = _regrouped(self._states, rows, start)
        if self._inputs is None:
            cut, shape = self.columns, (-1,) if self.channels == 1 else (-1, self.channels)
            return ((both[:, :cut].copy(), both[:, cut:].reshape(shape).copy()) for both in states)
        inputs = _regrouped(self._inputs, rows, start)
        pairs = zip(states, inputs, strict=True)
        return ((x, z.reshape(-1) if self.channels == 1 else z) for x, z in pairs)


def open_recording(
    states: Any,
    inputs: Any = None,
    *,
    state_names: Names | None = None,
    input_name: Names | None = None,
    drop: Names = (),
    rows: slice | str | None = None,
    every: int = 1,
    shift: int = 0,
    skip_rows: int | None = None,
) -> Source:
    """Open recorded states and their input, without loading them.

    Parameters
    ----------
    states : (T, N) array or path
        One row per time step, one column per state: an array, a memory map, an h5py dataset, or a
        file: ``.npy``; ``.npz``, ``.mat``, ``.h5``, ``.hdf5`` (arrays by name); ``.parquet``,
        ``.csv``, ``.txt``, also packed (columns, by name if there is a header; NaN where empty).
    inputs : (T,) or (T, d) array or path, optional
        The input of the same rows, or several; where it is left out, it is in the same file.
    state_names : str or sequence of str, optional
        Name of the states' array (default: states, X or x, or the only one), or of the columns that
        are states (default: all but the input). ``*`` stands for anything, ``?`` for one character,
        ``"ch0-ch29"`` for these and those between; columns without names have numbers, from 0 on.
    input_name : str or sequence of str, optional
        Name of the input's array or columns (default: z, u, input or inputs, also with a unit,
        ``"Input [V]"``).
    drop : str or sequence of str
        Columns that are no states, named in the same way.
    rows : slice or str, optional
        The rows to take, e.g. ``slice(100, 4000)`` or ``"100:4000"``, and of the input the same; or
        all of it, where it has just as many as are left: ``"1::2"`` takes every second state.
    every : int
        Of these, the last of each so many rows: of an input that is held for ten rows, ``every=10``
        takes the row in which the states have been driven by it for the longest time.
    shift : int
        Steps by which the states are late (or lead, where it is negative): row t + ``shift`` of the
        states then belongs to input t. The rows at the ends that have no partner are left out.
    skip_rows : int, optional
        Lines of a text file above its table (default: those above a header of words that has as
        many fields as the lines below it).

    Returns
    -------
    Source
        Its ``chunks(rows, start)`` go through states and input together. Only about a chunk is held
        in memory, unless a file is ``.npz``, or ``.mat`` before version 7.3.

    Examples
    --------
    >>> import numpy as np
    >>> source = open_recording(np.zeros((1000, 3), dtype=np.float32), np.arange(1000))
    >>> source
    <Source recording: 1000 rows of 3 states>
    >>> [z.size for x, z in source.chunks(400, start=100)]
    [400, 400, 100]
    """
    skip = None if skip_rows is None else require_limit(skip_rows, "skip_rows")
    contents, alone = _contents(states, "states", skip), inputs is not None
    dropped, taken = _listed(drop), _slice(rows)
    last = slice(require_size(every, "every") - 1, None, every)
    is_single = isinstance(contents, Array) and contents.select is None
    if not alone and is_single and input_name is None:
        raise contents.fault("alone")
    z: Array | None = None
    if not alone and not isinstance(contents, Archive):  # one array, whose last column is the input
        places = _input_columns(contents, input_name)
        columns = _state_columns(contents, state_names, dropped, places)
        X, labels = contents.columns(columns + places * (not shift)), _labels(contents, columns)
        z, channels = contents.columns(places) if shift else None, len(places)
    else:
        X, labels = _states(contents, state_names, dropped, alone)
        z = _input(_contents(inputs, "inputs", skip) if alone else contents, input_name, alone)
        channels = z.shape[1] if len(z.shape) == 2 else 1
    length = X.shape[0] if X.shape else 0
    X = _sliced(X, range(length)[taken][last]) if length else X
    if z is not None and z.shape[:1] == (length,) != X.shape[:1]:
        z = _sliced(z, range(length)[taken][last])
    _check(X, z, channels)
    if z is not None and shift:
        X, z = _shifted(X, z, shift)
    name = stem_of(states) if isinstance(states, str | os.PathLike) else "recording"
    return Source(name, X, z, labels, channels)


def _listed(names: Names) -> list[str]:
    """Names as a list of texts; columns without names have their numbers."""
    several = [names] if isinstance(names, str | int | np.integer) else names
    return [str(name) for name in several]


def _shifted(states: Array, inputs: Array, shift: int) -> tuple[Array, Array]:
    """States and inputs, paired anew."""
    length = states.shape[0]
    if isinstance(shift, bool) or not isinstance(shift, int | np.integer) or abs(shift) >= length:
        raise ValueError(words("contents", "shift", rows=length, shift=shift))
    late, early = max(int(shift), 0), max(-int(shift), 0)
    first, last = range(late, length - early), range(early, length - late)
    return _sliced(states, first), _sliced(inputs, last)


def _slice(rows: slice | str | None) -> slice:
    """The rows asked for, e.g. ``"100:4000"``."""
    wanted = "`rows` must be FROM:TO or FROM:TO:STEP, e.g. '100:4000' (in Python also a slice), of "
    wanted += f"rows from 0 on and a step above 0; got {rows!r}."
    if isinstance(rows, str):
        parts = rows.split(":")
        if not 2 <= len(parts) <= 3:
            raise ValueError(wanted)
        try:
            rows = slice(*(int(part) if part.strip() else None for part in parts))
        except ValueError:
            raise ValueError(wanted) from None
    rows = slice(None) if rows is None else rows
    if not isinstance(rows, slice) or (rows.step is not None and rows.step < 1):
        raise ValueError(wanted)
    return rows


def _sliced(array: Array, rows: range) -> Array:
    """These rows of an array."""
    if rows == range(array.shape[0]):
        return array

    def blocks(start: int) -> Iterator[NDArray[Any]]:
        wanted = rows[start:]
        place = wanted.start
        for block in array.rows(place):
            indices = range(wanted.start, min(wanted.stop, place + len(block)), rows.step)
            if indices:
                yield block[indices.start - place : indices.stop - place : rows.step]
                wanted = wanted[len(indices) :]
            if not wanted:
                return
            place += len(block)

    return replace(array, shape=(len(rows), *array.shape[1:]), load=None, blocks=blocks)


def _regrouped(array: Array, rows: int, start: int) -> Iterator[Floats]:
    """Go through the rows from ``start`` on, in float64 chunks of ``rows``."""
    left, filled = array.shape[0] - start, 0
    chunk = np.empty((min(rows, left), *array.shape[1:]))
    for block in array.rows(start) if left else ():
        at = 0
        while at < len(block):
            taken = min(len(chunk) - filled, len(block) - at)
            if not taken:
                raise array.fault("longer", rows=array.shape[0])
            with np.errstate(over="ignore"):  # what float64 cannot hold is infinite
                chunk[filled : filled + taken] = block[at : at + taken]
            at, filled, left = at + taken, filled + taken, left - taken
            if filled == len(chunk):
                yield chunk
                chunk, filled = np.empty((min(rows, left), *array.shape[1:])), 0
    if left:
        raise array.fault("shorter", left=left, rows=array.shape[0])


def _contents(value: Any, argument: str, skip: int | None) -> Opened:
    """Open a path, or take an array, something that is sliced like one, or nested lists."""
    if isinstance(value, str | os.PathLike):
        formats = dict(RECORDING_FORMATS)
        formats |= dict.fromkeys(_TEXT, partial(open_table, skip_rows=skip))
        return opened(value, formats, "pass an array")
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(words("contents", "masked", argument=argument))
    # arrays on disk (h5py, zarr) have `chunks`, and are not to be loaded
    on_disk = all(hasattr(value, part) for part in ("chunks", "dtype", "shape"))
    array = value if on_disk else rectangular_array(value, argument)
    if array.dtype.kind not in "biufc":
        dense = f"{argument}.toarray()" if hasattr(value, "toarray") else None
        remedy = dense or f"numpy.asarray({argument}, dtype=float)"
        facts = {"kind": type(value).__name__, "dtype": array.dtype, "remedy": remedy}
        raise TypeError(words("contents", "no_numbers", argument=argument, **facts))
    return in_memory(array, f"`{argument}`")


def _states(
    contents: Opened, names: Names | None, drop: list[str], alone: bool
) -> tuple[Array, list[str]]:
    """The states, of an archive the array of that name, and the names of their columns."""
    if isinstance(contents, Archive):
        contents = _member(contents, names, _STATES, "state_names", alone)
        names = None
    if len(contents.shape) != 2 and names is None and not drop:
        return contents, []
    columns = _state_columns(contents, names, drop, [])
    return contents.columns(columns), _labels(contents, columns)


def _input(contents: Opened, names: Names | None, alone: bool) -> Array:
    """The input, of an archive the array of that name, of a table the columns."""
    if isinstance(contents, Archive):
        return _member(contents, names, _INPUTS, "input_name", alone).series()
    if names is None and contents.select is None:
        return contents.series()
    only = names is None and contents.shape[1] == 1
    return contents.columns([0] if only else _input_columns(contents, names))


def _member(
    archive: Archive, names: Names | None, usual: Sequence[str], option: str, alone: bool
) -> Array:
    """The array of that name, a usual one, or (``alone``) the only one there is."""
    names_stored = list(archive.arrays)
    wanted = None if names is None else [name.removeprefix("/") for name in _listed(names)]
    if wanted is None:
        name = _usual(archive, names_stored, usual, option, alone and len(names_stored) == 1)
    elif len(wanted) == 1 and wanted[0] in names_stored:
        [name] = wanted
    else:
        raise archive.fault("one_array", option=option, names=names, listing=archive.listing)
    array = archive.arrays[name]
    if array.is_sparse:
        raise array.fault("sparse")
    array.require_readable()
    # read where its format does not state its type
    return array if array.dtype else in_memory(array.whole(), array.name, array.file)


def _usual(
    contents: Archive | Array, names: list[str], usual: Sequence[str], option: str, only: bool
) -> str:
    """The one of the usual names that is there, or the ``only`` name."""
    plain = {name.lower() for name in usual}
    matches = [key for key in names if _plain(key) in plain]
    if len(matches) == 1 or (only and not matches):
        return (matches or names)[0]
    listing = " and ".join(matches) or f"none of {', '.join(usual)}, only {contents.listing}"
    raise contents.fault("several", listing=listing, option=option)


def _plain(name: str) -> str:
    """A name without its unit, in small letters: ``"Input [V]"`` is the input."""
    return _UNIT.sub("", name).strip().lower()


def _column_names(contents: Array) -> list[str]:
    """Names of the columns, or else their numbers."""
    if contents.names is not None:
        return contents.names
    if len(contents.shape) != 2:
        raise contents.fault("no_columns", shape=contents.shape)
    contents.require_readable()  # what a header says of a shape need not be true
    subject = f"{contents.label} is too large: the list of its {contents.shape[1]:,} columns"
    require_room(_COLUMN * contents.shape[1], subject, "Store a row for each time.")
    return [str(column) for column in range(contents.shape[1])]


def _labels(contents: Array, columns: list[int]) -> list[str]:
    """Names of these columns in messages, unless they are their numbers."""
    names = _column_names(contents)
    is_named = contents.names is not None or columns != [*range(len(names))]
    return [names[k] for k in columns] if is_named else []


def _state_columns(
    contents: Array, names: Names | None, drop: list[str], places: list[int]
) -> list[int]:
    """Return the columns listed, or all but the inputs', less those to drop."""
    titles = _column_names(contents)
    left_out = {*places, *(k for name in drop for k in _matching(contents, titles, name, "drop"))}
    if names is None:
        columns = [k for k in range(len(titles)) if k not in left_out]
        if inputs := [titles[k] for k in columns if _plain(titles[k]) in _INPUTS]:
            raise contents.fault("seems_input", column=inputs[0])
        return columns
    columns = [
        k for name in _listed(names) for k in _matching(contents, titles, name, "state_names")
    ]
    if len({*columns}) < len(columns):
        raise ValueError(f"`state_names` must name each column once, got {names!r}.")
    for k in places:
        if titles[k] in _listed(names):
            raise contents.fault("is_input", column=titles[k])
    return [k for k in columns if k not in left_out]


def _input_columns(contents: Array, names: Names | None) -> list[int]:
    """The columns of the inputs, by their names, or by a usual one."""
    titles = _column_names(contents)
    if names is None and contents.select is not None:
        if contents.names is None:
            width = contents.shape[1]
            raise contents.fault("unnamed", width=width, last=width - 1)
        names = _usual(contents, titles, _INPUTS, "input_name", only=False)
    wanted = [] if names is None else _listed(names)
    columns = [k for name in wanted for k in _matching(contents, titles, name, "input_name")]
    if not columns or len({*columns}) < len(columns):
        raise ValueError(f"`input_name` must name each column once, got {names!r}.")
    return columns


def _matching(contents: Array, names: list[str], wanted: str, option: str) -> list[int]:
    """The columns of that name; else those that ``ch*`` or ``ch0-ch29`` stands for."""
    if wanted in names:
        if names.count(wanted) > 1:
            raise contents.fault("twice", column=wanted)
        return [names.index(wanted)]
    span, matches = _SPAN.fullmatch(wanted), list[int]()
    if span is not None:
        number = re.compile(re.escape(span["before"]) + r"(\d+)" + re.escape(span["after"]))
        numbers = [number.fullmatch(name) for name in names]
        first, last = int(span["first"]), int(span["last"])
        matches = [k for k, one in enumerate(numbers) if one and first <= int(one[1]) <= last]
    elif "*" in wanted or "?" in wanted:  # brackets are for units
        pattern = re.escape(wanted).replace(r"\*", ".*").replace(r"\?", ".")
        matches = [k for k, name in enumerate(names) if re.fullmatch(pattern, name)]
    if not matches:
        listing = contents.listing or f"{names[0]} … {names[-1]}, which are their numbers"
        raise contents.fault("no_column", column=wanted, there=listing, option=option)
    return matches


def _check(states: Array, inputs: Array | None, channels: int) -> None:
    """Raise an error unless these are T rows of states, and of one input or several."""
    _require_real(states, "both parts as columns, e.g. numpy.hstack([X.real, X.imag])")
    if len(states.shape) != 2:
        raise states.fault("states", shape=states.shape)
    if 0 in states.shape or (inputs is None and states.shape[1] <= channels):
        raise states.fault("no_states", shape=states.shape)
    if inputs is None:
        return
    _require_real(inputs, "its real part, e.g. z.real")
    shape = inputs.shape
    if len(shape) not in (1, 2) or 0 in shape:
        raise inputs.fault("inputs", shape=shape)
    length, columns = states.shape
    if length != shape[0]:
        kind = "transposed" if columns == shape[0] else "times"
        raise states.fault(kind, rows=length, input=inputs.label, other=shape[0])


def _require_real(array: Array, remedy: str) -> None:
    array.require_readable()
    kind = "" if array.dtype is None else array.dtype.kind
    if kind not in tuple("biuf"):
        remedy = f"give {remedy}" if kind == "c" else "store it as float64"
        raise array.fault("not_real", dtype=array.dtype, remedy=remedy)


class View(Source):
    """Another recording's rows, of which ``change(X, z, start)`` makes others, chunk by chunk."""

    def __init__(self, source: Source, change: Change, columns: int | None = None) -> None:
        self.length, self.name, self.labels = source.length, source.name, source.labels
        self.channels = source.channels
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
        of_inputs = np.frexp(np.nanmax(np.abs(z), axis=0, initial=0.0))[1]
    if max(np.abs(exponents).max(initial=0), np.abs(of_inputs).max()) <= 300:
        return source
    # division by powers of two is exact
    return View(source, lambda X, z, _: (np.ldexp(X, -exponents), np.ldexp(z, -of_inputs)))


def first_rows(source: Source, most: int) -> tuple[Floats, Floats]:
    """States and inputs of the first rows, ``most`` of them or all there are."""
    return next(iter(source.chunks(min(source.length, most))))


def lagged_chunks(
    source: Source, lags: int, start: int, rows: int
) -> Iterator[tuple[Floats, Floats]]:
    """Yield (Z, X) with Z[t] = (z_t, z_{t−1}, …, z_{t−lags+1}) from row ``start`` ≥ lags − 1 on."""
    history = np.zeros((0, source.channels))
    done = start - lags + 1
    for X, z in source.chunks(rows, done):
        joined = np.concatenate([history, z.reshape(len(z), -1)])
        first = max(start - done, 0)
        if first < len(z):
            windows = np.lib.stride_tricks.sliding_window_view(joined, lags, axis=0)[:, :, ::-1]
            windows = windows[len(windows) - (len(z) - first) :]  # the last ends with the last row
            yield windows.transpose(0, 2, 1).reshape(len(windows), -1), X[first:]
        done += len(z)
        history = joined[max(len(joined) - lags + 1, 0) :]


def lagged(source: Source, lags: int, start: int, stop: int) -> tuple[Floats, Floats]:
    """(Z, X) of the rows ``start`` … ``stop`` − 1 in one piece."""
    Z, X = next(lagged_chunks(source, lags, start, stop - start + lags - 1))
    return np.array(Z), X


def present(Z: Floats, X: Floats) -> NDArray[np.bool_]:
    """Whether each row is complete: the state, and all inputs that it is compared with."""
    return np.asarray(np.isfinite(X).all(axis=1) & np.isfinite(Z).all(axis=1))


def require_rows(rows: int, columns: int) -> None:
    """Refuse what least squares would fit perfectly."""
    if rows <= columns + 2:
        facts = {"rows": counted(rows, "row"), "columns": counted(columns, "state")}
        raise ValueError(words("contents", "few_rows", **facts))
