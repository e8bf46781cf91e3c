"""Opened files: one array or table, or arrays by name, whose sizes are known before reading."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import TooLargeError, require_room_for_array
from memcurve.core.notes import Note, NoteTexts, texts_beside

#: Readers take about this many bytes at a time.
BLOCK = 2**24

T = TypeVar("T")
#: Goes through the rows from the given one on, in blocks of the reader's own choice.
Blocks = Callable[[int], Iterator[NDArray[Any]]]

_NO_FILE: dict[type[OSError], str] = {
    FileNotFoundError: "no such file; check the spelling and the working directory",
    IsADirectoryError: "is a directory; give the path of a file in it",
    PermissionError: "cannot be read; change its permissions",
}


class NetworkFileError(ValueError):
    """A file that does not hold a network or a recording; the message names file and remedy."""


class MissingMaskError(NetworkFileError):
    """A file that holds a connectivity, but no input mask."""


#: The note of a name in ``notes.toml``, filled with facts.
note = NoteTexts(texts_beside(__file__, "notes.toml"))


@cache
def _faults() -> dict[str, dict[str, str]]:
    return texts_beside(__file__, "faults.toml")


def words(where: str, kind: str, /, **facts: Any) -> str:
    """What is wrong, as ``faults.toml`` has it."""
    return _faults()[where][kind].format(**facts)


def fault_error(file: Path | None, where: str, kind: str, /, **facts: Any) -> NetworkFileError:
    """The error with that description, about a file."""
    return NetworkFileError(f"{file}: {words(where, kind, **facts)}")


@dataclass(frozen=True)
class Array:
    """One array, in memory or in a file, that is not read yet."""

    name: str  # in its file; "`states`" where it is an argument
    shape: tuple[int, ...]
    dtype: np.dtype[Any] | None  # None where the file's type is none of numpy's
    load: Callable[[], Any] | None = None  # reads all of it; None: that is all blocks
    blocks: Blocks | None = None  # None where the format can only be read whole, and is then held
    file: Path | None = None
    kind: str = ""  # the file's own word for its type
    is_sparse: bool = False  # whether ``load`` gives a scipy sparse array
    refusal: str | None = None  # the error of what is incomplete, or no numbers: never read
    names: list[str] | None = None  # of the columns
    select: Callable[[Sequence[int]], Blocks] | None = None  # reads some columns of a table

    def __str__(self) -> str:
        """Shape and type, e.g. ``"(3, 3) float64"``."""
        return f"{self.shape} {self.kind or self.dtype}"

    @property
    def label(self) -> str:
        """Its name in errors, e.g. ``"run.npz: X"``."""
        return self.name if self.file is None else f"{self.file}: {self.name}"

    def fault(self, kind: str, **facts: Any) -> ValueError:
        """Return the error of that kind."""
        error = ValueError if self.file is None else NetworkFileError
        return error(f"{self.label} {words('contents', kind, **facts)}")

    def require_readable(self) -> None:
        """Raise an error where it is known to be incomplete, or to hold no numbers."""
        if self.refusal is not None:
            raise NetworkFileError(self.refusal)

    def require_room(self) -> None:
        """Raise a TooLargeError where all of it cannot fit: it may be a decompression bomb."""
        if self.file is not None:
            shape = (sum(self.shape),) if self.is_sparse else self.shape  # one per row at least
            itemsize = 8 if self.dtype is None else self.dtype.itemsize
            require_room_for_array(shape, f"{self.name} in {self.file}", itemsize=itemsize)

    def whole(self) -> Any:
        """Read all of it, once it is known to fit and to be numbers."""
        self.require_room()
        self.require_readable()
        with reading(self.file):
            if self.load is None:
                return np.concatenate([np.empty((0, *self.shape[1:]), bool), *self.rows(0)])
            array = self.load()
            if hasattr(array, "check_format"):  # scipy would follow wrong indices out of range
                array.check_format(full_check=True)
                if (np.diff(array.indptr) < 0).any():  # not checked where no entry is stored
                    raise ValueError("the rows of the sparse array overlap")
            return array

    def rows(self, start: int) -> Iterator[NDArray[Any]]:
        """Go through the rows from ``start`` on, in blocks of any length."""
        with reading(self.file):
            yield from self.blocks(start) if self.blocks else (self._held[start:],)

    @cached_property
    def _held(self) -> Any:
        return self.whole()

    def series(self) -> Array:
        """As a column, where it is one row."""
        is_row = len(self.shape) == 2 and self.shape[0] == 1 < self.shape[1]
        return in_memory(self.whole().T, self.name, self.file) if is_row else self

    def columns(self, places: Sequence[int]) -> Array:
        """These columns, in this order."""
        if self.select is None and [*places] == [*range(self.shape[1])]:
            return self

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            return (block[:, places] for block in self.rows(start))

        read = blocks if self.select is None else self.select(places)
        shape = (self.shape[0], len(places))
        return replace(self, shape=shape, load=None, blocks=read, names=None, select=None)

    @property
    def listing(self) -> str:
        """Names of the columns, for errors."""
        return _listed(self.names or [])


@dataclass(frozen=True)
class _Contents:
    source: str | Path

    def fault(self, kind: str, **facts: Any) -> NetworkFileError:
        """Return the error of that kind."""
        return NetworkFileError(f"{self.source}: {words('contents', kind, **facts)}")


@dataclass(frozen=True)
class Archive(_Contents):
    """Arrays by name."""

    arrays: dict[str, Array]

    @property
    def listing(self) -> str:
        """Names, shapes and types, for errors."""
        return _listed([f"{name} {array}" for name, array in self.arrays.items()]) or "nothing"

    def first(self, names: Sequence[str]) -> str | None:
        """Return the first of these names that is there."""
        return next((name for name in names if name in self.arrays), None)


@dataclass(frozen=True)
class Graph(_Contents):
    """The graph of edges: A, the names of its nodes in order, and notes on what was assumed."""

    A: Any
    labels: tuple[str, ...]
    notes: tuple[Note, ...]


Opened = Array | Archive
#: Opens the files of one format, without reading more than it takes to know what is in them.
Opener = Callable[[Path], Opened]


def opened(
    path: str | os.PathLike[str], formats: Mapping[str, Callable[[Path], T]], remedy: str
) -> T:
    """Open a file by the entry of its ending; ``remedy`` is for those that have none."""
    file = readable(path)
    ending = ending_of(file)
    if ending not in formats:
        facts = {"ending": ending or "(no ending)", "known": ", ".join(formats), "remedy": remedy}
        raise fault_error(file, "files", "unknown", **facts)
    with reading(file):
        return formats[ending](file)


def ending_of(path: str | os.PathLike[str]) -> str:
    """The ending of a file's name, e.g. ``".csv"``; that of a packed one is ``".csv.gz"``."""
    file = Path(path)
    packed = file.suffix if file.suffix.lower() == ".gz" else ""
    return (Path(file.name.removesuffix(packed)).suffix + packed).lower()


def stem_of(path: str | os.PathLike[str]) -> str:
    """A file's name without its ending."""
    name = Path(path).name
    return name_as_text(name[: len(name) - len(ending_of(name))])


def name_as_text(name: str) -> str:
    """A file's name for pictures and JSON: on disk it need not be UTF-8."""
    return os.fsencode(name).decode("utf-8", "replace")


def readable(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that can be opened and is not empty, or say why there is none."""
    file = Path(path)
    try:
        if file.is_fifo():  # opening one waits for a writer
            raise NetworkFileError(f"{file}: is a pipe, which can be read once; write a file.")
        if file.is_char_device():  # some never end
            raise NetworkFileError(f"{file}: is a device; write what it gives to a file.")
        with file.open("rb") as stream:
            is_empty = not stream.read(1)
    except tuple(_NO_FILE) as error:
        raise type(error)(f"{file}: {_NO_FILE[type(error)]}.") from error
    except NetworkFileError:
        raise
    except (OSError, ValueError) as error:
        raise NetworkFileError(f"{file}: cannot be opened ({error}); check the path.") from error
    if is_empty:
        raise NetworkFileError(f"{file}: is empty; write or download it again.")
    return file


@contextmanager
def reading(file: Path | None) -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one error that names the file."""
    try:
        yield
    except (NetworkFileError, ImportError):
        raise
    except TooLargeError as error:
        if file is None or str(file) in str(error):
            raise
        raise TooLargeError(f"{file}: {error}") from error
    except Exception as error:
        if file is None:
            raise
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            raise MemoryError(f"{file}: {words('files', 'no_room')}") from error
        if isinstance(error, UnicodeDecodeError):
            byte = error.object[error.start]
            raise fault_error(file, "files", "encoding", ending=file.suffix, byte=byte) from error
        facts = {"ending": file.suffix, "kind": type(error).__name__, "error": error}
        raise fault_error(file, "files", "damaged", **facts) from error


def in_memory(array: Any, name: str, file: Path | None = None) -> Array:
    """Return an array in memory, or one that can be sliced, e.g. a dataset of h5py."""

    def blocks(start: int) -> Iterator[NDArray[Any]]:
        step = block_rows(array.shape, array.dtype)
        for at in range(start, array.shape[0], step):
            yield np.asarray(array[at : at + step])

    shape, dtype = tuple(array.shape), array.dtype
    return Array(name, shape, dtype, lambda: array, blocks, file)


def block_rows(shape: Sequence[int], dtype: np.dtype[Any]) -> int:
    """The number of rows in a block."""
    return max(1, BLOCK // max(1, math.prod(shape[1:]) * dtype.itemsize))


def _listed(names: Sequence[str]) -> str:
    """Join names, the first forty of them."""
    more = [f"{len(names) - 40} more"] if len(names) > 40 else []
    return ", ".join([*names[:40], *more])
