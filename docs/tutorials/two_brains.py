"""Two brains against null models, by normalisation, readout and noise: a table.

python docs/tutorials/two_brains.py DATA --draws 10

DATA is a folder with ``celegans_299.npy`` (weights from row to column, of RCbench),
``larva_edges.txt.gz`` and ``larva_sensory.txt`` (Winding, Pedigo et al. 2023).
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import svds

import memcurve
from memcurve.network.scaling import scale_to_spectral_radius

NULLS = ("rewire", "shuffle", "erdos_renyi")
#: Radius, singular value or gain of all; strength at which brains and surrogates are stable; noise.
GAIN, MEAN_STRENGTH, NOISE = 0.9, 0.3, 1e-3
#: Nodes of a random readout; lags after which variances of states have converged, 0.9^600.
FEW, LAGS = {"larva": 300, "worm": 60}, 300
HEADER = (
    "brain", "null", "model", "normalisation", "readout", "noise", "own", "null mean", "sd",
    "percent", "z",
)  # fmt: skip


def brain(name: str, folder: str) -> memcurve.LinearNetwork:
    """The larva, whose sensory neurons the input drives alike, or the worm, all of it driven."""
    if name == "larva":
        edges, sensory = Path(folder, "larva_edges.txt.gz"), Path(folder, "larva_sensory.txt")
        return memcurve.load_network(edges, mask=sensory)
    A = np.load(Path(folder, "celegans_299.npy")).T
    return memcurve.LinearNetwork(csr_array(A), np.random.default_rng(1).standard_normal(len(A)))


def normalisations(A: Any) -> Iterator[tuple[str, Any]]:
    """The weights at four scales; those that make the network unstable are left out."""
    strength = abs(A).sum(axis=1)
    yield "spectral radius", scale_to_spectral_radius(A, GAIN)
    yield "largest singular value", A * (GAIN / svds(A, 1, return_singular_vectors=False)[0])
    yield "mean in-strength", A * (MEAN_STRENGTH / strength.mean())
    gains = np.divide(GAIN, strength, out=np.zeros_like(strength), where=strength > 0)
    yield "gain of each node", csr_array(diags_array(gains) @ A)


def readouts(name: str, A: Any) -> dict[str, Any]:
    """All nodes; some at random; and the tenth that sends least of what it receives."""
    received, sent = (abs(A).sum(axis=axis) for axis in (1, 0))
    share = np.where(received > 0, sent / np.maximum(received, 1e-300), np.inf)
    few = np.random.default_rng(2).choice(len(share), FEW[name], replace=False)
    return {"all": None, "random": few, "outputs": np.argsort(share)[: len(share) // 10]}


def relative(network: memcurve.LinearNetwork) -> memcurve.LinearNetwork:
    """The same network with states of unit variance, so that noise is relative to each state."""
    x, variance = network.C, np.zeros(network.size)
    for _ in range(LAGS):
        variance, x = variance + x**2, network.A @ x
    scale = np.sqrt(np.where(variance > 1e-30, variance, 1.0))
    A = csr_array(diags_array(1 / scale) @ network.A @ diags_array(scale))
    return network.replace(A=A, C=network.C / scale)


def usable(
    name: str, network: memcurve.LinearNetwork, read: dict[str, Any]
) -> dict[tuple[str, ...], float]:
    """Usable memory by normalisation, readout and what noise is relative to."""
    found = {}
    for how, A in normalisations(network.A):
        scaled = memcurve.LinearNetwork(A, network.C)
        for noise in ("input", "state"):
            subject = scaled
            for which, nodes in read.items():
                try:
                    subject = relative(scaled) if noise == "state" else scaled
                    part = subject.replace(readout=nodes)
                    total = memcurve.memory_curve(part, noise=NOISE).total
                except (memcurve.UnstableNetworkError, memcurve.UncertainResultError):
                    total = np.nan
                found["linear", how, which, noise] = float(total)
    if name == "worm":
        A = scale_to_spectral_radius(network.A, GAIN).toarray()
        model = memcurve.NonlinearNetwork(A, network.C, input_scale=0.3)
        curve = memcurve.measure(
            model, 100, precision=0.2, noise=NOISE, steps=60_000, seed=1, progress=False
        )
        found["tanh", "spectral radius", "all", "input"] = curve.total
    return found


def job(task: tuple[str, str, str | None, int]) -> Any:
    """Usable memory of a brain, or of one of its surrogates."""
    name, folder, null, draw = task
    network = brain(name, folder)
    read = readouts(name, network.A)
    if null is not None:
        network = memcurve.nulls.make(null, network, seed=np.random.SeedSequence([1, draw]))
    return name, null, usable(name, network, read)


def table(done: list[Any]) -> Iterator[tuple[Any, ...]]:
    """A row per setting: the brain, its surrogates, the difference in percent and z."""
    own = {name: found for name, null, found in done if null is None}
    for name, values in own.items():
        for null in NULLS:
            drawn = [found for one, which, found in done if (one, which) == (name, null)]
            for setting, value in values.items():
                others = np.array([found[setting] for found in drawn])
                mean, sd = others.mean(), others.std(ddof=1)
                numbers = (value, mean, sd, 100 * (value / mean - 1), (value - mean) / sd)
                yield (name, null, *setting, *(f"{number:.4g}" for number in numbers))


def main() -> None:
    """Compute all of it and write two_brains.csv."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--brains", nargs="+", default=["worm", "larva"])
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    asked = parser.parse_args()
    draws: list[tuple[str | None, int]] = [(null, k) for null in NULLS for k in range(asked.draws)]
    tasks = [
        (name, asked.data, null, draw)
        for name in reversed(asked.brains)
        for null, draw in [(None, 0), *draws]
    ]
    with ProcessPoolExecutor(asked.workers) as pool:
        done = list(pool.map(job, tasks))
    with (asked.output / "two_brains.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, *table(done)])


if __name__ == "__main__":
    main()
