"""Orthogonal networks remember in proportion to their size, also under noise; others do not."""

from __future__ import annotations

import numpy as np

from memcurve.core.progress import Listener
from memcurve.inputs.noise import StateNoise
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, ensembles, masks
from memcurve.studies.literature.claim import Evidence, Numbers, Point, Verdict

SIZES = (25, 50, 100, 200)
NOISE = 0.1


def study(seed: int, tell: Listener) -> Evidence:
    """Memory under process noise; of orthogonal networks beside what is claimed."""
    totals: dict[str, list[float]] = {"orthogonal": [], "normal": []}
    points = []
    for count, size in enumerate(SIZES):
        tell("sizes", count, len(SIZES))
        # of the same total power for every size
        noise = StateNoise(NOISE / np.sqrt(size))
        for kind, found in totals.items():
            network = getattr(ensembles, kind)(size, spectral_radius=1 - 0.5 / size, seed=seed)
            network = LinearNetwork(network.A, masks.normal(size, seed=seed + 1))
            found.append(memory_curve(network, noise=noise).total)
        # then: in proportion to the smallest, which is said of orthogonal networks alone
        found = totals["orthogonal"]
        in_proportion = found[0] * size / SIZES[0]
        points.append(Point(f"orthogonal, N = {size}", in_proportion, found[-1]))
    growth = np.log(SIZES[-1] / SIZES[0])
    return Evidence(
        tuple(points),
        {
            f"{kind}_exponent": float(np.log(found[-1] / found[0]) / growth)
            for kind, found in totals.items()
        }
        | {"ratio": totals["orthogonal"][-1] / totals["normal"][-1]},
    )


def judge(numbers: Numbers) -> Verdict:
    """Right if memory grows nearly as N where the network is orthogonal, and slower elsewhere."""
    orthogonal, normal = numbers["orthogonal_exponent"], numbers["normal_exponent"]
    right = orthogonal > 0.8 and normal < orthogonal - 0.1
    return Verdict("right" if right else "an artefact", "growth", size=SIZES[-1])
