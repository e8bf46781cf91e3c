"""The spectrum in closed form where every reachable node drives a single other one.

Let the nodes be 0, 1, …, n − 1, each driving the next with weight a_i ≠ 0, and the last one node t
(a tail of t nodes into a cycle of c = n − t) or nothing (a chain, t = n). Scaled to
y_i = x_i/(a_0⋯a_{i−1}), the network multiplies polynomials by z modulo z^t (z^c − p), where
p = a_t⋯a_{n−1}: state i stands for z^i, and the mask for m(z) = Σ_i C_i/(a_0⋯a_{i−1}) z^i. Hence

* the eigenvalues are t zeros and the c roots of λ^c = p, which are all different;
* rank = n − deg gcd(m, z^t (z^c − p)). For a single driven node m = 1 and the rank is n; for others
  it is n where m(λ) is clearly not zero for any of them, and left to be found elsewhere if not;
* the left eigenvector of λ is w_i = λ^i/(a_0⋯a_{i−1}), so that the mode is driven by m(λ).

p is a product of stored numbers and is computed exactly; so is the question whether |p| < 1.
"""

from __future__ import annotations

import numpy as np

from memcurve.errors import unstable
from memcurve.network.graph import DrivenPath
from memcurve.result import EPS, Complexes, Floats
from memcurve.solve.errors import uncertain_poles_sensitivity
from memcurve.solve.modes import CLEAR, LEAST_EXCITATION, Ring, Spectrum
from memcurve.solve.modular import dyadic


def walk_spectrum(walk: DrivenPath, mask: Floats) -> Spectrum | None:
    """The spectrum of a walk; None where floating point leaves a doubt which modes are driven.

    ``mask`` is that of all nodes. Raises where a driven mode has modulus one or more.
    """
    size, tail = len(walk.order), walk.tail
    reachable, C = np.sort(walk.order), mask[walk.order]
    driven = np.count_nonzero(C)
    if tail == size:
        margin = 1.0 if driven == 1 else float(_share_of_first(walk, C))
        if not margin > LEAST_EXCITATION:
            return None
        zeros = np.zeros(size, dtype=complex)
        ring = Ring(size, 0, -np.inf, 1.0)
        return Spectrum(zeros, size, size, reachable, margin, 0.0, 0.0, ring=ring)
    ring, negative, stable = _ring(walk)
    poles = ring_poles(ring, negative=negative)
    margin = float(size**-0.5)
    if driven > 1:
        margin = _least_excitation(walk, C, poles, ring, negative)
        if np.isnan(margin):
            return None
    if not stable:
        raise unstable(float(np.abs(poles).max()))
    # an angle and a logarithm, each rounded
    relative = EPS * (8 + abs(ring.log_square / ring.length))
    sensitivity = uncertain_poles_sensitivity(poles, relative * np.abs(poles))
    return Spectrum(poles, size, size, reachable, margin, *sensitivity, ring=ring)


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


def _ring(walk: DrivenPath, bits: int = 192) -> tuple[Ring, bool, bool]:
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


def _share_of_first(walk: DrivenPath, C: Floats) -> float:
    """|m(0)| relative to the coefficients of m; NaN where they leave the range of float64."""
    scaled, _ = _mask_polynomial(walk, C, 0.0)
    return abs(float(scaled[0])) / float(np.sqrt((scaled**2).sum()))


def _mask_polynomial(walk: DrivenPath, C: Floats, log_radius: float) -> tuple[Floats, float]:
    """Coefficients of m(r·z) for a radius r, up to a common factor, and their relative error."""
    sizes = np.log(np.abs(walk.weights[: len(C) - 1]))
    logs = np.concatenate([[0.0], np.cumsum(log_radius - sizes)])
    signs = np.concatenate([[1.0], np.cumprod(np.sign(walk.weights[: len(C) - 1]))])
    driven = C != 0
    size = np.where(driven, logs + np.log(np.abs(np.where(driven, C, 1.0))), -np.inf)
    # each of n logarithms and of their sums is rounded once
    error = EPS * len(C) * (4 + float(np.abs(logs).max() + np.abs(sizes).max(initial=0.0)))
    return np.where(driven, signs * np.sign(C) * np.exp(size - size.max()), 0.0), error


def _least_excitation(
    walk: DrivenPath, C: Floats, poles: Complexes, ring: Ring, negative: bool
) -> float:
    """The least excitation among the poles; NaN where one may be silent.

    m(λ) for all roots λ of p at once is a Fourier transform of m folded to c coefficients, since
    λ^{i+c} = p λ^i.
    """
    size, tail, length = len(C), ring.tail, ring.length
    scaled, error = _mask_polynomial(walk, C, ring.log_square / (2 * length))
    norm = float(np.sqrt((scaled**2).sum()))
    turns = np.arange(size) // length  # a whole turn brings the sign of p
    signs = np.where(negative & (turns % 2 == 1), -1.0, 1.0)
    folded = np.bincount(np.arange(size) % length, signs * scaled, minlength=length)
    twist = np.exp(1j * np.pi * negative * np.arange(length) / length)
    spectrum = np.fft.ifft(folded * twist) * length  # at the angles (2k + negative)π/c
    steps = np.angle(poles[tail:]) * (length / np.pi)
    places = np.rint((steps - negative) / 2).astype(np.intp) % length
    excitation = float(np.abs(spectrum[places]).min()) / (norm * size**0.5)
    zero_mode = abs(float(scaled[0])) / norm if tail else np.inf
    noise = error + 8 * EPS * np.log2(2 * length)
    if not zero_mode > LEAST_EXCITATION or not excitation > 10 * CLEAR * noise < np.inf:
        return np.nan
    return float(min(zero_mode, excitation))
