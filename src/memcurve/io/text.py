"""Numbers as text: tables and matrices (.csv, .txt), a block of lines at a time; MatrixMarket."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.io.arrays import BLOCK, Array, Blocks, NetworkFileError, Table

_MISSING_VALUES = {"", "na", "n/a", "nan", "null", "none"}
_INTEGER = re.compile(r"[+-]?\d+")


def open_table(file: Path) -> Table:
    """Open columns of real numbers, named by a header line if there is one; empty fields are NaN.

    Lines are counted once, here.
    """
    layout = _layout(file, is_table=True)

    def read(columns: Sequence[int]) -> Blocks:
        return lambda start: layout.blocks(start, columns)

    return Table(file, layout.names, layout.length, layout.width, read)


def open_matrix(file: Path) -> Array:
    """Open rows of numbers, also complex ones; a header line of words is passed over."""
    layout = _layout(file, is_table=False)
    if layout.length == 0:
        raise NetworkFileError(f"{file}: holds no numbers; write one row of the matrix a line.")

    def blocks(start: int) -> Iterator[NDArray[Any]]:
        return layout.blocks(start, range(layout.width))

    def load() -> NDArray[Any]:
        return np.concatenate([*blocks(0)])

    shape = (layout.length, layout.width)
    return Array(f"{file}: the table", shape, np.dtype(float), load, blocks, file)


@dataclass(frozen=True)
class _Layout:
    """How a file writes its numbers."""

    file: Path
    is_table: bool
    separator: str | None  # None: blanks
    width: int
    names: list[str] | None
    skip: int  # 1 where the first line that counts is a header
    length: int = 0

    @property
    def blanks(self) -> bytes:
        """What counts for nothing at the ends of a line; tabs may stand between empty fields."""
        return b" \r\n" if self.separator == "\t" else b" \t\r\n"

    def blocks(self, start: int, columns: Sequence[int]) -> Iterator[NDArray[Any]]:
        """Go through the rows from ``start`` on."""
        step = max(1, BLOCK // (128 * self.width))  # a field and its number: about 128 bytes
        lines = islice(_lines(self.file, self.blanks), self.skip + start, None)
        while batch := list(islice(lines, step)):
            yield np.array([self._row(*line, columns) for line in batch])

    def split(self, number: int, line: bytes) -> list[str]:
        """Return the fields of a line, which must be as many as those of the first."""
        fields = line.decode().split(self.separator)
        if len(fields) != self.width:
            raise NetworkFileError(
                f"{self.file}: line {number} has {len(fields)} fields, the first line "
                f"{self.width}; the file is incomplete or damaged: give all lines the same number "
                f"of fields."
            )
        return fields

    def _row(self, number: int, line: bytes, columns: Sequence[int]) -> list[Any]:
        fields = self.split(number, line)
        chosen = [fields[column] for column in columns]
        try:
            if b"_" not in line:  # Python reads 1_0 as 10
                return [float(field) for field in chosen]
        except ValueError:
            pass
        return [self._number(field.strip().strip('"'), number) for field in chosen]

    def _number(self, field: str, number: int) -> float | complex:
        value = _real(field) if self.is_table else _complex(field)
        if value is not None:
            return value
        if self.is_table and _is_missing(field):
            return math.nan
        raise NetworkFileError(
            f"{self.file}: line {number}: {field!r} is not a {'real ' * self.is_table}number; "
            f"write numbers with a decimal point, separated by commas, semicolons, tabs or blanks."
        )


def _layout(file: Path, is_table: bool) -> _Layout:
    """Find out from the first lines what separates the fields, and whether they name columns."""
    top = list(islice(_lines(file, b" \r\n"), 2))
    if not top:
        thing = "recording" if is_table else "matrix"
        raise NetworkFileError(f"{file}: holds no numbers; write one row of the {thing} a line.")
    texts = [line.decode() for _, line in top]
    separator = next((sign for sign in ";\t," if all(sign in text for text in texts)), None)
    first, below = _fields(texts[0], separator), _fields(texts[-1], separator)
    names = None
    if skip := _is_header(first, below) if is_table else _are_words(first):
        names = first
    elif is_table:
        comment = _fields(_comment_above(file, top[0][0]), separator)
        names = comment if len(comment) == len(first) and _is_header(comment, below) else None
    layout = _Layout(file, is_table, separator, len(first), names, int(skip))
    length, last = -layout.skip, top[0]
    for line in _lines(file, layout.blanks):
        length, last = length + 1, line
    if length > 0:
        layout.split(*last)  # shorter where the file was cut off
    return _Layout(file, is_table, separator, len(first), names, int(skip), length)


def _lines(file: Path, blanks: bytes) -> Iterator[tuple[int, bytes]]:
    """Go through the lines that are neither empty nor a comment, with their numbers."""
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            content = line.strip(blanks)
            if content and not content.startswith(b"#"):
                yield number, content


def _fields(text: str, separator: str | None) -> list[str]:
    if separator is None:
        return [field.strip('"') for field in text.split()]
    row = next(csv.reader([text], delimiter=separator, skipinitialspace=separator != "\t"), [])
    return [field.strip() for field in row]


def _are_words(fields: list[str]) -> bool:
    """Whether no field is a number, and not all of them are missing."""
    return all(_complex(field) is None for field in fields) and not all(map(_is_missing, fields))


def _is_header(fields: list[str], below: list[str]) -> bool:
    """Whether these are names: words, or numbers from 0 or 1 on above others with decimals."""
    rest = [field for field in fields if _real(field) is not None or _is_missing(field)]
    if len(rest) < len(fields):
        return all(_is_missing(field) or _INTEGER.fullmatch(field) for field in rest)
    numbers = fields[1:] if fields[0] == "" else fields  # a pandas index has no name
    counted = any(numbers == [str(k + n) for n in range(len(numbers))] for k in (0, 1))
    decimals = not all(_INTEGER.fullmatch(field) for field in below)
    return len(numbers) > 1 and counted and decimals


def _comment_above(file: Path, number: int) -> str:
    """Return the comment, if any, on the line before that one: numpy.savetxt writes names so."""
    with file.open("rb") as stream:
        above = next(islice(stream, number - 2, None), b"") if number > 1 else b""
    text = above.decode("utf-8-sig").strip()
    return text.lstrip("#").strip() if text.startswith("#") else ""


def _real(field: str) -> float | None:
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None


def _complex(field: str) -> float | complex | None:
    real = _real(field)
    if real is not None or "_" in field or not re.search(r"\d", field):
        return real  # a lone "j" is a column's name
    try:
        return complex(field.replace("i", "j"))  # numpy writes (1+2j), MATLAB 1+2i
    except ValueError:
        return None


def _is_missing(field: str) -> bool:
    return field.lower().lstrip("+-") in _MISSING_VALUES


# ---- MatrixMarket


@dataclass(frozen=True)
class _Market:
    """The first lines of a MatrixMarket file, and where its numbers begin."""

    is_listed: bool
    field: str
    symmetry: str
    rows: int
    columns: int
    entries: int
    tokens: Iterator[str]


def open_market(file: Path) -> Array:
    """Open a matrix (.mtx), listed entry by entry or in full."""
    head = _market(file)
    shape, dtype = (
        (head.rows, head.columns),
        np.dtype(complex if head.field == "complex" else float),
    )
    return Array(
        f"{file}: the matrix",
        shape,
        dtype,
        lambda: _market_values(_market(file)),
        file=file,
        is_sparse=head.is_listed,
    )


def _market(file: Path) -> _Market:
    lines = _market_lines(file)
    first = next(lines, "")
    mark, thing, layout, field, symmetry = first.lower().split()
    if (mark, thing) != ("%%matrixmarket", "matrix") or layout not in ("array", "coordinate"):
        raise ValueError(f"unknown first line {first.rstrip()!r}")
    tokens = (part for line in lines if line.lstrip()[:1] != "%" for part in line.split())
    is_listed = layout == "coordinate"
    rows, columns = int(next(tokens, "")), int(next(tokens, ""))
    entries = rows * columns
    if is_listed:
        entries = int(next(tokens, ""))
    elif symmetry != "general":
        entries = rows * (rows + (-1 if symmetry == "skew-symmetric" else 1)) // 2
    return _Market(is_listed, field, symmetry, rows, columns, entries, tokens)


def _market_lines(file: Path) -> Iterator[str]:
    with file.open(encoding="utf-8", errors="replace") as stream:
        yield from stream


def _market_values(head: _Market) -> Any:
    """Read the entries; scipy.io.mmread crashes Python on long or cut numbers (scipy #19949)."""
    from scipy.sparse import coo_array

    rows, columns, half = head.rows, head.columns, head.symmetry != "general"
    width = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}[head.field]
    step = width + 2 * head.is_listed
    tokens = list(head.tokens)
    if step == 0 or len(tokens) != head.entries * step or (half and rows != columns):
        raise ValueError(
            f"{rows} x {columns}, {head.entries} entries announced, {len(tokens)} numbers"
        )
    if head.is_listed:
        i, j = (np.array([int(index) - 1 for index in tokens[at::step]], int) for at in (0, 1))
    elif half:  # column after column
        j, i = np.triu_indices(rows, head.symmetry == "skew-symmetric")
    else:
        j, i = np.indices((columns, rows)).reshape(2, -1)
    values = i * 0 + 1
    if width:
        read = int if head.field == "integer" else float
        values = np.array([read(value) for value in tokens[2 * head.is_listed :: step]])
    if width == 2:
        values = values + 1j * np.array([float(value) for value in tokens[step - 1 :: step]])
    if half:
        mirrored = {"symmetric": values, "skew-symmetric": -values, "hermitian": values.conj()}
        off = i != j
        values = np.append(values, mirrored[head.symmetry][off])
        i, j = np.append(i, j[off]), np.append(j, i[off])
    array = coo_array((values, (i, j)), shape=(rows, columns))
    return array.tocsr() if head.is_listed else array.toarray()
