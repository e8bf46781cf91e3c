"""The paper's claims, each checked numerically: holds, holds as corrected, or fails.

A check takes nothing and returns whether the claim (as corrected, where ``claims.toml`` says so)
holds, and the facts that decide. Those of the theory come first: propositions, examples, Fisher
memory, coloured input; then those of the computation: bias, conditioning, squeezing, subspaces.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_discrete_lyapunov as _gramian

from memcurve import LinearNetwork, MemoryCurve, memory_curve
from memcurve.core.limits import one_thread
from memcurve.core.notes import texts_beside
from memcurve.core.progress import Progress, tracked
from memcurve.core.types import Floats
from memcurve.memory import montecarlo_bias
from memcurve.network import ensembles, krylov, masks
from memcurve.solve import Analysis, cascade, section_poles

Outcome = tuple[bool, dict[str, Any]]

HOLDS = "holds"
CORRECTED = "holds as corrected"
FAILS = "fails as printed"
SMALL = ensembles.normal(5, seed=1, spectral_radius=0.7)
SPARSE = ensembles.sparse_normal(100, seed=1, mask="sparse_normal")
POWERS = 400  # 0.7^400 is zero for every purpose
_TEXTS = texts_beside(__file__)


@dataclass(frozen=True)
class CheckedClaim:
    """A claim after its check."""

    where: str
    statement: str
    verdict: str
    figure: str


def _forms(A: Floats, C: Floats, M: Floats, lags: int) -> Floats:
    """Cᵀ(Aᵀ)^k M⁻¹ A^k C for each k below ``lags``; the memory where M is the Gramian."""
    columns = [np.linalg.matrix_power(A, k) @ C for k in range(lags)]
    return np.array([v @ np.linalg.solve(M, v) for v in columns])


def _off(curve: MemoryCurve) -> float:
    """How far a curve of ``SPARSE`` is from the exact one."""
    return float(np.abs(curve.values - memory_curve(SPARSE, 150).values).max())


def full_memory() -> Outcome:
    networks = [ensembles.normal(40, seed=s) for s in range(20)]
    worst = max(abs(float(memory_curve(n).values.sum()) - 40) for n in networks)
    return worst < 1e-11, {"worst": worst}


def equivalent_conditions() -> Outcome:
    first = memory_curve(LinearNetwork(np.diag([0.9, 0.5, 0.2]), [1, 1, 0])).rank
    second = memory_curve(LinearNetwork(np.diag([0.9, 0.5, 0.0]), [1, 1, 1])).rank
    return (first, second) != (2, 3), {"first": first, "second": second}


def generic_full_rank() -> Outcome:
    ranks = [memory_curve(ensembles.uniform(15, seed=s), 1).rank for s in range(200)]
    return set(ranks) == {15}, {"full": ranks.count(15)}


def bounds_and_monotonicity() -> Outcome:
    curves = [memory_curve(ensembles.sparse_normal(30, density=0.1, seed=s)) for s in range(50)]
    is_within = all(1 <= curve.total <= 30 for curve in curves)
    rise = max(float(np.diff(curve.values).max()) for curve in curves)
    return is_within and rise < 1e-14, {"rise": max(rise, 0)}


def delay_example() -> Outcome:
    curve = memory_curve(ensembles.delay_line(10), 12)
    return bool(curve[9] == 1 and curve[10] == 0), {"before": curve[9], "after": curve[10]}


def cyclic_example() -> Outcome:
    curve = memory_curve(ensembles.cyclic(10, spectral_radius=0.9), 60)
    corrected = (1 - 0.9**20) * 0.9 ** (20 * (curve.lags // 10))
    off = float(np.abs(curve.values - corrected).max())
    return off < 1e-13, {"off": off}


def standardisation() -> Outcome:
    A, C = SMALL.A, SMALL.C
    values, vectors = np.linalg.eigh(_gramian(A, np.outer(C, C)))
    root, inverse = (vectors * values**p @ vectors.T for p in (0.5, -0.5))
    x, W = np.arange(1.0, 6.0), np.linspace(-1, 1, 5)
    corrected, printed = (abs((M @ W) @ (inverse @ x) - W @ x) for M in (root, inverse))
    return corrected < 1e-10 < printed, {"kept": corrected, "printed": printed}


def mask_neutrality() -> Outcome:
    drawn = [masks.normal(5, seed=s) for s in range(6)]
    curves = [_forms(SMALL.A, C, _gramian(SMALL.A, np.outer(C, C)), 20) for C in drawn]
    spread = float(np.ptp(curves, axis=0).max())
    return spread < 1e-8, {"spread": spread}


def neutrality_under_colour() -> Outcome:
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
    return spread < 1e-8, {"spread": spread}


def no_forecast_of_independent_input() -> Outcome:
    samples = 20_000
    z = np.random.default_rng(1).standard_normal(samples)
    x = SMALL.simulate(z)
    worst = max(float(np.abs(np.corrcoef(x[:-h].T, z[h:])[-1, :-1]).max()) for h in range(1, 6))
    limit = 5 / np.sqrt(samples)
    return bool(worst < limit), {"worst": worst, "limit": limit}


def tino_rodan_identity() -> Outcome:
    A, C = SMALL.A, SMALL.C
    G, R = _gramian(A, np.outer(C, C)), _gramian(A, np.eye(5))
    other = G @ np.linalg.solve(R - G, G) + G
    memory, fisher, rest = (_forms(A, C, M, 15) for M in (G, R, other))
    worst = float(np.abs(memory - fisher - rest).max())
    return worst < 1e-8, {"worst": worst}


def memory_above_fisher() -> Outcome:
    A, C = SMALL.A, 3 * SMALL.C
    memory, fisher = (_forms(A, C, _gramian(A, B), 10) for B in (np.outer(C, C), np.eye(5)))
    lag = 1 + int(np.argmin((memory - fisher)[1:]))
    facts = {"lag": lag, "memory": memory[lag], "fisher": fisher[lag]}
    return bool(memory[lag] > fisher[lag]), facts


def bias_formula() -> Outcome:
    """20,000 replications of a network of three nodes, T = 30, lag 1."""
    network, samples, lag, replications = ensembles.normal(3, seed=2), 30, 1, 20_000
    poles = Analysis.of(network).spectrum.poles
    assert poles is not None
    A, C = cascade(section_poles(poles))
    washout = 150
    z = np.random.default_rng(3).standard_normal((samples + washout, replications))
    x, states = np.zeros((3, replications)), []
    for now in z:
        x = A @ x + C[:, None] * now
        states.append(x)
    settled, z = np.array(states[washout:]), z[washout:]
    gamma = np.einsum("tnr,tr->nr", settled[lag:], z[:-lag]) / (samples - lag)
    bias = (gamma**2).sum(axis=0) - memory_curve(network, lag + 1)[lag]
    mean, error = float(bias.mean()), float(bias.std()) / replications**0.5
    exact, printed = (
        float(montecarlo_bias(network, lag + 1, samples, as_printed=p)[lag]) for p in (False, True)
    )
    facts = {"mean": mean, "error": error, "exact": exact, "printed": printed}
    return abs(mean - exact) < 4 * error < abs(mean - printed), facts


def total_estimator() -> Outcome:
    size = 20
    network = ensembles.orthogonal(size, seed=1)
    short, long = (float(montecarlo_bias(network, T // 2, T).sum()) for T in (1000, 4000))
    return long < 0.5 * short, {"short": short, "long": long, "limit": size * np.log(2)}


def gramian_is_hopeless() -> Outcome:
    condition = memory_curve(SPARSE, 1, method="naive").diagnostics["condition"]
    total = memory_curve(SPARSE, 150, method="naive", inverse="projector").total
    return condition > 1e15 and total < 90, {"condition": condition, "total": total}


def neutral_formula() -> Outcome:
    curve = memory_curve(SPARSE, 150, method="neutral")
    off, condition = _off(curve), curve.diagnostics["condition"]
    return condition > 1e15 and off > 0.5, {"condition": condition, "off": off}


def vandermonde_lemma() -> Outcome:
    network = ensembles.normal(20, seed=1)
    values, V = np.linalg.eig(network.A)  # K = V·diag(V⁻¹C)·W, W_kj = λ_k^j
    product = V * np.linalg.solve(V, network.C) @ np.vander(values, 40, increasing=True)
    off = float(np.abs(product - krylov.krylov_matrix(network.A, network.C, 40)).max())
    return off < 1e-11, {"off": off}


def hankel_structure() -> Outcome:
    def departure(values: np.ndarray) -> float:
        W = np.vander(values.astype(complex), 6, increasing=True)
        product = W.conj().T @ W
        return float(np.abs(product[1:, :-1] - product[:-1, 1:]).max())

    real = departure(np.linalg.eigvalsh(ensembles.symmetric(6, seed=1).A))
    rotation = departure(np.linalg.eigvals(ensembles.orthogonal(6, seed=1).A))
    return real < 1e-12 < rotation, {"real": real, "rotation": rotation}


def squeezing_law() -> Outcome:
    off = {True: 0.0, False: 0.0}
    for seed in range(5):
        network = ensembles.normal(100, seed=seed, mask="ones", scaling="circular_law")
        truth = np.log10(krylov.orthogonal_components(network, 100))
        for printed in off:
            law = np.log10(krylov.decay_law(100, 0.9, 100, as_printed=printed))
            off[printed] += float(np.abs(law - truth).mean()) / 5
    return off[False] < 1.5 < off[True], {"printed": off[True], "corrected": off[False]}


def osm_recovers_the_total() -> Outcome:
    ring = ensembles.cyclic(50, mask="ones")
    truth, osm = memory_curve(ring).total, memory_curve(ring, method="osm").total
    return abs(osm - truth) < 0.5, {"truth": truth, "osm": osm}


def osm_curve() -> Outcome:
    off = _off(memory_curve(SPARSE, 150, method="osm"))
    return off < 0.05, {"off": off}


def osm_plus_monotone() -> Outcome:
    curve = memory_curve(
        SPARSE, 150, method="osm_plus", seed=1, masks=300, distribution="sparse_normal"
    )
    rise = max(0.0, float(np.diff(curve.values).max()))
    return rise < 0.01, {"rise": rise, "off": _off(curve)}


#: The checks by name, in the order of ``claims.toml``, which has their texts.
CLAIMS: dict[str, Callable[[], Outcome]] = {check.__name__: check for check in (
    full_memory, equivalent_conditions, generic_full_rank, bounds_and_monotonicity,
    delay_example, cyclic_example, standardisation, mask_neutrality, neutrality_under_colour,
    no_forecast_of_independent_input, tino_rodan_identity, memory_above_fisher, bias_formula,
    total_estimator, gramian_is_hopeless, neutral_formula, vandermonde_lemma, hankel_structure,
    squeezing_law, osm_recovers_the_total, osm_curve, osm_plus_monotone,
)}  # fmt: skip


def check_claims(progress: Progress = False) -> list[CheckedClaim]:
    """Check every claim in turn."""
    outcomes = []
    for name, check in tracked(CLAIMS.items(), "claims", len(CLAIMS), progress):
        with one_thread():  # many small decompositions
            is_true, facts = check()
        text = _TEXTS[name]
        verdict = FAILS if not is_true else CORRECTED if text.get("corrected") else HOLDS
        figure = text["figure"].format(**facts)
        outcomes.append(CheckedClaim(text["where"], text["statement"], verdict, figure))
    return outcomes
