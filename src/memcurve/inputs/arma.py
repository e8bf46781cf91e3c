"""ARMA: autoregressive moving-average input, with zeros, poles and extrema in exact arithmetic.

Float64 coefficients are integers over a power of two. The density is a quotient B(x)/A(x) of
polynomials in x = cos ω with such coefficients, so its stationary points are the real roots of
the integer polynomial B'A − BA', isolated by FLINT however close together they lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.inputs import levinson
from memcurve.inputs.process import Floats, InputProcess, frozen, real_vector

#: Beyond these orders the exact arithmetic takes more than seconds.
LARGEST_ORDER = 100
#: Numbers that an error message lists.
SHOWN = 6
EPS = float(np.finfo(float).eps)
#: Bits of the roots' first approximation, and of the last.
FIRST_PRECISION, LAST_PRECISION = 256, 1 << 15
#: Bits to which the extrema are computed before they are rounded outward.
EXTREMUM_BITS = 60


@dataclass(frozen=True)
class _Roots:
    """Complex numbers ρ e^{iθ}, one an entry, kept as 1 − ρ and θ to full relative accuracy."""

    gaps: Floats
    angles: Floats

    def distances(self, omega: Floats) -> Floats:
        """Return Π |1 − ρ e^{iθ} e^{−iω}|² at each ω, each factor as (1−ρ)² + 4ρ sin²((ω−θ)/2)."""
        product = np.ones(len(omega))
        for gap, angle in zip(self.gaps.tolist(), self.angles.tolist(), strict=True):
            product *= gap**2 + 4 * (1 - gap) * np.sin((omega - angle) / 2) ** 2
        return product


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
    circle, where the usual float64 recursions lose most digits.

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
        _ = self.variance

    def __repr__(self) -> str:
        return f"ARMA(ar={self.ar.tolist()}, ma={self.ma.tolist()})"

    @property
    def name(self) -> str:
        """The kind, its orders, and the weight if there is but one."""
        p, q = len(self.ar), len(self.ma)
        if p and q:
            return f"ARMA({p}, {q})"
        if not p and not q:
            return "white"
        kind, weights = ("AR", self.ar) if p else ("MA", self.ma)
        return f"{kind}({p + q})" + (f" {weights[0]:g}" if p + q == 1 else "")

    @cached_property
    def variance(self) -> float:
        """γ(0)."""
        variance = float(levinson.first_lags(self.ar, self.ma, levinson.GUARD)[0])
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
        if _are_proportional(self.ar, self.ma):
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
        return _density_extrema(self.ar, self.ma)

    @cached_property
    def _poles(self) -> _Roots:
        return _roots(-self.ar)

    @cached_property
    def _zeros(self) -> _Roots:
        return _roots(self.ma)

    def _autocovariance(self, count: int) -> Floats:
        if self.is_white:
            return np.pad([self.variance], (0, count - 1))
        return levinson.autocovariance(self.ar, self.ma, count)

    def _density(self, omega: Floats) -> Floats:
        if self.is_white:
            return np.full(len(omega), self.variance)
        return self._zeros.distances(omega) / self._poles.distances(omega)

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
        """Weights φ^{(m)} and standard deviations σ_m, m = 0 … p − 1."""
        lattice = levinson.settled_predictors(self.ar)
        return [
            (np.array([float(w) for w in weights]), float(variance.sqrt()))
            for weights, variance in zip(lattice.weights, lattice.variances, strict=True)
        ][:-1]


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
    if levinson.is_stationary(ar):
        return
    gaps = np.sort(_roots(-ar).gaps)
    weights = [str(weight) for weight in ar.tolist()]
    moduli = [_modulus(gap) for gap in gaps[gaps <= EPS].tolist()]
    raise ValueError(
        f"`ar` must be stationary: all roots of z^p − ar_1 z^(p−1) − … − ar_p strictly inside the "
        f"unit circle. Got ar = {_listed(weights)} with roots of modulus "
        f"{_listed(moduli)}; multiply ar_i by c^i, e.g. with c = {0.99 / (1 - gaps[0]):.3g}, which "
        f"shrinks every root by c."
    )


def _modulus(gap: float) -> str:
    return f"1 + {-gap:.3g}" if 0 < -gap < 1e-6 else f"{1 - gap:.9g}"


def _listed(words: list[str]) -> str:
    return ", ".join([*words[:SHOWN], *["…"] * (len(words) > SHOWN)])


def _roots(coefficients: Floats) -> _Roots:
    """Return the roots of z^n + c_1 z^{n−1} + … + c_n."""
    from flint import ctx, fmpz_poly

    integers, _ = _integers(coefficients)
    with ctx.workprec(FIRST_PRECISION):
        found = fmpz_poly(integers[::-1]).complex_roots()
        balls = [root for root, multiplicity in found for _ in range(multiplicity)]
        gaps = [float(1 - abs(root)) for root in balls]
        angles = [float(root.arg()) if root != 0 else 0.0 for root in balls]
    return _Roots(np.array(gaps), np.array(angles))


def _are_proportional(ar: Floats, ma: Floats) -> bool:
    """Whether |b(e^{iω})|² / |a(e^{iω})|² is one constant, decided exactly."""
    if len(ar) != len(ma):
        return False
    a, b = _correlation(_integers(-ar)[0]), _correlation(_integers(ma)[0])
    return all(a[0] * y == b[0] * x for x, y in zip(a, b, strict=True))


def _density_extrema(ar: Floats, ma: Floats) -> tuple[float, float]:
    """Return the minimum and the maximum of f(ω), within rounding; a unit root of b gives 0."""
    from flint import ctx

    (a, a_shift), (b, b_shift) = _integers(-ar), _integers(ma)
    top, bottom = _in_cosine(_correlation(b)), _in_cosine(_correlation(a))
    shift = 2 * (a_shift - b_shift)
    stationary = top.derivative() * bottom - top * bottom.derivative()
    first = FIRST_PRECISION + 4 * (len(a) + len(b))
    for precision in levinson.doubled(first, LAST_PRECISION):
        with ctx.workprec(precision):
            bounds = _bounds(top, bottom, stationary, shift)
        if bounds is not None:
            return bounds
    raise ArithmeticError(f"f did not settle with {LAST_PRECISION} bits.")  # pragma: no cover


def _bounds(top: Any, bottom: Any, stationary: Any, shift: int) -> tuple[float, float] | None:
    from flint import arb, arb_poly

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
