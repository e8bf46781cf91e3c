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

import numpy as np
from numpy.typing import NDArray

from memcurve.batch.backend import Array, Backend, Floats, blocks, to_host
from memcurve.errors import UncertainResultError
from memcurve.solve.modular import centred, krylov_terms, primes, recurrence

#: Bits of a float taken at a time: times a residue below 2³⁰ they are still exact.
DIGIT = 20
#: Fewer squarings cost more products with vectors: about the same time from here on, on CPU or GPU.
MOST_SQUARINGS = 5
_SEED = 20230501  # random but fixed: the same stack gives the same answer


def fully_excited(backend: Backend, A: Array, C: Floats) -> NDArray[np.bool_]:
    """Whether [C, AC, A²C, …] provably has full rank, for each network of A (B, N, N), C (B, N).

    True is a proof. False is none: the rank may be lower, or the primes unlucky.
    """
    stack, size = C.shape
    proven = np.zeros(stack, dtype=bool)
    rng = np.random.default_rng(_SEED)
    for prime in primes(size):
        vectors = rng.integers(1, prime, (2, size)).astype(float)
        open_cases = np.flatnonzero(~proven & C.any(axis=1))
        for own in blocks(len(open_cases), size):
            some = open_cases[own]
            sequences = _sequences(backend, backend.rows(A, some), C[some], vectors, prime)
            proven[some] = [len(recurrence(terms, prime)) == size + 1 for terms in sequences]
        if proven.all():
            break
    return proven


def _sequences(backend: Backend, A: Array, C: Floats, vectors: Floats, prime: int) -> Floats:
    """2N terms uᵀAᵏC of each network, with the same projection u and witness w for all."""
    xp = backend.xp
    stack, size = C.shape
    u, w = (
        centred(backend.put(np.broadcast_to(x, C.shape))[:, :, None], prime, xp) for x in vectors
    )
    v = residues(backend, backend.put(C), prime)[:, :, None]

    def product(a: Array, b: Array) -> Array:
        return centred(xp.matmul(a, b), prime, xp)

    def square(power: Array) -> Array:
        squared = product(power, power)
        off = centred(product(squared, w) - product(power, product(power, w)), prime, xp)
        if bool(to_host(xp.any(off != 0))):
            raise UncertainResultError(
                f"matrix products of {backend.name} on {backend.device} are not exact for integers "
                f"below 2**53, so that they cannot decide the rank. Switch the emulation of "
                f"float64 off, move `A` to the CPU, or take assume_controllable=True."
            )
        return squared

    squarings = min(round(math.log2(2 * size) / 2), MOST_SQUARINGS)
    terms = krylov_terms(residues(backend, A, prime), u, v, prime, square, squarings, xp)
    return to_host(terms).reshape(stack, -1)[:, : 2 * size]


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
        result = centred(result + digit * float(weight), prime, xp)
        largest = float(to_host(xp.max(xp.abs(x))))
    return result
