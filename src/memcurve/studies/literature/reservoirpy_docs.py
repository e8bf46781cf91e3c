"""The number in the documentation of reservoirpy's ``memory_capacity``."""

import numpy as np

from memcurve.core.optional import optional
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, measured

UNITS = 100  # as documented
LAST_LAG = 50  # as documented
REPEATS = 8  # seeds, which tell how much the number scatters
PUBLISHED = 18.78  # in the documentation


def study(seed: int) -> Study:
    """The documented call, the same with other seeds, and a measurement of the same reservoir."""
    nodes = optional("reservoirpy.nodes", "this study", "adapters")
    observables = optional("reservoirpy.observables", "this study", "adapters")
    model = nodes.Reservoir(UNITS, sr=1, seed=1) >> nodes.Ridge(ridge=1e-4)
    totals = [
        float(observables.memory_capacity(model, k_max=LAST_LAG, seed=k))
        for k in range(1, REPEATS + 1)
    ]
    reservoir = nodes.Reservoir(UNITS, sr=1, seed=1)  # with the same weights, by its seed
    true = measured(reservoir, 400, seed, precision=0.2, budget=30)
    listed = true[1 : LAST_LAG + 1]
    mean, exact = float(np.mean(totals)), (listed.total, listed.total_error)
    points = (
        Point("published, lags 1 … 50", PUBLISHED, *exact),
        Point("recomputed, lags 1 … 50", totals[0], *exact),
        Point("recomputed, eight seeds", mean, *exact),
        Point("published, all lags", PUBLISHED, true.total, true.total_error),
    )
    return points, {
        "documented": totals[0],
        "mean": mean,
        "spread": float(np.std(totals)),
        "listed": listed.total,
        "total": true.total,
        "error": true.total_error,
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether the documented number is the memory of that reservoir over those lags, or in all."""
    mean, total, listed = numbers["mean"], numbers["total"], numbers["listed"]
    if abs(mean - total) <= 2 * numbers["error"] + 0.02 * total:
        return Verdict("right", "totals")
    close = abs(mean - listed) <= 0.1 * listed
    return Verdict("right in another sense" if close else "an artefact", "totals", "missed")
