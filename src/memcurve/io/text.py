"""Text files: lines, fields and numbers; tables and matrices, a block of lines at a time.

Every reader of text goes through :class:`Text`: how a file is written (encoding, separator, decimal
comma, comments, lines above its table) is decided by its first lines, once. Long blocks are parsed
by pyarrow where it is installed and accepts them; else fields are read one by one.
"""

import codecs
import csv
import gzip
import io
import math
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import require_room, require_room_for_array
from memcurve.io.arrays import BLOCK, Array, Blocks, NetworkFileError, fault_error, reading
from memcurve.io.arrow import parsed_text

#: Lines that begin with one of these are comments.
COMMENTS = ("#", "%")
#: Lines by which it is decided how a text is written. Doubled: later oddities are seen, too.
_TOP_LINES = 40
#: Characters of these lines, at most. Doubled: matrices with longer rows are seen as far.
_TOP_SIZE = 2**24
#: Characters of a line; beyond it a packed file may be a decompression bomb.
LONGEST_LINE = 2**26
#: Peak memory of a line, in bytes per character, as measured for short fields.
_BYTES_PER_CHARACTER = 100
#: Bytes that a character takes while its line is read. Doubled: half as many lines at a time.
_BYTES_PER_READ_CHARACTER = 16

_QUOTED = re.compile(r'"[^"]*"')
_FIELD_BETWEEN_BLANKS = re.compile(r'"[^"]*"|\S+')
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
#: May be a thousand and more as well, where no semicolons hint at a decimal comma.
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}")
_MISSING_VALUES = {"", "na", "n/a", "nan", "null", "none"}


class Batch(NamedTuple):
    """Some lines with their numbers."""

    numbers: Sequence[int]
    lines: Sequence[str]


def open_table(file: Path, skip_rows: int | None = None) -> Array:
    """Open columns of real numbers (NaN: missing) below ``skip_rows`` lines, or below a header."""
    text = Text(file, skip_rows)
    names, skip = text.header()
    shape, select = (text.count(skip), text.width), partial(text.read, skip)
    dtype = np.dtype(float)
    return Array("the table", shape, dtype, file=file, names=names, select=select)


def open_matrix(file: Path) -> Array:
    """Open rows of numbers; a header line of words is passed over."""
    return Text(file).matrix()


class Text:
    """Rows of fields.

    ``separator`` is between them (None: blanks), ``top`` has those of the first lines, ``above``
    those of a comment just before, as numpy.savetxt writes a header.
    """

    def __init__(self, file: Path, skip: int | None = 0) -> None:
        """Read the first lines below ``skip`` ones, or (None) from a header of words on."""
        self.file, self._skipped = file, skip or 0
        with reading(file):
            comment, top = _first_lines(file, self._skipped)
        if not top:
            raise self.fault("empty")
        if skip is None and (preamble := _preamble([line for _, line in top])):
            self._skipped, comment = top[preamble - 1][0], ""
            del top[:preamble]
        self.separator = separator_of([line for _, line in top])
        self.top = [fields_of(line, self.separator) for _, line in top]
        self.above = fields_of(comment, self.separator)
        self._decimal = _decimal_sign(self.separator, [field for row in self.top for field in row])

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.top[0])

    def fault(self, kind: str, **facts: Any) -> NetworkFileError:
        """Return the error of that kind."""
        return fault_error(self.file, "text", kind, **facts)

    def batches(self, skip: int = 0, *, blocks: int = 1) -> Iterator[Batch]:
        """Go through the rows, some megabytes at a time, or so many ``blocks`` of these."""
        blank = " " if self.separator == "\t" else None  # tabs alone are a row of empty fields
        for batch in _content(self.file, blank, self._skipped, blocks):
            if skip < len(batch.lines):
                yield Batch(batch.numbers[skip:], batch.lines[skip:])
            skip = max(0, skip - len(batch.lines))

    def columns(self, batch: Batch) -> list[list[str]]:
        """The fields of some lines, column by column."""
        is_quoted = any('"' in line for line in batch.lines)
        split = fields_of if is_quoted else str.split
        rows = [split(line, self.separator) for line in batch.lines]
        for number, row in zip(batch.numbers, rows, strict=True):
            if len(row) != self.width:
                raise self.fault("fields", number=number, got=len(row), width=self.width)
        return [[field.strip() for field in column] for column in zip(*rows, strict=True)]

    def parsed(
        self, batch: Batch, *, numbers: Sequence[int], names: Sequence[int] = (), has_empty: bool
    ) -> Any | None:
        """Columns of numbers and of names by pyarrow; None if some line must be read by field."""
        sign = self.separator or " "
        return parsed_text(batch.lines, sign, self._decimal, self.width, numbers, names, has_empty)

    def header(self) -> tuple[list[str] | None, int]:
        """Names of the columns of a table, if there are any, and how many rows these take."""
        if self._is_header(self.top[0]):
            return self.top[0], 1
        is_above = len(self.above) == self.width and self._is_header(self.above)
        return (self.above if is_above else None), 0

    def _is_header(self, fields: list[str]) -> bool:
        """Whether these are names: words, or numbers from 0 or 1 on above others with decimals."""
        rest = [field for field in fields if self.real(field) is not None or is_missing(field)]
        if len(rest) < len(fields):
            return all(is_missing(field) or _INTEGER.fullmatch(field) for field in rest)
        numbers = fields[1:] if fields[0] == "" else fields  # a pandas index has no name
        is_counted = any(numbers == [str(k + n) for n in range(len(numbers))] for k in (0, 1))
        has_decimals = not all(_INTEGER.fullmatch(field) for field in self.top[-1])
        return len(numbers) > 1 and is_counted and has_decimals

    def count(self, skip: int) -> int:
        """Count rows, of which the last is checked: it is shorter where a file was cut off."""
        length = -skip
        for batch in self.batches():
            length += len(batch.lines)
        self.columns(Batch(batch.numbers[-1:], batch.lines[-1:]))
        return length

    def matrix(self) -> Array:
        """The numbers as a matrix, below a header of words."""
        skip = int(_are_words(self.top[0]))
        length = self.count(skip)
        if length < 1:
            raise self.fault("empty")
        require_room_for_array((length, self.width), f"the matrix in {self.file}")
        blocks = self.read(skip, range(self.width), is_table=False)
        return Array("the table", (length, self.width), np.dtype(float), None, blocks, self.file)

    def read(self, skip: int, columns: Sequence[int], is_table: bool = True) -> Blocks:
        """Return what goes through the rows of these columns, as numbers."""

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            for batch in self.batches(skip + start):
                yield self.numbers(batch, columns, is_table)

        return blocks

    def numbers(self, batch: Batch, which: Sequence[int], is_table: bool) -> NDArray[Any]:
        """Some columns; missing entries are NaN in a table."""
        rows = self.parsed(batch, numbers=which, has_empty=is_table)
        if rows is not None:
            return np.stack([column.to_numpy() for column in rows.columns], axis=1)
        columns = self.columns(batch)
        return np.array(
            [
                [
                    self._entry(field, number, is_table)
                    for field, number in zip(columns[k], batch.numbers, strict=True)
                ]
                for k in which
            ]
        ).T

    def _entry(self, field: str, number: int, is_table: bool) -> float:
        value = self.real(field)
        if value is not None:
            return value
        if is_table and is_missing(field):
            return math.nan
        kind = "table" if is_table else "entry" if is_missing(field) else "matrix"
        raise self.fault(kind, number=number, field=field)

    def real(self, field: str) -> float | None:
        """The real number that a field holds, if it does."""
        if self._decimal == "," and _DECIMAL_COMMA.fullmatch(field):
            field = field.replace(",", ".")
        return real_number(field)


def open_bytes(file: Path) -> IO[bytes]:
    """Open a file that may be packed (.gz)."""
    return cast(IO[bytes], gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb"))


def _encoding(file: Path) -> str:
    """UTF-16 by its mark (Excel's Unicode Text), UTF-8, or else Latin-1, unless it is binary."""
    with open_bytes(file) as stream:
        start = stream.read(2**16)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "utf-8" if b"\0" in start else "latin-1"
    return "utf-8-sig"


def _batches(file: Path, blocks: int = 1) -> Iterator[Batch]:
    """Go through all lines, some at a time."""
    step = max(1, blocks * BLOCK // _BYTES_PER_READ_CHARACTER)
    number, rest = 1, ""
    with io.TextIOWrapper(open_bytes(file), _encoding(file)) as stream:
        while block := stream.read(step):
            lines = (rest + block).split("\n")
            rest = lines.pop()
            yield Batch(range(number, number + len(lines)), lines)
            number += len(lines)
            if len(rest) > LONGEST_LINE:
                raise fault_error(file, "files", "line", number=number, most=LONGEST_LINE)
            subject = f"{file} is too large: line {number}"
            require_room(_BYTES_PER_CHARACTER * len(rest), subject, "Write one row per line.")
    yield Batch([number], [rest])


def _content(
    file: Path, blank: str | None = None, skip: int = 0, blocks: int = 1
) -> Iterator[Batch]:
    """Go through the lines that are neither ``blank`` nor a comment, below ``skip`` ones."""
    for numbers, lines in _batches(file, blocks):
        if lines and numbers[0] <= skip:
            numbers, lines = numbers[skip + 1 - numbers[0] :], lines[skip + 1 - numbers[0] :]
        if min(lines, default="") < "&":  # blanks and the signs of comments come before it
            lines = [line.strip(" ") for line in lines]  # tabs may stand between empty fields
            are_rows = [line.strip(blank) and not line.startswith(COMMENTS) for line in lines]
            numbers, lines = [*compress(numbers, are_rows)], [*compress(lines, are_rows)]
        if lines:
            yield Batch(numbers, lines)


def content_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Go through the lines that are neither blank nor a comment, with their numbers."""
    for batch in _content(file):
        yield from zip(batch.numbers, (line.strip(" ") for line in batch.lines), strict=True)


def _first_lines(file: Path, skip: int) -> tuple[str, list[tuple[int, str]]]:
    """The first rows with their numbers, and the comment on the line above them, if any."""
    comment, top, size = "", list[tuple[int, str]](), 0
    for batch in _batches(file):
        for number, line in zip(batch.numbers, batch.lines, strict=True):
            content = line.strip(" ")
            if content.startswith(COMMENTS):
                comment = comment if top else content.lstrip("".join(COMMENTS)).strip()
            elif content.strip() and number > skip:
                top.append((number, content))
                size += len(content)
                if len(top) == _TOP_LINES or size > _TOP_SIZE:
                    return comment, top
            elif not top:
                comment = ""
    return comment, top


def _preamble(lines: Sequence[str]) -> int:
    """How many lines stand above a header of words, which has as many fields as all below it."""
    separator = separator_of(lines[len(lines) // 2 :])
    rows = [fields_of(line, separator) for line in lines]
    width = len(rows[-1])
    first = next(k for k, row in enumerate(rows) if len(row) == width)
    below = rows[first:]
    is_table = width > 1 and len(below) > 2 and all(len(row) == width for row in below)
    is_header = is_table and _are_words(below[0]) and not _are_words(below[1])
    return first if is_header and all(len(row) < width for row in rows[:first]) else 0


def separator_of(lines: Sequence[str]) -> str | None:
    """The sign between the fields of most of these lines; None for blanks."""
    plain = [_QUOTED.sub("", line) for line in lines]
    counts = {sign: sum(sign in line for line in plain) for sign in ";\t,"}
    return next((sign for sign, count in counts.items() if 2 * count > len(lines)), None)


def _decimal_sign(separator: str | None, fields: Sequence[str]) -> str:
    """A comma where no number has a point, and a comma is neither separator nor of thousands."""
    if separator == "," or any(map(_DECIMAL_POINT.fullmatch, fields)):
        return "."
    commas = [field for field in fields if _DECIMAL_COMMA.fullmatch(field)]
    is_sure = separator == ";" or not all(map(_THOUSANDS.fullmatch, commas))
    return "," if is_sure else "."


def fields_of(line: str, separator: str | None) -> list[str]:
    """The fields of a line, without the quotes around them."""
    if separator is None:
        return [field.strip('"') for field in _FIELD_BETWEEN_BLANKS.findall(line)]
    row = next(csv.reader([line], delimiter=separator, skipinitialspace=separator != "\t"), [])
    return [field.strip() for field in row]


def _are_words(fields: list[str]) -> bool:
    """Whether no field is a number, and not all of them are missing."""
    return not any(map(is_number, fields)) and not all(map(is_missing, fields))


def is_number(field: str) -> bool:
    """Whether a field is meant as a number, perhaps with a decimal comma."""
    return real_number(field) is not None or _DECIMAL_COMMA.fullmatch(field) is not None


def real_number(field: str) -> float | None:
    """The number that a field holds, if it does; Python reads 1_0 as 10."""
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None


def is_missing(field: str) -> bool:
    """Whether a field marks a missing value."""
    return field.lower().lstrip("+-") in _MISSING_VALUES
