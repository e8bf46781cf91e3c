"""Draw the picture of the README: a network, its memory, and what two usual methods make of it.

python docs/readme_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.linalg import solve_discrete_lyapunov

import memcurve
from memcurve import plot


def naive(A: np.ndarray, C: np.ndarray, lags: int) -> np.ndarray:
    """Cᵀ(Aᵀ)^τ G⁻¹ A^τ C with the Gramian from the Lyapunov equation, as the formula says."""
    G = solve_discrete_lyapunov(A, np.outer(C, C))
    memory, v = np.empty(lags), C
    for lag in range(lags):
        memory[lag] = v @ np.linalg.pinv(G) @ v
        v = A @ v
    return memory


def osm(A: np.ndarray, C: np.ndarray, truncation: int) -> np.ndarray:
    """Diagonal of the projector on the rows of the truncated Krylov matrix."""
    krylov = np.empty((len(A), truncation))
    v = C
    for k in range(truncation):
        krylov[:, k] = v
        v = A @ v
    return (np.linalg.svd(krylov, full_matrices=False)[2] ** 2).sum(axis=0)


def main() -> None:
    """Compute the three curves and write the picture."""
    network = memcurve.ensembles.sparse_normal(
        100, spectral_radius=0.9, density=0.1, seed=1, mask="sparse_normal"
    )
    exact = memcurve.memory_curve(network)
    lags = np.arange(200)
    others = {
        "Gramian and pseudo-inverse": naive(network.A, network.C, 500),
        "orthogonalised subspace (OSM)": osm(network.A, network.C, 500),
    }
    label = f"memcurve: total memory {exact.total:g}, largest error {exact.error.max():.1e}"
    ax = plot.curves(exact, labels=[label])
    for (name, memory), colour, style in zip(
        others.items(), plot.COLOURS[1:], ("--", "-."), strict=False
    ):
        off = np.abs(memory[:200] - exact.values[:200]).max()
        ax.plot(
            lags,
            memory[:200],
            color=colour,
            ls=style,
            lw=1.6,
            label=f"{name}: total {memory.sum():.1f}, off by up to {off:.2f}",
        )
    ax.set_xlim(0, 150)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.3)
    plot.save(ax, Path(__file__).parent / "images" / "memory.png")


if __name__ == "__main__":
    main()
