"""The exact dimension that words reach, for the stored numbers, modulo primes."""

from typing import Any, NamedTuple

import numpy as np

from memcurve.core.types import Floats
from memcurve.network.modular import centred, flint_matrix, primes, residues
from memcurve.state_affine.network import StateAffineNetwork, no_mean


class Reached(NamedTuple):
    """Words that form a basis of what all words reach, modulo a prime."""

    words: list[tuple[int, int]]  # the place of a word here, or −1, and a letter put before it
    rows: list[int]  # states whose coordinates distinguish these words
    read: list[int]  # states or outputs that are read and that no others give

    @property
    def rank(self) -> int:
        """Dimension of the span of all words."""
        return len(self.words)

    @property
    def outputs(self) -> int:
        """The rank of what is read of them."""
        return len(self.read)


def reached_by_words(network: StateAffineNetwork) -> Reached:
    """The best of two primes; a prime can only miss words, by an accident of chance about 2N/p."""
    bases = []
    for prime in primes(max(network.size, len(network.functions), 2))[:2]:
        basis = _modulo(network, prime)
        bases += [basis] if basis is not None else []
        if basis and (basis.rank, basis.outputs) == (network.size, network.read_states):
            break
    if not bases:
        raise no_mean()  # an accident of chance N/p for each of the primes
    return max(bases, key=lambda basis: (basis.rank, basis.outputs))


def _modulo(network: StateAffineNetwork, prime: int) -> Reached | None:
    weights = centred(np.array([
        [float(f.numerator * pow(f.denominator, -1, prime) % prime) for f in row]
        for row in network.combinations()
    ]), prime)  # fmt: skip

    def letters(parts: Floats) -> Floats:
        flat = residues(parts.reshape(len(parts), -1), prime)
        return np.asarray(centred(weights @ flat, prime)).reshape(len(weights), *parts.shape[1:])

    P, Q, size = letters(network.p), letters(network.q), network.size
    try:
        left = flint_matrix(centred(np.eye(size) - P[0], prime), prime)
        mean = _floats(left.solve(flint_matrix(Q[:1].T, prime)), prime)
    except ZeroDivisionError:
        return None

    def driven(A: Floats, b: Floats) -> Floats:
        """Columns A_k μ + b_k for all letters but the first."""
        return np.asarray(centred(centred((A[1:] @ mean)[:, :, 0], prime) + b[1:], prime)).T

    E, rows, words = np.zeros((size, 0)), list[int](), list[tuple[int, int]]()
    W, names = driven(P, Q), [(-1, k) for k in range(1, len(P))]
    columns = np.zeros((size, 0))
    while W.shape[1] and len(words) < size:
        rest = centred(W - centred(E @ W[rows], prime), prime)
        chosen = _pivots(flint_matrix(rest, prime).rref()[0])
        if not chosen:
            break
        echelon, _ = flint_matrix(rest[:, chosen].T, prime).rref()
        new, pivots = _floats(echelon, prime).T, _pivots(echelon)
        E = np.concatenate([centred(E - centred(new @ E[pivots], prime), prime), new], axis=1)
        first = len(words)
        words += [names[c] for c in chosen]
        rows += pivots
        W = W[:, chosen]
        columns = np.concatenate([columns, W], axis=1)
        names = [(first + j, k) for k in range(len(P)) for j in range(len(chosen))]
        W = np.concatenate([centred(one @ W, prime) for one in P], axis=1)
    if network.readout is not None:
        read = [centred(residues(network.readout, prime) @ columns, prime)]
    elif network.outputs is not None:
        out, direct = map(letters, network.outputs)
        read = [driven(out, direct), *(centred(one @ columns, prime) for one in out)]
    else:
        return Reached(words, rows, rows)
    independent = flint_matrix(np.concatenate(read, axis=1).T, prime).rref()[0]
    return Reached(words, rows, _pivots(independent))


def _floats(matrix: Any, prime: int) -> Floats:
    entries = np.array([int(e) for e in matrix.entries()], dtype=float)
    return np.asarray(centred(entries.reshape(matrix.nrows(), matrix.ncols()), prime))


def _pivots(echelon: Any) -> list[int]:
    """Columns of the leading ones of a reduced echelon form."""
    table = np.array([int(e) for e in echelon.entries()]).reshape(echelon.nrows(), echelon.ncols())
    table = table[table.any(axis=1)]
    return [int(c) for c in (table != 0).argmax(axis=1)] if len(table) else []
