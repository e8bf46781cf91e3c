"""Files of one array without a name (.npy, .csv, .mtx) → that array, or a network's A and C."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.files.market import read_mtx
from memcurve.files.reading import NetworkFileError, as_mask, pickle_error, reading
from memcurve.limits import require_room_for_array

_MISSING_VALUES = {"", "na", "n/a", "nan", "null", "none"}


def single_parts(file: Path, mask: Any) -> dict[str, Any]:
    """Read A, its mask given, or both side by side where ``mask`` is None."""
    array = read_single(file)
    rows, columns = array.shape if array.ndim == 2 else (0, 0)
    if mask is not None and rows == columns > 0:
        return {"A": array, "C": as_mask(mask)}
    if mask is None and 0 < rows < columns:
        return {"A": array[:, :rows], "C": as_mask(array[:, rows:])}
    if mask is None and rows == columns > 0:
        raise NetworkFileError(
            f"{file}: holds A of shape {array.shape} but no input mask C; give mask='C.npy' (or "
            f".csv, .mtx), store [A | C] side by side, or an archive with A and C, e.g. .npz."
        )
    rule = "[A | C] of shape (N, N + d)" if mask is None else "a square A, as `mask` is given"
    raise NetworkFileError(f"{file}: must hold {rule}, got shape {array.shape}; reshape it.")


def single_matrix(file: Path) -> Any:
    """Read A, which must be square."""
    array = read_single(file)
    rows, columns = array.shape if array.ndim == 2 else (0, 0)
    if rows == columns > 0:
        return array
    remedy = "read [A | C] with load_network" if 0 < rows < columns else "reshape it"
    raise NetworkFileError(f"{file}: must hold a square A, got shape {array.shape}; {remedy}.")


def read_single(file: Path) -> Any:
    """Read the array of a file whose ending is in the table SINGLE."""
    with reading(file):
        return SINGLE[file.suffix.lower()](file)


def _read_npy(file: Path) -> NDArray[Any]:
    with file.open("rb") as stream:
        shape, dtype = npy_header(stream, file)
        if dtype.hasobject:
            raise pickle_error(file)
        require_room_for_array(shape, str(file), itemsize=dtype.itemsize)
        stream.seek(0)
        return np.lib.format.read_array(stream, allow_pickle=False)


def npy_header(stream: Any, file: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the shape and dtype at the start of a .npy file, or of one within a .npz file."""
    if stream.read(1) == b"\x80":
        raise pickle_error(file)
    stream.seek(0)
    if np.lib.format.read_magic(stream)[0] == 1:
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    return shape, dtype


def _read_csv(file: Path) -> NDArray[Any]:
    lines = enumerate(file.read_text("utf-8-sig").split("\n"), start=1)
    filled = [(n, line) for n, line in lines if line.strip() and line.lstrip()[0] != "#"]
    sample = filled[min(1, len(filled) - 1)][1] if filled else ""
    separator = next((sign for sign in ";," if sign in sample), None)
    rows: list[list[Any]] = []
    for place, (number, line) in enumerate(filled):
        fields = [field.strip() for field in line.split(separator)]
        row = [_number(field) for field in fields]
        words = place == 0 and all(value is None for value in row)
        if words and not _MISSING_VALUES.issuperset(map(str.lower, fields)):
            continue  # the header
        if None in row:
            raise NetworkFileError(
                f"{file}: line {number}: {fields[row.index(None)]!r} is not a number; write "
                f"numbers with a decimal point, separated by commas, semicolons or blanks."
            )
        if rows and len(row) != len(rows[0]):
            raise NetworkFileError(
                f"{file}: line {number} has {len(row)} numbers, the lines before it "
                f"{len(rows[0])}; give all rows the same length."
            )
        rows.append(row)
    if not rows:
        raise NetworkFileError(f"{file}: holds no numbers; write one row of the matrix a line.")
    return np.array(rows)


def _number(field: str) -> float | complex | None:
    if "_" in field:  # Python reads 1_0 as 10
        return None
    try:
        return float(field)
    except ValueError:
        pass
    try:  # numpy writes (1+2j), MATLAB 1+2i; a lone "j" is a column's name
        return complex(field.replace("i", "j")) if re.search(r"\d", field) else None
    except ValueError:
        return None


#: The reader of each ending.
SINGLE: dict[str, Callable[[Path], Any]] = {
    ".npy": _read_npy,
    ".csv": _read_csv,
    ".mtx": read_mtx,
}
