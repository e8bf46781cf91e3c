"""Do Jordan blocks lengthen memory?"""

import numpy as np

from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 32  # states, whatever the blocks
RADIUS = 0.9  # spectral
LAGS = 600  # after which k^7·0.9^k is below 1e-7
NOISE = 0.1  # strong enough that not all of 32 are usable
BLOCKS = (1, 2, 4, 8)  # sizes of the Jordan blocks of each pair of eigenvalues
LEFT = 0.1  # of the response and of the curve where memory is taken to end


def _network(block: int) -> LinearNetwork:
    """Pairs of eigenvalues on the circle, each in a real Jordan block that the input enters."""
    pairs = SIZE // (2 * block)
    A, C = np.zeros((SIZE, SIZE)), np.zeros(SIZE)
    for pair, angle in enumerate(np.pi * (np.arange(pairs) + 0.5) / pairs):
        first = 2 * block * pair
        c, s = RADIUS * np.cos(angle), RADIUS * np.sin(angle)
        part = np.kron(np.eye(block), [[c, -s], [s, c]]) + np.eye(2 * block, k=-2)
        A[first : first + 2 * block, first : first + 2 * block] = part
        C[first] = 1 / np.sqrt(pairs)
    return LinearNetwork(A, C)


def study(seed: int) -> Study:
    """How long the response lasts, and how far memory reaches."""
    points, numbers = [], dict[str, float]()
    for block in BLOCKS:
        network = _network(block)
        curve = memory_curve(network, LAGS)
        response, x = np.empty(LAGS), network.C
        for lag in range(LAGS):
            response[lag], x = np.linalg.norm(x), network.A @ x
        lasts = np.flatnonzero(response >= LEFT * response.max())[-1] + 1
        reach, half = curve.horizon(LEFT) or 0, curve.horizon(0.5) or 0
        points.append(Point(f"blocks of {block}: lags", float(lasts), reach))
        usable = memory_curve(network, noise=NOISE).total
        numbers |= {f"total_{block}": curve.total, f"usable_{block}": usable}
        numbers |= {f"reach_{block}": reach, f"half_{block}": half}
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether memory reaches further, and whether there is more of it."""
    large = BLOCKS[-1]
    if numbers[f"reach_{large}"] <= numbers["reach_1"]:
        return Verdict("an artefact", "reach", noise=NOISE)
    more = numbers[f"total_{large}"] > 1.01 * numbers["total_1"]
    return Verdict("right" if more else "right in another sense", "reach", noise=NOISE)
