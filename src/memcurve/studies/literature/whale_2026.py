"""Can the worm's memory be raised seventeen-fold by other weights?"""

from __future__ import annotations

import numpy as np

from memcurve.core.progress import Listener
from memcurve.core.types import Floats
from memcurve.data.measuring import measure
from memcurve.io.adapters.graphs import cect_dataset, cect_wiring
from memcurve.memory import MemoryCurve, memory_curve, rank
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.studies.literature.claim import Evidence, Numbers, Point, Verdict, usual_input

#: What was reported, with biological weights and with the best that were found.
BIOLOGICAL, OPTIMISED = 1.39, 23.91
RADIUS, NOISE, DRAWS = 0.9, 1e-3, 5
#: Of uniform input on [-1, 1] to tanh units: weak, usual, strong.
SCALES = (0.1, 1.0, 10.0)
#: Lags that are listed: under noise of ``NOISE`` nothing is left beyond.
LAGS = 200


def study(seed: int, tell: Listener) -> Evidence:
    """The worm's own weights, and weights at random on the same wiring, linear and tanh."""
    wiring, cells, _ = cect_wiring(cect_dataset("VarshneyDataReader", "this study"))
    own, rng = wiring.toarray(), np.random.default_rng(seed)
    C = rng.uniform(-1, 1, len(cells))
    signed = [np.where(own, rng.uniform(-1, 1, own.shape), 0.0) for _ in range(DRAWS)]
    positive = [np.where(own, rng.uniform(0, 1, own.shape), 0.0) for _ in range(DRAWS)]
    steps = 1 + 2 * len(SCALES)
    tell("weights", 0, steps)
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
    weights = (("biological", own, BIOLOGICAL), ("signed", signed[0], OPTIMISED))
    for name, matrix, then in weights:
        label = "best for random" if name == "signed" else name
        for scale in SCALES:
            tell("weights", len(points) - 3, steps)
            found = _driven(matrix, C, scale, seed)
            numbers[f"{name}_tanh_{scale:g}"] = found.total
            numbers["tanh_error"] = max(found.total_error, numbers["tanh_error"])
            point = Point(f"{label}: tanh, input {scale:g}", then, found.total, found.total_error)
            points.append(point)
    return Evidence(tuple(points), numbers)


def _linear(weights: Floats, C: Floats) -> LinearNetwork:
    return LinearNetwork(scale_to_spectral_radius(weights, RADIUS), C)


def _usable(network: LinearNetwork) -> float:
    """From lag 1 on, as capacities of echo state networks are counted."""
    curve: MemoryCurve = memory_curve(network, LAGS, noise=NOISE)[1:]
    return curve.total


def _driven(weights: Floats, C: Floats, scale: float, seed: int) -> MemoryCurve:
    A = scale_to_spectral_radius(weights, RADIUS)
    model = NonlinearNetwork(A, C, input_scale=scale)
    found: MemoryCurve = measure(
        model, LAGS // 2, precision=0.5, input=usual_input, seed=seed, budget=20, progress=False
    )[1:]
    return found


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
