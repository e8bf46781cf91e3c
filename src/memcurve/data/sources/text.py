"""Tables as text (.csv, .txt), a block of lines at a time."""

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

from memcurve.data.sources.source import BLOCK, Reader, Table
from memcurve.files.reading import NetworkFileError, reading

_MISSING_VALUES = {"", "na", "n/a", "nan", "null", "none"}
_INTEGER = re.compile(r"[+-]?\d+")


@dataclass(frozen=True)
class _Layout:
    separator: str | None  # None: blanks
    width: int
    names: list[str] | None
    header: bool  # whether the first line that counts holds the names


def open_text(file: Path) -> Table:
    """Open a table; its lines are counted once, here. Empty fields are NaN."""
    with reading(file):
        layout = _layout(file)
        length = -int(layout.header)
        for line in _filled(file):
            length, last = length + 1, line
        if length > 0:
            _split(file, *last, layout)  # shorter where the file was cut off

    def read(columns: Sequence[int]) -> Reader:
        step = max(1, BLOCK // (128 * layout.width))  # a field and its number: about 128 bytes

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            with reading(file):
                lines = islice(_filled(file), layout.header + start, None)
                while batch := list(islice(lines, step)):
                    yield np.array([_row(file, *line, layout, columns) for line in batch])

        return blocks

    return Table(file, layout.names, length, layout.width, read)


def _filled(file: Path) -> Iterator[tuple[int, bytes]]:
    """Go through the lines that are neither empty nor a comment, with their numbers."""
    with file.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            content = line.strip(b" \r\n")  # tabs may stand between empty fields
            if content and not content.startswith(b"#"):
                yield number, content


def _layout(file: Path) -> _Layout:
    """Find out from the first lines what separates the fields, and whether they name columns."""
    top = list(islice(_filled(file), 2))
    texts = [line.decode() for _, line in top]
    if not texts:
        raise NetworkFileError(f"{file}: holds no numbers; write one row of the recording a line.")
    separator = next((sign for sign in ";\t," if sign in texts[-1]), None)
    first, below = _fields(texts[0], separator), _fields(texts[-1], separator)
    if _is_header(first, below):
        return _Layout(separator, len(first), first, True)
    comment = _fields(_comment_above(file, top[0][0]), separator)
    named = len(comment) == len(first) and _is_header(comment, below)
    return _Layout(separator, len(first), comment if named else None, False)


def _fields(text: str, separator: str | None) -> list[str]:
    if separator is None:
        return [field.strip('"') for field in text.split()]
    row = next(csv.reader([text], delimiter=separator, skipinitialspace=separator != "\t"), [])
    return [field.strip() for field in row]


def _is_header(fields: list[str], below: list[str]) -> bool:
    """Whether these are names: words, or numbers from 0 or 1 on above others with decimals."""
    rest = [field for field in fields if not math.isnan(_number(field)) or _is_missing(field)]
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


def _split(file: Path, number: int, line: bytes, layout: _Layout) -> list[str]:
    fields = line.decode().split(layout.separator)
    if len(fields) != layout.width:
        raise NetworkFileError(
            f"{file}: line {number} has {len(fields)} fields, the first line {layout.width}; the "
            f"file is incomplete or damaged: give all lines the same number of fields."
        )
    return fields


def _row(
    file: Path, number: int, line: bytes, layout: _Layout, columns: Sequence[int]
) -> list[float]:
    fields = _split(file, number, line, layout)
    chosen = [fields[column] for column in columns]
    try:
        if b"_" not in line:  # Python reads 1_0 as 10
            return [float(field) for field in chosen]
    except ValueError:
        pass
    row = [_number(field.strip().strip('"')) for field in chosen]
    for field, value in zip(chosen, row, strict=True):
        if math.isnan(value) and not _is_missing(field.strip().strip('"')):
            raise NetworkFileError(
                f"{file}: line {number}: {field.strip()!r} is not a real number; write numbers "
                f"with a decimal point, separated by commas, semicolons, tabs or blanks."
            )
    return row


def _number(field: str) -> float:
    """Return the number in a field, NaN where there is none."""
    try:
        return math.nan if "_" in field else float(field)
    except ValueError:
        return math.nan


def _is_missing(field: str) -> bool:
    return field.lower().lstrip("+-") in _MISSING_VALUES
