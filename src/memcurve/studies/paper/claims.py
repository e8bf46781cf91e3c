"""The paper's claims, each checked numerically: holds, holds as corrected, or fails.

A check takes nothing and returns a verdict and the figure that decides. Those of the theory come
first: propositions, examples, Fisher memory, coloured input; then those of the computation: bias,
conditioning, squeezing, subspace methods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from memcurve import LinearNetwork, MemoryCurve, memory_curve
from memcurve.core.limits import one_thread
from memcurve.core.progress import Progress, watched
from memcurve.core.types import Floats
from memcurve.memory import montecarlo_bias
from memcurve.network import ensembles, krylov, masks
from memcurve.solve import Analysis, cascade, section_poles

Verdict = tuple[str, str]
Check = Callable[[], Verdict]

HOLDS, CORRECTED, FAILS = "holds", "holds as corrected", "fails as printed"
SMALL = ensembles.normal(5, seed=1, spectral_radius=0.7)
SPARSE = ensembles.sparse_normal(100, seed=1, mask="sparse_normal")
POWERS = 400  # 0.7^400 is zero for every purpose


@dataclass(frozen=True)
class CheckedClaim:
    """A claim after its check."""

    where: str
    statement: str
    verdict: str
    figure: str


#: Where the paper claims what, and the function that checks it.
CLAIMS: list[tuple[str, str, Check]] = []


def _claim(where: str, statement: str) -> Callable[[Check], Check]:
    """Enter a check among the claims."""

    def enter(check: Check) -> Check:
        CLAIMS.append((where, statement, check))
        return check

    return enter


def _decide(holds: bool, figure: str, *, corrected: bool = False) -> Verdict:
    """``holds`` is about the printed claim, or about the corrected one if ``corrected``."""
    return (FAILS if not holds else CORRECTED if corrected else HOLDS), figure


def _gramian(A: Floats, B: Floats) -> Floats:
    """Σ_k A^k B (Aᵀ)^k, small and well-conditioned enough for the plain sum."""
    total, term = np.zeros_like(B), B
    for _ in range(POWERS):
        total = total + term
        term = A @ term @ A.T
    return total


def _forms(A: Floats, C: Floats, M: Floats, lags: int) -> Floats:
    """Cᵀ(Aᵀ)^k M⁻¹ A^k C for each k below ``lags``; the memory where M is the Gramian."""
    columns = [np.linalg.matrix_power(A, k) @ C for k in range(lags)]
    return np.array([v @ np.linalg.solve(M, v) for v in columns])


def _off(curve: MemoryCurve) -> float:
    """How far a curve of ``SPARSE`` is from the exact one."""
    return float(np.abs(curve.values - memory_curve(SPARSE, 150).values).max())


@_claim("Proposition, LESN memory capacity", "MC = N under controllability")
def full_memory() -> Verdict:
    networks = [ensembles.normal(40, seed=s) for s in range(20)]
    totals = [memory_curve(n).values.sum() for n in networks]
    worst = float(np.abs(np.array(totals) - 40).max())
    return _decide(worst < 1e-11, f"20 normal networks, N = 40: totals within {worst:.0e} of N")


@_claim("the same, (i)–(iii)", "the three conditions are equivalent")
def equivalent_conditions() -> Verdict:
    first = LinearNetwork(np.diag([0.9, 0.5, 0.2]), [1, 1, 0])
    second = LinearNetwork(np.diag([0.9, 0.5, 0.0]), [1, 1, 1])
    ranks = memory_curve(first).rank, memory_curve(second).rank
    text = (
        f"diag(.9, .5, .2), C = (1, 1, 0): (iii) holds, yet MC = {ranks[0]}; diag(.9, .5, 0), "
        f"C = (1, 1, 1): (i) and (iii) fail, yet MC = {ranks[1]}; only (ii) decides"
    )
    return _decide(ranks != (2, 3), text)


@_claim("Proposition, random networks", "random networks are controllable almost surely")
def generic_full_rank() -> Verdict:
    ranks = [memory_curve(ensembles.uniform(15, seed=s), 1).rank for s in range(200)]
    return _decide(set(ranks) == {15}, f"{ranks.count(15)} of 200 draws have full rank")


@_claim("Jaeger's bounds, as cited", "1 ≤ MC ≤ N, and MC_τ never rises")
def bounds_and_monotonicity() -> Verdict:
    curves = [memory_curve(ensembles.sparse_normal(30, density=0.1, seed=s)) for s in range(50)]
    within = all(1 <= curve.total <= 30 for curve in curves)
    rise = max(float(np.diff(curve.values).max()) for curve in curves)
    text = f"50 sparse networks: totals in [1, N], largest rise of a curve {max(rise, 0):.0e}"
    return _decide(within and rise < 1e-14, text)


@_claim("Example, delay reservoir", "MC_τ = 1 for τ = 0 … N, 0 after")
def delay_example() -> Verdict:
    curve = memory_curve(ensembles.delay_line(10), 12)
    text = f"N = 10: MC_9 = {curve[9]:g}, MC_10 = {curve[10]:g}: one up to lag N − 1, not N"
    return _decide(curve[9] == 1 and curve[10] == 0, text, corrected=True)


@_claim("Example, cyclic reservoirs", "MC_τ in closed form")
def cyclic_example() -> Verdict:
    curve = memory_curve(ensembles.cyclic(10, spectral_radius=0.9), 60)
    blocks = curve.lags // 10
    corrected = (1 - 0.9**20) * 0.9 ** (20 * blocks)
    off = float(np.abs(curve.values - corrected).max())
    text = f"(1 − ρ^2N)ρ^2kN for kN ≤ τ < (k + 1)N, not up to k(N + 1) − 1: off by {off:.0e}"
    return _decide(off < 1e-13, text, corrected=True)


@_claim("Proposition, standardization", "standardisation with readout Γ^(−1/2)W̃")
def standardisation() -> Verdict:
    A, C = SMALL.A, SMALL.C
    values, vectors = np.linalg.eigh(_gramian(A, np.outer(C, C)))
    root, inverse = (vectors * values**p @ vectors.T for p in (0.5, -0.5))
    x, W = np.arange(1.0, 6.0), np.linspace(-1, 1, 5)
    kept, printed = (abs((M @ W) @ (inverse @ x) - W @ x) for M in (root, inverse))
    text = f"readout kept to {kept:.0e} with W = Γ^(1/2)W̃, changed by {printed:.1e} as printed"
    return _decide(kept < 1e-10 < printed, text, corrected=True)


@_claim("Proposition, mask neutrality", "memory does not depend on the mask")
def mask_neutrality() -> Verdict:
    drawn = [masks.normal(5, seed=s) for s in range(6)]
    curves = [_forms(SMALL.A, C, _gramian(SMALL.A, np.outer(C, C)), 20) for C in drawn]
    spread = float(np.ptp(curves, axis=0).max())
    return _decide(spread < 1e-8, f"six masks, N = 5, literal formula: curves within {spread:.0e}")


@_claim("Theorem, Appendix A", "nor for weakly stationary input")
def neutrality_under_colour() -> Verdict:
    """AR(1) input with φ = 0.7: γ(k) = φ^|k|; Γ and the covariances by their sums."""
    A, lags = SMALL.A, 12
    gamma = 0.7 ** np.abs(np.arange(-POWERS, POWERS + 1))
    shifts = np.arange(POWERS)
    curves = []
    for seed in range(4):
        columns = [masks.normal(5, seed=seed)]
        for _ in shifts[1:]:
            columns.append(A @ columns[-1])
        K = np.array(columns).T
        covariance = K @ gamma[POWERS + shifts[:, None] - shifts] @ K.T
        cross = [K @ gamma[POWERS + shifts - lag] for lag in range(lags)]
        curves.append([p @ np.linalg.solve(covariance, p) for p in cross])
    spread = float(np.ptp(curves, axis=0).max())
    text = (
        f"four masks, AR(1) input .7: curves within {spread:.0e}, with γ(τ − j) taken for "
        f"Cov(x_t, z_(t−τ)); the proof prints it for z_(t+τ)"
    )
    return _decide(spread < 1e-8, text, corrected=True)


@_claim("Discussion", "FC_τ = 0 for independent input")
def no_forecast_of_independent_input() -> Verdict:
    samples = 20_000
    z = np.random.default_rng(1).standard_normal(samples)
    x = SMALL.simulate(z)
    worst = max(float(np.abs(np.corrcoef(x[:-h].T, z[h:])[-1, :-1]).max()) for h in range(1, 6))
    limit = 5 / np.sqrt(samples)
    text = (
        f"largest correlation of states with later inputs {worst:.3f}, five standard errors "
        f"{limit:.3f}"
    )
    return _decide(worst < limit, text)


@_claim("Tiňo and Rodan, as cited", "MC_τ = σ²F_τ + Cᵀ(Aᵀ)^τ O⁻¹ A^τ C")
def tino_rodan_identity() -> Verdict:
    A, C = SMALL.A, SMALL.C
    G, R = _gramian(A, np.outer(C, C)), _gramian(A, np.eye(5))
    other = G @ np.linalg.solve(R - G, G) + G
    memory, fisher, rest = (_forms(A, C, M, 15) for M in (G, R, other))
    worst = float(np.abs(memory - fisher - rest).max())
    return _decide(worst < 1e-8, f"N = 5, R − G invertible: identity to {worst:.0e}")


@_claim("Tiňo and Rodan, as cited", "MC_τ > σ²F_τ for all τ > 0")
def memory_above_fisher() -> Verdict:
    A, C = SMALL.A, 3 * SMALL.C
    memory, fisher = (_forms(A, C, _gramian(A, B), 10) for B in (np.outer(C, C), np.eye(5)))
    lag = 1 + int(np.argmin((memory - fisher)[1:]))
    text = f"‖C‖ = 3: MC_{lag} = {memory[lag]:.3f}, σ²F_{lag} = {fisher[lag]:.3f}"
    return _decide(memory[lag] > fisher[lag], text)


@_claim("Proposition, Monte Carlo (i)", "the bias of the Monte Carlo estimator")
def bias_formula() -> Verdict:
    """20,000 replications of a network of three nodes, T = 30, lag 1."""
    network, samples, lag, replications = ensembles.normal(3, seed=2), 30, 1, 20_000
    poles = Analysis.of(network).spectrum.poles
    if poles is None:
        return FAILS, "no poles"
    A, C = cascade(section_poles(poles))
    washout = 150
    z = np.random.default_rng(3).standard_normal((samples + washout, replications))
    x, states = np.zeros((3, replications)), []
    for now in z:
        x = A @ x + C[:, None] * now
        states.append(x)
    kept, z = np.array(states[washout:]), z[washout:]
    gamma = np.einsum("tnr,tr->nr", kept[lag:], z[:-lag]) / (samples - lag)
    found = (gamma**2).sum(axis=0) - memory_curve(network, lag + 1)[lag]
    mean, error = float(found.mean()), float(found.std()) / replications**0.5
    exact, printed = (
        float(montecarlo_bias(network, lag + 1, samples, as_printed=p)[lag]) for p in (False, True)
    )
    text = f"simulated {mean:.4f} ± {error:.4f}, exact {exact:.4f}, printed {printed:.4f}"
    holds = abs(mean - exact) < 4 * error < abs(mean - printed)
    return _decide(holds, text, corrected=True)


@_claim("Proposition, Monte Carlo (iii)", "the total is consistent with τ_max = O(T)")
def total_estimator() -> Verdict:
    size = 20
    network = ensembles.orthogonal(size, seed=1)
    bias = [montecarlo_bias(network, T // 2, T).sum() for T in (1000, 4000)]
    text = (
        f"the factor 1/τ_max must go; with τ_max = T/2 the bias of the total is {bias[0]:.2f} at "
        f"T = 1000 and {bias[1]:.2f} at T = 4000, near N ln 2 = {size * np.log(2):.2f}: it does "
        f"not vanish, τ_max = o(T) is needed"
    )
    return _decide(bias[1] < 0.5 * bias[0], text)


@_claim("Naïve algebraic estimation", "the Gramian cannot be inverted")
def gramian_is_hopeless() -> Verdict:
    condition = memory_curve(SPARSE, 1, method="naive").diagnostics["condition"]
    total = memory_curve(SPARSE, 150, method="naive", inverse="projector").total
    text = f"sparse normal, N = 100: condition {condition:.0e}, naive total {total:.1f}"
    return _decide(condition > 1e15 and total < 90, text)


@_claim("Another formula", "the mask-free formula is as ill-conditioned")
def neutral_formula() -> Verdict:
    curve = memory_curve(SPARSE, 150, method="neutral")
    off, condition = _off(curve), curve.diagnostics["condition"]
    text = f"condition of L_A {condition:.0e}; its curve is off by {off:.2f}"
    return _decide(condition > 1e15 and off > 0.5, text)


@_claim("Lemma, Krylov–Vandermonde", "K_m = V·diag(c)·W_m")
def vandermonde_lemma() -> Verdict:
    network = ensembles.normal(20, seed=1)
    factors = krylov.vandermonde_factors(network, 40)
    off = float(np.abs(factors.product() - krylov.krylov_matrix(network.A, network.C, 40)).max())
    return _decide(off < 1e-11, f"N = 20, 40 columns: K = V·diag(c)·W to {off:.0e}")


@_claim("Krylov conditioning", "W*W is a Hankel matrix")
def hankel_structure() -> Verdict:
    def departure(values: np.ndarray) -> float:
        W = np.vander(values.astype(complex), 6, increasing=True)
        product = W.conj().T @ W
        return float(np.abs(product[1:, :-1] - product[:-1, 1:]).max())

    real = departure(np.linalg.eigvalsh(ensembles.symmetric(6, seed=1).A))
    rotation = departure(np.linalg.eigvals(ensembles.orthogonal(6, seed=1).A))
    text = f"departure from Hankel {real:.0e} for a real spectrum, {rotation:.1f} for a complex one"
    return _decide(real < 1e-12 < rotation, text, corrected=True)


@_claim("Random matrix theory", "‖θ_j‖ ≈ κ_j")
def squeezing_law() -> Verdict:
    off = {True: 0.0, False: 0.0}
    for seed in range(5):
        network = ensembles.normal(100, seed=seed, mask="ones", scaling="circular_law")
        truth = np.log10(krylov.orthogonal_components(network, 100))
        for printed in off:
            law = np.log10(krylov.decay_law(100, 0.9, 100, as_printed=printed))
            off[printed] += float(np.abs(law - truth).mean()) / 5
    text = f"mean |log10| error of κ_j: {off[True]:.2f} as printed, {off[False]:.2f} corrected"
    return _decide(off[False] < 1.5 < off[True], text, corrected=True)


@_claim("OSM", "a total of N from OSM shows full memory")
def osm_recovers_the_total() -> Verdict:
    ring = ensembles.cyclic(50, mask="ones")
    truth, osm = memory_curve(ring).total, memory_curve(ring, method="osm").total
    text = (
        f"always N, by construction: a ring of 50 driven evenly has memory {truth:g}, OSM says "
        f"{osm:.1f}"
    )
    return _decide(abs(osm - truth) < 0.5, text)


@_claim("OSM", "OSM approximates MC_τ well")
def osm_curve() -> Verdict:
    off = _off(memory_curve(SPARSE, 150, method="osm"))
    return _decide(off < 0.05, f"sparse normal, N = 100: off by {off:.2f}")


@_claim("OSM+", "OSM+ is monotone")
def osm_plus_monotone() -> Verdict:
    curve = memory_curve(
        SPARSE, 150, method="osm_plus", seed=1, masks=300, distribution="sparse_normal"
    )
    rise, off = max(0.0, float(np.diff(curve.values).max())), _off(curve)
    text = f"300 masks: rises by at most {rise:.1g} per lag, but off by {off:.2f} from the memory"
    return _decide(rise < 0.01, text)


def check_claims(progress: Progress = False) -> list[CheckedClaim]:
    """Check every claim in turn."""
    outcomes = []
    for where, statement, check in watched(CLAIMS, "claims", len(CLAIMS), progress):
        with one_thread():  # many small decompositions
            outcomes.append(CheckedClaim(where, statement, *check()))
    return outcomes
