"""The simple cycle: a formula for its memory."""

from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, differences

CASES = ((10, 0.5), (10, 0.9), (50, 0.9), (50, 0.99), (200, 0.999))


def study(seed: int) -> Study:
    """N − (1 − r^2N) beside the exact memory from lag 1 on."""
    points = []
    for size, weight in CASES:
        curve = memory_curve(ensembles.cyclic(size, spectral_radius=weight))[1:]
        formula = size - (1 - weight ** (2 * size))
        label = f"N = {size}, weight {weight:g}"
        points.append(Point(label, formula, curve.total, curve.total_error))
    return points, differences(points)


def judge(numbers: Numbers) -> Verdict:
    """Right where the formula and the exact totals differ by rounding."""
    if numbers["largest_difference"] > max(1e-9, 2 * numbers["largest_error"]):
        return Verdict("an artefact", "differ")
    return Verdict("right", "agree")
