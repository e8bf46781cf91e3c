"""Do eigenvalues of large modulus make for more memory?"""

import numpy as np
from scipy.linalg import block_diag

from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, masks
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 60  # of each network; an even number, for conjugate pairs
RADIUS = 0.95  # of the spectrum, below 1 for stability
NOISE = 1e-3  # under which memory is usable
POWERS = (2.0, 1.0, 0.5, 0.25, 0.1, 0.0)  # |λ| = RADIUS·u^power, u uniform: from disc to edge
DRAWS = 5  # networks for each power, for a rank correlation over 30


def _network(power: float, rng: np.random.Generator) -> LinearNetwork:
    """A normal matrix with conjugate pairs of these moduli, in a random basis."""
    moduli = RADIUS * rng.uniform(size=SIZE // 2) ** power
    moduli[0] = RADIUS
    angles = rng.uniform(0, np.pi, SIZE // 2)
    real, imag = moduli * np.cos(angles), moduli * np.sin(angles)
    A = block_diag(*np.array([[real, -imag], [imag, real]]).transpose(2, 0, 1))
    Q = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
    return LinearNetwork(Q @ A @ Q.T, masks.normal(SIZE, seed=rng))


def study(seed: int) -> Study:
    """Mean modulus, exact total, and usable memory."""
    from scipy.stats import spearmanr

    rng, rows, points = np.random.default_rng(seed), [], []
    for power in POWERS:
        for draw in range(DRAWS):
            network = _network(power, rng)
            modulus = float(np.abs(np.linalg.eigvals(network.A)).mean())
            exact = memory_curve(network)
            usable = memory_curve(network, noise=NOISE).total
            rows.append((modulus, exact.total, usable))
            if not draw:
                label = f"mean |λ| = {modulus:.2f}"
                points.append(Point(label, usable, exact.total, exact.total_error))
    moduli, totals, usables = np.array(rows).T
    return points, {
        "least_total": float(totals.min()),
        "largest_total": float(totals.max()),
        "usable_correlation": float(spearmanr(moduli, usables).statistic),
        "least_usable": float(usables.min()),
        "largest_usable": float(usables.max()),
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether the exact total changes with the spectrum, or only usable memory."""
    low, high = numbers["least_total"], numbers["largest_total"]
    if high - low > 0.01 * high:
        return Verdict("right", "differs")
    grows = numbers["usable_correlation"] > 0.7
    return Verdict("right in another sense" if grows else "an artefact", "same", noise=NOISE)
