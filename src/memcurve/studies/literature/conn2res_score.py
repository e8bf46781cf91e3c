"""The score of conn2res: a sum of correlations, not of their squares."""

import numpy as np

from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZES = (10, 20, 40)


def study(seed: int) -> Study:
    """The protocol on rings and random networks, beside the exact memory from lag 1 on."""
    points = []
    for size in SIZES:
        ring = ensembles.cyclic(size, spectral_radius=0.9)
        drawn = ensembles.normal(size, spectral_radius=0.9, seed=seed)
        for name, network in (("ring", ring), ("random", drawn)):
            scores = PROTOCOLS["conn2res"](size).measure(network, np.random.default_rng(seed))
            exact = memory_curve(network, 2 * size + 1)[1:]
            points.append(Point(f"{name}, N = {size}", float(scores.sum()), exact.total))
    rings = [point for point in points if point.label.startswith("ring")]
    return points, {
        "least_excess": min(point.then - point.true for point in rings),
        "largest_excess": max(point.then - point.true for point in rings),
        "largest_loss": max(point.true - point.then for point in points),
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether scores and exact totals differ by more than a tenth of a lag."""
    loss = numbers["largest_loss"]
    if max(abs(numbers["least_excess"]), abs(numbers["largest_excess"]), loss) < 0.1:
        return Verdict("right", "agree")
    return Verdict("an artefact", "off", *["hidden"] * (loss > 0.1))
