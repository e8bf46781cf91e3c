"""The exact method as a ratio to bare eigenvalues: sizes, sparse networks, kinds of questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import memcurve
from benchmarks.timing import best_times, fresh, thread_counts
from memcurve import LinearNetwork, ensembles, inputs
from memcurve.core.limits import TooLargeError

Row = dict[str, Any]
#: From here on ensembles are scaled by the circular law: no eigenvalues before those timed.
LARGE = 2000


def plain(sizes: Sequence[int], budget: float) -> list[Row]:
    """Normal networks against ``eigvals``, symmetric ones against ``eigvalsh``; by threads."""
    rows = []
    for size in sizes:
        scaling = {"scaling": "circular_law"} if size >= LARGE else {}
        normal = ensembles.normal(size, spectral_radius=0.9, seed=1, **scaling)
        symmetric = ensembles.symmetric(size, spectral_radius=0.9, seed=1)
        for count in thread_counts():
            rows.append(_against(normal, "normal", np.linalg.eigvals, budget, count))
            rows.append(_against(symmetric, "symmetric", np.linalg.eigvalsh, budget, count))
    return rows


def _against(
    network: LinearNetwork,
    ensemble: str,
    eigenvalues: Callable[[np.ndarray], object],
    budget: float,
    count: int,
) -> Row:
    functions: list[Callable[[], object]] = [
        lambda: eigenvalues(network.A),
        lambda: memcurve.memory_curve(fresh(network)),
    ]
    bare, exact = best_times(*functions, budget=budget, count=count)
    return {
        "ensemble": ensemble,
        "states": network.size,
        "threads": count,
        "reference": eigenvalues.__name__,
        "reference_seconds": bare,
        "seconds": exact,
        "ratio": exact / bare,
    }


def _curve(network: LinearNetwork, lags: int) -> object:
    return memcurve.memory_curve(fresh(network), lags)


def structured(quick: bool, budget: float) -> list[Row]:
    """Large sparse networks, in units of ``eigvals`` of a normal network of 1000 nodes."""
    size, unit = (300, 100) if quick else (100_000, 1000)
    dense = ensembles.normal(unit, spectral_radius=0.9, seed=1).A
    [bare] = best_times(lambda: np.linalg.eigvals(dense), budget=budget, count=1)
    rows = []
    for name, network in _large_networks(size).items():
        row: Row = {"network": name, "reference": f"eigvals, N = {unit}", "note": ""}
        try:
            curve = memcurve.memory_curve(network, 1000)
            [seconds] = best_times(partial(_curve, network, 1000), budget=budget, count=1)
            row |= {"seconds": seconds, "ratio": seconds / bare, "total": curve.total}
        except TooLargeError:
            row["note"] = "refused: its eigenvalues would not fit into memory"
        rows.append(row)
    return rows


def _large_networks(size: int) -> dict[str, LinearNetwork]:
    """Sparse networks of so many nodes; all but the ring fall into small parts."""
    rng = np.random.default_rng(1)
    nodes = np.arange(size)
    first = np.zeros(size)
    first[0] = 1.0
    ring = sparse.csr_array((np.full(size, 0.9), ((nodes + 1) % size, nodes)), shape=(size, size))
    block = ensembles.normal(100, spectral_radius=0.9, seed=1)
    reached = sparse.block_diag(
        [sparse.csr_array(block.A), sparse.diags_array(np.full(size - 100, 0.5))], format="csr"
    )
    return {
        f"cyclic, N = {size:,}": LinearNetwork(ring, first),
        f"100 of {size:,} nodes reached": LinearNetwork(
            reached, np.r_[block.C, np.zeros(size - 100)]
        ),
        f"diagonal, N = {size // 100:,}": LinearNetwork(
            sparse.diags_array(rng.uniform(0.1, 0.9, size // 100)).tocsr(), np.ones(size // 100)
        ),
    }


def questions(quick: bool, budget: float) -> list[Row]:
    """Every kind of question against ``eigvals`` of the same network, on at most two threads."""
    networks = {
        f"N = {size}": ensembles.normal(size, spectral_radius=0.9, seed=1)
        for size in ((20, 40) if quick else (100, 300, 1000))
    }
    if folder := os.environ.get("MEMCURVE_REAL_DATA"):
        weights = np.load(Path(folder) / "celegans_299.npy").T
        mask = np.random.default_rng(1).standard_normal(len(weights))
        radius = np.abs(np.linalg.eigvals(weights)).max()
        networks["C. elegans"] = LinearNetwork(0.9 / radius * weights, mask)
    rows = []
    for name, network in networks.items():
        asked = {"noise-free curve", "noise 1e-3", "audit"} if name == "C. elegans" else QUESTIONS
        questions = [question for question in QUESTIONS if question in asked]
        bare, *seconds = best_times(
            partial(np.linalg.eigvals, network.A),
            *(partial(QUESTIONS[question], network) for question in questions),
            budget=budget,
            count=min(2, max(thread_counts())),
        )
        rows += [
            {
                "question": question,
                "network": name,
                "reference_seconds": bare,
                "seconds": one,
                "ratio": one / bare,
            }
            for question, one in zip(questions, seconds, strict=True)
        ]
    return rows


def _two_inputs(network: LinearNetwork) -> LinearNetwork:
    masks = np.random.default_rng(2).standard_normal((network.size, 2))
    return LinearNetwork(network.A, masks)


QUESTIONS: dict[str, Callable[[LinearNetwork], object]] = {
    "noise-free curve": lambda n: memcurve.memory_curve(fresh(n)),
    "noise 1e-3": lambda n: memcurve.memory_curve(fresh(n), noise=1e-3),
    "`Float32()`": lambda n: memcurve.memory_curve(fresh(n), noise=memcurve.Float32()),
    "noise profile, 81 levels": lambda n: memcurve.noise_profile(fresh(n)),
    "AR(0.9) input": lambda n: memcurve.memory_curve(fresh(n), input=inputs.ARMA(ar=[0.9])),
    "ten nodes read": lambda n: memcurve.memory_curve(n.replace(readout=range(10))),
    "two inputs": lambda n: memcurve.memory_curve(_two_inputs(n)),
    "Fisher memory": lambda n: memcurve.fisher_curve(fresh(n)),
    "audit": lambda n: memcurve.audit(fresh(n)),
}
