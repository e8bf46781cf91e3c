"""The score of conn2res: a sum of correlations, not of their squares."""

from __future__ import annotations

import numpy as np

from memcurve.core.progress import Listener
from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.literature.claim import Evidence, Numbers, Point, PublishedClaim, Verdict

SIZES = (10, 20, 40)


def study(seed: int, tell: Listener) -> Evidence:
    """The protocol on rings and random networks, beside the exact memory from lag 1 on."""
    points = []
    for count, size in enumerate(SIZES):
        tell("networks", count, len(SIZES))
        ring = ensembles.cyclic(size, spectral_radius=0.9)
        drawn = ensembles.normal(size, spectral_radius=0.9, seed=seed)
        for name, network in (("ring", ring), ("random", drawn)):
            scores = PROTOCOLS["conn2res"](size).measure(network, np.random.default_rng(seed))
            exact = memory_curve(network, 2 * size + 1)[1:]
            points.append(Point(f"{name}, N = {size}", float(scores.sum()), exact.total))
    rings = [point for point in points if point.label.startswith("ring")]
    return Evidence(
        tuple(points),
        {
            "least_excess": min(point.then - point.true for point in rings),
            "largest_excess": max(point.then - point.true for point in rings),
            "largest_loss": max(point.true - point.then for point in points),
        },
    )


def judge(numbers: Numbers) -> Verdict:
    """Whether scores and exact totals differ by more than a tenth of a lag."""
    least, most, loss = (
        numbers[f"{n}"] for n in ("least_excess", "largest_excess", "largest_loss")
    )
    if max(abs(least), abs(most), loss) < 0.1:
        return Verdict("right", "scores and exact totals from lag 1 on agree.")
    text = f"for rings the scores are off by {least:+.2g} to {most:+.2g}: |r| of lags without "
    text += "memory is about 1/√T, where r² would be 1/T, and the ridge reduces that of the others"
    if loss > 0.1:
        text += f"; for random networks they miss up to {loss:.3g}, hidden by the ridge"
    return Verdict("an artefact", f"{text}.")


CLAIM = PublishedClaim(
    name="conn2res-score",
    authors="Suárez et al.",
    year=2024,
    title="conn2res, a toolbox for connectome-based reservoir computing: its memory task",
    source="Nature Communications 15, 656, and the toolbox's example memory_capacity.py",
    link="https://github.com/netneurolab/conn2res",
    statement="The memory capacity of a reservoir is the sum over lags of the correlations between "
    "readouts and past inputs.",
    measured="Readouts with a ridge of 0.5, absolute correlations on test rows; meant to compare "
    "brains with each other, for which a bias common to all matters less.",
    study=study,
    judge=judge,
)
