"""Memory of a linear network is the rank of its controllability matrix."""

import numpy as np

from memcurve.memory import memory_curve, rank
from memcurve.network import LinearNetwork, ensembles
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, differences

SIZE = 40


def study(seed: int) -> Study:
    """Rank modulo primes beside the sum of the exact curve, for networks that lose some."""
    blocks = np.kron(np.eye(2), ensembles.normal(SIZE // 2, spectral_radius=0.9, seed=seed).A)
    ring = ensembles.cyclic(SIZE, spectral_radius=0.9)
    networks = {
        "random": ensembles.normal(SIZE, spectral_radius=0.9, seed=seed),
        "two copies of one network": LinearNetwork(blocks, np.ones(SIZE)),
        "ring, driven evenly": ring.replace(C=np.ones(SIZE)),
        "ring, every second node": ring.replace(C=np.tile([1.0, 0.0], SIZE // 2)),
    }
    points = []
    for name, network in networks.items():
        curve = memory_curve(network, 2000)
        points.append(
            Point(name, rank(network), float(curve.values.sum()), float(curve.error.sum()))
        )
    return points, differences(points)


def judge(numbers: Numbers) -> Verdict:
    """Right where ranks and sums agree for networks of different ranks."""
    right = numbers["largest_difference"] < 1e-6
    right = right and numbers["largest_then"] > numbers["least_then"]
    return Verdict("right" if right else "an artefact", "ranks")
