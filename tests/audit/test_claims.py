"""Claimed numbers, made as a researcher would make them, and what the audit makes of them."""

import re
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from hypothesis import given
from hypothesis import strategies as st

import memcurve
from draws import seeds
from memcurve import Audit, LinearNetwork, audit, ensembles, inputs
from memcurve.core.types import Floats
from memcurve.network.krylov import krylov_matrix
from memcurve.studies.auditing.claims import BEST_PRECISION, claimed_number
from refusals import refuses

#: For claims that no simulation explains: without those of the usual estimates.
quickly = partial(audit, estimates=False)

NORMAL = ensembles.normal(40, spectral_radius=0.9, seed=2)
ORTHOGONAL = ensembles.orthogonal(40, spectral_radius=0.95, seed=3)
PRODUCTS = LinearNetwork(scipy.sparse.linalg.aslinearoperator(NORMAL.A), NORMAL.C)
#: The input reaches all nodes but drives only every third mode.
UNCONTROLLABLE = ensembles.cyclic(30, mask=np.tile([1.0, 0.0, 0.0], 10))


def kinds(result: Audit) -> list[str]:
    return [one.kind for one in result.claim.explanations]


def best(result: Audit) -> str:
    return kinds(result)[0]


def recorded(
    network: LinearNetwork, samples: int, lags: int, seed: int, washout: int = 500
) -> tuple[Floats, Floats]:
    z = np.random.default_rng(seed).standard_normal(samples + washout + lags)
    x = network.simulate(z, washout=washout + lags)
    past = np.lib.stride_tricks.sliding_window_view(z[washout:], lags + 1)[-samples:, ::-1]
    return x[-samples:], past


def ridge_r2(x: Floats, past: Floats, ridge: float = 0.0) -> Floats:
    readout = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ past)
    return 1 - ((past - x @ readout) ** 2).sum(axis=0) / (past**2).sum(axis=0)


def usable(noise: float, process: Any = None) -> float:
    return memcurve.memory_curve(NORMAL, input=process, noise=noise).total


#: Two inputs; and a line whose curve is 1 up to lag 7.
SEVERAL = NORMAL.replace(C=np.random.default_rng(0).standard_normal((40, 2)))
PHASES = np.exp(1j * np.arange(8))
LINE = LinearNetwork(np.diag(PHASES[1:], -1), 0.5 * PHASES)
WHOLE, SECOND = memcurve.memory_curve(NORMAL), memcurve.memory_curve(SEVERAL).channels[:, 1]
COLOURED = inputs.ARMA(ar=[0.9])


@pytest.mark.parametrize(
    ("network", "claimed", "given", "kind", "fact"),
    [
        (NORMAL, lambda: WHOLE.total - WHOLE[0], {}, "from_lag_1", "without lag 0"),
        (NORMAL, lambda: usable(10.0**-3.5), {}, "noise", "standard deviation 0.00032"),
        (NORMAL, lambda: usable(1e-3, COLOURED), {"input": COLOURED}, "noise", "deviation 0.001"),
        (UNCONTROLLABLE, lambda: 30.0, {}, "osm", "no more than 3"),
        (ensembles.lru_ring(12, seed=1), lambda: 12.0, {}, "complex_nodes", "12 complex nodes"),
        (SEVERAL, lambda: SECOND.sum(), {}, "one_input", "input 1 alone"),
        (LINE, lambda: 4.0, {"k_max": 4}, "cut_off", "over lags"),
    ],
)
def test_where_a_number_comes_from(
    network: LinearNetwork, claimed: Any, given: dict[str, Any], kind: str, fact: str
) -> None:
    result = quickly(network, claimed=f"{claimed():.3f}", **given)
    assert best(result) == kind
    assert result.claim.holds is (kind in ("from_lag_1", "cut_off"))
    assert fact in result.verdict[0]


@pytest.mark.parametrize(("first", "last"), [(0, 29), (1, 20)])
def test_cut_off(first: int, last: int) -> None:
    slow = ensembles.hippo_legs(20, step=0.02)
    curve = memcurve.memory_curve(slow)
    value = f"{curve.values[first : last + 1].sum():.3f}"
    result = quickly(slow, claimed=value)
    assert best(result) == "cut_off"
    assert not result.claim.holds
    assert f"over lags {first} … {last} only" in result.verdict[0]
    # whoever says where the sum ends is right
    told = quickly(slow, claimed=value, k_max=last if first else last + 1)
    assert best(told) == "cut_off"
    assert told.claim.holds
    # and another end is refuted
    other = quickly(slow, claimed=value, k_max=last + 10)
    assert "cut_off" not in kinds(other)


@pytest.mark.parametrize("last", [None, 100])
def test_sum_of_absolute_correlations(last: int | None) -> None:
    slow = ensembles.hippo_legs(40, step=0.01)
    curve = memcurve.memory_curve(slow)
    end = None if last is None else last + 1
    value = f"{np.sqrt(curve.values[1:end]).sum():.2f}"
    assert best(quickly(slow, claimed=value)) == "absolute_correlation"


def test_ridge_limited() -> None:
    ridge, samples = 1e-2, 20_000
    x, past = recorded(NORMAL, samples, 120, seed=4)
    value = ridge_r2(x, past, ridge)
    # each lag is fitted by chance too; the sum up to where memory ends is hardly touched by it
    claimed = f"{value[:40].sum():.1f}"
    told = audit(NORMAL, claimed=claimed, samples=samples, ridge=ridge, input_variance=1.0)
    assert best(told) == "ridge"
    assert not told.claim.holds
    assert "ridge" in kinds(audit(NORMAL, claimed=claimed))


@pytest.mark.parametrize("ridge", [1e-4, 1e-2, 1.0])
def test_r2_of_a_ridge_regression(ridge: float) -> None:
    """Σ g − ½ d(Σ g)/d ln s against the covariances themselves, where they can be inverted."""
    network, samples = ensembles.normal(12, seed=1), 1000
    A, C = network.real_pair()
    G = np.asarray(scipy.linalg.solve_discrete_lyapunov(A, C @ C.T))
    past = krylov_matrix(A, C[:, 0], 400)  # covariances with the input at each lag
    readout = np.linalg.solve(G + ridge / samples * np.eye(12), past)
    r2 = 2 * (past * readout).sum() - (readout * (G @ readout)).sum()
    told = quickly(network, claimed=f"{r2:.5f}", ridge=ridge, samples=samples, input_variance=1.0)
    assert best(told) == "ridge"
    assert told.claim.explanation.value == pytest.approx(r2, abs=1e-5)


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_more_than_the_number_of_states_from_too_few_samples(seed: int) -> None:
    x, past = recorded(ORTHOGONAL, 500, 80, seed=seed)
    total = float(ridge_r2(x, past).sum())
    assert total > 40
    assert "few_samples" in kinds(quickly(ORTHOGONAL, claimed=f"{total:.1f}"))
    told = quickly(ORTHOGONAL, claimed=f"{total:.1f}", samples=500, k_max=80)
    assert best(told) == "few_samples"
    assert "lags up to 80 of 500 samples" in told.verdict[0]


def test_what_standard_methods_give() -> None:
    plain = audit(NORMAL)
    for estimate in plain.estimates:
        if abs(estimate.total - plain.total) < 1 or estimate.key.startswith("osm"):
            continue
        result = audit(NORMAL, claimed=f"{estimate.total:.2f}")
        texts = [one.text for one in result.claim.explanations]
        assert any(estimate.name in text for text in texts), estimate.name


def test_what_nothing_explains() -> None:
    delay = ensembles.delay_line(5)
    result = audit(delay, claimed="4.7213")
    assert not result.claim.holds
    assert audit(LinearNetwork([[0.5]], [1.0]), claimed="0.5").claim is not None
    nothing = audit(LinearNetwork([[0.5]], [0.0]), claimed="0.7")
    assert nothing.claim.explanations == ()
    assert nothing.claim.explanation is None
    share = audit(ensembles.sparse_normal(40, density=0.2, seed=1), claimed="0.3457")
    assert "the total is 13.828" in share.verdict[0]
    assert "share" not in nothing.verdict[0]  # of one state


@pytest.mark.parametrize("without", [0, 1])
@pytest.mark.parametrize("network", [NORMAL, PRODUCTS], ids=["matrix", "products"])
def test_usable_memory_under_the_noise_given_is_a_right_claim(
    network: LinearNetwork, without: int
) -> None:
    curve = memcurve.memory_curve(network, noise=1e-3)
    claimed = f"{curve.total - without * curve.values[0]:.3f}"
    result = quickly(network, claimed=claimed, noise=1e-3)
    assert result.claim.holds
    assert result.claim.explanation.kind == "given_noise"
    page = result.document()
    assert page.word == "The claim holds under the given noise"
    assert "usable memory under the given noise" in page.verdict[0]
    [bar] = [bar for bar in page.bars if "given" in bar.name]
    assert "±" in bar.text
    assert quickly(network, claimed=claimed).claim.holds is not True


def test_a_level_that_is_solved_for_is_not_told_as_a_round_one() -> None:
    claimed = f"{usable(1e-3) - 0.02:.3f}"
    found = quickly(NORMAL, claimed=claimed, noise=1e-3).claim.explanations
    [text] = [one.text for one in found if one.kind == "noise"]
    level = float(re.search(r"deviation (\S+) ", text)[1])
    assert level != 1e-3
    assert usable(level) == pytest.approx(float(claimed), abs=1e-3)


@given(st.decimals(-(10**6), 10**6, places=3))
def test_the_last_digit_of_a_claim_is_rounded(number: object) -> None:
    """But none before the point."""
    value, tolerance = claimed_number(str(number))
    assert value == float(str(number))
    assert tolerance == pytest.approx(max(0.0005, BEST_PRECISION * max(1, abs(value))))
    for claimed in ("1e2", "100", "1.0e2", "100+-0.1"):
        assert claimed_number(claimed) == (100.0, 0.5)
    assert claimed_number("100 ± 2") == (100.0, 2.0)


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        *(({"claimed": one}, "`claimed`") for one in ("many", "", "nan", np.inf, True, str, [3])),
        ({"k_max": 0, "claimed": 3}, "`k_max`"),
        ({"samples": 1.5, "claimed": 3}, "`samples`"),
        ({"ridge": -1, "samples": 10, "claimed": 3}, "`ridge`"),
        ({"ridge": 1e-3, "claimed": 3}, ("`ridge`", "`samples`")),
        ({"k_max": 10}, ("`k_max`", "`claimed`")),
        ({"noise": [1e-3, 1e-4]}, "single level"),
    ],
)
def test_bad_settings(given: dict[str, object], facts: str) -> None:
    refuses(ValueError, facts, audit, NORMAL, **given)


@pytest.mark.parametrize(
    ("network", "claimed", "k_max", "holds"),
    [
        (LinearNetwork([[0.5]], [1.0]), "1.00", 3, True),  # 1 − 4⁻⁴ = 0.9961, and 0.984 to lag 2
        (LinearNetwork([[0.5]], [1.0]), "1.000", 3, False),
        (ensembles.delay_line(100), 100, 50, False),  # to lag 50 it is 50 or 51
        (ensembles.delay_line(100), 51, 50, True),
        (ensembles.delay_line(100), 100, 150, True),
        (ensembles.delay_line(10), 10, 3, False),
    ],
)
def test_the_largest_lag_is_decisive_where_it_is_said(
    network: LinearNetwork, claimed: int | str, k_max: int, holds: bool
) -> None:
    claim = quickly(network, claimed=claimed, k_max=k_max).claim
    assert claim.holds is holds


@pytest.mark.parametrize("claimed", ["2.01", "1.98", "2.02"])
def test_an_explanation_gives_the_claimed_digits(claimed: str) -> None:
    """Usable memory in float64 is 2 of 2, which explains no other number."""
    found = audit(LinearNetwork([[0.5, 0.1], [0.0, 0.3]], [1.0, 1.0]), claimed=claimed).claim
    assert found.holds is False
    for one in found.explanations:
        is_near = abs(one.value - found.value) <= found.tolerance
        assert is_near or "(±" in one.text
        assert one.kind != "number_format"
