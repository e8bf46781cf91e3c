"""The six figures of the paper, drawn with the exact curve, with measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve import memory_curve
from memcurve.core.notes import Sentences, texts_beside
from memcurve.core.progress import Progress, tracked
from memcurve.core.types import EPS
from memcurve.network import LinearNetwork, ensembles, krylov, masks
from memcurve.network.graph import eigenvalues
from memcurve.rendering.plot import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

TEXTS: dict[str, dict[str, Any]] = texts_beside(__file__)
#: What was measured, in a sentence of its kind.
_measured = Sentences(TEXTS["measured"])
EXACT_STYLE: dict[str, Any] = {"color": "black", "lw": 1.4, "ls": (0, (1, 1))}


@dataclass(frozen=True)
class Settings:
    """The paper's settings, or fewer: nodes N, masks L of OSM+, sample sizes T of figure 1."""

    size: int = 100
    masks: int = 1000
    samples: tuple[int, ...] = tuple(range(1000, 10_001, 500))
    seed: int = 1

    @classmethod
    def quick(cls, *, seed: int = 1) -> Settings:
        """Fewer masks and samples; the sizes stay, since everything depends on them."""
        return cls(masks=40, samples=(1000, 2000, 4000, 7000, 10_000), seed=seed)


#: A figure, and what was measured while drawing it, in sentences.
Drawn = tuple["Picture", list[str]]


def _panels(rows: int, columns: int, titles: Sequence[str]) -> tuple[Picture, list[Axes]]:
    """A figure with titled panels."""
    from matplotlib.figure import Figure as Picture

    figure = Picture(figsize=(6.2 * columns, 4.1 * rows), layout="constrained")
    axes = list(np.ravel(figure.subplots(rows, columns)))
    for ax, title in zip(axes, titles, strict=True):
        ax.set_title(title, fontsize=11)
        ax.grid(alpha=0.25)
    return figure, axes


def _mark(ax: Axes, x: float, text: str, *, left: bool = False, low: bool = False) -> None:
    """A vertical line with its name beside it."""
    ax.axvline(x, color="0.45", lw=0.9)
    transform, side = ax.get_xaxis_transform(), "right" if left else "left"
    up, base = (0.04, "bottom") if low else (0.96, "top")
    ax.text(x, up, f" {text} ", transform=transform, ha=side, va=base, fontsize=9, color="0.25")


def _legend_below(figure: Picture, ax: Axes, columns: int) -> None:
    """One legend for all panels, under them, where it cannot cover data."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def inflation(settings: Settings, progress: Progress) -> Drawn:
    """(a) estimated curves for growing T, (b) their totals over 5N lags divided by N."""
    from matplotlib import colormaps

    size = settings.size
    network = ensembles.orthogonal(size, seed=settings.seed)
    exact = memory_curve(network, 5 * size)
    figure, (left, right) = _panels(
        1, 2, [r"(a) memory curves $\widehat{MC}_\tau(T)$", r"(b) total memory $\widehat{MC}(T)/N$"]
    )
    colours = colormaps["viridis"](np.linspace(0, 0.92, len(settings.samples)))
    totals = []
    for samples, colour in zip(settings.samples, colours, strict=True):
        curve = memory_curve(
            network, 5 * size, method="montecarlo", samples=samples, seed=settings.seed + samples
        )
        totals.append(curve.total / size)
        label = f"T = {samples}" if samples in (settings.samples[0], settings.samples[-1]) else None
        left.plot(curve.lags[: 2 * size], curve.values[: 2 * size], color=colour, lw=1, label=label)
    left.plot(exact.lags[: 2 * size], exact.values[: 2 * size], label="exact", **EXACT_STYLE)
    left.set(xlabel="lag τ", ylabel=r"$\widehat{MC}_\tau(T)$", ylim=(0, 1.05), xlim=(0, 2 * size))
    _mark(left, size, f"N = {size}")
    left.legend(frameon=False, loc="center right")
    right.bar(settings.samples, totals, 0.8 * np.diff(settings.samples).min(), color=colours)
    right.axhline(1, label="exact", **EXACT_STYLE)
    right.legend(frameon=False, loc="upper right")
    right.set(xlabel="samples T", ylabel=r"$\widehat{MC}(T)/N$", ylim=(0, max(totals) * 1.08))
    facts: dict[str, Any] = {"first": settings.samples[0], "last": settings.samples[-1]}
    facts |= {"exact": exact.total, "few": size * totals[0], "many": size * totals[-1]}
    bars = "above" if min(totals) > 1 else "not_above"
    return figure, [_measured("inflation", **facts), _measured(bars)]


GRAMIAN_KINDS = ("normal", "sparse_normal", "uniform", "orthogonal", "cyclic")


def gramian_eigenvalues(settings: Settings, progress: Progress) -> Drawn:
    """Absolute eigenvalues in falling order, N = 50 and N = 150, five ensembles."""
    sizes = (50, 150)
    figure, axes = _panels(1, 2, [f"({c}) N = {n}" for c, n in zip("ab", sizes, strict=True)])
    findings = []
    styles = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
    for ax, size in zip(axes, sizes, strict=True):
        below = {}
        for kind, colour, style in zip(GRAMIAN_KINDS, COLOURS, styles, strict=False):
            network = ensembles.make(kind, size, seed=settings.seed, mask="normal")
            K = krylov.krylov_matrix(network.A, network.C, 1000)
            values = np.sort(np.abs(np.linalg.eigvalsh(K @ K.T)))[::-1]
            below[kind] = int((values < EPS).sum())
            label = kind.replace("_", " ")
            ax.semilogy(np.arange(1, size + 1), values, color=colour, ls=style, label=label)
        ax.axhline(EPS, color="black", lw=1)
        ax.text(size, EPS * 2, "eps", ha="right", va="bottom", fontsize=9)
        ax.set(xlabel="index", ylabel=r"$|\lambda_i(G)|$", xlim=(1, size), ylim=(1e-22, 1e2))
        counts = ", ".join(f"{kind.replace('_', ' ')} {n}" for kind, n in below.items())
        findings.append(_measured("eigenvalues", size=size, counts=counts))
    _legend_below(figure, axes[0], len(GRAMIAN_KINDS))
    return figure, findings


def squeezing(settings: Settings, progress: Progress) -> Drawn:
    """‖θ_j‖ by Arnoldi and by SVD, C = ι, with the laws that describe it."""
    size = settings.size
    titles, findings = TEXTS["3"]["panels"], []
    figure, axes = _panels(2, 2, [*titles.values()])
    j = np.arange(size)
    for ax, kind in zip(axes, titles, strict=True):
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
            _mark(ax, rank, f"rank(K) = {rank}", left=True, low=True)
        else:
            style: dict[str, Any] = {"ha": "right", "fontsize": 9, "color": "0.25"}
            ax.text(0.98, 0.04, f"rank(K) = N = {rank}", transform=ax.transAxes, **style)
        off = np.abs(np.log10(np.maximum(product, 1e-300) / np.maximum(arnoldi, 1e-300))).mean()
        facts = {"last": arnoldi[-1], "rank": rank, "size": size, "off": off}
        findings.append(_measured("squeezing", kind=kind.replace("_", " "), **facts))
    _legend_below(figure, axes[0], 5)
    return figure, findings


#: Name, title, network, distribution of its masks and their options.
Panel = tuple[str, str, LinearNetwork, str, dict[str, float]]


def _curve_panels(panels: list[Panel], settings: Settings, progress: Progress) -> Drawn:
    """Naive method, OSM and OSM+ with 90 % bands over the same masks."""
    figure, axes = _panels(2, 2, [title for _, title, *_ in panels])
    findings = []
    for ax, (name, title, network, mask, mask_options) in zip(axes, panels, strict=True):
        size = network.size
        shown = round(1.5 * size)
        lags = np.arange(shown)
        arguments: dict[str, Any] = {"distribution": mask, "mask_options": mask_options}
        arguments |= {"seed": settings.seed, "masks": settings.masks, "progress": progress}
        osm_plus = memory_curve(network, shown, method="osm_plus", **arguments)
        streams = np.random.default_rng(settings.seed).spawn(settings.masks)
        ones = [network.replace(C=masks.make(mask, size, seed=s, **mask_options)) for s in streams]
        drawn = tracked(ones, "naive masks", len(ones), progress)
        how: dict[str, Any] = {"method": "naive", "inverse": "projector"}
        naive = np.array([memory_curve(one, shown, **how).values for one in drawn])
        osm = memory_curve(ones[0], shown, method="osm")
        exact = memory_curve(network, shown)
        means = {"naive": naive.mean(axis=0), "OSM+": osm_plus.values}
        bands = np.quantile(naive, (0.05, 0.95), axis=0), np.asarray(osm_plus.bands).T
        for (label, mean), band, colour in zip(means.items(), bands, COLOURS, strict=False):
            ax.fill_between(lags, *band, color=colour, alpha=0.25, lw=0)
            ax.plot(lags, mean, color=colour, lw=1.5, label=label)
        ax.plot(lags, osm.values, color="0.5", ls="-.", lw=1, label="OSM, one mask")
        ax.plot(lags, exact.values, label="exact", **EXACT_STYLE)
        ax.set(xlabel="lag τ", ylabel=r"$MC_\tau$", xlim=(0, shown - 1), ylim=(0, 1.1))
        _mark(ax, size, f"N = {size}")
        totals = [float(mean.sum()) for mean in means.values()]
        off = [float(np.abs(mean - exact.values).max()) for mean in means.values()]
        ax.set_title(
            f"{title}\ntotal: naive {totals[0]:.1f}, OSM+ {totals[1]:.1f}, exact {exact.total:g}",
            fontsize=10,
        )
        facts: dict[str, Any] = {"totals": totals, "off": off, "name": name.replace("_", " ")}
        facts |= {"rising": max(float(np.diff(osm_plus.values).max()), 0.0)}
        facts |= {"exact": exact.total, "error": exact.error.max()}
        findings.append(_measured("curves", **facts))
    _legend_below(figure, axes[0], 4)
    return figure, findings


def curves_by_mask(settings: Settings, progress: Progress) -> Drawn:
    """A sparse normal network, ρ = 0.9; masks of unit norm."""
    network = ensembles.sparse_normal(settings.size, seed=settings.seed)
    panels: list[Panel] = []
    for mask, title in TEXTS["4"]["panels"].items():
        options = {"low": 0.0} if mask == "sparse_uniform" else {}
        panels.append((f"mask {mask}", title, network, mask, options))
    return _curve_panels(panels, settings, progress)


def curves_by_ensemble(settings: Settings, progress: Progress) -> Drawn:
    """Four networks, ρ = 0.9; sparse normal masks of unit norm."""
    panels: list[Panel] = []
    for kind, title in TEXTS["5"]["panels"].items():
        network = ensembles.make(kind, settings.size, seed=settings.seed)
        panels.append((kind, title, network, "sparse_normal", {}))
    return _curve_panels(panels, settings, progress)


def spectra(settings: Settings, progress: Progress) -> Drawn:
    """Eigenvalues in the complex plane, with the unit circle; spectral radius 1."""
    titles = TEXTS["6"]["panels"]
    figure, axes = _panels(2, 3, [*titles.values()])
    figure.set_size_inches(13, 9)
    circle = np.exp(1j * np.linspace(0, 2 * np.pi, 400))
    findings = []
    for ax, kind in zip(axes, titles, strict=True):
        arguments: dict[str, Any] = {"seed": settings.seed, "spectral_radius": 1.0}
        if kind in ("normal", "sparse_normal", "uniform"):
            arguments["scaling"] = "circular_law"
        values = eigenvalues(ensembles.make(kind, settings.size, **arguments).A)
        ax.plot(circle.real, circle.imag, color="0.6", lw=1)
        ax.scatter(values.real, values.imag, s=14, color=COLOURS[0])
        ax.set(xlabel="real part", ylabel="imaginary part", aspect="equal")
        ax.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25))
        moduli = np.abs(values)
        facts = {"least": moduli.min(), "most": moduli.max(), "mean": np.mean(moduli**2)}
        findings.append(_measured("spectra", kind=kind.replace("_", " "), **facts))
    return figure, findings


#: The figures by number.
FIGURES: dict[int, Callable[[Settings, Progress], Drawn]] = dict(enumerate(
    (inflation, gramian_eigenvalues, squeezing, curves_by_mask, curves_by_ensemble, spectra), 1
))  # fmt: skip
