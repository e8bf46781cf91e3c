"""Poles whose memory curve is close to a wanted one.

For many poles MC_τ is the share of frequencies whose group delay g(θ) exceeds τ, so that g is the
quantile function of the wanted curve: poles lie at the quantiles of g, at a distance from the
circle in proportion to their spacing. From there on, damped least squares (Levenberg–Marquardt)
over second-order sections::

    (z² + a₁z + a₂)/(1 + a₁z + a₂z²),    a₂ = k₂,  a₁ = k₁(1 + k₂),  k = tanh x

which are a conjugate pair or two real poles, and always stable. On the unit circle a section is
z² D̄/D, so that ∂log/∂a₁ = −2i Im(z/D) and ∂log/∂a₂ = −2i Im(z²/D): a Jacobian is one Fourier
transform for each parameter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from memcurve.core.types import SEED, Complexes, Floats

#: Points of the Fourier transform for every lag that is fitted. Doubled: twice the time; halved,
#: heavy tails wrap around and spoil the fit.
GRID = 8
#: Numbers in all Jacobians of a fit together, n·M each. Doubled: twice the time, and gaps some
#: hundredths smaller.
WORK = 3.5e7
#: Distances of the poles from the circle, in units of their spacing, that are tried as a start.
#: More of them: hardly ever a better fit.
DISTANCES = (0.15, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4)
#: Up to so many poles random starts are tried, too. Doubled: some seconds more, better fits.
FEW_POLES = 20
#: From so many poles on the best start alone is followed. Doubled: designs of them take longer.
MANY_POLES = 30
#: After least squares so many starts are followed on. Doubled: twice the time for few poles.
BEST_STARTS = 3
#: Exponents of the norms that are made small one after another. Doubled: closer to the largest
#: distance, and harder to make small.
EXPONENTS = (2.0, 6.0, 20.0)
#: Largest |x|: poles keep a distance of 1 − tanh x from the circle, 1e-5. Doubled: on it.
MOST = 6.0


class _Sections(NamedTuple):
    """Parameters k₁, k₂ of sections, and the real pole that is left over where n is odd."""

    k1: Floats
    k2: Floats
    real: Floats

    @classmethod
    def of(cls, x: Floats) -> _Sections:
        k, pairs = np.tanh(x), len(x) // 2
        return cls(k[:pairs], k[pairs : 2 * pairs], k[2 * pairs :])

    def poles(self) -> Complexes:
        """The roots of z² + a₁z + a₂, in pairs, and the real pole."""
        half, product = -self.k1 * (1 + self.k2) / 2, self.k2
        square = half**2 - product
        root = np.sqrt(np.abs(square))
        # of two real roots the larger first: the other one by the product, without cancellation
        large = half + np.copysign(root, half)
        with np.errstate(all="ignore"):
            small = np.where(large != 0, product / large, 0.0)
        first = np.where(square >= 0, large + 0j, half + 1j * root)
        second = np.where(square >= 0, small + 0j, half - 1j * root)
        return np.concatenate([first, second, self.real + 0j])


def placed(wanted: Floats, size: int, distance: float) -> Floats:
    """Parameters x of poles at the quantiles of the wanted group delay."""
    share = (np.arange(4000) + 0.5) / 4000  # θ/π
    survival = np.concatenate([[1.0], wanted, [0.0]])
    lag = np.arange(len(survival)) * 1.0
    # the largest delay at the lowest frequency: survival(g) = θ/π
    ascending = survival[::-1] + 1e-12 * np.arange(len(survival))
    delay = np.maximum(np.interp(share, ascending, lag[::-1]), 0.02)
    quantile = np.cumsum(delay)
    pairs = size // 2
    angle = np.interp((np.arange(pairs) + 0.5) / max(pairs, 1), quantile / quantile[-1], share)
    spacing = 2 * np.pi / np.maximum(np.interp(angle, share, delay), 0.3)
    radius = np.clip(np.exp(-distance * spacing), 0.02, 0.9999)
    k1, k2 = -2 * radius * np.cos(np.pi * angle) / (1 + radius**2), radius**2
    k = np.clip(np.concatenate([k1, k2]), -0.99999, 0.99999)
    rest = np.full(size % 2, np.clip(np.exp(-distance * 2 * np.pi / delay[0]), 0.1, 0.99))
    return np.asarray(np.arctanh(np.concatenate([k, rest])))


class CurveFit:
    """Curves of sections, and their derivatives, at the lags of a wanted curve."""

    def __init__(self, wanted: Floats) -> None:
        from scipy.fft import next_fast_len

        self.wanted = wanted
        self.points = next_fast_len(max(GRID * len(wanted), 1024) // 2) * 2
        self.z = np.exp(2j * np.pi * np.arange(self.points // 2 + 1) / self.points)

    def response(self, x: Floats) -> tuple[Floats, Complexes, Complexes, Complexes, _Sections]:
        """b_0, b_1, …, and what its derivatives take: B, 1/D of the pairs and of the real pole."""
        k = _Sections.of(x)
        z, a1 = self.z, k.k1 * (1 + k.k2)
        pairs = 1 / (1 + a1[:, None] * z + k.k2[:, None] * z**2)
        real = 1 / (1 - k.real[:, None] * z)
        B = (pairs / pairs.conj()).prod(axis=0) * (real / real.conj()).prod(axis=0)
        B *= z ** len(x)
        return np.fft.irfft(B.conj(), self.points), B, pairs, real, k

    def residual(self, x: Floats) -> Floats:
        """Reached minus wanted, lag by lag."""
        b = self.response(x)[0]
        return np.asarray(1 - np.cumsum(b[: len(self.wanted)] ** 2) - self.wanted)

    def jacobian(self, x: Floats) -> tuple[Floats, Floats]:
        """The residual, and its derivatives (n, lags)."""
        b, B, pairs, real, k = self.response(x)
        lags, z = len(self.wanted), self.z
        first, second = (z * pairs).imag, (z**2 * pairs).imag
        slopes = np.concatenate(
            [first * (1 + k.k2)[:, None], first * k.k1[:, None] + second, -(z * real).imag]
        )
        changes = np.fft.irfft((-2j * B * slopes).conj(), self.points, axis=1)[:, :lags]
        J = -2 * np.cumsum(b[:lags] * changes, axis=1) * (1 - np.tanh(x) ** 2)[:, None]
        return 1 - np.cumsum(b[:lags] ** 2) - self.wanted, J


def fitted(wanted: Floats, size: int) -> Complexes:
    """Poles whose curve is close to the wanted one at every lag of it."""
    fit = CurveFit(wanted)
    starts = [placed(wanted, size, distance) for distance in DISTANCES]
    starts.sort(key=lambda x: float(np.square(fit.residual(x)).sum()))
    steps = int(np.clip(WORK / (size * fit.points), 20, 90))
    if size <= FEW_POLES:  # which have more local optima, and take no time
        rng = np.random.default_rng(SEED)
        starts += list(1.2 * rng.standard_normal((4 * FEW_POLES // size + 10, size)))
    elif size > MANY_POLES:
        starts = starts[:1]
    ends = [_descended(fit, x, steps, EXPONENTS[:1]) for x in starts]
    ends.sort(key=lambda end: end[0])
    ends = [_descended(fit, x, steps, EXPONENTS[1:]) for _, x in ends[:BEST_STARTS]]
    return _Sections.of(min(ends, key=lambda end: end[0])[1]).poles()


def _descended(
    fit: CurveFit, x: Floats, steps: int, exponents: tuple[float, ...]
) -> tuple[float, Floats]:
    """The smallest largest distance on the way to where these norms are small; its x."""
    best = np.inf, x
    for exponent in exponents:
        damping, power = 1e-2, exponent / 2
        for _ in range(steps // len(EXPONENTS)):
            r, J = fit.jacobian(x)
            largest = float(np.abs(r).max())
            best = min(best, (largest, x), key=lambda one: one[0])
            # Gauss and Newton's step for Σ|r|^exponent, as the squares of |r|^power
            size = np.abs(r) / largest
            slopes, bent = J / largest * (power * size ** (power - 1)), np.sign(r) * size**power
            normal, gradient = slopes @ slopes.T, slopes @ bent
            for _ in range(6):
                matrix = normal + damping * np.diag(np.diag(normal) + 1e-9)
                change = np.clip(np.linalg.solve(matrix, gradient), -1, 1)
                moved = np.clip(x - change, -MOST, MOST)
                after = (np.abs(fit.residual(moved)) / largest) ** exponent
                if float(after.sum()) < float(np.square(bent).sum()):
                    x, damping = moved, damping / 5
                    break
                damping *= 6
            else:
                break
    return min(best, (float(np.abs(fit.residual(x)).max()), x), key=lambda one: one[0])
