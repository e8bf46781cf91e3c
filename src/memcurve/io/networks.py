"""Matrix files of other programs → LinearNetwork, and LinearNetwork → .npz.

Which of a file's arrays are A and C is told by their names, and by which of them are there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.arguments import Seed
from memcurve.io.arrays import Archive, MissingMaskError, NetworkFileError, Opener, opened
from memcurve.io.hdf5 import open_mat
from memcurve.io.npy import SPARSE_PARTS, open_npy, open_npz
from memcurve.io.tables import open_market, open_matrix
from memcurve.io.tensors import CHECKPOINTS, open_checkpoint, open_safetensors
from memcurve.limits import TooLargeError, require_room_for_states
from memcurve.masks import MASKS, make
from memcurve.network import LinearNetwork
from memcurve.network.diagonal import diagonal_network, lru_mask, lru_poles
from memcurve.network.nonlinear import leaky_pair
from memcurve.notes import notes_of
from memcurve.result import replacing

#: How to open files of one array.
SINGLE: dict[str, Opener] = {".npy": open_npy, ".csv": open_matrix, ".mtx": open_market}
#: How to open each ending that networks come with.
FORMATS: dict[str, Opener] = {
    ".npz": open_npz,
    ".mat": open_mat,
    ".safetensors": open_safetensors,
    **SINGLE,
    **dict.fromkeys(CHECKPOINTS, open_checkpoint),
}

#: Connectivity and mask, in the order they are looked for.
_PAIRS = (("A", "C"), ("W", "Win"))
_LEAKS = ("lr", "leak", "leak_rate", "leaking_rate")
_POLES = ("eigenvalues", "lambda", "Lambda")
_STEPS = ("step", "Delta", "delta", "dt")
_LRU = ("nu_log", "theta_log", "B_re", "B_im")
_HIDDEN, _INPUT = "weight_hh_l0", "weight_ih_l0"
#: Further parts of a network that are read from a .npz file, where they are there.
_EXTRAS = ("shift", "readout")
#: In place of a mask: the matrix alone is wanted.
_NO_MASK = object()

Parts = dict[str, Any]


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
        commas, semicolons, tabs or blanks separate its numbers.
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
    OSError, MemoryError
        There is no file to read, or what it says it holds does not fit into memory.
    ModuleNotFoundError
        MATLAB 7.3 and ``.safetensors`` need ``pip install memcurve[files]``, checkpoints torch.
    """
    mask_name, given = _name_or_values(mask)
    file, parts = _parts(path, matrix, mask_name, given)
    aside = f" (with the mask {mask})" if isinstance(mask, str | os.PathLike) else ""
    extra = not parts.keys() <= {"A", "C", "notes"}
    remedy = " Name `matrix` and `mask` to read these two alone." if extra else ""
    with _naming(f"{file}{aside}", remedy):
        return LinearNetwork(**parts, name=file.stem if name is None else name)


def load_matrix(path: str | os.PathLike[str], *, matrix: str | None = None) -> Any:
    """Read a connectivity alone, e.g. to try it with several input masks.

    Parameters
    ----------
    path, matrix
        As for :func:`memcurve.load_network`: an archive that holds A, or else W, or a file of one
        array, which must be square.

    Returns
    -------
    (N, N) array or scipy sparse array
        The same numbers that ``load_network(...).A`` would hold, checked alike; they cannot be
        written to, so take a ``.copy()`` to change them.
    """
    file, parts = _parts(path, matrix, None, _NO_MASK)
    with _naming(str(file)):  # a network is the one place that checks matrices
        return LinearNetwork(parts["A"], np.zeros(parts["A"].shape[:1])).A


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
    arrays |= {k: getattr(network, k) for k in _EXTRAS if getattr(network, k) is not None}
    if network.notes:
        arrays["notes"] = np.array(network.notes)
    with replacing(file) as stream:
        np.savez(stream, **arrays)


def network_parts(
    archive: Archive, matrix: str | None, mask: str | None, given: Any, discretisation: str = "zoh"
) -> Parts:
    """Return A, C and notes from the arrays named, or else from the first kind of network found.

    Where a mask is ``given`` it stands for the archive's own.
    """
    pairs = [(matrix or a, mask or c)[: 1 if given is not None else 2] for a, c in _PAIRS]
    found = next((names for names in pairs if archive.arrays.keys() >= set(names)), None)
    named = matrix is not None or mask is not None
    if found is None:
        parts = None if named else _layer_parts(archive, given, discretisation)
        if parts is not None:
            return parts
        wanted = ", or ".join(dict.fromkeys(map(" and ".join, pairs)))
        problem = f"{archive.source}: has no {wanted}; it holds {archive.listing}."
        if given is not None:
            raise NetworkFileError(f"{problem} Name the array with matrix='...'.")
        lacks_mask = archive.first([pair[0] for pair in pairs]) is not None
        raise (MissingMaskError if lacks_mask else NetworkFileError)(
            f"{problem} Name the arrays with matrix='...' and mask='...', or give the mask as a "
            f"file, mask='C.npy'."
        )
    A = _whole(archive.arrays[found[0]])
    C = _mask(archive, found[-1], given, A)
    if found[0] != "W":
        is_layer = found[0].endswith(_HIDDEN)
        others = _further_layers(archive, found[0].removesuffix(_HIDDEN)) if is_layer else []
        notes = [f"one layer of several: {', '.join(others)} left out"] if others else []
        second = _PAIRS[1]
        if found[0] == "A" and not named and archive.arrays.keys() >= {*second}:
            text = "A and C are taken, W and Win left out; choose them with matrix='W', mask='Win' "
            notes.append(text + "(--matrix W --mask Win)")
        return _network_of(A, C, *notes)
    text = "W and Win taken as a linear network: they tell no activation and no bias"
    leak, notes = None if named else archive.first(_LEAKS), []
    if leak is not None:
        A, C = leaky_pair(A, C, _flat(archive, leak))
        notes = [f"the leak rate {leak} is applied: A = (1 − lr)·I + lr·W, C = lr·Win"]
    others = [key for key in archive.arrays if key not in (*found, leak) and key[:2] != "A_"]
    if others:
        text += f"; not used: {', '.join(others[:8])}{' …' if len(others) > 8 else ''}"
    return _network_of(A, C, *notes, text)


def _network_of(A: Any, C: Any, *notes: str) -> Parts:
    return {"A": A, "C": C, "notes": notes_of(notes, "network")}


def _layer_parts(archive: Archive, given: Any, discretisation: str) -> Parts | None:
    """Parts of a diagonal layer, a linear recurrent unit or a torch recurrence, if there is one."""
    poles = archive.first(_POLES)
    if poles is not None and (given is not None or "B" in archive.arrays):
        step, values = archive.first(_STEPS), _flat(archive, poles)
        network = diagonal_network(
            values,
            _mask(archive, "B", given, values),
            step=None if step is None else _flat(archive, step),
            discretisation=discretisation,
            notes=notes_of([f"diagonal A from the vector {poles}"], "network"),
        )
        return _network_of(network.A, network.C, *network.notes)
    prefixes = _prefixes(archive, _LRU[0], _LRU[1:] if given is None else _LRU[1:2])
    if len(prefixes) == 1:
        nu, theta, real, imaginary, gamma = (prefixes[0] + n for n in (*_LRU, "gamma_log"))
        values = lru_poles(_flat(archive, nu), _flat(archive, theta))
        if given is None:
            B = _whole(archive.arrays[real]) + 1j * _whole(archive.arrays[imaginary])
        else:
            B = _mask(archive, real, given, values)
        note = f"a linear recurrent unit: λ = exp(−exp({nu}) + i·exp({theta}))"
        scaled = lru_mask(B, _flat(archive, gamma) if gamma in archive.arrays else None)
        network = diagonal_network(values, scaled)
        return _network_of(network.A, network.C, note)
    prefixes = _prefixes(archive, _HIDDEN, (_INPUT,) if given is None else ())
    if len(prefixes) != 1:
        return None
    hidden, inward = prefixes[0] + _HIDDEN, prefixes[0] + _INPUT
    if further := _further_layers(archive, prefixes[0]):
        raise archive.fault(
            f"{hidden} is one layer of several ({', '.join(further)}), which are no network by "
            f"themselves; pass the module, as_network(module), or name one layer: "
            f"matrix='{hidden}', mask='{inward}'."
        )
    note = f"{hidden} taken as a linear recurrence: weights do not tell the activation, nor is the "
    note += "network linearised at it"
    A = _whole(archive.arrays[hidden])
    return _network_of(A, _mask(archive, inward, given, A), note)


def _further_layers(archive: Archive, prefix: str) -> list[str]:
    """Weights of further layers, or of the other direction, of a torch recurrence."""
    own = f"{prefix}weight_hh_l"
    return [key for key in archive.arrays if key.startswith(own) and key != f"{prefix}{_HIDDEN}"]


def _prefixes(archive: Archive, first: str, others: Sequence[str]) -> list[str]:
    """What stands before ``first`` in names for which all the others are there too."""
    starts = [key.removesuffix(first) for key in archive.arrays if key.endswith(first)]
    return [start for start in starts if all(start + name in archive.arrays for name in others)]


def _side_by_side(array: Any, mask: Any) -> Parts:
    """A, its mask given, or both side by side where ``mask`` is None."""
    values = _whole(array)
    shape: tuple[int, ...] = values.shape
    rows, columns = shape if len(shape) == 2 else (0, 0)
    if mask is not None and rows == columns > 0:
        return {"A": values, "C": None if mask is _NO_MASK else as_mask(mask)}
    if mask is None and 0 < rows < columns:
        return {"A": values[:, :rows], "C": as_mask(values[:, rows:])}
    if mask is None and rows == columns > 0:
        raise MissingMaskError(
            f"{array.file}: holds A of shape {shape} but no input mask C; give mask='C.npy' (or "
            f".csv, .mtx), store [A | C] side by side, or an archive with A and C, e.g. .npz."
        )
    rule, remedy = "[A | C] of shape (N, N + d)", "reshape it"
    if mask is _NO_MASK:
        rule = "a square A"
        remedy = "read [A | C] with load_network" if 0 < rows < columns else remedy
    elif mask is not None:
        rule = "a square A, as `mask` is given"
    raise NetworkFileError(f"{array.file}: must hold {rule}, got shape {shape}; {remedy}.")


def _parts(
    path: str | os.PathLike[str], matrix: str | None, mask: str | None, given: Any
) -> tuple[Path, Parts]:
    """Read a file's parts of a network: by their names, by the usual names, or side by side."""
    file, contents = Path(path), opened(path, FORMATS, "build LinearNetwork(A, C)")
    ending = file.suffix.lower()
    if isinstance(contents, Archive):
        with _naming(str(file)):
            parts = network_parts(contents, matrix, mask, given)
        if ending == ".npz" and matrix is mask is None and given is not _NO_MASK:
            arrays = contents.arrays  # what else save_network writes
            parts |= {part: _whole(arrays[part]) for part in _EXTRAS if part in arrays}
            stored = arrays.get("notes")
            if stored is not None and stored.dtype is not None and stored.dtype.kind == "U":
                notes = [*stored.whole().reshape(-1).tolist(), *parts["notes"]]
                parts["notes"] = notes_of(notes, "network")
        return file, parts
    if matrix is not None or mask is not None:
        asked = f"mask={mask!r}" if matrix is None else f"matrix={matrix!r}"
        raise NetworkFileError(
            f"{file}: a {ending} file holds one array without a name, got {asked}; leave `matrix` "
            f"out, and give a mask as a {', '.join(SINGLE)} file."
        )
    return file, _side_by_side(contents, given)


@contextmanager
def _naming(source: str, remedy: str = "") -> Iterator[None]:
    """Turn what is wrong with a network into an error that names its file."""
    try:
        yield
    except (NetworkFileError, TooLargeError):
        raise
    except (ValueError, TypeError, MemoryError) as error:
        raise NetworkFileError(f"{source}: {error}{remedy}") from error


def _name_or_values(mask: Any) -> tuple[str | None, Any]:
    """Return the name of the mask in an archive, or the mask's values, and None for the other."""
    if not isinstance(mask, str | os.PathLike):
        return None, mask
    if Path(mask).suffix.lower() in SINGLE:
        return None, _whole(opened(mask, SINGLE, "pass an array"))
    if isinstance(mask, str):
        return mask, None
    raise NetworkFileError(f"{mask}: a mask is read from {', '.join(SINGLE)}; convert it.")


def _whole(array: Any) -> Any:
    """Read an array; a square one is a connectivity, which is to be worked on."""
    array.require_room()
    square = len(array.shape) == 2 and array.shape[0] == array.shape[1]
    if square and not array.is_sparse and array.file is not None:
        require_room_for_states(array.shape[0], "exact")
    return array.whole()


def _flat(archive: Archive, name: str) -> Any:
    """A vector from a number, or from a row or column of them, as MATLAB stores both."""
    array = _whole(archive.arrays[name])
    values = np.asarray(array.toarray() if hasattr(array, "toarray") else array)
    return values.reshape(-1) if values.size == max(values.shape, default=1) else values


def _mask(archive: Archive, name: str, given: Any, A: Any) -> Any:
    """The mask given, or else the array of that name."""
    if given is _NO_MASK:
        return np.zeros(A.shape[:1])
    if given is not None:
        return as_mask(given)
    return as_mask(archive.arrays[name].series().whole())


def as_mask(C: Any) -> Any:
    """Return an input mask dense, and as a vector where it has one column."""
    C = C.toarray() if hasattr(C, "toarray") else C
    shape: tuple[int, ...] = getattr(C, "shape", ())
    return C.reshape(-1) if len(shape) == 2 and shape[1] == 1 else C
