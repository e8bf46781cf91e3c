"""Can the worm's memory be raised seventeen-fold by other weights?"""

from itertools import product

import numpy as np

from memcurve.core.types import Floats
from memcurve.io.adapters.graphs import cect_dataset, cect_wiring
from memcurve.memory import memory_curve, rank
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, measured

#: What was reported, with biological weights and with the best that were found.
BIOLOGICAL, OPTIMISED = 1.39, 23.91
RADIUS, NOISE, DRAWS = 0.9, 1e-3, 5
#: Of uniform input on [-1, 1] to tanh units: weak, usual, strong.
SCALES = (0.1, 1.0, 10.0)
#: Lags that are listed: under noise of ``NOISE`` nothing is left beyond.
LAGS = 200


def study(seed: int) -> Study:
    """The worm's own weights, and weights at random on the same wiring, linear and tanh."""
    wiring, cells, _ = cect_wiring(cect_dataset("VarshneyDataReader", "this study"))
    own, rng = wiring.toarray(), np.random.default_rng(seed)
    C = rng.uniform(-1, 1, len(cells))
    signed = [np.where(own, rng.uniform(-1, 1, own.shape), 0.0) for _ in range(DRAWS)]
    positive = [np.where(own, rng.uniform(0, 1, own.shape), 0.0) for _ in range(DRAWS)]
    mine = _linear(own, C)
    ranks = [rank(_linear(weights, C)) for weights in (*signed, *positive)]
    numbers: dict[str, float] = {
        "size": len(cells),
        "biological_rank": rank(mine),
        "highest_rank": max(ranks),
        "biological_usable": _usable(mine),
        "signed_usable": float(np.mean([_usable(_linear(one, C)) for one in signed])),
        "positive_usable": float(np.mean([_usable(_linear(one, C)) for one in positive])),
        "tanh_error": 0.0,
    }
    points = [
        Point("biological: total", BIOLOGICAL, numbers["biological_rank"]),
        Point(f"biological: usable (σ = {NOISE:g})", BIOLOGICAL, numbers["biological_usable"]),
        Point("best for random: total", OPTIMISED, numbers["highest_rank"]),
        Point(f"best for random: usable (σ = {NOISE:g})", OPTIMISED, numbers["signed_usable"]),
    ]
    weights = {
        "biological": ("biological", own, BIOLOGICAL),
        "signed": ("best for random", signed[0], OPTIMISED),
    }
    for name, scale in product(weights, SCALES):
        label, matrix, then = weights[name]
        A = scale_to_spectral_radius(matrix, RADIUS)
        curve = measured(NonlinearNetwork(A, C, input_scale=scale), LAGS // 2, seed)[1:]
        numbers[f"{name}_tanh_{scale:g}"] = curve.total
        numbers["tanh_error"] = max(curve.total_error, numbers["tanh_error"])
        label = f"{label}: tanh, input {scale:g}"
        points.append(Point(label, then, curve.total, curve.total_error))
    return points, numbers


def _linear(weights: Floats, C: Floats) -> LinearNetwork:
    return LinearNetwork(scale_to_spectral_radius(weights, RADIUS), C)


def _usable(network: LinearNetwork) -> float:
    """From lag 1 on, as capacities of echo state networks are counted."""
    return float(memory_curve(network, LAGS, noise=NOISE)[1:].total)


def judge(numbers: Numbers) -> Verdict:
    """Whether other weights raise the total, or else usable memory."""
    total = numbers["highest_rank"] / numbers["biological_rank"]
    usable = numbers["signed_usable"] / numbers["biological_usable"]
    own, drawn = (
        [numbers[f"{name}_tanh_{scale:g}"] for scale in SCALES] for name in ("biological", "signed")
    )
    factor = max(usable, *(there / here for here, there in zip(own, drawn, strict=True)))
    facts = {"weak_own": own[0], "strong_own": own[-1], "factor": factor}
    facts |= {"weak_drawn": drawn[0], "strong_drawn": drawn[-1]}
    if total >= OPTIMISED / BIOLOGICAL / 2:
        return Verdict("right", "totals", **facts)
    if factor < 1.5:
        return Verdict("an artefact", "totals", **facts)
    behind = ["behind"] * (usable > 1)
    return Verdict("right in another sense", "totals", "factor", *behind, **facts)
