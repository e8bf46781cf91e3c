"""Proven enclosures: they contain the truth, and prove stability or its absence."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve import LinearNetwork, UncertainResultError, UnstableNetworkError, ensembles
from memcurve import memory_curve as curve_of


def test_rational_closed_form() -> None:
    """A = ½ and C = 1: MC_τ = ¾·4^{−τ}, a float64 number for every τ."""
    curve = curve_of(LinearNetwork([[0.5]], [1.0]), 20, method="certified")
    assert np.array_equal(curve.values, 0.75 * 0.25 ** np.arange(20))
    assert curve.error.max() < 1e-26


def test_default_lags() -> None:
    curve = curve_of(ensembles.normal(20, seed=1), method="certified")
    assert abs(curve.values.sum() - 20) < 1e-12
    exact = curve_of(ensembles.normal(20, seed=1))
    assert len(curve) == len(exact)


def test_deficient_rank_is_noted() -> None:
    curve = curve_of(LinearNetwork(0.9 * np.eye(4), np.ones(4)), 3, method="certified")
    assert curve.rank == 1
    assert "lower bound" in curve.notes[0]


@pytest.mark.parametrize("radius", [1.0, 1 + 2**-50, 1.5])
def test_instability_is_proven(radius: float) -> None:
    with pytest.raises(UnstableNetworkError, match="proven"):
        curve_of(ensembles.cyclic(9, spectral_radius=radius), method="certified")


def test_stability_next_to_the_unit_circle_is_proven() -> None:
    curve = curve_of(LinearNetwork([[1 - 2.0**-52]], [1.0]), 3, method="certified")
    assert curve.values[0] == pytest.approx(2 * 2.0**-52, rel=1e-12)


def test_too_large_is_refused_with_the_remedy() -> None:
    with pytest.raises(UncertainResultError, match="certify_up_to"):
        curve_of(ensembles.normal(30, seed=1), method="certified", certify_up_to=29)


def test_no_input() -> None:
    curve = curve_of(LinearNetwork(np.eye(2) / 2, np.zeros(2)), 3, method="certified")
    assert curve.total == 0
    assert not curve.values.any()
