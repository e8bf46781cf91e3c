"""Scores of brain networks by BRAPH: correlations in sample, summed over fifty lags."""

from itertools import product

import numpy as np

from memcurve.core.types import Floats
from memcurve.data.measuring import measure
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.network.scaling import scale_to_spectral_norm
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, differences

REGIONS = 90  # nodes, as many as regions of a usual atlas
DENSITY = 0.4  # of the connections before any is lost
LOST = (0.0, 0.3, 0.6, 0.9)  # shares of the connections lost, which stand for age
DRAWS = 5  # networks that lose them, for a rank correlation over 20
TRIALS = 3  # input weights of each network, whose scores are averaged; theirs are ten


def brain(lost: float, seed: int) -> Floats:
    """Symmetric log-normal weights of largest singular value 1, some of them lost."""
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.lognormal(size=(REGIONS, REGIONS)), 1)
    draw = np.triu(rng.random((REGIONS, REGIONS)), 1)
    A = np.where(draw > 1 - DENSITY * (1 - lost), weights, 0.0)
    scaled: Floats = scale_to_spectral_norm(A + A.T, 1.0)
    return scaled


def unit_interval(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Uniform on [0, 1]."""
    return rng.uniform(0, 1, shape)


def study(seed: int) -> Study:
    """The protocol on networks that lose connections, beside measured memory over its lags."""
    from scipy.stats import spearmanr

    protocol = PROTOCOLS["braph"](REGIONS)
    points = []
    for draw, lost in product(range(DRAWS), LOST):
        A, rows = brain(lost, seed + draw), []
        for trial in range(TRIALS):
            rng = np.random.default_rng([seed, draw, trial])
            C = rng.standard_normal(REGIONS)
            network = NonlinearNetwork(A, C / np.linalg.norm(C))
            curve = measure(
                network, protocol.last_lag + 1, precision=0.5, input=unit_interval, seed=seed,
                steps=40_000, progress=False,
            )[1:]  # fmt: skip
            score = protocol.measure(network, rng).sum()
            rows.append((score, curve.total, curve.total_error))
        label = f"network {draw + 1}, {lost:.0%} of the connections lost"
        points.append(Point(label, *np.mean(rows, axis=0).tolist()))
    scores, true = ([getattr(p, name) for p in points] for name in ("then", "true"))
    return points, differences(points) | {
        "networks": len(points),
        "chance": protocol.last_lag * float(np.sqrt(REGIONS / protocol.rows)),
        "order": float(spearmanr(scores, true).statistic),
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether scores are memories, or at least order networks as their memories do."""
    if numbers["largest_difference"] < 2 * numbers["largest_error"]:
        return Verdict("right", "scores")
    # a rank correlation by chance has a standard deviation of 1 / √(n − 1)
    if numbers["order"] > 2.6 / np.sqrt(numbers["networks"] - 1):
        return Verdict("right in another sense", "scores", "order")
    return Verdict("an artefact", "scores", "disorder")
