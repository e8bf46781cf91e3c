"""The simple cycle: a formula for its memory."""

from __future__ import annotations

from memcurve.core.progress import Listener
from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.literature.claim import Evidence, Numbers, Point, PublishedClaim, Verdict

CASES = ((10, 0.5), (10, 0.9), (50, 0.9), (50, 0.99), (200, 0.999))


def study(seed: int, tell: Listener) -> Evidence:
    """N − (1 − r^2N) beside the exact memory from lag 1 on."""
    points = []
    for count, (size, weight) in enumerate(CASES):
        tell("rings", count, len(CASES))
        curve = memory_curve(ensembles.cyclic(size, spectral_radius=weight))[1:]
        formula = size - (1 - weight ** (2 * size))
        label = f"N = {size}, weight {weight:g}"
        points.append(Point(label, formula, curve.total, curve.total_error))
    return Evidence(
        tuple(points),
        {
            "largest_difference": max(abs(point.then - point.true) for point in points),
            "largest_error": max(point.error for point in points),
        },
    )


def judge(numbers: Numbers) -> Verdict:
    """Right where the formula and the exact totals differ by rounding."""
    off = numbers["largest_difference"]
    text = "N − (1 − r^2N) and the exact total over lags from 1 on "
    if off > max(1e-9, 2 * numbers["largest_error"]):
        return Verdict("an artefact", f"{text}differ by up to {off:.3g}.")
    text += "agree to rounding; lag 0 adds 1 − r^2N, which gives the total N."
    return Verdict("right", text)


CLAIM = PublishedClaim(
    name="rodan-2011",
    authors="Rodan and Tiňo",
    year=2011,
    title="Minimum complexity echo state network",
    source="IEEE Transactions on Neural Networks 22(1), 131",
    link="https://doi.org/10.1109/TNN.2010.2089641",
    statement="A linear ring of N nodes with weight r remembers N − (1 − r^2N) from lag 1 on.",
    measured="A theorem on linear rings, beside simulations of tanh ones.",
    study=study,
    judge=judge,
)
