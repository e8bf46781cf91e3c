"""The rank of the controllability matrix, and what double precision makes of it."""

import numpy as np

from memcurve.inputs.noise import Float64
from memcurve.memory import memory_curve, rank
from memcurve.network import ensembles
from memcurve.network.krylov import krylov_matrix
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 100


def study(seed: int) -> Study:
    """Rank as ``numpy.linalg.matrix_rank`` finds it, beside the exact one and usable memory."""
    networks = {
        "random": ensembles.normal(SIZE, spectral_radius=0.95, seed=seed),
        "symmetric": ensembles.symmetric(SIZE, spectral_radius=0.95, seed=seed),
        "ring": ensembles.cyclic(SIZE, spectral_radius=0.95),
    }
    points, numbers = [], dict[str, float]()
    for name, network in networks.items():
        numerical = int(np.linalg.matrix_rank(krylov_matrix(network.A, network.C, SIZE)))
        points.append(Point(name, numerical, rank(network)))
        usable = memory_curve(network, noise=Float64()).total
        numbers |= {f"{name}_seen": numerical, f"{name}_rank": points[-1].true}
        numbers[f"{name}_usable"] = usable
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether the ranks differ as double precision sees them, and what these are close to."""
    kinds = ("random", "symmetric", "ring")
    numerical, true, usable = (
        [numbers[f"{kind}_{what}"] for kind in kinds] for what in ("seen", "rank", "usable")
    )
    if numerical == true:
        return Verdict("right", "ranks")
    off = max(abs(a - b) / max(b, 1) for a, b in zip(numerical, usable, strict=True))
    if off < 0.5:
        return Verdict("right in another sense", "ranks", "usable")
    return Verdict("an artefact", "ranks")
