"""Which arrays of a file, or a mapping, are a network.

A and C; A and B of a state-space system; W and Win with a leak rate and a bias, also as fields of a
struct; the weights of a torch layer; or one array that holds A and C side by side.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from memcurve.core.limits import require_room_for_states
from memcurve.core.notes import Note, counted
from memcurve.io.arrays import (
    Archive,
    Array,
    MissingMaskError,
    NetworkFileError,
    fault_error,
    note,
    reading,
    words,
)

#: Connectivity and mask, in the order they are looked for.
_RESERVOIRS = ("W", "W_res", "Wres", "W_rec")
PAIRS = (("A", "C"), *((W, Win) for W in _RESERVOIRS for Win in ("Win", "W_in")))
#: State and input matrix of a state-space system, whose C and D give the outputs.
_SYSTEM = ("A", "B")
_LEAKS = ("lr", "leak", "leak_rate", "leaking_rate")
_BIAS = "bias"
#: Name of the recurrent weights of a torch layer, before its number.
_HIDDEN = "weight_hh_l"
#: Further parts of a network that are read from a .npz file, where they are there.
EXTRAS = ("shift", "readout")
_TEXTS = ("labels", "notes")

#: Arguments of a LinearNetwork, and its ``leak`` where there is one.
Parts = dict[str, Any]


def network_parts(archive: Archive, matrix: str | None, mask: str | None, has_mask: bool) -> Parts:
    """A, C (None if ``has_mask``) and notes from the arrays named, or those of a usual name."""
    keys, start = archive.arrays.keys(), _struct(archive, matrix)
    is_system = _is_system(archive, start)
    usual = [(start + a, start + c) for a, c in ([_SYSTEM] if is_system else []) + [*PAIRS]]
    named = matrix is not None or mask is not None
    pairs = [(matrix or a, mask or c)[: 1 if has_mask else 2] for a, c in usual]
    pair = next((names for names in pairs if keys >= {*names}), None)
    if pair is None and not named:
        pair = _torch_pair(archive, has_mask)
    if pair is None:
        raise _no_pair(archive, pairs, has_mask)
    A = whole(archive.arrays[pair[0]])
    C = None if has_mask else _own_mask(archive.arrays[pair[1]], A)
    stored = archive.first([c for a, c in usual if a == pair[0]])
    notes = [note("replaced", mask=stored)] if has_mask and stored is not None else []
    used = {*pair, stored, *EXTRAS, *_TEXTS}
    further: Parts = {}
    if pair[0].removeprefix(start) in _RESERVOIRS:
        alone = mask is not None or (named and not start)  # of a struct, W says which it is
        leak = None if alone else archive.first([start + name for name in _LEAKS])
        bias = None if alone else archive.first([start + _BIAS])
        further, more = _reservoir_parts(archive, pair, {*pair, stored}, C, leak, bias, A.shape[0])
        notes = [more[0], *notes, *more[1:]]
    elif _HIDDEN in pair[0]:
        further, more = _torch_parts(archive, pair[0], named)
        notes += more
    elif not named:
        if is_system:
            notes += [note("system", pair=" and ".join(pair)), note("lag")]
        elif pair[0] == "A" and keys >= {*PAIRS[1]}:
            notes.append(note("two_pairs"))
            used |= {*PAIRS[1]}
        notes += _unused(archive, used)
    return {"A": A, "C": C, "notes": tuple(notes)} | further


def _struct(archive: Archive, matrix: str | None) -> str:
    """The prefix of a network's arrays: the name of the struct that has a pair."""
    if matrix is not None:
        return matrix[: matrix.rfind(".") + 1]
    keys = archive.arrays.keys()
    starts = {key[: key.rfind(".") + 1] for key in keys}
    starts = {start for start in starts if any({start + a, start + c} <= keys for a, c in PAIRS)}
    return "" if "" in starts or len(starts) != 1 else starts.pop()


def _is_system(archive: Archive, start: str) -> bool:
    """Whether A, B and, if they are there, C and D are those of x[t+1] = Ax + Bu, y = Cx + Du."""
    A, B, C, D = (archive.arrays.get(start + name) for name in "ABCD")
    if A is None or B is None or len(A.shape) != 2 or B.shape[:1] != A.shape[:1]:
        return False
    return C is None or D is not None or C.shape[:1] != A.shape[:1] or C.shape == A.shape


def _no_pair(archive: Archive, pairs: Sequence[Sequence[str]], has_mask: bool) -> NetworkFileError:
    wanted = ", or ".join(dict.fromkeys(map(" and ".join, pairs[:2])))
    problem = f"{archive.source}: has no {wanted}; it holds {archive.listing}."
    if has_mask:
        return NetworkFileError(f"{problem} Name the array with matrix='...'.")
    lacks_mask = archive.first([pair[0] for pair in pairs]) is not None
    return (MissingMaskError if lacks_mask else NetworkFileError)(
        f"{problem} Name the arrays with matrix='...' and mask='...', or give the mask as a file, "
        f"mask='C.npy'; state-space layers go to memcurve.layers."
    )


def _reservoir_parts(
    archive: Archive,
    pair: Sequence[str],
    used: Collection[str | None],
    C: Any,
    leak: str | None,
    bias: str | None,
    size: int,
) -> tuple[Parts, list[Note]]:
    """The leak rate and the bias beside W and Win, and notes on these."""
    missing = "an activation" if bias is not None else "an activation or bias"
    notes = [note("reservoir", pair=" and ".join(pair), missing=missing)]
    notes += _unused(archive, {*used, leak, bias}, "arrays_or_leak" if leak is None else "arrays")
    if np.ndim(C) == 2 and C.shape[1] > 1:
        notes.append(note("inputs", mask=pair[-1], count=C.shape[1]))
    parts: Parts = {} if leak is None else {"leak": _flat(archive, leak)}
    if bias is not None:
        values = _flat(archive, bias)
        parts["shift"] = np.full(size, values) if values.size == 1 else values
    return parts, notes


def _unused(archive: Archive, used: Collection[str | None], kind: str = "arrays") -> list[Note]:
    """A note on arrays that may be part of the network, and were not used."""
    structs = {name[: dot.start()] for name in used if name for dot in re.finditer(r"\.", name)}
    others = [key for key in archive.arrays if key not in {*used, *structs} and key[:2] != "A_"]
    names = f"{', '.join(others[:8])}{' …' if len(others) > 8 else ''}"
    return [note(kind, names=names, leaks=" or ".join(_LEAKS))] if others else []


def _torch_pair(archive: Archive, has_mask: bool) -> tuple[str, ...] | None:
    """The weights of the one torch layer that there is, if there is one."""
    first = f"{_HIDDEN}0"
    hidden = [key for key in archive.arrays if key.endswith(first)]
    pairs = [(key, key.replace(_HIDDEN, "weight_ih_l"))[: 1 if has_mask else 2] for key in hidden]
    pairs = [pair for pair in pairs if archive.arrays.keys() >= {*pair}]
    return pairs[0] if len(pairs) == 1 else None


def _torch_parts(archive: Archive, hidden: str, named: bool) -> tuple[Parts, list[Note]]:
    """The constant of a torch layer, the sum of its two biases, and notes on the layer."""
    prefix = hidden[: hidden.rindex(_HIDDEN)] + _HIDDEN
    others = [key for key in archive.arrays if key.startswith(prefix) and key != hidden]
    rows, *columns = np.shape(archive.arrays[hidden])
    if columns != [rows] and not named:
        raise archive.fault("gated", name=hidden, shape=(rows, *columns))
    if others and not named:
        mask = hidden.replace(_HIDDEN, "weight_ih_l")
        raise archive.fault("layers", name=hidden, others=", ".join(others), mask=mask)
    notes = [] if named else [note("torch", hidden=hidden)]
    notes = [note("torch_layer", others=", ".join(others))] if others else notes
    names = [hidden.replace(_HIDDEN, f"bias_{part}_l") for part in ("ih", "hh")]
    biases = [_flat(archive, name) for name in names if name in archive.arrays]
    return ({"shift": np.sum(biases, axis=0)} if biases else {}), notes


def side_by_side(array: Any, has_mask: bool, hint: str) -> Parts:
    """A, or A and C side by side; ``hint`` is what else the file may be."""
    values, more = whole(array), f"; {hint}" if hint else ""
    shape: tuple[int, ...] = values.shape
    rows, columns = shape if len(shape) == 2 else (0, 0)
    if not 0 < rows <= columns:
        remedy = "reshape it"
        if rows == columns + 1:
            remedy = "if its first line numbers the columns, leave that out (pandas: header=False)"
        elif columns:
            remedy = (
                "recorded states, one row per time step, go to memory_from_data (memcurve data)"
            )
        raise fault_error(array.file, "networks", "shape", shape=shape, remedy=f"{remedy}{more}")
    if rows == columns and not has_mask:
        text = words("networks", "alone", shape=shape, more=more)
        raise MissingMaskError(f"{array.file}: {text}")
    notes = [note("matrix", shape=(rows, rows), hint=hint)] if hint else []
    if rows < columns and has_mask:
        mask = counted(columns - rows, "column")
        notes.insert(0, note("side_by_side", rows=rows, columns=columns, mask=mask))
    A, C = (values[:, :rows], values[:, rows:]) if rows < columns else (values, None)
    C = None if has_mask else as_mask(C)
    return {"A": A, "C": C, "notes": tuple(notes)}


def texts(archive: Archive, name: str) -> list[str]:
    """The texts, or numbers as texts, of that name in an archive."""
    stored = archive.arrays.get(name)
    if stored is None or stored.dtype is None or stored.dtype.kind not in "Uiu":
        return []
    with reading(stored.file):  # what is no character is found out now
        return stored.whole().reshape(-1).astype(str).tolist()  # type: ignore[no-any-return]


def whole(array: Any) -> Any:
    """Read an array; a square one is a connectivity, which is to be worked on."""
    array.require_room()
    square = len(array.shape) == 2 and array.shape[0] == array.shape[1]
    if square and not array.is_sparse and array.file is not None:
        with reading(array.file):
            require_room_for_states(array.shape[0], "exact")
    return array.whole()


def _flat(archive: Archive, name: str) -> Any:
    """A vector from a number, or from a row or column of them, as MATLAB stores both."""
    array = whole(archive.arrays[name])
    values = np.asarray(array.toarray() if hasattr(array, "toarray") else array)
    return values.reshape(-1) if values.size == max(values.shape, default=1) else values


def _own_mask(stored: Array, A: Any) -> Any:
    """The mask in an archive, one row of which is meant as a column."""
    C = stored.whole()
    is_row = len(C.shape) == 2 and C.shape[0] == 1 < C.shape[1] == A.shape[0]
    return as_mask(C.T if is_row else C)


def as_mask(C: Any) -> Any:
    """Return an input mask dense, and as a vector where it has one column."""
    C = C.toarray() if hasattr(C, "toarray") else C
    shape: tuple[int, ...] = getattr(C, "shape", ())
    return C.reshape(-1) if len(shape) == 2 and shape[1] == 1 else C
