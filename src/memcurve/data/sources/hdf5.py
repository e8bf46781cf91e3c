"""HDF5 files and MATLAB files (.mat), of which version 7.3 is HDF5 with rows as columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.data.sources.arrays import block_rows, held
from memcurve.data.sources.source import Archive, Rows
from memcurve.files.matlab import matlab_class
from memcurve.files.matlab import open_mat as open_mat_5
from memcurve.files.reading import NetworkFileError, reading
from memcurve.optional import optional

_MATLAB_NUMBERS = re.compile(r"double|single|logical|u?int(8|16|32|64)")
#: HDF5 keeps this many bytes of unpacked data at hand.
_CACHE = 2**26


def open_hdf5(file: Path, matlab: bool = False) -> Archive:
    """Open the datasets of a file, in all its groups; ``matlab``: what MATLAB wrote, as it was."""
    h5py = optional("h5py", f"{file}: reading it", "files")
    found: dict[str, Any] = {}

    def visit(name: str, item: Any) -> None:
        if matlab and ("/" in name or name.startswith("#")):
            return  # parts of structures and cells
        if isinstance(item, h5py.Dataset) or matlab:
            shape = getattr(item, "shape", None) or ()
            kind = matlab_class(item) if matlab else item.dtype
            found[name] = (shape[::-1] if matlab else shape, getattr(item, "dtype", None), kind)

    with reading(file), h5py.File(file, "r") as archive:
        archive.visititems(visit)

    def pick(name: str, vector: bool) -> Rows:
        shape, dtype, kind = found[name]
        if matlab:
            _require_numbers(file, name, kind)
        turned = matlab and not (vector and _is_row(shape))
        shape = shape if turned or not matlab else shape[::-1]

        def read(start: int) -> Iterator[NDArray[Any]]:
            with reading(file), h5py.File(file, "r", rdcc_nbytes=_CACHE) as archive:
                dataset = archive[name]
                for block in _blocks(dataset, len(shape) - 1 if turned else 0, start):
                    yield block.T if turned else block

        if dtype.names == ("real", "imag"):
            dtype = np.dtype(np.complex128)
        return Rows(f"{file}: {name}", shape, dtype, read, file)

    return Archive(
        file, {name: f"{shape} {kind}" for name, (shape, _, kind) in found.items()}, pick
    )


def _blocks(dataset: Any, axis: int, start: int) -> Iterator[NDArray[Any]]:
    """Go along an axis in steps that unpack no part of the dataset twice, where memory allows."""
    length = dataset.shape[axis]
    others = tuple(size for place, size in enumerate(dataset.shape) if place != axis)
    step = block_rows((length, *others), dataset.dtype)
    if dataset.chunks:
        packed = dataset.chunks[axis]
        step = max(step // packed * packed, min(packed, 8 * step))
    at = start
    while at < length:
        end = min(length, (at // step + 1) * step)
        yield dataset[(slice(None),) * axis + (slice(at, end),)]
        at = end


def open_mat(file: Path) -> Archive:
    """Open the matrices of a MATLAB file; those of version 5 are loaded when they are picked."""
    with file.open("rb") as stream:
        head = stream.read(520)
    if head[512:] == b"\x89HDF\r\n\x1a\n" or head.startswith((b"\x89HDF", b"MATLAB 7.3")):
        return open_hdf5(file, matlab=True)
    with reading(file), open_mat_5(file) as (present, fetch):
        pass  # fetch opens the file anew

    def pick(name: str, vector: bool) -> Rows:
        _require_numbers(file, name, present[name].split()[-1])
        with reading(file):
            array = fetch(name)
            return held(
                array.T if vector and _is_row(array.shape) else array, f"{file}: {name}", file
            )

    return Archive(file, present, pick)


def _is_row(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 and shape[0] == 1


def _require_numbers(file: Path, name: str, kind: str) -> None:
    if not _MATLAB_NUMBERS.fullmatch(kind):
        remedy = "full(X)" if kind == "sparse" else "s.X"
        raise NetworkFileError(
            f"{file}: {name} is a MATLAB {kind}, not a full matrix of numbers; save these, "
            f"e.g. X = {remedy}; save('recording.mat', 'X', 'z', '-v7.3')."
        )
