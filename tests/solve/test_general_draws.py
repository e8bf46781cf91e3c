"""Every value within its reported error of a proven enclosure, for every kind of question."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from general_draws import KINDS, Question, question
from memcurve import (
    MemoryCurve,
    RankWarning,
    UncertainResultError,
    UnstableNetworkError,
    fisher_curve,
    forecasting_curve,
    memory_curve,
)


def answer(asked: Question, method: str) -> MemoryCurve:
    """The curve that a question asks for."""
    network, arguments = asked.network, asked.arguments
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        if asked.kind == "forecasting":
            return forecasting_curve(network, method=method, **arguments)
        if asked.kind == "Fisher":
            return fisher_curve(network, arguments["noise"], 3 * network.size)
        curve: MemoryCurve = memory_curve(network, 3 * network.size, method=method, **arguments)
        return curve


def fisher_truth(asked: Question, count: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    curve = fisher_curve(asked.network, asked.arguments["noise"], count, method="certified")
    return curve.channels, curve.error[:, None], curve.total, curve.total_error


def judge(kind: str, seed: int, hostile: bool) -> tuple[str, float]:
    """Compare one draw with its enclosure: the outcome, and the largest error over its bound."""
    asked = question(kind, seed, hostile)
    try:
        found = answer(asked, "exact")
    except (UnstableNetworkError, UncertainResultError) as error:
        if asked.kind == "Fisher":
            radius = np.abs(np.linalg.eigvals(asked.network.A)).max()
            return ("unstable, refused" if radius > 1 - 1e-9 else "refused"), 0.0
        try:
            answer(asked, "certified")
        except (UnstableNetworkError, UncertainResultError):
            return "unstable, refused", 0.0
        return ("refused" if isinstance(error, UncertainResultError) else "VIOLATION: stable"), 0.0
    if asked.kind == "Fisher":
        values, error, total, total_error = fisher_truth(asked, len(found))
    else:
        truth = answer(asked, "certified")
        if truth.rank != found.rank:
            return "VIOLATION: rank", np.inf
        values, total, total_error = truth.channels, truth.total, truth.total_error
        error = truth.channel_errors
    distance = np.abs(found.channels - values)
    allowed = (found.error[:, None] if asked.kind == "Fisher" else found.channel_errors) + error
    wrong_total = abs(found.total - total) > found.total_error + total_error
    ratio = float((distance / np.maximum(allowed, 1e-300)).max())
    if np.any(distance > allowed):
        return f"VIOLATION: error ({seed})", ratio
    if wrong_total:
        return f"VIOLATION: total ({seed})", ratio
    return f"right, {found.diagnostics.get('arithmetic', 'float64')}", ratio


def report(draws: int, first: int, hostile: bool) -> tuple[int, int, float]:
    """Print the outcomes; return violations, refusals and the largest error over its bound."""
    total, largest = Counter[str](), 0.0
    for kind in KINDS:
        judged = [judge(kind, seed, hostile) for seed in range(first, first + draws)]
        outcomes = Counter(outcome for outcome, _ in judged)
        worst = max(ratio for _, ratio in judged)
        print(
            f"{kind:18} " + "  ".join(f"{k}: {n}" for k, n in sorted(outcomes.items()))
            + f"  (largest error / bound {worst:.2g})"
        )  # fmt: skip
        total, largest = total + outcomes, max(largest, worst)
    violations = sum(n for k, n in total.items() if k.startswith("VIOLATION"))
    return violations, total["refused"], largest


@pytest.mark.parametrize("hostile", [False, True], ids=["usual", "hostile"])
def test_reduced(hostile: bool) -> None:
    violations, refusals, _ = report(draws=3, first=2, hostile=hostile)
    assert violations == 0
    assert refusals == 0


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("state_noise", 511500003),  # directions 1e-330 of the first, whose scale overflows
        ("state_noise", 511000152),  # states far below the noise beside large ones
        ("state_noise", 44000019),  # noise of 1/1024 in one state, and lags left out
        ("coloured", 510800157),  # lags that a cascade leaves out
        ("coloured", 510900066),
        ("part_read_noisy", 511400004),  # unstable, by a mask of 1e-191
        ("coloured_noisy", 511100076),
    ],
)
def test_once_wrong(kind: str, seed: int) -> None:
    assert not judge(kind, seed, hostile=True)[0].startswith("VIOLATION")


@pytest.mark.slow
@pytest.mark.parametrize("hostile", [False, True], ids=["usual", "hostile"])
def test_whole(hostile: bool, held: Callable[..., None]) -> None:
    violations, refusals, largest = report(draws=200, first=1000, hostile=hostile)
    count = 200 * len(KINDS)
    held("questions of every kind: beyond their errors", violations, at_most=0, draws=count)
    held("questions of every kind: error over its bound", largest, at_most=1, draws=count)
    held("questions of every kind: share refused", refusals / count, at_most=0.01, draws=count)
