"""Recordings whose memory is known: drawn from networks, with what experiments add to them."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_discrete_lyapunov
from scipy.sparse import issparse

from memcurve import (
    LinearNetwork,
    MemoryCurve,
    NonlinearNetwork,
    Quantised,
    ensembles,
    memory_curve,
    memory_from_data,
)
from memcurve.core.types import Floats

#: The same numbers by another way: rounding, times what the whitening of the states adds.
SAME = 1e-9
#: Steps before a recording starts: 0.9^400 is below rounding.
SETTLING = 400
#: Rows of the recording that stands for the truth of a nonlinear network.
LONG = 200_000
#: Length of the mask, with noise of 1e-3 on states of about 0.7.
STRENGTH = 3.0
DEVIATION = 1e-3
CONVERTER = Quantised(bits=12, low=-9.0, high=9.0)


@dataclass(frozen=True)
class Scenario:
    """A network, what is added to its states, and the memory that is then in them.

    ``reference`` is the RMSE of the total at 1000 rows that theory.md reports.
    """

    name: str
    network: LinearNetwork | NonlinearNetwork
    noise: Any = None
    observed: Callable[[Floats, np.random.Generator], Floats] = lambda X, rng: X
    reference: float | None = None

    @property
    def size(self) -> int:
        return self.network.size

    @property
    def lags(self) -> int:
        return 2 * self.size

    def draws(self, seed: int, count: int, rows: int) -> Iterator[tuple[Floats, Floats]]:
        """Recordings of which ``rows`` rows are left after the first lags."""
        steps = SETTLING + self.lags - 1 + rows
        for replication in range(count):
            rng = np.random.default_rng([seed, replication])
            z = rng.standard_normal(steps)
            X = self.network.simulate(z, SETTLING)
            yield self.observed(X, rng), z[SETTLING:]

    def truth(self, rows: int = LONG) -> Floats:
        """Memory of every lag: exact for linear networks, else of a very long recording."""
        return _truth(self, rows)


@functools.cache
def _truth(scenario: Scenario, rows: int) -> Floats:
    if isinstance(scenario.network, LinearNetwork):
        return memory_curve(scenario.network, scenario.lags, noise=scenario.noise).values
    ((X, z),) = scenario.draws(10**6, 1, rows)
    return memory_from_data(X, z, scenario.lags, checks=False).values


def noisy(deviation: float) -> Callable[[Floats, np.random.Generator], Floats]:
    return lambda X, rng: X + deviation * rng.standard_normal(X.shape)


def converted(converter: Quantised) -> Callable[[Floats, np.random.Generator], Floats]:
    return lambda X, rng: converter.step * np.round(X / converter.step)


def strong(network: LinearNetwork) -> LinearNetwork:
    return network.replace(C=network.C * STRENGTH / np.linalg.norm(network.C))


def unit_states(network: LinearNetwork) -> LinearNetwork:
    """The same network, of real states, in units of their own deviations."""
    A, C = (x.toarray() if issparse(x) else x for x in network.real_pair())
    deviations = np.sqrt(np.diag(solve_discrete_lyapunov(A, C @ C.T)))[:, None]
    return LinearNetwork(A * deviations.T / deviations, C / deviations)


def noisy_orthogonal(size: int, seed: int, deviation: float = DEVIATION) -> Scenario:
    network = strong(ensembles.orthogonal(size, seed=seed))
    name = f"orthogonal {size}, noise {deviation:g}"
    return Scenario(name, network, deviation, noisy(deviation), reference=0.21)


def tanh(size: int, seed: int, input_scale: float, reference: Any = None) -> Scenario:
    linear = ensembles.normal(size, seed=seed)
    mask = np.random.default_rng([seed, 1]).uniform(-1, 1, size)
    network = NonlinearNetwork(linear.A, mask, input_scale=input_scale)
    return Scenario(f"tanh {size}, input ×{input_scale:g}", network, reference=reference)


def recording(
    size: int = 12, rows: int = 600, deviation: float = 0.05, seed: int = 1
) -> tuple[Floats, Floats]:
    ((X, z),) = noisy_orthogonal(size, seed, deviation).draws(seed, 1, rows)
    return X, z


def noisy_gaussian(size: int, seed: int, deviation: float = 1e-2) -> Scenario:
    network = ensembles.normal(size, seed=seed)
    return Scenario(f"Gaussian {size}, noise {deviation:g}", network, deviation, noisy(deviation))


def leaky(size: int, seed: int, leak: float = 0.5, deviation: float = 1e-2) -> Scenario:
    """Eigenvalues close to one: a slow network."""
    linear = ensembles.normal(size, seed=seed)
    network = LinearNetwork((1 - leak) * np.eye(size) + leak * linear.A, leak * linear.C)
    return Scenario(f"leaky {size}, noise {deviation:g}", network, deviation, noisy(deviation))


def scenarios() -> list[Scenario]:
    orthogonal = strong(ensembles.orthogonal(100, seed=1))
    return [
        Scenario("orthogonal 100", orthogonal, reference=0.0),
        noisy_orthogonal(100, seed=1),
        Scenario(
            "orthogonal 100, 12 bits", orthogonal, CONVERTER, converted(CONVERTER), reference=0.26
        ),
        Scenario("Gaussian 50, at its floor", unit_states(ensembles.normal(50, seed=1)), 1e-12),
        Scenario("delay line 50", ensembles.delay_line(50)),
        tanh(100, 1, 0.1),
        tanh(100, 1, 0.5, reference=0.44),
        tanh(100, 1, 2.0, reference=0.28),
    ]


def estimates(
    scenario: Scenario, seed: int, count: int, rows: int, **options: Any
) -> list[MemoryCurve]:
    return [
        memory_from_data(X, z, scenario.lags, checks=False, **options)
        for X, z in scenario.draws(seed, count, rows)
    ]


#: Laws of independent inputs.
INPUTS: dict[str, Callable[[np.random.Generator, Any], Floats]] = {
    "white": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape),
    "t3": lambda rng, shape: rng.standard_t(3, shape),
    "t5": lambda rng, shape: rng.standard_t(5, shape),
    "spikes in 2 %": lambda rng, shape: (rng.random(shape) < 0.02).astype(float),
    "Rademacher": lambda rng, shape: rng.choice([-1.0, 1.0], shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "lognormal": lambda rng, shape: rng.lognormal(size=shape),
    "four levels": lambda rng, shape: rng.integers(0, 4, shape).astype(float),
    "spikes of any size": lambda rng, shape: (
        (rng.random(shape) < 0.05) * rng.standard_normal(shape)
    ),
}
#: Laws of an input, by the polynomials that are orthonormal under them.
LAWS: dict[str, Callable[[np.random.Generator, Any], Floats]] = {
    "legendre": lambda rng, shape: rng.uniform(-2, 1, shape),
    "hermite": lambda rng, shape: 3 + 2 * rng.standard_normal(shape),
    "empirical": lambda rng, shape: rng.exponential(1, shape),
}


def series(law: str = "legendre", count: int = 3000, seed: int = 0) -> Floats:
    return LAWS[law](np.random.default_rng(seed), count)


def lagged(p: Floats, lag: int) -> Floats:
    return np.roll(p, lag)  # the first rows, which wrap around, are left out with the longest lag
