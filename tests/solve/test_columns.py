"""Large sparse networks: lags one by one, several steps at once, and what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from memcurve import LinearNetwork, inputs, limits, memory_curve
from memcurve.network.places import HOST
from memcurve.progress import silent
from memcurve.solve import direct, sensitivity
from memcurve.solve.columns import LagByLag
from memcurve.solve.direct import Listed, Reduction, reduced
from memcurve.solve.errors import MANY_STATES

SIZE = MANY_STATES


def network(positive: bool = False, seed: int = 1) -> LinearNetwork:
    """Ten weights a node; positive ones have one slow mode, and remember long."""
    rng = np.random.default_rng(seed)
    draw = {"random_state": rng, "data_sampler": rng.standard_normal}
    A = random_array((SIZE, SIZE), density=10 / SIZE, **draw)
    A = abs(A) * (0.97 / 8) if positive else A * (0.6 / np.sqrt(10))
    return LinearNetwork(csr_array(A), rng.standard_normal((SIZE, 1)) / np.sqrt(SIZE))


def test_the_factor_is_that_of_the_krylov_matrix() -> None:
    subject = network()
    rows = np.arange(0, SIZE, 7)
    for read in (None, rows):
        lags = LagByLag(subject.A, subject.C.reshape(-1, 1), read)
        found = lags.finished(1e-3, 1000, 1e-3)
        K = [subject.C.reshape(-1)]
        for _ in range(found.R.shape[1] - 1):
            K.append(subject.A @ K[-1])
        K = np.stack(K, axis=1)[slice(None) if read is None else read]
        assert np.allclose(found.R.T @ found.R, K.T @ K, atol=1e-12)
        after = np.linalg.norm(subject.A @ K[:, -1]) if read is None else 0.0
        assert after <= found.beyond <= 3e-3
        assert 0 < found.rounding < 1e-12


@pytest.mark.parametrize("input", [None, inputs.ARMA(ar=[0.8])])
@pytest.mark.parametrize("readout", [None, range(0, SIZE, 9)])
def test_both_ways_agree(input: object, readout: range | None) -> None:
    subject = network().replace(readout=readout)
    curves = []
    for least in (1e-6, np.inf):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(direct, "LEAST_LISTED", least)
            curves.append(memory_curve(subject, 40, noise=1e-3, input=input))
    one, other = curves
    assert np.all(np.abs(one.values - other.values) <= one.error + other.error)
    assert abs(one.total - other.total) <= one.total_error + other.total_error
    assert max(one.error.max(), other.error.max()) <= 1e-8


def test_the_shorter_way_is_taken() -> None:
    for positive, kind in ((False, Listed), (True, Reduction)):
        subject = network(positive)
        found = direct._reduced_by_cost(
            subject.A, subject.C.reshape(-1, 1), 1e-3, None, direct.TAIL, silent
        )
        assert isinstance(found, kind)


def test_steps_at_once_are_steps() -> None:
    """A Q = Q H, whether directions are far apart or not: K has the same inner products."""
    for positive in (False, True):
        subject = network(positive)
        C = subject.C.reshape(-1, 1)
        found = reduced(subject.A, C, 1e-6)
        assert found.rounding.max() <= 1e-13
        K = [C[:, 0]]
        for _ in range(39):
            K.append(subject.A @ K[-1])
        gram = np.stack(K) @ np.stack(K).T
        assert np.allclose(found.R[:, :40].T @ found.R[:, :40], gram, atol=1e-12)


def test_what_does_not_fit_is_refused_with_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_ALWAYS_THERE", 0)
    monkeypatch.setattr(limits, "available_memory", lambda: 1_000_000)
    for positive, what in ((False, "Krylov matrix"), (True, "basis")):
        subject = network(positive)
        with pytest.raises(limits.TooLargeError, match=f"{what}.*5,000 states.*1 MB are available"):
            direct._reduced_by_cost(
                subject.A, subject.C.reshape(-1, 1), 1e-3, None, direct.TAIL, silent
            )


@pytest.mark.parametrize("shared", [0.0, 0.5, 1 - 1e-9])
def test_factors_of_columns_near_and_far(shared: float) -> None:
    """RᵀR = KᵀK for columns of any lengths, from inner products or reflections, to rounding."""
    rng = np.random.default_rng(3)
    K = rng.standard_normal((9000, 40)) * (1 - shared) + shared * rng.standard_normal((9000, 1))
    K = np.asfortranarray(K * np.logspace(0, -9, 40))
    R = HOST.factor([K[:, :25], K[:, 25:]]).R
    assert np.array_equal(R, np.triu(R))
    lengths = np.linalg.norm(K, axis=0)
    exact = K.astype(np.longdouble).T @ K.astype(np.longdouble)
    off = np.abs(R.T @ R - exact.astype(float)) / lengths / lengths[:, None]
    assert off.max() < 5e-14
    assert (HOST._cholesky([K], 2048) is None) == (shared > 0.9)


@pytest.mark.parametrize("room", [1, 3, 50])
def test_wide_products_are_those_of_columns(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitivity, "CACHE", 8 * SIZE * room)
    A, X = network().A, np.random.default_rng(4).standard_normal((SIZE, 7))
    assert np.allclose(sensitivity.times(A, np.asfortranarray(X)), A @ X, rtol=1e-13, atol=1e-13)
