"""Zeros, poles and extrema of the spectral density of an ARMA process, in exact arithmetic.

Float64 coefficients are integers over a power of two. The density is a quotient B(x)/A(x) of
polynomials in x = cos ω with such coefficients, so its stationary points are the real roots of
the integer polynomial B'A − BA', isolated by FLINT however close together they lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Bits of the roots' first approximation, and of the last.
FIRST_PRECISION, LAST_PRECISION = 256, 1 << 15
#: Bits to which the extrema are computed before they are rounded outward.
EXTREMUM_BITS = 60


@dataclass(frozen=True)
class Roots:
    """Complex numbers ρ e^{iθ}, one an entry, kept as 1 − ρ and θ to full relative accuracy."""

    gaps: Floats
    angles: Floats

    def distances(self, omega: Floats) -> Floats:
        """Return Π |1 − ρ e^{iθ} e^{−iω}|² at each ω, each factor as (1−ρ)² + 4ρ sin²((ω−θ)/2)."""
        product = np.ones(len(omega))
        for gap, angle in zip(self.gaps.tolist(), self.angles.tolist(), strict=True):
            product *= gap**2 + 4 * (1 - gap) * np.sin((omega - angle) / 2) ** 2
        return product


def roots(coefficients: Floats) -> Roots:
    """Return the roots of z^n + c_1 z^{n−1} + … + c_n."""
    from flint import ctx, fmpz_poly

    integers, _ = _integers(coefficients)
    with ctx.workprec(FIRST_PRECISION):
        found = fmpz_poly(integers[::-1]).complex_roots()
        balls = [root for root, multiplicity in found for _ in range(multiplicity)]
        gaps = [float(1 - abs(root)) for root in balls]
        angles = [float(root.arg()) if root != 0 else 0.0 for root in balls]
    return Roots(np.array(gaps), np.array(angles))


def are_proportional(ar: Floats, ma: Floats) -> bool:
    """Whether |b(e^{iω})|² / |a(e^{iω})|² is one constant, decided exactly."""
    if len(ar) != len(ma):
        return False
    a, b = _correlation(_integers(-ar)[0]), _correlation(_integers(ma)[0])
    return all(a[0] * y == b[0] * x for x, y in zip(a, b, strict=True))


def extrema(ar: Floats, ma: Floats) -> tuple[float, float]:
    """Return the minimum and the maximum of f(ω), within rounding; a unit root of b gives 0."""
    from flint import ctx

    (a, a_shift), (b, b_shift) = _integers(-ar), _integers(ma)
    top, bottom = _in_cosine(_correlation(b)), _in_cosine(_correlation(a))
    shift = 2 * (a_shift - b_shift)
    stationary = top.derivative() * bottom - top * bottom.derivative()
    precision = FIRST_PRECISION + 4 * (len(a) + len(b))
    while precision <= LAST_PRECISION:
        with ctx.workprec(precision):
            bounds = _bounds(top, bottom, stationary, shift)
        if bounds is not None:
            return bounds
        precision *= 2
    raise ArithmeticError(f"f did not settle with {LAST_PRECISION} bits.")  # pragma: no cover


def _bounds(top: Any, bottom: Any, stationary: Any, shift: int) -> tuple[float, float] | None:
    from flint import arb, arb_poly

    vanishes = top(1) == 0 or top(-1) == 0
    vanishes = vanishes or bool(_roots_in_range(top.gcd(top.derivative())))
    above, below = arb_poly(top), arb_poly(bottom)
    scale = arb(2) ** shift
    values = [scale * above(x) / below(x) for x in [arb(-1), arb(1), *_roots_in_range(stationary)]]
    least = min(values, key=lambda value: value.lower())
    most = max(values, key=lambda value: value.upper())
    if most.rel_accuracy_bits() < EXTREMUM_BITS:
        return None
    if vanishes:
        return 0.0, float(most.upper())
    if least.rel_accuracy_bits() < EXTREMUM_BITS:
        return None
    return float(least.lower()), float(most.upper())


def _roots_in_range(polynomial: Any) -> list[Any]:
    """Return the real roots in [−1, 1] as balls, possibly with one just outside."""
    if polynomial.degree() < 1:
        return []
    real = [root.real for root, _ in polynomial.complex_roots() if root.imag == 0]
    return [x for x in real if not (x > 1 or x < -1)]


def _integers(coefficients: Floats) -> tuple[list[int], int]:
    """Return (1, c_1, …, c_n)·2^s as integers, and s."""
    ratios = [number.as_integer_ratio() for number in coefficients.tolist()]
    scale = max((denominator for _, denominator in ratios), default=1)
    integers = [scale, *(numerator * (scale // denominator) for numerator, denominator in ratios)]
    return integers, scale.bit_length() - 1


def _correlation(integers: list[int]) -> list[int]:
    size = len(integers)
    return [sum(integers[i] * integers[i + d] for i in range(size - d)) for d in range(size)]


def _in_cosine(correlation: list[int]) -> Any:
    """Return Σ_d c_{|d|} e^{idω} as an integer polynomial in x = cos ω."""
    from flint import fmpz_poly

    chebyshev, following = fmpz_poly([1]), fmpz_poly([0, 1])
    total = correlation[0] * chebyshev
    for coefficient in correlation[1:]:
        chebyshev, following = following, fmpz_poly([0, 2]) * following - chebyshev
        total += 2 * coefficient * chebyshev
    return total
