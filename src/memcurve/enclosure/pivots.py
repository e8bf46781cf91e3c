"""Which states are independent: ranks of block Krylov matrices modulo two 62-bit primes.

A rank modulo a prime never exceeds the true one, and is below it only if the prime divides a
certain non-zero integer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memcurve.enclosure.balls import Floats
from memcurve.spectrum.modular import dyadic

#: Two primes far from powers of two (modulo 2^61 − 1, say, 1 and 2^61 would coincide).
PRIMES = (3141592653589793239, 2718281828459045269)


class Pivots(NamedTuple):
    """Independent states and what the input does to them.

    ``nodes`` are rows of the Krylov matrix of input and state noise that span all rows, and
    ``columns`` (power, channel) on which they are independent. ``outputs`` are rows that span what
    is read, with all those that have noise of their own. ``rank`` is that of the input alone on
    the rows that are read.
    """

    nodes: list[int]
    columns: list[tuple[int, int]]
    outputs: list[int]
    rank: int


def find_pivots(
    A: Floats, C: Floats, state: Floats, observation: Floats, rows: list[int]
) -> Pivots:
    """Pivots of the stored numbers; the better of two primes, quantity by quantity."""
    noise = np.diag(state)[:, state > 0]
    masks = np.hstack([C, noise])
    silent = [row for row in rows if observation[row] == 0]
    noisy = [row for row in rows if observation[row] > 0]
    best = Pivots([], [], [], 0)
    for prime in PRIMES:
        krylov = _krylov(A, masks, prime)
        nodes = _pivot_columns(krylov.transpose())
        columns = [divmod(k, masks.shape[1]) for k in _pivot_columns(krylov)]
        outputs = sorted([silent[k] for k in _pivot_columns(_rows(krylov, silent).transpose())])
        driven = krylov if noise.shape[1] == 0 else _krylov(A, C, prime)
        rank = int(_rows(driven, rows).rank())
        if len(nodes) > len(best.nodes):
            best = best._replace(nodes=nodes, columns=columns)
        if len(outputs) + len(noisy) > len(best.outputs):
            best = best._replace(outputs=sorted(outputs + noisy))
        best = best._replace(rank=max(rank, best.rank))
        if best.rank == len(rows) and len(best.nodes) == len(A):
            break
    return best


def has_reciprocal_eigenvalues(A: Floats, masks: Floats, pivots: Pivots) -> bool:
    """Whether λ and 1/λ (or ±1) are excited eigenvalues, so that one is not inside the circle.

    As certain as a deficient rank is: unless two primes divide a non-zero integer.
    """
    return all(_has_reciprocal_eigenvalues(A, masks, pivots, prime) for prime in PRIMES)


def _has_reciprocal_eigenvalues(A: Floats, masks: Floats, pivots: Pivots, prime: int) -> bool:
    from flint import nmod_mat, nmod_poly

    size = len(A)
    matrix = nmod_mat(size, size, _residues(A, prime), prime)
    if len(pivots.nodes) < size:  # A on the pivot nodes is A[R] K (K[R])⁻¹
        krylov = _krylov(A, masks, prime)
        places = [power * masks.shape[1] + channel for power, channel in pivots.columns]
        K = _rows(krylov.transpose(), places).transpose()
        matrix = _rows(matrix, pivots.nodes) * K * _rows(K, pivots.nodes).inv()
    coefficients = [int(c) for c in matrix.charpoly().coeffs()]
    polynomial, reverse = nmod_poly(coefficients, prime), nmod_poly(coefficients[::-1], prime)
    return bool(polynomial.gcd(reverse).degree() > 0)


def _krylov(A: Floats, V: Floats, prime: int) -> Any:
    """[V, AV, A²V, …] modulo a prime: as many powers as add to the rank, or more."""
    from flint import nmod_mat

    size, width = V.shape
    if width == 0:
        return nmod_mat(size, 1, prime)
    matrix = nmod_mat(size, size, _residues(A, prime), prime)
    block = nmod_mat(size, width, _residues(V, prime), prime)
    blocks, count = [block], min(size, -(-size // width))
    while True:
        while len(blocks) < count:
            blocks.append(matrix * blocks[-1])
        tables = [[[int(x) for x in row] for row in b.tolist()] for b in blocks]
        entries = [x for i in range(size) for table in tables for x in table[i]]
        krylov = nmod_mat(size, width * len(blocks), entries, prime)
        if count == size or krylov.rank() == size:
            return krylov
        count = size


def _rows(matrix: Any, rows: list[int]) -> Any:
    from flint import nmod_mat

    columns = matrix.ncols()
    entries = [int(matrix[i, j]) for i in rows for j in range(columns)]
    return nmod_mat(len(rows), columns, entries, matrix.modulus())


def _pivot_columns(matrix: Any) -> list[int]:
    """The first columns that are independent of those before them."""
    if matrix.nrows() == 0 or matrix.ncols() == 0:
        return []
    echelon, rank = matrix.rref()
    pivots, column = [], 0
    for row in range(rank):
        while int(echelon[row, column]) == 0:
            column += 1
        pivots.append(column)
    return pivots


def _residues(x: Floats, prime: int) -> list[int]:
    """Float64 numbers m·2^e modulo the prime."""
    integers, exponents = (part.tolist() for part in dyadic(x.ravel()))
    powers = {e: pow(2, e, prime) for e in set(exponents)}
    return [m * powers[e] % prime for m, e in zip(integers, exponents, strict=True)]
