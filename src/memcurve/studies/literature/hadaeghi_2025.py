"""Do reciprocal connections cost memory?"""

import numpy as np

from memcurve.core.types import Floats
from memcurve.inputs.noise import StateNoise
from memcurve.memory import memory_curve, rank
from memcurve.network import LinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 64  # as theirs, like all that follows down to LAGS
EDGES = 6 * SIZE  # connections
RADIUS = 0.99  # spectral
INPUT_SCALE = 0.05  # input weights are uniform up to it
NOISE = 1e-5 / np.sqrt(12)  # uniform with a width of 1e-5, in the recursion
SAMPLES = 3000  # steps
WASHOUT = 100  # steps left out, also between training and test
TRAINED = 0.7  # share of the steps
LAGS = int(1.4 * SIZE)  # over which R² is summed
PUBLISHED = {0: 11.05, 50: 10.49, 100: 9.88}  # memory by percent of connections both ways
DRAWS = 10  # networks, over which means and their errors are taken


def _network(reciprocity: int, rng: np.random.Generator) -> LinearNetwork:
    """As many connections of weight 1 whatever share of them goes both ways."""
    both = reciprocity * EDGES // 200
    pairs = np.stack(np.triu_indices(SIZE, 1))
    pairs = pairs[:, rng.choice(pairs.shape[1], EDGES - both, replace=False)]
    turned = rng.random(pairs.shape[1]) < 0.5
    source, target = np.where(turned, pairs[::-1], pairs)
    A = np.zeros((SIZE, SIZE))
    A[target, source] = 1.0
    A[source[:both], target[:both]] = 1.0
    C = rng.uniform(-INPUT_SCALE, INPUT_SCALE, SIZE)
    return LinearNetwork(scale_to_spectral_radius(A, RADIUS), C)


def _simulated(network: LinearNetwork, rng: np.random.Generator) -> float:
    """Their protocol: tanh units under normal input, test R² from lag 1 on."""
    z = rng.standard_normal(SAMPLES)
    split = int(TRAINED * SAMPLES)
    noise = np.sqrt(12) * NOISE * (rng.random((SAMPLES, SIZE)) - 0.5)
    noise[split:] = 0  # it is there while the readout is trained
    states = np.zeros((SAMPLES, SIZE))
    for t in range(1, SAMPLES):
        states[t] = np.tanh(network.A @ states[t - 1] + network.C * z[t]) + noise[t]
    past: Floats = np.stack([np.roll(z, lag) for lag in range(1, LAGS + 1)], axis=1)
    train, test = slice(WASHOUT, split), slice(split + WASHOUT + 1, None)
    readout = np.linalg.lstsq(states[train], past[train], rcond=None)[0]
    missed = np.sum((past[test] - states[test] @ readout) ** 2, axis=0)
    r2 = 1 - missed / np.sum((past[test] - past[test].mean(axis=0)) ** 2, axis=0)
    return float(np.maximum(r2, 0).sum())


def study(seed: int) -> Study:
    """What was published, beside the exact total; their protocol and usable memory."""
    points, numbers = [], dict[str, float]()
    for share, published in PUBLISHED.items():
        rows = []
        for draw in range(DRAWS):
            rng = np.random.default_rng([seed, draw])
            network = _network(share, rng)
            usable = memory_curve(network, noise=StateNoise(NOISE))[1:].total
            rows.append((_simulated(network, rng), rank(network), usable))
        simulated, total, usable = np.mean(rows, axis=0).tolist()
        points.append(Point(f"{share} % reciprocal", published, total))
        numbers |= {f"simulated_{share}": simulated, f"total_{share}": total}
        numbers |= {f"usable_{share}": usable}
        numbers[f"error_{share}"] = float(np.std([row[2] for row in rows]) / np.sqrt(DRAWS))
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether totals fall with reciprocity, or usable memory does."""
    loss = numbers["usable_0"] - numbers["usable_100"]
    facts = {f"published_{share}": value for share, value in PUBLISHED.items()}
    facts |= {"noise": NOISE, "draws": DRAWS}
    if numbers["total_100"] < 0.95 * numbers["total_0"]:
        return Verdict("right", "totals", **facts)
    if loss > 2 * np.hypot(numbers["error_0"], numbers["error_100"]):
        return Verdict("right in another sense", "totals", "usable", **facts)
    return Verdict("an artefact", "totals", **facts)
