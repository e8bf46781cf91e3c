"""ARMA: autoregressive moving-average input, with zeros, poles and extrema in exact arithmetic.

Float64 coefficients are integers over a power of two. The density is a quotient B(x)/A(x) of
polynomials in x = cos ω with such coefficients, so its stationary points are the real roots of
the integer polynomial B'A − BA', isolated by FLINT however close together they lie.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.types import EPS, Floats
from memcurve.inputs.process import InputProcess, frozen, real_vector

#: Beyond these orders the exact arithmetic takes more than seconds.
LARGEST_ORDER = 100
#: Numbers that an error message lists.
SHOWN = 6
#: Bits of the roots' first approximation, and of the last.
FIRST_ROOT_BITS, LAST_ROOT_BITS = 256, 1 << 15
#: Bits to which the extrema are computed before they are rounded outward.
EXTREMUM_BITS = 60
#: Bits of the recursion's balls: the first try, and the last; beyond, a root counts as on the unit
#: circle.
FIRST_BITS, LAST_BITS = 128, 1 << 14
#: γ is computed to an absolute error of 2^{−GUARD} γ(0), far below the rounding to float64.
GUARD = 72

#: Complex numbers ρ e^{iθ}, kept as pairs of 1 − ρ and θ to full relative accuracy.
_Roots = list[tuple[float, float]]


@dataclass(frozen=True, eq=False, repr=False)
class ARMA(InputProcess):
    """Autoregressive moving-average process driven by unit white noise e,

        z_t = Σ_i ar[i−1] z_{t−i} + e_t + Σ_j ma[j−1] e_{t−j}.

    Parameters
    ----------
    ar : (p,) array
        Autoregressive weights. All roots of z^p − ar_1 z^{p−1} − … − ar_p must lie strictly inside
        the unit circle; that is decided for the numbers stored, however close the roots are.
    ma : (q,) array
        Moving-average weights, free; on or outside the unit circle the roots may lie too.

    Trailing zeros are dropped.

    Notes
    -----
    The spectral density is ``f(ω) = |1 + Σ_j ma_j e^{−ijω}|² / |1 − Σ_i ar_i e^{−iiω}|²``. γ, f and
    its bounds hold to a few units in the last place (γ relative to γ(0)) even next to the unit
    circle, where standard float64 recursions lose most digits.

    Examples
    --------
    >>> from memcurve import inputs
    >>> inputs.ARMA(ar=[0.5]).autocovariance(4) * 0.75
    array([1.   , 0.5  , 0.25 , 0.125])
    >>> inputs.ARMA(ma=[1.0]).spectral_density([0.0, 3.141592653589793])
    array([4., 0.])
    """

    ar: Floats
    ma: Floats

    def __init__(self, ar: ArrayLike = (), ma: ArrayLike = ()) -> None:
        for field, value in {"ar": ar, "ma": ma}.items():
            object.__setattr__(self, field, _weights(value, field))
        _require_stationary(self.ar)
        _ = self.variance  # refused where it is none

    def __repr__(self) -> str:
        return f"ARMA(ar={self.ar.tolist()}, ma={self.ma.tolist()})"

    @property
    def name(self) -> str:
        p, q = len(self.ar), len(self.ma)
        if p and q:
            return f"ARMA({p}, {q})"
        if not p and not q:
            return "white"
        kind, weights = ("AR", self.ar) if p else ("MA", self.ma)
        return f"{kind}({p + q})" + (f" {weights[0]:g}" if p + q == 1 else "")

    @cached_property
    def variance(self) -> float:
        variance = float(first_lags(self.ar, self.ma, GUARD)[0])
        if not np.isfinite(variance):
            raise ValueError(
                "`ar` and `ma` give a variance beyond the range of float64; scale `ma` down or "
                "move the roots of `ar` away from the unit circle."
            )
        return variance

    @cached_property
    def finite_lags(self) -> int | None:
        """Order q if there is no AR part, 0 if both parts cancel in f, else None.

        Parts that cancel partly, a common factor of a higher order, are not looked for.
        """
        if len(self.ar) == len(self.ma):  # whether f is one constant, decided exactly
            a, b = (_correlation(_integers(part)[0]) for part in (-self.ar, self.ma))
            if all(a[0] * y == b[0] * x for x, y in zip(a, b, strict=True)):
                return 0
        return None if len(self.ar) else len(self.ma)

    def density_bounds(self) -> tuple[float, float]:
        """Return the minimum and the maximum of f over all ω, rounded outward.

        Both come from the exact stationary points of f as a rational function of cos ω, and are
        widened by the rounding of :meth:`spectral_density`, whose values they enclose. Only a root
        of the moving average on the unit circle makes the minimum 0.
        """
        if self.is_white:
            return self.variance, self.variance
        least, most = self._extrema
        slack = 8 * (len(self.ar) + len(self.ma)) * EPS
        return least * (1 - slack), most * (1 + slack)

    @cached_property
    def _extrema(self) -> tuple[float, float]:
        """The minimum and the maximum of f(ω), within rounding; a unit root of b gives 0."""
        from flint import ctx

        (a, a_shift), (b, b_shift) = _integers(-self.ar), _integers(self.ma)
        top, bottom = _in_cosine(_correlation(b)), _in_cosine(_correlation(a))
        first = FIRST_ROOT_BITS + 4 * (len(a) + len(b))
        for precision in _doubled(first, LAST_ROOT_BITS):
            with ctx.workprec(precision):
                bounds = _bounds(top, bottom, 2 * (a_shift - b_shift))
            if bounds is not None:
                return bounds
        raise ArithmeticError(f"f did not settle with {LAST_ROOT_BITS} bits.")  # pragma: no cover

    @cached_property
    def _zeros_and_poles(self) -> tuple[_Roots, _Roots]:
        return _roots(self.ma), _roots(-self.ar)

    def _autocovariance(self, count: int) -> Floats:
        if self.is_white:
            return np.pad([self.variance], (0, count - 1))
        length = 1 << max(8, (count - 1).bit_length())  # few lengths, each computed once
        if length not in self._computed:
            self._computed[length] = _recursion(self.ar, self.ma, length)
        return self._computed[length][:count].copy()

    @cached_property
    def _computed(self) -> dict[int, Floats]:
        """Autocovariances by their lengths."""
        return {}

    def _density(self, omega: Floats) -> Floats:
        if self.is_white:
            return np.full(len(omega), self.variance)
        zeros, poles = (_distances(roots, omega) for roots in self._zeros_and_poles)
        return zeros / poles

    def _draw(self, count: int, channels: int, rng: np.random.Generator) -> Floats:
        """Draw the AR part u, then z_t = u_t + Σ_j ma_j u_{t−j}."""
        q = len(self.ma)
        series = rng.standard_normal((count + q, channels))
        if len(self.ar):
            self._autoregress(series)
        drawn = series[q:].copy()
        for lag, weight in enumerate(self.ma.tolist(), 1):
            drawn += weight * series[q - lag : q - lag + count]
        return drawn

    def _autoregress(self, series: Floats) -> None:
        """Turn white noise into the stationary AR process, in place.

        The first p values are drawn one after the other from their laws given those before; the
        best predictors' weights and variances make that exact.
        """
        from scipy.signal import lfilter

        p = len(self.ar)
        for m in range(min(p, len(series))):
            weights, deviation = self._predictors[m]
            series[m] = deviation * series[m] + weights @ series[:m][::-1]
        if len(series) <= p:
            return
        past = series[:p][::-1]  # the latest first
        state = np.array([self.ar[m:] @ past[: p - m] for m in range(p)])
        denominator = np.concatenate([[1.0], -self.ar])
        series[p:], _ = lfilter([1.0], denominator, series[p:], axis=0, zi=state)

    @cached_property
    def _predictors(self) -> list[tuple[Floats, float]]:
        """Weights φ^{(m)} and standard deviations σ_m, m = 0 … p − 1, to every digit of float64."""
        tiny = 2.0**-60
        for _, weights, variances in _predictors(self.ar):
            settled = [weight.rad() < tiny for order in weights for weight in order]
            if all(settled + [v.rad() < tiny * v.lower() for v in variances]):
                pairs = zip(weights[:-1], variances[:-1], strict=True)
                return [(np.array([float(w) for w in one]), float(v.sqrt())) for one, v in pairs]
        raise ArithmeticError(f"No predictors with {LAST_BITS} bits.")  # pragma: no cover


def _weights(value: ArrayLike, argument: str) -> Floats:
    weights = real_vector(value, argument)
    weights = frozen(weights[: len(np.trim_zeros(weights, "b"))].copy())
    if len(weights) > LARGEST_ORDER:
        raise ValueError(
            f"`{argument}` must have at most {LARGEST_ORDER} weights, got {len(weights)}; a long "
            f"filter is better given by its autocovariance, see inputs.Autocovariance."
        )
    return weights


def _require_stationary(ar: Floats) -> None:
    if any(True for _ in _predictors(ar)):
        return
    gaps = np.sort([gap for gap, _ in _roots(-ar)])
    weights = [str(weight) for weight in ar.tolist()]
    moduli = [
        f"1 + {-gap:.3g}" if 0 < -gap < 1e-6 else f"{1 - gap:.9g}"
        for gap in gaps[gaps <= EPS].tolist()
    ]
    raise ValueError(
        f"`ar` must be stationary: all roots of z^p − ar_1 z^(p−1) − … − ar_p strictly inside the "
        f"unit circle. Got ar = {_listed(weights)} with roots of modulus "
        f"{_listed(moduli)}; multiply ar_i by c^i, e.g. with c = {0.99 / (1 - gaps[0]):.3g}, which "
        f"shrinks every root by c."
    )


def _listed(words: list[str]) -> str:
    return ", ".join([*words[:SHOWN], *["…"] * (len(words) > SHOWN)])


def _distances(roots: _Roots, omega: Floats) -> Floats:
    """Return Π |1 − ρ e^{iθ} e^{−iω}|² at each ω, each factor as (1−ρ)² + 4ρ sin²((ω−θ)/2)."""
    product = np.ones(len(omega))
    for gap, angle in roots:
        product *= gap**2 + 4 * (1 - gap) * np.sin((omega - angle) / 2) ** 2
    return product


def _roots(coefficients: Floats) -> _Roots:
    """Return the roots of z^n + c_1 z^{n−1} + … + c_n."""
    from flint import ctx, fmpz_poly

    integers, _ = _integers(coefficients)
    with ctx.workprec(FIRST_ROOT_BITS):
        found = fmpz_poly(integers[::-1]).complex_roots()
        balls = [root for root, multiplicity in found for _ in range(multiplicity)]
        return [(float(1 - abs(z)), float(z.arg()) if z != 0 else 0.0) for z in balls]


def _bounds(top: Any, bottom: Any, shift: int) -> tuple[float, float] | None:
    """Extrema of 2^shift·top(x)/bottom(x) on [−1, 1]; None if more bits are needed."""
    from flint import arb, arb_poly

    stationary = top.derivative() * bottom - top * bottom.derivative()
    double = top.gcd(top.derivative())
    vanishes = top(1) == 0 or top(-1) == 0 or _roots_in_range(double)
    above, below = arb_poly(top), arb_poly(bottom)
    scale = arb(2) ** shift
    values = [scale * above(x) / below(x) for x in [arb(-1), arb(1), *_roots_in_range(stationary)]]
    least = min(values, key=lambda value: value.lower())
    most = max(values, key=lambda value: value.upper())
    needed = [most] if vanishes else [least, most]
    if any(value.rel_accuracy_bits() < EXTREMUM_BITS for value in needed):
        return None
    return 0.0 if vanishes else float(least.lower()), float(most.upper())


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


def _correlation(numbers: list[Any]) -> list[Any]:
    return [sum(map(mul, numbers, numbers[d:])) for d in range(len(numbers))]


def _in_cosine(correlation: list[Any]) -> Any:
    """Return Σ_d c_{|d|} e^{idω} as an integer polynomial in x = cos ω."""
    from flint import fmpz_poly

    chebyshev, following = fmpz_poly([1]), fmpz_poly([0, 1])
    total = correlation[0] * chebyshev
    for coefficient in correlation[1:]:
        chebyshev, following = following, fmpz_poly([0, 2]) * following - chebyshev
        total += 2 * coefficient * chebyshev
    return total


# --- Autocovariance by Levinson's recursion, in arithmetic precise enough.
#
# Close to the unit circle γ depends on the coefficients so strongly (by a factor 1/Π(1 − |root|)
# and more) that float64 steps lose most digits. Here they are balls whose radii say how many bits
# are needed.


def _doubled(first: int, last: int) -> Iterator[int]:
    """Precisions ``first``, 2·``first``, … up to ``last``."""
    while first <= last:
        yield first
        first *= 2


def _predictors(ar: Floats, extra: int = 0) -> Iterator[tuple[int, list[list[Any]], list[Any]]]:
    """Best linear predictions of an AR process with unit innovations from its last m values.

    Yields bits, the weights φ^{(m)}_1 … φ^{(m)}_m and the error's variances σ²_m, m = 0 … p, as
    balls, with ever more bits; nothing if the process is not stationary. From φ^{(p)} = ``ar`` and
    σ²_p = 1 down, with κ_m = φ^{(m)}_m: φ^{(m−1)}_i = (φ^{(m)}_i + κ_m φ^{(m)}_{m−i}) / (1 − κ_m²)
    and σ²_{m−1} = σ²_m / (1 − κ_m²). All roots lie inside the unit circle iff all |κ_m| < 1.
    """
    from flint import arb, ctx

    for precision in _doubled(extra + FIRST_BITS, extra + LAST_BITS):
        with ctx.workprec(precision):
            weights, variances = [[arb(number) for number in ar.tolist()]], [arb(1)]
            while current := weights[0]:
                reflection = current[-1]
                share = (1 - reflection) * (1 + reflection)
                if share <= 0:
                    return
                if not share > 0:  # undecided at this precision
                    break
                pairs = zip(current[:-1], current[-2::-1], strict=True)
                weights.insert(0, [(one + reflection * other) / share for one, other in pairs])
                variances.insert(0, variances[0] / share)
        if not current:
            yield precision, weights, variances


def first_lags(ar: Floats, ma: Floats, bits: int) -> list[Any]:
    """Return γ(0), …, γ(max(p, q)) as balls of radius below 2^{−bits} γ(0).

    γ of the AR part u follows upwards from the predictors,
    γ_u(m) = Σ_{i<m} φ^{(m−1)}_i γ_u(m − i) + κ_m σ²_{m−1}; then, with b = (1, ma),
    γ(k) = Σ_{i,j} b_i b_j γ_u(k + i − j).
    """
    from flint import arb, ctx

    for precision, weights, variances in _predictors(ar, bits):
        with ctx.workprec(precision):
            balls = _first_lags(weights, variances, ma)
            limit = balls[0].lower() * arb(2) ** -bits
            if balls[0] > 0 and all(ball.rad() < limit for ball in balls):
                return balls
    raise ArithmeticError(f"γ(0) did not settle with {LAST_BITS} bits.")  # pragma: no cover


def _first_lags(weights: list[list[Any]], variances: list[Any], ma: Floats) -> list[Any]:
    from flint import arb

    p, q = len(weights) - 1, len(ma)
    gamma = [variances[0]]
    for m in range(1, max(p, q) + q + 1):
        value = sum(map(mul, weights[min(m - 1, p)], reversed(gamma)), start=arb(0))
        gamma.append(value + weights[m][-1] * variances[m - 1] if m <= p else value)
    products, around = _correlation([arb(1), *map(arb, ma.tolist())]), range(-q, q + 1)
    return [
        sum((products[abs(d)] * gamma[abs(k - d)] for d in around), start=arb(0))
        for k in range(max(p, q) + 1)
    ]


def _recursion(ar: Floats, ma: Floats, count: int) -> Floats:
    """Return γ(0), …, γ(count − 1), each to an error of a few ε·γ(0).

    Beyond lag max(p, q), γ(k) = Σ_i ar_i γ(k − i), which spreads an error by the impulse response
    ψ of the AR part. As Σ|ψ_j| ≤ √(n Σψ_j²) over n lags, and Σψ_j² is the AR part's variance, the
    number of bits that the recursion needs is known beforehand. It runs on scaled integers.
    """
    from flint import ctx

    p = len(ar)
    spread = first_lags(ar, np.empty(0), 8)[0]
    gain = (p + 1) * (1 + float(np.abs(ar).sum())) * np.sqrt(float(count + 1))
    bits = GUARD + int(np.ceil(np.log2(gain))) + _exponent(spread) // 2 + 2
    balls = first_lags(ar, ma, bits)
    variance = float(balls[0])
    with ctx.workprec(bits + FIRST_BITS):
        rho = [_fixed_point(ball / balls[0], bits) for ball in balls]
    if p > 1:
        ratios = [number.as_integer_ratio() for number in ar.tolist()]
        _extend(rho, [(above << bits) // below for above, below in ratios], count, bits)
    known = np.array([r / (1 << bits) for r in rho[:count]])
    gamma = np.pad(known, (0, count - len(known)))
    if p == 1 and count > len(known):  # γ(k) = φ^{k−start} γ(start) from the last one known
        powers = np.power(ar[0], np.arange(1, count - len(known) + 1, dtype=float))
        gamma[len(known) :] = known[-1] * powers
    return variance * gamma


def _extend(rho: list[int], ar: list[int], count: int, bits: int) -> None:
    """Append to ``rho`` until it has ``count`` entries or has died down to its last bits."""
    p, half, small = len(ar), 1 << (bits - 1), 1 << 8
    backwards, window = ar[::-1], rho[-p:]
    for _ in range(count - len(rho)):
        value = (half + sum(map(mul, backwards, window))) >> bits
        rho.append(value)
        window = rho[-p:]
        if -small < value < small and max(map(abs, window)) < small:
            return


def _fixed_point(ball: Any, bits: int) -> int:
    """Round a ball's midpoint to an integer multiple of 2^{−bits}."""
    mantissa, exponent = map(int, ball.mid().man_exp())
    places = exponent + bits
    return mantissa << places if places >= 0 else mantissa >> -places


def _exponent(ball: Any) -> int:
    """Return an integer above log2 of a positive ball, which may be beyond the range of floats."""
    mantissa, exponent = map(int, ball.upper().mid().man_exp())
    return max(0, mantissa.bit_length() + exponent)
