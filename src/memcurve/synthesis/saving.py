"""A network written in the format, and under the names, of the file that another came from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import numpy as np

from memcurve.core.optional import optional
from memcurve.core.result import replacing, require_ending
from memcurve.io import open_safetensors, save_network
from memcurve.network import LinearNetwork
from memcurve.network.device import on_host

#: Names of connectivity and mask, in the order they are looked for.
PAIRS = [("A", "C"), *((W, i) for W in ("W", "W_res", "Wres", "W_rec") for i in ("Win", "W_in"))]
#: Endings that can be written.
FORMATS = (".npz", ".npy", ".csv", ".mat", ".safetensors")


def save_like(
    network: LinearNetwork, path: str | os.PathLike[str], like: str | os.PathLike[str] | None = None
) -> None:
    """Write A and C to ``path``, by its ending, under the names that the file ``like`` has."""
    file, ending = Path(path), require_ending(path, FORMATS)
    matrix, mask = _names(Path(path if like is None else like))
    if ending == ".npz" and (matrix, mask) == PAIRS[0]:
        save_network(network, file)
        return
    if network.readout is not None:
        raise ValueError(
            f"`path` must end in .npz for a network of which some nodes are read, and its arrays "
            f"be named A and C; got {os.fspath(path)!r}."
        )
    if network.is_complex and ending == ".csv":
        raise ValueError(f"`path` must end in .npz or .npy for complex weights, got {file}.")
    A = on_host(network.A)
    A = A.toarray() if network.is_sparse else np.asarray(A)
    C = network.C.reshape(network.size, -1)
    arrays: dict[str, Any] = {matrix: A, mask: C}
    with replacing(file) as stream:
        if ending == ".npz":
            np.savez(stream, **arrays)
        elif ending == ".mat":
            from scipy.io import savemat

            savemat(cast("Any", stream), arrays)
        elif ending == ".safetensors":
            tensors = optional("safetensors.numpy", f"{file}: writing it", "files")
            stream.write(tensors.save({k: np.ascontiguousarray(v) for k, v in arrays.items()}))
        elif ending == ".npy":
            np.save(stream, np.hstack([A, C]))
        else:
            np.savetxt(stream, np.hstack([A, C]), delimiter=",", fmt="%.17g")


def _names(file: Path) -> tuple[str, str]:
    """The names of connectivity and mask in an archive; A and C where it is none."""
    names: set[Any] = set()
    if file.is_file():
        ending = file.suffix.lower()
        if ending == ".npz":
            with np.load(file) as archive:
                names = {*archive.files}
        elif ending == ".mat":
            from scipy.io import whosmat

            names = {name for name, *_ in whosmat(file)}
        elif ending == ".safetensors":
            names = {*open_safetensors(file).arrays}
    return next((pair for pair in PAIRS if {*pair} <= names), PAIRS[0])
