"""Claims about memory itself: propositions, examples, Fisher memory, coloured input."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memcurve import LinearNetwork, ensembles, masks, memory_curve
from memcurve.paper.verdicts import Verdict, decide

Floats = NDArray[np.float64]

SMALL = ensembles.normal(5, seed=1, spectral_radius=0.7)
POWERS = 400  # 0.7^400 is zero for every purpose


def _gramian(A: Floats, B: Floats) -> Floats:
    """Σ_k A^k B (Aᵀ)^k, small and well-conditioned enough for the plain sum."""
    total, term = np.zeros_like(B), B
    for _ in range(POWERS):
        total = total + term
        term = A @ term @ A.T
    return total


def _literal_memory(A: Floats, C: Floats, lags: int) -> Floats:
    G = _gramian(A, np.outer(C, C))
    columns = [np.linalg.matrix_power(A, k) @ C for k in range(lags)]
    return np.array([v @ np.linalg.solve(G, v) for v in columns])


def full_memory() -> Verdict:
    networks = [ensembles.normal(40, seed=s) for s in range(20)]
    totals = [memory_curve(n).values.sum() for n in networks]
    worst = float(np.abs(np.array(totals) - 40).max())
    return decide(worst < 1e-11, f"20 normal networks, N = 40: totals within {worst:.0e} of N")


def equivalent_conditions() -> Verdict:
    first = LinearNetwork(np.diag([0.9, 0.5, 0.2]), [1, 1, 0])
    second = LinearNetwork(np.diag([0.9, 0.5, 0.0]), [1, 1, 1])
    ranks = memory_curve(first).rank, memory_curve(second).rank
    text = (
        f"diag(.9, .5, .2), C = (1, 1, 0): (iii) holds, yet MC = {ranks[0]}; diag(.9, .5, 0), "
        f"C = (1, 1, 1): (i) and (iii) fail, yet MC = {ranks[1]}; only (ii) decides"
    )
    return decide(ranks != (2, 3), text)


def generic_full_rank() -> Verdict:
    ranks = [memory_curve(ensembles.uniform(15, seed=s), 1).rank for s in range(200)]
    return decide(set(ranks) == {15}, f"{ranks.count(15)} of 200 draws have full rank")


def bounds_and_monotonicity() -> Verdict:
    curves = [memory_curve(ensembles.sparse_normal(30, density=0.1, seed=s)) for s in range(50)]
    within = all(1 <= curve.total <= 30 for curve in curves)
    rise = max(float(np.diff(curve.values).max()) for curve in curves)
    text = f"50 sparse networks: totals in [1, N], largest rise of a curve {max(rise, 0):.0e}"
    return decide(within and rise < 1e-14, text)


def delay_example() -> Verdict:
    curve = memory_curve(ensembles.delay_line(10), 12)
    text = f"N = 10: MC_9 = {curve[9]:g}, MC_10 = {curve[10]:g}: one up to lag N − 1, not N"
    return decide(curve[9] == 1 and curve[10] == 0, text, corrected=True)


def cyclic_example() -> Verdict:
    curve = memory_curve(ensembles.cyclic(10, spectral_radius=0.9), 60)
    blocks = curve.lags // 10
    corrected = (1 - 0.9**20) * 0.9 ** (20 * blocks)
    off = float(np.abs(curve.values - corrected).max())
    text = f"(1 − ρ^2N)ρ^2kN for kN ≤ τ < (k + 1)N, not up to k(N + 1) − 1: off by {off:.0e}"
    return decide(off < 1e-13, text, corrected=True)


def standardisation() -> Verdict:
    A, C = SMALL.A, SMALL.C
    values, vectors = np.linalg.eigh(_gramian(A, np.outer(C, C)))
    root, inverse = (vectors * values**p @ vectors.T for p in (0.5, -0.5))
    x, W = np.arange(1.0, 6.0), np.linspace(-1, 1, 5)
    kept, printed = (abs((M @ W) @ (inverse @ x) - W @ x) for M in (root, inverse))
    text = f"readout kept to {kept:.0e} with W = Γ^(1/2)W̃, changed by {printed:.1e} as printed"
    return decide(kept < 1e-10 < printed, text, corrected=True)


def mask_neutrality() -> Verdict:
    curves = [_literal_memory(SMALL.A, masks.normal(5, seed=s), 20) for s in range(6)]
    spread = float(np.ptp(curves, axis=0).max())
    return decide(spread < 1e-8, f"six masks, N = 5, literal formula: curves within {spread:.0e}")


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
    return decide(spread < 1e-8, text, corrected=True)


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
    return decide(worst < limit, text)


def tino_rodan_identity() -> Verdict:
    A, C = SMALL.A, SMALL.C
    G, R = _gramian(A, np.outer(C, C)), _gramian(A, np.eye(5))
    other = G @ np.linalg.solve(R - G, G) + G
    worst = 0.0
    for lag in range(15):
        v = np.linalg.matrix_power(A, lag) @ C
        memory, fisher = v @ np.linalg.solve(G, v), v @ np.linalg.solve(R, v)
        worst = max(worst, abs(memory - fisher - v @ np.linalg.solve(other, v)))
    return decide(worst < 1e-8, f"N = 5, R − G invertible: identity to {worst:.0e}")


def memory_above_fisher() -> Verdict:
    A, C = SMALL.A, 3 * SMALL.C
    R = _gramian(A, np.eye(5))
    memory = _literal_memory(A, C, 10)
    columns = [np.linalg.matrix_power(A, lag) @ C for lag in range(10)]
    fisher = np.array([v @ np.linalg.solve(R, v) for v in columns])
    lag = 1 + int(np.argmin((memory - fisher)[1:]))
    text = f"‖C‖ = 3: MC_{lag} = {memory[lag]:.3f}, σ²F_{lag} = {fisher[lag]:.3f}"
    return decide(memory[lag] > fisher[lag], text)


CLAIMS = (
    ("Proposition, LESN memory capacity", "MC = N under controllability", full_memory),
    ("the same, (i)–(iii)", "the three conditions are equivalent", equivalent_conditions),
    (
        "Proposition, random networks",
        "random networks are controllable almost surely",
        generic_full_rank,
    ),
    ("Jaeger's bounds, as cited", "1 ≤ MC ≤ N, and MC_τ never rises", bounds_and_monotonicity),
    ("Example, delay reservoir", "MC_τ = 1 for τ = 0 … N, 0 after", delay_example),
    ("Example, cyclic reservoirs", "MC_τ in closed form", cyclic_example),
    ("Proposition, standardization", "standardisation with readout Γ^(−1/2)W̃", standardisation),
    ("Proposition, mask neutrality", "memory does not depend on the mask", mask_neutrality),
    ("Theorem, Appendix A", "nor for weakly stationary input", neutrality_under_colour),
    ("Discussion", "FC_τ = 0 for independent input", no_forecast_of_independent_input),
    ("Tiňo and Rodan, as cited", "MC_τ = σ²F_τ + Cᵀ(Aᵀ)^τ O⁻¹ A^τ C", tino_rodan_identity),
    ("Tiňo and Rodan, as cited", "MC_τ > σ²F_τ for all τ > 0", memory_above_fisher),
)
