"""Orthogonal networks remember in proportion to their size, also under noise; others do not."""

import numpy as np

from memcurve.inputs.noise import StateNoise
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, ensembles, masks
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZES = (25, 50, 100, 200)
NOISE = 0.1


def study(seed: int) -> Study:
    """Memory under process noise; of orthogonal networks beside what is claimed."""
    totals: dict[str, list[float]] = {"orthogonal": [], "normal": []}
    points = []
    for size in SIZES:
        # of the same total power for every size
        noise = StateNoise(NOISE / np.sqrt(size))
        for kind, values in totals.items():
            network = getattr(ensembles, kind)(size, spectral_radius=1 - 0.5 / size, seed=seed)
            network = LinearNetwork(network.A, masks.normal(size, seed=seed + 1))
            values.append(memory_curve(network, noise=noise).total)
        # then: in proportion to the smallest, which is said of orthogonal networks alone
        values = totals["orthogonal"]
        in_proportion = values[0] * size / SIZES[0]
        points.append(Point(f"orthogonal, N = {size}", in_proportion, values[-1]))
    growth = np.log(SIZES[-1] / SIZES[0])
    exponents = {
        f"{kind}_exponent": float(np.log(values[-1] / values[0]) / growth)
        for kind, values in totals.items()
    }
    return points, exponents | {"ratio": totals["orthogonal"][-1] / totals["normal"][-1]}


def judge(numbers: Numbers) -> Verdict:
    """Right if memory grows nearly as N where the network is orthogonal, and slower elsewhere."""
    orthogonal, normal = numbers["orthogonal_exponent"], numbers["normal_exponent"]
    right = orthogonal > 0.8 and normal < orthogonal - 0.1
    return Verdict("right" if right else "an artefact", "growth", size=SIZES[-1])
