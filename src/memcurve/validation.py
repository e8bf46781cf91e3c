"""Checks of the parts of a network, each made exact and never changed again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import exact_array, require_finite


def validated_matrix(A: Any) -> Any:
    """A as float64 or complex128, dense or csr, square and finite."""
    from scipy import sparse

    if sparse.issparse(A):
        given: Any = A
        try:
            given.tocsr().check_format(full_check=True)  # scipy would follow bad indices anywhere
        except ValueError as error:
            raise ValueError(f"`A` is a damaged sparse array: {error}; build it anew.") from None
        matrix: Any = sparse.csr_array(given)
        entries = exact_array(matrix.data, "A")
        # copies: sorting in place below must not reach the caller's arrays
        places = (matrix.indices.copy(), matrix.indptr.copy())
        matrix = sparse.csr_array((entries, *places), shape=matrix.shape)
        matrix.sum_duplicates()
        require_finite(matrix.data, "A")
        matrix.eliminate_zeros()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
    else:
        matrix = exact_array(A, "A")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"`A` must be a square matrix, got shape {tuple(matrix.shape)}; "
            f"A[i, j] is the weight from node j to node i."
        )
    if matrix.shape[0] == 0:
        raise ValueError("`A` must have at least one node, got shape (0, 0).")
    return matrix


def validated_mask(C: Any, size: int) -> NDArray[Any]:
    """C, dense, with a row for each node."""
    mask = exact_array(C.toarray() if hasattr(C, "toarray") else C, "C")
    if mask.ndim not in (1, 2) or mask.shape[0] != size or mask.size == 0:
        hint = "; transpose it" if mask.ndim == 2 and mask.shape[1] == size else ""
        raise ValueError(
            f"`C` must have shape ({size},) or ({size}, d) to fit `A` of {size} nodes, "
            f"got {mask.shape}{hint}."
        )
    return mask


def validated_shift(shift: Any, size: int) -> NDArray[Any]:
    """The constant, one number a node."""
    vector = exact_array(shift, "shift")
    if vector.shape != (size,):
        raise ValueError(f"`shift` must have shape ({size},), got {vector.shape}.")
    return vector


def validated_readout(readout: Any, size: int) -> NDArray[np.intp]:
    """Indices of the nodes that are read, each named once."""
    nodes = np.asarray(readout)
    if nodes.dtype == bool and nodes.shape == (size,):
        nodes = np.flatnonzero(nodes)
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu" or len(nodes) == 0:
        raise ValueError(
            f"`readout` must list at least one node by its index, or be a boolean mask of length "
            f"{size}; got {readout!r}."
        )
    outside = nodes[(nodes < 0) | (nodes >= size)]
    if len(outside):
        raise ValueError(
            f"`readout` must hold indices from 0 to {size - 1}, got {int(outside[0])}."
        )
    unique = np.unique(nodes).astype(np.intp)
    if len(unique) < len(nodes):
        raise ValueError(f"`readout` must name each node once, got {nodes.tolist()}.")
    return nodes.astype(np.intp)


def validated_name(name: Any) -> str | None:
    """The label, a string or None."""
    if name is not None and not isinstance(name, str):
        raise TypeError(f"`name` must be a string, got {name!r}.")
    return name


def validated_notes(notes: Any) -> tuple[str, ...]:
    """The notes as a tuple of strings."""
    listed = () if isinstance(notes, str) or not isinstance(notes, Sequence) else tuple(notes)
    if not all(isinstance(note, str) for note in listed) or (notes and not listed):
        raise TypeError(f"`notes` must be a sequence of strings, got {notes!r}; give e.g. ['…'].")
    return listed
