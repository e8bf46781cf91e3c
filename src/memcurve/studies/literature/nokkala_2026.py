"""Can linear dynamics add functions of one past input?"""

import numpy as np

from memcurve.state_affine import StateAffineNetwork, capacities
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 20  # states, and so the total
RADIUS = 0.9  # spectral
LAGS = 200  # after which 0.9^200 of an input is left
FEATURES = 2  # z and its square
SHOWN = (0, 1, 2, 5)  # delays in the table


def study(seed: int) -> Study:
    """Capacities of z and z² at every delay, of a linear network and of a bilinear one."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, SIZE, SIZE)) / np.sqrt(SIZE)
    A *= RADIUS / np.abs(np.linalg.eigvals(A)).max()
    masks = rng.standard_normal((FEATURES + 1, SIZE))
    points, numbers = list[Point](), dict[str, float]()
    for name, coupling in (("linear", 0.0), ("bilinear", 0.3)):
        result = capacities(StateAffineNetwork([A, coupling * B], masks), degree=3)
        letters = range(1, FEATURES + 1)
        alone = [sum(result.of((0,) * lag + (k,)) for k in letters) for lag in range(LAGS)]
        numbers |= {f"{name}_largest": max(alone), f"{name}_products": result.total - sum(alone)}
        points += [Point(f"{name}, delay {k}", FEATURES, alone[k], result.error) for k in SHOWN]
    return points, numbers | {"features": FEATURES, "total": SIZE}


def judge(numbers: Numbers) -> Verdict:
    """Whether a linear network stays below the number of features at every delay."""
    if numbers["linear_largest"] > numbers["features"] + 1e-9 or numbers["linear_products"] > 1e-6:
        return Verdict("an artefact", "bound")
    return Verdict("right", "bound", "products")
