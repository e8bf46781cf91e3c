"""Models that are run: what a second, ten and a minute of each library's time are worth.

Every contender drives the same model as long as its time allows, with the settings that its manual
gives; its total is compared with the truth over the lags that it sums. The truth of a state-affine
network is exact, that of a tanh network a measurement of its own, longer than any here.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

import memcurve
from memcurve import models

Floats = NDArray[np.float64]
Row = dict[str, Any]

SECONDS = (1.0, 10.0, 60.0)
REPEATS = (4, 2, 1)
LAGS = 100
WASHOUT = 500
#: The first length that is tried, and how much it grows at most from one to the next.
FIRST_STEPS = 1000
GROWTH = 8.0
#: Seconds of the longest trial.
LONGEST_TRIAL = 10.0
#: Inputs that count as longer: a run may take this much more than its time.
OVERTIME = 1.15


@dataclass(frozen=True)
class Subject:
    """A model, with its true total and the part of lag 0, which some leave out."""

    name: str
    model: models.Model
    weights: memcurve.NonlinearNetwork | None
    total: float
    lag_0: float

    def recording(self, steps: int, seed: int) -> tuple[Floats, Floats]:
        """Uniform input on ±1, and states past the washout."""
        z = np.random.default_rng(seed).uniform(-1, 1, WASHOUT + steps)
        X = self.model.run(z[None, :, None])[0]
        return z[WASHOUT:], X[WASHOUT:]


def uniform(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Inputs that every library here can take."""
    return rng.uniform(-1, 1, shape)


def tanh_subject(truth: tuple[float, float, float]) -> Subject:
    """A tanh reservoir of 50 nodes."""
    network = _reservoir()
    total, lag_0, error = truth
    name = f"tanh reservoir, N = 50 (truth {total:.2f} ± {error:.2g})"
    return Subject(name, models.Network(network), network, total, lag_0)


def _reservoir() -> memcurve.NonlinearNetwork:
    drawn = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    return memcurve.NonlinearNetwork(drawn.A, drawn.C)


def _long_look(quick: bool) -> tuple[float, float, float]:
    """Total of the tanh reservoir, its part of lag 0, and half the interval."""
    asked = {"precision": 1.0 if quick else 0.02, "input": uniform, "seed": 99, "budget": 600}
    found = memcurve.measure(_reservoir(), LAGS, **asked)
    return found.total, float(found.values[0]), found.total_error


def bilinear_subject() -> Subject:
    """x_t = (P₀ + P₁z_t)x_{t−1} + q₀ + q₁z_t, whose memory follows from its moments."""
    rng, N = np.random.default_rng(3), 8
    p = [0.5 * rng.standard_normal((N, N)) / np.sqrt(N) for _ in range(2)]
    q = [0.3 * rng.standard_normal(N), rng.standard_normal(N)]

    def step(x: Floats, z: Any) -> Floats:
        z = np.asarray(z)[..., None]
        return x @ p[0].T + z * (x @ p[1].T) + q[0] + z * q[1]

    third = 1 / 3  # E z²
    mean = np.linalg.solve(np.eye(N) - p[0], q[0])
    rest = np.outer(p[0] @ mean, q[0]) + third * np.outer(p[1] @ mean, q[1])
    rest = rest + rest.T + np.outer(q[0], q[0]) + third * np.outer(q[1], q[1])
    square = np.kron(p[0], p[0]) + third * np.kron(p[1], p[1])
    moments = np.linalg.solve(np.eye(N * N) - square, rest.ravel()).reshape(N, N)
    covariance = moments - np.outer(mean, mean)
    response, truth = np.sqrt(third) * (p[1] @ mean + q[1]), []
    for _ in range(LAGS):
        truth.append(float(response @ np.linalg.solve(covariance, response)))
        response = p[0] @ response
    name = f"bilinear network, N = {N} (exact {sum(truth):.4f})"
    return Subject(name, models.Step(step, np.zeros(N)), None, sum(truth), truth[0])


def by_memcurve(subject: Subject, seconds: float, seed: int) -> tuple[float, int]:
    """As narrow an interval as the time allows."""
    curve = memcurve.measure(
        subject.model,
        LAGS,
        precision=1e-9,
        input=uniform,
        budget=seconds,
        seed=seed,
        progress=False,
    )
    return curve.total, 0


def by_reservoirpy(subject: Subject, steps: int, seed: int) -> tuple[float, int]:
    """``memory_capacity`` of a Reservoir with these weights and Ridge(1e-4)."""
    from reservoirpy.nodes import Reservoir, Ridge
    from reservoirpy.observables import memory_capacity

    network = subject.weights
    assert network is not None
    size = network.size
    node = Reservoir(W=network.A, Win=network.C[:, None], bias=np.zeros(size), lr=1.0)
    series = np.random.default_rng(seed).uniform(-1, 1, (steps, 1))
    found = memory_capacity(node >> Ridge(ridge=1e-4), k_max=LAGS - 1, series=series, seed=seed)
    return float(found), 1


def by_rcbench(subject: Subject, steps: int, seed: int) -> tuple[float, int]:
    """``MemoryCapacityEvaluator`` with all states and without a ridge."""
    from rcbench.tasks.memorycapacity import MemoryCapacityEvaluator

    for part in ("memorycapacity", "baseevaluator", "featureselector"):
        logging.getLogger(f"rcbench.tasks.{part}").setLevel(logging.WARNING)
    z, X = subject.recording(steps, seed)
    evaluator = MemoryCapacityEvaluator(z, X, max_delay=LAGS - 1)
    found = evaluator.calculate_total_memory_capacity(modeltype="Linear", num_features=X.shape[1])
    return float(sum(found["delay_results"][k] for k in range(1, LAGS))), 1


def by_ipc_module(subject: Subject, steps: int, seed: int) -> tuple[float, int]:
    """Degree one of ``UnivariateProfiler``, what is below its surrogates set to zero."""
    from ipc_module import config
    from ipc_module.profiler import UnivariateProfiler

    config.set_progress_bar(False)
    z, X = subject.recording(steps, seed)
    profiler = UnivariateProfiler(z[:, None], X, "Legendre", surrogate_num=20, offset=LAGS)
    profiler.calc(1, LAGS)
    _, found, surrogates = profiler[(1,)]
    scores = np.asarray(found, dtype=float)[:, 0]
    return float(np.where(scores > np.max(surrogates), scores, 0.0).sum()), 0


NEIGHBOURS: dict[str, tuple[str, Callable[[Subject, int, int], tuple[float, int]]]] = {
    "reservoirpy": ("reservoirpy", by_reservoirpy),
    "rcbench": ("rcbench", by_rcbench),
    "ipc-module": ("ipc_module", by_ipc_module),
}


def measured(quick: bool, workers: int = 1) -> list[Row]:
    """One row a model, contender and time: bias and RMSE of the total."""
    seconds, repeats = ((0.05,), (1,)) if quick else (SECONDS, REPEATS)
    asked, rows = list[tuple[Any, ...]](), list[Row]()
    truth = _long_look(quick)
    for kind in ("tanh", "bilinear"):
        for name in ("memcurve", *NEIGHBOURS):
            module = NEIGHBOURS[name][0] if name in NEIGHBOURS else "memcurve"
            if find_spec(module) is None or (name == "reservoirpy" and kind != "tanh"):
                cannot = "not installed" if find_spec(module) is None else "cannot run it"
                rows.append({"model": kind, "contender": name, "status": cannot})
                continue
            asked += [(kind, name, s, n, truth) for s, n in zip(seconds, repeats, strict=True)]
    if workers == 1:
        return rows + [_row(*one) for one in asked]
    asked.sort(key=lambda one: -one[2] * one[3])
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return rows + [job.result() for job in [pool.submit(_row, *one) for one in asked]]


def _row(
    kind: str, name: str, seconds: float, repeats: int, truth: tuple[float, float, float]
) -> Row:
    subject = tanh_subject(truth) if kind == "tanh" else bilinear_subject()
    steps = None if name == "memcurve" else _affordable(subject, name, seconds)
    off, spent = [], []
    for seed in range(repeats):
        began = time.perf_counter()
        if steps is None:
            total, first = by_memcurve(subject, seconds, seed)
        else:
            total, first = NEIGHBOURS[name][1](subject, steps, seed)
        spent.append(time.perf_counter() - began)
        off.append(total - (subject.total - first * subject.lag_0))
    return {
        "model": subject.name,
        "contender": name,
        "status": "measured",
        "seconds": seconds,
        "spent": float(np.mean(spent)),
        "steps": steps,
        "runs": repeats,
        "bias": float(np.mean(off)),
        "rmse": float(np.sqrt(np.mean(np.square(off)))),
    }


def _affordable(subject: Subject, name: str, seconds: float) -> int:
    """Steps that fill the time, found by trying up to ten seconds; it grows with them."""
    steps, spent = FIRST_STEPS, 0.0
    if seconds > LONGEST_TRIAL:
        return int(_affordable(subject, name, LONGEST_TRIAL) * seconds / LONGEST_TRIAL)
    while True:
        began = time.perf_counter()
        NEIGHBOURS[name][1](subject, steps, 12345)
        spent = time.perf_counter() - began
        growth = min(seconds / spent, GROWTH)
        if growth < OVERTIME:
            return max(FIRST_STEPS, int(steps * min(growth, 1.0)))
        steps = int(steps * growth / (1.0 if growth == GROWTH else OVERTIME))


def draw(rows: list[Row], path: str | os.PathLike[str]) -> None:
    """RMSE of the total against time, a panel for each model."""
    from matplotlib.figure import Figure

    from memcurve import plot

    names = list(dict.fromkeys(row["model"] for row in rows if row["status"] == "measured"))
    figure = Figure(figsize=(8, 3.4), layout="constrained", dpi=110)
    for ax, name in zip(figure.subplots(1, len(names), sharey=True), names, strict=True):
        for k, contender in enumerate(("memcurve", *NEIGHBOURS)):
            those = [r for r in rows if r["model"] == name and r["contender"] == contender]
            those.sort(key=lambda row: row["seconds"])
            points = [row["spent"] for row in those], [row["rmse"] for row in those]
            ax.loglog(*points, "o-", color=plot.COLOURS[k], ms=4, lw=1.5, label=contender)
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("seconds")
        ax.grid(alpha=0.25)
    figure.axes[0].set_ylabel("RMSE of the total memory")
    figure.axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path)
