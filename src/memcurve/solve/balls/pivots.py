"""Pivots modulo 62-bit primes: which states, and which powers, a proof solves for.

Modulo an odd prime every rank of a matrix of floats has an exact answer, which never exceeds the
true one; see :mod:`memcurve.solve.modular` for primes so small that BLAS does the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.solve.modular import dyadic, pivot_columns
from memcurve.types import Floats

#: Far from powers of two (modulo 2^61 − 1, say, 1 and 2^61 would coincide). Doubled: no primes, and
#: half as large, deficient ranks would be as certain but for one bit.
WORD_PRIMES = (3141592653589793239, 2718281828459045269)


def word_matrix(x: Floats, prime: int) -> Any:
    """A matrix of FLINT's modulo the prime."""
    from flint import nmod_mat

    integers, exponents = (part.tolist() for part in dyadic(np.ravel(x)))
    powers = {e: pow(2, e, prime) for e in set(exponents)}
    entries = [m * powers[e] % prime for m, e in zip(integers, exponents, strict=True)]
    return nmod_mat(*x.shape, entries, prime)


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
    A: Floats, C: Floats, state: Floats, observation: Floats, rows: Sequence[int]
) -> Pivots:
    """Pivots of the stored numbers; the better of two primes, quantity by quantity."""
    noise = np.diag(state)[:, state > 0]
    masks = np.hstack([C, noise])
    silent = [row for row in rows if observation[row] == 0]
    noisy = [row for row in rows if observation[row] > 0]
    best = Pivots([], [], [], 0)
    for prime in WORD_PRIMES:
        krylov = _word_krylov(A, masks, prime)
        nodes = pivot_columns(krylov)
        columns = [divmod(k, masks.shape[1]) for k in pivot_columns(krylov.transpose())]
        outputs = [silent[k] for k in pivot_columns(_columns(krylov, silent))]
        driven = krylov if noise.shape[1] == 0 else _word_krylov(A, C, prime)
        rank = int(_columns(driven, rows).rank())
        if len(nodes) > len(best.nodes):
            best = best._replace(nodes=nodes, columns=columns)
        if len(outputs) + len(noisy) > len(best.outputs):
            best = best._replace(outputs=sorted(outputs + noisy))
        best = best._replace(rank=max(rank, best.rank))
        if best.rank == len(rows) and len(best.nodes) == len(A):
            break
    return best


def single_pivots(A: Floats, C: Floats) -> tuple[list[int], bool]:
    """Rows on which the first r powers of one mask C (n,) are independent, r the rank.

    Also whether the minimal polynomial has two roots λ and 1/λ (or λ = ±1), so that one of them is
    not inside the unit disc: balls alone cannot tell a root on the circle from one near it.
    """
    return max(
        (_single_pivots(A, C, prime) for prime in WORD_PRIMES), key=lambda found: len(found[0])
    )


def _single_pivots(A: Floats, C: Floats, prime: int) -> tuple[list[int], bool]:
    from flint import nmod_mat

    size = len(C)
    krylov = _word_krylov(A, C[:, None], prime, size + 1)
    entries = [int(x) for x in krylov.entries()]  # one power a row
    rank = int(nmod_mat(size, size, entries[: size * size], prime).rank())
    if rank == 0:
        return [], False
    rows = pivot_columns(nmod_mat(rank, size, entries[: rank * size], prime))
    powers = [[entries[k * size + node] for k in range(rank + 1)] for node in rows]
    chosen = nmod_mat(rank, rank, [x for power in powers for x in power[:rank]], prime)
    x = chosen.solve(nmod_mat(rank, 1, [power[rank] for power in powers], prime))
    coefficients = [-int(entry) % prime for entry in x.entries()] + [1]
    return rows, _has_reciprocal_roots(coefficients, prime)


def has_reciprocal_eigenvalues(A: Floats, masks: Floats, pivots: Pivots) -> bool:
    """Whether λ and 1/λ (or ±1) are excited eigenvalues, so that one is not inside the circle.

    As certain as a deficient rank is: unless two primes divide a non-zero integer.
    """
    return all(_has_reciprocal_eigenvalues(A, masks, pivots, prime) for prime in WORD_PRIMES)


def _has_reciprocal_eigenvalues(A: Floats, masks: Floats, pivots: Pivots, prime: int) -> bool:
    matrix = word_matrix(A, prime)
    if len(pivots.nodes) < len(A):  # A on the pivot nodes is A[R] K (K[R])⁻¹
        places = [power * masks.shape[1] + channel for power, channel in pivots.columns]
        K = _columns(_word_krylov(A, masks, prime).transpose(), places)
        rows = _columns(matrix.transpose(), pivots.nodes).transpose()
        matrix = rows * K * _columns(K.transpose(), pivots.nodes).transpose().inv()
    return _has_reciprocal_roots([int(c) for c in matrix.charpoly().coeffs()], prime)


def _has_reciprocal_roots(coefficients: list[int], prime: int) -> bool:
    from flint import nmod_poly

    polynomial, reverse = nmod_poly(coefficients, prime), nmod_poly(coefficients[::-1], prime)
    return bool(polynomial.gcd(reverse).degree() > 0)


def _word_krylov(A: Floats, V: Floats, prime: int, powers: int | None = None) -> Any:
    """[V, AV, A²V, …] modulo a prime, transposed: a row for each power of each column.

    As many powers as are given, or as add to the rank, or more.
    """
    from flint import nmod_mat

    size, width = V.shape
    if width == 0:
        return nmod_mat(1, size, prime)
    matrix, block = word_matrix(A, prime), word_matrix(V, prime)
    entries: list[int] = []
    count, done = powers or min(size, -(-size // width)), 0
    while True:
        while done < count:
            entries += [int(x) for x in block.transpose().entries()]
            block = matrix * block
            done += 1
        krylov = nmod_mat(width * count, size, entries, prime)
        if powers or count == size or krylov.rank() == size:
            return krylov
        count = size


def _columns(matrix: Any, columns: Sequence[int]) -> Any:
    from flint import nmod_mat

    entries = [int(matrix[i, j]) for i in range(matrix.nrows()) for j in columns]
    return nmod_mat(matrix.nrows(), len(columns), entries, matrix.modulus())
