"""Files of arrays by name (.npz, .mat, .safetensors, .pt) → a network's parts, or its matrix."""

from __future__ import annotations

import math
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
from memcurve.limits import require_room_for_array, require_room_for_states
from memcurve.optional import optional

#: The parts of a sparse A, stored as A_data, A_indices, …
SPARSE_PARTS = ("data", "indices", "indptr", "shape")
#: Further parts of a network that are read from a .npz file, where they are there.
EXTRAS = ("shift", "readout")


def archive_parts(
    file: Path, kind: str, matrix: str | None, mask: str | None, given: Any
) -> dict[str, Any]:
    """Read A and C by the names in ``matrix`` and ``mask``, or A alone where a mask is given."""
    with reading(file), ARCHIVES[kind](file) as archive:
        present, fetch = _guarded(file, archive)
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
        return matrix_alone(file, _guarded(file, archive), matrix)


def _guarded(file: Path, archive: Archive) -> Archive:
    """Look at the size that an array is said to have before it is read: a small file may swell."""
    present, fetch = archive

    def fetched(key: str) -> Any:
        dense = re.match(r"\(([\d, ]*)\) (?!sparse)", present[key])
        if dense is not None:
            shape = [int(length) for length in re.findall(r"\d+", dense.group(1))]
            require_room_for_array(shape, f"{key} in {file}")
            if len(shape) == 2 and shape[0] == shape[1]:  # a connectivity, which is to be worked on
                require_room_for_states(shape[0], "exact")
        return fetch(key)

    return present, fetched


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
            prefix = "A_" if "A_data" in headers else ""
            _require_few_entries(headers, prefix, archive[f"{prefix}shape"])
            if not prefix:
                return load_npz(file)
            data, indices, indptr, shape = (archive[part] for part in parts)
            return csr_array((data, indices, indptr), shape=tuple(shape))

        yield present, fetch


def _require_few_entries(headers: dict[str, Any], prefix: str, shape: Any) -> None:
    """Raise where a sparse array stores more entries than it has room for."""
    room = math.prod(int(length) for length in shape) + sum(int(length) for length in shape)
    for part in ("data", "indices", "row", "col", "offsets"):
        stored = headers.get(prefix + part)
        if stored is not None and math.prod(stored[0]) > max(room, 1):
            raise ValueError(f"the sparse array stores {math.prod(stored[0]):,} {part}")


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
