"""Files of arrays by name (.npz, .mat, .safetensors, .pt) → a network's parts, or its matrix."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.files.checkpoints import ENDINGS, open_checkpoint
from memcurve.files.contents import matrix_alone, network_parts
from memcurve.files.matlab import open_mat
from memcurve.files.reading import Archive, NetworkFileError, pickle_error, reading
from memcurve.files.single import npy_header
from memcurve.limits import require_room_for_array
from memcurve.optional import optional

#: The parts of a sparse A, stored as A_data, A_indices, …
SPARSE_PARTS = ("data", "indices", "indptr", "shape")
#: Further parts of a network that are read from a .npz file, where they are there.
EXTRAS = ("shift", "readout")


def archive_parts(
    file: Path, kind: str, matrix: str | None, mask: str | None, given: Any
) -> dict[str, Any]:
    """Read A and C by the names in ``matrix`` and ``mask``, or A alone where a mask is given."""
    with reading(file), ARCHIVES[kind](file) as (present, fetch):
        parts = network_parts(
            file, (present, fetch), matrix=matrix, mask=mask, given=given, rows_too=kind == ".mat"
        )
        extras = EXTRAS if kind == ".npz" and matrix is mask is None else ()
        stored = {part: fetch(part) for part in extras if part in present}
        if re.search("[<>]U", present.get("notes", "")) and extras:
            stored["notes"] = (*fetch("notes").reshape(-1).tolist(), *parts["notes"])
        return parts | stored


def archive_matrix(file: Path, kind: str, matrix: str | None) -> Any:
    """Read the array called ``matrix``, or else A or W, or what a layer's parameters make of it."""
    with reading(file), ARCHIVES[kind](file) as archive:
        return matrix_alone(file, archive, matrix)


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
                require_room_for_array(headers[key][0], f"{key} in {file}")
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
    **dict.fromkeys(ENDINGS, open_checkpoint),
}
