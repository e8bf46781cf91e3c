"""Memory is at most the number of nodes; simulations that exceed this bound."""

import numpy as np

from memcurve.data import memory_from_data
from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 50  # N, the bound
DRAWS = 8  # networks
LENGTHS = (300, 1000, 10_000)  # steps, from far too few to enough


def study(seed: int) -> Study:
    """R² of readouts on the rows they were fitted to, over 200 lags, beside the exact total."""
    networks = [ensembles.normal(SIZE, spectral_radius=0.9, seed=seed + k) for k in range(DRAWS)]
    exact = [memory_curve(network) for network in networks]
    points = []
    for length in LENGTHS:
        z = np.random.default_rng([seed, length]).uniform(-1, 1, length + 200)
        states = networks[0].simulate(z)
        lags = min(200, length // 2)
        simulated = memory_from_data(
            states, z, lags, washout=200, checks=False, estimator="in_sample"
        ).total
        label = f"N = {SIZE}, {length:,} steps"
        points.append(Point(label, simulated, exact[0].total, exact[0].total_error))
    return points, {
        "largest": max(curve.total for curve in exact),
        "least": min(curve.total for curve in exact),
        "bound": SIZE,
        "simulated": max(point.then for point in points),
    }


def judge(numbers: Numbers) -> Verdict:
    """Right as long as no exact total passes the bound; the least says whether it is reached."""
    if numbers["largest"] > numbers["bound"] + 1e-6:
        return Verdict("an artefact", "above")
    beyond = ["simulated"] * (numbers["simulated"] > numbers["bound"])
    return Verdict("right", "holds", *beyond, draws=DRAWS)
