"""Information processing capacity: closed forms, its bound, its errors, its result.

``pytest -m slow`` makes the table of coverage in docs/theory/data_estimation.md.
"""

import time
from typing import Any

import numpy as np
import pytest

import tolerances
from data_scenarios import LAWS, lagged, series
from memcurve import (
    Capacity,
    NonlinearNetwork,
    capacities,
    capacity_from_data,
    ensembles,
    memory_curve,
    plot,
)
from memcurve.data.capacity_estimation import (
    Reach,
    StateBasis,
    columns,
    patterns,
    polynomials_of,
    r_squared,
    reaches,
)
from refusals import refuses
from word_oracle import contracting

LINEAR = ensembles.normal(10, spectral_radius=0.7, seed=1)
PLAN = {1: 40, 2: (6, 10), 3: (6, 12)}


def driven(
    scale: float, steps: int = 3000, seeds: int = 1, activation: str = "tanh"
) -> tuple[np.ndarray, np.ndarray]:
    z = np.random.default_rng(7).uniform(-1, 1, (seeds, steps + 200))
    network = NonlinearNetwork(LINEAR.A, LINEAR.C, input_scale=scale, activation=activation)
    return z, network.simulate_replicas(z, 200)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("mixed", [False, True])
def test_closed_form_by_degree(law: str, mixed: bool) -> None:
    """States that are three targets, or any mixture of them, have a capacity of one each."""
    z = series(law)
    p = polynomials_of(z, 3).values
    states = np.column_stack([lagged(p[2], 1), p[1] * lagged(p[1], 3), lagged(p[1], 5)])
    states = np.column_stack([states, p[1] * lagged(p[2], 4)])
    if mixed:
        states = states @ np.random.default_rng(1).standard_normal((4, 4)) + 5
    result = capacity_from_data(states, z, PLAN)
    assert result.polynomials == law
    assert result.rank == 4
    for degree, expected in {1: 1, 2: 2, 3: 1}.items():
        assert abs(result.by_degree[degree] - expected) < tolerances.SPANNED
        assert result.errors[degree] < 1e-2
    assert abs(result.total - 4) < tolerances.SPANNED
    found = {(t.degrees, t.lags) for t in result.targets[:4]}
    assert found == {((2,), (1,)), ((1, 1), (0, 3)), ((1,), (5,)), ((1, 2), (0, 4))}
    for target in result.targets[:4]:
        assert abs(target.raw - 1) < tolerances.SPANNED or mixed
        assert target.error < tolerances.SPANNED


def test_partial_capacity() -> None:
    """State z_t + z_{t−1}z_{t−2} + noise of equal variances: a third each, within the errors."""
    count, off = 40, []
    rng = np.random.default_rng(2)
    for _ in range(count):
        p = rng.uniform(-1, 1, 2000) * np.sqrt(3)
        state = p + lagged(p, 1) * lagged(p, 2) + rng.standard_normal(2000)
        result = capacity_from_data(state[:, None], p, {1: 5, 2: (3, 5)})
        off.append([(result.targets[k].capacity - 1 / 3) / result.targets[k].error for k in (0, 1)])
        assert abs(result.total - 2 / 3) < tolerances.STANDARD_ERRORS * result.total_error
    spread = float(np.sqrt(np.mean(np.square(off))))
    assert abs(np.mean(off)) < tolerances.STANDARD_ERRORS / np.sqrt(2 * count)
    assert 0.7 < spread < 1.3  # errors in units of their standard errors


def test_linear_network_is_its_memory_curve() -> None:
    """All capacity in degree 1, lag by lag the exact curve; nothing in higher degrees."""
    z, states = driven(1.0, 5000, activation="identity")
    result = capacity_from_data(states[0], z[0], PLAN)
    curve = memory_curve(LINEAR, lags=41)
    assert abs(result.total - curve.total) < tolerances.STANDARD_ERRORS * result.total_error
    assert result.total_error < 0.02
    assert abs(result.by_degree[1] - curve.total) < 0.02
    assert result.by_degree[2] < tolerances.STANDARD_ERRORS * result.errors[2]
    assert result.by_degree[3] < tolerances.STANDARD_ERRORS * result.errors[3]
    for target in result.significant(1):
        allowed = tolerances.STANDARD_ERRORS * target.error + 0.01  # and what the cut leaves out
        assert abs(target.capacity - curve[target.lags[0]]) < allowed


def test_never_above_the_bound() -> None:
    """30 seeds: the sum stays below N; single R² corrected for bias, summed, does not."""
    z, states = driven(1.0, 2000, seeds=30)
    results = [capacity_from_data(x, s, PLAN) for x, s in zip(states, z, strict=True)]
    assert all(result.total <= result.rank == 10 for result in results)
    totals = np.array([result.total for result in results])
    raw = np.array([sum(t.raw for t in result.targets) for result in results])
    assert totals.mean() > 8.5
    assert raw.std() > 1.5 * totals.std()


def test_states_of_noise_hold_nothing() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        result = capacity_from_data(rng.standard_normal((3000, 8)), series(seed=seed), PLAN)
        assert result.total < tolerances.STANDARD_ERRORS * result.total_error
        assert result.total_error < 0.2
        assert len(result.targets) <= 4
        assert any("unaccounted for" in note for note in result.notes)


def test_alignment_and_washout() -> None:
    """States of the last inputs, with or without the first rows: the same rows, the same result."""
    z, states = driven(1.0, 1000)
    z, states = z[0], states[0]
    result = capacity_from_data(states, z, {1: 30})
    assert result.rows == 1000
    full = np.concatenate([np.ones((200, 10)), states])
    assert capacity_from_data(full, z, {1: 30}, washout=200).total == result.total
    assert capacity_from_data(full, z[:, None], {1: 30}, washout=200).total == result.total
    assert capacity_from_data(states, z, {1: 30}, washout=300).rows == 900
    assert capacity_from_data(states, z, {1: 250}).rows == 950


def test_dependent_and_constant_states() -> None:
    z = series()
    states = np.column_stack([z, lagged(z, 1), z - 2 * lagged(z, 1), np.full(3000, 0.1)])
    result = capacity_from_data(states, z, {1: 5, 2: 5})
    assert (result.rank, result.states) == (2, 4)
    assert abs(result.by_degree[1] - 2) < tolerances.SPANNED
    assert "the 4 states have rank 2, 1 of them constant" in result.notes[0]


def test_binary_input() -> None:
    """Input ±1 has the one polynomial z: products of different lags, no powers."""
    z = np.random.default_rng(1).choice([-1.0, 1.0], 2000)
    p = polynomials_of(z, 3).values[1]
    states = np.column_stack([p * lagged(p, 1), lagged(p, 2) * lagged(p, 1) * p])
    result = capacity_from_data(states, z, {2: (3, 5), 3: (3, 5)})
    assert result.count == {2: 5 + 4 + 3, 3: 4 + 2 * 3}
    assert abs(result.by_degree[2] - 1) < tolerances.SPANNED
    assert abs(result.by_degree[3] - 1) < tolerances.SPANNED
    assert any("takes only 2 values" in note for note in result.notes)


def test_plot(tmp_path) -> None:
    results = []
    for scale in (0.5, 3.0):
        z, states = driven(scale)
        results.append(capacity_from_data(states[0], z[0], PLAN, name=f"scale {scale}"))
    ax = plot.capacity(*results)
    heights = np.array([[bar.get_height() for bar in bars] for bars in ax.containers[:3]])
    for k, result in enumerate(results):
        off = heights[:, k] - list(result.by_degree.values())
        assert np.abs(off).max() < tolerances.CLOSED_FORM
    assert [label.get_text() for label in ax.get_xticklabels()] == ["scale 0.5", "scale 3.0"]
    assert "bound: rank" in [text.get_text() for text in ax.get_legend().get_texts()]
    plot.save(plot.capacity(results[0], labels=["a"]), tmp_path / "x.png")
    assert [bars[0].get_height() for bars in results[1].plot().containers[:3]] == pytest.approx(
        list(results[1].by_degree.values())
    )
    assert results[1].plot(ax) is ax


X, Z = np.random.default_rng(0).standard_normal((300, 2)), series(count=300)


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"states": X.T}, ("`states`", "300 states")),
        ({"states": X * np.nan}, ("`states`", "nan")),
        ({"states": np.ones((300, 2))}, "`states`"),
        ({"states": np.ones((300, 290))}, ("`states`", "290 rows")),
        ({"inputs": X}, ("`inputs`", "(300, 2)")),
        ({"inputs": np.full(300, 2.0)}, "`inputs`"),
        ({"inputs": np.where(Z > 0, np.inf, Z)}, ("`inputs`", "inf")),
        ({"inputs": Z[:200]}, ("`states`", "300 rows", "200")),
        ({"degrees": {1: 300}}, ("`degrees`", "300")),
        ({"degrees": {1: 298}}, ("`states`", "298")),
        ({"degrees": {0: 5}}, ("`degrees`", "0")),
        ({"degrees": {1: -1}}, ("`degrees`", "degree 1")),
        ({"degrees": {2: (1, 2, 3)}}, ("`degrees`", "(1, 2, 3)", "degree 2")),
        ({"degrees": {}}, "`degrees`"),
        ({"degrees": 8}, ("`degrees`", "7", "8")),
        ({"degrees": {6: (40, 40)}}, ("`degrees`", "5,000,000")),
        ({"threshold": 0}, ("`threshold`", "0")),
        ({"washout": 300}, ("`washout`", "299", "300")),
        ({"washout": 1.5}, ("`washout`", "1.5")),
    ],
)
def test_bad_arguments(changes: dict, facts: Any) -> None:
    given = {"states": X, "inputs": Z, "degrees": {1: 10}} | changes
    refuses(ValueError, facts, capacity_from_data, **given)
    refuses(TypeError, "`name`", capacity_from_data, X, Z, {1: 10}, name=3)


@pytest.mark.slow
def test_speed_of_many_targets(held) -> None:
    """8,849 targets of degree up to 7, N = 20, T = 30,000."""
    linear = ensembles.normal(20, spectral_radius=0.8, seed=3)
    z = np.random.default_rng(3).uniform(-1, 1, 30_400)
    states = NonlinearNetwork(linear.A, linear.C, input_scale=3.0).simulate(z, 400)
    times = []
    for _ in range(3):  # the first imports scipy
        start = time.process_time()
        result = capacity_from_data(states, z, 7)
        times.append(time.process_time() - start)
    assert sum(result.count.values()) == 8849
    assert result.total > 18.5
    held("capacity, 8,849 targets, 30,000 rows: CPU s", min(times), at_most=5)


# --- the targets, and the kernels that scan them


@pytest.mark.parametrize("law", LAWS)
def test_orthonormal_polynomials(law: str) -> None:
    """E p_i p_j = δ_ij: exactly under the empirical law, up to sampling under the others."""
    z = series(law, 100_000)
    family = polynomials_of(z, 4)
    assert family.name == law
    gram = family.values @ family.values.T / len(z)
    tolerance = tolerances.SPANNED if law == "empirical" else 0.3  # Var p_4² is 10⁴ for Hermite
    assert np.abs(gram - np.eye(5)).max() < tolerance
    assert (family.values[1:, np.argmax(z)] > 0).all()
    assert all(polynomials_of(series(law, 1000, seed), 3).name == law for seed in range(20))
    heavy = np.random.default_rng(0).standard_t(5, 3000)
    assert polynomials_of(heavy, 3).name == "empirical"


def test_every_target_once() -> None:
    """Counts agree with enumeration over all lag sets; the plan of theory has 8,849 targets."""
    for reach in reaches({1: 9, 2: (3, 9), 3: (4, 8), 4: (3, 7)}):
        seen = [
            (p.degrees, tuple(shift + o for o in p.offsets))
            for p in patterns(reach, reach.degree)
            for shift in range(reach.lag - p.offsets[-1] + 1)
        ]
        assert len(set(seen)) == len(seen) == reach.targets()
        assert all(sum(d) == reach.degree for d, _ in seen)
        assert all(lags[-1] <= reach.lag for _, lags in seen)
        assert all(lags[-1] - lags[0] <= reach.window for _, lags in seen)
    assert reaches({2: (1, 2)})[0].targets() == 3 + 2  # z², and neighbours
    assert sum(reach.targets() for reach in reaches(7)) == 8849
    assert reaches({3: 30})[0] == Reach(3, 12, 30)
    assert reaches({9: 30})[0] == Reach(9, 3, 30)


@pytest.mark.parametrize("law", LAWS)
def test_kernels_are_single_regressions(law: str) -> None:
    """R² and bias of the scan against one regression a target, with its leverages."""
    rng = np.random.default_rng(3)
    z, n, start = series(law, 640), 600, 40
    X = np.column_stack([lagged(z, 1) * lagged(z, 2), z, rng.standard_normal(640)])[start:]
    family = polynomials_of(z, 3)
    Q = np.linalg.qr(X - X.mean(axis=0))[0]
    basis = StateBasis(Q, start)
    design = np.column_stack([np.ones(n), X])
    hat = (design * np.linalg.solve(design.T @ design, design.T).T).sum(axis=1)
    weights = (hat - 1 / n) / (1 - hat)
    shapes = list(patterns(Reach(3, 4, 8), 3))
    raw, bias = r_squared(basis.correlator(8), basis, family, shapes, 8)
    for k, pattern in enumerate(shapes):
        for shift in range(8 - pattern.offsets[-1] + 1):
            w = columns(family.values, [(pattern, shift)], start, start + n)[0]
            fit = design @ np.linalg.lstsq(design, w, rcond=None)[0]
            centred = w - w.mean()
            expected = 1 - ((w - fit) ** 2).sum() / (centred**2).sum()
            assert abs(raw[shift, k] - expected) < tolerances.KERNEL
            expected = (weights * centred**2).sum() / (centred**2).sum()
            assert abs(bias[shift, k] - expected) < tolerances.KERNEL


@pytest.mark.parametrize("law", ["beta", "normal"])
def test_intervals_of_targets_where_the_law_is_estimated(law: str) -> None:
    """Its polynomials, or its mean and deviation: without that 0.67 and 0.12 hold."""
    rng, inside = np.random.default_rng(8), list[bool]()

    def drawn(count: int) -> np.ndarray:
        return rng.beta(2, 5, count) if law == "beta" else rng.standard_normal(count)

    many = drawn(1_000_000)
    mean, deviation = np.mean(many + 2 * many**2), np.std(many + 2 * many**2)
    response = polynomials_of(many, 2).values @ (many + 2 * many**2 - mean) / deviation / len(many)
    exact = response**2 / 1.01  # of the variance, 1/101 is noise
    for _ in range(100):
        z = drawn(1000)
        x = (z + 2 * z**2 - mean) / deviation + 0.1 * rng.standard_normal(1000)
        result = capacity_from_data(x[:, None], z, {1: 0, 2: 0})
        inside += [
            abs(target.capacity - exact[target.degree]) <= 1.645 * target.error
            for target in result.targets
        ]
    assert 0.83 <= np.mean(inside) <= 0.97


EXACT = {1: 20, 2: (6, 10), 3: (4, 8)}
#: Half the width of a 90 % interval, in standard errors.
WIDTH = 1.645
#: What 90 % intervals may cover at least: of many draws, and of few.
COVERED, COVERED_BY_FEW = 0.85, 0.7


class Judged:
    """A network drawn at random, and the exact sum of the targets of each degree of ``plan``."""

    def __init__(self, states: int, seed: int, bilinear: float, plan: Any) -> None:
        self.network = contracting(states, seed, bilinear)
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
    shares = coverage([Judged(5, seed, 0.5, EXACT) for seed in (1, 2)], 2000, 12, 1)
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
@pytest.mark.parametrize("plan", [EXACT, 3], ids=["172 targets", "2,825 targets"])
@pytest.mark.parametrize(
    ("states", "bilinear", "rows"),
    [(5, 0.5, 2000), (5, 1.0, 2000), (10, 0.5, 2000), (10, 0.5, 10_000)],
)
def test_intervals_hold_exact_capacities(
    states: int, bilinear: float, rows: int, plan: Any, held
) -> None:
    """The table of docs/theory/data_estimation.md."""
    cases = [Judged(states, seed, bilinear, plan) for seed in (1, 2, 3, 4)]
    shares = coverage(cases, rows, 200, 32)
    print(states, bilinear, rows, plan, {name: round(share, 3) for name, share in shares.items()})
    for name, share in shares.items():
        held(f"capacities, {name}: covered by 90 %", share, at_least=COVERED, draws=200)
