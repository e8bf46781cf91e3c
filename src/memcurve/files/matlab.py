"""MATLAB files (.mat) of versions 4 and 5, by scipy, and 7.3, by h5py → an open archive."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from memcurve.files.reading import Archive, NetworkFileError
from memcurve.limits import require_room_for_array
from memcurve.optional import optional

_MATLAB_NUMBERS = re.compile(r"double|single|logical|sparse|u?int(8|16|32|64)")


@contextmanager
def open_mat(file: Path) -> Iterator[Archive]:
    """Open a MATLAB file of any version."""
    from scipy.io import loadmat, whosmat

    with file.open("rb") as stream:
        head = stream.read(520)
    if head[512:] == b"\x89HDF\r\n\x1a\n" or head.startswith((b"\x89HDF", b"MATLAB 7.3")):
        with _open_hdf5(file) as archive:
            yield archive
        return
    if 0 not in head[:4]:  # a zero there marks version 4
        _check_mat5(memoryview(file.read_bytes()))
    classes = {key: (shape, kind) for key, shape, kind in whosmat(str(file), appendmat=False)}

    def fetch(key: str) -> Any:
        _require_numbers(file, key, classes[key][1])
        return loadmat(str(file), appendmat=False, variable_names=[key])[key]

    yield {key: f"{shape} {kind}" for key, (shape, kind) in classes.items()}, fetch


def _check_mat5(contents: memoryview) -> None:
    """Check the type code of each element: scipy.io.loadmat crashes Python on a wrong one."""
    order: Literal["little", "big"] = "little" if bytes(contents[126:128]) == b"IM" else "big"
    for code, body in _mat5_elements(contents[128:], order):
        if code == 15:  # compressed
            unpacked = _decompressed(body, order)
            if unpacked is None:
                continue
            code, body = next(_mat5_elements(memoryview(unpacked), order))
        elements = list(_mat5_elements(body, order)) if code == 14 else []
        if len(elements) < 3:
            raise ValueError(f"element of type {code} is no array")
        flags = int.from_bytes(elements[0][1][:4], order)
        kind, parts = flags & 0xFF, 1 + (flags >> 11 & 1)  # real, imaginary
        codes = [code for code, _ in elements[3:]]
        if kind == 5:  # sparse: rows and column starts come first
            parts += 2
        if 5 <= kind <= 15 and (len(codes) != parts or not {*codes} <= {*range(1, 8), 9, 12, 13}):
            raise ValueError(f"array of class {kind} has parts of types {codes}")


def _decompressed(body: memoryview, order: Literal["little", "big"]) -> bytes | None:
    """Unpack an array as far as its own dimensions reach; more is no array but a trap.

    None for text, cells and structures, which are not looked into.
    """
    unpacking = zlib.decompressobj()
    start = unpacking.decompress(body, 1024)
    flags, entries = int.from_bytes(start[16:20], order), int.from_bytes(start[20:24], order)
    if len(start) >= 24 and not 5 <= flags & 0xFF <= 15:
        return None
    count = int.from_bytes(start[28:32], order) // 4
    lengths = [int.from_bytes(start[32 + 4 * k : 36 + 4 * k], order) for k in range(count)]
    if flags & 0xFF != 5:
        entries = math.prod(lengths)
        require_room_for_array(lengths, "an array in the file", itemsize=16)
    most = 16 * (entries + sum(lengths) + 64) + 4096
    start += unpacking.decompress(unpacking.unconsumed_tail, most)
    if unpacking.unconsumed_tail:
        raise ValueError("an array is larger than its dimensions say")
    return start


def _mat5_elements(
    data: memoryview, order: Literal["little", "big"]
) -> Iterator[tuple[int, memoryview]]:
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


def _require_numbers(file: Path, key: str, kind: str) -> None:
    if not _MATLAB_NUMBERS.fullmatch(kind):
        raise NetworkFileError(
            f"{file}: {key} is a MATLAB {kind}, not a matrix of numbers; save these, "
            f"e.g. A = s.A; C = s.C; save('network.mat', 'A', 'C')."
        )


@contextmanager
def _open_hdf5(file: Path) -> Iterator[Archive]:
    from scipy.sparse import csc_array

    h5py = optional("h5py", f"{file}: reading it", "files")
    with h5py.File(file, "r") as archive:
        classes = {key: matlab_class(item) for key, item in archive.items() if key[0] != "#"}

        def fetch(key: str) -> Any:
            item = archive[key]
            _require_numbers(file, key, classes[key])
            if classes[key] == "sparse":
                starts = item["jc"][()].astype(np.int64)
                data, rows = (item[part][()] if part in item else [] for part in ("data", "ir"))
                shape = (int(item.attrs["MATLAB_sparse"]), len(starts) - 1)
                return csc_array((_complex(data), np.asarray(rows, np.int64), starts), shape=shape)
            return _complex(item[()]).T  # MATLAB's columns are HDF5's rows

        shapes = {key: getattr(archive[key], "shape", ())[::-1] for key in classes}
        yield {key: f"{shapes[key] or ''} {kind}".strip() for key, kind in classes.items()}, fetch


def matlab_class(item: Any) -> str:
    """MATLAB's name for the kind of an array in an HDF5 file."""
    for mark, kind in (("MATLAB_sparse", "sparse"), ("MATLAB_empty", "empty array")):
        if item.attrs.get(mark):
            return kind
    # Without the mark MATLAB did not write it, and whether it is transposed cannot be known.
    kind = item.attrs.get("MATLAB_class", "array without MATLAB_class")
    return kind.decode() if isinstance(kind, bytes) else str(kind)


def _complex(stored: Any) -> NDArray[Any]:
    values: NDArray[Any] = np.asarray(stored)
    if values.dtype.names != ("real", "imag"):
        return values
    joined = np.empty(values.shape, dtype=np.complex128)
    joined.real, joined.imag = values["real"], values["imag"]
    return joined
