"""Two brains against null models, by normalisation, readout, noise and activation: a table.

python docs/tutorials/two_brains.py DATA

DATA is a folder with ``celegans_299.npy`` (weights from row to column, of RCbench), and
``larva_edges.txt.gz`` (``G_edgelist.txt``), ``larva_sensory.txt`` and ``meta_data.csv`` of
neurodata/bilateral-connectome (Winding, Pedigo et al. 2023). Every result is kept in a file of its
own as soon as there is one, so that the same command continues a stopped run.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import cg, svds

import memcurve
from memcurve.network.scaling import scale_to_spectral_radius

#: Null models by what the neurons are; measuring takes the larva half a minute a surrogate.
NULLS = {
    "ratio": ("rewire", "erdos_renyi"), "linear": ("rewire", "shuffle", "erdos_renyi"),
    "tanh": ("rewire", "erdos_renyi"),
}  # fmt: skip
#: Surrogates of each null model.
DRAWS = {
    ("ratio", "worm"): 20, ("ratio", "larva"): 20, ("linear", "worm"): 20,
    ("linear", "larva"): 20, ("tanh", "worm"): 10, ("tanh", "larva"): 6,
}  # fmt: skip
#: Radius, singular value or gain of all.
GAIN = 0.9
#: Mean strength at which brains and surrogates are stable.
MEAN_STRENGTH = 0.3
#: Standard deviation of the noise, relative to the input or to each state.
NOISE = 1e-3
#: Nodes of a random readout.
FEW = {"larva": 300, "worm": 60}
#: Lags after which variances of states have converged, 0.9^600.
LAGS = 300
#: Steps of a recording of tanh neurons, by which usable memory is known to about 0.1.
STEPS = 5000
#: Steps before the first that counts.
WASHOUT = 200
#: Lags over which the memory of tanh neurons is summed; at the last it is below 1e-3.
TANH_LAGS = 60
#: What is read of tanh neurons; a recording of all of the larva would have to be 20 times as long.
TANH_READ = {"worm": ("all", "random", "sends least"), "larva": ("random", "outputs")}
HEADER = (
    "brain", "null", "model", "normalisation", "readout", "noise", "surrogates", "own",
    "null mean", "sd", "percent", "z",
)  # fmt: skip
Readouts = dict[str, Any]


def brain(name: str, folder: str) -> memcurve.LinearNetwork:
    """The larva, whose sensory neurons the input drives alike, or the worm, all of it driven."""
    if name == "larva":
        edges, sensory = Path(folder, "larva_edges.txt.gz"), Path(folder, "larva_sensory.txt")
        return memcurve.load_network(edges, mask=sensory)
    A = np.load(Path(folder, "celegans_299.npy")).T
    return memcurve.LinearNetwork(csr_array(A), np.random.default_rng(1).standard_normal(len(A)))


def normalisations(A: Any) -> Iterator[tuple[str, Any]]:
    """The weights at four scales."""
    strength = abs(A).sum(axis=1)
    yield "spectral radius", scale_to_spectral_radius(A, GAIN)
    yield "largest singular value", A * (GAIN / svds(A, 1, return_singular_vectors=False)[0])
    yield "mean in-strength", A * (MEAN_STRENGTH / strength.mean())
    gains = np.divide(GAIN, strength, out=np.zeros_like(strength), where=strength > 0)
    yield "gain of each node", csr_array(diags_array(gains) @ A)


def readouts(name: str, network: memcurve.LinearNetwork, folder: str) -> Readouts:
    """All nodes; some at random; and three kinds of outputs.

    The larva's are published (neurons that descend or end in the ring gland); the tenth that sends
    least of what it receives; and the tenth furthest downstream by signal flow (Varshney et al.
    2011).
    """
    weights = abs(network.A).T  # from row to column
    sent, received = (weights.sum(axis=axis) for axis in (1, 0))
    share = np.where(received > 0, sent / np.maximum(received, 1e-300), np.inf)
    both = (weights + weights.T) / 2
    ahead = both.multiply((weights - weights.T).sign()).sum(axis=1)
    level, *_ = cg(csr_array(diags_array(both.sum(axis=1)) - both), ahead, rtol=1e-8)
    tenth = network.size // 10
    read = {
        "all": None,
        "random": np.random.default_rng(2).choice(network.size, FEW[name], replace=False),
        "sends least": np.argsort(share)[:tenth],
        "downstream": np.argsort(level)[:tenth],
    }
    if name == "larva":
        with Path(folder, "meta_data.csv").open(encoding="utf-8") as stream:
            is_output = {row[""]: row["outputs"] == "True" for row in csv.DictReader(stream)}
        read["outputs"] = np.flatnonzero([is_output[label] for label in network.labels])
    return read


def relative(network: memcurve.LinearNetwork) -> memcurve.LinearNetwork:
    """The same network with states of unit variance, so that noise is relative to each state."""
    x, variance = network.C, np.zeros(network.size)
    for _ in range(LAGS):
        variance, x = variance + x**2, network.A @ x
    scale = np.sqrt(np.where(variance > 1e-30, variance, 1.0))
    A = csr_array(diags_array(1 / scale) @ network.A @ diags_array(scale))
    return network.replace(A=A, C=network.C / scale)


def linear(A: Any, C: Any, read: Readouts, seed: int) -> Iterator[tuple[str, str, float]]:
    """Exact usable memory by readout and what noise is relative to."""
    network = memcurve.LinearNetwork(A, C)
    for noise in ("input", "state"):
        subject = relative(network) if noise == "state" else network
        for which, nodes in read.items():
            try:
                total = memcurve.memory_curve(subject.replace(readout=nodes), noise=NOISE).total
            except (memcurve.UnstableNetworkError, memcurve.UncertainResultError):
                total = np.nan
            yield which, noise, float(total)


def tanh(A: Any, C: Any, read: Readouts, seed: int) -> Iterator[tuple[str, str, float]]:
    """Usable memory of tanh neurons, measured."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(STEPS + WASHOUT)
    X = memcurve.NonlinearNetwork(A, C).simulate(z)
    spread = X[WASHOUT:].std(axis=0)
    for noise in ("input", "state"):
        scale = np.where(spread > 0, spread, 1.0) if noise == "state" else np.ones_like(spread)
        for which, nodes in read.items():
            part = slice(None) if nodes is None else nodes
            states = X[:, part] / scale[part]
            states += NOISE * rng.standard_normal(states.shape)
            curve = memcurve.memory_from_data(states, z, TANH_LAGS, washout=WASHOUT, checks=False)
            yield which, noise, curve.total


def job(task: list[Any], folder: str) -> dict[str, float]:
    """Usable memory of a brain, or of one of its surrogates, by setting."""
    model, name, null, draw = task
    network = brain(name, folder)
    read = readouts(name, network, folder)
    if null is not None:
        network = memcurve.nulls.make(null, network, seed=np.random.SeedSequence([1, draw]))
    if model == "ratio":
        strength = abs(network.A).sum(axis=1).mean()
        return {"ratio,spectral radius / mean in-strength,,": network.spectral_radius / strength}
    if model == "tanh":
        read = {which: read[which] for which in TANH_READ[name]}
    return {
        f"{model},{how},{which},{noise}": value
        for how, A in normalisations(network.A)
        for which, noise, value in MODELS[model](A, network.C, read, draw)
    }


MODELS = {"linear": linear, "tanh": tanh}


def table(done: list[tuple[list[Any], dict[str, float]]]) -> Iterator[tuple[Any, ...]]:
    """A row per setting: the brain, its surrogates, the difference in percent and z."""
    for (model, name, _, _), values in [one for one in done if one[0][2] is None]:
        for null in NULLS[model]:
            drawn = [found for task, found in done if task[:3] == [model, name, null]]
            for setting, value in values.items():
                others = np.array([found[setting] for found in drawn])
                mean, sd = others.mean(), others.std(ddof=1)
                numbers = (value, mean, sd, 100 * (value / mean - 1), (value - mean) / sd)
                row = (f"{number:.4g}" for number in numbers)
                yield (name, null, *setting.split(","), len(drawn), *row)


def main() -> None:
    """Compute all that is not kept yet, and write two_brains.csv."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--kept", type=Path, default=Path("two_brains.jsonl"))
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".csv"))
    asked = parser.parse_args()
    tasks = [
        [model, name, null, draw]
        for (model, name), draws in DRAWS.items()
        for draw in range(draws)
        for null in (*[None] * (draw == 0), *NULLS[model])
    ]
    asked.kept.touch()
    kept = [json.loads(line) for line in asked.kept.read_text(encoding="utf-8").splitlines()]
    missing = [task for task in tasks if task not in [one for one, _ in kept]]
    with ProcessPoolExecutor(asked.workers) as pool, asked.kept.open("a") as stream:
        running = {pool.submit(job, task, asked.data): task for task in missing}
        for future in as_completed(running):
            kept.append([running[future], future.result()])
            print(json.dumps(kept[-1]), file=stream, flush=True)
    done = sorted((one for one in kept if one[0] in tasks), key=lambda one: tasks.index(one[0]))
    with asked.output.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([HEADER, *table(done)])


if __name__ == "__main__":
    main()
