"""How well can a linear network of few nodes recall one input far back?"""

import numpy as np

from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZES = (4, 16)  # S, few and some
FACTORS = (2, 4, 8, 16)  # K/S, above 1, where their bound holds


def study(seed: int) -> Study:
    """The bound S/(K + 1), and the best memory of lag K among rings of S nodes."""
    from scipy.optimize import minimize_scalar

    points = []
    for size, lag in [(size, factor * size) for size in SIZES for factor in FACTORS]:

        def lost(log_rate: float, size: int = size, lag: int = lag) -> float:
            ring = ensembles.cyclic(size, spectral_radius=np.exp(-np.exp(log_rate)))
            return -float(memory_curve(ring, lag + 1)[lag])

        best = minimize_scalar(lost, bounds=(np.log(0.05 / lag), 0.0), method="bounded")
        label = f"S = {size}, K = {lag}: MC_K at most"
        points.append(Point(label, size / (lag + 1), -float(best.fun)))
    ratios = [point.true / point.then for point in points]
    return points, {"least_ratio": min(ratios), "largest_ratio": max(ratios)}


def judge(numbers: Numbers) -> Verdict:
    """Right where no ring passes the bound, and all come near it up to a constant."""
    if numbers["largest_ratio"] > 1 + 1e-9:
        return Verdict("an artefact", "passed")
    return Verdict("right" if numbers["least_ratio"] > 0.2 else "an artefact", "bound")
