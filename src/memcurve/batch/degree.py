"""Proof that a mask excites every mode, on the device: arithmetic modulo a prime.

Stored floats are dyadic rationals, so the minimal polynomial of C with respect to A can be asked
for modulo an odd prime p, see :mod:`memcurve.solve.modular`. Its degree there never exceeds the
true one: degree N modulo *one* prime proves that the rank is N, for the stored numbers.

Centred residues held in float64 make a matrix product exact (no sum reaches 2⁵³). Matrix products
of a device need not be what they seem, as some emulate float64, so each squaring is checked with a
random vector: (A²)w = A(Aw) modulo p, which a wrong square passes with probability 1/p.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.batch.backend import Array, Backend, spans, to_host
from memcurve.errors import UncertainResultError
from memcurve.solve.modular import primes

#: Bits of a float taken at a time: times a residue below 2³⁰ they are still exact.
DIGIT = 20
#: Entries of the matrices looked at together, which bounds the memory it takes.
TOGETHER = 2**26
#: Fewer squarings cost more products with vectors: about the same time from here on, on CPU or GPU.
MOST_SQUARINGS = 5
_SEED = 20230501  # random but fixed: the same stack gives the same answer


def fully_excited(backend: Backend, A: Array, C: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether [C, AC, A²C, …] provably has full rank, for each network of A (B, N, N), C (B, N).

    True is a proof. False is none: the rank may be lower, or the primes unlucky.
    """
    stack, size = C.shape
    proven = np.zeros(stack, dtype=bool)
    together = max(1, TOGETHER // size**2)
    rng = np.random.default_rng(_SEED)
    for prime in primes(size):
        projection = rng.integers(1, prime, size).astype(float)
        witness = rng.integers(1, prime, size).astype(float)
        open_cases = np.flatnonzero(~proven & C.any(axis=1))
        for own in spans(len(open_cases), together):
            some = open_cases[own]
            sequences = _sequences(
                backend, backend.rows(A, some), C[some], projection, witness, prime
            )
            proven[some] = [_degree(terms, prime) == size for terms in sequences]
        if proven.all():
            break
    return proven


def _degree(terms: NDArray[np.float64], prime: int) -> int:
    """Length of the shortest linear recurrence of a sequence modulo p (Berlekamp–Massey)."""
    from flint import fmpz_mod_ctx, fmpz_mod_poly_ctx

    ring = fmpz_mod_poly_ctx(fmpz_mod_ctx(prime))
    return int(ring.minpoly([int(term) for term in terms % prime]).degree())


def _sequences(
    backend: Backend,
    A: Array,
    C: NDArray[np.float64],
    projection: NDArray[np.float64],
    witness: NDArray[np.float64],
    prime: int,
) -> NDArray[np.float64]:
    """2N terms uᵀAᵏC of each network, as (uᵀAⁱ)(A^{bj}C), i < b: 2·√(2N) products, log₂ b squares.

    One prime, one projection u and one witness w for all networks.
    """
    xp = backend.xp
    stack, size = C.shape
    terms = 2 * size
    squarings = min(round(math.log2(terms) / 2), MOST_SQUARINGS)
    ones = np.ones((stack, 1))
    u = centred(backend, backend.put(ones * projection)[:, :, None], prime)
    w = centred(backend, backend.put(ones * witness)[:, :, None], prime)
    reduced = residues(backend, A, prime)
    left = _powers_times(backend, xp.matrix_transpose(reduced), u, 2**squarings, prime)
    for _ in range(squarings):
        square = centred(backend, xp.matmul(reduced, reduced), prime)
        twice = centred(backend, xp.matmul(reduced, w), prime)
        twice = centred(backend, xp.matmul(reduced, twice), prime)
        at_once = centred(backend, xp.matmul(square, w), prime)
        if bool(to_host(xp.any(centred(backend, twice - at_once, prime) != 0))):
            raise UncertainResultError(
                f"matrix products of {backend.name} on {backend.device} are not exact for integers "
                f"below 2**53, so that they cannot decide the rank. Switch the emulation of "
                f"float64 off, move `A` to the CPU, or take assume_controllable=True."
            )
        reduced = square
    v = residues(backend, backend.put(C), prime)[:, :, None]
    right = _powers_times(backend, reduced, v, -(-terms // 2**squarings), prime)
    products = centred(backend, xp.matmul(xp.matrix_transpose(right), left), prime)
    return to_host(products).reshape(stack, -1)[:, :terms]


def _powers_times(backend: Backend, A: Array, v: Array, count: int, prime: int) -> Array:
    """[v, Av, …, A^{count−1}v] modulo p, (B, N, count)."""
    columns = [v]
    for _ in range(count - 1):
        columns.append(centred(backend, backend.xp.matmul(A, columns[-1]), prime))
    return backend.xp.concat(columns, axis=2)


def centred(backend: Backend, x: Any, prime: int) -> Any:
    """Reduce integers held in float64 to residues of modulus at most about p/2."""
    return x - prime * backend.xp.round(x / prime)


def residues(backend: Backend, x: Array, prime: int) -> Array:
    """Map float64 numbers to centred residues modulo an odd prime, exactly.

    Digits to the base 2²⁰ are taken off from the top, x = d·2^e + rest with |d| ≤ 2²⁰, each step
    without rounding, until nothing is left; the residue is the sum of d·(2^e mod p). Where the
    device flushes subnormal numbers to zero, they count as zero.
    """
    xp = backend.xp
    result = xp.zeros_like(x)
    largest = float(to_host(xp.max(xp.abs(x))))
    exponent = DIGIT * math.ceil(math.frexp(largest)[1] / DIGIT)
    while largest > 0:
        exponent = max(exponent - DIGIT, -1074)
        unit = math.ldexp(1.0, exponent)
        digit = xp.trunc(x / unit)
        x = x - digit * unit
        weight = pow(2, exponent, prime)
        weight -= prime if 2 * weight > prime else 0
        result = centred(backend, result + digit * float(weight), prime)
        largest = float(to_host(xp.max(xp.abs(x))))
    return result
