"""Autocovariance of ARMA processes: Levinson's recursion in arithmetic precise enough.

Close to the unit circle γ depends on the coefficients so strongly (by a factor 1/Π(1 − |root|)
and more) that float64 steps lose most digits. Here they are balls whose radii say how many bits
are needed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Bits of the balls: the first try, and the last; beyond, a root counts as on the unit circle.
FIRST_PRECISION, LAST_PRECISION = 128, 1 << 14
#: γ is computed to an absolute error of 2^{−GUARD} γ(0), far below the rounding to float64.
GUARD = 72


def doubled(first: int, last: int) -> Iterator[int]:
    """Precisions ``first``, 2·``first``, … up to ``last``."""
    while first <= last:
        yield first
        first *= 2


class UndecidedError(ArithmeticError):
    """The balls are too wide at this precision."""


@dataclass(frozen=True)
class Predictors:
    """Best linear predictions of an AR process with unit innovations from its last m values.

    ``weights[m]`` are φ^{(m)}_1 … φ^{(m)}_m, ``variances[m]`` is the error's variance σ²_m, for
    m = 0 … p, all as balls. σ²_0 is the variance of the process itself, σ²_p = 1.
    """

    weights: list[list[Any]]
    variances: list[Any]


def predictors(ar: Floats, precision: int) -> Predictors | None:
    """Step down from φ^{(p)} = ``ar``; None if a reflection coefficient has modulus ≥ 1.

    With κ_m = φ^{(m)}_m: φ^{(m−1)}_i = (φ^{(m)}_i + κ_m φ^{(m)}_{m−i}) / (1 − κ_m²) and
    σ²_{m−1} = σ²_m / (1 − κ_m²). All roots lie inside the unit circle iff all |κ_m| < 1.
    """
    from flint import arb, ctx

    with ctx.workprec(precision):
        weights, variances = [[arb(number) for number in ar.tolist()]], [arb(1)]
        for _ in range(len(ar)):
            current, reflection = weights[0], weights[0][-1]
            share = (1 - reflection) * (1 + reflection)
            if share <= 0:
                return None
            if not share > 0:
                raise UndecidedError
            pairs = zip(current[:-1], current[-2::-1], strict=True)
            weights.insert(0, [(one + reflection * other) / share for one, other in pairs])
            variances.insert(0, variances[0] / share)
        return Predictors(weights, variances)


def is_stationary(ar: Floats) -> bool:
    """Whether all roots of z^p − ar_1 z^{p−1} − … − ar_p lie strictly inside the unit circle."""
    for precision in doubled(FIRST_PRECISION, LAST_PRECISION):
        with contextlib.suppress(UndecidedError):
            return predictors(ar, precision) is not None
    return False


def settled_predictors(ar: Floats) -> Predictors:
    """Return the predictors of a stationary process with every digit of float64 right."""
    tiny = 2.0**-60
    for precision in doubled(FIRST_PRECISION, LAST_PRECISION):
        with contextlib.suppress(UndecidedError):
            lattice = predictors(ar, precision)
            if lattice is None:
                continue
            settled = [weight.rad() < tiny for order in lattice.weights for weight in order]
            settled += [v.rad() < tiny * v.lower() for v in lattice.variances]
            if all(settled):
                return lattice
    raise ArithmeticError(f"No predictors with {LAST_PRECISION} bits.")  # pragma: no cover


def first_lags(ar: Floats, ma: Floats, bits: int) -> list[Any]:
    """Return γ(0), …, γ(max(p, q)) as balls of radius below 2^{−bits} γ(0).

    γ of the AR part u follows upwards from the predictors,
    γ_u(m) = Σ_{i<m} φ^{(m−1)}_i γ_u(m − i) + κ_m σ²_{m−1}; then, with b = (1, ma),
    γ(k) = Σ_{i,j} b_i b_j γ_u(k + i − j).
    """
    from flint import arb, ctx

    for precision in doubled(bits + FIRST_PRECISION, bits + LAST_PRECISION):
        with ctx.workprec(precision), contextlib.suppress(UndecidedError):
            balls = _first_lags(ar, ma, precision)
            limit = balls[0].lower() * arb(2) ** -bits
            if balls[0] > 0 and all(ball.rad() < limit for ball in balls):
                return balls
    raise ArithmeticError(f"γ(0) did not settle with {LAST_PRECISION} bits.")  # pragma: no cover


def _first_lags(ar: Floats, ma: Floats, precision: int) -> list[Any]:
    from flint import arb

    p, q = len(ar), len(ma)
    lattice = predictors(ar, precision)
    if lattice is None:
        raise UndecidedError
    gamma = [lattice.variances[0]]
    for m in range(1, max(p, q) + q + 1):
        weights = lattice.weights[min(m - 1, p)]
        value = sum((w * gamma[m - i] for i, w in enumerate(weights, 1)), start=arb(0))
        if m <= p:
            value += lattice.weights[m][-1] * lattice.variances[m - 1]
        gamma.append(value)
    b = [arb(1), *map(arb, ma.tolist())]
    products = [
        sum((b[i] * b[i + d] for i in range(q + 1 - d)), start=arb(0)) for d in range(q + 1)
    ]
    return [
        sum((products[abs(d)] * gamma[abs(k - d)] for d in range(-q, q + 1)), start=arb(0))
        for k in range(max(p, q) + 1)
    ]


def autocovariance(ar: Floats, ma: Floats, count: int) -> Floats:
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
    with ctx.workprec(bits + FIRST_PRECISION):
        rho = [_fixed_point(ball / balls[0], bits) for ball in balls]
    if p == 1 and count > len(rho):
        start = len(rho) - 1  # γ(k) = φ^{k−start} γ(start)
        powers = np.power(ar[0], np.arange(1, count - start, dtype=float))
        tail = (rho[start] / (1 << bits)) * powers
        return variance * np.concatenate([[r / (1 << bits) for r in rho], tail])
    if p > 1:
        ratios = [number.as_integer_ratio() for number in ar.tolist()]
        _extend(rho, [(above << bits) // below for above, below in ratios], count, bits)
    gamma = np.zeros(count)
    known = min(count, len(rho))
    gamma[:known] = [r / (1 << bits) for r in rho[:known]]
    return variance * gamma


def _extend(rho: list[int], ar: list[int], count: int, bits: int) -> None:
    """Append to ``rho`` until it has ``count`` entries or has died down to its last bits."""
    p, half, small = len(ar), 1 << (bits - 1), 1 << 8
    backwards, window = ar[::-1], rho[-len(ar) :]
    for _ in range(count - len(rho)):
        value = half
        for weight, past in zip(backwards, window, strict=True):
            value += weight * past
        value >>= bits
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
    mantissa, exponent = ball.upper().mid().man_exp()
    return max(0, int(mantissa).bit_length() + int(exponent))
