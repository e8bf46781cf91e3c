"""What is asked, and what is answered, in matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.inputs import InputProcess, processes_for
from memcurve.kernels import kernel_of
from memcurve.network import LinearNetwork
from memcurve.network.graph import Indices, balanced, reachable_nodes, submatrix
from memcurve.noise import Noise, noise_of
from memcurve.stein import stein

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """A network with its inputs and its noise, restricted to the states that inputs reach.

    Attributes
    ----------
    network : LinearNetwork
        The network itself.
    processes : tuple of InputProcess
        One an input; all are taken to unit variance.
    noise : Noise or None
        Errors of the states.
    lags : int or None
        Number of lags; None for as many as hold nearly all memory.
    horizons : int
        Number of steps ahead.
    """

    network: LinearNetwork
    processes: tuple[InputProcess, ...]
    noise: Noise | None
    lags: int | None
    horizons: int = 0

    @classmethod
    def of(
        cls, network: LinearNetwork, lags: int | None, *, input: Any, noise: Any, horizons: int = 0
    ) -> Problem:
        """The problem that the arguments of :func:`memcurve.memory_curve` stand for."""
        return cls(network, processes_for(input, network.inputs), noise_of(noise), lags, horizons)

    @cached_property
    def reachable(self) -> Indices:
        """States that matter: those that inputs reach, or all where noise enters every state."""
        A, C = self.network.real_pair()
        if self.noise is not None and self.noise.state(np.ones(1)).any():
            return np.arange(len(C), dtype=np.intp)
        return reachable_nodes(A, C)

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats, NDArray[np.int64]]:
        """D⁻¹AD, D⁻¹C and the exponents of D."""
        A, C = self.network.real_pair()
        A, C = submatrix(A, self.reachable), C[self.reachable]
        A, d = balanced(A) if len(A) else (A, np.ones(0))
        exponents = np.frexp(d)[1].astype(np.int64) - 1
        largest = np.frexp(C)[1] - exponents[:, None]
        exponents = exponents + int(largest[C != 0].max()) if C.any() else exponents
        return np.ascontiguousarray(A), np.ldexp(C, -exponents[:, None]), exponents

    @property
    def A(self) -> Floats:
        """Connectivity of the reachable states, dense, and balanced.

        States are measured in powers of two, chosen so that rows and columns of A are alike in
        size and the mask is about one. That is exact, and no answer depends on it.
        """
        return self._scaled[0]

    @property
    def C(self) -> Floats:
        """Mask of the reachable states (n, d), in the same measure."""
        return self._scaled[1]

    @property
    def exponents(self) -> NDArray[np.int64]:
        """The measure: state i of the network is 2^exponents[i] times the one here."""
        return self._scaled[2]

    @cached_property
    def rows(self) -> Indices:
        """Which of the reachable states are read."""
        read = self.network.readout
        if read is None:
            return np.arange(len(self.reachable), dtype=np.intp)
        if self.network.is_complex:
            read = np.concatenate([read, read + self.network.size])
        return np.flatnonzero(np.isin(self.reachable, read)).astype(np.intp)

    @property
    def reads_all(self) -> bool:
        """Whether every reachable state is read."""
        return len(self.rows) == len(self.reachable)

    @property
    def is_plain(self) -> bool:
        """Whether this is the problem of the paper: one white input, no noise, all states read."""
        one = self.network.inputs == 1 and self.network.readout is None
        return one and self.is_white and self.noise is None and self.horizons == 0

    @property
    def is_white(self) -> bool:
        """Whether every input is white."""
        return all(process.is_white for process in self.processes)

    @property
    def levels(self) -> Floats:
        """Factors of the noise, one a curve; a single zero without noise."""
        return np.zeros(1) if self.noise is None else self.noise.levels

    @cached_property
    def observation(self) -> Floats:
        """Standard deviations of the errors of reading, at level one."""
        if self.noise is None:
            return np.zeros(len(self.A))
        return self._measured(self.noise.observation)

    @cached_property
    def state(self) -> Floats:
        """Standard deviations of the errors that enter the recursion, at level one."""
        if self.noise is None:
            return np.zeros(len(self.A))
        return self._measured(self.noise.state)

    def _measured(self, deviations: Callable[[Floats], Floats]) -> Floats:
        """Deviations of the noise in the measure of A and C."""
        if self.noise is not None and self.noise.is_relative:  # to a power of two the same anywhere
            return deviations(self._sizes)
        return np.ldexp(deviations(np.ones(len(self.A))), -self.exponents)

    @cached_property
    def _sizes(self) -> Floats:
        return np.sqrt(np.maximum(np.diag(self.direct_covariance()[1]), 0.0))

    @property
    def state_deviations(self) -> Floats:
        """Standard deviations of the network's states themselves, without noise."""
        return np.ldexp(self._sizes, self.exponents)

    def direct_covariance(self) -> tuple[Floats, Floats]:
        """p_0 and Γ of the network's own states, by Γ = AΓAᵀ + p₀Cᵀ + Cp₀ᵀ − CCᵀ.

        Good for the size of the states; no more to be inverted than any other such matrix.
        """
        present = np.empty_like(self.C)
        for j, process in enumerate(self.processes):
            column = self.C[:, [j]]
            present[:, [j]] = column + kernel_of(process).half_sum(self.A, column)
        drive = present @ self.C.T
        return present, stein(self.A, drive + drive.T - self.C @ self.C.T)


@dataclass(eq=False)
class Outcome:
    """Answers for every noise level: memory (levels, lags, inputs), forecasts (…, horizons, …).

    Each with a bound on its error of the same shape; totals (levels,) are over all lags and all
    horizons.
    """

    memory: Floats
    memory_error: Floats
    forecast: Floats
    forecast_error: Floats
    total: Floats
    total_error: Floats
    total_forecast: Floats
    total_forecast_error: Floats

    @property
    def largest_error(self) -> Floats:
        """The largest error of each level; totals relative to their size."""
        total = self.total_error / np.maximum(1.0, self.total)
        ahead = self.total_forecast_error / np.maximum(1.0, self.total_forecast)
        memory = self.memory_error.max(axis=(1, 2))
        forecast = self.forecast_error.max(axis=(1, 2), initial=0.0)
        return np.asarray(np.max([memory, forecast, total, ahead], axis=0))

    def better_of(self, other: Outcome) -> Outcome:
        """Level by level, the outcome with the smaller largest error."""
        mine = self.largest_error <= other.largest_error
        chosen = {}
        for name, values in vars(self).items():
            rival = getattr(other, name)
            chosen[name] = np.where(mine.reshape(-1, *[1] * (values.ndim - 1)), values, rival)
        return Outcome(**chosen)
