"""Text files: lines, fields and numbers; tables and matrices, a block of lines at a time.

Every reader of text goes through :class:`Text`: how a file is written (encoding, separator, decimal
comma, comments, lines above its table) is found out from its first lines, once. Long blocks are
read by pyarrow, where it is installed and nothing in them needs a closer look.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import re
from collections.abc import Iterator, Sequence
from itertools import chain, compress
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import require_room, require_room_for_array
from memcurve.core.types import Floats
from memcurve.io.arrays import BLOCK, Array, Blocks, Columns, NetworkFileError, reading
from memcurve.io.arrow import parsed_text

#: Lines that begin with one of these are comments.
COMMENTS = ("#", "%")
_BLANKS = " \t"
#: Lines by which it is found out how a text is written. Doubled: later oddities are seen, too, and
#: twice as many lines above a table are passed over.
_TOP_LINES = 40
#: Characters of these lines, at most. Doubled: matrices with longer rows are seen as far.
_TOP_SIZE = 2**24
#: Characters of a line; beyond it a packed file may be a decompression bomb. Doubled: rows of twice
#: as many columns are read.
LONGEST_LINE = 2**26
#: Peak memory of a line, in bytes per character, as measured for short fields.
_BYTES_PER_CHARACTER = 100
#: Bytes that a character takes while its line is read. Doubled: half as many lines at a time.
_BYTES_PER_READ_CHARACTER = 16

#: Bytes that no text has.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")
_QUOTED = re.compile(r'"[^"]*"')
_FIELD_BETWEEN_BLANKS = re.compile(r'"[^"]*"|\S+')
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_MISSING_VALUES = {"", "na", "n/a", "nan", "null", "none"}

_WRITTEN = "write numbers with a decimal point, separated by commas, semicolons, tabs or blanks"
#: What is wrong with a line, by kind.
_FAULTS = {
    "long": "line {number} is longer than {most:,} characters; write one row per line.",
    "fields": "line {number} has {got} fields, the first line {width}; the file is incomplete or "
    "damaged: give all lines the same number of fields.",
    "table": f"line {{number}}: {{field!r}} is not a real number; {_WRITTEN}, or leave its column "
    "out with drop=[...].",
    "matrix": f"line {{number}}: {{field!r}} is not a number; {_WRITTEN}; a list of edges needs a "
    "header, source,target,weight.",
    "entry": "line {number}: {field!r} is not a number; write 0 where there is no edge.",
    "empty": "holds no rows; write one per line.",
}


class Batch(NamedTuple):
    """Some lines with their numbers."""

    numbers: Sequence[int]
    lines: Sequence[str]


def open_table(file: Path, skip_rows: int | None = None) -> Columns:
    """Open columns of real numbers, named by a header line if there is one; NaN is missing.

    Lines above the table are passed over: ``skip_rows`` of them, or those above its header.
    """
    text = Text(file, skip_rows)
    names, skip = text.header()
    return Columns(
        file, names, text.count(skip), text.width, lambda columns: text.read(skip, columns)
    )


def open_matrix(file: Path) -> Array:
    """Open rows of numbers, also complex ones; a header line of words is passed over."""
    return Text(file).matrix()


class Text:
    """Rows of fields.

    Attributes
    ----------
    separator : str or None
        The sign between fields; None for blanks.
    top : list of list of str
        The fields of the first lines.
    above : list of str
        The fields of the comment on the line before these: numpy.savetxt writes a header so.
    """

    def __init__(self, file: Path, skip: int | None = 0) -> None:
        """Look at the first lines below ``skip`` ones, or (None) from a header of words on."""
        self.file, above = file, (0, "")
        self._skipped = skip or 0
        top: list[tuple[int, str]] = []
        with reading(file):
            for number, line in chain.from_iterable(
                zip(*batch, strict=True) for batch in _batches(file)
            ):
                content = line.strip(" ")
                if content.startswith(COMMENTS):
                    above = above if top else (number, content)
                elif content.strip(_BLANKS) and number > self._skipped:
                    top.append((number, content))
                    if len(top) == _TOP_LINES or sum(len(text) for _, text in top) > _TOP_SIZE:
                        break
        if not top:
            raise self.fault("empty")
        if skip is None and (preamble := _preamble([line for _, line in top])):
            self._skipped = top[preamble - 1][0]
            del top[:preamble]
        self.separator, self._has_decimal_commas = _written([line for _, line in top])
        self.top = [fields_of(line, self.separator) for _, line in top]
        is_above = above[0] == top[0][0] - 1
        comment = above[1].lstrip("".join(COMMENTS)).strip() if is_above else ""
        self.above = fields_of(comment, self.separator)

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.top[0])

    @property
    def _blanks(self) -> str:
        """What a line without any field consists of."""
        return " " if self.separator == "\t" else _BLANKS

    def fault(self, kind: str, **facts: Any) -> NetworkFileError:
        """Return the error of that kind."""
        return NetworkFileError(f"{self.file}: {_FAULTS[kind].format(**facts)}")

    def batches(
        self, skip: int = 0, *, has_empty: bool = False, blocks: int = 1
    ) -> Iterator[Batch]:
        """Go through the rows, some megabytes at a time, or so many ``blocks`` of these.

        Lines of tabs alone are rows where tabs separate fields and a table ``has_empty`` ones.
        """
        blanks = self._blanks if has_empty else _BLANKS
        for batch in _content(self.file, blanks, self._skipped, blocks):
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
        """Columns of numbers and of names by pyarrow; None where some line needs a closer look."""
        point = "," if self._has_decimal_commas else "."
        sign = self.separator or " "
        return parsed_text(batch.lines, sign, point, self.width, numbers, names, has_empty)

    def header(self) -> tuple[list[str] | None, int]:
        """Names of the columns of a table, if there are any, and how many rows these take."""
        last = self._with_points(self.top[-1])
        if _is_header(self._with_points(self.top[0]), last):
            return self.top[0], 1
        is_above = len(self.above) == self.width and _is_header(self.above, last)
        return (self.above if is_above else None), 0

    def count(self, skip: int) -> int:
        """Count rows, of which the last is checked: it is shorter where a file was cut off."""
        length = -skip
        for batch in self.batches(has_empty=True):
            length += len(batch.lines)
        self.columns(Batch(batch.numbers[-1:], batch.lines[-1:]))
        return length

    def matrix(self) -> Array:
        """The numbers as a matrix, below a header of words."""
        skip = int(_are_words(self._with_points(self.top[0])))
        length = self.count(skip)
        if length < 1:
            raise self.fault("empty")
        require_room_for_array((length, self.width), f"the matrix in {self.file}")
        blocks = self.read(skip, range(self.width), is_table=False)
        return Array("the table", (length, self.width), np.dtype(float), None, blocks, self.file)

    def read(self, skip: int, columns: Sequence[int], is_table: bool = True) -> Blocks:
        """Return what goes through the rows of these columns, as numbers."""

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            for batch in self.batches(skip + start, has_empty=True):
                yield self.numbers(batch, columns, is_table)

        return blocks

    def numbers(self, batch: Batch, which: Sequence[int], is_table: bool) -> NDArray[Any]:
        """Some columns; missing entries are NaN in a table, and matrices may be complex."""
        rows = self.parsed(batch, numbers=which, has_empty=is_table)
        if rows is not None:
            return np.stack([column.to_numpy() for column in rows.columns], axis=1)
        columns = self.columns(batch)
        if self._has_decimal_commas:
            columns = [[field.replace(",", ".") for field in column] for column in columns]
        values: list[Any] = []
        for k in which:
            try:
                values.append(numbers_of(columns[k]))
            except ValueError:
                values.append(
                    [
                        self._number(field, batch.numbers[row], [c[row] for c in columns], is_table)
                        for row, field in enumerate(columns[k])
                    ]
                )
        return np.array(values).T

    def _number(self, field: str, number: int, row: list[str], is_table: bool) -> float | complex:
        if self.separator == ";" and not any("." in other for other in row):
            field = field.replace(",", ".")  # decimal commas first met below whole numbers
        value = real_number(field) if is_table else _complex(field)
        if value is not None:
            return value
        if is_table and is_missing(field):
            return math.nan
        kind = "table" if is_table else "entry" if is_missing(field) else "matrix"
        raise self.fault(kind, number=number, field=field)

    def _with_points(self, fields: list[str]) -> list[str]:
        """The fields of a row with decimal points, where it has commas."""
        is_free = self.separator == ";" and not any("." in field for field in fields)
        if self._has_decimal_commas or is_free:
            return [field.replace(",", ".") for field in fields]
        return fields


def open_bytes(file: Path) -> IO[bytes]:
    """Open a file that may be packed (.gz)."""
    return cast(IO[bytes], gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb"))


def _encoding(file: Path) -> str:
    """UTF-16 by its mark (Excel's Unicode Text), UTF-8, or else Latin-1, unless it is binary."""
    with open_bytes(file) as stream:
        start = stream.read(BLOCK // _BYTES_PER_READ_CHARACTER)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return "utf-8" if _BINARY.search(start) else "latin-1"
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
                text = _FAULTS["long"].format(number=number, most=LONGEST_LINE)
                raise NetworkFileError(f"{file}: {text}")
            what = f"{file} is too large: line {number}"
            require_room(_BYTES_PER_CHARACTER * len(rest), what, "Write one row per line.")
    yield Batch([number], [rest])


def _content(file: Path, blanks: str, skip: int = 0, blocks: int = 1) -> Iterator[Batch]:
    """Go through the lines that are neither blank nor a comment, below ``skip`` ones."""
    for numbers, lines in _batches(file, blocks):
        if lines and numbers[0] <= skip:
            numbers, lines = numbers[skip + 1 - numbers[0] :], lines[skip + 1 - numbers[0] :]
        if min(lines, default="") < "&":  # blanks and the signs of comments come before it
            lines = [line.strip(" ") for line in lines]  # tabs may stand between empty fields
            are_rows = [line.strip(blanks) and not line.startswith(COMMENTS) for line in lines]
            numbers, lines = [*compress(numbers, are_rows)], [*compress(lines, are_rows)]
        if lines:
            yield Batch(numbers, lines)


def content_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Go through the lines that are neither blank nor a comment, with their numbers."""
    for batch in _content(file, _BLANKS):
        for number, line in zip(batch.numbers, batch.lines, strict=True):
            yield number, line.strip(" ")


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


def _written(lines: Sequence[str]) -> tuple[str | None, bool]:
    """The sign between fields, and whether numbers have a decimal comma: 1,5;2,5 or 1,5 2,5."""
    separator = separator_of(lines)
    for sign in (None, separator) if separator == "," else (separator,):
        fields = fields_of(lines[-1], sign)
        others = [field for field in fields if not has_decimal_comma(field)]
        are_whole = all(_INTEGER.fullmatch(field) or is_missing(field) for field in others)
        if len(others) < len(fields) > (sign is None) and are_whole:
            return sign, True
    return separator, False


def fields_of(line: str, separator: str | None) -> list[str]:
    """The fields of a line, without the quotes around them."""
    if separator is None:
        return [field.strip('"') for field in _FIELD_BETWEEN_BLANKS.findall(line)]
    row = next(csv.reader([line], delimiter=separator, skipinitialspace=separator != "\t"), [])
    return [field.strip() for field in row]


def _are_words(fields: list[str]) -> bool:
    """Whether no field is a number, and not all of them are missing."""
    return all(_complex(field) is None for field in fields) and not all(map(is_missing, fields))


def _is_header(fields: list[str], below: list[str]) -> bool:
    """Whether these are names: words, or numbers from 0 or 1 on above others with decimals."""
    rest = [field for field in fields if real_number(field) is not None or is_missing(field)]
    if len(rest) < len(fields):
        return all(is_missing(field) or _INTEGER.fullmatch(field) for field in rest)
    numbers = fields[1:] if fields[0] == "" else fields  # a pandas index has no name
    counted = any(numbers == [str(k + n) for n in range(len(numbers))] for k in (0, 1))
    decimals = not all(_INTEGER.fullmatch(field) for field in below)
    return len(numbers) > 1 and counted and decimals


def numbers_of(fields: list[str]) -> Floats:
    """Real numbers, or a ValueError where some field is none: Python reads 1_0 as 10."""
    if "_" in "".join(fields):
        raise ValueError("digits with underscores")
    return np.fromiter(map(float, fields), float, len(fields))


def real_number(field: str) -> float | None:
    """The number that a field holds, if it does."""
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None


def has_decimal_comma(field: str) -> bool:
    """Whether it is a number as much of Europe writes it."""
    return _DECIMAL_COMMA.fullmatch(field) is not None


def _complex(field: str) -> float | complex | None:
    real = real_number(field)
    if real is not None or "_" in field or not re.search(r"\d", field):
        return real  # a lone "j" is a column's name
    try:
        return complex(field.replace("i", "j"))  # numpy writes (1+2j), MATLAB 1+2i
    except ValueError:
        return None


def is_missing(field: str) -> bool:
    """Whether a field says that there is no value."""
    return field.lower().lstrip("+-") in _MISSING_VALUES
