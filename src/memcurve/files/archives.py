"""Files of arrays by name (.npz, .mat, .safetensors) → a network's parts, or its matrix alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.files.matlab import open_mat
from memcurve.files.reading import (
    Archive,
    NetworkFileError,
    as_mask,
    pickle_error,
    reading,
)
from memcurve.files.single import npy_header
from memcurve.optional import optional

_PAIRS = (("A", "C"), ("W", "Win"))
#: The parts of a sparse A, stored as A_data, A_indices, …
SPARSE_PARTS = ("data", "indices", "indptr", "shape")


def archive_parts(
    file: Path, kind: str, matrix: str | None, mask: str | None, given: Any
) -> dict[str, Any]:
    """Read A and C by the names in ``matrix`` and ``mask``, or A alone where a mask is given."""
    remedy = (
        "Name the arrays with matrix='...' and mask='...', or give the mask as a file, "
        "mask='C.npy'."
    )
    with reading(file), ARCHIVES[kind](file) as (present, fetch):
        pairs = [(matrix or a, mask or c)[: 1 if given is not None else 2] for a, c in _PAIRS]
        wanted = _first_present(file, present, pairs, remedy)
        A = _checked(fetch(wanted[0]))
        C = as_mask(_checked(fetch(wanted[1])), kind == ".mat") if given is None else given
        extras = ("shift", "readout") if kind == ".npz" and matrix is mask is None else ()
        return {"A": A, "C": as_mask(C)} | {part: fetch(part) for part in extras if part in present}


def archive_matrix(file: Path, kind: str, matrix: str | None) -> Any:
    """Read the array called ``matrix``, or else A or W."""
    with reading(file), ARCHIVES[kind](file) as (present, fetch):
        names = [(matrix or a,) for a, _ in _PAIRS]
        (name,) = _first_present(file, present, names, "Name the array with matrix='...'.")
        return _checked(fetch(name))


def _first_present(
    file: Path, present: dict[str, str], choices: Sequence[tuple[str, ...]], remedy: str
) -> tuple[str, ...]:
    """Return the first choice of which the archive has all names."""
    for names in choices:
        if present.keys() >= set(names):
            return names
    listed = [f"{key} {about}" for key, about in present.items()]
    listed[40:] = [f"{len(listed) - 40} more"] if len(listed) > 40 else []
    raise NetworkFileError(
        f"{file}: has no {', or '.join(dict.fromkeys(map(' and '.join, choices)))}; it holds "
        f"{', '.join(listed) or 'nothing'}. {remedy}"
    )


def _checked(array: Any) -> Any:
    """Check the indices of a sparse array, which scipy would follow out of range."""
    if hasattr(array, "check_format"):
        array.check_format(full_check=True)
        if (np.diff(array.indptr) < 0).any():  # not looked at where no entry is stored
            raise ValueError("the rows of the sparse array overlap")
    return array


@contextmanager
def _open_npz(file: Path) -> Iterator[Archive]:
    from scipy.sparse import csr_array, load_npz

    with file.open("rb") as stream:
        if stream.read(2) != b"PK":
            stream.seek(0)
            npy_header(stream, file)
            raise NetworkFileError(f"{file}: is a .npy file by its contents; rename it.")
        stream.seek(0)
        archive = np.load(stream, allow_pickle=False)
        headers = {}
        for entry in archive.zip.namelist():
            if entry.endswith(".npy"):
                with archive.zip.open(entry) as member:
                    headers[entry.removesuffix(".npy")] = npy_header(member, file)
        present = {key: f"{shape} {dtype}" for key, (shape, dtype) in headers.items()}
        parts = [f"A_{part}" for part in SPARSE_PARTS]
        if present.keys() >= set(parts):
            present["A"] = f"{tuple(archive['A_shape'].tolist())} sparse"
        elif present.keys() >= {"format", "shape", "data"}:  # scipy.sparse.save_npz
            present = {"A": f"{tuple(archive['shape'].tolist())} sparse"}

        def fetch(key: str) -> Any:
            if key in headers:
                if headers[key][1].hasobject:
                    raise pickle_error(file)
                return archive[key]
            if "A_data" not in headers:
                return load_npz(file)
            data, indices, indptr, shape = (archive[part] for part in parts)
            return csr_array((data, indices, indptr), shape=tuple(shape))

        yield present, fetch


@contextmanager
def _open_safetensors(file: Path) -> Iterator[Archive]:
    safetensors = optional("safetensors", f"{file}: reading it", "files")
    with safetensors.safe_open(str(file), framework="numpy") as archive:
        slices = {key: archive.get_slice(key) for key in archive.keys()}  # noqa: SIM118

        def fetch(key: str) -> Any:
            if re.match("BF|F[468]_", slices[key].get_dtype()):
                optional("ml_dtypes", f"{file}: reading it", "files")
            tensor = archive.get_tensor(key)
            return tensor if tensor.dtype.kind in "biufc" else tensor.astype(np.float32)

        about = {key: f"{tuple(s.get_shape())} {s.get_dtype()}" for key, s in slices.items()}
        yield about, fetch


#: How to open each ending.
ARCHIVES: dict[str, Callable[[Path], AbstractContextManager[Archive]]] = {
    ".npz": _open_npz,
    ".mat": open_mat,
    ".safetensors": _open_safetensors,
}
