"""Claims about computing memory: bias, conditioning, squeezing, subspace methods."""

from __future__ import annotations

import numpy as np

from memcurve import ensembles, krylov, memory_curve
from memcurve.allpass import cascade, section_poles
from memcurve.methods.montecarlo import montecarlo_bias
from memcurve.paper.verdicts import FAILS, Verdict, decide
from memcurve.spectrum import controllable_spectrum

SPARSE = ensembles.sparse_normal(100, seed=1, mask="sparse_normal")


def bias_formula() -> Verdict:
    """20,000 replications of a network of three nodes, T = 30, lag 1."""
    network, samples, lag, replications = ensembles.normal(3, seed=2), 30, 1, 20_000
    poles = controllable_spectrum(network).poles
    if poles is None:
        return FAILS, "no poles"
    A, C = cascade(section_poles(poles))
    burn_in = 150
    z = np.random.default_rng(3).standard_normal((samples + burn_in, replications))
    x, states = np.zeros((3, replications)), []
    for now in z:
        x = A @ x + C[:, None] * now
        states.append(x)
    kept, z = np.array(states[burn_in:]), z[burn_in:]
    gamma = np.einsum("tnr,tr->nr", kept[lag:], z[:-lag]) / (samples - lag)
    found = (gamma**2).sum(axis=0) - memory_curve(network, lag + 1)[lag]
    mean, error = float(found.mean()), float(found.std()) / replications**0.5
    exact, printed = (
        float(montecarlo_bias(network, lag + 1, samples, as_printed=p)[lag]) for p in (False, True)
    )
    text = f"simulated {mean:.4f} ± {error:.4f}, exact {exact:.4f}, printed {printed:.4f}"
    holds = abs(mean - exact) < 4 * error < abs(mean - printed)
    return decide(holds, text, corrected=True)


def total_estimator() -> Verdict:
    size = 20
    network = ensembles.orthogonal(size, seed=1)
    bias = [montecarlo_bias(network, T // 2, T).sum() for T in (1000, 4000)]
    text = (
        f"the factor 1/τ_max must go; with τ_max = T/2 the bias of the total is {bias[0]:.2f} at "
        f"T = 1000 and {bias[1]:.2f} at T = 4000, near N ln 2 = {size * np.log(2):.2f}: it does "
        f"not vanish, τ_max = o(T) is needed"
    )
    return decide(bias[1] < 0.5 * bias[0], text)


def gramian_is_hopeless() -> Verdict:
    condition = memory_curve(SPARSE, 1, method="naive").diagnostics["condition"]
    total = memory_curve(SPARSE, 150, method="naive", inverse="projector").total
    text = f"sparse normal, N = 100: condition {condition:.0e}, naive total {total:.1f}"
    return decide(condition > 1e15 and total < 90, text)


def neutral_formula() -> Verdict:
    curve = memory_curve(SPARSE, 150, method="neutral")
    off = float(np.abs(curve.values - memory_curve(SPARSE, 150).values).max())
    condition = curve.diagnostics["condition"]
    text = f"condition of L_A {condition:.0e}; its curve is off by {off:.2f}"
    return decide(condition > 1e15 and off > 0.5, text)


def vandermonde_lemma() -> Verdict:
    network = ensembles.normal(20, seed=1)
    factors = krylov.vandermonde_factors(network, 40)
    off = float(np.abs(factors.product() - krylov.krylov_matrix(network.A, network.C, 40)).max())
    return decide(off < 1e-11, f"N = 20, 40 columns: K = V·diag(c)·W to {off:.0e}")


def hankel_structure() -> Verdict:
    def departure(values: np.ndarray) -> float:
        W = np.vander(values.astype(complex), 6, increasing=True)
        product = W.conj().T @ W
        return float(np.abs(product[1:, :-1] - product[:-1, 1:]).max())

    real = departure(np.linalg.eigvalsh(ensembles.symmetric(6, seed=1).A))
    rotation = departure(np.linalg.eigvals(ensembles.orthogonal(6, seed=1).A))
    text = f"departure from Hankel {real:.0e} for a real spectrum, {rotation:.1f} for a complex one"
    return decide(real < 1e-12 < rotation, text, corrected=True)


def squeezing_law() -> Verdict:
    off = {True: 0.0, False: 0.0}
    for seed in range(5):
        network = ensembles.normal(100, seed=seed, mask="ones", scaling="circular_law")
        truth = np.log10(krylov.orthogonal_components(network, 100))
        for printed in off:
            law = np.log10(krylov.decay_law(100, 0.9, 100, as_printed=printed))
            off[printed] += float(np.abs(law - truth).mean()) / 5
    text = f"mean |log10| error of κ_j: {off[True]:.2f} as printed, {off[False]:.2f} corrected"
    return decide(off[False] < 1.5 < off[True], text, corrected=True)


def osm_recovers_the_total() -> Verdict:
    ring = ensembles.cyclic(50, mask="ones")
    truth, osm = memory_curve(ring).total, memory_curve(ring, method="osm").total
    text = (
        f"always N, by construction: a ring of 50 driven evenly has memory {truth:g}, OSM says "
        f"{osm:.1f}"
    )
    return decide(abs(osm - truth) < 0.5, text)


def osm_curve() -> Verdict:
    curve, exact = memory_curve(SPARSE, 150, method="osm"), memory_curve(SPARSE, 150)
    off = float(np.abs(curve.values - exact.values).max())
    return decide(off < 0.05, f"sparse normal, N = 100: off by {off:.2f}")


def osm_plus_monotone() -> Verdict:
    curve = memory_curve(
        SPARSE, 150, method="osm_plus", seed=1, masks=300, distribution="sparse_normal"
    )
    exact = memory_curve(SPARSE, 150)
    rise = max(0.0, float(np.diff(curve.values).max()))
    off = float(np.abs(curve.values - exact.values).max())
    text = f"300 masks: rises by at most {rise:.1g} a lag; but off by {off:.2f} from the memory"
    return decide(rise < 0.01, text)


CLAIMS = (
    ("Proposition, Monte Carlo (i)", "the bias of the Monte Carlo estimator", bias_formula),
    (
        "Proposition, Monte Carlo (iii)",
        "the total is consistent with τ_max = O(T)",
        total_estimator,
    ),
    ("Naïve algebraic estimation", "the Gramian cannot be inverted", gramian_is_hopeless),
    ("Another formula", "the mask-free formula is as ill-conditioned", neutral_formula),
    ("Lemma, Krylov–Vandermonde", "K_m = V·diag(c)·W_m", vandermonde_lemma),
    ("Krylov conditioning", "W*W is a Hankel matrix", hankel_structure),
    ("Random matrix theory", "‖θ_j‖ ≈ κ_j", squeezing_law),
    ("OSM", "a total of N from OSM shows full memory", osm_recovers_the_total),
    ("OSM", "OSM approximates MC_τ well", osm_curve),
    ("OSM+", "OSM+ is monotone", osm_plus_monotone),
)
