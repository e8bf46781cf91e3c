"""Coloured inputs as white noise through a filter: z_t = Σ_j ψ_j e_{t−j}.

States x = Kz of past inputs are x = KΨe then, and a past input is a combination of past noise: all
that is asked of coloured input is asked of white noise, with weights ψ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, TINY, Floats
from memcurve.inputs.arma import ARMA
from memcurve.inputs.process import InputProcess

#: Longest filter, in lags. Doubled: inputs closer to a unit root are answered, in twice the time.
LONGEST_FILTER = 2**16
#: Grid on which the square root of a density is taken, per lag of the longest filter. Doubled:
#: densities that nearly vanish are known better, in twice the time.
OVERSAMPLING = 8
#: Filters of more lags are applied by Fourier transforms, whose rounding is relative to the largest
#: value. Doubled: nothing but time.
SHORT_FILTER = 64


class Filter(NamedTuple):
    """ψ of a process of unit variance, the relative error of its density |ψ̂|², and γ(0), γ(1), …

    Where it is not causal, its noise is counted from the first e_t that it needs. ``ratio``:
    numerator and denominator of ψ, where it is rational.
    """

    psi: Floats
    uncertainty: float
    gamma: Floats
    ratio: tuple[Floats, Floats] | None = None

    @property
    def is_white(self) -> bool:
        """Whether there is nothing to filter."""
        return len(self.gamma) == 1

    @property
    def gain(self) -> float:
        """Bound on |ψ̂|, the square root of the largest spectral density."""
        return float(np.abs(self.psi).sum())

    def applied(self, W: Floats) -> Floats:
        """Σ_{i+j=m} W_i ψ_j for weights W (lags, n) of past inputs: those of the noise."""
        if len(self.psi) == 1:
            return W * self.psi
        from scipy.signal import convolve, lfilter

        if self.ratio is not None:
            padded = np.concatenate([W, np.zeros((len(self.psi) - 1, W.shape[1]))])
            return np.asarray(lfilter(*self.ratio, padded, axis=0))
        return np.asarray(convolve(W, self.psi[:, None], method=self._method), dtype=float)

    def adjoint(self, W: Floats, ahead: int = 0) -> Floats:
        """Σ_j W_{τ+j} ψ_j: weights of inputs τ ≥ −``ahead`` steps ago from those W of the noise."""
        if len(self.psi) == 1:
            return np.concatenate([np.zeros((ahead, W.shape[1])), W * self.psi])
        from scipy.signal import convolve, lfilter

        if self.ratio is not None:
            padded = np.concatenate([np.zeros((ahead, W.shape[1])), W])
            return np.asarray(lfilter(*self.ratio, padded[::-1], axis=0))[::-1]
        every = convolve(W, self.psi[::-1, None], method=self._method)
        first = len(self.psi) - 1 - ahead
        missing = np.zeros((max(0, -first), W.shape[1]))
        return np.concatenate([missing, np.asarray(every[max(0, first) :], dtype=float)])

    def changed(self, rounding: Callable[[tuple[int, ...]], Floats]) -> Filter:
        """The same up to random ``rounding`` of a shape."""
        if self.is_white:
            return self
        psi, gamma = (x * (1 + EPS * rounding(x.shape)) for x in (self.psi, self.gamma))
        if self.ratio is None:
            return self._replace(psi=psi, gamma=gamma)
        b, a = (x * (1 + EPS * rounding(x.shape)) for x in self.ratio)
        return self._replace(psi=psi, gamma=gamma, ratio=(b, np.append(1.0, a[1:])))

    @property
    def _method(self) -> Literal["direct", "fft"]:
        return "direct" if len(self.psi) <= SHORT_FILTER else "fft"


def filters_of(processes: Sequence[InputProcess]) -> tuple[Filter, ...]:
    """The filters of several inputs; those that share a process share its filter."""
    distinct = {id(process): filter_of(process) for process in processes}
    return tuple(distinct[id(process)] for process in processes)


def impulses(filters: Sequence[Filter]) -> Floats:
    """The filters of several inputs side by side, (lags, d)."""
    if not all(np.isfinite(each.uncertainty) for each in filters):
        raise UncertainResultError("the input is not known as a filter.")
    psi = np.zeros((max(len(each.psi) for each in filters), len(filters)))
    for j, each in enumerate(filters):
        psi[: len(each.psi), j] = each.psi
    return psi


@lru_cache(maxsize=16)
def filter_of(process: InputProcess) -> Filter:
    """A filter that makes the process from white noise, not always a causal one."""
    if process.is_white:
        return Filter(np.ones(1), 0.0, np.ones(1))
    return _rational_filter(process) if isinstance(process, ARMA) else _root_filter(process)


def _rational_filter(process: ARMA) -> Filter:
    """b(z)/a(z): h = 1/a in ascending powers, as long as they matter, times b.

    What follows a lag is n/a, with the last p values of h times weights of a for n: its sum is at
    most 2·Σ|n|·Σ|h| where Σ|n| ≤ ½. Rounding in h is a change of a, relative to |a| on the circle.
    """
    from scipy.signal import lfilter, unit_impulse

    a, order = np.append(1.0, -process.ar), len(process.ar)
    inverse, uncertainty = np.ones(1), 0.0
    if order:
        for longest in (LONGEST_FILTER // 64, LONGEST_FILTER):
            inverse = np.asarray(lfilter([1.0], a, unit_impulse(longest)), dtype=float)
            sizes = np.abs(inverse)
            later = np.convolve(sizes, np.ones(order))[:longest] * np.abs(a).sum()
            settled = np.flatnonzero(2 * later * sizes.sum() > EPS)
            length = int(settled[-1]) + 2 if len(settled) else 1
            if length < longest:
                break
        else:
            raise UncertainResultError(
                f"`input` {process.name} remembers more than {LONGEST_FILTER:,} steps."
            )
        inverse = inverse[:length]
        least = np.abs(np.fft.rfft(a, 16 * max(length, len(a)))).min()
        uncertainty = EPS + 4 * EPS * (order + 1) * float(np.abs(a).sum() / least)
    psi = np.convolve(inverse, np.append(1.0, process.ma))
    gamma = process.autocovariance(len(psi)) / process.variance
    b = np.append(1.0, process.ma) / np.sqrt(process.variance)
    return Filter(psi / np.sqrt(process.variance), uncertainty, gamma, (b, a))


def _root_filter(process: InputProcess) -> Filter:
    """√f, a symmetric filter, for densities without zeros."""
    if process.finite_lags is None:
        raise TypeError(f"`input` {process.name} is neither ARMA nor of finite autocovariance.")
    gamma = process.autocovariance(process.finite_lags + 1) / process.variance
    size = OVERSAMPLING * max(LONGEST_FILTER, 1 << (len(gamma) - 1).bit_length())
    even = np.concatenate([gamma, np.zeros(size + 1 - 2 * len(gamma)), gamma[:0:-1]])
    density = np.fft.rfft(even).real
    symmetric = np.fft.irfft(np.sqrt(np.maximum(density, 0.0)), size)
    large = np.flatnonzero(np.abs(symmetric[: size // 2]) > EPS * symmetric[0])
    half = int(large[-1]) + 1
    if 2 * half > LONGEST_FILTER:  # the density nearly vanishes at some frequency
        # its largest value is known all the same, γ(0) + 2Σ|γ(k)| at most
        largest = 2 * np.abs(gamma).sum(keepdims=True) - 1
        return Filter(np.sqrt(largest), np.inf, gamma)
    psi = np.concatenate([symmetric[-half:], symmetric[: half + 1]])
    off = np.abs(np.abs(np.fft.rfft(psi, size)) ** 2 - density) + EPS * len(gamma) * density.max()
    return Filter(psi, float((off / np.maximum(density, TINY)).max()), gamma)
