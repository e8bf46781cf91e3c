"""Do S4 and S4D start with the same memory?"""

import numpy as np

from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.network.continuous import ContinuousNetwork, hippo
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 32  # states of a channel
STEP = 0.01  # Δt, the geometric middle of S4's 0.001 … 0.1
LAGS = 1000  # at which curves are compared, ten times 1/STEP
NOISE = 1e-6  # about that of single precision


def study(seed: int) -> Study:
    """HiPPO-LegS as S4 starts, its eigenvalues alone, and its normal part as S4D starts."""
    legs = hippo("legs", SIZE)
    low_rank = np.sqrt(np.arange(SIZE) + 0.5)
    normal = legs.A + np.outer(low_rank, low_rank)  # eigenvalues −1/2 ± iω instead of −1 … −N
    s4 = legs.discretised(STEP, "bilinear")
    s4d = ContinuousNetwork(normal, legs.C).discretised(STEP, "bilinear")
    diagonal = LinearNetwork(np.diag(np.diag(s4.A)), np.ones(SIZE))
    curves = [memory_curve(network, LAGS) for network in (s4, s4d, diagonal)]
    usable = [memory_curve(network, noise=NOISE).total for network in (s4, s4d, diagonal)]
    points = tuple(
        Point(f"MC at lag {lag}: S4D beside S4", float(curves[1][lag]), float(curves[0][lag]))
        for lag in (0, 10, 50, 100)
    )
    numbers = {
        "same_spectrum": float(np.abs(curves[0].values - curves[2].values).max()),
        "starts": float(np.abs(curves[0].values - curves[1].values).max()),
        "s4_usable": usable[0],
        "diagonal_usable": usable[2],
    }
    for name, curve in zip(("s4", "s4d"), curves, strict=False):
        numbers |= {f"{name}_total": curve.total, f"{name}_horizon": curve.horizon(0.1) or 0}
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether equal eigenvalues give equal curves, and whether the starts have these."""
    if numbers["same_spectrum"] > 1e-6:
        return Verdict("an artefact", "spectrum")
    if numbers["starts"] > 0.01:
        return Verdict("right in another sense", "spectrum", "starts", noise=NOISE)
    return Verdict("right", "spectrum")
