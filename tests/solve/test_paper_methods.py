"""The paper's methods: what they get right, and how they fail, so that nobody mends it silently."""

import dataclasses

import numpy as np
import pytest

import memcurve
from memcurve import LinearNetwork, ensembles, masks, memory_curve
from memcurve.memory.methods.montecarlo import lagged_products, montecarlo_bias
from memcurve.solve.analysis import Analysis
from refusals import refuses
from repository import GOLDEN

PUBLISHED = np.load(GOLDEN / "published_bands.npz")
SPARSE = LinearNetwork(PUBLISHED["A"], masks.sparse_normal(100, seed=1), name="published")
EASY = [ensembles.orthogonal(30, seed=1), ensembles.cyclic(30), ensembles.delay_line(10)]


EVERY_WAY: list[tuple[str, dict]] = [
    *[("naive", {"inverse": inverse}) for inverse in ("solve", "pinv", "projector")],
    ("neutral", {}),
    ("osm", {}),
    ("osm_plus", {"seed": 1, "masks": 10}),
]  # fmt: skip
#: Not for the delay line, which is not diagonalisable and has less memory under other masks.
DIAGONALISABLE = ("neutral", "osm_plus")


@pytest.mark.parametrize(
    ("network", "method", "options"),
    [
        pytest.param(n, m, o, id=f"{n.name} {m} {o}")
        for n in EASY
        for m, o in EVERY_WAY
        if not (n.name.startswith("delay") and m in DIAGONALISABLE)
    ],
)
def test_all_agree_on_well_conditioned_networks(
    network: LinearNetwork, method: str, options: dict
) -> None:
    curve = memory_curve(network, 60, method=method, **options)
    exact = memory_curve(network, 60)
    condition = curve.diagnostics.get("condition", 1.0)
    assert np.abs(curve.values - exact.values).max() <= 1e-11 + 1e-13 * condition
    assert curve.total == pytest.approx(exact.values.sum(), abs=0.05)


def test_published_experiment_naive() -> None:
    """Mean of the projector K⁺K over masks: within the sampling error of the published mean."""
    drawn = [SPARSE.replace(C=masks.sparse_normal(100, seed=s)) for s in range(40)]
    options = {"inverse": "projector"}
    curves = np.array([memory_curve(n, 200, method="naive", **options).values for n in drawn])
    error = curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
    assert np.all(np.abs(curves.mean(axis=0) - PUBLISHED["naive_mean"]) <= 5 * error + 1e-3)
    assert curves.sum(axis=1).max() < 80


def test_published_experiment_osm_plus() -> None:
    curve = memory_curve(
        SPARSE, 200, method="osm_plus", seed=1, masks=80, distribution="sparse_normal"
    )
    assert curve.total == pytest.approx(100, abs=1e-9)
    # the spread of one mask is about a third of the 90 % band
    error = (PUBLISHED["osm_plus_q95"] - PUBLISHED["osm_plus_q05"]) / 3.3 / np.sqrt(80)
    assert np.all(np.abs(curve.values - PUBLISHED["osm_plus_mean"]) <= 5 * error + 1e-3)
    assert np.all(np.diff(PUBLISHED["osm_plus_mean"]) <= 1e-3)
    assert curve.bands is not None
    assert np.all(curve.bands[:, 0] <= curve.bands[:, 1])
    exact = memory_curve(SPARSE, 200)
    off = np.abs(PUBLISHED["osm_plus_mean"] - exact.values).max()
    assert 0.2 < off < 0.35


def test_known_failures() -> None:
    """Asserted, so that nobody "fixes" them silently."""
    ring = ensembles.cyclic(50, mask="ones")
    assert memory_curve(ring).total == 1
    assert memory_curve(ring, method="osm").total == pytest.approx(50, abs=1e-9)
    gaussian = ensembles.normal(100, seed=1)
    assert memory_curve(gaussian, 200, method="naive", inverse="pinv").total < 90
    projector = {"inverse": "projector"}
    assert memory_curve(gaussian, 200, method="naive", **projector).total < 90
    orthogonal = ensembles.orthogonal(100, seed=1)
    for covariance in ("sample", "known"):
        curve = memory_curve(
            orthogonal, 500, method="montecarlo", samples=1000, covariance=covariance, seed=1
        )
        assert curve.total > 110
    assert memory_curve(gaussian, method="arnoldi").values.min() > 0.99  # whatever the memory is


def test_osm_is_no_error_bound() -> None:
    for method in ("naive", "neutral"):
        assert memory_curve(SPARSE, 5, method=method).diagnostics["condition"] > 1e15
    curve = memory_curve(SPARSE, 150, method="osm")
    assert curve.total == pytest.approx(100, abs=1e-9)
    assert np.diff(curve.values).max() > 0.1  # not monotone
    assert np.isnan(curve.error).all()
    assert curve.rank is None
    assert any("by construction" in note for note in curve.notes)
    assert any("no error bound" in note for note in curve.notes)
    assert "largest error: unknown" in repr(curve)


def test_tikhonov_is_noise() -> None:
    """A ridge takes memory away, and the more the larger it is."""
    totals = [
        memory_curve(SPARSE, 200, method="naive", inverse="tikhonov", ridge=r).total
        for r in (1e-12, 1e-9, 1e-6, 1e-3)
    ]
    assert np.all(np.diff(totals) < 0)


def test_the_seed_decides() -> None:
    network = ensembles.normal(15, seed=1)
    serial, again = (memory_curve(network, method="osm_plus", seed=3, masks=8) for _ in range(2))
    assert np.array_equal(serial.values, again.values)
    assert serial.seed == 3
    other = memory_curve(network, method="osm_plus", seed=4, masks=8)
    assert not np.array_equal(serial.values, other.values)


def test_exact_bias() -> None:
    """40,000 replications: the exact formula within four standard errors, the printed one not."""
    network, samples, lags, replications = ensembles.normal(3, seed=2), 30, 8, 40_000
    white = memcurve.input_normal(network).network()
    z = np.random.default_rng(7).standard_normal((replications, samples + 150))
    states, z = white.simulate_replicas(z, 150), z[:, 150:]
    truth = memory_curve(network, lags).values
    exact = montecarlo_bias(network, lags, samples)
    printed = montecarlo_bias(network, lags, samples, as_printed=True)
    scores, printed_scores = np.empty(lags), np.empty(lags)
    for lag in range(lags):
        n = samples - lag
        gamma = np.einsum("rtn,rt->rn", states[:, lag:], z[:, :n]) / n
        found = (gamma**2).sum(axis=1) - truth[lag]
        error = found.std() / np.sqrt(replications)
        scores[lag] = (found.mean() - exact[lag]) / error
        printed_scores[lag] = (found.mean() - printed[lag]) / error
    assert np.abs(scores).max() < 4
    assert np.abs(printed_scores).max() > 6


@pytest.mark.parametrize("method", ["naive", "neutral", "osm", "osm_plus", "arnoldi"])
def test_unstable_networks_and_zero_masks_are_refused(method: str) -> None:
    unstable = ensembles.normal(5, seed=1, spectral_radius=1.2)
    with pytest.raises(memcurve.UnstableNetworkError, match="spectral radius"):
        memory_curve(unstable, method=method, seed=1)
    on_the_circle = LinearNetwork([[-1.0]], [1.0])
    for name in (method, "montecarlo"):
        refuses(memcurve.UnstableNetworkError, (), memory_curve, on_the_circle, method=name, seed=1)
    silent = ensembles.normal(5, seed=1, mask=np.zeros(5))
    refuses(memcurve.UncertainResultError, "mask", memory_curve, silent, method=method, seed=1)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
@pytest.mark.parametrize("method", ["naive", "osm", "arnoldi"])
def test_scale_of_the_mask_changes_nothing(method: str, scale: float) -> None:
    network = ensembles.orthogonal(6, seed=1)
    scaled = network.replace(C=scale * network.C)
    one, other = (memory_curve(n, 10, method=method).values for n in (network, scaled))
    assert np.abs(one - other).max() < 1e-10


def test_gains_that_overflow_are_refused() -> None:
    chain = LinearNetwork(1e100 * np.eye(5, k=-1), np.eye(5)[0])
    for method in ("osm", "osm_plus", "naive", "montecarlo"):
        refuses(memcurve.UncertainResultError, (), memory_curve, chain, 10, method=method, seed=1)


def test_any_mask_distribution() -> None:
    network = ensembles.orthogonal(10, seed=1)
    options = {"method": "osm_plus", "seed": 1, "masks": 5}
    given = {"low": 0.0, "density": 0.5}
    curve = memory_curve(network, distribution="sparse_uniform", mask_options=given, **options)
    assert curve.options["mask_options"] == given
    assert curve.total == pytest.approx(10)


def test_sample_covariances_need_no_poles() -> None:
    """γ̂ᵀΓ̂⁺γ̂, written out, of a network whose poles are withheld."""
    network, samples, lags = ensembles.normal(6, seed=1), 300, 4
    curve = memory_curve(network, lags, method="montecarlo", samples=samples, washout=50, seed=3)
    analysis = Analysis.of(network)
    vars(analysis)["spectrum"] = dataclasses.replace(analysis.spectrum, poles=None)
    again = memory_curve(network, lags, method="montecarlo", samples=samples, washout=50, seed=3)
    z = np.random.default_rng(3).standard_normal(samples + 50)
    x, z = network.simulate(z, washout=50), z[50:]
    inverse = np.linalg.inv(x.T @ x / samples) / (z @ z / samples)
    for lag in range(lags):
        gamma = sum(z[t - lag] * x[t] for t in range(lag, samples)) / (samples - lag)
        assert curve[lag] == pytest.approx(gamma @ inverse @ gamma, rel=1e-9)
        assert again[lag] == curve[lag]


@pytest.mark.parametrize(("rows", "shifts"), [(1, 1), (7, 40), (3000, 1), (5000, 300)])
def test_lagged_products_are_those_of_windows(rows: int, shifts: int) -> None:
    """In one block or several, of samples as of states; columns of any size, each to rounding."""
    rng = np.random.default_rng(1)
    size = 10.0 ** rng.integers(-30, 30, 40)
    x, series = rng.standard_normal((rows, 40)) * size, rng.standard_normal(rows + shifts - 1)
    expected = np.lib.stride_tricks.sliding_window_view(series, shifts).T @ x
    error = np.abs(lagged_products(series, x) - expected) / size
    assert error.max() <= 1e-15 * np.sqrt(rows) * np.sqrt(rows + shifts)
