"""Does the scale of the input decide the memory of a tanh network, and is it worth nothing then?"""

from typing import Any

import numpy as np

from memcurve.core.types import Floats
from memcurve.data import memory_from_data
from memcurve.data.measuring import measure_scales
from memcurve.network import ensembles
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.network.scaling import scale_to_spectral_norm
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, differences

SIZE = 30  # as theirs
LARGEST_SINGULAR_VALUE = 0.95  # as theirs
SAMPLES = 10_000  # as theirs
WASHOUT = 100  # steps left out, after which 0.95^100 of the start is left
SCALES = np.logspace(-2, 3, 17).tolist()  # 17 as theirs, about between the bounds of their theorem
NOISE = 1e-2  # of the states, which tanh keeps within ±1


def rademacher(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """±1 with equal chances."""
    return rng.choice([-1.0, 1.0], shape)


def _network(kind: str, seed: int) -> NonlinearNetwork:
    A = scale_to_spectral_norm(getattr(ensembles, kind)(SIZE, seed=seed).A, LARGEST_SINGULAR_VALUE)
    return NonlinearNetwork(A, np.random.default_rng(seed).standard_normal(SIZE))


def study(seed: int) -> Study:
    """R² of 10⁴ steps, clipped at N, beside measured totals; then usable memory, by scale."""
    asked: dict[str, Any] = {
        "input": rademacher, "seed": seed, "progress": False, "precision": 0.5, "steps": 40_000,
    }  # fmt: skip
    network, other = _network("orthogonal", seed), _network("normal", seed)
    total = measure_scales(network, SCALES, **asked)
    z = rademacher(np.random.default_rng(seed), (SAMPLES + WASHOUT,))
    points = []
    for scale, true, error in zip(SCALES, total.totals, total.errors, strict=True):
        then = memory_from_data(
            network.simulate(scale * z), z, 2 * SIZE, washout=WASHOUT, checks=False,
            estimator="in_sample",
        )  # fmt: skip
        label = f"input scale {scale:.3g}"
        points.append(Point(label, min(then.total, SIZE), float(true), float(error)))
    usable, others = (
        measure_scales(each, SCALES, noise=NOISE, **asked).totals for each in (network, other)
    )
    best = int(np.argmax(usable))
    return points, differences(points) | {
        "size": SIZE,
        "noise": NOISE,
        "usable": float(usable[best]),
        "best_scale": SCALES[best],
        "usable_weak": float(usable[0]),
        "usable_strong": float(usable[-1]),
        "usable_normal": float(others.max()),
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether totals range that far; and whether usable memory tells scales and networks apart."""
    if numbers["largest_true"] - numbers["least_true"] < 0.5 * numbers["size"]:
        return Verdict("an artefact", "range")
    if numbers["usable"] - numbers["usable_normal"] > 3 * numbers["largest_error"]:
        return Verdict("right in another sense", "range", "usable")
    return Verdict("right", "range")
