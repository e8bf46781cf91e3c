"""Memory curves of large networks on a GPU, as a ratio to the bare eigenvalues there.

    python benchmarks/gpu.py                              N = 2000, 8000, 16000 with torch on a GPU
    python benchmarks/gpu.py --library cupy               the same with cupy
    python benchmarks/gpu.py --device cpu --sizes 200 400 anywhere
    python benchmarks/gpu.py --output gpu.json            the figures as JSON, too
    python benchmarks/gpu.py --sparse                     usable memory of large sparse networks
    python benchmarks/gpu.py --rank                       the exact rank of a fly-sized network

A is drawn on the device and stays there. Each size prints the time of ``linalg.eigvals`` alone, of
``memory_curves``, with the proof that the mask excites every mode; the best of two (of one from
N = 16000 on), after a small network has loaded the libraries. The smallest size is
compared with ``memory_curve`` on the CPU.

With ``--sparse``, ``memory_curve(network, noise=1e-3)`` of sparse networks on the device is
compared with its bare kernels there: as many sparse products as it has columns, and one QR of as
many columns. With ``--rank``, ``memcurve.rank`` is timed.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from memcurve import LinearNetwork, MemoryCurves, memory_curve, memory_curves, rank
from memcurve.solve.analysis import Analysis

SIZES = [2000, 8000, 16000]
RADIUS = 0.9
ONCE_FROM = 16000
#: No larger network is computed on the CPU to compare with.
COMPARED_UP_TO = 2000
#: Nodes and edges of sparse networks, and of those whose rank is found: the last is as large as the
#: brain of a fly. The former have this much noise.
SPARSE = [
    (10_000, 100_000),
    (100_000, 1_000_000),
    (139_255, 15_000_000),
    (1_000_000, 10_000_000),
    (10_000_000, 100_000_000),
]
RANKED = [(10_000, 100_000), (139_255, 15_000_000)]
NOISE = 1e-3
SPARSE_COMPARED_UP_TO = 10_000


class Library(Protocol):
    """An array library and its device."""

    name: str

    def draw(self, size: int, seed: int) -> Any:
        """Independent normal entries of variance RADIUS²/N, drawn on the device."""

    def sparse(self, size: int, edges: int, seed: int) -> Any:
        """As many edges into each node, from nodes at random, of normal weights."""

    def triangle(self, X: Any) -> Any:
        """R of X = QR."""

    def normal(self, rows: int, columns: int) -> Any:
        """Normal entries on the device."""

    def ones(self, size: int) -> Any:
        """A mask on the device."""

    def eigenvalues(self, A: Any) -> Any:
        """The library's own eigenvalues."""

    def synchronize(self) -> None:
        """Wait until the device has done what it was asked to."""

    def forget_peak(self) -> None:
        """Start to watch the peak memory anew."""

    def peak(self) -> int | None:
        """Bytes of device memory at the peak, or None where nobody counts them."""

    def to_host(self, array: Any) -> np.ndarray:
        """A copy on the CPU."""


class Torch:
    """Tensors of torch, on any device it has."""

    def __init__(self, device: str) -> None:
        import torch

        self.torch, self.device = torch, torch.device(device)
        self.on_gpu = self.device.type == "cuda"
        gpu = f", {torch.cuda.get_device_name(self.device)}" if self.on_gpu else ""
        self.name = f"torch {torch.__version__} on {self.device}{gpu}"

    def draw(self, size: int, seed: int) -> Any:
        generator = self.torch.Generator(device=self.device).manual_seed(seed)
        A = self.torch.randn(
            size, size, dtype=self.torch.float64, device=self.device, generator=generator
        )
        return A.mul_(RADIUS / size**0.5)

    def sparse(self, size: int, edges: int, seed: int) -> Any:
        torch, there = self.torch, {"device": self.device}
        each, generator = edges // size, torch.Generator(device=self.device).manual_seed(seed)
        columns = torch.randint(size, (size * each,), generator=generator, **there)
        weights = torch.randn(size * each, dtype=torch.float64, generator=generator, **there)
        starts = torch.arange(0, size * each + 1, each, **there)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that sparse matrices are new
            return torch.sparse_csr_tensor(
                starts.int(), columns.int(), weights * (RADIUS / each**0.5), (size, size)
            )

    def triangle(self, X: Any) -> Any:
        return self.torch.linalg.qr(X, mode="r").R

    def normal(self, rows: int, columns: int) -> Any:
        return self.torch.randn(columns, rows, dtype=self.torch.float64, device=self.device).T

    def ones(self, size: int) -> Any:
        return self.torch.ones(size, dtype=self.torch.float64, device=self.device)

    def eigenvalues(self, A: Any) -> Any:
        return self.torch.linalg.eigvals(A)

    def synchronize(self) -> None:
        if self.on_gpu:
            self.torch.cuda.synchronize(self.device)

    def forget_peak(self) -> None:
        if self.on_gpu:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats(self.device)

    def peak(self) -> int | None:
        return int(self.torch.cuda.max_memory_allocated(self.device)) if self.on_gpu else None

    def to_host(self, array: Any) -> np.ndarray:
        return np.asarray(array.cpu().numpy())


class Cupy:
    """Arrays of cupy, on the current GPU."""

    def __init__(self, device: str) -> None:
        import cupy

        if device == "cpu":
            raise SystemExit("cupy has no CPU; take --library torch for --device cpu")
        if not hasattr(cupy.linalg, "eigvals"):
            raise SystemExit(f"cupy {cupy.__version__} has no linalg.eigvals; take a newer one")
        self.cupy = cupy
        self.name = f"cupy {cupy.__version__} on GPU {cupy.cuda.Device().id}"

    def draw(self, size: int, seed: int) -> Any:
        A = self.cupy.random.default_rng(seed).standard_normal((size, size))
        A *= RADIUS / size**0.5
        return A

    def sparse(self, size: int, edges: int, seed: int) -> Any:
        from cupyx.scipy.sparse import csr_matrix

        cupy, each = self.cupy, edges // size
        rng = cupy.random.default_rng(seed)
        columns = rng.integers(0, size, size * each, dtype=cupy.int32)
        weights = rng.standard_normal(size * each) * (RADIUS / each**0.5)
        starts = cupy.arange(0, size * each + 1, each, dtype=cupy.int32)
        return csr_matrix((weights, columns, starts), shape=(size, size))

    def triangle(self, X: Any) -> Any:
        return self.cupy.linalg.qr(X, mode="r")

    def normal(self, rows: int, columns: int) -> Any:
        return self.cupy.random.default_rng(1).standard_normal((columns, rows)).T

    def ones(self, size: int) -> Any:
        return self.cupy.ones(size)

    def eigenvalues(self, A: Any) -> Any:
        return self.cupy.linalg.eigvals(A)

    def synchronize(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def forget_peak(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()

    def peak(self) -> int | None:
        # the pool keeps what it was ever given since it was emptied
        return int(self.cupy.get_default_memory_pool().total_bytes())

    def to_host(self, array: Any) -> np.ndarray:
        return np.asarray(array.get())


LIBRARIES: dict[str, Callable[[str], Library]] = {"torch": Torch, "cupy": Cupy}


def timed(library: Library, function: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """Best time of a few calls and the last result; the device is idle before and after each."""
    best, result = np.inf, None
    for _ in range(repetitions):
        result = None  # so that two results are never held
        library.synchronize()
        start = time.perf_counter()
        result = function()
        library.synchronize()
        best = min(best, time.perf_counter() - start)
    return float(best), result


def measured(library: Library, size: int, seed: int) -> dict[str, Any]:
    """Times, ratios, peak memory and errors for one size."""
    A, C = library.draw(size, seed), library.ones(size)
    repetitions = 1 if size >= ONCE_FROM else 2
    library.forget_peak()
    bare, _ = timed(library, lambda: library.eigenvalues(A), repetitions)
    bare_peak = library.peak()
    library.forget_peak()
    proven, curves = timed(library, lambda: memory_curves(A, C), repetitions)
    peak = library.peak()
    row: dict[str, Any] = {
        "size": size,
        "eigvals_s": bare,
        "memory_curves_s": proven,
        "ratio": proven / bare,
        "eigvals_peak_bytes": bare_peak,
        "peak_bytes": peak,
        "lags": int(curves.values.shape[-1]),
        "rank": int(curves.rank),
        "largest_error": float(library.to_host(curves.error).max()),
        "method": curves.method,
        "notes": list(curves.notes),
    }
    if size <= COMPARED_UP_TO:
        row |= against_the_cpu(library.to_host(A), curves.to_numpy())
    return row


def against_the_cpu(A: np.ndarray, curves: MemoryCurves) -> dict[str, Any]:
    """Largest difference to memory_curve, and whether it lies within the sum of both errors."""
    start = time.perf_counter()
    exact = memory_curve(LinearNetwork(A, np.ones(len(A))), curves.values.shape[-1])
    difference = np.abs(curves.values - exact.values)
    return {
        "difference_to_cpu": float(difference.max()),
        "within_errors": bool(np.all(difference <= curves.error + exact.error)),
        "cpu_s": time.perf_counter() - start,
    }


def sparse_measured(library: Library, size: int, edges: int, seed: int) -> dict[str, Any]:
    """Usable memory of a sparse network beside its bare kernels."""
    A = library.sparse(size, edges, seed)
    mask = np.random.default_rng(seed).standard_normal(size) / size**0.5
    made, network = timed(library, lambda: LinearNetwork(A, mask), 2)
    with Analysis.kept(network) as analysis:
        memory_curve(network, noise=NOISE)
        [found] = analysis.reductions.values()
        columns = found.R.shape[0]
    library.forget_peak()
    taken, curve = timed(library, lambda: memory_curve(network, noise=NOISE), 3)
    peak, x = library.peak(), library.normal(size, 1)[:, 0]

    def products() -> Any:
        y = x
        for _ in range(columns):
            y = A @ y
        return y

    bare, _ = timed(library, products, 3)
    X = library.normal(size, columns)
    factored, _ = timed(library, lambda: library.triangle(X), 3)
    row: dict[str, Any] = {
        "size": size, "edges": edges, "columns": columns, "kind": type(found).__name__,
        "network_s": made, "memory_curve_s": taken, "products_s": bare, "qr_s": factored,
        "ratio": taken / (bare + factored), "total": curve.total, "lags": len(curve),
        "largest_error": float(curve.error.max()), "peak_bytes": peak,
    }  # fmt: skip
    if size <= SPARSE_COMPARED_UP_TO:
        start, known = time.perf_counter(), memory_curve((network.A.host, mask), noise=NOISE)
        count = min(len(known), len(curve))
        difference = np.abs(known.values[:count] - curve.values[:count])
        row["cpu_s"] = time.perf_counter() - start
        row["difference_to_cpu"] = float(difference.max())
        row["within_errors"] = bool(np.all(difference <= known.error[:count] + curve.error[:count]))
    return row


def rank_measured(library: Library, size: int, edges: int, seed: int) -> dict[str, Any]:
    """Time of the exact rank, with what the wiring allows."""
    network = LinearNetwork(library.sparse(size, edges, seed), np.eye(1, size)[0])
    taken, found = timed(library, lambda: rank(network), 1)
    return {"size": size, "edges": edges, "rank": found, "rank_s": taken}


def line(row: dict[str, Any]) -> str:
    """One row of the table."""
    peak = "" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 2**30:8.2f} GiB"
    text = (
        f"{row['size']:6d} {row['eigvals_s']:9.3f} s {row['memory_curves_s']:9.3f} s "
        f"{row['ratio']:6.2f} "
        f"{row['largest_error']:9.1e} {peak:>12}"
    )
    if "difference_to_cpu" in row:
        within = "within" if row["within_errors"] else "OUTSIDE"
        text += f"   off by {row['difference_to_cpu']:.1e} from the CPU, {within} the errors"
    return text


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", choices=LIBRARIES, default="torch")
    parser.add_argument("--device", default="cuda", help="of torch, e.g. cuda, cuda:1, cpu")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--sparse", action="store_true", help="usable memory of sparse networks")
    parser.add_argument("--rank", action="store_true", help="the exact rank of sparse networks")
    arguments = parser.parse_args()
    library = LIBRARIES[arguments.library](arguments.device)
    print(library.name)
    if arguments.sparse or arguments.rank:
        measure = sparse_measured if arguments.sparse else rank_measured
        rows = []
        for size, edges in SPARSE if arguments.sparse else RANKED:
            if size <= max(arguments.sizes, default=size) or arguments.sizes is SIZES:
                rows.append(measure(library, size, edges, arguments.seed))
                print(json.dumps(rows[-1]), flush=True)
        if arguments.output:
            arguments.output.write_text(json.dumps(rows, indent=1) + "\n")
        return
    warm = library.draw(100, 0)
    library.eigenvalues(warm)
    memory_curves(warm, library.ones(100))
    print(f"{'N':>6} {'eigvals':>11} {'curves':>11} {'ratio':>6} {'error':>9} {'peak':>12}")
    rows = []
    for size in arguments.sizes:
        rows.append(measured(library, size, arguments.seed))
        print(line(rows[-1]), flush=True)
        if arguments.output:  # after each size: a later one may not fit
            found = {"library": library.name, "python": platform.python_version(), "rows": rows}
            arguments.output.write_text(
                json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
            )


if __name__ == "__main__":
    main()
