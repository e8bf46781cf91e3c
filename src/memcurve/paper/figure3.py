"""Figure 3: Krylov subspace squeezing."""

from __future__ import annotations

import numpy as np

from memcurve import ensembles, krylov
from memcurve.paper.panels import (
    COLOURS,
    EPS,
    Drawn,
    Settings,
    legend_below,
    mark,
    new_panels,
)

TITLE = "Krylov subspace squeezing"
PAPER = (
    "The norm of the part of A^jC orthogonal to the earlier columns of the Krylov matrix falls "
    "faster than exponentially, about like the product of the largest eigenvalues; only for "
    "orthogonal networks it follows ρ^j. The numerical rank of K stays far below N."
)
PANELS = {
    "normal": r"(a) $A_{ij} \sim \mathcal{N}(0, 1)$",
    "uniform": r"(b) $A_{ij} \sim \mathcal{U}(-1, 1)$",
    "sparse_normal": r"(c) $A_{ij} \sim sp\mathcal{N}(0, 1, 0.1)$",
    "orthogonal": r"(d) $A \sim \mathcal{O}(\mathcal{N}(0, 1))$",
}


def draw(settings: Settings) -> Drawn:
    """‖θ_j‖ by Arnoldi and by SVD, C = ι, with the laws that describe it."""
    size = settings.size
    figure, axes = new_panels(2, 2, list(PANELS.values()))
    findings = []
    j = np.arange(size)
    for ax, kind in zip(axes, PANELS, strict=True):
        network = ensembles.make(kind, size, seed=settings.seed, mask="ones")
        arnoldi = krylov.orthogonal_components(network, size)
        rank = krylov.numerical_rank(network)
        product = krylov.eigenvalue_products(network, size)
        ax.semilogy(j, arnoldi, color=COLOURS[0], marker=".", ms=3, lw=1, label="Arnoldi")
        svd = krylov.orthogonal_components(network, size, by="svd")
        ax.semilogy(j, svd, color=COLOURS[1], marker="x", ms=3, lw=1, label="SVD projection")
        ax.semilogy(j, product, "k--", lw=1, label=r"$\prod_{i \leq j} |\lambda_i|$")
        if kind != "orthogonal":  # the law is about independent entries
            law = krylov.decay_law(size, 0.9, size)
            ax.semilogy(j, law, color=COLOURS[2], lw=1.2, label=r"$\kappa_{j+1}$, corrected")
        ax.semilogy(j, 0.9**j, "k:", lw=1, label=r"$\rho^j$")
        ax.axhline(EPS, color="black", lw=0.8)
        ax.text(0, EPS * 2, " eps", va="bottom", fontsize=9)
        ax.set(xlabel="j", ylabel=r"$\|\theta_{j+1}\|$", xlim=(0, size), ylim=(1e-34, 3))
        if rank < size:
            mark(ax, rank, f"rank(K) = {rank}", left=True, low=True)
        else:
            ax.text(
                0.98,
                0.04,
                f"rank(K) = N = {rank}",
                transform=ax.transAxes,
                ha="right",
                fontsize=9,
                color="0.25",
            )
        off = np.abs(np.log10(np.maximum(product, 1e-300) / np.maximum(arnoldi, 1e-300))).mean()
        findings.append(
            f"{kind.replace('_', ' ')}: ‖θ_N‖ = {arnoldi[-1]:.1e}, numerical rank {rank} of "
            f"{size}, eigenvalue product off by a factor of 10^{off:.2f} on average."
        )
    legend_below(figure, axes[0], 5)
    return Drawn(figure, findings)
