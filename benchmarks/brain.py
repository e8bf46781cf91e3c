"""Null models and usable memory of a synthetic brain as large as the fly's.

Degrees are log-normal, most edges stay within one of twelve blocks, which lie apart in space;
weights are numbers of synapses, negative for three tenths of the neurons.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import memcurve
from benchmarks.memory import peak
from memcurve.network.scaling import scale_to_spectral_radius

Row = dict[str, Any]

#: Nodes and edges of MaleCNS, and of a check that all of it runs.
SIZE = 166_700
EDGES = 25_000_000
QUICK_SIZE = 400
QUICK_EDGES = 8_000
BLOCKS = 12
WITHIN_BLOCKS = 0.6
INHIBITORY = 0.3
RADIUS = 0.9
NOISE = 1e-3
#: What is measured, each in a process of its own.
PARTS = (*memcurve.nulls.NULLS, "spectral radius", "usable memory", "usable memory, GPU")


def measured(quick: bool, sizes: list[int] | None = None) -> list[Row]:
    """Seconds and peak memory of a draw of each null model, of scaling and of usable memory."""
    size, edges = sizes or ((QUICK_SIZE, QUICK_EDGES) if quick else (SIZE, EDGES))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "brain.npz")
        made(size, edges, file)
        rows = []
        for part in PARTS:
            command = [sys.executable, "-m", "benchmarks", "--brain-row", part, str(file)]
            root = Path(__file__).parents[1]
            done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
            rows.append(json.loads(done.stdout.splitlines()[-1]))
            print(f"{part}: {rows[-1]}", file=sys.stderr)
    return rows


def made(size: int, edges: int, file: Path) -> None:
    """Draw a brain and save it."""
    rng = np.random.default_rng(1)
    block = np.sort(rng.integers(BLOCKS, size=size))
    positions = rng.normal(size=(BLOCKS, 3))[block] + 0.3 * rng.normal(size=(size, 3))
    sends, receives = (np.cumsum(rng.lognormal(0, 1, size)) for _ in range(2))
    first, last = (np.searchsorted(block, block, side) for side in ("left", "right"))
    cells = np.zeros(0, np.int64)
    while len(cells) < edges:
        count = int(1.2 * (edges - len(cells))) + 1000
        source = np.searchsorted(sends, sends[-1] * rng.random(count))
        low, high = np.zeros(count), np.full(count, receives[-1])
        stays = rng.random(count) < WITHIN_BLOCKS
        low[stays] = np.append(0, receives)[first[source[stays]]]
        high[stays] = receives[last[source[stays]] - 1]
        target = np.searchsorted(receives, low + (high - low) * rng.random(count))
        source, target = source[source != target], target[source != target]
        cells = np.unique(np.concatenate([cells, target * size + source]))
    cells = np.sort(rng.choice(cells, edges, replace=False, shuffle=False))
    target, source = np.divmod(cells, size)
    signs = np.where(rng.random(size) < INHIBITORY, -1.0, 1.0)
    weights = signs[source] * np.minimum(rng.zipf(2.0, edges), 1000)
    starts = np.searchsorted(target, np.arange(size + 1))
    C = np.where(rng.random(size) < 0.1, 1.0, 0.0)
    np.savez(
        file, weights=weights, source=source.astype(np.int32), starts=starts.astype(np.int32), C=C,
        block=block, positions=positions,
    )  # fmt: skip


def row_of(part: str, file: str | Path) -> Row:
    """Seconds of the processor and of the clock, and peak memory, of one part."""
    from scipy.sparse import csr_array

    parts = np.load(file)
    C, size = parts["C"], len(parts["C"])
    A = csr_array((parts["weights"], parts["source"], parts["starts"]), shape=(size, size))
    network = memcurve.LinearNetwork(A, C)
    row: Row = {"part": part, "states": size, "edges": int(A.nnz)}
    if part.startswith("usable"):
        network = memcurve.LinearNetwork(scale_to_spectral_radius(A, RADIUS), C)
        if part.endswith("GPU"):
            torch = _gpu()
            if torch is None:
                return row | {"note": "no GPU"}
            A = network.A
            entries = [torch.as_tensor(x, device="cuda") for x in (A.indptr, A.indices, A.data)]
            network = memcurve.LinearNetwork(torch.sparse_csr_tensor(*entries, A.shape), C)
            memcurve.memory_curve(network, noise=NOISE)  # load the libraries first
    options = {"blocks": {"blocks": parts["block"]}, "spatial": {"positions": parts["positions"]}}
    before, clock, processor = peak("VmRSS"), time.perf_counter(), time.process_time()
    if part in memcurve.nulls.NULLS:
        drawn = memcurve.nulls.make(part, network, seed=1, **options.get(part, {}))
        row["note"] = str(drawn.notes[-1])
    elif part == "spectral radius":
        scale_to_spectral_radius(A, RADIUS)
    else:
        curve = memcurve.memory_curve(network, noise=NOISE)
        row |= {"total": curve.total, "error": curve.total_error, "lags": len(curve)}
    return row | {
        "seconds": time.process_time() - processor,
        "wall_seconds": time.perf_counter() - clock,
        "bytes": peak() - before,
        "process_bytes": peak(),
    }


def _gpu() -> Any:
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None
