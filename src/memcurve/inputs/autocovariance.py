"""Processes of finitely many lags: white noise, and given autocovariances.

Their spectral density is a cosine sum f(ω) = γ(0) + 2 Σ_{k≤M} γ(k) cos kω.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import require_number, require_size
from memcurve.core.types import EPS, Floats
from memcurve.inputs.process import InputProcess, frozen, real_vector

#: A shorter series says nothing about its autocovariance.
SHORTEST_SERIES = 10
#: Longest autocovariance. Doubled: seconds more to check that its density is not negative.
LARGEST_LAGS = 20_000
#: Grid points per period and lag on which extrema are looked for: no extremum is missed by more
#: than a fiftieth of the range. Doubled: nothing, Newton's steps find the rest.
OVERSAMPLING = 16
#: Extrema of the grid that are refined, the best ones. Doubled: nothing but time.
CANDIDATES = 256
#: Newton's steps for each of them. Doubled: nothing, they have converged.
STEPS = 5


@dataclass(frozen=True, eq=False, repr=False)
class Autocovariance(InputProcess):
    """A process with given autocovariances γ(0), …, γ(M), and zero beyond.

    Parameters
    ----------
    values : (M + 1,) array
        γ(0), γ(1), …, up to 20,000 lags. The spectral density f(ω) = γ(0) + 2 Σ_k γ(k) cos kω must
        be non-negative up to rounding: cutting off an autocovariance that has not yet decayed often
        violates that.
    taper : None or "parzen"
        Multiply γ(k) by Parzen's w(k/(M + 1)) first: w(x) = 1 − 6x² + 6x³ for x ≤ ½ and 2(1 − x)³
        for x > ½.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve import inputs
    >>> inputs.Autocovariance([2.0, 1.0]).density_bounds()[0]
    0.0
    >>> inputs.Autocovariance([1.0, 0.9, 0.5], taper="parzen").values.round(3)
    array([1.   , 0.5  , 0.037])

    Of a spectral density, γ is an inverse Fourier transform:

    >>> density = 2 + 2 * np.cos(np.linspace(0, np.pi, 65))
    >>> inputs.Autocovariance(np.fft.irfft(density)[:2]).values
    array([2., 1.])
    """

    values: Floats

    def __init__(self, values: ArrayLike, *, taper: str | None = None) -> None:
        gamma = real_vector(values, "values", least=1)
        lag = int(np.abs(gamma).argmax())
        if not gamma[0] > 0 or abs(gamma[lag]) > gamma[0]:
            raise ValueError(
                f"`values` must start with the variance γ(0) > 0, which no |γ(k)| exceeds, got "
                f"γ(0) = {gamma[0]:g} and γ({lag}) = {gamma[lag]:g}; list lags from 0 on, each "
                f"once."
            )
        if taper is not None:
            if not isinstance(taper, str) or taper != "parzen":
                raise ValueError(f"`taper` must be None or 'parzen', got {taper!r:.80}.")
            x = np.arange(len(gamma)) / len(gamma)
            gamma = gamma * np.where(x <= 0.5, 1 - 6 * x**2 * (1 - x), 2 * (1 - x) ** 3)
        gamma = gamma[: np.flatnonzero(gamma)[-1] + 1].copy()
        if len(gamma) > LARGEST_LAGS + 1:
            raise ValueError(
                f"`values` must have at most {LARGEST_LAGS} lags, got {len(gamma) - 1}; leave out "
                f"the last ones, with taper='parzen'."
            )
        correlation = gamma / gamma[0]
        omega, lowest = _minimum(correlation)
        if lowest < -_rounding(correlation):
            share = -lowest / _minimum(-correlation)[1]
            raise ValueError(
                f"`values` must be the autocovariance of a stationary process, but its spectral "
                f"density falls to {share:.3g} times its maximum at frequency ω = {omega:.4g}; "
                f"pass taper='parzen', which corrects for the cut, or estimate it "
                f"with Autocovariance.from_series."
            )
        object.__setattr__(self, "values", frozen(gamma))

    @staticmethod
    def from_series(
        series: ArrayLike, lags: int | None = None, *, taper: str | None = "parzen"
    ) -> Autocovariance:
        """Estimate the autocovariance of a recorded series.

        The biased estimate with the mean m removed, γ(k) = Σ_t (z_t − m)(z_{t+k} − m) / T, times
        the taper. It is non-negative definite with the taper, and without it if all T − 1
        lags are kept.

        Parameters
        ----------
        series : (T,) array
            The recording, at least 10 values.
        lags : int, optional
            The last lag M that is kept. The default is 10·log10(T), the usual choice for
            correlograms, or Andrews' (1991) bandwidth if that is larger: it minimises the mean
            square error of f at the peak of an AR(1) process with the same γ(1)/γ(0) = r. It is
            2.6614 (αT)^{1/5} with ``α = 4r²/(1 − |r|)⁴`` for Parzen's taper and 1.1447 (αT)^{1/3}
            with α = 4r²/(1 − r²)² for Bartlett's. Without a taper the default is T − 1.
        taper : "parzen" or None
            As for :class:`Autocovariance`.

        Examples
        --------
        >>> from memcurve import inputs
        >>> z = inputs.ARMA(ar=[0.8]).simulate(10_000, seed=1)
        >>> inputs.Autocovariance.from_series(z).name
        'autocovariance of 71 lags'
        """
        recorded = real_vector(series, "series", least=SHORTEST_SERIES)
        last = len(recorded) - 1
        if lags is not None and require_size(lags, "lags") > last:
            raise ValueError(
                f"`lags` must be at most T − 1 = {last}, got {lags}; give less, or a longer series."
            )
        gamma = _biased(recorded)
        if lags is None and taper is not None:
            r = min(abs(float(gamma[1] / gamma[0])), 1 - 1e-9)
            bandwidth = 2.6614 * (4 * r**2 / (1 - r) ** 4 * len(gamma)) ** (1 / 5)
            lags = int(np.ceil(max(10 * np.log10(len(gamma)), bandwidth - 1)))
        return Autocovariance(gamma if lags is None else gamma[: lags + 1], taper=taper)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lags={self.finite_lags}, variance={self.variance:g})"

    @property
    def name(self) -> str:
        return f"autocovariance of {self.finite_lags} lag{'s' * (self.finite_lags != 1)}"

    @property
    def variance(self) -> float:
        return float(self.values[0])

    @property
    def finite_lags(self) -> int:
        """The last lag M at which γ is not zero."""
        return len(self.values) - 1

    def density_bounds(self) -> tuple[float, float]:
        """Return the minimum and the maximum of f over all ω, rounded outward.

        They are off by the rounding of f, some ``ε·Σ_k (8 + |k|) |γ(k)|``; a minimum within that of
        zero is given as 0.
        """
        return self._extrema

    @cached_property
    def _extrema(self) -> tuple[float, float]:
        if self.is_white:
            return self.variance, self.variance
        slack = _rounding(self.values)
        lowest, highest = _minimum(self.values)[1] - slack, slack - _minimum(-self.values)[1]
        return max(0.0, lowest), highest

    def _autocovariance(self, count: int) -> Floats:
        listed = self.values[:count]
        return np.pad(listed, (0, count - len(listed)))

    def _draw(self, count: int, channels: int, rng: np.random.Generator) -> Floats:
        """Filter white noise on a circle so long that its two ends do not meet.

        A circle of L ≥ max(count + M, 2M + 1) points with autocovariance γ(k) + γ(L − k) has the
        spectrum f(2πj/L) ≥ 0, so its square root exists, and ``count`` consecutive points have
        autocovariance γ exactly.
        """
        from scipy.fft import next_fast_len

        lags = self.finite_lags
        size = 2 * next_fast_len((max(count + lags, 2 * lags + 1) + 1) // 2, real=True)
        gains = np.sqrt(np.maximum(_on_grid(self.values, size), 0))
        series = np.empty((count, channels))
        for column in series.T:
            noise = rng.standard_normal(size)
            column[:] = np.fft.irfft(gains * np.fft.rfft(noise), size)[:count]
        return series


@dataclass(frozen=True, eq=False, repr=False)
class White(Autocovariance):
    """White noise: γ(0) = ``variance``, γ(k) = 0 otherwise, f constant.

    Examples
    --------
    >>> from memcurve import inputs
    >>> inputs.White().autocovariance(3)
    array([1., 0., 0.])
    """

    def __init__(self, variance: float = 1.0) -> None:
        variance = require_number(variance, "variance", "above 0", lambda v: v > 0)
        object.__setattr__(self, "values", frozen(np.array([variance])))

    def __repr__(self) -> str:
        return f"White(variance={self.variance!r})"

    @property
    def name(self) -> str:
        return "white"

    def _draw(self, count: int, channels: int, rng: np.random.Generator) -> Floats:
        return rng.standard_normal((count, channels)) * float(np.sqrt(self.variance))


def _biased(series: Floats) -> Floats:
    from scipy.fft import next_fast_len

    if series.min() == series.max():
        raise ValueError(
            f"`series` must vary, got {len(series)} times {series[0]:g}; record a longer stretch."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        size = next_fast_len(2 * len(series), real=True)
        power = np.abs(np.fft.rfft(series - series.mean(), size)) ** 2
        gamma = np.fft.irfft(power, size)[: len(series)] / len(series)
    if not (np.isfinite(gamma).all() and gamma[0] > 0):
        raise ValueError(
            f"`series` must have squares within the range of float64, got values up to "
            f"{np.abs(series).max():g}; rescale it."
        )
    return np.clip(gamma, -gamma[0], gamma[0])


def _on_grid(gamma: Floats, size: int) -> Floats:
    """Return f(2πj/size), j = 0 … size/2, for ``size`` > 2M."""
    half = gamma.copy()
    half[0] /= 2
    return 2 * np.fft.rfft(half, size).real


def _rounding(gamma: Floats) -> float:
    """A bound on the rounding errors of f as computed here, that of γ itself included."""
    return float(4 * EPS * np.sum((8 + np.arange(len(gamma))) * np.abs(gamma)))


def _minimum(gamma: Floats) -> tuple[float, float]:
    """Return the ω in [0, π] where f is smallest, and f there.

    A grid finds the places that can hold the minimum: by Bernstein's inequality |f''| is at most
    M² times half the range of f, so the grid is off by no more than 2 % of the range. Newton's
    steps towards f' = 0, within one step of the grid, do the rest.
    """
    from numpy.polynomial.polynomial import polyval

    size = 1 << (OVERSAMPLING * len(gamma) - 1).bit_length()
    grid, step = _on_grid(gamma, size), 2 * np.pi / size
    padded = np.concatenate([grid[1:2], grid, grid[-2:-1]])
    local = (grid <= padded[:-2]) & (grid <= padded[2:])
    local &= grid <= grid.min() + 0.02 * np.ptp(grid)
    minima = np.flatnonzero(local)
    starts = step * minima[np.argsort(grid[minima], kind="stable")][:CANDIDATES].astype(float)
    lags = np.arange(len(gamma))
    moments = np.stack([gamma, lags * gamma, lags**2 * gamma], axis=1)
    omega, best = starts, (float(starts[0]), float(grid.min()))
    for _ in range(STEPS):
        sums = 2 * polyval(np.exp(-1j * omega), moments) - moments[0][:, None]
        height, slope, curvature = sums[0].real, sums[1].imag, -sums[2].real
        lowest = int(height.argmin())
        if height[lowest] < best[1]:
            best = float(abs(omega[lowest])), float(height[lowest])
        move = np.zeros(len(omega))
        np.divide(-slope, curvature, out=move, where=curvature > 0)
        omega = np.clip(omega + move, starts - step, starts + step)
    return min(best[0], 2 * np.pi - best[0]), best[1]
