"""ARMA: autoregressive moving-average input, exact for its stored weights.

Close to the unit circle γ and f depend on the weights so strongly that float64 recursions lose most
digits. Here they are computed in FLINT's ball arithmetic, whose radii say how many bits are needed,
and the extrema of f from the exact roots of a polynomial in cos ω.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.types import EPS, Floats
from memcurve.inputs.process import InputProcess, frozen, real_vector

#: Most weights of each part. Doubled: exact arithmetic that takes more than seconds.
LARGEST_ORDER = 100
#: Bits of the first try. Doubled: nothing but time.
FIRST_BITS = 128
#: Bits of the last try: beyond, a root counts as on the unit circle. Doubled: nothing but time.
LAST_BITS = 1 << 14
#: Bits of roots. Doubled: nothing, float64 has 53.
ROOT_BITS = 256
#: γ is computed to an absolute error of γ(0) over two to this power, far below its rounding.
GUARD = 60


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
    circle.

    Examples
    --------
    >>> from memcurve import inputs
    >>> inputs.ARMA(ar=[0.5]).autocovariance(4) * 0.75
    array([1.   , 0.5  , 0.25 , 0.125])
    >>> inputs.ARMA(ma=[1.0]).density_bounds()[0]
    0.0
    """

    ar: Floats
    ma: Floats

    def __init__(self, ar: ArrayLike = (), ma: ArrayLike = ()) -> None:
        for field, value in {"ar": ar, "ma": ma}.items():
            weights = np.trim_zeros(real_vector(value, field), "b").copy()
            if len(weights) > LARGEST_ORDER:
                raise ValueError(
                    f"`{field}` must have at most {LARGEST_ORDER} weights, got {len(weights)}; a "
                    f"long filter is better given by its autocovariance, see inputs.Autocovariance."
                )
            object.__setattr__(self, field, frozen(weights))
        if next(_predictors(self.ar), None) is None:
            raise _not_stationary(self.ar)
        if not np.isfinite(self.variance):
            raise ValueError(
                "`ar` and `ma` give a variance beyond the range of float64; scale `ma` down or "
                "move the roots of `ar` away from the unit circle."
            )

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
        return float(first_lags(self.ar, self.ma, GUARD)[0])

    @property
    def finite_lags(self) -> int | None:
        """Order q if there is no AR part, else None."""
        return None if len(self.ar) else len(self.ma)

    def realization(self) -> tuple[Floats, Floats]:
        """F (order, order) and g of states s_t = F s_{t−1} + g e_t, the first of which is z_t."""
        order = max(len(self.ar), len(self.ma) + 1)
        F, g = np.eye(order, k=1), np.zeros((order, 1))
        F[: len(self.ar), 0] += self.ar
        g[: len(self.ma) + 1, 0] = [1.0, *self.ma]
        return F, g

    def density_bounds(self) -> tuple[float, float]:
        """Return the minimum and the maximum of f over all ω, rounded outward.

        Both come from the exact stationary points of f as a rational function of cos ω. Only a root
        of the moving average on the unit circle makes the minimum 0.
        """
        lowest, highest = self._extrema
        slack = 8 * (len(self.ar) + len(self.ma)) * EPS
        return lowest * (1 - slack), highest * (1 + slack)

    @cached_property
    def _extrema(self) -> tuple[float, float]:
        """Of f = B(x)/A(x), x = cos ω: at x = ±1 or where B'A = BA'; zero at a double root of B."""
        from flint import arb, ctx

        top, bottom = _in_cosine(self.ma), _in_cosine(-self.ar)
        stationary = top.derivative() * bottom - top * bottom.derivative()
        double = top.gcd(top.derivative())
        vanishes = top(1) == 0 or top(-1) == 0 or bool(_roots_in_range(double))
        for precision in _doubled(ROOT_BITS + 4 * (len(self.ar) + len(self.ma))):
            with ctx.workprec(precision):
                points = [arb(-1), arb(1), *_roots_in_range(stationary)]
                values = [_value(top, x) / _value(bottom, x) for x in points]
                lowest = min(values, key=lambda value: value.lower())
                highest = max(values, key=lambda value: value.upper())
                needed = [highest] if vanishes else [lowest, highest]
                if all(value.rel_accuracy_bits() >= GUARD for value in needed):
                    return 0.0 if vanishes else float(lowest.lower()), float(highest.upper())
        raise ArithmeticError(f"f did not settle with {LAST_BITS} bits.")  # pragma: no cover

    def _autocovariance(self, count: int) -> Floats:
        """Σ_k γ(k) x^k = n(x)/a(x), of which n has the degree max(p, q), as a power series."""
        from flint import arb_series, ctx

        if count <= len(self._listed[0]):
            return self._listed[0][:count].copy()
        length = 1 << max(8, (count - 1).bit_length())  # few lengths, each computed once
        degree, a, cap = max(len(self.ar), len(self.ma)), [1.0, *(-self.ar).tolist()], ctx.cap
        for bits in _doubled(GUARD + FIRST_BITS):
            balls = first_lags(self.ar, self.ma, bits)
            with ctx.workprec(bits + FIRST_BITS):
                ctx.cap = length
                try:
                    head = arb_series(balls, degree + 1) * arb_series(a, degree + 1)
                    gamma = list(arb_series(list(head), length) / arb_series(a, length))
                finally:
                    ctx.cap = cap
                if max(ball.rad() for ball in gamma) < balls[0] * 2.0**-GUARD:
                    listed = np.array([float(ball) for ball in gamma])
                    self._listed[0] = np.pad(listed, (0, length - len(listed)))
                    return self._listed[0][:count].copy()
        raise ArithmeticError(f"γ did not settle with {LAST_BITS} bits.")  # pragma: no cover

    @cached_property
    def _listed(self) -> list[Floats]:
        """The longest autocovariance so far."""
        return [np.empty(0)]

    def _draw(self, count: int, channels: int, rng: np.random.Generator) -> Floats:
        """Draw the AR part u, first by the best predictors, then z_t = u_t + Σ_j ma_j u_{t−j}."""
        from scipy.signal import lfilter

        p, q = len(self.ar), len(self.ma)
        series = rng.standard_normal((count + q, channels))
        for m, (weights, deviation) in enumerate(self._predictors[: len(series)]):
            series[m] = deviation * series[m] + weights @ series[:m][::-1]
        if 0 < p < len(series):
            past = series[:p][::-1]  # the latest first
            state = np.array([self.ar[m:] @ past[: p - m] for m in range(p)])
            series[p:], _ = lfilter([1.0], np.append(1.0, -self.ar), series[p:], axis=0, zi=state)
        return sum(
            (w * series[q - j : q - j + count] for j, w in enumerate(self.ma.tolist(), 1)),
            start=series[q:].copy(),
        )

    @cached_property
    def _predictors(self) -> list[tuple[Floats, float]]:
        """Weights φ^{(m)} and standard deviations σ_m, m = 0 … p − 1, to every digit of float64."""
        tiny = 2.0**-GUARD
        for _, weights, variances in _predictors(self.ar):
            settled = [weight.rad() < tiny for order in weights for weight in order]
            if all(settled + [v.rad() < tiny * v.lower() for v in variances]):
                pairs = zip(weights[:-1], variances[:-1], strict=True)
                return [(np.array([float(w) for w in one]), float(v.sqrt())) for one, v in pairs]
        raise ArithmeticError(f"No predictors with {LAST_BITS} bits.")  # pragma: no cover


def _not_stationary(ar: Floats) -> ValueError:
    from flint import ctx, fmpq_poly

    with ctx.workprec(ROOT_BITS):
        roots = fmpq_poly(_rationals(-ar)[::-1]).complex_roots()
        largest = max(float(abs(root)) for root, _ in roots)
    return ValueError(
        f"`ar` must be stationary: all roots of z^p − ar_1 z^(p−1) − … − ar_p strictly inside the "
        f"unit circle. Got roots of modulus up to {largest!r}; multiply ar_i by c^i, e.g. with "
        f"c = {0.99 / largest:.3g}, which shrinks every root by c."
    )


def _doubled(first: int) -> Iterator[int]:
    """Precisions ``first``, 2·``first``, … while they are affordable."""
    while first <= 2 * LAST_BITS:
        yield first
        first *= 2


def _rationals(coefficients: Floats) -> list[Any]:
    """(1, c_1, …, c_n) as rational numbers, which floats are."""
    from flint import fmpq

    return [fmpq(1), *(fmpq(*c.as_integer_ratio()) for c in coefficients.tolist())]


def _in_cosine(coefficients: Floats) -> Any:
    """|1 + Σ_j c_j e^{−ijω}|² as a polynomial in x = cos ω, exactly."""
    from flint import fmpq_poly, fmpz_poly

    c = _rationals(coefficients)
    total = fmpq_poly([sum(x * x for x in c)])
    for lag in range(1, len(c)):
        product = sum(x * y for x, y in zip(c, c[lag:], strict=False))
        total += 2 * product * fmpq_poly(fmpz_poly.chebyshev_t(lag))
    return total


def _roots_in_range(polynomial: Any) -> list[Any]:
    """The real roots in [−1, 1] as balls, possibly with one just outside."""
    if polynomial.degree() < 1:
        return []
    real = [root.real for root, _ in polynomial.complex_roots() if root.imag == 0]
    return [x for x in real if not (x > 1 or x < -1)]


def _value(polynomial: Any, x: Any) -> Any:
    from flint import arb_poly

    return arb_poly(polynomial)(x)


def _predictors(ar: Floats, extra: int = 0) -> Iterator[tuple[int, list[list[Any]], list[Any]]]:
    """Best linear predictions of an AR process with unit innovations from its last m values.

    Yields bits, the weights φ^{(m)}_1 … φ^{(m)}_m and the error's variances σ²_m, m = 0 … p, as
    balls, with ever more bits; nothing if the process is not stationary. From φ^{(p)} = ``ar`` and
    σ²_p = 1 down, with κ_m = φ^{(m)}_m: φ^{(m−1)}_i = (φ^{(m)}_i + κ_m φ^{(m)}_{m−i}) / (1 − κ_m²)
    and σ²_{m−1} = σ²_m / (1 − κ_m²). All roots lie inside the unit circle iff all |κ_m| < 1.
    """
    from flint import arb, ctx

    for precision in _doubled(extra + FIRST_BITS):
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

    p, q = len(ar), len(ma)
    for precision, weights, variances in _predictors(ar, bits):
        with ctx.workprec(precision):
            gamma = [variances[0]]
            for m in range(1, max(p, q) + q + 1):
                pairs = zip(weights[min(m - 1, p)], reversed(gamma), strict=False)
                value = sum((weight * past for weight, past in pairs), start=arb(0))
                gamma.append(value + weights[m][-1] * variances[m - 1] if m <= p else value)
            b = [arb(1), *map(arb, ma.tolist())]
            products = [sum(x * y for x, y in zip(b, b[d:], strict=False)) for d in range(q + 1)]
            balls = [
                sum((products[abs(d)] * gamma[abs(k - d)] for d in range(-q, q + 1)), start=arb(0))
                for k in range(max(p, q) + 1)
            ]
            limit = balls[0].lower() * arb(2) ** -bits
            if balls[0] > 0 and all(ball.rad() < limit for ball in balls):
                return balls
    raise ArithmeticError(f"γ(0) did not settle with {LAST_BITS} bits.")  # pragma: no cover
