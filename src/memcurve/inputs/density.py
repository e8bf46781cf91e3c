"""SpectralDensity: an input given by its spectral density."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.arguments import require_size
from memcurve.inputs.autocovariance import EPS, FiniteLags, minimum, rounding, tapered
from memcurve.inputs.process import Floats, frozen, real_array, real_vector

#: Intervals of [0, π] in the first grid for a callable, and in the last.
FIRST_GRID, LAST_GRID = 1 << 14, 1 << 20
#: Longest autocovariance a density may have.
LARGEST_LAGS = 20_000
#: What is cut off of γ, relative to γ(0), unless the rounding of the samples hides more.
NEGLIGIBLE = 1e-17
#: γ has settled when halving the grid changes it by less, relative to γ(0). Callables round by
#: more than ε where f is steep.
SETTLED = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class SpectralDensity(FiniteLags):
    """A process with a given spectral density f(ω) = Σ_k γ(k) e^{−ikω}, even in ω.

    Parameters
    ----------
    density : callable or (n,) array
        A callable takes an array of frequencies in [0, π] and returns f there. It is sampled ever
        finer, from 2^14 to 2^20 intervals, until γ has settled to rounding; a peak narrower than
        π/2^14 may be missed. An array holds samples at ω_j = πj/(n − 1), j = 0 … n − 1, the values
        of a cosine polynomial of degree n − 1 that must not be negative in between either.
    lags : int, optional
        Keep γ up to this lag only, with Parzen's taper, which smooths f over a width of about
        4/lags and never makes it negative. For densities whose γ decays too slowly: those with
        jumps, kinks or very sharp peaks.

    Attributes
    ----------
    values : (M + 1,) array
        γ(0), …, γ(M). What lies beyond is below the rounding of the samples and taken as zero.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve import inputs
    >>> inputs.SpectralDensity(lambda w: 2 + 2 * np.cos(w)).values.round(12)
    array([2., 1.])
    >>> inputs.SpectralDensity([4.0, 2.0, 0.0]).values.round(12)
    array([2., 1.])
    """

    _kind = "spectral density"

    def __init__(
        self, density: Callable[[Floats], Any] | ArrayLike, *, lags: int | None = None
    ) -> None:
        if lags is not None and require_size(lags, "lags") > LARGEST_LAGS:
            raise ValueError(f"`lags` must be at most {LARGEST_LAGS}, got {lags}; give less.")
        gamma = _settled(density, lags) if callable(density) else _of_samples(density, lags)
        object.__setattr__(self, "values", frozen(gamma))


def _of_samples(density: ArrayLike, lags: int | None) -> Floats:
    samples = _validated(real_vector(density, "density", least=2))
    gamma = _coefficients(samples)
    if lags is not None:
        if lags >= len(gamma):
            raise ValueError(
                f"`lags` must be below the number of samples {len(gamma)}, got {lags}; give less, "
                f"or sample `density` more finely."
            )
        return _smoothed(gamma, lags)
    gamma[-1] /= 2  # cos((n−1)ω) occurs once in the transform, but twice in f
    noise = 8 * EPS * float(np.sqrt(np.mean(samples**2) / len(samples)))
    gamma = gamma[: _last_lag(gamma, noise) + 1].copy()
    _require_few(len(gamma) - 1)
    if len(gamma) > 1:
        omega, lowest = minimum(gamma)
        if lowest < -rounding(gamma):
            raise ValueError(
                f"`density` must stay non-negative between its samples, but the cosine polynomial "
                f"through them falls to {lowest / samples.max():.3g} times the largest sample at "
                f"ω = {omega:.4g}; sample a smoother density, or pass `lags`, e.g. "
                f"lags={max(1, len(samples) // 4)}, to smooth it."
            )
    return gamma


def _settled(density: Callable[[Floats], Any], lags: int | None) -> Floats:
    """Return γ, cut where it is negligible or, with ``lags``, tapered.

    Beyond half the grid γ shows either the rounding of the samples, which is flat, or that it
    still decays. A power law never falls below twice that within a quarter of the grid, so it is
    taken for settled only where it has become negligible.
    """
    size, kept = FIRST_GRID, slice(None if lags is None else lags + 1)
    while lags is not None and size < 4 * lags:
        size *= 2
    coarse = _coefficients(_sampled(density, size))
    last = LARGEST_LAGS + 1
    while size < LAST_GRID:
        size *= 2
        fine = _coefficients(_sampled(density, size))
        change = np.abs(fine[: len(coarse) // 2] - coarse[: len(coarse) // 2])[kept].max()
        last = _last_lag(fine, 2 * float(np.abs(fine[size // 2 :]).max()))
        if change <= SETTLED * fine[0] and (lags is not None or last <= size // 4):
            break
        coarse = fine
    if lags is not None:
        return _smoothed(fine, lags)
    _require_few(last if change <= SETTLED * fine[0] else size)
    return fine[: last + 1].copy()


def _require_few(lags: int) -> None:
    if lags > LARGEST_LAGS:
        raise ValueError(
            f"`density` must be smooth enough for its autocovariance to decay to rounding within "
            f"{LARGEST_LAGS} lags, got one that does not; smooth out jumps, kinks and very sharp "
            f"peaks, or pass `lags`, e.g. lags=2000, to have it smoothed with Parzen's taper."
        )


def _sampled(density: Callable[[Floats], Any], size: int) -> Floats:
    omega = np.linspace(0, np.pi, size + 1)
    samples = real_array(density(omega), "density")
    if samples.shape not in {omega.shape, ()}:
        raise ValueError(
            f"`density` must return one value for each frequency, got shape {samples.shape} for "
            f"{omega.shape}; write it with numpy functions, or wrap it in numpy.vectorize."
        )
    return _validated(np.broadcast_to(samples, omega.shape))


def _validated(samples: Floats) -> Floats:
    """Refuse negative and vanishing densities; what rounding makes negative becomes zero."""
    most, place = samples.max(), int(samples.argmin())
    if samples[place] < -64 * EPS * max(most, 0.0):
        raise ValueError(
            f"`density` must not be negative, got {samples[place]:.6g} at "
            f"ω = {np.pi * place / (len(samples) - 1):.6g}; a power spectrum is meant, e.g. the "
            f"squared modulus of a transfer function."
        )
    if not most > 0:
        raise ValueError("`density` must not be zero everywhere; give a process with variance > 0.")
    return np.maximum(samples, 0)


def _coefficients(samples: Floats) -> Floats:
    """Return c_k = 1/π ∫_0^π f(ω) cos kω dω by the trapezoidal rule, k = 0 … n − 1."""
    return np.fft.irfft(samples, 2 * (len(samples) - 1))[: len(samples)]


def _smoothed(gamma: Floats, lags: int) -> Floats:
    weighted = tapered(gamma[: lags + 1], "parzen")
    return weighted[: _last_lag(weighted, 0.0) + 1].copy()


def _last_lag(gamma: Floats, noise: float) -> int:
    """Return the last lag at which γ is neither negligible nor below ``noise``."""
    return int(np.flatnonzero(np.abs(gamma) > max(NEGLIGIBLE * gamma[0], noise))[-1])
