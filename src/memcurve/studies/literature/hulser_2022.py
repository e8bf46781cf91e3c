"""Does total capacity say how well a task is done, and do single capacities?"""

import numpy as np

from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, differences
from memcurve.synthesis import task_error

SIZE = 50  # of each network, and so their total
KINDS = {"normal": 0.99, "symmetric": 0.9, "orthogonal": 0.9}  # spectral radius by ensemble
DELAY = 40  # a single lag, within the total
OTHERS = ("average:80", "ar:0.97")  # targets made of several lags


def study(seed: int) -> Study:
    """Errors of tasks, by weighted capacities and exactly, of networks alike in total."""
    points, totals = list[Point](), list[float]()
    for kind, radius in KINDS.items():
        network = getattr(ensembles, kind)(SIZE, spectral_radius=radius, seed=seed)
        totals.append(memory_curve(network).total)
        for target in (DELAY, *OTHERS):
            exact = task_error(network, target)
            task = f"delay {target}" if target == DELAY else f"{target}"
            points.append(Point(f"{kind}, {task}: NMSE", exact.weighted, exact.nmse, exact.error))
    single = [point for point in points if "delay" in point.label]
    several = [point for point in points if point not in single]
    return points, differences(single) | {
        "least_total": min(totals),
        "largest_total": max(totals),
        "largest_ratio": max(np.exp(abs(np.log(p.then / p.true))) for p in several),
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether errors differ at the same total, and whether capacities alone predict them."""
    same = numbers["largest_total"] - numbers["least_total"] < 1e-6
    if not same or numbers["largest_true"] < 2 * numbers["least_true"]:
        return Verdict("an artefact", "errors")
    exact = numbers["largest_difference"] < 1e-6 and numbers["largest_ratio"] < 1.05
    return Verdict("right" if exact else "right in another sense", "errors", "weighted")
