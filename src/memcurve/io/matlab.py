"""MATLAB's files (.mat): HDF5 with rows as columns from version 7.3 on, and scipy's before."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.io.arrays import Archive, Array
from memcurve.io.hdf5 import dataset, hdf5_file, linked, refused
from memcurve.io.tensors import tensor_tree

_HDF5 = b"\x89HDF\r\n\x1a\n"
_CLASSES = "logical sparse double single int8 uint8 int16 uint16 int32 uint32 int64 uint64"
#: Classes of arrays that hold numbers.
_NUMBERS = frozenset(_CLASSES.split())


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
    from scipy.io import whosmat

    _require_complete(file, head)
    arrays: dict[str, Array] = {}
    for name, shape, kind in whosmat(file, appendmat=False):
        arrays[name] = _array(file, name, shape, kind, partial(_loaded, file, name))
        if kind == "struct":
            fields = _loaded(file, name, simplify_cells=True)
            arrays |= tensor_tree({name: fields}, file).arrays
    return Archive(file, arrays)


def _loaded(file: Path, name: str, **options: Any) -> Any:
    """One variable of a file."""
    from scipy.io import loadmat

    options |= {"variable_names": [name], "spmatrix": False, "appendmat": False}
    return loadmat(file, **options)[name]


def _require_complete(file: Path, head: bytes) -> None:
    """Raise where a file of version 5 ends within a variable: scipy's reader may end Python."""
    if 0 in head[:4]:  # version 4
        return
    order, at, size = "little" if head[126:128] == b"IM" else "big", 128, file.stat().st_size
    with file.open("rb") as stream:
        while at < size:
            stream.seek(at + 4)
            at += 8 + int.from_bytes(stream.read(4), order)  # type: ignore[arg-type]
    if at != size:
        raise ValueError("the file ends within an array")


def _array(
    file: Path, key: str, shape: tuple[int, ...], kind: str, load: Callable[[], Any] | None
) -> Array:
    """An array that is only read whole, or never."""
    refusal = f"{file}: {key} is a MATLAB {kind}, not a matrix of numbers; save these, e.g. "
    refusal += "A = s.A; save('numbers.mat', 'A', '-v7.3')."
    never = None if kind in _NUMBERS else refusal
    return Array(key, shape, None, load, None, file, kind, kind == "sparse", never)


def _parts_73(file: Path, path: str, archive: Any) -> Iterator[tuple[str, Array]]:
    """A matrix by its name, or the struct of that name and its matrices, ``"esn.W"``."""
    matrix, name = _matrix_73(file, path, archive), path.replace("/", ".")
    if matrix.kind == "struct" and hasattr(archive[path], "keys"):
        for field in archive[path]:
            yield from _parts_73(file, f"{path}/{field}", archive)
    if matrix.refusal is None or "/" not in path:
        yield name, matrix


def _matrix_73(file: Path, key: str, archive: Any) -> Array:
    if (source := linked(archive, key)) is not None:
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
        if (source := linked(item, part)) is not None:
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
