"""What a recording is: rows of numbers, wherever they lie, handed out in chunks of any length."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import require_limit, require_size
from memcurve.files.reading import NetworkFileError

#: Readers take about this many bytes at a time.
BLOCK = 2**24

#: Goes through the rows from the given one on, in blocks of the reader's own choice.
Reader = Callable[[int], Iterator[NDArray[Any]]]


class Source(ABC):
    """A recording: the states of a network, row by row, and the input of the same rows.

    Attributes
    ----------
    length : int
        The number of rows T.
    columns : int
        The number of states N.
    name : str
        A label.
    """

    length: int
    columns: int
    name: str

    @abstractmethod
    def chunks(
        self, rows: int, start: int = 0
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Go through the recording, any number of times.

        Parameters
        ----------
        rows : int
            Length of the chunks; the last one is shorter where ``rows`` does not divide.
        start : int
            The first row to take, e.g. after a washout.

        Yields
        ------
        states : (rows, N) array
        inputs : (rows,) array
            New float64 arrays, states in C order, that may be changed and kept.
        """


@dataclass(frozen=True)
class Rows:
    """One array, in memory or in a file.

    Attributes
    ----------
    label : str
        What errors call it, e.g. ``"`states`"`` or ``"run.npz: X"``.
    shape, dtype
        Of the array as a whole, rows first.
    read : callable
        ``read(start)`` goes through the rows from ``start`` on, in blocks of any length.
    file : Path, optional
        Where it lies.
    """

    label: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Reader
    file: Path | None = None

    def fault(self, problem: str) -> ValueError:
        """Return the error that says so of this array."""
        kind = ValueError if self.file is None else NetworkFileError
        return kind(f"{self.label} {problem}")


@dataclass(frozen=True)
class Archive:
    """A file of arrays by name: what each is, e.g. "(3, 3) float64", and how to open one.

    ``pick(name, vector)`` opens it; ``vector``: a row, where the program that wrote the file has
    no vectors but rows and columns, is a column.
    """

    file: Path
    present: dict[str, str]
    pick: Callable[[str, bool], Rows]


@dataclass(frozen=True)
class Table:
    """A file of columns; ``read(columns)`` reads those of the given numbers, in that order."""

    file: Path
    names: list[str] | None
    length: int
    width: int
    read: Callable[[Sequence[int]], Reader]

    def rows(self, columns: Sequence[int]) -> Rows:
        """Return these columns as one array."""
        shape, dtype = (self.length, len(columns)), np.dtype(np.float64)
        return Rows(f"{self.file}: the table", shape, dtype, self.read(columns), self.file)


class Recording(Source):
    """States with their input, or with the input as last column where ``inputs`` is None."""

    def __init__(self, name: str, states: Rows, inputs: Rows | None) -> None:
        self.name = name
        self.length = states.shape[0]
        self.columns = states.shape[1] - (inputs is None)
        self._states, self._inputs = states, inputs

    def __repr__(self) -> str:
        """Say which recording it is, and how large."""
        return f"<Source {self.name}: {self.length} rows of {self.columns} states>"

    def chunks(
        self, rows: int, start: int = 0
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Go through the recording, see :meth:`Source.chunks`."""
        rows, given = require_size(rows, "rows"), np.asarray(start)
        start = require_limit(given.item() if given.ndim == 0 else start, "start")
        if start > self.length:
            raise ValueError(
                f"`start` must be at most {self.length}, the number of rows of {self.name}; got "
                f"{start}. Start earlier, or record for longer."
            )
        states = regrouped(self._states, rows, start)
        if self._inputs is None:
            return ((both[:, :-1].copy(), both[:, -1].copy()) for both in states)
        inputs = regrouped(self._inputs, rows, start)
        return ((x, z.reshape(-1)) for x, z in zip(states, inputs, strict=True))


def regrouped(source: Rows, rows: int, start: int) -> Iterator[NDArray[np.float64]]:
    """Go through the rows from ``start`` on, in float64 chunks of ``rows``."""
    left, filled = source.shape[0] - start, 0
    chunk = np.empty((min(rows, left), *source.shape[1:]))
    blocks = source.read(start) if left else iter(())
    for block in blocks:
        at = 0
        while at < len(block):
            taken = min(len(chunk) - filled, len(block) - at)
            if not taken:
                raise source.fault(f"has more than its {source.shape[0]} rows; {_CHANGED}")
            with np.errstate(over="ignore"):  # what float64 cannot hold is infinite
                chunk[filled : filled + taken] = block[at : at + taken]
            at, filled, left = at + taken, filled + taken, left - taken
            if filled == len(chunk):
                yield chunk
                chunk, filled = np.empty((min(rows, left), *source.shape[1:])), 0
    if left:
        raise source.fault(f"ends {left} rows before its {source.shape[0]} rows; {_CHANGED}")


_CHANGED = "it changed while it was read: open it again when it is complete."
