"""The spectrum in closed form where every reachable node drives a single other one.

Let the nodes be 0, 1, …, n − 1, each driving the next with weight a_i ≠ 0, and the last one node t
(a tail of t nodes into a cycle of c = n − t) or nothing (a chain, t = n). Scaled to
y_i = x_i/(a_0⋯a_{i−1}), the network multiplies polynomials by z modulo z^t (z^c − p), where
p = a_t⋯a_{n−1}: state i stands for z^i, and the mask for m(z) = Σ_i C_i/(a_0⋯a_{i−1}) z^i. Hence

* the eigenvalues are t zeros and the c roots of λ^c = p, which are all different;
* rank = n − deg gcd(m, z^t (z^c − p)). For a single driven node m = 1 and the rank is n.

p is a product of stored numbers and is computed exactly; so is the question whether |p| < 1.
"""

from __future__ import annotations

import numpy as np

from memcurve.errors import unstable
from memcurve.network.graph import Walk
from memcurve.result import EPS, Complexes
from memcurve.solve.errors import uncertain_poles_sensitivity
from memcurve.solve.modes import Ring, Spectrum
from memcurve.solve.modular import dyadic


def walk_spectrum(walk: Walk) -> Spectrum:
    """The spectrum of a walk of which every mode is driven.

    Raises UnstableNetworkError where a mode has modulus one or more.
    """
    size, reachable = len(walk.order), np.sort(walk.order)
    if walk.tail == size:
        ring = Ring(size, 0, -np.inf, 1.0)
        return Spectrum(np.zeros(size, complex), size, size, reachable, 1.0, 0.0, 0.0, ring=ring)
    ring, negative, stable = _ring(walk)
    poles = ring_poles(ring, negative=negative)
    if not stable:
        raise unstable(float(np.abs(poles).max()))
    # an angle and a logarithm, each rounded
    relative = EPS * (8 + abs(ring.log_square / ring.length))
    sensitivity = uncertain_poles_sensitivity(poles, relative * np.abs(poles))
    return Spectrum(poles, size, size, reachable, float(size**-0.5), *sensitivity, ring=ring)


def ring_poles(ring: Ring, *, negative: bool) -> Complexes:
    """The zeros, then the c roots of p, a conjugate pair in two places next to each other."""
    radius = np.exp(ring.log_square / (2 * ring.length))
    steps = np.arange(ring.length // 2 + 1) * 2 + negative  # angles in units of π/c
    steps = steps[steps <= ring.length]
    is_real = (steps == 0) | (steps == ring.length)
    upper = radius * np.exp(1j * np.pi * (steps[~is_real] / ring.length))
    real = radius * np.where(steps[is_real] == 0, 1.0, -1.0)
    pairs = np.column_stack([upper, upper.conj()]).ravel()
    return np.concatenate([np.zeros(ring.tail), real, pairs])


def _ring(walk: Walk, bits: int = 192) -> tuple[Ring, bool, bool]:
    """The cycle of a walk, whether p is negative, and whether |p| < 1; both are exact."""
    from flint import arb, ctx, fmpz

    integers, exponents = dyadic(walk.weights[walk.tail :])
    distinct, counts = np.unique(np.abs(integers), return_counts=True)
    pairs = zip(distinct.tolist(), counts.tolist(), strict=True)
    factors = [fmpz(m) ** k for m, k in pairs]
    while len(factors) > 1:  # factors of like size: quickest
        rest = factors[-1:] if len(factors) % 2 else []
        factors = [a * b for a, b in zip(factors[::2], factors[1::2], strict=False)] + rest
    [m], e = factors, int(exponents.sum())  # |p| = m·2^e
    one = fmpz(1) << max(0, -e)
    with ctx.workprec(bits):
        stable = e < 0 and m < one
        if not stable:
            log_p, gap = arb((m, e)).log(), arb(0)
        elif 2 * m < one:
            log_p, gap = arb((m, e)).log(), 1 - arb((m, e))
        else:  # without cancellation
            gap = arb((one - m, e))
            log_p = (-gap).log1p()
        log_square, complement = float((2 * log_p).mid()), float((gap * (2 - gap)).mid())
    negative = bool(np.count_nonzero(integers < 0) % 2)
    return Ring(walk.tail, len(integers), log_square, complement), negative, stable
