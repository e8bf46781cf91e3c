"""Directions of the states above the noise, read off the small model that stands for a network.

K = [C, AC, A²C, …] = UΣVᵀ. The reduced model (H, c) of a network has the Σ and V of all that stands
above the noise; rows of UΣ = KV for nodes of the network itself are sums of products with A.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from memcurve.core.arguments import require_number
from memcurve.core.errors import UncertainResultError, unstable
from memcurve.core.types import EPS, Floats
from memcurve.network import LinearNetwork
from memcurve.network.device import on_host
from memcurve.network.places import place_of
from memcurve.solve import (
    Filter,
    Problem,
    few_threads,
    filters_of,
    reduction_of,
    responses_to,
    solve_stein,
)

#: Lags end where all that follow are below this share of the noise. Doubled: fewer lags, and errors
#: of twice as much.
FADED = 1e-9
#: Numbers in the responses at most. Doubled: slower networks are answered, in twice the memory.
MOST_ENTRIES = 50_000_000
#: Directions below this share of the noise are left out: they hold its square. Doubled: four times
#: as much, 4e-10 of an input each.
SEEN = 1e-5
#: |δ Σσ²/(σ² + s²)| ≤ this · Σ|δσ|/s, the largest slope of x²/(x² + 1).
SLOPE = 3 * np.sqrt(3) / 8
#: Reduced models of dense networks that are off by more, as of weights in very different units, are
#: not used. Doubled: errors of twice as much.
UNSURE = 1e-6
#: Noise has squares that are numbers. Doubled: squares overflow.
LEAST_NOISE, MOST_NOISE = 1e-100, 1e100
#: Lags whose responses are multiplied at once. Doubled: as much memory more.
BLOCK = 32


class Directions(NamedTuple):
    """Singular values σ, largest first, and V (lags·d, k) of K above the noise of a ``level``.

    ``H``, ``c`` are the model that they were read off, ``U`` (m, k) its directions, ``reader`` maps
    its states to those that are read (None: all are, up to a rotation). ``left`` bounds what K is
    off by (Frobenius norm), ``error`` how far the memory of the model is off at any lag.
    """

    sigma: Floats
    V: Floats
    U: Floats
    H: Floats
    c: Floats
    reader: Floats | None
    level: float
    left: float
    error: float

    @property
    def shares(self) -> Floats:
        """σ²/(σ² + s²), which add up to the usable memory."""
        with np.errstate(over="ignore", divide="ignore"):  # of directions far below the noise
            return np.asarray(1 / (1 + (self.level / self.sigma) ** 2))

    def total_error(self, directions: int) -> float:
        """Bound on the error of a sum of so many shares of rows of K."""
        cut = len(self.sigma) * SEEN**2
        off = SLOPE * np.sqrt(max(directions, 1)) * self.left / self.level
        return float(off + cut + self.error * max(1.0, float(self.shares.sum())))

    def rows(self, network: LinearNetwork) -> Floats:
        """KV: all states of a network (states, k) in white coordinates, in units of these."""
        A, C = network.real_pair()
        A, d = on_host(A), self.c.shape[1]
        found, X = np.zeros((len(C), len(self.sigma))), C
        for start in range(0, len(self.V), BLOCK * d):
            weights, columns = self.V[start : start + BLOCK * d], []
            for _ in range(len(weights) // d):
                columns.append(X)
                X = np.asarray(A @ X)
            found += np.concatenate(columns, axis=1) @ weights
        return found


def noise_level(noise: Any) -> float:
    """The standard deviation of observation noise, above zero."""
    rule = "above 0, the standard deviation"
    level = require_number(noise, "noise", rule, lambda x: x > 0)
    if not LEAST_NOISE <= level <= MOST_NOISE:
        raise ValueError(
            f"`noise` must be from {LEAST_NOISE:g} to {MOST_NOISE:g}, got {level:g}; scale the "
            f"mask and the noise to units in which both are moderate."
        )
    return level


def directions_of(
    network: LinearNetwork, noise: Any, input: Any = None, *, seen: float = SEEN
) -> Directions:
    """The directions of a network above observation noise of one standard deviation.

    For coloured input V is that of the white noise behind it, K that of the states in it.
    """
    s = noise_level(noise)
    problem = Problem.of(network, noise=s, input=input)
    if not problem.is_driven:
        raise ValueError(
            "`network` must have an input that reaches what is read: its mask is zero, or leads "
            "elsewhere. Give another `C` or `readout`."
        )
    with np.errstate(all="ignore"), place_of(network.A).collective():
        H, c, reader, error = _model(problem)
        R, rest = faded_responses(H, c, FADED * s)
    filters = filters_of(problem.processes)
    R, rest = filtered(R, filters), rest * max(each.gain for each in filters)
    with few_threads(len(H)):
        K = R if reader is None else reader @ R
        U, sigma, Vt = np.linalg.svd(K, full_matrices=False)
    count = max(1, int(np.count_nonzero(sigma > seen * s)))
    passed = 1.0 if reader is None else float(np.linalg.norm(reader, 2))
    left = passed * rest + 8 * EPS * float(np.linalg.norm(K))
    return Directions(
        sigma[:count], np.ascontiguousarray(Vt[:count].T), U[:, :count], H, c, reader, s, left,
        error,
    )  # fmt: skip


def filtered(R: Floats, filters: tuple[Filter, ...]) -> Floats:
    """Weights (n, lags·d) of past inputs as those of the white noise behind them."""
    d = len(filters)
    parts = [each.applied(R[:, j::d].T) for j, each in enumerate(filters)]
    found = np.zeros((max(map(len, parts)), d, len(R)))
    for j, part in enumerate(parts):
        found[: len(part), j] = part
    return np.ascontiguousarray(found.reshape(-1, len(R)).T)


def _model(problem: Problem) -> tuple[Floats, Floats, Floats | None, float]:
    """The reduced model, or a dense network as it is where that is better known."""
    states = problem.states
    try:
        model = reduction_of(problem)
        if model[3] <= UNSURE or not isinstance(states.stored, np.ndarray):
            return model
    except UncertainResultError:
        if not isinstance(states.stored, np.ndarray):
            raise
    radius = float(np.abs(np.linalg.eigvals(states.stored)).max())
    if radius >= 1:
        raise unstable(radius)
    reader = None if problem.reads_all else np.eye(len(states))[problem.rows]
    return states.stored, states.mask, reader, 0.0


def faded_responses(H: Floats, c: Floats, enough: float) -> tuple[Floats, float]:
    """[c, Hc, …] to where the rest is small enough, and a bound on the rest."""
    gramian, d = solve_stein(H, c @ c.T), c.shape[1]
    lags, power = 1, H
    while True:
        later = float(np.sqrt(max(float(np.trace(power @ gramian @ power.T)), 0.0)))
        if later <= enough:
            return responses_to(H, c, lags), later
        if not np.isfinite(later) or 2 * lags * d * len(H) > MOST_ENTRIES:
            raise UncertainResultError(
                f"the states take more than {lags:,} lags to fade; ask for more "
                f"noise, or for a network further below spectral radius 1."
            )
        lags, power = 2 * lags, power @ power
