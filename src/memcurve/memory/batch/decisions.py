"""What is decided about a stack before its curves are computed, on the device.

**Rank**: does the mask provably excite every mode? Stored floats are dyadic rationals, so the
minimal polynomial of C with respect to A can be asked for modulo an odd prime p, see
:mod:`memcurve.solve.modular`. Its degree there never exceeds the true one: degree N modulo *one*
prime proves that the rank is N, for the stored numbers.

Centred residues held in float64 make a matrix product exact (no sum reaches 2⁵³). Matrix products
of a device need not be what they seem, as some emulate float64, so each squaring is checked with a
random vector: (A²)w = A(Aw) modulo p, which a wrong square passes with probability 1/p.

**Rounding**: how far does it move the curves, by way of the eigenvalues? The bound of
:mod:`memcurve.solve.errors` for each network as a whole, in coordinates where rows and columns are
alike in size, as eigenvalue solvers choose them. Networks for which such are not found, or that
have a node without connections, have no bound here.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, SEED, Complexes, Floats
from memcurve.network.backend import Array, Backend, blocks, to_host
from memcurve.solve import (
    BACKWARD_ERROR,
    FIRST_ORDER,
    SMALL_REST,
    centred,
    krylov_terms,
    primes,
    recurrence,
)

#: Bits of a float taken at a time: times a residue below 2³⁰ they are still exact. Doubled: not.
DIGIT = 20
#: Fewer squarings cost more products with vectors. Doubled: about the same time, on CPU or GPU.
MOST_SQUARINGS = 5
#: Sweeps of balancing. Doubled: time where it never settles.
SWEEPS = 40
#: Doublings of the number of powers that are summed. Doubled: time where they never decay.
MOST_DOUBLINGS = 60


def fully_excited(backend: Backend, A: Array, C: Floats) -> NDArray[np.bool_]:
    """Whether [C, AC, A²C, …] provably has full rank, for each network of A (B, N, N), C (B, N).

    True is a proof. False is none: the rank may be lower, or the primes unlucky.
    """
    stack, size = C.shape
    proven = np.zeros(stack, dtype=bool)
    rng = np.random.default_rng(SEED)
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
                f"float64 off, or move `A` to the CPU."
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


def scaling(backend: Backend, A: Array) -> tuple[Floats | None, NDArray[np.bool_]]:
    """Factors d (B, N) for which A_ij·d_j/d_i is balanced, and whether it is, (B,).

    Balanced as LAPACK has it: the norms of a row and of its column, without the diagonal, differ
    by less than a factor of two. None where A is balanced as it stands.
    """
    xp = backend.xp
    stack, size, _ = A.shape
    exponents, balanced = np.zeros((stack, size)), np.ones(stack, dtype=bool)
    squares = A * A * (1 - xp.eye(size, dtype=A.dtype, device=backend.device))
    for _ in range(SWEEPS if size > 1 else 0):  # of one node the eigenvalue is the entry
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.log2(to_host(xp.sum(squares, axis=2)) / to_host(xp.sum(squares, axis=1)))
        balanced = np.all(np.abs(ratio) < 2, axis=1)
        moving = np.isfinite(ratio).all(axis=1) & ~balanced
        if not moving.any():
            break
        # a quarter would even out one node alone, half of that all at once
        step = np.where(moving[:, None], ratio, 0.0) / 8
        exponents += step
        factor = backend.put(4.0**step)
        squares = squares * (factor[:, None, :] / factor[:, :, None])
    return (2.0**exponents if exponents.any() else None), balanced


def pole_sensitivities(backend: Backend, A: Array) -> Floats:
    """Bound on |δMC_τ|/√(min(MC_τ, 1 − MC_τ)) of balanced networks; infinite if not known."""
    stack, size, _ = A.shape
    if size == 1:
        return np.zeros(stack)
    norm = np.sqrt(to_host(backend.xp.sum(A * A, axis=(1, 2))))
    rounding = (BACKWARD_ERROR * np.sqrt(size) + EPS) * norm  # that of scaling A, too
    with np.errstate(over="ignore", invalid="ignore"):
        squares, norms = power_norms(backend, A)
        bound = 4 * rounding * np.sqrt(squares)
        return np.where(rounding * norms <= FIRST_ORDER, bound, np.inf)


def eigenvalues_fit(backend: Backend, A: Array, poles: Complexes) -> NDArray[np.bool_]:
    """Whether Σλ = tr A and Σλ² = tr A² up to rounding, for each network of a balanced stack.

    Some libraries return what they have where an eigenvalue solver failed, and say nothing. With
    the backward error δA, |tr δA| ≤ √N‖δA‖_F and |tr(A + δA)² − tr A²| ≤ 2‖A‖_F‖δA‖_F + ‖δA‖_F².
    """
    xp, size = backend.xp, poles.shape[1]
    norm = np.sqrt(to_host(xp.sum(A * A, axis=(1, 2))))
    rounding = 2 * BACKWARD_ERROR * np.sqrt(size) * norm  # of the sums here, too
    traces = [
        xp.sum(xp.linalg.diagonal(A), axis=-1),
        xp.sum(A * xp.matrix_transpose(A), axis=(1, 2)),
    ]
    first, second = (np.abs((poles**k).sum(axis=1) - to_host(t)) for k, t in enumerate(traces, 1))
    fits = (first <= np.sqrt(size) * rounding) & (second <= 3 * norm * rounding)
    return np.asarray(fits | (norm == 0))


def power_norms(backend: Backend, A: Array) -> tuple[Floats, Floats]:
    """Σ_{k≥0} ‖Aᵏ‖_F² and Σ_{k≥0} ‖Aᵏ‖_F from above, infinite where they do not settle.

    X ← X + PᵀXP, P ← P² adds the second half of 2^j powers at once.
    """
    xp, (stack, size, _) = backend.xp, A.shape
    squares, norms = np.full(stack, np.inf), np.full(stack, np.inf)
    X = xp.eye(size, dtype=A.dtype, device=backend.device) + xp.matmul(xp.matrix_transpose(A), A)
    trace = to_host(xp.sum(xp.linalg.diagonal(X), axis=-1))
    total, added = np.sqrt(size) + np.sqrt(np.maximum(trace - size, 0)), 1
    for _ in range(MOST_DOUBLINGS):
        A = xp.matmul(A, A)
        rest = to_host(xp.sum(A * A, axis=(1, 2)))  # at most this share of the sum is left
        done = (rest <= SMALL_REST) & np.isinf(squares)
        squares[done] = trace[done] / (1 - rest[done])
        norms[done] = total[done] / (1 - np.sqrt(rest[done]))
        if np.all(np.isfinite(squares) | ~np.isfinite(rest)):
            break
        X = X + xp.matmul(xp.matmul(xp.matrix_transpose(A), X), A)
        added *= 2
        before, trace = trace, to_host(xp.sum(xp.linalg.diagonal(X), axis=-1))
        total = total + np.sqrt(added * np.maximum(0.0, trace - before))
    return squares, norms
