"""MATLAB's files (.mat): HDF5 with rows as columns from version 7.3 on, and version 5 to 7.

The latter are parsed here: scipy.io.loadmat ends Python with a segmentation fault where the type
codes of a damaged file are wrong.
"""

from __future__ import annotations

import math
import mmap
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from memcurve.core.limits import require_room
from memcurve.io.arrays import Archive, Array, NetworkFileError
from memcurve.io.hdf5 import dataset, elsewhere, hdf5_file, refused

_HDF5 = b"\x89HDF\r\n\x1a\n"
#: Classes of arrays by their codes in version 5, from 1 on, and numpy's types of stored numbers.
_CLASSES = "cell struct object char sparse double single int8 uint8 int16 uint16 int32 uint32 int64"
_CODES = dict(enumerate([*_CLASSES.split(), "uint64"], 1))
_STORED = dict(zip((1, 2, 3, 4, 5, 6, 7, 9, 12, 13), "b B h H i I f d q Q".split(), strict=True))
_NUMBERS = {"logical", *list(_CODES.values())[4:]}
#: Bytes that one packed byte can give, by the format of zlib.
_MOST_UNPACKED = 1032

Order = Literal["little", "big"]


def open_mat(file: Path) -> Archive:
    """Open the matrices of a file; those of versions before 7.3 are only read whole."""
    with file.open("rb") as stream:
        head = stream.read(520)
    if head[512:] == _HDF5 or head.startswith((_HDF5[:4], b"MATLAB 7.3")):
        with hdf5_file(file) as archive:
            keys = [key for key in archive if key[0] != "#"]
            return Archive(
                file, dict(part for key in keys for part in _parts_73(file, key, archive))
            )
    if 0 in head[:4]:
        raise NetworkFileError(
            f"{file}: cannot be read as .mat: it is damaged, or of version 4; write it again with "
            f"save('file.mat', '-v7')."
        )
    order: Order = {b"IM": "little", b"MI": "big"}[head[126:128]]  # type: ignore[assignment]
    with file.open("rb") as stream:
        contents = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    matrices = _elements(contents[128:], order)
    return Archive(file, dict(part for one in matrices for part in _parts_5(file, *one, order)))


def _array(
    file: Path, key: str, shape: tuple[int, ...], kind: str, load: Callable[[], Any] | None
) -> Array:
    """An array that is only read whole, or never."""
    refusal = f"{file}: {key} is a MATLAB {kind}, not a matrix of numbers; save these, e.g. "
    refusal += "A = s.A; save('numbers.mat', 'A', '-v7.3')."
    never = None if kind in _NUMBERS else refusal
    return Array(key, shape, None, load, None, file, kind, kind == "sparse", never)


# ---- version 5: elements, each with a type code and a size


def _elements(data: memoryview, order: Order) -> Iterator[tuple[int, memoryview]]:
    at = 0
    while at < len(data):
        code = int.from_bytes(data[at : at + 4], order)
        size, start = int.from_bytes(data[at + 4 : at + 8], order), at + 8
        if code >> 16:  # up to four bytes are stored within the tag
            code, size, start = code & 0xFFFF, code >> 16, at + 4
        if start + size > len(data):
            raise ValueError("the file ends within an array")
        yield code, data[start : start + size]
        at = start + size if code == 15 else -(-(start + size) // 8) * 8


def _integers(data: memoryview, order: Order) -> list[int]:
    return [int.from_bytes(data[at : at + 4], order) for at in range(0, len(data), 4)]


def _parts_5(
    file: Path, code: int, body: memoryview, order: Order, path: str = ""
) -> Iterator[tuple[str, Array]]:
    """A matrix by its name, or the struct of that name and its matrices, ``"esn.W"``."""
    start, is_packed = body, code == 15
    if is_packed:  # what it is stands in its first bytes
        start = memoryview(zlib.decompressobj().decompress(body, 4096))
        code, start = int.from_bytes(start[:4], order), start[8:]
    if code != 14 or not len(start):
        raise ValueError(f"an element of type {code} is no array")
    header = _elements(start, order)
    flags, shape = (_integers(next(header)[1], order) for _ in range(2))
    name = path or bytes(next(header)[1]).decode()
    kind = _CODES.get(flags[0] & 0xFF, "object")
    entries = flags[1] if kind == "sparse" else math.prod(shape)
    most = 16 * (entries + sum(shape) + 64) + 4096
    most = _MOST_UNPACKED * len(body) if kind == "struct" else most
    contents = partial(_unpacked, body, most) if is_packed else partial(_same, body)
    if kind == "struct" and entries == 1:
        _, names, *fields = islice(_elements(contents(), order), 3, None)
        for field, key in zip(fields, _texts(names[1], len(fields)), strict=True):
            if len(field[1]):  # an empty field has no bytes
                yield from _parts_5(file, *field, order, f"{name}.{key}")
    is_complex, is_logical = flags[0] >> 11 & 1, flags[0] >> 9 & 1
    load = partial(_numbers, contents, kind, (*shape,), 1 + is_complex, order)
    yield name, _array(file, name, (*shape,), "logical" if is_logical else kind, load)


def _texts(names: memoryview, count: int) -> list[str]:
    """So many texts, all of which take the same number of bytes."""
    step = len(names) // max(1, count)
    return [
        bytes(names[at * step : (at + 1) * step]).split(b"\0")[0].decode() for at in range(count)
    ]


def _same(body: memoryview) -> memoryview:
    return body


def _unpacked(body: memoryview, most: int) -> memoryview:
    """Unpack an array as far as its own shape reaches; more is a decompression bomb."""
    require_room(most, "an array in the file is too large: it", "Take fewer nodes.")
    unpacking = zlib.decompressobj()
    contents = unpacking.decompress(body, most)
    if unpacking.unconsumed_tail:
        raise ValueError("an array is larger than its dimensions say")
    return memoryview(contents)[8:]


def _numbers(
    contents: Callable[[], memoryview], kind: str, shape: tuple[int, ...], parts: int, order: Order
) -> Any:
    """The numbers of a matrix, by column; of a sparse one after the rows and column starts."""
    sign = "<" if order == "little" else ">"
    stored = [
        np.frombuffer(part, sign + _STORED[code])
        for code, part in islice(_elements(contents(), order), 3, None)
    ]
    places = stored[: 2 * (kind == "sparse")]
    values, *imaginary = stored[len(places) :]
    if len(imaginary) != parts - 1:
        raise ValueError(f"an array of {len(stored)} parts")
    values = values.astype(float if kind == "sparse" else kind)
    values = values + 1j * imaginary[0] if imaginary else values
    if not places:
        return values.reshape(shape, order="F")
    from scipy.sparse import csc_array

    rows, starts = (part.astype(np.int64) for part in places)
    height, width = shape
    return csc_array((values[: starts[-1]], rows[: starts[-1]], starts), shape=(height, width))


# ---- version 7.3


def _parts_73(file: Path, path: str, archive: Any) -> Iterator[tuple[str, Array]]:
    """A matrix by its name, or the struct of that name and its matrices, ``"esn.W"``."""
    matrix, name = _matrix_73(file, path, archive), path.replace("/", ".")
    if matrix.kind == "struct" and hasattr(archive[path], "keys"):
        for field in archive[path]:
            yield from _parts_73(file, f"{path}/{field}", archive)
    if matrix.refusal is None or "/" not in path:
        yield name, matrix


def _matrix_73(file: Path, key: str, archive: Any) -> Array:
    if (source := elsewhere(None, archive, key)) is not None:
        return refused(file, key, source)
    item = archive[key]
    if item.attrs.get("MATLAB_sparse"):
        return _sparse_73(file, key, item)
    # Without the mark MATLAB did not write it, and whether it is transposed cannot be known.
    kind = item.attrs.get("MATLAB_class", "array without MATLAB_class")
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    if item.attrs.get("MATLAB_empty"):
        kind = "empty array"
    if kind not in _NUMBERS:
        return _array(file, key, (getattr(item, "shape", None) or ())[::-1], kind, None)
    return dataset(file, key, item, is_transposed=True, kind=kind)


def _sparse_73(file: Path, key: str, item: Any) -> Array:
    for part in item:
        if (source := elsewhere(None, item, part)) is not None:
            return refused(file, f"{key}/{part}", source)
    parts = {part: dataset(file, f"{key}/{part}", item[part]) for part in item}
    shape = (int(item.attrs["MATLAB_sparse"]), parts["jc"].shape[0] - 1)

    def load() -> Any:
        from scipy.sparse import csc_array

        data, rows, starts = (
            parts[part].whole() if part in parts else np.zeros(0) for part in ("data", "ir", "jc")
        )
        return csc_array((data, rows.astype(np.int64), starts.astype(np.int64)), shape=shape)

    return _array(file, key, shape, "sparse", load)
