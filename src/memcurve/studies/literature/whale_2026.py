"""Can the worm's memory be raised seventeen-fold by other weights?"""

from itertools import product

import numpy as np

from memcurve.core.types import Floats
from memcurve.data import correlations
from memcurve.io.adapters.graphs import cect_dataset, cect_wiring
from memcurve.memory import memory_curve, rank
from memcurve.network import LinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

PUBLISHED = {"own": 1.39, "random": 2.13}  # with biological weights, and with random ones (table)
OPTIMISED = 23.91  # what they report for their best weights
RADIUS = 0.97  # as theirs, like all that follows down to RIDGE
LAGS = 50  # over which r² is summed
WASHOUT = 200  # steps
TRAINED = 1400  # steps
TESTED = 600  # steps
RIDGE = 1.0  # on the normal matrix
NOISE = float(np.sqrt(3 * RIDGE / TRAINED))  # acts like the ridge, for input of unit variance
#: Beginnings of the names of sensory neurons that they drive, equally; they read the others.
DRIVEN = (
    "ALM", "AVM", "PLM", "PVM", "ASE", "ASG", "ASH", "ASI", "ASJ", "ASK", "AWA", "AWB", "AWC",
    "AFD", "ADF", "ADL",
)  # fmt: skip
DRAWS = 5


def study(seed: int) -> Study:
    """The worm's own weights and positive random ones, on its wiring and on the reversed one."""
    data = cect_dataset("VarshneyDataReader", "this study")
    wiring, cells, _ = cect_wiring(data, {"Generic_GJ": 0})  # chemical synapses alone
    driven = np.array([cell.startswith(DRIVEN) for cell in cells])
    rng, read = np.random.default_rng(seed), np.flatnonzero(~driven)
    points, ranks, numbers = [], list[int](), {"read": float(len(read)), "noise": NOISE}
    for way, kind in product(("listed", "reversed"), PUBLISHED):
        own = wiring.toarray() if way == "listed" else wiring.toarray().T
        rows = []
        for _ in range(DRAWS):
            weights = own if kind == "own" else np.where(own, rng.uniform(0, 1, own.shape), 0.0)
            A = scale_to_spectral_radius(weights, RADIUS)
            network = LinearNetwork(A, driven / driven.sum(), readout=read)
            usable = memory_curve(network, LAGS + 1, noise=NOISE)[1:].total
            rows.append((_score(network, rng), usable))
            ranks.append(rank(network))
        score, usable = np.mean(rows, axis=0).tolist()
        label = f"{kind} weights, connections {way}"
        points.append(Point(f"{label}: recomputed", score, usable))
        if way == "reversed":
            points.append(Point(f"{label}: published", PUBLISHED[kind], usable))
        numbers |= {f"score_{kind}_{way}": score, f"usable_{kind}_{way}": usable}
    return points, numbers | {"own_rank": float(ranks[0]), "highest_rank": float(max(ranks))}


def _score(network: LinearNetwork, rng: np.random.Generator) -> float:
    """Their protocol: tanh units, a ridge, test r² from lag 1 on."""
    z = rng.uniform(-1, 1, LAGS + WASHOUT + TRAINED + TESTED)
    x, states = np.zeros(network.size), []
    for now in z[LAGS:]:
        x = np.tanh(network.A @ x + network.C * now)
        states.append(x[network.readout])
    X = np.array(states[WASHOUT:])
    past: Floats = np.lib.stride_tricks.sliding_window_view(z[WASHOUT:-1], LAGS)[:, ::-1]
    X, past = X - X[:TRAINED].mean(axis=0), past - past[:TRAINED].mean(axis=0)
    train = X[:TRAINED]
    readout = np.linalg.solve(
        train.T @ train + RIDGE * np.eye(X.shape[1]), train.T @ past[:TRAINED]
    )
    return float((correlations(X[TRAINED:] @ readout, past[TRAINED:]) ** 2).sum())


def judge(numbers: Numbers) -> Verdict:
    """Whether weights change the total, or else usable memory, and whose is ahead."""
    if numbers["highest_rank"] / numbers["own_rank"] >= OPTIMISED / PUBLISHED["own"] / 2:
        return Verdict("right", "totals")
    ahead = numbers["usable_own_listed"] > 1.1 * numbers["usable_random_listed"]
    return Verdict("right in another sense" if ahead else "an artefact", "totals", "weights")
