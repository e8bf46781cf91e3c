"""Do reciprocal connections cost memory?"""

from __future__ import annotations

import numpy as np

from memcurve.data import memory_from_data
from memcurve.memory import memory_curve, rank
from memcurve.network import LinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE, EDGES, RADIUS, NOISE = 64, 320, 0.99, 1e-5
SAMPLES, WASHOUT, LAGS = 3000, 500, 128
#: Percent of the edges that go both ways.
RECIPROCITY, DRAWS = (0, 50, 100), 5


def _network(reciprocity: int, rng: np.random.Generator) -> LinearNetwork:
    """As many edges whatever share of them goes both ways, with positive weights."""
    both = reciprocity * EDGES // 200
    pairs = np.stack(np.triu_indices(SIZE, 1))
    pairs = pairs[:, rng.choice(pairs.shape[1], EDGES - both, replace=False)]
    turned = rng.random(pairs.shape[1]) < 0.5
    source, target = np.where(turned, pairs[::-1], pairs)
    A = np.zeros((SIZE, SIZE))
    A[target, source] = rng.uniform(size=len(source))
    A[source[:both], target[:both]] = A[target[:both], source[:both]]
    return LinearNetwork(scale_to_spectral_radius(A, RADIUS), rng.uniform(-1, 1, SIZE))


def study(seed: int) -> Study:
    """Simulated memory, exact total and usable memory against reciprocity."""
    points, numbers = [], dict[str, float]()
    for share in RECIPROCITY:
        rows = []
        for draw in range(DRAWS):
            rng = np.random.default_rng([seed, draw])
            network = _network(share, rng)
            z = rng.uniform(-1, 1, SAMPLES + WASHOUT)
            states = network.simulate(z) + NOISE * rng.standard_normal((len(z), SIZE))
            simulated = memory_from_data(
                states, z, LAGS, washout=WASHOUT, checks=False, estimator="split"
            ).total
            rows.append((simulated, rank(network), memory_curve(network, noise=NOISE).total))
        simulated, total, usable = np.mean(rows, axis=0).tolist()
        points.append(Point(f"{share} % reciprocal", simulated, total))
        numbers |= {f"total_{share}": total, f"usable_{share}": usable}
        numbers[f"error_{share}"] = float(np.std([row[2] for row in rows]) / np.sqrt(DRAWS))
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether totals fall with reciprocity, or usable memory does."""
    if numbers["total_100"] < 0.95 * numbers["total_0"]:
        return Verdict("right", "totals", noise=NOISE, draws=DRAWS)
    loss = numbers["usable_0"] - numbers["usable_100"]
    falls = loss > 2 * np.hypot(numbers["error_0"], numbers["error_100"])
    return Verdict(
        "right in another sense" if falls else "an artefact", "totals", noise=NOISE, draws=DRAWS
    )
