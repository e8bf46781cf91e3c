"""HDF5 files (.h5, .hdf5), by h5py, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.io.arrays import Archive, Array, block_rows
from memcurve.optional import optional

#: HDF5 keeps this many bytes of unpacked data at hand.
_CACHE = 2**26


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


def dataset(file: Path, name: str, item: Any, *, turned: bool = False, kind: str = "") -> Array:
    """Open one dataset, ``turned`` where its rows are columns to whoever wrote it."""
    shape: tuple[int, ...] = item.shape or ()
    is_complex = item.dtype.names == ("real", "imag")
    dtype = np.dtype(np.complex128) if is_complex else item.dtype

    def values(stored: Any) -> NDArray[Any]:
        array = np.asarray(stored)
        if is_complex:
            array = np.stack([array["real"], array["imag"]], axis=-1, dtype=float)
            array = array.view(np.complex128)[..., 0]
        return array.T if turned else array

    def load() -> NDArray[Any]:
        with hdf5_file(file) as archive:
            return values(archive[name][()])

    def blocks(start: int) -> Iterator[NDArray[Any]]:
        with hdf5_file(file) as archive:
            for block in _blocks(archive[name], len(shape) - 1 if turned else 0, start):
                yield values(block)

    shape = shape[::-1] if turned else shape
    return Array(name, shape, dtype, load, blocks, file, kind)


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
