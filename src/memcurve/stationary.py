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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.inputs import InputProcess
from memcurve.kernels import (
    Future,
    InputKernel,
    Kernel,
    forwards,
    kernel_of,
)
from memcurve.network.recursion import BLOCK, Driven
from memcurve.stein import stein

Floats = NDArray[np.float64]

#: Lags that are whitened and handed out at a time.
CHUNK = 128


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
        """What rounding in Γ is amplified by: at most max f / min f."""
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
    gamma = _state_covariance(A, C, kernels)
    L, inverse_norm = _cholesky(gamma)
    bounds = [np.array(process.density_bounds()) / process.variance for process in processes]
    future = _future(system, kernels, horizons)
    past = _past(system, kernels, future)
    raw = Covariances(
        system, kernels, future.present, future.ahead, past, future.outer, L,
        peak=max(float(most) for _, most in bounds),
        least=max(min(float(least) for least, _ in bounds), inverse_norm**-2),
        span=future.span * C.shape[1],
    )  # fmt: skip
    earlier, later = (raw.whitened(raw.whitened(S).T) for S in (past, future.outer))
    return dataclasses.replace(
        raw,
        ahead=raw.whitened(future.ahead),
        all_past=(earlier + earlier.T) / 2,
        all_future=(later + later.T) / 2,
    )


def _past(system: Driven, kernels: Sequence[InputKernel], future: Future) -> Floats:
    """Σ_{τ≥0} p_τp_τᵀ over all inputs.

    Over all lags, past and future, it is the covariance for the squared kernel; where that has
    double roots close to others, the lags are summed instead.
    """
    shared = len({id(kernel) for kernel in kernels}) == 1
    groups = [list(range(len(kernels)))] if shared else [[j] for j in range(len(kernels))]
    A, past = system.A, np.zeros_like(system.A)
    for group in groups:
        kernel = kernels[group[0]]
        part = system if shared else Driven(A, system.C[:, group])
        square = kernel.squared()
        if square is None:
            past += forwards(part, future.present[:, group], kernel.settled())
        else:
            ahead = future.outer if shared else kernel.future(part, 0).outer
            past += _state_covariance(A, part.C, [square] * len(group), whole=shared) - ahead
    return past


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
) -> Floats:
    """Γ; ``whole`` says that C has all inputs, so that A'A'ᵀ + C'C'ᵀ = I."""
    first = kernels[0]
    shared = len({id(kernel) for kernel in kernels}) == 1
    if whole and shared and first.is_short:
        M = first.half_sum(A)
        return first.variance * np.eye(len(A)) + M + M.T
    present = np.empty_like(C)
    for j, kernel in enumerate(kernels):
        present[:, [j]] = kernel.variance * C[:, [j]] + kernel.half_sum(A, C[:, [j]])
    drive = present @ C.T
    variances = np.array([kernel.variance for kernel in kernels])
    return stein(A, drive + drive.T - (C * variances) @ C.T)


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
