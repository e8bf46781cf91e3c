"""Capacities by several libraries against exact ones: what a threshold loses, what chance adds.

    python -m benchmarks.capacities

Recordings of state-affine networks, of which ``memcurve.capacities`` knows every capacity, are
given to each estimator with its defaults. Libraries that are not installed are left out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import memcurve

Floats = NDArray[np.float64]
#: Delays and degrees of the factors of a target, newest first.
Target = tuple[tuple[int, int], ...]

STATES = 10
ROWS = 2000
DRAWS = 20
#: Longest delay, and highest total degree.
DELAYS = 10
DEGREE = 3
#: Exact capacities below this are none.
NONE = 1e-4


def network(seed: int) -> memcurve.StateAffineNetwork:
    """x_t = (P₀ + P₁z_t)x_{t−1} + q₀ + q₁z_t, with random weights that contract."""
    rng = np.random.default_rng(seed)
    P = 0.5 / np.sqrt(STATES) * rng.standard_normal((2, STATES, STATES))
    q = [0.3 * rng.standard_normal(STATES), rng.standard_normal(STATES)]
    return memcurve.StateAffineNetwork(p=list(P), q=q, input="uniform")


def by_memcurve(z: Floats, X: Floats) -> tuple[float, dict[Target, float]]:
    """The total has no threshold; only significant targets are listed."""
    plan = dict.fromkeys(range(1, DEGREE + 1), (DELAYS, DELAYS))
    found = memcurve.capacity_from_data(X, z, plan)
    listed = {tuple(zip(t.lags, t.degrees, strict=True)): t.capacity for t in found.targets}
    return found.total, listed


def by_ipc_module(z: Floats, X: Floats) -> tuple[float, dict[Target, float]]:
    """In-sample R² above the largest of 1,000 shuffled surrogates."""
    from ipc_module import config
    from ipc_module.profiler import UnivariateProfiler

    config.set_progress_bar(False)
    profiler = UnivariateProfiler(z[:, None], X, "Legendre", offset=DELAYS)
    profiler.calc(list(range(1, DEGREE + 1)), DELAYS + 1)
    found: dict[Target, float] = {}
    for degrees, (delays, base, surrogates) in profiler.items():
        for lags, value in zip(delays, base[:, 0], strict=True):
            target = tuple(sorted(zip(lags, degrees, strict=True)))
            found[target] = float(value) if value > surrogates.max() else 0.0
    return sum(found.values()), found


def by_rcbench(z: Floats, X: Floats) -> tuple[float, dict[Target, float]]:
    """``IPCEvaluator``: ridge of 1, squared correlation on the last fifth, no threshold."""
    from rcbench.tasks.ipc import IPCEvaluator

    for part in ("ipc", "baseevaluator", "featureselector"):
        logging.getLogger(f"rcbench.tasks.{part}").setLevel(logging.ERROR)
    evaluator = IPCEvaluator(z, X, max_delay=DELAYS, max_degree=DEGREE)
    results = evaluator.calculate_total_capacity()["all_results"]
    found = {target: float(one["capacity"]) for target, one in results.items()}
    return sum(found.values()), found


def by_julia_protocol(z: Floats, X: Floats) -> tuple[float, dict[Target, float]]:
    """``ipc`` of ReservoirComputing.jl, as documented: rows before the last fifth, ridge of 1."""
    rows = np.arange(DELAYS, len(z))
    polynomials = np.polynomial.legendre.legvander(z, DEGREE).T
    train, test = np.split(X[rows], [int(0.8 * len(rows))])
    solve = np.linalg.inv(train.T @ train + np.eye(X.shape[1])) @ train.T
    found = {}
    for target in targets(first=1, factors=2):
        y = np.prod([polynomials[degree][rows - lag] for lag, degree in target], axis=0)
        predicted = test @ (solve @ y[: len(train)])
        found[target] = float(np.corrcoef(predicted, y[len(train) :])[0, 1] ** 2)
    return sum(found.values()), found


def targets(first: int = 0, factors: int = DEGREE) -> Iterator[Target]:
    """Products of up to ``factors`` factors, delays from ``first`` on."""

    def extended(head: Target, degree: int) -> Iterator[Target]:
        start = head[-1][0] + 1 if head else first
        for lag in range(start, DELAYS + 1):
            for d in range(1, DEGREE - degree + 1):
                target = (*head, (lag, d))
                yield target
                if len(target) < factors:
                    yield from extended(target, degree + d)

    return extended((), 0)


Estimator = Callable[[Floats, Floats], tuple[float, dict[Target, float]]]
#: Name, module, estimator, and the targets it looks at: the first delay, and the most factors.
CONTENDERS: list[tuple[str, str, Estimator, tuple[int, int]]] = [
    ("memcurve", "memcurve", by_memcurve, (0, 3)),
    ("ipc-module", "ipc_module", by_ipc_module, (0, 3)),
    ("rcbench", "rcbench", by_rcbench, (1, 2)),
    ("ReservoirComputing.jl, its protocol", "numpy", by_julia_protocol, (1, 2)),
]


def exact_capacities(subject: memcurve.StateAffineNetwork) -> dict[Target, float]:
    """The exact capacity of every target."""
    known = memcurve.capacities(subject)
    exact = {}
    for target in targets():
        word = [0] * (target[-1][0] + 1)
        for lag, degree in target:
            word[lag] = degree
        exact[target] = known.of(tuple(word))
    return exact


def judged(draws: int = DRAWS) -> list[dict[str, Any]]:
    """One row an estimator: exact and estimated total, what it lost, and what chance added."""
    rows = []
    subjects = [(network(seed), seed) for seed in (1, 2, 3, 4)]
    exact = {seed: exact_capacities(subject) for subject, seed in subjects}
    for name, module, estimator, reach in CONTENDERS:
        if find_spec(module) is None:
            rows.append({"estimator": name, "": "not installed"})
            continue
        looked_at = set(targets(*reach))
        figures = []
        for k in range(draws):
            subject, seed = subjects[k % len(subjects)]
            z = np.random.default_rng([32, k]).uniform(-1, 1, ROWS + 300)
            total, found = estimator(z[300:], subject.simulate(z, 300))
            truth = {target: value for target, value in exact[seed].items() if target in looked_at}
            # a total without a threshold leaves nothing out
            whole = abs(total - sum(found.values())) > 1e-9
            lost = sum(value for target, value in truth.items() if not found.get(target))
            added = sum(v for target, v in found.items() if truth.get(target, 0.0) < NONE)
            figures.append((sum(truth.values()), total, 0.0 if whole else lost, added))
        mean, spread = np.mean(figures, axis=0), np.std(np.diff(figures)[:, 0])
        rows.append(
            {
                "estimator": name,
                "exact": round(float(mean[0]), 3),
                "off by": f"{mean[1] - mean[0]:+.3f} ± {spread:.3f}",
                "lost to the threshold": round(float(mean[2]), 3),
                "added by chance": round(float(mean[3]), 3),
            }
        )
    return rows


if __name__ == "__main__":
    for row in judged():
        print(" | ".join(str(value) for value in row.values()))
