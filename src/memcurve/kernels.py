"""Autocovariances as kernels: sums Σ_k γ(k) A^k over all lags at once, for a contraction A.

Two forms cover every input process. A *rational* one (ARMA, with a(z) = 1 − Σ ar_i z^i): for every
shift k the series a(z)·Σ_{j≥0} γ(j + k) z^j is a polynomial, so that::

    p_{−k} = Σ_{j≥0} γ(j + k) A^j C = a(A)⁻¹ q_k(A) C,    M = Σ_{j≥1} γ(j) A^j = a(A)⁻¹ A q_1(A)

and p_{−k} obeys the recurrence of the process from k = max(p, q + 1) on. A *finite* one (γ = 0
beyond lag m): p_τ = A p_{τ−1} + C γ(τ), from p_{−m} = C γ(m) on.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memcurve.inputs import ARMA, InputProcess
from memcurve.stein import stein

Floats = NDArray[np.float64]


class Future(NamedTuple):
    """``present`` is p_0 (n, d). ``ahead`` (n, d, h) holds p_{−1} … p_{−h}, and ``whole`` (n, k)
    columns whose outer products sum to Σ_{k≥1} p_{−k}p_{−k}ᵀ over all horizons and inputs.
    """

    present: Floats
    ahead: Floats
    whole: Floats


class Kernel(Protocol):
    """An autocovariance function γ with γ(0) = 1, or the square γ*γ of one."""

    def gamma(self, count: int) -> Floats:
        """γ(0) … γ(count − 1)."""
        ...

    def squared(self) -> Kernel:
        """γ*γ, the kernel of spectral density f²."""
        ...

    def half_sum(self, A: Floats) -> Floats | None:
        """Σ_{k≥1} γ(k) A^k, or None where a Stein equation is the better way."""
        ...

    def future(self, A: Floats, C: Floats, horizons: int) -> Future:
        """Covariances with the input now and later."""
        ...


def kernel_of(process: InputProcess) -> Kernel:
    """The kernel of a process, scaled to unit variance."""
    if isinstance(process, ARMA):
        return RationalKernel(process.ar, process.ma, 1 / process.variance)
    if process.finite_lags is None:
        raise TypeError(f"`input` {process.name} is neither ARMA nor of finite autocovariance.")
    gamma = process.autocovariance(process.finite_lags + 1)
    return FiniteKernel(gamma / gamma[0])


class RationalKernel:
    """γ of z_t = Σ ar_i z_{t−i} + e_t + Σ ma_j e_{t−j}, times ``scale``."""

    def __init__(self, ar: Floats, ma: Floats, scale: float) -> None:
        self.process, self.scale = ARMA(ar, ma), scale
        self.a, self.b = np.append(1.0, -np.asarray(ar)), np.append(1.0, ma)
        self.order = max(len(self.a) - 1, len(self.b))  # of the recurrence in the future

    def gamma(self, count: int) -> Floats:
        return self.scale * self.process.autocovariance(count)

    def squared(self) -> Kernel:
        a, b = np.convolve(self.a, self.a), np.convolve(self.b, self.b)
        return RationalKernel(-a[1:], b[1:], self.scale**2)

    def half_sum(self, A: Floats) -> Floats | None:
        numerator = polynomial(self._numerator(1), A, A)
        return numerator if len(self.a) == 1 else self._divided(A, numerator)

    def future(self, A: Floats, C: Floats, horizons: int) -> Future:
        shifts = [polynomial(self._numerator(k), A, C) for k in range(self.order + 1)]
        stacked = np.concatenate(shifts, axis=1)
        if len(self.a) > 1:
            stacked = self._divided(A, stacked)
        p = list(np.split(stacked, self.order + 1, axis=1))  # p_0 … p_{−order}
        recurrence = np.zeros(self.order)
        recurrence[: len(self.a) - 1] = -self.a[1:]
        while len(p) <= horizons:
            p.append(sum((c * p[-i] for i, c in enumerate(recurrence, 1)), np.zeros_like(C)))
        ahead = np.stack(p[1 : horizons + 1], axis=2) if horizons else np.zeros((*C.shape, 0))
        # the coordinates of p_{−k−1} in p_{−1} … p_{−order} are N^k e_1
        N = np.eye(self.order, k=-1)
        N[:, -1] = recurrence[::-1]
        first = np.zeros((self.order, self.order))
        first[0, 0] = 1.0
        values, vectors = np.linalg.eigh(stein(N, first))
        mixing = vectors * np.sqrt(np.maximum(values, 0.0))
        basis = np.stack(p[1 : self.order + 1], axis=2)  # (n, d, order)
        return Future(p[0], ahead, (basis @ mixing).reshape(len(C), -1))

    def _numerator(self, shift: int) -> Floats:
        """Coefficients of a(z)·Σ_{j≥0} γ(j + shift) z^j, a polynomial."""
        gamma = self.gamma(shift + len(self.a) + len(self.b))
        length = max(len(self.a) - 1, len(self.b) - shift, 1)
        return np.convolve(self.a, gamma[shift:])[:length]

    def _divided(self, A: Floats, X: Floats) -> Floats:
        return np.asarray(np.linalg.solve(polynomial(self.a, A, np.eye(len(A))), X))


class FiniteKernel:
    """γ(0), …, γ(m) given, zero beyond."""

    def __init__(self, gamma: Floats) -> None:
        self._gamma = np.asarray(gamma, dtype=float)

    def gamma(self, count: int) -> Floats:
        padded = np.zeros(count)
        padded[: len(self._gamma)] = self._gamma[:count]
        return padded

    def squared(self) -> Kernel:
        two_sided = np.concatenate([self._gamma[:0:-1], self._gamma])
        return FiniteKernel(np.convolve(two_sided, two_sided)[len(two_sided) - 1 :])

    def half_sum(self, A: Floats) -> Floats | None:
        return None

    def future(self, A: Floats, C: Floats, horizons: int) -> Future:
        p, columns = np.zeros_like(C), []
        for value in self._gamma[:0:-1]:
            p = A @ p + value * C
            columns.append(p)
        present = A @ p + self._gamma[0] * C
        columns = columns[::-1]  # p_{−1}, p_{−2}, …
        missing = max(0, horizons - len(columns))
        whole = np.concatenate(columns, axis=1) if columns else np.zeros((len(C), 0))
        columns = [*columns[:horizons], *[np.zeros_like(C)] * missing]
        ahead = np.stack(columns, axis=2) if columns else np.zeros((*C.shape, 0))
        return Future(present, ahead, whole)


def polynomial(coefficients: Floats, A: Floats, X: Floats) -> Floats:
    """Σ_k coefficients[k] A^k X, by Horner's rule."""
    result = coefficients[-1] * X
    for c in coefficients[-2::-1]:
        result = A @ result + c * X
    return np.asarray(result)
