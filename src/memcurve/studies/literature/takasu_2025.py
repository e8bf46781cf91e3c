"""Memory against the number of nodes that are read."""

import numpy as np

from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE, RADIUS, NOISE = 200, 0.9, 1e-3
READ = (5, 10, 20, 50, 100, 200)


def study(seed: int) -> Study:
    """Usable memory, and the exact total, of the first nodes of a random network."""
    network = ensembles.normal(SIZE, spectral_radius=RADIUS, seed=seed)
    points = []
    for read in READ:
        part = network.replace(readout=range(read))
        exact = memory_curve(part)
        usable = memory_curve(part, noise=NOISE).total
        points.append(Point(f"{read} of {SIZE} nodes read", usable, exact.total, exact.total_error))
    logs = np.log(READ)
    slopes = {
        name: np.diff(np.log([getattr(p, which) for p in points])) / np.diff(logs)
        for name, which in (("usable", "then"), ("exact", "true"))
    }
    return points, {
        "exact_slope": float(slopes["exact"].min()),
        "first_slope": float(slopes["usable"][0]),
        "last_slope": float(slopes["usable"][-1]),
        "first": points[0].then,
        "last": points[-1].then,
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether the exact total grows more slowly than the readouts, or only usable memory does."""
    if numbers["exact_slope"] < 0.9:
        return Verdict("right", "growth", noise=NOISE)
    sublinear = numbers["last_slope"] < 0.5
    return Verdict("right in another sense" if sublinear else "an artefact", "growth", noise=NOISE)
