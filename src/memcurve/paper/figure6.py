"""Figure 6: spectra of six ensembles."""

from __future__ import annotations

import numpy as np

from memcurve import ensembles
from memcurve.network.graph import eigenvalues
from memcurve.paper.panels import COLOURS, Drawn, Settings, new_panels

TITLE = "Eigenvalues of the connectivity"
PAPER = (
    "Scaled by the circular law, the eigenvalues of normal, sparse normal and uniform matrices "
    "fill the unit disc about evenly; those of orthogonal and cyclic ones lie on the unit circle, "
    "those of sparse ones with given condition number near it."
)
PANELS: tuple[tuple[str, dict[str, str], str], ...] = (
    ("normal", {"scaling": "circular_law"}, r"(a) $A_{ij} \sim \mathcal{N}(0, 1)$"),
    ("sparse_normal", {"scaling": "circular_law"}, r"(b) $A_{ij} \sim sp\mathcal{N}(0, 1, 0.1)$"),
    ("uniform", {"scaling": "circular_law"}, r"(c) $A_{ij} \sim \mathcal{U}(-1, 1)$"),
    ("orthogonal", {}, r"(d) $A \sim \mathcal{O}(\mathcal{N}(0, 1))$"),
    ("cyclic", {}, r"(e) cyclic(N)"),
    ("sp_c", {}, r"(f) $A \sim sp_C\mathcal{N}(0, 1, 0.1, 0.7)$"),
)


def draw(settings: Settings) -> Drawn:
    """Eigenvalues in the complex plane, with the unit circle; spectral radius 1."""
    figure, axes = new_panels(2, 3, [title for _, _, title in PANELS])
    figure.set_size_inches(13, 9)
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 400))
    findings = []
    for ax, (kind, options, _) in zip(axes, PANELS, strict=True):
        drawn = {"seed": settings.seed, "spectral_radius": 1.0, **options}
        values = eigenvalues(ensembles.make(kind, settings.size, **drawn).A)
        ax.plot(circle.real, circle.imag, color="0.6", lw=1)
        ax.scatter(values.real, values.imag, s=14, color=COLOURS[0])
        ax.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
        ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
        moduli = np.abs(values)
        findings.append(
            f"{kind.replace('_', ' ')}: moduli from {moduli.min():.3f} to {moduli.max():.3f}, mean "
            f"of |λ|² {np.mean(moduli**2):.3f} (even on the disc: 0.5)."
        )
    return Drawn(figure, findings)
