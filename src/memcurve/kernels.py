"""Autocovariances as kernels: sums Σ_k γ(k) A^k over all lags at once, for a contraction A.

Two forms cover every input process. A *rational* one (ARMA, with a(z) = 1 − Σ ar_i z^i): for every
shift k the series a(z)·Σ_{j≥0} γ(j + k) z^j is a polynomial q_k, so that::

    p_{−k} = Σ_{j≥0} γ(j + k) A^j C = a(A)⁻¹ q_k(A) C,    M = Σ_{j≥1} γ(j) A^j = a(A)⁻¹ A q_1(A)

and p_{−k} obeys the recurrence of the process from k = max(p, q + 1) on. A *finite* one (γ = 0
beyond lag m): p_τ = A p_{τ−1} + C γ(τ), from p_{−m} = C γ(m) on.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memcurve.inputs import ARMA, InputProcess
from memcurve.spectrum.sensitivity import power_norms
from memcurve.stein import stein

Floats = NDArray[np.float64]

#: Horizons that matter where the process is too close to the unit circle to tell.
LONGEST_SPAN = 1e16


class Future(NamedTuple):
    """Covariances with what comes: ``ahead`` (n, d, h) holds p_{−1} … p_{−h}.

    ``whole`` (n, k) has columns whose outer products sum to Σ_{k≥1} p_{−k}p_{−k}ᵀ, over all
    horizons and all inputs; ``span`` is about how many horizons matter.
    """

    ahead: Floats
    whole: Floats
    span: float


class Kernel(Protocol):
    """A symmetric sequence γ(k), summable, with its sums over powers of a contraction."""

    @property
    def variance(self) -> float:
        """γ(0)."""
        ...

    @property
    def is_short(self) -> bool:
        """Whether ``half_sum`` takes few products, so that the whole matrix may be asked for."""
        ...

    def half_sum(self, A: Floats, X: Floats | None = None) -> Floats:
        """Σ_{k≥1} γ(k) A^k, times X if given."""
        ...


class InputKernel(Kernel, Protocol):
    """The autocovariance of an input of unit variance."""

    def gamma(self, count: int) -> Floats:
        """γ(0) … γ(count − 1)."""
        ...

    def squared(self) -> Kernel:
        """γ*γ, the kernel of spectral density f²."""
        ...

    def future(self, A: Floats, C: Floats, horizons: int) -> Future:
        """Covariances with the inputs to come."""
        ...


def kernel_of(process: InputProcess) -> InputKernel:
    """The kernel of a process, scaled to unit variance."""
    if isinstance(process, ARMA):
        return RationalKernel(process, 1 / process.variance)
    if process.finite_lags is None:
        raise TypeError(f"`input` {process.name} is neither ARMA nor of finite autocovariance.")
    gamma = process.autocovariance(process.finite_lags + 1)
    return FiniteKernel(gamma / gamma[0])


class RationalKernel:
    """γ of an ARMA process, times ``scale``."""

    is_short = True

    def __init__(self, process: ARMA, scale: float) -> None:
        self.process, self.scale = process, scale
        self.a = np.append(1.0, -process.ar)
        self.order = max(len(process.ar), len(process.ma) + 1)  # of the recurrence in the future
        # for one A at a time: the factors of a(A), and M
        self._factored: tuple[Floats, Any] | None = None
        self._half: tuple[Floats, Floats] | None = None

    @property
    def variance(self) -> float:
        return self.scale * self.process.variance

    def gamma(self, count: int) -> Floats:
        return self.scale * self.process.autocovariance(count)

    def half_sum(self, A: Floats, X: Floats | None = None) -> Floats:
        if X is not None:
            return self._divided(A, polynomial(self.numerator(1), A, A @ X))
        if self._half is None or self._half[0] is not A:
            self._half = A, self._divided(A, polynomial(self.numerator(1), A, A))
        return self._half[1]

    def squared(self) -> Kernel:
        return SquaredKernel(self)

    def future(self, A: Floats, C: Floats, horizons: int) -> Future:
        shifts = range(1, self.order + 1)
        stacked = np.concatenate([polynomial(self.numerator(k), A, C) for k in shifts], axis=1)
        p = np.split(self._divided(A, stacked), self.order, axis=1)  # p_{−1} … p_{−order}
        basis = np.stack(p, axis=2)
        recurrence = np.zeros(self.order)
        recurrence[: len(self.a) - 1] = -self.a[1:]
        # the coordinates of p_{−k−1} in p_{−1} … p_{−order} are N^k e_1
        N = np.eye(self.order, k=-1)
        N[:, -1] = recurrence[::-1]
        coordinates = np.zeros((self.order, max(horizons, 1)))
        coordinates[0, 0] = 1.0
        for k in range(1, horizons):
            coordinates[:, k] = N @ coordinates[:, k - 1]
        start = np.outer(np.eye(self.order)[0], np.eye(self.order)[0])
        values, vectors = np.linalg.eigh(stein(N, start))
        mixing = vectors * np.sqrt(np.maximum(values, 0.0))
        norms = power_norms(np.asfortranarray(N))
        return Future(
            basis @ coordinates[:, :horizons],
            (basis @ mixing).reshape(len(C), -1),
            norms.sum**2 / norms.squares if np.isfinite(norms.sum) else LONGEST_SPAN,
        )

    def share_factors(self, other: RationalKernel) -> None:
        """Take over the factors of a(A) from a kernel with the same autoregressive part."""
        self._factored = other._factored

    def numerator(self, shift: int) -> Floats:
        """Coefficients of a(z)·Σ_{j≥0} γ(j + shift) z^j, a polynomial."""
        p, q = len(self.process.ar), len(self.process.ma)
        gamma = self.gamma(shift + p + q + 2)
        return np.convolve(self.a, gamma[shift:])[: max(p, q + 1 - shift, 1)]

    def _divided(self, A: Floats, X: Floats) -> Floats:
        """a(A)⁻¹X; the factors are kept for the next call with the same A."""
        from scipy.linalg import lu_factor, lu_solve

        if len(self.a) == 1:
            return X
        if self._factored is None or self._factored[0] is not A:
            matrix = polynomial(self.a, A, np.eye(len(A)))
            self._factored = A, lu_factor(matrix, overwrite_a=True, check_finite=False)
        return np.asarray(lu_solve(self._factored[1], X, check_finite=False))


class SquaredKernel:
    """γ*γ of a rational kernel, without the double roots of a².

    With m(z) = Σ_{k≥1} γ(k)z^k = q(z)/a(z) the density is f = γ(0) + m + m̄, and so the part of f²
    with positive powers is 2γ(0)m + m² + 2[m m̄]₊, where m m̄ = |q/a|² is an ARMA density again.
    """

    is_short = True

    def __init__(self, kernel: RationalKernel) -> None:
        self._kernel = kernel
        q = np.trim_zeros(kernel.numerator(1))  # leading powers of z do not change |q|
        self._rest = None
        if len(q):
            process = ARMA(kernel.process.ar, q[1:] / q[0])
            self._rest = RationalKernel(process, float(q[0] ** 2))

    @property
    def variance(self) -> float:
        rest = 0.0 if self._rest is None else self._rest.variance
        return self._kernel.variance**2 + 2 * rest

    def half_sum(self, A: Floats, X: Floats | None = None) -> Floats:
        once = self._kernel.half_sum(A, X)
        twice = once @ once if X is None else self._kernel.half_sum(A, once)
        total = 2 * self._kernel.variance * once + twice
        if self._rest is not None:
            self._rest.share_factors(self._kernel)
            total += 2 * self._rest.half_sum(A, X)
        return total


class FiniteKernel:
    """γ(0), …, γ(m) given, zero beyond."""

    is_short = False

    def __init__(self, gamma: Floats) -> None:
        self._gamma = np.asarray(gamma, dtype=float)

    @property
    def variance(self) -> float:
        return float(self._gamma[0])

    def gamma(self, count: int) -> Floats:
        padded = np.zeros(max(count, len(self._gamma)))
        padded[: len(self._gamma)] = self._gamma
        return padded[:count]

    def half_sum(self, A: Floats, X: Floats | None = None) -> Floats:
        return polynomial(np.append(self._gamma[1:], 0.0), A, A if X is None else A @ X)

    def squared(self) -> Kernel:
        two_sided = np.concatenate([self._gamma[:0:-1], self._gamma])
        return FiniteKernel(np.convolve(two_sided, two_sided)[len(two_sided) - 1 :])

    def future(self, A: Floats, C: Floats, horizons: int) -> Future:
        p, columns = np.zeros_like(C), []
        for value in self._gamma[:0:-1]:
            p = A @ p + value * C
            columns.append(p)
        stacked = np.zeros((*C.shape, max(horizons, len(columns))))
        for k, column in enumerate(columns[::-1]):
            stacked[:, :, k] = column
        return Future(stacked[:, :, :horizons], stacked.reshape(len(C), -1), float(len(columns)))


def polynomial(coefficients: Floats, A: Floats, X: Floats) -> Floats:
    """Σ_k coefficients[k] A^k X, by Horner's rule."""
    result = coefficients[-1] * X
    for c in coefficients[-2::-1]:
        result = A @ result + c * X
    return np.asarray(result)
