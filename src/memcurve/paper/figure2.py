"""Figure 2: eigenvalues of the Gramian."""

from __future__ import annotations

import numpy as np

from memcurve import ensembles
from memcurve.krylov import krylov_matrix
from memcurve.paper.panels import COLOURS, EPS, Drawn, Settings, legend_below, new_panels

TITLE = "Eigenvalues of the Gramian G"
PAPER = (
    "Computed with 1000 terms of its series, the Gramian of the usual random networks has "
    "eigenvalues down to rounding at N = 50 and for the most part at N = 150: it cannot be "
    "inverted. Orthogonal and cyclic networks are the exception."
)
KINDS = ("normal", "sparse_normal", "uniform", "orthogonal", "cyclic")
TERMS = 1000


def draw(settings: Settings) -> Drawn:
    """Absolute eigenvalues in falling order, N = 50 and N = 150, five ensembles."""
    sizes = (50, 150)
    figure, axes = new_panels(1, 2, [f"({c}) N = {n}" for c, n in zip("ab", sizes, strict=True)])
    findings = []
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    for ax, size in zip(axes, sizes, strict=True):
        below = {}
        for kind, colour, style in zip(KINDS, COLOURS, styles, strict=False):
            network = ensembles.make(kind, size, seed=settings.seed, mask="normal")
            K = krylov_matrix(network.A, network.C, TERMS)
            values = np.sort(np.abs(np.linalg.eigvalsh(K @ K.T)))[::-1]
            below[kind] = int((values < EPS).sum())
            label = kind.replace("_", " ")
            ax.semilogy(np.arange(1, size + 1), values, color=colour, ls=style, label=label)
        ax.axhline(EPS, color="black", lw=1)
        ax.text(size, EPS * 2, "eps", ha="right", va="bottom", fontsize=9)
        ax.set(xlabel="index", ylabel=r"$|\lambda_i(G)|$", xlim=(1, size), ylim=(1e-22, 1e2))
        counts = ", ".join(f"{kind.replace('_', ' ')} {n}" for kind, n in below.items())
        findings.append(f"N = {size}: eigenvalues below eps: {counts}.")
    legend_below(figure, axes[0], len(KINDS))
    return Drawn(figure, findings)
