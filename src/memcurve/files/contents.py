"""Arrays by their names → the parts of a network: which of them are A and C, and how they act."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from memcurve.files.reading import Archive, NetworkFileError, as_mask
from memcurve.network.diagonal import diagonal_network, lru_mask, lru_poles
from memcurve.network.nonlinear import leaky_pair

#: Connectivity and mask, in the order they are looked for.
PAIRS = (("A", "C"), ("W", "Win"))
_LEAKS = ("lr", "leak", "leak_rate", "leaking_rate")
_POLES = ("eigenvalues", "lambda", "Lambda")
_STEPS = ("step", "Delta", "delta", "dt")
_LRU = ("nu_log", "theta_log", "B_re", "B_im")
_HIDDEN, _INPUT = "weight_hh_l0", "weight_ih_l0"

Parts = dict[str, Any]


def network_parts(
    source: str | os.PathLike[str],
    archive: Archive,
    *,
    matrix: str | None = None,
    mask: str | None = None,
    given: Any = None,
    rows_too: bool = False,
    discretisation: str = "zoh",
) -> Parts:
    """Return A, C and notes from the arrays named, or else from the first kind of network found.

    Where a mask is ``given`` it stands for the archive's own. ``rows_too`` takes a mask of one row
    for a vector, as MATLAB writes them.
    """
    present, fetch = archive
    pairs = [(matrix or a, mask or c)[: 1 if given is not None else 2] for a, c in PAIRS]
    found = next((names for names in pairs if present.keys() >= set(names)), None)
    named = matrix is not None or mask is not None
    if found is None:
        parts = None if named else _layer_parts(archive, given, rows_too, discretisation)
        if parts is None:
            raise _nothing_found(source, present, pairs)
        return parts
    A = _checked(fetch(found[0]))
    C = as_mask(
        given if given is not None else _checked(fetch(found[1])), rows_too and given is None
    )
    leak = _first(present, _LEAKS)
    if found[0] != "W":
        return {"A": A, "C": C, "notes": _deep_notes(present, found[0])}
    if leak is None or named:
        return {"A": A, "C": C, "notes": _plain_weight_notes(present, found)}
    A, C = leaky_pair(A, C, _flat(fetch(leak)))
    note = f"the leak rate {leak} is applied: A = (1 − lr)·I + lr·W, C = lr·Win"
    notes = _plain_weight_notes(present, (*found, leak))
    return {"A": A, "C": C, "notes": (note, *notes)}


def _plain_weight_notes(present: dict[str, str], used: Sequence[str]) -> tuple[str, ...]:
    """What W and Win do not tell."""
    note = "W and Win taken as a linear network: they tell no activation and no bias"
    others = [name for name in present if name not in used and not name.startswith("A_")]
    if others:
        some = ", ".join(others[:8]) + (" …" if len(others) > 8 else "")
        note += f"; not used: {some}"
    return (note,)


def _deep_notes(present: dict[str, str], matrix: str) -> tuple[str, ...]:
    """A note where the weights named are those of one layer of several."""
    if not matrix.endswith(_HIDDEN):
        return ()
    others = _further_layers(present, matrix.removesuffix(_HIDDEN))
    return (f"one layer of several: {', '.join(others)} left out",) if others else ()


def _further_layers(present: dict[str, str], prefix: str) -> list[str]:
    """Weights of further layers, or of the other direction, of a torch recurrence."""
    own = f"{prefix}weight_hh_l"
    return [key for key in present if key.startswith(own) and key != f"{prefix}{_HIDDEN}"]


def matrix_alone(source: str | os.PathLike[str], archive: Archive, matrix: str | None) -> Any:
    """Return the A that :func:`network_parts` would, whatever the mask."""
    present, fetch = archive
    names = [matrix] if matrix is not None else [a for a, _ in PAIRS]
    chosen = _first(present, names)
    if chosen is None:
        found = None if matrix is not None else _layer_parts(archive, None, True, "zoh")
        if found is None:
            raise _nothing_found(source, present, [(name,) for name in names])
        return found["A"]
    A, leak = _checked(fetch(chosen)), _first(present, _LEAKS)
    if chosen != "W" or leak is None or matrix is not None:
        return A
    return leaky_pair(A, np.zeros(A.shape[0]), _flat(fetch(leak)))[0]


def _layer_parts(archive: Archive, given: Any, rows_too: bool, discretisation: str) -> Parts | None:
    """Parts of a diagonal layer, a linear recurrent unit or a torch recurrence, if there is one."""
    present, fetch = archive
    poles = _first(present, _POLES)
    if poles is not None and (given is not None or "B" in present):
        step = _first(present, _STEPS)
        return _parts_of(
            diagonal_network(
                _flat(fetch(poles)),
                as_mask(fetch("B"), rows_too) if given is None else as_mask(given),
                step=None if step is None else _flat(fetch(step)),
                discretisation=discretisation,
                notes=(f"diagonal A from the vector {poles}",),
            )
        )
    prefixes = _prefixes(present, _LRU[0], _LRU[1:] if given is None else _LRU[1:2])
    if len(prefixes) == 1:
        nu, theta, real, imaginary = (prefixes[0] + name for name in _LRU)
        gamma = prefixes[0] + "gamma_log"
        B = given if given is not None else fetch(real) + 1j * fetch(imaginary)
        scale = _flat(fetch(gamma)) if gamma in present else None
        return _parts_of(
            diagonal_network(
                lru_poles(_flat(fetch(nu)), _flat(fetch(theta))),
                lru_mask(B, scale),
                notes=(f"a linear recurrent unit: λ = exp(−exp({nu}) + i·exp({theta}))",),
            )
        )
    prefixes = _prefixes(present, _HIDDEN, (_INPUT,) if given is None else ())
    if len(prefixes) != 1:
        return None
    hidden, inward = prefixes[0] + _HIDDEN, prefixes[0] + _INPUT
    further = _further_layers(present, prefixes[0])
    if further:
        raise NetworkFileError(
            f"{hidden} is one layer of several ({', '.join(further)}), which are no network by "
            f"themselves; pass the module, as_network(module), or name one layer: "
            f"matrix='{hidden}', mask='{inward}'."
        )
    note = (
        f"{hidden} taken as a linear recurrence: weights do not tell the activation, nor is the "
        f"network linearised at it"
    )
    C = as_mask(fetch(inward) if given is None else given)
    return {"A": fetch(hidden), "C": C, "notes": (note,)}


def _parts_of(network: Any) -> Parts:
    return {"A": network.A, "C": network.C, "notes": network.notes}


def _prefixes(present: dict[str, str], first: str, others: Sequence[str]) -> list[str]:
    """What stands before ``first`` in names for which all the others are there too."""
    starts = [key.removesuffix(first) for key in present if key.endswith(first)]
    return [start for start in starts if all(start + name in present for name in others)]


def _first(present: dict[str, str], names: Sequence[str]) -> str | None:
    return next((name for name in names if name in present), None)


def _flat(array: Any) -> Any:
    """A vector from a number, or from a row or column of them, as MATLAB stores both."""
    values = np.asarray(array.toarray() if hasattr(array, "toarray") else array)
    return values.reshape(-1) if values.size == max(values.shape, default=1) else values


def _nothing_found(
    source: str | os.PathLike[str], present: dict[str, str], choices: Sequence[tuple[str, ...]]
) -> NetworkFileError:
    """The error that lists what is there."""
    listed = [f"{key} {about}" for key, about in present.items()]
    listed[40:] = [f"{len(listed) - 40} more"] if len(listed) > 40 else []
    remedy = "Name the array with matrix='...'."
    if len(choices[0]) == 2:
        remedy = (
            "Name the arrays with matrix='...' and mask='...', or give the mask as a file, "
            "mask='C.npy'."
        )
    return NetworkFileError(
        f"{source}: has no {', or '.join(dict.fromkeys(map(' and '.join, choices)))}; it holds "
        f"{', '.join(listed) or 'nothing'}. {remedy}"
    )


def _checked(array: Any) -> Any:
    """Check the indices of a sparse array, which scipy would follow out of range."""
    if hasattr(array, "check_format"):
        array.check_format(full_check=True)
        if (np.diff(array.indptr) < 0).any():  # not looked at where no entry is stored
            raise ValueError("the rows of the sparse array overlap")
    return array
