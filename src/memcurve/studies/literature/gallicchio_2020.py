"""Does sparsity lengthen memory, and do states fill more dimensions?"""

from collections import defaultdict

import numpy as np
from scipy.linalg import solve_discrete_lyapunov

from memcurve.core.types import Floats
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork, ensembles
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict, measured, usual_input

SIZE = 100  # of each network
RADIUS = 0.9  # spectral, below 1 for stability
SCALE = 1.0  # of the input, strong enough that tanh nodes saturate
ENTERED = (1, 10, 100)  # nodes that the input enters, from one to all
DRAWS = 6  # networks over which dimensions are averaged; doubled: twice as long, a better mean
RUNS = 20  # simulations of each, side by side
STEPS = 200  # of each run that are counted: 4,000 states together
WASHOUT = 100  # steps of each before them, after which 0.9^100 of the start is left
LEAST_GAIN = 0.2  # of dimension; less is taken for chance: means of 6 scatter by a tenth


def study(seed: int) -> Study:
    """Exact memory of linear networks, measured memory of tanh ones, by nodes that are driven."""
    rng = np.random.default_rng(seed)
    A = ensembles.normal(SIZE, spectral_radius=RADIUS, seed=seed).A
    sparse = ensembles.sparse_normal(SIZE, spectral_radius=RADIUS, density=0.05, seed=seed).A
    cases = {f"{n}": (f"input to {n} of {SIZE} nodes", A, _mask(n, rng)) for n in ENTERED}
    cases["sparse"] = ("weights of density 0.05", sparse, cases[f"{ENTERED[-1]}"][2])
    points, numbers = [], {"driven_error": 0.0}
    for name, (label, weights, C) in cases.items():
        exact = memory_curve(LinearNetwork(weights, C))
        driven = measured(NonlinearNetwork(weights, C, input_scale=SCALE), 150, seed)
        points.append(Point(label, driven.total, exact.total, exact.total_error))
        numbers |= {f"exact_{name}": exact.total, f"driven_{name}": driven.total}
        numbers["driven_error"] = max(driven.total_error, numbers["driven_error"])
    return points, numbers | _dimensions(seed)


def _mask(entered: int, rng: np.random.Generator) -> Floats:
    """Input weights of some nodes, at random."""
    C = np.zeros(SIZE)
    C[rng.permutation(SIZE)[:entered]] = rng.uniform(-1, 1, entered)
    return C


def _dimensions(seed: int) -> dict[str, float]:
    """Dimensions that the states fill, by nodes that are driven: exact of linear networks."""
    rng, ratios = np.random.default_rng([seed, 1]), defaultdict[str, list[float]](list)
    for draw in range(DRAWS):
        A = ensembles.normal(SIZE, spectral_radius=RADIUS, seed=seed + draw).A
        for entered in (ENTERED[0], ENTERED[-1]):
            C = _mask(entered, rng)
            z = usual_input(rng, (RUNS, WASHOUT + STEPS))
            states = NonlinearNetwork(A, C, input_scale=SCALE).simulate_replicas(z, WASHOUT)
            states = states.reshape(-1, SIZE)
            for kind, covariance in (
                ("exact", solve_discrete_lyapunov(A, np.outer(C, C))),
                ("driven", np.cov(states.T)),
            ):
                # (Σλ)² / Σλ² over the variances λ of the principal components: N if all are equal
                ratio = np.trace(covariance) ** 2 / np.sum(covariance**2)
                ratios[f"{kind}_dimension_{entered}"].append(ratio)
    return {name: float(np.mean(values)) for name, values in ratios.items()}


def judge(numbers: Numbers) -> Verdict:
    """Whether sparse input changes exact memory or dimension, or those of driven tanh networks."""
    few, many = f"_{ENTERED[0]}", f"_{ENTERED[-1]}"
    gain = numbers[f"driven{few}"] - numbers[f"driven{many}"]
    exact = numbers[f"exact{few}"] - numbers[f"exact{many}"]
    fills = {
        kind: numbers[f"{kind}_dimension{few}"]
        > (1 + LEAST_GAIN) * numbers[f"{kind}_dimension{many}"]
        for kind in ("exact", "driven")
    }
    if exact > 0.01 * numbers[f"exact{many}"] and fills["exact"]:
        return Verdict("right", "totals", draws=DRAWS)
    remembers = gain > 2 * numbers["driven_error"]
    if not (remembers or fills["driven"]):
        return Verdict("an artefact", "totals", draws=DRAWS)
    half = "memory" if remembers else "dimension"
    reason = "saturation" if remembers and fills["driven"] else half
    return Verdict("right in another sense", "totals", reason, draws=DRAWS)
