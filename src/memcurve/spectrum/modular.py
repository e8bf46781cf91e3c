"""The exact rank of the Krylov matrix of stored floats, by arithmetic modulo a prime.

Float64 numbers are dyadic rationals, so modulo an odd prime p the question "what is the degree r of
the minimal polynomial of C with respect to A" has an exact answer. It follows from 2n terms of the
scalar sequence uᵀAᵏC, u random (Wiedemann 1986), whose shortest linear recurrence is found by the
Berlekamp–Massey algorithm. The degree modulo p never exceeds the true one and is below it only by
accident (probability about 2n/p); other primes are tried whenever it is below n.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PRIMES_TO_TRY = 3
_SEED = 20230501  # the projection is random but fixed: the same network gives the same answer


class MinimalDegree(NamedTuple):
    """Degree of the minimal polynomial of C with respect to A, and its multiplicity at zero."""

    degree: int
    zeros: int


def minimal_degree(A: Any, C: NDArray[np.float64]) -> MinimalDegree:
    """Return the exact degree for the stored numbers of a dense or sparse A and one mask C (n,)."""
    size = len(C)
    best = MinimalDegree(0, 0)
    if not C.any():
        return best
    rng = np.random.default_rng(_SEED)
    for prime in primes(size):
        found = _degree_modulo(A, C, prime, rng)
        # an unlucky prime lowers the degree or raises the multiplicity, never the reverse
        best = max(best, found, key=lambda d: (d.degree, -d.zeros))
        if best.degree == size:
            break
    return best


def nonzero_eigenvalue_count(A: NDArray[np.float64]) -> int:
    """Number of non-zero eigenvalues of the stored A, with multiplicity: the rank of Aⁿ."""
    from flint import nmod_mat

    size = len(A)
    best = 0
    for prime in primes(size)[:2]:
        power = residues(A, prime)
        for _ in range(max(1, (size - 1).bit_length())):
            power = centred(power @ power, prime)
        entries = (power % prime).astype(np.int64).ravel().tolist()
        best = max(best, int(nmod_mat(size, size, entries, prime).rank()))
    return best


def _degree_modulo(
    A: Any, C: NDArray[np.float64], prime: int, rng: np.random.Generator
) -> MinimalDegree:
    from flint import fmpz_mod_ctx, fmpz_mod_poly_ctx

    u = centred(rng.integers(1, prime, len(C)).astype(float), prime)
    v = residues(C, prime)
    if isinstance(A, np.ndarray):
        sequence = _dense_sequence(residues(A, prime), u, v, prime)
    else:
        reduced = A.copy()
        reduced.data = residues(A.data, prime)
        sequence = _sparse_sequence(reduced, u, v, prime)
    ring = fmpz_mod_poly_ctx(fmpz_mod_ctx(prime))
    polynomial = ring.minpoly([int(term) for term in sequence % prime])
    coefficients = [int(c) for c in polynomial.coeffs()]
    zeros = next((k for k, c in enumerate(coefficients) if c), 0)
    return MinimalDegree(len(coefficients) - 1, zeros)


def _dense_sequence(
    A: NDArray[np.float64], u: NDArray[np.float64], v: NDArray[np.float64], prime: int
) -> NDArray[np.float64]:
    """2n terms uᵀAᵏv as (uᵀAⁱ)(A^{bj}v), i < b: about 2·√(2n) products and log₂ b squarings."""
    terms = 2 * len(v)
    steps = max(0, round(np.log2(terms) / 2))
    left = _powers_times(A.T, u, 2**steps, prime)
    for _ in range(steps):
        A = centred(A @ A, prime)
    right = _powers_times(A, v, -(-terms // 2**steps), prime)
    return np.ravel(centred(right.T @ left, prime))[:terms]


def _powers_times(A: Any, v: NDArray[np.float64], count: int, prime: int) -> NDArray[np.float64]:
    columns = np.empty((len(v), count))
    for k in range(count):
        columns[:, k] = v
        v = centred(A @ v, prime)
    return columns


def _sparse_sequence(
    A: Any, u: NDArray[np.float64], v: NDArray[np.float64], prime: int
) -> NDArray[np.float64]:
    sequence = np.empty(2 * len(v))
    for k in range(len(sequence)):
        sequence[k] = centred(u @ v, prime)
        v = centred(A @ v, prime)
    return sequence


def centred(x: Any, prime: int) -> Any:
    """Reduce integers held in float64 to residues of modulus at most p/2."""
    return x - prime * np.rint(x / prime)


def dyadic(x: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Integers m and exponents e with x = m·2^e exactly."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(mantissa, 53).astype(np.int64), exponent.astype(np.int64) - 53


def residues(x: NDArray[np.float64], prime: int) -> NDArray[np.float64]:
    """Map float64 numbers m·2^e to centred residues modulo an odd prime."""
    integer, exponent = dyadic(x)
    lowest = int(exponent.min(initial=0))
    powers = [pow(2, lowest, prime)]
    for _ in range(int(exponent.max(initial=lowest)) - lowest):
        powers.append(2 * powers[-1] % prime)
    product = integer % prime * np.array(powers, dtype=np.int64)[exponent - lowest] % prime
    return np.asarray(centred(product.astype(float), prime))


def primes(size: int) -> list[int]:
    """Large primes p for which a dot product of centred residues stays an exact float64.

    Not next to a power of two, where many floats would coincide modulo p.
    """
    from flint import fmpz

    # size·(p/2 + 1)² < 2^53, and products of two residues in int64 need p < 2^31
    bound = int(0.8137 * min(2**30, int(2 * (2**53 / size) ** 0.5) - 8))
    found: list[int] = []
    candidate = bound - 1 + bound % 2
    while len(found) < PRIMES_TO_TRY and candidate > 2:
        if fmpz(candidate).is_prime():
            found.append(candidate)
        candidate -= 2
    return found
