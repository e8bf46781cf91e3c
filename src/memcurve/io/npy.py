"""NumPy's files: one array (.npy), or arrays by name (.npz), also in scipy.sparse's layout."""

import math
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from memcurve.io.arrays import Archive, Array, NetworkFileError, block_rows, fault_error

#: The parts of a sparse A, stored as A_data, A_indices, …
SPARSE_PARTS = ("data", "indices", "indptr", "shape")
#: What scipy.sparse.save_npz stores beside these, by format.
_SCIPY_PARTS = (*SPARSE_PARTS, "format", "_is_array", "row", "col", "coords", "offsets")

#: Bytes of an array's header, more than numpy takes: beyond it, it may be a decompression bomb.
_LONGEST_HEADER = 2**15

#: Ways to pack that zipfile unpacks by as much as is asked for; the others unpack a block at once.
_BOUNDED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def open_npy(file: Path) -> Array:
    """Open the one array of a file; of the map onto it, too, only a block at a time is kept."""
    with file.open("rb") as stream:
        shape, dtype, begin = _header(stream, file)
    stored_bytes = file.stat().st_size - begin
    refusal = _refusal(file, "", dtype, stored_bytes >= math.prod(shape) * dtype.itemsize)

    def load() -> NDArray[Any]:
        with file.open("rb") as stream:
            return npy.read_array(stream, allow_pickle=False)

    def blocks(start: int) -> Iterator[NDArray[Any]]:
        step = block_rows(shape, dtype)
        for at in range(start, shape[0], step):
            yield npy.open_memmap(file, mode="r")[at : at + step]

    return Array("the array", shape, dtype, load, blocks, file, refusal=refusal)


def open_npz(file: Path) -> Archive:
    """Open the arrays of an archive; parts of a sparse A make that array."""
    with file.open("rb") as stream:
        if stream.read(2) != b"PK":
            stream.seek(0)
            _header(stream, file)
            raise NetworkFileError(f"{file}: is a .npy file by its contents; rename it.")
    with zipfile.ZipFile(file) as archive:
        entries = [entry for entry in archive.namelist() if entry.endswith(".npy")]
        arrays = {entry.removesuffix(".npy"): _member(file, archive, entry) for entry in entries}
    if len(arrays) < len(entries):
        raise NetworkFileError(f"{file}: has several arrays of one name; write it again.")
    for prefix, needed, stored in (
        ("A_", SPARSE_PARTS, SPARSE_PARTS),  # ours
        ("", ("format", "data", "shape"), _SCIPY_PARTS),
    ):
        if arrays.keys() >= {prefix + part for part in needed}:
            size = arrays[f"{prefix}shape"]
            if size.shape == (2,) and size.dtype is not None and size.dtype.kind in "iu":
                parts = {prefix + part for part in stored}
                others = {name: array for name, array in arrays.items() if name not in parts}
                if "A" in others:
                    both = ", ".join(sorted(parts & arrays.keys()))
                    raise fault_error(file, "files", "two", parts=both)
                return Archive(file, {"A": _sparse(file, arrays, prefix)} | others)
    return Archive(file, arrays)


def _header(stream: IO[bytes], file: Path) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Read shape, dtype, and where the numbers begin."""
    head = BytesIO(stream.read(_LONGEST_HEADER))
    if head.getvalue()[:1] == b"\x80":
        raise fault_error(file, "files", "objects")
    first = npy.read_magic(head)[0] == 1
    read = npy.read_array_header_1_0 if first else npy.read_array_header_2_0
    shape, _, dtype = read(head)
    if min(shape, default=0) < 0:
        raise NetworkFileError(f"{file}: has a shape that no array has, {shape}; write it again.")
    return shape, dtype, head.tell()


def _refusal(file: Path, name: str, dtype: np.dtype[Any], is_complete: bool) -> str | None:
    """The reason why an array is never read, if any."""
    if dtype.hasobject:
        return str(fault_error(file, "files", "objects"))
    return None if is_complete else f"{file}: {name}is incomplete; write or download it again."


def _member(file: Path, archive: zipfile.ZipFile, entry: str) -> Array:
    """Open an array of an archive, which is only read whole."""
    key = entry.removesuffix(".npy")
    if archive.getinfo(entry).compress_type not in _BOUNDED:
        raise fault_error(file, "files", "packed", name=key)
    with archive.open(entry) as member:
        shape, dtype, begin = _header(member, file)
    size = begin + math.prod(shape) * dtype.itemsize
    refusal = _refusal(file, f"{key} ", dtype, archive.getinfo(entry).file_size == size)

    def load() -> NDArray[Any]:
        with zipfile.ZipFile(file) as archive, archive.open(entry) as member:
            return npy.read_array(member, allow_pickle=False)

    return Array(key, shape, dtype, load, None, file, refusal=refusal)


def _sparse(file: Path, arrays: dict[str, Array], prefix: str) -> Array:
    """Open the sparse array that is stored in parts."""
    rows, columns = map(int, arrays[f"{prefix}shape"].whole())
    shape = (rows, columns)
    room = max(1, math.prod(shape) + sum(shape))

    def load() -> Any:
        from scipy.sparse import csr_array, load_npz

        for part in ("data", "indices", "row", "col", "offsets"):
            stored = math.prod(arrays[prefix + part].shape) if prefix + part in arrays else 0
            if stored > room:
                raise ValueError(f"the sparse array stores {stored:,} {part}")
        if not prefix:
            return load_npz(file)
        data, indices, indptr, _ = (arrays[prefix + part].whole() for part in SPARSE_PARTS)
        return csr_array((data, indices, indptr), shape=shape)

    return Array("A", shape, None, load, file=file, kind="sparse", is_sparse=True)
