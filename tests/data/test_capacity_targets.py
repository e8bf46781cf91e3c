"""Targets of capacity, and the kernels that scan them, against direct sums and regressions."""

from __future__ import annotations

import numpy as np
import pytest

import tolerances
from data_scenarios import LAWS, lagged, series
from memcurve.data.autocorrelation import beta_cut
from memcurve.data.capacity_estimation import (
    Correlator,
    InputBasis,
    Reach,
    columns,
    patterns,
    polynomials_of,
    r_squared,
    reaches,
    sliding_sums,
)


@pytest.mark.parametrize("law", LAWS)
def test_orthonormal_polynomials(law: str) -> None:
    """E p_i p_j = δ_ij: exactly under the empirical law, up to sampling under the others."""
    z = series(law, 100_000)
    family = polynomials_of(z, 4, "auto")
    assert family.name == law
    gram = family.values @ family.values.T / len(z)
    tolerance = tolerances.SPANNED if law == "empirical" else 0.3  # Var p_4² is 10⁴ for Hermite
    assert np.abs(gram - np.eye(5)).max() < tolerance
    assert (family.values[1:, np.argmax(z)] > 0).all()


@pytest.mark.parametrize("law", LAWS)
def test_law_is_recognised(law: str) -> None:
    for seed in range(20):
        assert polynomials_of(series(law, 1000, seed), 3, "auto").name == law
    heavy = np.random.default_rng(0).standard_t(5, 3000)
    assert polynomials_of(heavy, 3, "auto").name == "empirical"


def test_every_target_once() -> None:
    """Counts agree with enumeration over all lag sets; the plan of theory has 8,849 targets."""
    for reach in reaches({1: 9, 2: (3, 9), 3: (4, 8), 4: (3, 7)}):
        seen = [
            (p.degrees, tuple(shift + o for o in p.offsets))
            for p in patterns(reach, reach.degree)
            for shift in range(reach.lag - p.offsets[-1] + 1)
        ]
        assert len(set(seen)) == len(seen) == reach.count()
        assert all(sum(d) == reach.degree for d, _ in seen)
        assert all(lags[-1] <= reach.lag for _, lags in seen)
        assert all(lags[-1] - lags[0] <= reach.window for _, lags in seen)
    assert reaches({2: (1, 2)})[0].count() == 3 + 2  # z², and neighbours
    assert sum(reach.count() for reach in reaches(7)) == 8849
    assert reaches({3: 30})[0] == Reach(3, 12, 30)
    assert reaches({9: 30})[0] == Reach(9, 3, 30)


@pytest.mark.parametrize(("rows", "lag"), [(50, 0), (700, 3), (1000, 130), (90, 89)])
def test_correlator_is_the_sum(rows: int, lag: int) -> None:
    rng = np.random.default_rng(1)
    q, w = rng.standard_normal((rows, 3)), rng.standard_normal((2, rows + lag))
    direct = [[q.T @ w[s, lag - tau : lag - tau + rows] for s in (0, 1)] for tau in range(lag + 1)]
    sums = Correlator(q, lag).sums(w)
    assert np.abs(sums - np.swapaxes(direct, 1, 2)).max() < tolerances.KERNEL
    whole = [[w[s, lag - tau : lag - tau + rows].sum() for s in (0, 1)] for tau in range(lag + 1)]
    assert np.abs(sliding_sums(w, rows) - whole).max() < tolerances.KERNEL


@pytest.mark.parametrize("law", LAWS)
def test_kernels_are_single_regressions(law: str) -> None:
    """R² and bias of the scan against one regression a target, with its leverages."""
    rng = np.random.default_rng(3)
    z, n, start = series(law, 640), 600, 40
    X = np.column_stack([lagged(z, 1) * lagged(z, 2), z, rng.standard_normal(640)])[start:]
    family = polynomials_of(z, 3, "auto")
    Q = np.linalg.qr(X - X.mean(axis=0))[0]
    basis = InputBasis(Q, start)
    design = np.column_stack([np.ones(n), X])
    hat = (design * np.linalg.solve(design.T @ design, design.T).T).sum(axis=1)
    weights = (hat - 1 / n) / (1 - hat)
    correlator = Correlator(np.column_stack([Q, basis.weights()]), 8)
    shapes = list(patterns(Reach(3, 4, 8), 3))
    raw, bias = r_squared(correlator, basis, family, shapes, 8)
    for k, pattern in enumerate(shapes):
        for shift in range(8 - pattern.offsets[-1] + 1):
            w = columns(family.values, [(pattern, shift)], start, start + n)[0]
            fit = design @ np.linalg.lstsq(design, w, rcond=None)[0]
            centred = w - w.mean()
            expected = 1 - ((w - fit) ** 2).sum() / (centred**2).sum()
            assert abs(raw[shift, k] - expected) < tolerances.KERNEL
            expected = (weights * centred**2).sum() / (centred**2).sum()
            assert abs(bias[shift, k] - expected) < tolerances.KERNEL


def test_beta_cut() -> None:
    """One state: R² = t²/(t² + n − 2), so that the cut follows from Student's law."""
    from scipy.stats import t

    quantile = t.isf(0.005, 98) ** 2
    assert abs(beta_cut(1, 100, 0.01) - quantile / (quantile + 98)) < tolerances.CLOSED_FORM
