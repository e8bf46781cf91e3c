"""The number in the documentation of reservoirpy's ``memory_capacity``."""

from __future__ import annotations

import numpy as np

from memcurve.core.optional import optional
from memcurve.core.progress import Listener
from memcurve.data.measuring import measure
from memcurve.studies.literature.claim import Evidence, Numbers, Point, Verdict, usual_input

UNITS, LAST_LAG, REPEATS = 100, 50, 8


def study(seed: int, tell: Listener) -> Evidence:
    """The documented call, the same with other seeds, and a measurement of the same reservoir."""
    nodes = optional("reservoirpy.nodes", "this study", "adapters")
    observables = optional("reservoirpy.observables", "this study", "adapters")
    model = nodes.Reservoir(UNITS, sr=1, seed=1) >> nodes.Ridge(ridge=1e-4)
    found = []
    for k in range(1, REPEATS + 1):
        tell("the documented call", k, REPEATS)
        found.append(float(observables.memory_capacity(model, k_max=LAST_LAG, seed=k)))
    tell("measurement", REPEATS, REPEATS)
    reservoir = nodes.Reservoir(UNITS, sr=1, seed=1)  # with the same weights, by its seed
    true = measure(
        reservoir, 400, precision=0.2, input=usual_input, seed=seed, budget=30, progress=False
    )
    listed = true[1 : LAST_LAG + 1]
    points = (
        Point("as documented, lags 1 … 50", found[0], listed.total, listed.total_error),
        Point("with eight seeds, mean", float(np.mean(found)), listed.total, listed.total_error),
        Point("all lags from 0 on", found[0], true.total, true.total_error),
    )
    numbers = {
        "documented": found[0],
        "mean": float(np.mean(found)),
        "spread": float(np.std(found)),
        "listed": listed.total,
        "total": true.total,
        "error": true.total_error,
    }
    return Evidence(points, numbers)


def judge(numbers: Numbers) -> Verdict:
    """Whether the documented number is the memory of that reservoir over those lags, or in all."""
    mean, total, listed = numbers["mean"], numbers["total"], numbers["listed"]
    if abs(mean - total) <= 2 * numbers["error"] + 0.02 * total:
        return Verdict("right", "totals")
    close = abs(mean - listed) <= 0.1 * listed
    return Verdict("right in another sense" if close else "an artefact", "totals", "missed")
