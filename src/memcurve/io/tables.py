"""Tables and matrices as text (.csv, .txt), a block of lines at a time; MatrixMarket; Parquet."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from memcurve.io.arrays import BLOCK, Array, Blocks, NetworkFileError, Table
from memcurve.limits import require_room, require_room_for_array
from memcurve.optional import optional

_MISSING_VALUES = {"", "na", "n/a", "nan", "null", "none"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Bytes of a line of text; beyond it a packed file may be a decompression bomb.
LONGEST_LINE = 2**26
#: Peak memory of a line by its bytes, as measured where fields are short; looked at for long ones.
_FIELDS, _LONG_LINE, _SHORTER = 100, 2**20, "Write one row a line."
#: Bytes of a text that tell its encoding and the ends of its lines.
_TOP = 2**16
_QUOTED = re.compile(r'"[^"]*"')
_BLANK_FIELD = re.compile(r'"[^"]*"|\S+')
_INTEGER = re.compile(r"[+-]?\d+")
#: A number as much of Europe writes it.
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?")
_WRITTEN = "write numbers with a decimal point, separated by commas, semicolons, tabs or blanks"
_IN_TABLES = f"{_WRITTEN}, or leave its column out with drop=[...]"
_IN_MATRICES = f"{_WRITTEN}; a list of edges needs a header, source,target,weight"
_NO_ENTRY = "write 0 where there is no edge"
#: A page of each column is held at a time (about 1 MB, packed and unpacked), no row group.
_SPARING = {"pre_buffer": False, "buffer_size": 2**16}


def open_table(file: Path) -> Table:
    """Open columns of real numbers, named by a header line if there is one; NaN is missing."""
    text = _Text(file, is_table=True)
    return Table(file, text.names, text.length, text.width, text.read)


def open_matrix(file: Path, labels: int = 0) -> Array:
    """Open rows of numbers, also complex ones; a header line of words is passed over.

    So are columns of ``labels``, below a line of these.
    """
    text = _Text(file, is_table=False, labels=labels)
    columns = range(labels, text.width)
    shape, blocks = (text.length, len(columns)), text.read(columns)
    return Array("the table", shape, np.dtype(float), None, blocks, file)


class _Text:
    """Rows of fields; the first lines tell how they are written, and all of them are counted."""

    def __init__(self, file: Path, is_table: bool, labels: int = 0) -> None:
        self.file, self.is_table, self._blanks = file, is_table, b" \r\n"
        self._decimal_comma = False
        top = list(islice(self._lines(), 2))
        none = f"{file}: holds no numbers; write one row a line."
        if not top:
            raise NetworkFileError(none)
        texts = [line.decode() for _, line in top]
        self._separator, self._decimal_comma = _separator_and_comma(texts)
        if self._separator != "\t":  # tabs may stand between empty fields
            self._blanks += b"\t"
        named = fields_of(texts[0], self._separator)
        if self._decimal_comma:
            texts = [text.replace(",", ".") for text in texts]
        first, below = fields_of(texts[0], self._separator), fields_of(texts[-1], self._separator)
        self.names, self._skip = None, 0
        if _is_header(first, below) if is_table else labels or _are_words(first):
            self.names, self._skip = named, 1
        elif is_table:
            above = fields_of(comment_above(file, top[0][0]), self._separator)
            is_header = len(above) == len(first) and _is_header(above, below)
            self.names = above if is_header else None
        self.width, self.length = len(first), -self._skip
        if not is_table:  # tables are read in blocks
            rows = _estimated_lines(file, max(len(line) for _, line in top))
            require_room_for_array((rows, self.width), f"{file} of about so many rows")
        for line in self._lines():
            self.length, last = self.length + 1, line
        if self.length > 0:
            self._split(*last)  # shorter where the file was cut off
        elif not is_table:
            raise NetworkFileError(none)

    def read(self, columns: Sequence[int]) -> Blocks:
        """Return what goes through the rows of these columns."""

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            step = max(1, BLOCK // (128 * self.width))  # a field and its number: about 128 bytes
            lines = islice(self._lines(), self._skip + start, None)
            while batch := list(islice(lines, step)):
                yield np.array([self._row(*line, columns) for line in batch])

        return blocks

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        lines = content_lines(self.file, self._blanks)
        if self._decimal_comma:
            return ((number, line.replace(b",", b".")) for number, line in lines)
        return lines

    def _split(self, number: int, line: bytes) -> list[str]:
        fields = line.decode().split(self._separator)
        if len(fields) != self.width:
            raise NetworkFileError(
                f"{self.file}: line {number} has {len(fields)} fields, the first line "
                f"{self.width}; the file is incomplete or damaged: give all lines the same number "
                f"of fields."
            )
        return fields

    def _row(self, number: int, line: bytes, columns: Sequence[int]) -> list[Any]:
        fields = self._split(number, line)
        try:
            if b"_" not in line:  # Python reads 1_0 as 10
                return [float(fields[column]) for column in columns]
        except ValueError:
            pass
        if self._separator == ";" and b"." not in line:  # decimals first met below whole numbers
            fields = [field.replace(",", ".") for field in fields]
        return [self._number(fields[column].strip().strip('"'), number) for column in columns]

    def _number(self, field: str, number: int) -> float | complex:
        value = real_number(field) if self.is_table else _complex(field)
        if value is not None:
            return value
        if self.is_table and is_missing(field):
            return math.nan
        raise NetworkFileError(
            f"{self.file}: line {number}: {field!r} is not a {'real ' * self.is_table}number; "
            f"{_IN_TABLES if self.is_table else _NO_ENTRY if is_missing(field) else _IN_MATRICES}."
        )


def open_bytes(file: Path) -> IO[bytes]:
    """Open a file that may be packed (.gz)."""
    return cast(IO[bytes], gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb"))


def open_lines(file: Path) -> IO[bytes]:
    """Open a text as UTF-8 with lines that end in a newline, as spreadsheets may not write it."""
    with open_bytes(file) as stream:
        top = stream.read(_TOP)
    stream = open_bytes(file)
    if top.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return io.BufferedReader(_Recoded(stream, "utf-16", "utf-8"))
    if b"\r" in top[:-1] and b"\n" not in top:  # of old Macs, and of Excel's "CSV (Macintosh)"
        return io.BufferedReader(_Recoded(stream, "latin-1", "latin-1"))  # any byte is itself
    return stream


class _Recoded(io.RawIOBase):
    """The bytes of a text in another encoding, its lines ending in a newline."""

    def __init__(self, stream: IO[bytes], encoding: str, to: str) -> None:
        self._text, self._to, self._rest = io.TextIOWrapper(stream, encoding), to, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = self._text.read(len(buffer)).encode(self._to)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count

    def close(self) -> None:
        self._text.close()
        super().close()


def content_lines(
    file: Path, blanks: bytes = b" \t\r\n", comments: Sequence[bytes] = (b"#",)
) -> Iterator[tuple[int, bytes]]:
    """Go through the lines that are neither empty nor a comment, with their numbers."""
    with open_lines(file) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST_LINE), b""), start=1):
            if len(line) == LONGEST_LINE:
                raise NetworkFileError(
                    f"{file}: line {number} is longer than {LONGEST_LINE:,} bytes. {_SHORTER}"
                )
            if len(line) > _LONG_LINE:
                require_room(_FIELDS * len(line), f"{file} is too large: line {number}", _SHORTER)
            content = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            content = content.strip(blanks)
            if content and not content.startswith(tuple(comments)):
                yield number, content


def separator_of(texts: Sequence[str]) -> str | None:
    """The sign between the fields of most of these lines; None for blanks."""
    plain = [_QUOTED.sub("", text) for text in texts]
    counts = {sign: sum(sign in text for text in plain) for sign in ";\t,"}
    return next((sign for sign, count in counts.items() if 2 * count > len(texts)), None)


def _separator_and_comma(texts: Sequence[str]) -> tuple[str | None, bool]:
    """The sign between fields, and whether numbers have a decimal comma: 1,5;2,5 or 1,5 2,5."""
    separator = separator_of(texts)
    for sign in (None, separator) if separator == "," else (separator,):
        fields = fields_of(texts[-1], sign)
        whole = [field for field in fields if not DECIMAL_COMMA.fullmatch(field)]
        others = all(_INTEGER.fullmatch(field) or is_missing(field) for field in whole)
        if len(whole) < len(fields) > (sign is None) and others:
            return sign, True
    return separator, False


def _estimated_lines(file: Path, longest: int) -> int:
    """About how many lines a file has, at least; packed ones do not tell."""
    size = 0 if file.suffix.lower() == ".gz" else file.stat().st_size
    seen = ends = 0
    with file.open("rb") as stream:
        for at in (0, size // 2):
            stream.seek(at)
            block = stream.read(2**20)
            seen, ends = seen + len(block), ends + max(map(block.count, (b"\n", b"\r")))
    return size // max(longest, seen // max(ends, 1), 1)


def fields_of(text: str, separator: str | None) -> list[str]:
    if separator is None:
        return [field.strip('"') for field in _BLANK_FIELD.findall(text)]
    row = next(csv.reader([text], delimiter=separator, skipinitialspace=separator != "\t"), [])
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


def comment_above(file: Path, number: int, comments: Sequence[bytes] = (b"#",)) -> str:
    """Return the comment, if any, on the line before that one: numpy.savetxt writes names so."""
    with open_lines(file) as stream:
        above = next(islice(stream, number - 2, None), b"") if number > 1 else b""
    signs = b"".join(comments).decode()
    text = above.decode("utf-8-sig").strip()
    return text.lstrip(signs).strip() if text.startswith(tuple(signs)) else ""


def real_number(field: str) -> float | None:
    try:
        return None if "_" in field else float(field)
    except ValueError:
        return None


def _complex(field: str) -> float | complex | None:
    real = real_number(field)
    if real is not None or "_" in field or not re.search(r"\d", field):
        return real  # a lone "j" is a column's name
    try:
        return complex(field.replace("i", "j"))  # numpy writes (1+2j), MATLAB 1+2i
    except ValueError:
        return None


def is_missing(field: str) -> bool:
    return field.lower().lstrip("+-") in _MISSING_VALUES


def open_market(file: Path) -> Array:
    """Open a matrix (.mtx), listed entry by entry or in full.

    scipy.io.mmread crashes Python on long or cut numbers (scipy #19949).
    """
    with file.open(encoding="utf-8", errors="replace") as stream:
        first = stream.readline()
        mark, thing, layout, field, symmetry = first.lower().split()
        sizes = next((line.split() for line in stream if line.strip() and line[0] != "%"), [])
    if (mark, thing) != ("%%matrixmarket", "matrix") or layout not in ("array", "coordinate"):
        raise ValueError(f"unknown first line {first!r}")
    listed, half, strict = layout != "array", symmetry != "general", symmetry == "skew-symmetric"
    rows, columns, *counted = map(int, sizes)
    entries = rows * (rows + 1 - 2 * strict) // 2 if half else rows * columns
    entries = counted[0] if listed else entries
    width = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}[field]
    step = width + 2 * listed

    def load() -> Any:
        from scipy.sparse import coo_array

        lines = file.read_text("utf-8", errors="replace").split("\n")[1:]
        tokens = [part for line in lines if line.lstrip()[:1] != "%" for part in line.split()]
        del tokens[: len(sizes)]
        if step == 0 or len(tokens) != entries * step or (half and rows != columns):
            raise ValueError(
                f"{rows} x {columns}, {entries} entries announced, {len(tokens)} numbers"
            )
        if listed:
            i, j = (np.array([int(index) - 1 for index in tokens[at::step]], int) for at in (0, 1))
        elif half:  # column after column
            j, i = np.triu_indices(rows, strict)
        else:
            j, i = np.indices((columns, rows)).reshape(2, -1)
        read = int if field == "integer" else float
        values = i * 0 + 1
        if width:
            values = np.array([read(value) for value in tokens[2 * listed :: step]])
        if width == 2:
            values = values + 1j * np.array([float(value) for value in tokens[step - 1 :: step]])
        if half:
            mirrored = {"symmetric": values, "skew-symmetric": -values, "hermitian": values.conj()}
            off = i != j
            values = np.append(values, mirrored[symmetry][off])
            i, j = np.append(i, j[off]), np.append(j, i[off])
        array = coo_array((values, (i, j)), shape=(rows, columns))
        return array.tocsr() if listed else array.toarray()

    shape, dtype = (rows, columns), np.dtype(complex if field == "complex" else float)
    return Array("the matrix", shape, dtype, load, file=file, is_sparse=listed)


def open_parquet(file: Path) -> Table:
    """Open the columns of a file; empty fields are NaN."""
    parquet = optional("pyarrow.parquet", f"{file}: reading it", "files")
    types = optional("pyarrow", f"{file}: reading it", "files").types
    with parquet.ParquetFile(file) as opened:
        schema, groups = opened.schema_arrow, opened.metadata
        ends = np.cumsum([groups.row_group(k).num_rows for k in range(groups.num_row_groups)])
        length = int(groups.num_rows)
    if len({*schema.names}) < len(schema.names):
        twice = Counter(schema.names).most_common(1)[0][0]
        raise NetworkFileError(f"{file}: has several columns {twice!r}; rename them.")
    known = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)

    def read(columns: Sequence[int]) -> Blocks:
        names = [schema.names[column] for column in columns]
        for name in names:
            kind = schema.field(name).type
            if not any(is_kind(kind) for is_kind in known):
                raise NetworkFileError(
                    f"{file}: column {name!r} holds {kind}, not real numbers; convert it, or list "
                    f"the columns to read with state_names=[...]."
                )

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            first = int(np.searchsorted(ends, start, side="right"))
            skip = start - int(ends[first - 1] if first else 0)
            with parquet.ParquetFile(file, **_SPARING) as opened:
                for batch in opened.iter_batches(
                    batch_size=max(1, BLOCK // (8 * len(names))),
                    row_groups=range(first, len(ends)),
                    columns=names,
                ):
                    cut = min(skip, batch.num_rows)
                    skip -= cut
                    kept = batch.slice(cut)
                    found = [kept.column(name).to_numpy(zero_copy_only=False) for name in names]
                    yield np.stack([np.asarray(part, float) for part in found], axis=1)  # None: NaN

        return blocks

    return Table(file, list(schema.names), length, len(schema.names), read)
