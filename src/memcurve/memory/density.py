"""Memory in continuous time: a density, in inputs per unit time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import exact_array
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.result import Result, installed_versions
from memcurve.core.types import EPS, TINY, Complexes, Floats
from memcurve.memory.curve import fault, note
from memcurve.network import LinearNetwork
from memcurve.network.continuous import ContinuousNetwork, exponential
from memcurve.rendering import plot
from memcurve.rendering.report import Chart, Series
from memcurve.solve import Analysis

#: Changes of A by rounding that the error is measured with. Doubled: twice the time.
_TRIALS = 3


@dataclass(frozen=True, eq=False, repr=False)
class MemoryDensity(Result):
    """Memory density m(τ) of a network in continuous time, in inputs per unit time.

    ``values`` are m at the lags ``times``, which rounding may have moved by ``error``; ``total`` is
    ∫₀^∞ m dτ, the number of controllable modes, whose eigenvalues are the ``poles``; ``mean_age``
    is ∫ τ·m dτ / total.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ContinuousNetwork([[-0.5]], [1.0])
    >>> memcurve.memory_density(network, [0.0, 1.0]).values.round(6)
    array([1.      , 0.367879])
    """

    FORMAT: ClassVar[str] = "memcurve.MemoryDensity/1"
    ATTRIBUTES: ClassVar[tuple[str, ...]] = ("network", "total", "mean_age")

    network: str
    times: Floats
    values: Floats
    error: Floats
    total: float
    mean_age: float
    poles: Complexes
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def columns(self) -> Mapping[str, Any]:
        """One row per lag."""
        return {"time": self.times, "density": self.values, "error": self.error}

    def chart(self) -> Chart:
        """The chart of :meth:`plot`."""
        line = Series(f"{self.network}: total {self.total:g}", self.times, self.values)
        return Chart("", "lag τ", "memory density (inputs per unit time)", (line,))

    def plot(self, ax: Any = None) -> Any:
        """Draw the density against the lag."""
        return plot.chart(self.chart(), ax=ax)

    def __repr__(self) -> str:
        return (
            f"<MemoryDensity of {self.network}: total {self.total:g}, mean age "
            f"{self.mean_age:.6g}, m(0) = {0.0 - 2 * self.poles.real.sum():.6g}>"
        )


def memory_density(network: ContinuousNetwork, times: ArrayLike | None = None) -> MemoryDensity:
    """Memory density of a network in continuous time, m(τ), with ∫m = n and m(0) = −2 tr A.

    For dx = Ax dt + C dW with controllable eigenvalues λ_k the input-normal realization is
    ``A' = diag(λ) − tril(ccᵀ, −1)``, ``c_k = √(−2Re λ_k)``, and ``m(τ) = ‖e^(A'τ)c‖²``: the energy
    of the all-pass filter Π(s + λ̄_k)/(s − λ_k) beyond τ. Of a discretised network
    MC_k = h·m((k + ½)h)(1 + O(h²)).

    Parameters
    ----------
    network : ContinuousNetwork
        Its driven eigenvalues must have negative real parts.
    times : array, optional
        Lags τ ≥ 0; by default 201 of them, up to where 99.9 % of the memory is counted.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.network.continuous import hippo
    >>> density = memcurve.memory_density(hippo("legs", 8))
    >>> density.total, round(float(density.values[0]), 9)  # n(n + 1)
    (8.0, 72.0)
    """
    if not isinstance(network, ContinuousNetwork):
        raise TypeError(fault("discrete", kind=type(network).__name__))
    from scipy.optimize import linear_sum_assignment

    poles, notes = controllable_poles(network)
    if len(poles) and not poles.real.max() < 0:
        raise UnstableNetworkError(fault("unstable_density", part=poles.real.max()))
    lags = _default_times(poles) if times is None else exact_array(times, "times")
    if lags.ndim != 1 or len(lags) == 0 or not (lags >= 0).all():
        raise ValueError(f"`times` must be a vector of lags from 0 on, got {times!r}.")
    values, error = _density(poles, lags)
    if not np.isfinite(values).all():
        raise ValueError(fault("late_times", most=lags.max()))
    error += 32 * EPS * values
    rng, A = np.random.default_rng(20_261_118), network.A
    is_triangular = not (np.tril(A, -1).any() and np.triu(A, 1).any())
    for _ in range(_TRIALS if len(poles) else 0):
        change = rng.standard_normal(A.shape)
        if is_triangular:  # eigenvalues are stored numbers, whatever the size of the others
            change = A * np.sign(change)
        else:
            change *= (A != 0) * np.linalg.norm(A) / np.linalg.norm(change)
        values_nearby = np.linalg.eigvals(A + 4 * EPS * change).astype(complex)
        pairs = linear_sum_assignment(np.abs(poles[:, None] - values_nearby))
        nearby = values_nearby[pairs[1]]
        if not nearby.real.max() < 0:
            raise UncertainResultError(
                fault("moved_stability", part=poles.real.max(), moved=nearby.real.max())
            )
        error = np.maximum(error, 10 * np.abs(_density(nearby, lags)[0] - values))
    # ∫τ m dτ = ∫|tr e^(Aτ)|² dτ
    age = 0.0 - float((1 / (poles[:, None] + poles.conj())).sum().real) / max(len(poles), 1)
    name = network.name or f"continuous network, N={network.size}"
    return MemoryDensity(name, lags, values, error, float(len(poles)), age, poles, tuple(notes))


def controllable_poles(network: ContinuousNetwork) -> tuple[Complexes, list[Note]]:
    """The controllable eigenvalues, from those of A scaled by a power of two, in discrete time."""
    scale = math.ldexp(1.0, -1 - math.frexp(max(float(np.linalg.norm(network.A)), TINY))[1])
    spectrum = Analysis.of(LinearNetwork(network.A * scale, network.C)).spectrum
    if spectrum.rank == 0:
        return np.zeros(0, complex), [note("no_input")]
    poles = spectrum.poles
    if poles is None or len(poles) != spectrum.rank:
        raise UncertainResultError(fault("hidden_poles", rank=spectrum.rank, size=network.size))
    is_partial = spectrum.rank < network.size
    notes = [note("uncontrollable", rank=spectrum.rank, size=network.size)] * is_partial
    return poles / scale, notes


def _realization(poles: Complexes) -> tuple[Complexes, Complexes]:
    """A' and c: A' + A'* = −cc*."""
    c = np.sqrt(-2 * poles.real)
    return np.diag(poles) - np.tril(np.outer(c, c), -1), c.astype(complex)


def _density(poles: Complexes, times: Floats) -> tuple[Floats, Floats]:
    """‖e^(A'τ)c‖², from one lag to the next in increasing order, and what rounding of τ does."""
    values, error = np.zeros((2, len(times)))
    if len(poles) == 0:
        return values, error
    A, c = _realization(poles)
    state, now, flows, same = c, 0.0, dict[float, Complexes](), 4 * EPS * float(times.max())
    for k in np.argsort(times):
        step = float(times[k]) - now
        step = next((s for s in flows if abs(s - step) <= same), step)  # equal but for rounding
        if step > 0:
            if step not in flows:
                flows[step] = exponential(step * A)
            state, now = flows[step] @ state, now + step
        values[k] = float((np.abs(state) ** 2).sum())
        slope = float(np.abs(c @ state) ** 2)  # A' + A'* = −cc*
        error[k] = slope * (abs(times[k] - now) + 2 * EPS * times[k])
    return values, error


def _default_times(poles: Complexes, *, left: float = 1e-3, count: int = 201) -> Floats:
    """Lags up to where a share ``left`` of the memory, ‖e^(A'τ)‖², is still to come."""
    if len(poles) == 0:
        return np.linspace(0, 1, count)
    A, _ = _realization(poles)
    step = first = 1 / np.abs(poles).max()
    flow = exponential(step * A)
    while (np.abs(flow) ** 2).sum() > left * len(poles) and step < 1e12 * first:
        flow, step = flow @ flow, 2 * step
    return np.linspace(0, step, count)
