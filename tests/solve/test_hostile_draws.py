"""Every value within its reported error of the certified truth, on networks made to break it."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

from hostile import FAMILIES, draw
from memcurve import RankWarning, UncertainResultError, UnstableNetworkError, memory_curve


def judge(family: str, seed: int) -> str:
    """Compare one draw with its enclosure and name the outcome."""
    network = draw(family, seed)
    lags = 3 * network.size
    try:
        truth = memory_curve(network, lags, method="certified")
    except UnstableNetworkError:
        with pytest.raises(UnstableNetworkError):
            memory_curve(network, lags)
        return "unstable, refused"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            curve = memory_curve(network, lags)
    except UncertainResultError:
        return "refused"
    if curve.rank != truth.rank:
        return "VIOLATION: rank"
    if np.any(np.abs(curve.values - truth.values) > curve.error + truth.error):
        return "VIOLATION: error"
    return f"right, {curve.diagnostics['arithmetic']}"


def report(draws: int, first: int) -> tuple[int, int, int]:
    """Print a table of outcomes; return the numbers of draws, violations and refusals."""
    total: Counter[str] = Counter()
    for family in FAMILIES:
        outcomes = Counter(judge(family, seed) for seed in range(first, first + draws))
        print(f"{family:18} " + "  ".join(f"{k}: {n}" for k, n in sorted(outcomes.items())))
        total += outcomes
    violations = sum(n for k, n in total.items() if k.startswith("VIOLATION"))
    print(f"{total.total()} draws, {violations} violations, {total['refused']} refusals")
    return total.total(), violations, total["refused"]


def test_reduced() -> None:
    _, violations, refusals = report(draws=12, first=0)
    assert violations == 0
    assert refusals == 0


@pytest.mark.slow
def test_whole() -> None:
    count, violations, refusals = report(draws=150, first=1000)
    assert count >= 1000
    assert violations == 0
    assert refusals < count / 100
