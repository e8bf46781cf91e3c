"""What the pattern of non-zeros decides, exactly: reachability, components, eigenvalue blocks.

A network's graph has an edge j → i wherever ``A[i, j] != 0``: node j drives node i.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.intp]


def has_no_zeros(A: Any) -> bool:
    """Whether A is dense with every entry non-zero: one component, everything reachable."""
    return isinstance(A, np.ndarray) and bool(A.all())


def reachable_nodes(A: Any, C: NDArray[Any]) -> Indices:
    """Sorted nodes that some path of A leads to from a node with ``C != 0``."""
    from scipy.sparse.csgraph import breadth_first_order

    size = A.shape[0]
    sources = np.flatnonzero(C.reshape(size, -1).any(axis=1))
    if len(sources) == 0 or len(sources) == size or has_no_zeros(A):
        return np.arange(size if len(sources) else 0, dtype=np.intp)
    from scipy.sparse import block_array, csr_array

    # one extra node stands for the input and points at every node it drives
    to_nodes = csr_array(
        (np.ones(len(sources)), (np.zeros(len(sources), int), sources)), shape=(1, size)
    )
    pattern = block_array([[_pattern(A).T, None], [to_nodes, csr_array((1, 1))]], format="csr")
    order = breadth_first_order(pattern, size, return_predecessors=False)
    return np.sort(order[order < size]).astype(np.intp)


def strong_components(A: Any) -> list[Indices]:
    """Sets of nodes that can all reach each other; A's eigenvalues are those of these blocks."""
    return _components(A, "strong")


def separate_parts(A: Any) -> list[Indices]:
    """Sets of nodes with no edge between them, in either direction: A is block diagonal."""
    return _components(A, "weak")


def submatrix(A: Any, nodes: Indices) -> NDArray[Any]:
    """Return the dense block of A (dense or sparse) on ``nodes``, always a new array."""
    if isinstance(A, np.ndarray):
        return A.copy() if len(nodes) == len(A) else A[np.ix_(nodes, nodes)]
    block = A if len(nodes) == A.shape[0] else A[nodes][:, nodes]
    return np.asarray(block.toarray())


def eigenvalues(A: Any) -> NDArray[np.complex128]:
    """Eigenvalues of A, one strongly connected component at a time.

    Nodes on no cycle give their diagonal entry exactly; symmetric blocks use the symmetric solver.
    """
    parts = []
    for nodes in strong_components(A):
        block = submatrix(A, nodes)
        if len(nodes) == 1:
            values = block.ravel()
        elif np.array_equal(block, block.conj().T):
            values = np.linalg.eigvalsh(block)
        else:
            values = np.linalg.eigvals(balanced(block)[0])
        parts.append(values.astype(np.complex128))
    return np.concatenate(parts)


def balanced(A: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return D⁻¹AD and the diagonal of D, powers of two that make rows and columns alike in size.

    Without rounding; LAPACK does the same, but only after a scaling that can underflow.
    """
    from scipy.linalg.lapack import dgebal, zgebal

    gebal = zgebal if np.iscomplexobj(A) else dgebal
    scaled, _, _, scale, _ = gebal(np.asfortranarray(A), scale=True, permute=False)
    return scaled, np.asarray(scale, dtype=float)


def _pattern(A: Any) -> Any:
    from scipy.sparse import csr_array

    if isinstance(A, np.ndarray):
        return csr_array(A != 0)
    pattern = csr_array(A)
    return csr_array((pattern.data != 0, pattern.indices, pattern.indptr), shape=A.shape)


def _components(A: Any, connection: Literal["weak", "strong"]) -> list[Indices]:
    from scipy.sparse.csgraph import connected_components

    if has_no_zeros(A):
        return [np.arange(len(A), dtype=np.intp)]
    count, label = connected_components(_pattern(A), directed=True, connection=connection)
    order = np.argsort(label, kind="stable").astype(np.intp)
    return np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])
