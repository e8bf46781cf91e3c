"""Does the scale of the input decide the memory of a tanh network, and is it worth nothing then?"""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.core.types import Floats
from memcurve.data import memory_from_data
from memcurve.data.measuring import measure_scales
from memcurve.network import ensembles
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE, RADIUS, SAMPLES, WASHOUT = 30, 0.9, 10_000, 500
SCALES = (1e-3, 0.3, 3.0, 100.0)
#: Of the states; larger than what the smallest inputs leave there.
NOISE = 1e-2
KINDS = ("normal", "orthogonal")


def rademacher(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """±1 with equal chances."""
    return rng.choice([-1.0, 1.0], shape)


def study(seed: int) -> Study:
    """R² of 10⁴ steps, clipped at N, beside measured totals; then usable memory, by scale."""
    networks = {}
    for kind in KINDS:
        linear = getattr(ensembles, kind)(SIZE, spectral_radius=RADIUS, seed=seed)
        networks[kind] = NonlinearNetwork(linear.A, linear.C)
    asked: dict[str, Any] = {
        "input": rademacher,
        "seed": seed,
        "progress": False,
        "precision": 0.5,
        "steps": 40_000,
    }
    total = measure_scales(networks["normal"], SCALES, **asked)
    usable = {
        kind: measure_scales(network, SCALES, noise=NOISE, **asked).totals
        for kind, network in networks.items()
    }
    z = rademacher(np.random.default_rng(seed), (SAMPLES + WASHOUT,))
    points = []
    for scale, true, error in zip(SCALES, total.totals, total.errors, strict=True):
        states = networks["normal"].simulate(scale * z)
        then = memory_from_data(
            states, z, 2 * SIZE, washout=WASHOUT, checks=False, estimator="in_sample"
        )
        label = f"input scale {scale:g}"
        points.append(Point(label, min(then.total, SIZE), float(true), float(error)))
    normal, orthogonal = (usable[kind] for kind in KINDS)
    best = int(np.argmax(normal))
    return points, {
        "size": SIZE,
        "least": float(total.totals.min()),
        "largest": float(total.totals.max()),
        "error": float(total.errors.max()),
        "noise": NOISE,
        "usable": float(normal[best]),
        "best_scale": SCALES[best],
        "usable_weak": float(normal[0]),
        "usable_orthogonal": float(orthogonal.max()),
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether totals range that far; and whether usable memory tells scales and networks apart."""
    if numbers["largest"] - numbers["least"] < 0.5 * numbers["size"]:
        return Verdict("an artefact", "range")
    gains = numbers["usable_orthogonal"] - numbers["usable"], numbers["usable"]
    if min(gains) > 3 * numbers["error"] and numbers["usable_weak"] < numbers["usable"] / 2:
        return Verdict("right in another sense", "range", "usable")
    return Verdict("right", "range")
