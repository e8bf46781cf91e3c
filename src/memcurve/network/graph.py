"""What follows exactly from the non-zero pattern: reachability, components, eigenvalue blocks.

A network's graph has an edge j → i wherever ``A[i, j] != 0``: node j drives node i.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import Complexes, Floats
from memcurve.network.operator import Operator

Indices = NDArray[np.intp]

#: Nodes of a sparse component up to which all of its eigenvalues are the quicker way, and up to
#: which they are a way at all: a minute.
MOST_DENSE = 300
MOST_DENSE_AT_ALL = 5000
#: Nodes up to which a leading mode is looked for in a space of many dimensions.
MOST_IN_WIDE_SPACE = 100_000
#: Matrices whose largest entry lies between these are taken as they are.
ORDINARY = (2.0**-200, 2.0**200)
#: Edges that SciPy's graph routines count.
MOST_EDGES = 2**31 - 1


class StructuralRank(NamedTuple):
    """Controllability that follows from the wiring alone, for generic weights.

    Attributes
    ----------
    rank : int
        The rank of [C, AC, A²C, …] for almost all weights on these edges, and the largest for any.
    unreached : int array
        Nodes that no input reaches.
    surplus : int array
        Nodes that are reached, but not independently of the others: several of them share too few
        drivers (a dilation). Which ones these are is seldom unique; their number is.
    """

    rank: int
    unreached: Indices
    surplus: Indices


def has_no_zeros(A: Any) -> bool:
    """Whether A is dense without zeros: one component, every node reachable."""
    return isinstance(A, np.ndarray) and bool(A.all())


def is_symmetric(A: Any) -> bool:
    """Whether A is a dense array that equals its conjugate transpose."""
    if not isinstance(A, np.ndarray) or (len(A) > 1 and A[0, 1] != np.conj(A[1, 0])):
        return False
    return np.array_equal(A, A.conj().T)


def reachable_nodes(A: Any, C: NDArray[Any]) -> Indices:
    """Sorted nodes that some path of A leads to from a node with ``C != 0``."""
    from scipy.sparse import block_array, csr_array
    from scipy.sparse.csgraph import breadth_first_order

    size = A.shape[0]
    driven = np.asarray(C.reshape(size, -1).any(axis=1))
    unknown = isinstance(A, Operator)  # all nodes, as far as products tell
    if not driven.any() or driven.all() or unknown or has_no_zeros(A):
        return np.arange(size if driven.any() else 0, dtype=np.intp)
    # one extra node stands for the input and points at every node it drives
    to_nodes = csr_array(driven[None, :])
    pattern = block_array([[_pattern(A).T, None], [to_nodes, csr_array((1, 1))]], format="csr")
    order = breadth_first_order(pattern, size, return_predecessors=False)
    return np.sort(order[order < size]).astype(np.intp)


def strong_components(A: Any, kind: Literal["weak", "strong"] = "strong") -> list[Indices]:
    """Sets of nodes that can all reach each other; A's eigenvalues are those of these blocks."""
    from scipy.sparse.csgraph import connected_components

    if has_no_zeros(A):
        return [np.arange(len(A), dtype=np.intp)]
    count, label = connected_components(_pattern(A), directed=True, connection=kind)
    order = np.argsort(label, kind="stable").astype(np.intp)
    return np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])


def separate_parts(A: Any) -> list[Indices]:
    """Sets of nodes with no edge between them, in either direction: A is block diagonal."""
    return strong_components(A, "weak")


def most_nodes_on_cycles(A: Any) -> int:
    """How many nodes disjoint cycles cover at most: so many eigenvalues may be non-zero."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    edges = _pattern(A).tocoo()
    _, label = connected_components(edges, directed=True, connection="strong")
    companions = np.bincount(label)[label] - 1
    rows, columns = edges.row[edges.data], edges.col[edges.data]
    loops = int(np.count_nonzero((rows == columns) & (companions[rows] == 0)))
    # no cycle leaves a component
    inside = (label[rows] == label[columns]) & (companions[rows] > 0)
    index, count = np.cumsum(companions > 0) - 1, int(np.count_nonzero(companions))
    if count == 0:
        return loops
    ends, ones = (index[rows[inside]], index[columns[inside]]), np.ones(np.count_nonzero(inside))
    return loops + int(np.count_nonzero(_assignment(csr_array((ones, ends), shape=(count, count)))))


def generically_driven(A: Any, C: NDArray[Any]) -> NDArray[np.bool_]:
    """Nodes, as many as possible, that inputs drive independently for almost all weights.

    Their number is the generic dimension of the controllable subspace, the largest that any weights
    on these edges give: so many nodes are covered by disjoint cycles and one path an input, all of
    them reached (Hosoe 1980). Which nodes these are is seldom unique.
    """
    from scipy.sparse import csr_array, hstack

    size = A.shape[0]
    driven, nodes = np.zeros(size, dtype=np.bool_), reachable_nodes(A, C)
    mask = C.reshape(size, -1)
    if len(nodes) == 0 or has_no_zeros(A):
        driven[nodes] = True
        return driven
    edges = _pattern(A)
    if len(nodes) < size:
        edges, mask = edges[nodes][:, nodes], mask[nodes]
    driven[nodes] = _assignment(hstack([edges, csr_array(mask != 0)], format="csr"))
    return driven


def _assignment(edges: Any) -> NDArray[np.bool_]:
    """Nodes, as many as possible, that are each driven by one of their own: an assignment.

    ``edges`` (n, n + d) has the drivers of each node, nodes first, then inputs. A node that is
    driven by nothing is assigned to itself, at a price of one. Prices are raised until all can be
    assigned (the Hungarian method, all shortest paths at once).
    """
    from scipy.sparse import csr_array, eye_array
    from scipy.sparse.csgraph import dijkstra, maximum_bipartite_matching

    size, columns = edges.shape
    if edges.nnz + size > MOST_EDGES:
        raise ValueError(f"`A` must have at most {MOST_EDGES:,} edges here, got {edges.nnz:,}.")
    edges = csr_array(edges, dtype=np.float64, copy=True)
    edges.eliminate_zeros()
    # both an edge and the choice of none, on the diagonal, add up to 3: the edge is free
    costs = csr_array(edges + 2 * eye_array(size, columns))
    # SciPy may make sparse arrays with indices of 64 bits, and takes graphs with those of 32 only
    drivers, starts = costs.indices.astype(np.int32), costs.indptr.astype(np.int32)
    rows = np.repeat(np.arange(size), np.diff(starts))
    slack, price = np.where(costs.data == 2, 1.0, 0.0), np.zeros(columns)

    while True:
        chosen = slack == 0  # assignments that cost no more than their prices
        ends = np.append(0, np.cumsum(np.bincount(rows[chosen], minlength=size))).astype(np.int32)
        ones = np.ones(ends[-1], dtype=np.int8)
        graph = csr_array((ones, drivers[chosen], ends), shape=costs.shape)
        driver = maximum_bipartite_matching(graph, perm_type="column")
        has_one = driver >= 0
        if has_one.all():
            break
        # from nodes without a driver, over those whose driver is taken away, to a driver that is
        # free: the last node of the graph
        owner = np.full(columns, size, dtype=np.int32)
        owner[driver[has_one]] = np.flatnonzero(has_one)
        ends = np.append(starts, starts[-1])
        ways = csr_array((slack, owner[drivers], ends), shape=(size + 1, size + 1))
        distance = dijkstra(ways, indices=np.flatnonzero(~has_one), min_only=True)
        offered = np.maximum(distance[size] - distance[:size], 0.0)
        raised = np.zeros(columns)
        raised[driver[has_one]] = offered[has_one]
        slack += raised[drivers] - offered[rows]
        price += raised
    # drivers with a price must all be taken: of two matchings, one has all nodes, one all of these
    dear = np.flatnonzero(price > 0)
    taker = np.full(columns, -1)
    taker[dear] = maximum_bipartite_matching(graph[:, dear].tocsr(), perm_type="row")
    for column in np.setdiff1d(dear, driver).tolist():
        while price[column] > 0:
            node = taker[column]
            driver[node], column = column, driver[node]
    return np.asarray((driver != np.arange(size)) | (edges.diagonal() != 0))


def submatrix(A: Any, nodes: Indices) -> NDArray[Any]:
    """Return the dense block of A (dense or sparse) on ``nodes``, always a new array."""
    if isinstance(A, np.ndarray):
        return A.copy() if len(nodes) == len(A) else A[np.ix_(nodes, nodes)]
    block = A if len(nodes) == A.shape[0] else A[nodes][:, nodes]
    return np.asarray(block.toarray())


def eigenvalues(A: Any, components: list[Indices] | None = None) -> Complexes:
    """Eigenvalues of A by strongly connected components; nodes on no cycle give the diagonal."""
    components = strong_components(A) if components is None else components
    alone = np.concatenate([np.zeros(0, np.intp), *(n for n in components if len(n) == 1)])
    parts = [A.diagonal()[alone].astype(np.complex128)]
    for nodes in (n for n in components if len(n) > 1):
        block = submatrix(A, nodes)
        if is_symmetric(block):
            values = np.linalg.eigvalsh(block)
        else:
            values = _eigenvalues_of_block(balanced(block)[0])
        parts.append(values.astype(np.complex128))
    return np.concatenate(parts)


def largest_modulus(A: Any) -> float:
    """The spectral radius; of large sparse components by Arnoldi's method where that converges."""
    largest = 0.0
    for nodes in strong_components(A):
        if isinstance(A, np.ndarray) or len(nodes) <= MOST_DENSE:
            values = eigenvalues(submatrix(A, nodes))
        else:
            values = _largest_eigenvalue(A if len(nodes) == A.shape[0] else A[nodes][:, nodes])
        largest = max(largest, float(np.abs(values).max()))
    return largest


class CrowdedSpectrumError(ValueError):
    """Too many eigenvalues have nearly the largest modulus to decide which is the largest."""


def has_dominant_eigenvalue(A: Any) -> bool:
    """Whether few Arnoldi steps find the largest eigenvalue, or pair, of A."""
    return _arpack(A, 40, 10) is not None


def _arpack(A: Any, space: int, restarts: int) -> tuple[complex, NDArray[Any]] | None:
    """An eigenvalue of largest modulus and its eigenvector; None where it does not converge."""
    from scipy.sparse.linalg import ArpackError, eigs

    start = np.random.default_rng(0).standard_normal(A.shape[0])  # the same answer every time
    try:
        (value, *_), vectors = eigs(A, 1, ncv=space, v0=start, maxiter=restarts)
    except ArpackError:
        return None
    return complex(value), np.asarray(vectors[:, 0])


def leading_mode(A: Any) -> tuple[complex, NDArray[Any], NDArray[Any]] | None:
    """A largest eigenvalue of a sparse A, and unit eigenvectors; None if Arnoldi is slow."""
    space, restarts = (150, 8) if A.shape[0] <= MOST_IN_WIDE_SPACE else (40, 20)
    left, right = _arpack(A.T, space, restarts), _arpack(A, space, restarts)
    if left is None or right is None:
        return None
    (value, v), (same, w) = left, right  # of a pair, one may have been found each time
    return value, v, w.conj() if value.imag * same.imag < 0 else w


def _largest_eigenvalue(A: Any) -> NDArray[Any]:
    """An eigenvalue of largest modulus, or all of them where the iteration does not converge."""
    # moduli at the edge of a random spectrum are close: a large space tells them apart
    leading = _arpack(A, 100, 100)
    if leading is not None:
        return np.array([leading[0]])
    if A.shape[0] > MOST_DENSE_AT_ALL:
        raise CrowdedSpectrumError(
            f"`A` has a spectral radius that cannot be found among its {A.shape[0]:,} nodes: "
            f"too many eigenvalues are of about the same size. Scale it yourself, e.g. by "
            f"memcurve.network.scaling.scale_to_spectral_norm."
        )
    return eigenvalues(A)


def _eigenvalues_of_block(block: NDArray[Any]) -> Complexes:
    """LAPACK through SciPy: NumPy's has threads of its own, and the two pools hinder each other."""
    from scipy.linalg import eigvals

    if np.iscomplexobj(block) or not np.isfinite(block).all():  # NumPy raises for the latter
        return np.asarray(np.linalg.eigvals(block), dtype=np.complex128)
    block, unit = in_units(block)
    return np.asarray(unit * eigvals(block, overwrite_a=True, check_finite=False))


def in_units(A: Floats) -> tuple[Floats, float]:
    """A in units of a power of two, and that unit: 1 unless all of A is very small or very large.

    Squares of very small entries vanish, and SciPy's ``dgeev`` gives eigenvalues of another scale
    for matrices that LAPACK scales within.
    """
    largest = float(np.abs(A).max(initial=0.0))
    if not 0 < largest < np.inf or ORDINARY[0] <= largest <= ORDINARY[1]:
        return A, 1.0
    exponent = int(np.clip(np.frexp(largest)[1], -1021, 1021))  # whose inverse is a number too
    scaled = np.ldexp(A, -exponent)
    if not np.array_equal(np.ldexp(scaled, exponent), A):  # others vanish: A is to be balanced
        return A, 1.0
    return scaled, float(np.ldexp(1.0, exponent))


def balanced(A: NDArray[Any]) -> tuple[NDArray[Any], Floats]:
    """Return D⁻¹AD and diag D, powers of two that balance rows and columns; none underflows."""
    from scipy.linalg.lapack import dgebal, zgebal

    if _is_balanced(A):
        return A.copy(), np.ones(len(A))
    gebal = zgebal if np.iscomplexobj(A) else dgebal
    scaled, _, _, scale, _ = gebal(np.asfortranarray(A), scale=True, permute=False)
    return scaled, np.asarray(scale, dtype=float)


def _is_balanced(A: NDArray[Any]) -> bool:
    """Whether LAPACK's balancing would change nothing; it decides itself where squares overflow."""
    rows, columns = (np.einsum(f"ij,ij->{k}", A, A.conj()).real for k in "ij")
    lengths = np.concatenate([rows, columns])
    ordinary = lengths.min(initial=1.0) > ORDINARY[0] ** 2 and lengths.max(initial=1.0) < np.inf
    return bool(ordinary and (rows <= 3.9 * columns).all() and (columns <= 3.9 * rows).all())


def _pattern(A: Any) -> Any:
    from scipy.sparse import csr_array

    if isinstance(A, np.ndarray):
        return csr_array(A != 0)
    pattern = csr_array(A.tocsr())
    return csr_array((pattern.data != 0, pattern.indices, pattern.indptr), shape=A.shape)
