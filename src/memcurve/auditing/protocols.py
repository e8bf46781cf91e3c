"""How other libraries measure memory: simulate, train a ridge readout, correlate on a test part.

A readout W = (XᵀX + αI)⁻¹XᵀY is trained on the first part of a simulation to recall the input τ
steps ago, for every lag at once; the score of a lag is the squared (or the absolute) correlation of
what it recalls with what was, on the rest. What is lost, and what is invented, follows from the
ridge α, which is a noise of variance α/T, from the number T of samples and from the largest lag.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Protocol:
    """A way to measure memory by a simulation.

    Attributes
    ----------
    name, about : str
        Whose way it is, and its settings in words.
    last_lag : int
        Lags 1 … last_lag are summed.
    samples : int
        Length of the input; its first ``last_lag`` steps only serve as the past of the rows.
    lead, warmup, tested : int
        Steps simulated before the first row; rows left out at the start, and tested on at the end.
    amplitude : float
        The input is uniform on ±amplitude.
    ridge : float
        α above.
    intercept : bool
        Whether the readout has a constant term.
    squared : bool
        r² if true, else |r|.
    """

    name: str
    about: str
    last_lag: int
    samples: int
    lead: int
    warmup: int
    tested: int
    amplitude: float
    ridge: float
    intercept: bool
    squared: bool

    def measure(self, network: LinearNetwork, rng: np.random.Generator) -> Floats:
        """Score of lags 1 … last_lag, summed over the inputs."""
        z = rng.uniform(-self.amplitude, self.amplitude, (self.samples, network.inputs))
        x = network.simulate(z[self.last_lag - self.lead :], washout=self.lead)
        if self.intercept:
            x = np.column_stack([np.ones(len(x)), x])
        scores = np.zeros(self.last_lag)
        split = len(x) - self.tested
        train, test = x[self.warmup : split], x[split:]
        normal_matrix = train.T @ train + self.ridge * np.eye(x.shape[1])
        for channel in z.T:
            past = np.lib.stride_tricks.sliding_window_view(channel, self.last_lag + 1)[:, -2::-1]
            readout = _solved(normal_matrix, train.T @ past[self.warmup : split])
            r = _correlations(test @ readout, past[split:])
            scores += r**2 if self.squared else np.abs(r)
        return scores


def _solved(normal_matrix: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(normal_matrix, right), dtype=float)
    except np.linalg.LinAlgError:  # exactly singular, e.g. a node that never moves
        return np.asarray(np.linalg.lstsq(normal_matrix, right, rcond=None)[0])


def _correlations(a: Floats, b: Floats) -> Floats:
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    scale = np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0))
    return np.asarray(np.where(scale > 0, (a * b).sum(axis=0) / np.where(scale > 0, scale, 1), 0))


def reservoirpy(states: int) -> Protocol:
    """``reservoirpy.observables.memory_capacity`` (0.4) as its documentation calls it.

    k_max = 2N, a series of 10·k_max steps, a fifth of them for the test, ``Ridge(ridge=1e-4)``.
    """
    k_max = 2 * states
    return Protocol(
        name="reservoirpy 0.4",
        about=f"memory_capacity, lags 1 … {k_max}, {10 * k_max} samples, ridge 1e-4, test r²",
        last_lag=k_max,
        samples=10 * k_max,
        lead=0,
        warmup=k_max,
        tested=2 * k_max,
        amplitude=0.8,
        ridge=1e-4,
        intercept=True,
        squared=True,
    )


def conn2res(states: int) -> Protocol:
    """The memory task of conn2res with its own readout, ``Ridge(alpha=0.5)``, and |r|.

    70 % of the rows are trained on; the scores are absolute correlations, as in its example.
    """
    k_max = 2 * states
    samples = 10 * k_max
    return Protocol(
        name="conn2res",
        about=f"memory task, lags 1 … {k_max}, {samples} samples, ridge 0.5, test |r|",
        last_lag=k_max,
        samples=samples,
        lead=k_max,
        warmup=0,
        tested=round(0.3 * (samples - k_max)),
        amplitude=1.0,
        ridge=0.5,
        intercept=False,
        squared=False,
    )


#: Protocols by name; each is a function of the number of states.
PROTOCOLS = {"reservoirpy": reservoirpy, "conn2res": conn2res}
