"""Autocovariance: an input given by its first autocovariances, or estimated from a recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from memcurve.arguments import require_size, table_entry
from memcurve.inputs import trigonometric
from memcurve.inputs.finite import FiniteLags
from memcurve.inputs.process import Floats, frozen, real_vector
from memcurve.inputs.tapers import TAPERS, tapered

#: A shorter series says nothing about its autocovariance.
SHORTEST_SERIES = 10


@dataclass(frozen=True, eq=False, repr=False)
class Autocovariance(FiniteLags):
    """A process with given autocovariances γ(0), …, γ(M), and zero beyond.

    Parameters
    ----------
    values : (M + 1,) array
        γ(0), γ(1), …. The spectral density f(ω) = γ(0) + 2 Σ_k γ(k) cos kω must be non-negative up
        to rounding: cutting off an autocovariance that has not yet decayed often violates that.
    taper : None, "bartlett" or "parzen"
        Multiply γ(k) by w(k/(M + 1)) first: w(x) = 1 − x, or 1 − 6x² + 6x³ for x ≤ ½ and
        2(1 − x)³ for x > ½.

    Attributes
    ----------
    values : (M + 1,) array
        The autocovariance after tapering, without trailing zeros.

    Examples
    --------
    >>> from memcurve import inputs
    >>> inputs.Autocovariance([2.0, 1.0]).density_bounds()[0]
    0.0
    >>> inputs.Autocovariance([1.0, 0.9, 0.5], taper="bartlett").values.round(3)
    array([1.   , 0.6  , 0.167])
    """

    def __init__(self, values: ArrayLike, *, taper: str | None = None) -> None:
        gamma = real_vector(values, "values", least=1)
        _require_bounded(gamma)
        if taper is not None:
            table_entry(TAPERS, taper, "taper")
        flaw = _flaw(_finished(gamma, taper))
        if flaw:
            raise ValueError(
                f"`values` must be the autocovariance of a stationary process, but {flaw}; "
                f"{_remedy(gamma, taper)}."
            )
        object.__setattr__(self, "values", frozen(_finished(gamma, taper)))

    @property
    def name(self) -> str:
        """The number of lags."""
        return f"autocovariance of {self.finite_lags} lag{'s' * (self.finite_lags != 1)}"

    @classmethod
    def from_series(
        cls, series: ArrayLike, lags: int | None = None, *, taper: str | None = "parzen"
    ) -> Self:
        """Estimate the autocovariance of a recorded series.

        The biased estimate with the mean m removed, γ(k) = Σ_t (z_t − m)(z_{t+k} − m) / T, times
        the taper. It is non-negative definite with either taper, and without one if all T − 1
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
        taper : "parzen", "bartlett" or None
            As for :class:`Autocovariance`.

        Examples
        --------
        >>> import numpy as np
        >>> from memcurve import inputs
        >>> z = inputs.ARMA(ar=[0.8]).simulate(10_000, seed=1)
        >>> inputs.Autocovariance.from_series(z).name
        'autocovariance of 71 lags'
        """
        recorded = real_vector(series, "series", least=SHORTEST_SERIES)
        if taper is not None:
            table_entry(TAPERS, taper, "taper")
        last = len(recorded) - 1
        if lags is not None and not 0 < require_size(lags, "lags") <= last:
            raise ValueError(
                f"`lags` must be at most T − 1 = {last}, got {lags}; give less, or a longer series."
            )
        gamma = _biased(recorded)
        if lags is None:
            lags = last if taper is None else min(last, _default_lags(gamma, taper))
        flaw = _flaw(gamma[: lags + 1]) if taper is None and lags < last else None
        if flaw:
            raise ValueError(
                f"`lags` = {lags} without a taper cuts off what still matters: {flaw}; pass "
                f"taper='parzen' or taper='bartlett', or keep all T − 1 = {last} lags."
            )
        return cls(gamma[: lags + 1], taper=taper)


def _finished(gamma: Floats, taper: str | None) -> Floats:
    weighted = gamma if taper is None else tapered(gamma, taper)
    return weighted[: np.flatnonzero(weighted)[-1] + 1].copy()


def _require_bounded(gamma: Floats) -> None:
    if not gamma[0] > 0:
        raise ValueError(
            f"`values` must start with the variance γ(0) > 0, got {gamma[0]:g}; list γ(0), γ(1), …."
        )
    excess = np.flatnonzero(np.abs(gamma) > gamma[0])
    if len(excess):
        k = int(excess[0])
        raise ValueError(
            f"`values` must satisfy |γ(k)| ≤ γ(0) = {gamma[0]:g}, got γ({k}) = {gamma[k]:g}; list "
            f"lags from 0 on, each once."
        )


def _flaw(gamma: Floats) -> str | None:
    """Say where and how far f is negative beyond rounding, or return None."""
    if len(gamma) == 1:
        return None
    correlation = gamma / gamma[0]
    omega, lowest = trigonometric.minimum(correlation)
    if lowest >= -trigonometric.rounding(correlation):
        return None
    highest = -trigonometric.minimum(-correlation)[1]
    return (
        f"its spectral density falls to {lowest / highest:.3g} times its maximum "
        f"at frequency ω = {omega:.4g}"
    )


def _remedy(gamma: Floats, taper: str | None) -> str:
    mending = [
        f"Autocovariance(values, taper='{name}')"
        for name in TAPERS
        if name != taper and not _flaw(_finished(gamma, name))
    ]
    if mending:
        return " or ".join(mending) + f" mend{'s' * (len(mending) == 1)} it"
    failed = (
        f"taper='{taper}' does not mend it, nor does the other taper"
        if taper
        else "neither taper, 'bartlett' or 'parzen', mends it"
    )
    return f"{failed}: check the numbers, or estimate them with Autocovariance.from_series"


def _biased(series: Floats) -> Floats:
    from scipy.fft import next_fast_len

    if series.min() == series.max():
        raise ValueError(
            f"`series` must vary, got {len(series)} times {series[0]:g}; record a longer stretch."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        centred = series - series.mean()
        size = next_fast_len(2 * len(series), real=True)
        power = np.abs(np.fft.rfft(centred, size)) ** 2
        gamma = np.fft.irfft(power, size)[: len(series)] / len(series)
    if not (np.isfinite(gamma).all() and gamma[0] > 0):
        raise ValueError(
            f"`series` must have squares within the range of float64, got values up to "
            f"{np.abs(series).max():g}; rescale it."
        )
    return np.clip(gamma, -gamma[0], gamma[0])


def _default_lags(gamma: Floats, taper: str) -> int:
    count, r = len(gamma), min(abs(float(gamma[1] / gamma[0])), 1 - 1e-9)
    if taper == "parzen":
        bandwidth = 2.6614 * (4 * r**2 / (1 - r) ** 4 * count) ** (1 / 5)
    else:
        bandwidth = 1.1447 * (4 * r**2 / (1 - r**2) ** 2 * count) ** (1 / 3)
    return int(np.ceil(max(10 * np.log10(count), bandwidth - 1)))
