"""Matrix files of other programs → LinearNetwork, and LinearNetwork → .npz. Runs no pickles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.arguments import Seed
from memcurve.files.archives import ARCHIVES, SPARSE_PARTS, archive_matrix, archive_parts
from memcurve.files.checkpoints import ENDINGS
from memcurve.files.reading import NetworkFileError, readable
from memcurve.files.single import SINGLE, read_single, single_matrix, single_parts
from memcurve.masks import MASKS, make
from memcurve.network import LinearNetwork
from memcurve.writing import replacing

__all__ = ["NetworkFileError", "load_masked", "load_matrix", "load_network", "save_network"]


def load_network(
    path: str | os.PathLike[str],
    *,
    matrix: str | None = None,
    mask: str | os.PathLike[str] | ArrayLike | None = None,
    name: str | None = None,
) -> LinearNetwork:
    """Read a network from a matrix file.

    Parameters
    ----------
    path : path
        ``.npz``, ``.mat``, ``.safetensors`` and PyTorch's ``.pt``, ``.pth``, ``.ckpt``, ``.bin``
        hold arrays by name: A and C, or else W and Win (with a leak rate ``lr`` or ``leak`` beside
        them, which is applied), or a layer's parameters, see below.
        ``.npy``, ``.csv`` and ``.mtx`` hold one array: A, its mask given by ``mask``; or, without
        ``mask``, the N rows and N + d columns of ``[A | C]``. A ``.csv`` may have one header line;
        commas, semicolons or blanks separate its numbers.
    matrix : str, optional
        Name of the connectivity in an archive, e.g. ``"rnn.weight_hh_l0"``.
    mask : str, path or array, optional
        The input mask: the name of an array in the archive, a file ending in ``.npy``, ``.csv`` or
        ``.mtx``, or the numbers themselves.
    name : str, optional
        A label (default: the file's name without its ending).

    Returns
    -------
    LinearNetwork
        Sparse matrices (``.mtx``, MATLAB, ``scipy.sparse.save_npz``) stay sparse. A mask of one
        column, in MATLAB also of one row, becomes a vector. ``shift`` and ``readout`` are read from
        ``.npz`` files too, unless ``matrix`` or ``mask`` name the arrays to take.

    Notes
    -----
    Where there is neither pair, these parameters make a network too, and its ``notes`` say so: a
    vector ``eigenvalues``, ``lambda`` or ``Lambda`` with ``B``, in continuous time if there is a
    ``step`` or ``Delta`` (zero-order hold); ``nu_log``, ``theta_log``, ``B_re``, ``B_im`` and
    ``gamma_log`` of one linear recurrent unit, whatever stands before these names; and the weights
    ``weight_hh_l0`` and ``weight_ih_l0`` of one torch layer, as a linear recurrence.

    Names in a PyTorch checkpoint are joined by dots, ``state_dict.rnn.weight_hh_l0``. Only tensors
    and plain containers are ever unpickled from it (``weights_only=True``).

    Raises
    ------
    ValueError
        The file is empty, damaged, of an unknown kind or holds no network.
    FileNotFoundError, IsADirectoryError, PermissionError
        There is no file to read.
    ModuleNotFoundError
        MATLAB 7.3 needs h5py; ``.safetensors`` needs safetensors, for bfloat16 also ml_dtypes: all
        three come with ``pip install memcurve[files]``. Checkpoints need torch.
    """
    file, kind = _known(path)
    mask_name, given = _name_or_values(mask)
    if kind in ARCHIVES:
        parts = archive_parts(file, kind, matrix, mask_name, given)
    elif matrix is not None or mask_name is not None:
        raise NetworkFileError(
            f"{file}: a {kind} file holds one array without a name, got matrix={matrix!r}, "
            f"mask={mask!r}; leave `matrix` out and give `mask` as a {', '.join(SINGLE)} file."
        )
    else:
        parts = single_parts(file, given)
    try:
        return LinearNetwork(**parts, name=file.stem if name is None else name)
    except (ValueError, TypeError, MemoryError) as error:
        aside = f" (with the mask {mask})" if isinstance(mask, str | os.PathLike) else ""
        extra = not parts.keys() <= {"A", "C", "notes"}
        remedy = " Name `matrix` and `mask` to read these two alone." if extra else ""
        raise NetworkFileError(f"{file}{aside}: {error}{remedy}") from error


def load_matrix(path: str | os.PathLike[str], *, matrix: str | None = None) -> Any:
    """Read a connectivity alone, e.g. to try it with several input masks.

    Parameters
    ----------
    path : path
        A file of a kind :func:`memcurve.load_network` knows: an archive that holds A, or else W, or
        a file of one array, which must be square.
    matrix : str, optional
        Name of the connectivity in an archive, e.g. ``"rnn.weight_hh_l0"``.

    Returns
    -------
    (N, N) array or scipy sparse array
        The same numbers that ``load_network(...).A`` would hold, checked alike; they cannot be
        written to, so take a ``.copy()`` to change them.

    Raises
    ------
    ValueError
        The file is empty, damaged, of an unknown kind or holds no square matrix of finite numbers.
    FileNotFoundError, IsADirectoryError, PermissionError
        There is no file to read.
    ModuleNotFoundError
        As for :func:`memcurve.load_network`.
    """
    file, kind = _known(path)
    if kind in ARCHIVES:
        A = archive_matrix(file, kind, matrix)
    elif matrix is not None:
        raise NetworkFileError(
            f"{file}: a {kind} file holds one array without a name, got matrix={matrix!r}; "
            f"leave `matrix` out."
        )
    else:
        A = single_matrix(file)
    try:
        return LinearNetwork(A, np.zeros(A.shape[:1])).A  # the one place that checks matrices
    except (ValueError, TypeError, MemoryError) as error:
        raise NetworkFileError(f"{file}: {error}") from error


def load_masked(
    path: str | os.PathLike[str], mask: str | None, *, seed: Seed, matrix: str | None = None
) -> LinearNetwork:
    """Read a network whose mask is one of :data:`memcurve.masks.MASKS`, or stands in a file.

    ``mask`` is the name of one of those, drawn with ``seed`` where it is random, and takes the
    place of one that stands in the file; or else it is what :func:`memcurve.load_network` takes.
    """
    if mask not in MASKS:
        return load_network(path, matrix=matrix, mask=mask)
    try:
        network = load_network(path, matrix=matrix)
    except NetworkFileError:  # there is no mask in it, or all of it is wrong
        A = load_matrix(path, matrix=matrix)
        network = LinearNetwork(A, np.zeros(A.shape[:1]), name=Path(path).stem)
    return network.replace(C=make(mask, network.size, seed=seed))


def save_network(network: LinearNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to an ``.npz`` file that :func:`memcurve.load_network` reads back exactly.

    The arrays are A, C and, where the network has them, shift, readout and notes; a sparse A is
    stored as A_data, A_indices, A_indptr and A_shape. The name is not stored: the file's name takes
    its place. A file of that name is replaced in one step, so that no half-written one is seen.
    """
    file = Path(path)
    if not isinstance(network, LinearNetwork):
        raise TypeError(f"`network` must be a LinearNetwork, got {type(network).__name__}.")
    if file.suffix.lower() != ".npz":
        raise ValueError(f"{file}: networks are written as .npz; give a path that ends so.")
    arrays: dict[str, Any] = {"C": network.C}
    if network.is_sparse:
        arrays |= {f"A_{part}": getattr(network.A, part) for part in SPARSE_PARTS}
    else:
        arrays["A"] = network.A
    for extra in ("shift", "readout"):
        if getattr(network, extra) is not None:
            arrays[extra] = getattr(network, extra)
    if network.notes:
        arrays["notes"] = np.array(network.notes)
    with replacing(file) as stream:
        np.savez(stream, **arrays)


def _known(path: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the path of a readable file and its ending, which is in one of the tables."""
    file = readable(path)
    kind = file.suffix.lower()
    if kind not in SINGLE and kind not in ARCHIVES:
        plain = [ending for ending in [*ARCHIVES, *SINGLE] if ending not in ENDINGS]
        raise NetworkFileError(
            f"{file}: unknown kind of file {kind or '(no ending)'!r}; known are "
            f"{', '.join([*plain, *ENDINGS])}. Convert it, or build LinearNetwork(A, C)."
        )
    return file, kind


def _name_or_values(mask: Any) -> tuple[str | None, Any]:
    """Return the name of the mask in an archive, or the mask's values, and None for the other."""
    if not isinstance(mask, str | os.PathLike):
        return None, mask
    if Path(mask).suffix.lower() in SINGLE:
        return None, read_single(readable(mask))
    if isinstance(mask, str):
        return mask, None
    raise NetworkFileError(f"{mask}: a mask is read from {', '.join(SINGLE)}; convert it.")
