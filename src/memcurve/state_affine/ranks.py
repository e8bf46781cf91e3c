"""The exact dimension that words reach, for the stored numbers, modulo primes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import Floats
from memcurve.solve import centred, flint_matrix, primes, residues
from memcurve.state_affine.network import StateAffineNetwork


class Reached(NamedTuple):
    """Words that form a basis of what all words reach, modulo a prime.

    ``words`` are pairs of a place in this list and a letter of
    :meth:`StateAffineNetwork.combinations` that is put before the word there, −1 for none.
    ``rows`` are states whose coordinates tell the words of the basis apart. ``outputs`` is the
    rank of what is read of them.
    """

    words: list[tuple[int, int]]
    rows: list[int]
    outputs: int

    @property
    def rank(self) -> int:
        """How many there are."""
        return len(self.words)


def reached_by_words(network: StateAffineNetwork) -> Reached:
    """The best of two primes; a prime can only miss words, by an accident of chance about 2N/p."""
    best: Reached | None = None
    most = network.size if network.outputs is None else network.outputs[1].shape[1]
    for prime in primes(max(network.size, len(network.functions), 2))[:2]:
        found = _modulo(network, prime)
        if found is not None and (best is None or found[0::2] > best[0::2]):
            best = found
        if best is not None and best.rank == network.size and best.outputs == most:
            break
    if best is None:
        raise UncertainResultError(
            "I − E p is singular modulo two primes, so that the mean of the states is unknown; "
            "scale `p` by a factor that is no power of two."
        )
    return best


def _modulo(network: StateAffineNetwork, prime: int) -> Reached | None:
    def mixed(rows: Floats, parts: Floats) -> Floats:
        flat = residues(parts.reshape(len(parts), -1), prime)
        return np.asarray(centred(rows @ flat, prime)).reshape(len(rows), *parts.shape[1:])

    weights = np.array([
        [int(f.numerator * pow(f.denominator, -1, prime) % prime) for f in row]
        for row in network.combinations()
    ], dtype=float)  # fmt: skip
    weights = centred(weights, prime)
    P, Q = mixed(weights, network.p), mixed(weights, network.q)
    size = network.size
    try:
        left = flint_matrix(centred(np.eye(size) - P[0], prime), prime)
        mean = _floats(left.solve(flint_matrix(Q[:1].T, prime)), prime)
    except ZeroDivisionError:
        return None
    drive = centred(centred((P[1:] @ mean)[:, :, 0], prime) + Q[1:], prime)
    E, rows, words = np.zeros((size, 0)), list[int](), list[tuple[int, int]]()
    W, names = drive.T, [(-1, k) for k in range(1, len(P))]
    reached = np.zeros((size, 0))
    while W.shape[1] and len(words) < size:
        rest = centred(W - centred(E @ W[rows], prime), prime)
        chosen = _pivots(flint_matrix(rest, prime).rref()[0])
        if not chosen:
            break
        echelon, _ = flint_matrix(rest[:, chosen].T, prime).rref()
        new, places = _floats(echelon, prime).T, _pivots(echelon)
        E = np.concatenate([centred(E - centred(new @ E[places], prime), prime), new], axis=1)
        first = len(words)
        words += [names[c] for c in chosen]
        rows += places
        W = W[:, chosen]
        reached = np.concatenate([reached, W], axis=1)
        names = [(first + j, k) for k in range(len(P)) for j in range(len(chosen))]
        W = np.concatenate([centred(one @ W, prime) for one in P], axis=1)
    return Reached(words, rows, _output_rank(network, reached, mean, mixed, weights, prime))


def _output_rank(
    network: StateAffineNetwork, reached: Floats, mean: Floats, mixed: Any, weights: Floats,
    prime: int,
) -> int:  # fmt: skip
    """Rank of the coefficients of outputs: those of O_k c for all words c, and of o_k."""
    if network.outputs is None:
        return int(reached.shape[1])
    out, direct = (mixed(weights, part) for part in network.outputs)
    single = centred(centred((out[1:] @ mean)[:, :, 0], prime) + direct[1:], prime)
    columns = [single.T, *(centred(one @ reached, prime) for one in out)]
    return int(flint_matrix(np.concatenate(columns, axis=1), prime).rank())


def _floats(matrix: Any, prime: int) -> Floats:
    entries = np.array([int(e) for e in matrix.entries()], dtype=float)
    return np.asarray(centred(entries.reshape(matrix.nrows(), matrix.ncols()), prime))


def _pivots(echelon: Any) -> list[int]:
    """Columns of the leading ones of a reduced echelon form."""
    table = np.array([int(e) for e in echelon.entries()]).reshape(echelon.nrows(), echelon.ncols())
    table = table[table.any(axis=1)]
    return [int(c) for c in (table != 0).argmax(axis=1)] if len(table) else []
