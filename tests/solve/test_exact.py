"""The exact method against high-precision truth, closed forms and invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memcurve
from memcurve import LinearNetwork, ensembles, memory_curve
from refusals import refuses
from tolerances import LAST_DIGIT, WHOLE_SUM, agree


@pytest.mark.filterwarnings("ignore::memcurve.core.errors.RankWarning")
def test_stable_toeplitz_network_with_eigenvalues_outside_the_disc() -> None:
    """LAPACK finds eigenvalues at 1.03 though the spectral radius is 0.59."""
    size = 140
    A = 0.07 * np.eye(size, k=1) + 1.25 * np.eye(size, k=-1)
    assert np.abs(np.linalg.eigvals(A)).max() > 1
    true_radius = 2 * np.sqrt(0.07 * 1.25)  # the matrix is similar to a symmetric one
    assert true_radius < 0.6
    C = np.random.default_rng(1).standard_normal(size)
    curve = memory_curve(LinearNetwork(A, C), 180)
    similar = 0.5 * true_radius * (np.eye(size, k=1) + np.eye(size, k=-1))
    truth = memory_curve(LinearNetwork(similar, C), 180)
    assert curve.diagnostics["arithmetic"] == "ball"
    assert any("ball arithmetic" in note for note in curve.notes)
    assert np.all(np.abs(curve.values - truth.values) <= 1e-13)
    facts = "140", "method='certified'", "certify_up_to"  # nothing but the rank is known
    network = LinearNetwork(A, C)
    refuses(memcurve.UncertainResultError, facts, memory_curve, network, 180, certify_up_to=100)


def test_default_lags_are_capped_with_a_note() -> None:
    curve = memory_curve(LinearNetwork([[1 - 1e-7]], [1.0]))
    assert len(curve) == 100_000
    assert "lags stop at 100000" in curve.notes[0]
    assert curve.total == 1


def test_rank_up_to_rounding_warns() -> None:
    network = ensembles.symmetric(30, seed=1)
    vectors = np.linalg.eigh(network.A)[1]
    silent = network.replace(C=vectors[:, 10:] @ np.ones(20))
    with pytest.warns(memcurve.RankWarning, match="20"):
        curve = memory_curve(silent)
    assert curve.rank == 30
    assert curve.diagnostics["rank_robust"] == 20


@pytest.mark.parametrize(
    ("A", "method"), [([[1 - 1e-14]], "certified"), (np.diag([0.5, 1 - 2.0**-46]), "exact")]
)
def test_long_time_constants_are_not_cut_off_silently(A: object, method: str) -> None:
    curve = memory_curve(LinearNetwork(A, np.ones(len(A))), method=method)
    assert "1 of" in curve.notes[-1]


@pytest.mark.parametrize(
    ("A", "C", "rank"),
    [
        ([[0, 2**-46, 0], [0.5, 0, -0.5], [0.5, 0, -0.5]], [-1, 2, 2], 2),
        (np.diag([0.5, 2.0**-62]), [1, 1], 2),
        (np.diag(0.5 ** np.arange(1, 65)), np.ones(64), 64),
        (np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.375, 0.375, 0.25 + 2**-50]]) / 2,
         [1, 1, 1], 2),
        ([[15.140625, -7.5, -30], [-10, 5.140625, 20], [10, -5, -19.859375]], [-6, 0, -3], 1),
        (0.45 * np.array([[1, 0, 1], [-2, -1, -1], [2, 2, -2]]), [-1, 1, 0], 1),
        ([[0.25 + 2**-46, -0.25 + 2**-46], [-0.25 + 2**-46, 0.25 + 2**-46]], [1, 1], 1),
        ([[0, 1e300], [1e-301, 0]], [1, 0], 2),
        (np.eye(2) * (1 - 2**-21), [10, -3], 1),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::memcurve.core.errors.RankWarning")
@pytest.mark.parametrize("method", ["exact", "certified"])
def test_cases_that_were_wrong_once(A: object, C: object, rank: int, method: str) -> None:
    network = LinearNetwork(A, C)
    curve = memory_curve(network, 40, method=method)
    assert curve.rank == rank
    assert agree(curve, memory_curve(network, 40, method="certified"))


# -- invariances --------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 25)


def drawn(size: int, seed: int) -> LinearNetwork:
    return ensembles.normal(size, seed=seed, spectral_radius=0.85)


@settings(max_examples=40, deadline=None)
@given(size=sizes, seed=seeds)
def test_monotone_bounded_and_complete(size: int, seed: int) -> None:
    curve = memory_curve(drawn(size, seed))
    assert np.all(np.diff(curve.values) <= LAST_DIGIT)
    assert np.all((curve.values >= 0) & (curve.values <= 1))
    assert np.abs(curve.values + curve.loss - 1).max() <= LAST_DIGIT
    assert abs(curve.values.sum() - curve.rank) <= WHOLE_SUM
    assert np.isfinite(curve.error).all()


@settings(max_examples=40, deadline=None)
@given(size=sizes, seed=seeds, scale=st.floats(1e-100, 1e100))
def test_scale_of_the_mask_shift_and_mask_itself_change_nothing(
    size: int, seed: int, scale: float
) -> None:
    network = drawn(size, seed)
    plain = memory_curve(network, 60)
    changes = {"C": scale * network.C}, {"shift": np.full(size, scale)}, {"C": network.C[::-1]}
    for change in changes:
        assert agree(plain, memory_curve(network.replace(**change), 60))


@settings(max_examples=40, deadline=None)
@given(size=sizes, seed=seeds)
def test_rotation_and_similarity_change_nothing_but_rounding(size: int, seed: int) -> None:
    """T A T⁻¹ rounds the entries, by eps·‖A‖·κ(T): its curve is that of a nearby network."""
    network = drawn(size, seed)
    plain = memory_curve(network, 60)
    rng = np.random.default_rng(seed)
    Q = ensembles.orthogonal(size, seed=rng, spectral_radius=1.0).A
    T = Q * np.exp(rng.uniform(-1, 1, size))
    for change, inverse in ((Q, Q.T), (T, np.linalg.inv(T))):
        moved = LinearNetwork(change @ network.A @ inverse, change @ network.C)
        other = memory_curve(moved, 60)
        assert other.rank == plain.rank
        slack = 100 * np.linalg.cond(change)
        assert np.all(np.abs(plain.values - other.values) <= slack * (plain.error + other.error))
