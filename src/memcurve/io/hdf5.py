"""HDF5 files (.h5, .hdf5), by h5py, block by block, and MATLAB's (.mat).

MATLAB's are HDF5 with rows as columns from version 7.3 on; 4 and 5 are read by scipy.
"""

from __future__ import annotations

import math
import mmap
import warnings
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import require_room
from memcurve.core.optional import optional
from memcurve.io.arrays import Archive, Array, block_rows, in_memory

#: HDF5 keeps this many bytes of unpacked data at hand.
_CACHE = 2**26
#: Bytes that one packed byte can give, by the format of zlib.
_MOST_UNPACKED = 1032
_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_NUMBERS = {"double", "single", "logical", "sparse", *_INTEGERS}
_HDF5 = b"\x89HDF\r\n\x1a\n"

Order = Literal["little", "big"]


def open_hdf5(file: Path) -> Archive:
    """Open the datasets of a file, in all its groups."""
    arrays: dict[str, Array] = {}

    def visit(name: str, item: Any) -> None:
        if hasattr(item, "shape"):  # neither a group nor a named type
            arrays[name] = dataset(file, name, item)

    with hdf5_file(file) as archive:
        archive.visititems(visit)
    return Archive(file, arrays)


def hdf5_file(file: Path) -> Any:
    """Open a file with h5py."""
    return optional("h5py", f"{file}: reading it", "files").File(file, "r", rdcc_nbytes=_CACHE)


def dataset(
    file: Path, name: str, item: Any, *, is_transposed: bool = False, kind: str = ""
) -> Array:
    """Open one dataset, with rows and columns exchanged where it ``is_transposed``."""
    if (elsewhere := _elsewhere(item)) is not None:
        return _refused(file, name, elsewhere, item.shape or ())
    shape: tuple[int, ...] = item.shape or ()
    is_complex = item.dtype.names == ("real", "imag")
    dtype = np.dtype(np.complex128) if is_complex else item.dtype

    def values(stored: Any) -> NDArray[Any]:
        array = np.asarray(stored)
        if is_complex:
            array = np.stack([array["real"], array["imag"]], axis=-1, dtype=float)
            array = array.view(np.complex128)[..., 0]
        return array.T if is_transposed else array

    def load() -> NDArray[Any]:
        with hdf5_file(file) as archive:
            return values(archive[name][()])

    def blocks(start: int) -> Iterator[NDArray[Any]]:
        with hdf5_file(file) as archive:
            for block in _blocks(archive[name], len(shape) - 1 if is_transposed else 0, start):
                yield values(block)

    shape = shape[::-1] if is_transposed else shape
    return Array(name, shape, dtype, load, blocks, file, kind)


def _elsewhere(item: Any, group: Any = None, name: str = "") -> str | None:
    """How numbers are taken from other files, whatever these hold, or made up; else None.

    ``item`` is what is called ``name`` in a ``group``, where that is given: it is not looked at
    before its link.
    """
    h5py = optional("h5py", "reading it", "files")
    if group is not None:
        if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
            return "an external link"
        item = group[name]
        if item.file != group.file:
            return "a link to another file"
    if getattr(item, "is_virtual", False):
        return "a virtual dataset, of other datasets"
    return "external raw storage, of another file" if getattr(item, "external", None) else None


def _refused(file: Path, name: str, elsewhere: str, shape: tuple[int, ...] = ()) -> Array:
    refusal = f"{file}: {name} is {elsewhere}: only what a file holds itself is read. Copy the "
    refusal += "numbers into one file, with h5py e.g. new['X'] = old['X'][()]."
    return Array(name, shape, None, None, None, file, elsewhere, refusal=refusal)


def _blocks(stored: Any, axis: int, start: int) -> Iterator[Any]:
    """Go along an axis in steps that unpack no part of the dataset twice, where memory allows."""
    length = stored.shape[axis]
    others = tuple(size for place, size in enumerate(stored.shape) if place != axis)
    step = block_rows((length, *others), stored.dtype)
    if stored.chunks:
        packed = stored.chunks[axis]
        step = max(step // packed * packed, min(packed, 8 * step))
    at = start
    while at < length:
        end = min(length, (at // step + 1) * step)
        yield stored[(slice(None),) * axis + (slice(at, end),)]
        at = end


def open_mat(file: Path) -> Archive:
    """Open the matrices of a MATLAB file of any version; before 7.3 they are only read whole."""
    with file.open("rb") as stream:
        head = stream.read(520)
    if head[512:] == _HDF5 or head.startswith((_HDF5[:4], b"MATLAB 7.3")):
        with hdf5_file(file) as archive:
            keys = [key for key in archive if key[0] != "#"]
            return Archive(
                file, dict(part for key in keys for part in _parts_73(file, key, archive))
            )
    from scipy.io import loadmat, whosmat

    def load(name: str) -> Any:
        with warnings.catch_warnings():  # sparse matrices or arrays are the same to us
            warnings.simplefilter("ignore", DeprecationWarning)
            return loadmat(_mapped(file), variable_names=[name])[name]

    if 0 not in head[:4]:  # a zero there marks version 4
        _check_mat5(memoryview(_mapped(file)))
    arrays: dict[str, Array] = {}
    for name, shape, kind in whosmat(_mapped(file)):
        if kind == "struct" and math.prod(shape) == 1:
            arrays |= _fields(file, name, load(name)[0, 0])
        arrays[name] = _array(file, name, shape, kind, partial(load, name))
    return Archive(file, arrays)


def _fields(file: Path, name: str, struct: Any) -> dict[str, Array]:
    """The matrices in a struct and in those within it, ``"esn.W"``."""
    arrays: dict[str, Array] = {}
    for field in struct.dtype.names or ():
        key, value = f"{name}.{field}", struct[field]
        if getattr(value, "dtype", None) is not None and value.dtype.names and value.size == 1:
            arrays |= _fields(file, key, value.reshape(-1)[0])
        elif hasattr(value, "toarray"):
            arrays[key] = _array(file, key, value.shape, "sparse", partial(_same, value))
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            arrays[key] = in_memory(value, key, file)
    return arrays


def _same(value: Any) -> Any:
    return value


def _mapped(file: Path) -> Any:
    """A file of which no more bytes are read than it has, whatever sizes it states."""
    with file.open("rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _array(
    file: Path, key: str, shape: tuple[int, ...], kind: str, load: Callable[[], Any] | None
) -> Array:
    """An array that is only read whole, or never."""
    refusal = f"{file}: {key} is a MATLAB {kind}, not a matrix of numbers; save these, e.g. "
    refusal += "A = s.A; save('numbers.mat', 'A', '-v7.3')."
    refused = None if kind in _NUMBERS else refusal
    return Array(key, shape, None, load, None, file, kind, kind == "sparse", refused)


def _parts_73(file: Path, path: str, archive: Any) -> Iterator[tuple[str, Array]]:
    """A matrix by its name, or the struct of that name and its matrices, ``"esn.W"``."""
    matrix, name = _matrix_73(file, path, archive), path.replace("/", ".")
    if matrix.kind == "struct" and hasattr(archive[path], "keys"):
        for field in archive[path]:
            yield from _parts_73(file, f"{path}/{field}", archive)
    if matrix.refusal is None or "/" not in path:
        yield name, matrix


def _matrix_73(file: Path, key: str, archive: Any) -> Array:
    if (elsewhere := _elsewhere(None, archive, key)) is not None:
        return _refused(file, key, elsewhere)
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
        if (elsewhere := _elsewhere(None, item, part)) is not None:
            return _refused(file, f"{key}/{part}", elsewhere)
    parts = {part: dataset(file, f"{key}/{part}", item[part]) for part in item}
    shape = (int(item.attrs["MATLAB_sparse"]), parts["jc"].shape[0] - 1)

    def load() -> Any:
        from scipy.sparse import csc_array

        data, rows, starts = (
            parts[part].whole() if part in parts else np.zeros(0) for part in ("data", "ir", "jc")
        )
        return csc_array((data, rows.astype(np.int64), starts.astype(np.int64)), shape=shape)

    return _array(file, key, shape, "sparse", load)


def _check_mat5(contents: memoryview) -> None:
    """Check the type code of each element: scipy.io.loadmat crashes Python on a wrong one."""
    order: Order = "little" if bytes(contents[126:128]) == b"IM" else "big"
    for code, body in _elements(contents[128:], order):
        if code == 15:  # compressed
            unpacked = _decompressed(body, order)
            if unpacked is None:
                continue
            code, body = next(_elements(memoryview(unpacked), order))
        _check_array(code, body, order)


def _check_array(code: int, body: memoryview, order: Order) -> None:
    """Check an array, and those within it where it is a struct."""
    elements = list(_elements(body, order)) if code == 14 and len(body) else []
    if len(elements) < 3:
        raise ValueError(f"element of type {code} is no array")
    flags = int.from_bytes(elements[0][1][:4], order)
    kind, parts = flags & 0xFF, 1 + (flags >> 11 & 1)  # real, imaginary
    codes = [code for code, _ in elements[3:]]
    if kind == 5:  # sparse: rows and column starts come first
        parts += 2
    if 5 <= kind <= 15 and (len(codes) != parts or not {*codes} <= {*range(1, 8), 9, 12, 13}):
        raise ValueError(f"array of class {kind} has parts of types {codes}")
    for within, part in elements[5:] if kind == 2 else elements[3:] if kind == 1 else ():
        if len(part):  # an empty field has no bytes
            _check_array(within, part, order)


def _decompressed(body: memoryview, order: Order) -> bytes | None:
    """Unpack an array as far as its own dimensions reach; more is a decompression bomb.

    A struct is unpacked as far as the packed bytes can reach; None for text and cells, which are
    not looked into.
    """
    unpacking = zlib.decompressobj()
    start = unpacking.decompress(body, 1024)
    flags, entries = int.from_bytes(start[16:20], order), int.from_bytes(start[20:24], order)
    if len(start) >= 24 and not (5 <= flags & 0xFF <= 15 or flags & 0xFF == 2):
        return None
    count = int.from_bytes(start[28:32], order) // 4
    if count > 64:  # numpy has no more
        raise ValueError(f"an array of {count:,} dimensions")
    lengths = [int.from_bytes(start[32 + 4 * k : 36 + 4 * k], order) for k in range(count)]
    if flags & 0xFF != 5:
        entries = math.prod(lengths)
    most = 16 * (entries + sum(lengths) + 64) + 4096
    if flags & 0xFF == 2:
        most = _MOST_UNPACKED * len(body)
    require_room(most, "an array in the file is too large: it", "Take fewer nodes.")
    start += unpacking.decompress(unpacking.unconsumed_tail, most)
    if unpacking.unconsumed_tail:
        raise ValueError("an array is larger than its dimensions say")
    return start


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
