"""Arrays in memory, and .npy and .npz files, of which only a block at a time is held."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import rectangular_array
from memcurve.data.sources.source import BLOCK, Archive, Rows
from memcurve.files.reading import NetworkFileError, pickle_error, reading
from memcurve.files.single import npy_header


def given(value: Any, argument: str) -> Rows:
    """Take what was passed in: an array, something that is sliced like one, or nested lists."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(
            f"`{argument}` has masked entries; fill them first, e.g. with .filled(numpy.nan)."
        )
    # arrays on disk (h5py, zarr) have `chunks`, and are not to be loaded
    on_disk = all(hasattr(value, part) for part in ("chunks", "dtype", "shape"))
    array = value if on_disk else rectangular_array(value, argument)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"`{argument}` must be an array of numbers or the path of one file, got "
            f"{type(value).__name__} of dtype {array.dtype}; convert it first, e.g. "
            f"numpy.asarray({argument}, dtype=float)."
        )
    return held(array, f"`{argument}`", None)


def held(array: Any, label: str, file: Path | None) -> Rows:
    """Return the rows of an array that is there, read in blocks."""

    def read(start: int) -> Iterator[NDArray[Any]]:
        step = block_rows(array.shape, array.dtype)
        for at in range(start, array.shape[0], step):
            yield np.asarray(array[at : at + step])

    return Rows(label, array.shape, array.dtype, read, file)


def block_rows(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Return how many rows make a block."""
    return max(1, BLOCK // max(1, math.prod(shape[1:]) * dtype.itemsize))


def open_npy(file: Path) -> Rows:
    """Open the one array of a file; of the map onto it, too, only a block at a time is kept."""
    with reading(file):
        with file.open("rb") as stream:
            shape, dtype = npy_header(stream, file)
        if dtype.hasobject:
            raise pickle_error(file)
        if math.prod(shape):  # an empty array cannot be mapped, and is refused later
            np.lib.format.open_memmap(file, mode="r")

    def read(start: int) -> Iterator[NDArray[Any]]:
        step = block_rows(shape, dtype)
        with reading(file):
            for at in range(start, shape[0], step):
                array = np.lib.format.open_memmap(file, mode="r")
                yield array[at : at + step]

    return Rows(f"{file}: the array", shape, dtype, read, file)


def open_npz(file: Path) -> Archive:
    """Open the arrays of an archive."""
    with reading(file):
        with file.open("rb") as stream:
            if stream.read(2) != b"PK":
                stream.seek(0)
                npy_header(stream, file)
                raise NetworkFileError(f"{file}: is a .npy file by its contents; rename it.")
        arrays = {}
        with zipfile.ZipFile(file) as archive:
            for entry in archive.namelist():
                if entry.endswith(".npy"):
                    arrays[entry.removesuffix(".npy")] = _member(file, archive, entry)
    present = {key: f"{rows.shape} {rows.dtype}" for key, rows in arrays.items()}
    return Archive(file, present, lambda key, vector: arrays[key])


def _member(file: Path, archive: zipfile.ZipFile, entry: str) -> Rows:
    """Return an array of an archive: unpacked as it is read, or whole if it is stored by column."""
    key = entry.removesuffix(".npy")
    with archive.open(entry) as member:
        shape, dtype = npy_header(member, file)
        begin = member.tell()
        member.seek(0)
        one = np.lib.format.read_magic(member)[0] == 1
        header = np.lib.format.read_array_header_1_0 if one else np.lib.format.read_array_header_2_0
        by_column = header(member)[1]
    row = math.prod(shape[1:]) * dtype.itemsize
    size = begin + math.prod(shape) * dtype.itemsize
    if archive.getinfo(entry).file_size != size and not dtype.hasobject:
        raise NetworkFileError(f"{file}: {key} is incomplete; write or download it again.")

    def read(start: int) -> Iterator[NDArray[Any]]:
        step = block_rows(shape, dtype)
        with reading(file), zipfile.ZipFile(file) as archive, archive.open(entry) as member:
            member.read(begin)  # after seek() the checksum is not looked at
            if start:
                member.seek(begin + start * row)
            for at in range(start, shape[0], step):
                block = member.read(min(step, shape[0] - at) * row)
                yield np.frombuffer(block, dtype).reshape(-1, *shape[1:])

    @cache
    def whole() -> NDArray[Any]:
        with reading(file), zipfile.ZipFile(file) as archive, archive.open(entry) as member:
            return np.lib.format.read_array(member, allow_pickle=False)

    def read_whole(start: int) -> Iterator[NDArray[Any]]:
        yield whole()[start:]

    return Rows(f"{file}: {key}", shape, dtype, read_whole if by_column else read, file)
