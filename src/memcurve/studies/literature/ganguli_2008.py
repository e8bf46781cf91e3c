"""Fisher memory: one for normal networks, up to N for others."""

import numpy as np

from memcurve.memory import fisher_curve
from memcurve.network import LinearNetwork, ensembles, masks
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 40  # of each network
GAIN = 1.5  # of each link of the chain, above 1 for amplification
NORMAL = ("orthogonal", "symmetric", "ring")


def study(seed: int) -> Study:
    """Total Fisher memory of normal matrices, of a random one, and of an amplifying chain."""
    unit = masks.normal(SIZE, seed=seed)
    unit = unit / np.linalg.norm(unit)
    weights = {
        "orthogonal": ensembles.orthogonal(SIZE, spectral_radius=0.9, seed=seed).A,
        "symmetric": ensembles.symmetric(SIZE, spectral_radius=0.9, seed=seed).A,
        "ring": ensembles.cyclic(SIZE, spectral_radius=0.9).A,
        "random": ensembles.normal(SIZE, spectral_radius=0.9, seed=seed).A,
        "chain": np.diag(np.full(SIZE - 1, GAIN), -1),
    }
    points, totals = [], {}
    for name, A in weights.items():
        curve = fisher_curve(LinearNetwork(A, np.eye(SIZE)[0] if name == "chain" else unit))
        points.append(Point(name, 1.0 if name in NORMAL else SIZE, curve.total, curve.total_error))
        totals[name] = curve.total
    return points, {
        "farthest_from_one": max(abs(totals[name] - 1) for name in NORMAL),
        "random": totals["random"],
        "chain": totals["chain"],
        "bound": SIZE,
    }


def judge(numbers: Numbers) -> Verdict:
    """Right where normal networks have 1, none has more than N, and some much of it."""
    chain, bound = numbers["chain"], numbers["bound"]
    largest = max(chain, numbers["random"])
    right = numbers["farthest_from_one"] < 1e-6 and bound / 4 < chain and largest <= bound
    return Verdict("right" if right else "an artefact", "totals")
