"""The benchmarks of ReservoirComputing.jl as they are called without options."""

from itertools import combinations_with_replacement

import numpy as np

from memcurve.data import correlations
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, ensembles
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 100  # nodes, many more than its 30 lags
RADIUS = 0.9  # spectral
WEAK = 0.1  # factor of the input weights, which changes no memory
DELAYS = 10  # of products of Legendre polynomials, the default of `ipc`, as is what follows
DEGREE = 3  # of these products
STEPS = 2000  # the user's choice
RIDGE = 1.0  # on the normal matrix
TRAINED = 0.8  # share of the rows


def study(seed: int) -> Study:
    """Both scores of a linear network whose capacities are known: all of them are of degree 1."""
    drawn = ensembles.normal(SIZE, spectral_radius=RADIUS, seed=seed)
    networks = {
        "random": drawn,
        f"random, input weights × {WEAK:g}": drawn.replace(C=WEAK * drawn.C),
        "ring": ensembles.cyclic(SIZE, spectral_radius=RADIUS),
    }
    points, protocol = [], PROTOCOLS["rcjl"](SIZE)
    for name, network in networks.items():
        score = protocol.measure(network, np.random.default_rng(seed))
        exact = memory_curve(network, 2 * SIZE)[1:]
        points.append(Point(f"memory_capacity, {name}", float(score.sum()), exact.total))
    nonlinear = _nonlinear_ipc(drawn, np.random.default_rng(seed))
    points.append(Point("ipc of degree 2 and 3, random", nonlinear, 0.0))
    return points, {
        "random": points[0].then,
        "weak": points[1].then,
        "ring": points[2].then,
        "total": points[0].true,
        "lags": protocol.last_lag,
        "listed": float(memory_curve(drawn, protocol.last_lag + 1)[1:].values.sum()),
        "ipc_nonlinear": nonlinear,
    }


def _nonlinear_ipc(network: LinearNetwork, rng: np.random.Generator) -> float:
    """Sum of squared correlations with products of degree 2 and above, without a threshold."""
    z = rng.uniform(-1, 1, STEPS)
    x = network.simulate(z)[DELAYS:]
    past = np.stack([z[DELAYS - lag : STEPS - lag] for lag in range(1, DELAYS + 1)])
    powers = [np.polynomial.legendre.Legendre.basis(degree)(past) for degree in range(DEGREE + 1)]
    targets = np.stack(
        [
            np.prod([powers[lags.count(k)][k] for k in set(lags)], axis=0)
            for degree in range(2, DEGREE + 1)
            for lags in combinations_with_replacement(range(DELAYS), degree)
        ],
        axis=1,
    )
    split = int(TRAINED * len(x))
    normal_matrix = x[:split].T @ x[:split] + RIDGE * np.eye(network.size)
    readout = np.linalg.solve(normal_matrix, x[:split].T @ targets[:split])
    return float((correlations(x[split:] @ readout, targets[split:]) ** 2).sum())


def judge(numbers: Numbers) -> Verdict:
    """Whether the scores are the memory, that of the lags listed, or neither."""
    near = abs(numbers["random"] - numbers["total"]) < 0.05 * numbers["total"]
    if near and numbers["ipc_nonlinear"] < 0.05:
        return Verdict("right", "scores", size=SIZE)
    return Verdict("an artefact", "scores", "ipc", size=SIZE, weak_scale=WEAK)
