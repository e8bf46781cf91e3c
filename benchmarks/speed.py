"""Time of the exact method as a ratio to bare eigenvalues, and of OSM+ as a ratio to it.

    python benchmarks/speed.py                 N = 100, 300, 1000; OSM+ with L = 1000 masks; noise
                                               at all levels, N = 500; coloured input, N = 1000
    python benchmarks/speed.py --sizes 3000    any sizes
    python benchmarks/speed.py --memory 3000   peak memory in dense N×N float64 arrays

All times of a row come from one run, in turn, and the best of several repetitions counts.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np

import memcurve


def best_times(*functions: Callable[[], object], repetitions: int, rounds: int = 3) -> list[float]:
    """Best time of each function over several rounds, so that a busy machine hits all alike.

    Within a round each function is repeated on its own: NumPy's and SciPy's idle BLAS threads spin
    for some milliseconds and would slow down the other's first call.
    """
    best = [np.inf] * len(functions)
    for _ in range(rounds):
        for k, function in enumerate(functions):
            for _ in range(repetitions):
                start = time.perf_counter()
                function()
                best[k] = min(best[k], time.perf_counter() - start)
    return best


def osm_plus(A: np.ndarray, masks: np.ndarray, truncation: int) -> np.ndarray:
    """The averaged orthogonalised subspace method of the paper (its Algorithm 1) in plain NumPy."""
    curve = np.zeros(truncation)
    for mask in masks:
        krylov = np.empty((len(A), truncation))
        v = mask
        for k in range(truncation):
            krylov[:, k] = v
            v = A @ v
        rows = np.linalg.svd(krylov, full_matrices=False)[2]
        curve += np.diag(rows.T @ rows)
    return curve / len(masks)


def against_eigenvalues(sizes: list[int]) -> None:
    """Print the ratio of the whole exact method to numpy.linalg.eigvals on normal networks."""
    print(f"{'N':>6} {'eigvals':>12} {'exact':>12} {'ratio':>7}")
    for size in sizes:
        network = memcurve.ensembles.normal(size, spectral_radius=0.9, seed=1)
        eigenvalues, exact = best_times(
            lambda A=network.A: np.linalg.eigvals(A),
            lambda network=network: memcurve.memory_curve(network),
            repetitions=20 if size <= 300 else 1,
            rounds=3 if size <= 1000 else 1,
        )
        print(f"{size:6d} {eigenvalues:10.4f} s {exact:10.4f} s {exact / eigenvalues:7.2f}")


def against_osm_plus(size: int = 100, masks: int = 1000, timed: int = 20) -> None:
    """Print how much longer OSM+ takes; its masks cost the same, so ``timed`` of them are timed."""
    network = memcurve.ensembles.normal(size, spectral_radius=0.9, seed=1)
    drawn = np.random.default_rng(0).standard_normal((timed, size))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    curve = memcurve.memory_curve(network, 5 * size)
    (exact,) = best_times(lambda: memcurve.memory_curve(network), repetitions=20)
    (paper,) = best_times(lambda: osm_plus(network.A, drawn, 5 * size), repetitions=1)
    paper *= masks / timed
    off = np.abs(osm_plus(network.A, drawn, 5 * size) - curve.values).max()
    print(
        f"OSM+ with {masks} masks, N = {size}: {paper:.1f} s (from {timed} masks), "
        f"{paper / exact:,.0f} × exact; off by {off:.2f}, exact by at most {curve.error.max():.1e}"
    )


def against_eigenvalues_in_general() -> None:
    """Print the ratios for noise at all levels and lags (N = 500), and ARMA input (N = 1000)."""
    from memcurve import ensembles, inputs

    levels = np.logspace(-20, 0, 81)
    coloured = inputs.ARMA(ar=[1.1, -0.4], ma=[0.5, 0.2])
    questions = {
        "81 noise levels, all lags": (500, {"noise": levels}),
        "ARMA(2, 2) input": (1000, {"input": coloured}),
    }
    print(f"{'question':>26} {'ensemble':>11} {'N':>5} {'eigvals':>12} {'ratio':>7}")
    for name, (size, arguments) in questions.items():
        for ensemble in ("normal", "symmetric", "orthogonal"):
            network = ensembles.make(ensemble, size, seed=1)
            eigenvalues, answer = best_times(
                lambda A=network.A: np.linalg.eigvals(A),
                lambda network=network, asked=arguments: memcurve.memory_curve(network, **asked),
                repetitions=2,
            )
            print(
                f"{name:>26} {ensemble:>11} {size:5d} {eigenvalues:10.4f} s "
                f"{answer / eigenvalues:7.2f}"
            )


def peak_memory(size: int) -> None:
    """Print the growth of the process's peak memory over one call, in dense N×N float64 arrays."""
    network = memcurve.ensembles.normal(size, spectral_radius=0.9, seed=1, scaling="circular_law")
    memcurve.memory_curve(memcurve.ensembles.normal(50, seed=1))  # load the libraries first
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    curve = memcurve.memory_curve(network)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    whole = 1024 * after / (8 * size**2)
    print(
        f"N = {size}: total {curve.total:g}, error {curve.error.max():.1e}, "
        f"{time.perf_counter() - start:.1f} s; peak of the whole process {whole:.2f} arrays, "
        f"{1024 * (after - before) / (8 * size**2):.2f} more than before the call"
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+")
    parser.add_argument("--memory", type=int)
    arguments = parser.parse_args()
    if arguments.memory:
        peak_memory(arguments.memory)
        return
    against_eigenvalues(arguments.sizes or [100, 300, 1000])
    if not arguments.sizes:
        against_osm_plus()
        against_eigenvalues_in_general()


if __name__ == "__main__":
    main()
