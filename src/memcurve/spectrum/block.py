"""Rank of the block Krylov matrix [C, AC, A²C, …] of several inputs, exact for the stored numbers.

If a single combination of the inputs excites every mode, so do all of them together; that settles
the generic case as for one input. Otherwise the matrix is built modulo a prime, twice as many
powers at a time, [X, A^{2^k} X], with only the independent columns kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UnstableNetworkError
from memcurve.spectrum.modes import screen
from memcurve.spectrum.modular import PRIMES_TO_TRY, centred, primes, residues

Floats = NDArray[np.float64]

_SEED = 20230501


def block_rank(A: Any, C: Floats) -> int:
    """Rank for a pair (n, n), (n, d) whose states are all reachable; A dense or sparse."""
    weights = np.random.default_rng(_SEED).uniform(0.5, 1.5, C.shape[1])
    scale = np.abs(C).max(axis=0)
    combination = C @ (weights / np.where(scale > 0, scale, 1.0))
    if combination.any():
        with np.errstate(all="ignore"):
            look = screen(A, combination)
        if look.unstable_radius is not None:
            raise UnstableNetworkError(
                f"the network is unstable: its inputs excite an eigenvalue of modulus "
                f"{look.unstable_radius:.6g}, so that the states grow without bound. Scale `A` "
                f"below spectral radius 1."
            )
        if look.sure:
            return len(C)
    dense = A if isinstance(A, np.ndarray) else A.toarray()
    best = 0
    for prime in primes(len(C))[:PRIMES_TO_TRY]:
        best = max(best, krylov_basis_modulo(dense, C, prime).shape[1])
        if best == len(C):
            break
    return best


def krylov_basis_modulo(A: Floats, C: Floats, prime: int) -> Floats:
    """Independent columns that span the block Krylov space modulo a prime.

    Their number is never above the true rank.
    """
    power, X = residues(A, prime), _independent_columns(residues(C, prime), prime)
    powers = 1
    while powers < len(A) and X.shape[1] < len(A):
        X = _independent_columns(np.hstack([X, centred(power @ X, prime)]), prime)
        power = centred(power @ power, prime)
        powers *= 2
    return X


def _independent_columns(X: Floats, prime: int) -> Floats:
    from flint import nmod_mat

    rows, columns = X.shape
    entries = (X % prime).astype(np.int64).ravel().tolist()
    echelon, rank = nmod_mat(rows, columns, entries, prime).rref()
    if rank == columns:
        return X
    reduced = np.array([int(x) for x in echelon.entries()], dtype=np.int64).reshape(rows, columns)
    pivots = [int(np.flatnonzero(row)[0]) for row in reduced[:rank]]
    return X[:, pivots]


def rows_rank(A: Floats, C: Floats, rows: NDArray[np.intp], rank: int) -> int:
    """Rank of some rows of the Krylov matrix, whose own rank is ``rank``."""
    if len(rows) == len(C):
        return rank
    best = 0
    for prime in primes(len(C))[:PRIMES_TO_TRY]:
        columns = krylov_basis_modulo(A, C, prime)[rows]
        best = max(best, _independent_columns(columns, prime).shape[1])
        if best == min(len(rows), rank):
            break
    return best
