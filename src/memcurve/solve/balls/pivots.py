"""Pivots modulo 62-bit primes: which states, and which powers, a proof solves for.

See :mod:`memcurve.network.modular` for primes so small that BLAS does the work.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UnstableNetworkError
from memcurve.core.types import Floats
from memcurve.network.modular import WORD_PRIMES, flint_matrix
from memcurve.solve.balls.arithmetic import UNSTABLE, columns_of, rows_of


class Pivots(NamedTuple):
    """Independent states and what the input does to them.

    ``nodes`` are rows of the Krylov matrix of input and state noise that span all rows, and
    ``columns`` of it (power times the number of masks, plus mask) on which they are independent.
    ``outputs`` are rows that span what is read, with all those that have noise of their own.
    ``rank`` is that of the input alone on the rows that are read.
    """

    nodes: list[int]
    columns: list[int]
    outputs: list[int]
    rank: int

    def sizes(self) -> tuple[int, int, int]:
        """How many nodes and outputs, and the rank: unlucky primes make them fewer, never more."""
        return len(self.nodes), len(self.outputs), self.rank


def find_pivots(
    A: Floats, C: Floats, state: Floats, observation: Floats, rows: Sequence[int]
) -> Pivots:
    """Pivots of the stored numbers; the better of two primes.

    Refuses networks of which λ and 1/λ (or ±1) are excited eigenvalues, so that one is not inside
    the circle: balls alone cannot tell an eigenvalue on the circle from one near it. As certain as
    a deficient rank is: unless two primes divide a non-zero integer.
    """
    masks = with_state_noise(C, state)
    noise_free = [row for row in rows if observation[row] == 0]
    noisy, best = sorted(set(rows) - set(noise_free)), Pivots([], [], [], 0)
    for prime in WORD_PRIMES:
        krylov = _krylov(A, masks, prime)
        nodes, columns = _independent_columns(krylov), _independent_columns(krylov.transpose())
        outputs = [noise_free[k] for k in _independent_columns(columns_of(krylov, noise_free))]
        driven = krylov if masks is C else _krylov(A, C, prime)
        rank = int(columns_of(driven, rows).rank())
        pivots = Pivots(nodes, columns, sorted(outputs + noisy), rank)
        best = max(best, pivots, key=Pivots.sizes)
        if best.rank == len(rows) and len(best.nodes) == len(A):
            break
    if best.nodes and all(_has_reciprocals(A, masks, best, prime) for prime in WORD_PRIMES):
        raise UnstableNetworkError(UNSTABLE)
    return best


def with_state_noise(C: Floats, state: Floats) -> Floats:
    """The masks of all inputs, of which state noise is one for each state that has it."""
    return np.hstack([C, np.diag(state)[:, state > 0]]) if state.any() else C


def _has_reciprocals(A: Floats, masks: Floats, pivots: Pivots, prime: int) -> bool:
    matrix = flint_matrix(A, prime)
    if len(pivots.nodes) < len(A):  # A on the pivot nodes is A[R] K (K[R])⁻¹
        K = rows_of(_krylov(A, masks, prime), pivots.columns).transpose()
        matrix = rows_of(matrix, pivots.nodes) * K * rows_of(K, pivots.nodes).inv()
    polynomial = matrix.charpoly()
    return bool(polynomial.gcd(polynomial.reverse()).degree() > 0)


def _krylov(A: Floats, V: Floats, prime: int) -> Any:
    """[V, AV, A²V, …] modulo a prime, as far as they add to the rank; a row for each column."""
    from flint import nmod_mat

    size, width = V.shape
    if width == 0:
        return nmod_mat(1, size, prime)
    matrix, block = flint_matrix(A, prime), flint_matrix(V, prime)
    rows: list[list[Any]] = []
    for count in (min(size, -(-size // width)), size):
        while len(rows) < width * count:
            rows += block.transpose().tolist()
            block = matrix * block
        krylov = nmod_mat(rows, prime)
        if krylov.rank() == size:
            break
    return krylov


def _independent_columns(matrix: Any) -> list[int]:
    """The first columns of a matrix of residues that are independent of those before them."""
    if matrix.nrows() == 0 or matrix.ncols() == 0:
        return []
    echelon, rank = matrix.rref()
    rows = echelon.tolist()[:rank]
    return [next(j for j, entry in enumerate(row) if entry != 0) for row in rows]
