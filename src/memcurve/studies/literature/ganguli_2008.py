"""Fisher memory: one for normal networks, up to N for others."""

from __future__ import annotations

import numpy as np

from memcurve.core.progress import Listener
from memcurve.memory import fisher_curve
from memcurve.network import LinearNetwork, ensembles, masks
from memcurve.studies.literature.claim import Evidence, Numbers, Point, Verdict

SIZE = 40
#: How much each link of the chain amplifies.
GAIN = 1.5


def study(seed: int, tell: Listener) -> Evidence:
    """Total Fisher memory of normal matrices, of a random one, and of an amplifying chain."""
    unit = masks.normal(SIZE, seed=seed)
    unit = unit / np.linalg.norm(unit)
    first = np.eye(SIZE)[0]
    normal = {
        "orthogonal": ensembles.orthogonal(SIZE, spectral_radius=0.9, seed=seed).A,
        "symmetric": ensembles.symmetric(SIZE, spectral_radius=0.9, seed=seed).A,
        "ring": ensembles.cyclic(SIZE, spectral_radius=0.9).A,
    }
    others = {"random": ensembles.normal(SIZE, spectral_radius=0.9, seed=seed).A}
    points, found = [], {}
    for count, (name, A) in enumerate((normal | others).items()):
        tell("networks", count, len(normal | others) + 1)
        curve = fisher_curve(LinearNetwork(A, unit))
        points.append(Point(name, 1.0 if name in normal else SIZE, curve.total, curve.total_error))
        found[name] = curve.total
    chain = fisher_curve(LinearNetwork(np.diag(np.full(SIZE - 1, GAIN), -1), first))
    points.append(Point(f"chain, gain {GAIN:g}", SIZE, chain.total, chain.total_error))
    return Evidence(
        tuple(points),
        {
            "farthest_from_one": max(abs(found[name] - 1) for name in normal),
            "random": found["random"],
            "chain": chain.total,
            "bound": SIZE,
        },
    )


def judge(numbers: Numbers) -> Verdict:
    """Right where normal networks have 1, none has more than N, and some much of it."""
    chain, bound = numbers["chain"], numbers["bound"]
    largest = max(chain, numbers["random"])
    right = numbers["farthest_from_one"] < 1e-6 and bound / 4 < chain and largest <= bound
    return Verdict("right" if right else "an artefact", "totals")
