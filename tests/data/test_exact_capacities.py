"""Estimated capacities against exact ones: state-affine networks, whose every capacity is known.

``pytest -m slow tests/data/test_exact_capacities.py`` makes the table of coverage in
docs/theory/data_estimation.md.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memcurve import Capacity, StateAffineNetwork, capacities, capacity_from_data
from memcurve.data.capacity_estimation import patterns, reaches
from moment_oracle import StateAffine

PLAN = {1: 20, 2: (6, 10), 3: (4, 8)}
#: Half the width of a 90 % interval, in standard errors.
WIDTH = 1.645
#: What 90 % intervals may cover at least: of many draws, and of few.
COVERED, COVERED_BY_FEW = 0.85, 0.7


class Judged:
    """A network drawn at random, and the exact sum of the targets of each degree of ``plan``."""

    def __init__(self, states: int, seed: int, bilinear: float, plan: Any) -> None:
        drawn = StateAffine(states, seed, bilinear=bilinear)
        self.network = StateAffineNetwork(p=list(drawn.p), q=list(drawn.q), input="uniform")
        self.exact, self.plan = capacities(self.network), plan
        self.by_degree = {
            reach.degree: sum(
                self.of(pattern.degrees, [shift + offset for offset in pattern.offsets])
                for pattern in patterns(reach, reach.degree)
                for shift in range(reach.lag - pattern.offsets[-1] + 1)
            )
            for reach in reaches(plan)
        }

    def of(self, degrees: Any, lags: Any) -> float:
        """The exact capacity of ∏ p_{degrees[i]}(z_{t − lags[i]})."""
        word = [0] * (lags[-1] + 1)
        for degree, lag in zip(degrees, lags, strict=True):
            word[lag] = degree
        return self.exact.of(tuple(word))

    def drawn(self, rows: int, seed: Any) -> Capacity:
        """An estimate from a recording."""
        z = np.random.default_rng(seed).uniform(-1, 1, rows + 300)
        return capacity_from_data(self.network.simulate(z, 300), z, self.plan)

    def covered(self, result: Capacity) -> dict[str, list[bool]]:
        """Whether intervals hold the truth: of the total, of the degrees, of single targets."""
        by_degree = self.by_degree.items()
        single = [(t, self.of(t.degrees, t.lags)) for t in result.targets]
        total = abs(result.total - sum(self.by_degree.values())) <= WIDTH * result.total_error
        return {
            "total": [total],
            "degrees": [
                abs(result.by_degree[d] - c) <= WIDTH * result.errors[d] for d, c in by_degree
            ],
            "targets": [abs(t.capacity - c) <= WIDTH * t.error for t, c in single],
        }


def coverage(cases: list[Judged], rows: int, draws: int, seed: int) -> dict[str, float]:
    """Shares of intervals that hold, over recordings of all networks in turn."""
    held: dict[str, list[bool]] = {}
    for k in range(draws):
        case = cases[k % len(cases)]
        for name, inside in case.covered(case.drawn(rows, [seed, k])).items():
            held.setdefault(name, []).extend(inside)
    return {name: float(np.mean(inside)) for name, inside in held.items()}


def test_a_few_recordings() -> None:
    shares = coverage([Judged(5, seed, 0.5, PLAN) for seed in (1, 2)], 2000, 12, 1)
    assert min(shares.values()) >= COVERED_BY_FEW, shares


@pytest.mark.parametrize("deviation", [1 / 3, 1.0, 2.0], ids=["0.9", "0.5", "0.2"])
def test_capacities_of_any_size_are_right_on_average(deviation: float) -> None:
    """Chance adds (1 − R²)·r/(n − 1 − r) to R² of r states: a target it knows less of, less."""
    off, n, r = list[float](), 300, 20
    for seed in range(40):
        rng = np.random.default_rng(seed)
        z, states = rng.uniform(-1, 1, n) * np.sqrt(3), rng.standard_normal((n, r))
        states[:, 0] = z + deviation * states[:, 0]
        [target] = capacity_from_data(states, z, {1: 0}).targets
        adjusted = target.raw - (1 - target.raw) * r / (n - 1 - r)
        off.append(target.capacity - adjusted)
    # 1 − R² left out makes it 0.058, 0.034 and 0.014, with another sign twice as much
    assert abs(np.mean(off)) < 0.006


@pytest.mark.slow
@pytest.mark.parametrize("plan", [PLAN, 3], ids=["172 targets", "2,825 targets"])
@pytest.mark.parametrize(
    ("states", "bilinear", "rows"),
    [(5, 0.5, 2000), (5, 1.0, 2000), (10, 0.5, 2000), (10, 0.5, 10_000)],
)
def test_intervals_hold_exact_capacities(
    states: int, bilinear: float, rows: int, plan: Any, held: Callable[..., None]
) -> None:
    """The table of docs/theory/data_estimation.md."""
    cases = [Judged(states, seed, bilinear, plan) for seed in (1, 2, 3, 4)]
    shares = coverage(cases, rows, 200, 32)
    print(states, bilinear, rows, plan, {name: round(share, 3) for name, share in shares.items()})
    for name, share in shares.items():
        held(f"capacities, {name}: covered by 90 %", share, at_least=COVERED, draws=200)
