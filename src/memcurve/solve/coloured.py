"""Coloured input in input-normal coordinates: covariances that are never ill-conditioned.

For a realization ξ_t = A'ξ_{t−1} + C'z_t with A'A'ᵀ + C'C'ᵀ = I and independent inputs z of
autocovariance γ (γ(0) = 1) and spectral density f::

    p_τ = Cov(ξ_t, z_{t−τ}) = A' p_{τ−1} + C' γ(τ)        (τ < 0: the future)
    Γ = Cov(ξ_t) = I + M + Mᵀ,    M = Σ_{k≥1} γ(k) A'^k

The eigenvalues of Γ lie between min f and max f, whatever the network. With Γ = LLᵀ, the share of
the variance of z_{t−τ} that the states hold is ‖q_τ‖², q_τ = L⁻¹p_τ. Summed over all lags, past
and future, p_τp_τᵀ is the covariance Γ for spectral density f²: totals need no truncation, and
n·min f ≤ MC + FC ≤ n·max f. Where inputs differ, Γ − A'ΓA'ᵀ = p₀C'ᵀ + C'p₀ᵀ − C'C'ᵀ.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from memcurve.errors import UncertainResultError
from memcurve.inputs import ARMA, InputProcess
from memcurve.result import EPS, TINY, Floats
from memcurve.solve.errors import sums_of_powers
from memcurve.solve.stein import stein

#: Lags that are whitened and handed out at a time.
CHUNK = 128
#: Steps that are computed as one matrix product.
BLOCK = 16


class Driven:
    """p_t = A p_{t−1} + C·drive_t, several steps at a time.

    SciPy's BLAS, as LAPACK before and after: see :mod:`memcurve.solve.errors`.
    """

    def __init__(self, A: Floats, C: Floats) -> None:
        from scipy.linalg.blas import dgemm

        self.A, self.C = A, C
        d = C.shape[1]
        power, carried = np.asfortranarray(A), np.asfortranarray(C)  # A^i C, i < BLOCK
        while carried.shape[1] < d * BLOCK:
            carried = np.hstack([carried, dgemm(1.0, power, carried)])
            power = dgemm(1.0, power, power)
        self._power = power
        self._columns = [np.asfortranarray(carried[:, k::d]) for k in range(d)]

    def blocks(self, first: Floats, drive: Callable[[int, int], Floats]) -> Iterator[Floats]:
        """Yield p_0 = ``first``, p_1, … in blocks (n, d·BLOCK), input by input.

        ``drive(a, b)`` gives the drives of times a … b − 1, a row an input or one for all.
        """
        from scipy.linalg.blas import dgemm

        n, d = self.C.shape
        shift = np.arange(BLOCK)[None, :] - np.arange(BLOCK)[:, None] + BLOCK - 1
        p, now, start = np.empty((n, d, BLOCK)), first, drive(0, BLOCK + 1)
        for t in range(BLOCK):
            p[:, :, t] = now
            now = self.A @ now + self.C * start[:, t + 1]
        block = np.asfortranarray(p.reshape(n, d * BLOCK))
        for time in itertools.count(BLOCK, BLOCK):
            yield block
            # p_t = A^BLOCK p_{t−BLOCK} + Σ_{i<BLOCK} A^i C·drive_{t−i}
            recent = drive(time - BLOCK + 1, time + BLOCK)
            block = dgemm(1.0, self._power, block)
            if recent.any():
                toeplitz = np.broadcast_to(recent, (d, 2 * BLOCK - 1))[:, shift]
                driven = [dgemm(1.0, self._columns[k], toeplitz[k]) for k in range(d)]
                block += np.hstack(driven)


@dataclass(frozen=True, eq=False)
class Covariances:
    """Covariances of input-normal states ξ with the inputs, whitened: q_τ = L⁻¹p_τ.

    Attributes
    ----------
    system : Driven
        The input-normal realization (A', C').
    kernels : tuple
        Autocovariance of each input.
    present : (n, d) array
        p_0, not whitened.
    ahead : (n, d, h) array
        q_{−1} … q_{−h}.
    all_past, all_future : (n, n) arrays
        Σ q_τq_τᵀ over all lags τ ≥ 0, and over all horizons; both over all inputs.
    factor : (n, n) array or None
        The lower triangular L; None for white input, where it is the identity.
    peak : float
        Largest value of the spectral density, for unit variance.
    least : float
        Lower bound on the eigenvalues of Γ.
    span : float
        About how many horizons matter, over all inputs.
    rounded, added : float
        Sizes that rounding in Γ and in sums over all lags is relative to, much of which may cancel.
    """

    system: Driven
    kernels: tuple[InputKernel, ...]
    present: Floats
    ahead: Floats
    all_past: Floats
    all_future: Floats
    factor: Floats | None = None
    peak: float = 1.0
    least: float = 1.0
    span: float = 0.0
    rounded: float = 1.0
    added: float = 0.0

    @property
    def A(self) -> Floats:
        """A' of the realization."""
        return self.system.A

    @property
    def C(self) -> Floats:
        """C' of the realization."""
        return self.system.C

    @property
    def condition(self) -> float:
        """Condition of Γ: at most max f / min f."""
        return self.peak / self.least

    def lags(self) -> Iterator[Floats]:
        """Yield q_0, q_1, … in chunks (n, d, CHUNK), without end."""
        n, d = self.C.shape
        blocks = self.system.blocks(
            self.present, lambda first, stop: self._gamma(stop)[:, first:stop]
        )
        while True:
            p = np.stack(list(itertools.islice(blocks, CHUNK // BLOCK)))
            chunk = p.reshape(-1, n, d, BLOCK).transpose(1, 2, 0, 3)
            yield self.whitened(chunk.reshape(n, d, CHUNK))

    def _gamma(self, count: int) -> Floats:
        """γ(0) … γ(count − 1) at least, a row an input; kept for the next call."""
        known: Floats = self.__dict__.get("_known", np.zeros((1, 0)))
        if known.shape[1] < count:
            rows = [kernel.gamma(max(1024, 2 * count)) for kernel in self.kernels]
            known = self.__dict__["_known"] = np.stack(rows)
        return known

    def whitened(self, p: Floats) -> Floats:
        """L⁻¹p, along the first axis."""
        if self.factor is None:
            return p
        from scipy.linalg import solve_triangular

        flat = solve_triangular(self.factor, p.reshape(len(p), -1), lower=True)
        return np.asarray(flat).reshape(p.shape)


def covariances(
    A: Floats, C: Floats, processes: Sequence[InputProcess], horizons: int = 0
) -> Covariances:
    """Covariances of an input-normal realization (A', C') driven by one process an input."""
    distinct = {id(process): kernel_of(process) for process in processes}
    kernels = tuple(distinct[id(process)] for process in processes)
    system, size = Driven(A, C), len(C)
    if all(process.is_white for process in processes):
        unknown = np.zeros((*C.shape, horizons))
        return Covariances(system, kernels, C, unknown, np.eye(size), np.zeros((size, size)))
    gamma, _ = _state_covariance(A, C, kernels)
    L, inverse_norm = _cholesky(gamma)
    bounds = [np.array(process.density_bounds()) / process.variance for process in processes]
    future = _future(system, kernels, horizons)
    past, added = _past(system, kernels, future)
    peak = max(float(most) for _, most in bounds)
    rounded = peak * max(kernel.amplification(A) for kernel in kernels)
    raw = Covariances(
        system, kernels, future.present, future.ahead, past, future.outer, L,
        peak=peak,
        least=max(min(float(least) for least, _ in bounds), inverse_norm**-2),
        span=future.span * C.shape[1], rounded=rounded, added=added,
    )  # fmt: skip
    earlier, later = (raw.whitened(raw.whitened(S).T) for S in (past, future.outer))
    return dataclasses.replace(
        raw,
        ahead=raw.whitened(future.ahead),
        all_past=(earlier + earlier.T) / 2,
        all_future=(later + later.T) / 2,
    )


def _past(system: Driven, kernels: Sequence[InputKernel], future: Future) -> tuple[Floats, float]:
    """Σ_{τ≥0} p_τp_τᵀ over all inputs, and the size of what was added up for it.

    Over all lags, past and future, it is the covariance for squared kernels. Lags are not summed
    up: where a mode is next to the circle there are too many, and rounding in powers of it is the
    same for all networks nearby, so that it cannot be measured.
    """
    shared = len({id(kernel) for kernel in kernels}) == 1
    groups = [list(range(len(kernels)))] if shared else [[j] for j in range(len(kernels))]
    A, past, added = system.A, np.zeros_like(system.A), 0.0
    for group in groups:
        kernel = kernels[group[0]]
        part = system if shared else Driven(A, system.C[:, group])
        ahead = future.outer if shared else kernel.future(part, 0).outer
        squares = [kernel.squared()] * len(group)
        whole, size = _state_covariance(A, part.C, squares, whole=shared)
        past += whole - ahead
        added += size
    return past, added


def _future(system: Driven, kernels: Sequence[InputKernel], horizons: int) -> Future:
    """The future of all inputs: those that share a kernel in one go."""
    if len({id(kernel) for kernel in kernels}) == 1:
        return kernels[0].future(system, horizons)
    A, C = system.A, system.C
    parts = [k.future(Driven(A, C[:, [j]]), horizons) for j, k in enumerate(kernels)]
    return Future(
        np.concatenate([part.present for part in parts], axis=1),
        np.concatenate([part.ahead for part in parts], axis=1),
        np.sum([part.outer for part in parts], axis=0),
        max(part.span for part in parts),
    )


def _state_covariance(
    A: Floats, C: Floats, kernels: Sequence[Kernel], *, whole: bool = True
) -> tuple[Floats, float]:
    """Γ, and the size of what was added up for it.

    ``whole`` says that C has all inputs, so that A'A'ᵀ + C'C'ᵀ = I.
    """
    first = kernels[0]
    shared = len({id(kernel) for kernel in kernels}) == 1
    if whole and shared:
        M = first.half_sum(A)
        size = first.variance * np.sqrt(len(A)) + 2 * np.sqrt((M**2).sum())
        gamma = first.variance * np.eye(len(A)) + M + M.T
        return gamma, float(size) * first.amplification(A)
    present = np.empty_like(C)
    for j, kernel in enumerate(kernels):
        present[:, [j]] = kernel.variance * C[:, [j]] + kernel.half_sum(A, C[:, [j]])
    drive = present @ C.T
    variances = np.array([kernel.variance for kernel in kernels])
    gamma = stein(A, drive + drive.T - (C * variances) @ C.T)
    return gamma, float(np.sqrt((gamma**2).sum()) + 2 * np.sqrt((drive**2).sum()))


def _cholesky(gamma: Floats) -> tuple[Floats, float]:
    """L with LLᵀ = Γ, and ‖L⁻¹‖_F, at least the inverse root of the least eigenvalue."""
    from scipy.linalg import lapack

    L, info = lapack.dpotrf(gamma, lower=1, clean=1)
    if info == 0:
        inverse, info = lapack.dtrtri(L, lower=1)
    if info != 0:
        raise UncertainResultError(
            "the covariance of the states is singular up to rounding: the spectral density of "
            "`input` vanishes, or nearly does, where the network listens. Use an input whose "
            "density is above zero, or method='certified'."
        )
    return np.asarray(L), float(np.sqrt((inverse**2).sum()))


# --- Autocovariances as kernels: sums Σ_k γ(k) A^k over all lags at once, for a contraction A.
#
# Two forms cover every input process. A *rational* one (ARMA, with a(z) = 1 − Σ ar_i z^i): for
# every shift k the series a(z)·Σ_{j≥0} γ(j + k) z^j is a polynomial q_k, so that::
#
#     p_{−k} = Σ_{j≥0} γ(j + k) A^j C = a(A)⁻¹ q_k(A) C,    M = Σ_{j≥1} γ(j) A^j = a(A)⁻¹ A q_1(A)
#
# A *finite* one (γ = 0 beyond lag m): p_τ = A p_{τ−1} + C γ(τ), from p_{−m} = C γ(m) on. The future
# of processes of higher order goes that way too, from where γ is negligible: their recurrence loses
# all digits where roots lie close together.

#: γ is taken to vanish below this share of γ(0), and looked at up to LONGEST lags.
NEGLIGIBLE, LONGEST = 1e-18, 2**16
#: Powers of a matrix that are kept at a time.
MOST_POWERS = 32


class Future(NamedTuple):
    """Covariances with the inputs to come.

    ``present`` is p_0 (n, d), ``ahead`` (n, d, h) holds p_{−1} … p_{−h}, ``outer`` (n, n) is
    Σ_{k≥1} p_{−k}p_{−k}ᵀ over all horizons and inputs; ``span`` is about how many horizons matter.
    """

    present: Floats
    ahead: Floats
    outer: Floats
    span: float


class Kernel(Protocol):
    """A symmetric sequence γ(k), summable, with its sums over powers of a contraction."""

    @property
    def variance(self) -> float:
        """γ(0)."""
        ...

    def half_sum(self, A: Floats, X: Floats | None = None) -> Floats:
        """Σ_{k≥1} γ(k) A^k, times X if given."""
        ...

    def amplification(self, A: Floats) -> float:
        """What rounding in that sum is amplified by."""
        ...


class InputKernel(Kernel, Protocol):
    """The autocovariance of an input of unit variance."""

    def gamma(self, count: int) -> Floats:
        """γ(0) … γ(count − 1)."""
        ...

    def squared(self) -> Kernel:
        """γ*γ, the kernel of spectral density f²."""
        ...

    def future(self, system: Driven, horizons: int) -> Future:
        """Covariances with the inputs to come."""
        ...

    def settled(self) -> Floats:
        """γ up to where it vanishes."""
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

    def __init__(self, process: ARMA, scale: float) -> None:
        self.process, self.scale = process, scale
        self.a = np.append(1.0, -process.ar)
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

    def amplification(self, A: Floats) -> float:
        """Σ|a_i|·‖a(A)⁻¹‖, where a(A) is more than 1 − φA, in which nothing cancels."""
        from scipy.linalg.lapack import dgecon

        if len(self.a) <= 2:
            return 1.0
        factors, _, largest = self._factors(A)
        reciprocal = float(dgecon(factors, largest)[0])
        return max(1.0, float(np.abs(self.a).sum()) / max(reciprocal * largest, TINY))

    def squared(self) -> Kernel:
        return SquaredKernel(self)

    def future(self, system: Driven, horizons: int) -> Future:
        A, C = system.A, system.C
        p, q = len(self.process.ar), len(self.process.ma)
        if p > 1:
            return backwards(system, self.settled(), horizons)
        shifted = [polynomial(self.numerator(k), A, C) for k in range(q + 2)]
        known = self._divided(A, np.concatenate(shifted, axis=1))
        columns = list(np.split(known, q + 2, axis=1))  # p_0 … p_{−q−1}, then p_{−k} = φ p_{−k+1}
        phi = float(self.process.ar[0]) if p else 0.0
        rest = columns[q + 1] / np.sqrt((1 - phi) * (1 + phi))
        while len(columns) <= horizons:
            columns.append(phi * columns[-1])
        whole = np.concatenate([*columns[1 : q + 1], rest], axis=1)
        ahead = np.stack(columns[1 : horizons + 1], axis=2) if horizons else np.zeros((*C.shape, 0))
        return Future(columns[0], ahead, whole @ whole.T, q + 1 / (1 - abs(phi)))

    def settled(self) -> Floats:
        count = 256
        while count <= LONGEST:
            gamma = self.gamma(count)
            if np.abs(gamma[-len(self.a) :]).max() <= NEGLIGIBLE * gamma[0]:
                return gamma
            count *= 2
        raise UncertainResultError(
            f"the input {self.process.name} is so close to a unit root that its autocovariance "
            f"does not settle within {LONGEST:,} lags."
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
        """a(A)⁻¹X."""
        from scipy.linalg import lu_solve

        if len(self.a) == 1:
            return X
        return np.asarray(lu_solve(self._factors(A)[:2], X, check_finite=False))

    def _factors(self, A: Floats) -> tuple[Floats, Any, float]:
        """LU factors of a(A), and its largest column sum; kept for the next call with this A."""
        from scipy.linalg import lu_factor

        if self._factored is None or self._factored[0] is not A:
            matrix = polynomial(self.a, A, np.eye(len(A)))
            largest = float(np.abs(matrix).sum(axis=0).max())
            self._factored = A, (*lu_factor(matrix, overwrite_a=True, check_finite=False), largest)
        return self._factored[1]


class SquaredKernel:
    """γ*γ of a rational kernel, without the double roots of a².

    With m(z) = Σ_{k≥1} γ(k)z^k = q(z)/a(z) the density is f = γ(0) + m + m̄, and so the part of f²
    with positive powers is 2γ(0)m + m² + 2[m m̄]₊, where m m̄ = |q/a|² is an ARMA density again.
    """

    def __init__(self, kernel: RationalKernel) -> None:
        self._kernel = kernel
        q = np.trim_zeros(kernel.numerator(1))  # leading powers of z do not change |q|
        self._rest = None
        if len(q):
            process = ARMA(kernel.process.ar, q[1:] / q[0])
            self._rest = RationalKernel(process, float(q[0] ** 2))

    def amplification(self, A: Floats) -> float:
        return self._kernel.amplification(A)

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
        later = np.append(self._gamma[1:], 0.0)
        return A @ matrix_polynomial(later, A) if X is None else polynomial(later, A, A @ X)

    def amplification(self, A: Floats) -> float:
        return 1.0

    def squared(self) -> Kernel:
        both = np.concatenate([self._gamma[:0:-1], self._gamma])
        return FiniteKernel(np.convolve(both, both)[len(both) - 1 :])

    def future(self, system: Driven, horizons: int) -> Future:
        return backwards(system, self._gamma, horizons)

    def settled(self) -> Floats:
        return self._gamma


def backwards(system: Driven, gamma: Floats, horizons: int) -> Future:
    """The future by p_τ = A p_{τ−1} + C γ(τ), from where γ vanishes up to τ = 0.

    Errors do not grow on the way, as A is a contraction: no recurrence of the process is used.
    """
    C = system.C
    (n, d), last = C.shape, len(gamma) - 1
    outer, ahead = np.zeros((n, n)), np.zeros((n, d, horizons))
    done, present = 0, C * gamma[0]
    padded = np.concatenate([gamma[::-1], np.zeros(BLOCK)])  # γ(last), …, γ(0) in order of time
    for block in system.blocks(C * gamma[last], lambda a, b: padded[None, a:b]):
        lags = last - done - np.arange(BLOCK)  # entry k of a block is p_{−lags[k]}
        columns = block.reshape(n, d, BLOCK)
        later = columns[:, :, lags >= 1].reshape(n, -1)
        outer += later @ later.T
        wanted = (lags >= 1) & (lags <= horizons)
        ahead[:, :, lags[wanted] - 1] = columns[:, :, wanted]
        done += BLOCK
        if done > last:
            present = columns[:, :, int(np.flatnonzero(lags == 0)[0])]
            break
    later = np.abs(gamma[1:])
    span = float(later.sum() ** 2 / (later**2).sum()) if later.any() else 1.0
    return Future(present, ahead, outer, span)


def polynomial(coefficients: Floats, A: Floats, X: Floats) -> Floats:
    """Σ_k coefficients[k] A^k X, by Horner's rule."""
    result = coefficients[-1] * X
    for c in coefficients[-2::-1]:
        result = A @ result + c * X
    return np.asarray(result)


def matrix_polynomial(coefficients: Floats, A: Floats) -> Floats:
    """Σ_k coefficients[k] A^k, by Horner's rule with several powers at a time."""
    step = min(int(np.ceil(np.sqrt(len(coefficients)))), MOST_POWERS)
    powers = [np.eye(len(A))]
    while len(powers) <= step:
        powers.append(A @ powers[-1])
    result = np.zeros_like(A)
    for first in reversed(range(0, len(coefficients), step)):
        result = powers[step] @ result
        for c, power in zip(coefficients[first : first + step], powers, strict=False):
            result += c * power
    return result


# --- Processes as filters: z_t = Σ_j ψ_j e_{t−j} of white noise e.


#: Longer filters are not worth it; the square root of a density is looked at on this finer grid.
LONGEST_FILTER, OVERSAMPLING = 2**14, 16


class Filter(NamedTuple):
    """ψ of a process of unit variance, and the relative error of the density |ψ̂|² it has."""

    psi: Floats
    doubt: float

    @property
    def gain(self) -> float:
        """Bound on |ψ̂|, and so on the norm of the covariance of past inputs, the root of it."""
        return float(np.abs(self.psi).sum())

    def applied(self, R: Floats) -> Floats:
        """Σ_{i+j=m} R_i ψ_j for responses R (r, lags): those to the white noise."""
        if len(self.psi) == 1:
            return R * self.psi
        from scipy.signal import convolve

        return np.asarray(convolve(R, self.psi[None], method=self._method), dtype=float)

    def adjoint(self, W: Floats) -> Floats:
        """Σ_j W_{τ+j} ψ_j for weights W (lags, k) of the white noise: those of the inputs."""
        if len(self.psi) == 1:
            return W * self.psi
        from scipy.signal import convolve

        whole = convolve(W, self.psi[::-1, None], method=self._method)
        return np.asarray(whole[len(self.psi) - 1 :], dtype=float)

    def changed(self, rng: np.random.Generator) -> Filter:
        """The same up to rounding."""
        if len(self.psi) == 1:
            return self
        return self._replace(psi=self.psi * (1 + EPS * rng.standard_normal(len(self.psi))))

    @property
    def _method(self) -> Literal["direct", "fft"]:
        return "direct" if len(self.psi) <= BLOCK else "fft"  # the latter rounds all alike


def filter_of(process: InputProcess) -> Filter:
    """A filter that makes the process from white noise, not always a causal one.

    Raises UncertainResultError where it would be too long, or not good enough.
    """
    if process.is_white:
        return Filter(np.ones(1), 0.0)
    return _rational_filter(process) if isinstance(process, ARMA) else _root_filter(process)


def _rational_filter(process: ARMA) -> Filter:
    """b(z)/a(z): 1/a in ascending powers, as long as they matter, times b.

    Rounding in the recursion of 1/a is a change of a, which matters relative to |a| on the unit
    circle; so does the rest, which the companion matrix of a bounds. b is a factor as it stands.
    """
    from scipy.linalg import companion
    from scipy.signal import lfilter, unit_impulse

    a, order = np.append(1.0, -process.ar), len(process.ar)
    inverse, doubt = np.ones(1), 0.0
    if order:
        later = sums_of_powers(companion(a)).norms * float(np.abs(a).sum())
        inverse = np.asarray(lfilter([1.0], a, unit_impulse(LONGEST_FILTER)), dtype=float)
        recent = np.sqrt(np.convolve(inverse**2, np.ones(order))[: len(inverse)])
        settled = np.flatnonzero(recent * later > EPS)
        length = int(settled[-1]) + 2 if len(settled) else 1
        if length >= LONGEST_FILTER:
            raise UncertainResultError(f"the input {process.name} remembers too long.")
        inverse = inverse[:length]
        least = np.abs(np.fft.rfft(a, OVERSAMPLING * max(length, len(a)))).min()
        doubt = EPS + 4 * EPS * (order + 1) * float(np.abs(a).sum() / least)
    psi = np.convolve(inverse, np.append(1.0, process.ma))
    return Filter(psi / np.sqrt(process.variance), doubt)


def _root_filter(process: InputProcess) -> Filter:
    """√f, a symmetric filter, for densities without zeros."""
    gamma = kernel_of(process).settled()
    size = OVERSAMPLING * max(LONGEST_FILTER, 1 << (len(gamma) - 1).bit_length())
    even = np.concatenate([gamma, np.zeros(size + 1 - 2 * len(gamma)), gamma[:0:-1]])
    density = np.fft.rfft(even).real
    symmetric = np.fft.irfft(np.sqrt(np.maximum(density, 0.0)), size)
    large = np.flatnonzero(np.abs(symmetric[: size // 2]) > EPS * symmetric[0])
    half = int(large[-1]) + 1
    if 2 * half > LONGEST_FILTER:
        raise UncertainResultError(f"the input {process.name} nearly vanishes at some frequency.")
    psi = np.concatenate([symmetric[-half:], symmetric[: half + 1]])
    off = np.abs(np.abs(np.fft.rfft(psi, size)) ** 2 - density) + EPS * len(gamma) * density.max()
    return Filter(psi, float((off / np.maximum(density, TINY)).max()))
