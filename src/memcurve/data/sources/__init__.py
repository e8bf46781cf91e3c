"""Recordings that need not fit into memory: arrays and files, read in chunks. Runs no pickles."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memcurve.data.sources.arrays import given, open_npy, open_npz
from memcurve.data.sources.choice import Opened, both_of, check, input_of, states_of
from memcurve.data.sources.hdf5 import open_hdf5, open_mat
from memcurve.data.sources.parquet import open_parquet
from memcurve.data.sources.source import Recording, Source
from memcurve.data.sources.text import open_text
from memcurve.files.reading import NetworkFileError, readable

__all__ = ["Source", "open_recording"]

#: How to open each ending.
_KINDS: dict[str, Callable[[Path], Opened]] = {
    ".npy": open_npy,
    ".npz": open_npz,
    ".mat": open_mat,
    ".h5": open_hdf5,
    ".hdf5": open_hdf5,
    ".parquet": open_parquet,
    ".csv": open_text,
    ".txt": open_text,
}


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
    ValueError
        The file is empty, damaged or of an unknown kind, names are not there or not unique, or
        states and input do not fit together. What lies deep within a file is read only with its
        chunk, and raises then.
    TypeError
        An array that does not hold numbers.
    FileNotFoundError, IsADirectoryError, PermissionError
        There is no file to read.
    ModuleNotFoundError
        ``.h5``, ``.hdf5`` and ``.mat`` of version 7.3 need h5py, ``.parquet`` needs pyarrow: both
        come with ``pip install memcurve[files]``.

    Examples
    --------
    >>> import numpy as np
    >>> source = open_recording(np.zeros((1000, 3), dtype=np.float32), np.arange(1000))
    >>> source
    <Source recording: 1000 rows of 3 states>
    >>> [z.size for x, z in source.chunks(400, start=100)]
    [400, 400, 100]
    """
    opened = _opened(states, "states")
    if inputs is None:
        found, fed = both_of(opened, state_names, input_name)
    else:
        found = states_of(opened, state_names)
        fed = input_of(_opened(inputs, "inputs"), input_name)
    check(found, fed)
    name = Path(states).stem if isinstance(states, str | os.PathLike) else "recording"
    return Recording(name, found, fed)


def _opened(value: Any, argument: str) -> Opened:
    if not isinstance(value, str | os.PathLike):
        return given(value, argument)
    file = readable(value)
    kind = file.suffix.lower()
    if kind not in _KINDS:
        raise NetworkFileError(
            f"{file}: unknown kind of file {kind or '(no ending)'!r}; known are "
            f"{', '.join(_KINDS)}. Convert it, or pass an array."
        )
    return _KINDS[kind](file)
