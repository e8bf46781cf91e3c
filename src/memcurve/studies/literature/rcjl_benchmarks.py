"""The benchmarks of ReservoirComputing.jl as they are called without options."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from memcurve.core.progress import Listener
from memcurve.core.types import Floats
from memcurve.data import correlations
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, ensembles
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.literature.claim import Evidence, Numbers, Point, Verdict

SIZE, RADIUS, WEAK = 100, 0.9, 0.1
#: Of `ipc`: delays and degrees of products of Legendre polynomials, steps, ridge, rows trained on.
DELAYS, DEGREE, STEPS, RIDGE, TRAINED = 10, 3, 2000, 1.0, 0.8


def study(seed: int, tell: Listener) -> Evidence:
    """Both scores of a linear network whose capacities are known: all of them are of degree 1."""
    drawn = ensembles.normal(SIZE, spectral_radius=RADIUS, seed=seed)
    networks = {
        "random": drawn,
        f"random, input weights × {WEAK:g}": drawn.replace(C=WEAK * drawn.C),
        "ring": ensembles.cyclic(SIZE, spectral_radius=RADIUS),
    }
    points, protocol = [], PROTOCOLS["rcjl"](SIZE)
    for count, (name, network) in enumerate(networks.items()):
        tell("networks", count, len(networks) + 1)
        score = protocol.measure(network, np.random.default_rng(seed))
        exact = memory_curve(network, 2 * SIZE)[1:]
        points.append(Point(f"memory_capacity, {name}", float(score.sum()), exact.total))
    tell("ipc", len(networks), len(networks) + 1)
    linear, nonlinear = _ipc(drawn, np.random.default_rng(seed))
    points.append(Point("ipc of degree 2 and 3, random", nonlinear, 0.0))
    return Evidence(
        tuple(points),
        {
            "random": points[0].then,
            "weak": points[1].then,
            "ring": points[2].then,
            "total": points[0].true,
            "lags": protocol.last_lag,
            "listed": float(memory_curve(drawn, protocol.last_lag + 1)[1:].values.sum()),
            "ipc_linear": linear,
            "ipc_nonlinear": nonlinear,
        },
    )


def _ipc(network: LinearNetwork, rng: np.random.Generator) -> tuple[float, float]:
    """Sums of squared correlations of degree 1, and of higher ones, without a threshold."""
    z = rng.uniform(-1, 1, STEPS)
    x = network.simulate(z)[DELAYS:]
    past = np.stack([z[DELAYS - lag : STEPS - lag] for lag in range(1, DELAYS + 1)])
    polynomials = [np.polynomial.legendre.Legendre.basis(degree) for degree in range(DEGREE + 1)]
    split = int(TRAINED * len(x))
    capacity = {1: 0.0, 2: 0.0, 3: 0.0}
    normal_matrix = x[:split].T @ x[:split] + RIDGE * np.eye(network.size)
    for degree in capacity:
        products = combinations_with_replacement(range(DELAYS), degree)
        targets: Floats = np.stack(
            [
                np.prod([polynomials[lags.count(k)](past[k]) for k in set(lags)], axis=0)
                for lags in products
            ],
            axis=1,
        )
        readout = np.linalg.solve(normal_matrix, x[:split].T @ targets[:split])
        scores = correlations(x[split:] @ readout, targets[split:]) ** 2
        capacity[degree] = float(scores.sum())
    return capacity[1], capacity[2] + capacity[3]


def judge(numbers: Numbers) -> Verdict:
    """Whether the scores are the memory, that of the lags listed, or neither."""
    near = abs(numbers["random"] - numbers["total"]) < 0.05 * numbers["total"]
    if near and numbers["ipc_nonlinear"] < 0.05:
        return Verdict("right", "scores", size=SIZE)
    return Verdict("an artefact", "scores", "ipc", size=SIZE, weak_scale=WEAK)
