"""HDF5 files (.h5, .hdf5), by h5py, block by block."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.optional import optional
from memcurve.io.arrays import Archive, Array, block_rows

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


def dataset(
    file: Path, name: str, item: Any, *, is_transposed: bool = False, kind: str = ""
) -> Array:
    """Open one dataset, with rows and columns exchanged where it ``is_transposed``."""
    if (source := outside(item)) is not None:
        return refused(file, name, source, item.shape or ())
    item_shape: tuple[int, ...] = item.shape or ()
    shape = item_shape[::-1] if is_transposed else item_shape
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
            stored, axis = archive[name], len(item_shape) - 1 if is_transposed else 0
            step = block_rows(shape, stored.dtype)
            if stored.chunks:  # no part of the dataset is unpacked twice, where memory allows
                packed = stored.chunks[axis]
                step = max(step // packed * packed, min(packed, 8 * step))
            ends = [*range((start // step + 1) * step, shape[0], step), shape[0]]
            for begin, end in itertools.pairwise([start, *ends]):
                yield values(stored[(slice(None),) * axis + (slice(begin, end),)])

    return Array(name, shape, dtype, load, blocks, file, kind)


def outside(item: Any) -> str | None:
    """How numbers are taken from other files, whatever these hold, or made up; else None."""
    if getattr(item, "is_virtual", False):
        return "a virtual dataset, of other datasets"
    return "external raw storage, of another file" if getattr(item, "external", None) else None


def linked(group: Any, name: str) -> str | None:
    """The same for ``name`` in a group; its link is checked before it is opened."""
    h5py = optional("h5py", "reading it", "files")
    if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
        return "an external link"
    return outside(group[name]) if group[name].file == group.file else "a link to another file"


def refused(file: Path, name: str, source: str, shape: tuple[int, ...] = ()) -> Array:
    refusal = f"{file}: {name} is {source}: only what a file holds itself is read. Copy the "
    refusal += "numbers into one file, with h5py e.g. new['X'] = old['X'][()]."
    return Array(name, shape, None, None, None, file, source, refusal=refusal)
