"""Usable memory of large sparse networks: time and peak memory against nodes and edges.

Beside it, on the same network: the sparse products that any way needs, one a lag, with a QR of the
directions above the noise; the dense way (the Gramian by doubling, and a Cholesky factor); and
pyMOR's low-rank solver of Lyapunov equations (ADI; Stein equations through the Cayley form).
"""

from __future__ import annotations

import importlib
import json
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memcurve
from benchmarks.memory import peak
from benchmarks.timing import ABSENT, seconds_of, threads
from memcurve.solve.powers import solve_stein

Row = dict[str, Any]

#: Spectral radius by the circular law, and noise.
RADIUS = 0.9
NOISE = 1e-3
#: Nodes with ten edges each, and edges of 100,000 nodes.
SIZES = (300, 1000, 3000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (200, 300)
EDGES_PER_NODE = (10, 30, 100)
MANY_NODES = 100_000
#: States up to which the dense way and pyMOR run.
MOST_DENSE = 3000
MOST_PYMOR = 1000


def measured(quick: bool, sizes: Sequence[int] | None = None) -> Row:
    """All rows, and how time and memory grow."""
    sizes = sizes or (QUICK_SIZES if quick else SIZES)
    nodes = [in_a_process_of_its_own(size, 10 * size) for size in sizes]
    fixed = max(sizes) if quick else MANY_NODES
    edges = [row for row in nodes if row["states"] == fixed]
    more = EDGES_PER_NODE[len(edges) :]
    edges += [in_a_process_of_its_own(fixed, each * fixed) for each in more]
    large = [row for row in nodes if row["states"] >= (0 if quick else 10_000)]
    return {
        "nodes": nodes,
        "edges": edges,
        "growth": {
            "time against nodes, ten edges each": exponent(large, "states", "seconds"),
            "memory against nodes, ten edges each": exponent(large, "states", "bytes"),
            "time against edges": exponent(edges, "edges", "seconds"),
        },
    }


def in_a_process_of_its_own(size: int, edges: int) -> Row:
    """A row of a fresh process: a peak is that of the whole life of a process."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--scale-row", str(size), str(edges)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"{size:,} nodes, {edges:,} edges: done", file=sys.stderr)
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def row_of(size: int, edges: int) -> Row:
    """Seconds of the processor on one thread, and growth of the peak memory over the call."""
    A, C = drawn(size, edges)
    network = memcurve.LinearNetwork(A, C)
    small = memcurve.LinearNetwork(*drawn(200, 2000))
    with threads(1):
        memcurve.memory_curve(small, noise=NOISE)  # load the libraries first
        before, start = peak("VmRSS"), time.process_time()
        curve = memcurve.memory_curve(network, noise=NOISE)
        seconds, used = time.process_time() - start, peak() - before
        products, factor, rank = _bare(A, C, len(curve))
        found: Row = {
            "states": size,
            "edges": int(A.nnz),
            "lags": len(curve),
            "rank": rank,
            "seconds": seconds,
            "bytes": used,
            "process_bytes": before + used,
            "products_seconds": products,
            "qr_seconds": factor,
            "ratio": seconds / (products + factor),
            "total": curve.total,
            "error": curve.total_error,
        }
        if size <= MOST_DENSE:
            found |= _timed("dense", lambda: dense_total(A, C), curve.total)
        if size <= MOST_PYMOR:
            found |= _timed("pymor", lambda: pymor_total(A, C), curve.total)
    return found


def drawn(size: int, edges: int) -> tuple[Any, Any]:
    """Independent Gaussian weights on random edges, and a mask of unit length."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(1)
    places = rng.integers(0, size, (2, edges))
    A = csr_array((rng.standard_normal(edges), tuple(places)), shape=(size, size))
    C = rng.standard_normal(size)
    return A * (RADIUS / math.sqrt(edges / size)), C / np.linalg.norm(C)


def _bare(A: Any, C: Any, lags: int) -> tuple[float, float, int]:
    """Seconds of one product a lag and of one QR, and the directions above the noise it is of."""
    from scipy.linalg.lapack import dgeqrf

    def products() -> None:
        x = C
        for _ in range(lags):
            x = A @ x

    K = np.empty((len(C), lags), order="F")
    K[:, 0] = C
    for k in range(1, lags):
        K[:, k] = A @ K[:, k - 1]
    # directions that hold more than a millionth of the noise's variance, out of the Gram matrix
    held = np.linalg.eigvalsh(K.T @ K)
    rank = int(np.count_nonzero(held > 1e-6 * NOISE**2))
    block = np.array(K[:, :rank], order="F")
    del K
    clock = time.process_time
    factor = seconds_of(lambda: dgeqrf(block, lwork=64 * rank, overwrite_a=True), clock)
    return min(seconds_of(products, clock) for _ in range(2)), factor, rank


def dense_total(A: Any, C: Any) -> float:
    """Σ σ²/(σ² + s²) = tr G(G + s²)⁻¹ of the Gramian."""
    from scipy.linalg import cho_factor, cho_solve

    G = solve_stein(A.toarray(), np.outer(C, C))
    noisy = G + NOISE**2 * np.eye(len(G))
    return float(np.trace(cho_solve(cho_factor(noisy), G)))


def pymor_total(A: Any, C: Any) -> float:
    """The same from a low-rank factor of the Gramian: (A − I)G(A + I)ᵀ + … = −2CCᵀ."""
    from scipy.sparse import csc_matrix, eye_array

    def part(name: str) -> Any:
        return importlib.import_module(f"pymor.{name}")

    part("core.logger").set_log_levels({"pymor": "ERROR"})
    equations, adi = (part(f"solvers.matrix_equations.{name}") for name in ("equations", "adi"))
    operator = part("operators.numpy").NumpyMatrixOperator
    unit = eye_array(len(C), format="csc")
    minus, plus = operator(csc_matrix(A - unit)), operator(csc_matrix(A + unit))
    mask = minus.source.from_numpy(np.sqrt(2) * C[:, None])
    solver = adi.ADILyapunovSolver(adi_tol=1e-12, adi_maxiter=400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = solver.solve(equations.LyapunovEquation(minus, plus, mask)).to_numpy()
    squares = np.linalg.svd(Z, compute_uv=False) ** 2
    return float((squares / (squares + NOISE**2)).sum())


def _timed(name: str, total: Callable[[], float], known: float) -> Row:
    """Seconds of another way and how far its total is off, or that it is not installed."""
    start = time.process_time()
    try:
        found = total()
    except ImportError:
        return {f"{name}_note": ABSENT}
    return {f"{name}_seconds": time.process_time() - start, f"{name}_off": abs(found - known)}


def exponent(rows: Sequence[Row], along: str, what: str) -> float:
    """The exponent p of ``what`` ~ ``along``^p, by least squares of logarithms."""
    x, y = (np.log([row[name] for row in rows]) for name in (along, what))
    return float(np.polyfit(x, y, 1)[0])


def draw(results: Row, path: str | Path) -> None:
    """Seconds against nodes, dense and direct."""
    from matplotlib.figure import Figure

    from memcurve import plot

    figure = Figure(figsize=(6.4, 4), layout="constrained", dpi=110)
    ax = figure.add_subplot()
    lines = {
        "seconds": "memcurve, direct",
        "products_seconds": "bare sparse products",
        "dense_seconds": "dense Gramian",
        "pymor_seconds": "pyMOR, low-rank ADI",
    }
    for colour, (key, label) in zip(plot.COLOURS, lines.items(), strict=False):
        those = [row for row in results["nodes"] if key in row]
        if those:
            x, y = [row["states"] for row in those], [row[key] for row in those]
            ax.plot(x, y, "o-", color=colour, ms=4.5, lw=1.3, label=label)
    ax.set(xscale="log", yscale="log", xlabel="nodes, ten edges each", ylabel="seconds, one thread")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False)
    figure.savefig(path)
