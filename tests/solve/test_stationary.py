"""Coloured input: memory and forecasting against the truth, closed forms and invariances."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from memcurve import Float32, LinearNetwork, ensembles, forecasting_curve, memory_curve
from memcurve.inputs import ARMA, Autocovariance, InputProcess, White
from tolerances import CLOSED_FORM, COLOURED, EPS, SEVERAL, agree, coloured, within
from truth import truth

PROCESSES: dict[str, tuple[list[float], list[float]]] = {
    "AR .3": ([0.3], []),
    "AR .9": ([0.9], []),
    "AR −.5": ([-0.5], []),
    "AR .99": ([0.99], []),
    "AR(2)": ([1.2, -0.72], []),
    "MA .5": ([], [0.5]),
    "MA .999": ([], [0.999]),
    "ARMA(1,1)": ([0.7], [0.4]),
    "ARMA(2,2)": ([0.5, -0.3], [0.4, 0.2]),
}
KINDS = ("normal", "symmetric", "orthogonal")


def compare_with_truth(network: LinearNetwork, name: str, bits: int) -> float:
    """Within the reported errors; return how far off, over what is allowed."""
    ar, ma = PROCESSES[name]
    process, lags = ARMA(ar, ma), 2 * network.size
    known = truth(network.A, network.C, lags, arma=(ar, ma), horizons=10, bits=bits)
    allowed = min(COLOURED, coloured(*process.density_bounds()))
    memory = memory_curve(network, lags, input=process)
    ahead = forecasting_curve(network, process, 10)
    off = within(memory, known.memory, known.total, allowed)
    return max(off, within(ahead, known.forecast, known.total_forecast, allowed)) / allowed


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, "normal") for name in PROCESSES),
     *((name, kind) for name in ("AR .9", "MA .999", "ARMA(2,2)") for kind in KINDS[1:])],
)  # fmt: skip
def test_agrees_with_the_truth(name: str, kind: str) -> None:
    network = ensembles.make(kind, 20, seed=1, spectral_radius=0.6)
    compare_with_truth(network, name, bits=600)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROCESSES)
def test_agrees_with_the_truth_for_sixty_nodes_everywhere(
    name: str, kind: str, held: Callable[..., None]
) -> None:
    bits = 1400 if kind == "symmetric" else 900
    off = compare_with_truth(ensembles.make(kind, 60, seed=2), name, bits)
    held("coloured input, 60 nodes: off by, over what is allowed", off, at_most=1)


# Closed forms


@pytest.mark.parametrize("phi", [0.9, -0.5])
@pytest.mark.parametrize("size", [1, 10])
def test_delay_line_and_first_order_autoregression(size: int, phi: float) -> None:
    """A register holds z_t … z_{t−N+1}: beyond, z_{t−N+1−h} is known up to φ^h, and z_{t+h} too."""
    network, process = ensembles.delay_line(size), ARMA(ar=[phi])
    curve = memory_curve(network, 40, input=process)
    beyond = np.maximum(curve.lags - size + 1, 0)
    assert np.abs(curve.values - phi ** (2.0 * beyond)).max() <= CLOSED_FORM
    assert curve.total == pytest.approx(size + phi**2 / (1 - phi**2), rel=CLOSED_FORM)
    ahead = forecasting_curve(network, process, 20)
    assert np.array_equal(ahead.lags, np.arange(1, 21))
    assert np.abs(ahead.values - phi ** (2.0 * ahead.lags)).max() <= CLOSED_FORM
    assert ahead.total == pytest.approx(phi**2 / (1 - phi**2), rel=CLOSED_FORM)


def test_more_memory_than_states() -> None:
    network = ensembles.delay_line(10)
    curve = memory_curve(network, input="ar:0.9")
    assert round(curve.total, 3) == 14.263
    assert any("number of states is no bound on the total" in note for note in curve.notes)
    for white in (White(), White(7.0), ARMA(), Autocovariance([2.0]), "white", None):
        curve = memory_curve(network, input=white)
        assert curve.total == 10
        assert not any("no bound" in note for note in curve.notes)


@pytest.mark.parametrize(("a", "phi"), [(-0.8, 0.554347), (-0.9, 0.588404)])
def test_error_holds_where_covariances_cancel(a: float, phi: float) -> None:
    """A node whose state is nearly uncorrelated with the input before the last, in fractions."""
    curve = memory_curve(LinearNetwork([[a]], [1.0]), 2, input=ARMA(ar=[phi]))
    a_, phi_ = Fraction(a), Fraction(phi)
    variance = (1 + a_ * phi_) / ((1 - a_**2) * (1 - a_ * phi_))
    known = (a_ / (1 - a_ * phi_) + phi_) ** 2 / variance
    assert 0 < known < 1e-7
    assert abs(Fraction(curve[1]) - known) <= Fraction(float(curve.error[1]))


@pytest.mark.parametrize("process", [ARMA([0.5, -0.7]), Autocovariance([3.0, 2.0, 1.0, 0.5])])
@pytest.mark.parametrize("gap", [1e-3, 1.04e-5, 7.43e-9, 1e-10])
def test_totals_hold_next_to_the_circle(gap: float, process: InputProcess) -> None:
    """Powers of numbers next to one are rounded alike in all networks nearby."""
    A = np.array([[1 - gap, 0.3, 0.0], [0.0, 0.5, -0.4], [0.0, 0.2, 0.6]])
    for readout in (None, [1], [0, 2]):
        network = LinearNetwork(A, [0.7, 1.0, -0.3], readout=readout)
        curve = memory_curve(network, 8, input=process, certify_up_to=0)
        proven = memory_curve(network, 8, input=process, method="certified")
        assert agree(curve, proven)
        assert curve.total_error < 1e-5


def test_the_curve_need_not_fall() -> None:
    """A seasonal input of period 7 read by a register of 3: the memory comes back every 7 lags."""
    network, process = ensembles.delay_line(3), ARMA(ar=[0, 0, 0, 0, 0, 0, 0.9])
    curve = memory_curve(network, 21, input=process)
    season = np.tile([1, 1, 1, 0, 0, 0, 0], 3) * 0.81 ** (curve.lags // 7)
    assert np.abs(curve.values - season).max() <= CLOSED_FORM
    assert np.diff(curve.values).max() > 0.8
    ahead = forecasting_curve(network, process, 14)
    season = np.tile([0, 0, 0, 0, 1, 1, 1], 2) * 0.81 ** np.repeat([1, 2], 7)
    assert np.abs(ahead.values - season).max() <= CLOSED_FORM


# Identities


@pytest.mark.parametrize("name", PROCESSES)
@pytest.mark.parametrize("kind", KINDS)
def test_memory_and_forecasting_together(kind: str, name: str) -> None:
    """N·min f ≤ MC + FC ≤ N·max f for unit variance."""
    network, process = ensembles.make(kind, 12, seed=3), ARMA(*PROCESSES[name])
    memory = memory_curve(network, input=process)
    ahead = forecasting_curve(network, process)
    least, most = np.array(process.density_bounds()) / process.variance
    both = memory.total + ahead.total
    slack = memory.total_error + ahead.total_error
    assert 12 * least - slack <= both <= 12 * most + slack
    assert both == pytest.approx(memory.diagnostics["memory_plus_forecasting"], abs=slack + EPS)
    assert memory.diagnostics["bounds"] == pytest.approx([12 * least, 12 * most])


@pytest.mark.parametrize("name", PROCESSES)
def test_neutral_to_the_mask(name: str) -> None:
    """The paper's appendix A: for one stationary input the mask does not matter."""
    process, A = ARMA(*PROCESSES[name]), ensembles.normal(20, seed=5).A
    rng = np.random.default_rng(1)
    first, second = (
        memory_curve(LinearNetwork(A, rng.standard_normal(20)), 60, input=process) for _ in "ab"
    )
    assert np.abs(first.values - second.values).max() <= COLOURED
    assert first.total == pytest.approx(second.total, rel=COLOURED)


AR6 = Autocovariance(0.6 ** np.arange(80))  # cut where it is below rounding


@pytest.mark.parametrize(
    ("forms", "known"),
    [
        # γ = 1.25, 0.5 and f = 1.25 + cos ω; a weight of 2 is the same up to the variance
        (
            [ARMA(ma=[0.5]), ARMA(ma=[2.0]), Autocovariance([1.25, 0.5]), "ma:0.5"],
            {"arma": ([], [0.5])},
        ),
        ([AR6, ARMA(ar=[0.6])], {"covariance": AR6.values.tolist()}),
    ],
    ids=["MA", "AR"],
)
def test_one_process_in_several_forms(forms: list[Any], known: dict[str, Any]) -> None:
    for network in (ensembles.normal(20, seed=6), ensembles.delay_line(4)):
        fact = truth(network.A, network.C, 50, horizons=5, **known)
        for form in forms:
            curve = memory_curve(network, 50, input=form)
            within(curve, fact.memory, fact.total, COLOURED)
            ahead = forecasting_curve(network, form, 5)
            within(ahead, fact.forecast, fact.total_forecast, COLOURED)


@pytest.mark.parametrize("noise", [None, 1e-3, Float32()])
def test_densities_that_vanish(noise: Any) -> None:
    """γ = (1, ½) has f(π) = 0, and no root of f is a filter: it is e_t + e_{t−1} all the same."""
    dense = ensembles.normal(12, spectral_radius=0.9, seed=1)
    for network in (dense, dense.replace(A=csr_array(dense.A)), dense.replace(readout=[0, 5])):
        one = memory_curve(network, 30, input=Autocovariance([1.0, 0.5]), noise=noise)
        other = memory_curve(network, 30, input=ARMA(ma=[1.0]), noise=noise)
        assert agree(one, other)
        assert one.error.max() < 1e-7
    known = truth(dense.A, dense.C, 30, arma=([], [1.0]), bits=600)
    plain = memory_curve(dense, 30, input=Autocovariance([1.0, 0.5]))
    within(plain, known.memory, known.total)


def test_white_input_cannot_be_forecast() -> None:
    for white in (White(), ARMA(), None):
        curve = forecasting_curve(ensembles.normal(8, seed=1), white, 6)
        assert np.array_equal(curve.values, np.zeros(6))
        assert curve.total == 0
        assert any("white input cannot be forecast" in note for note in curve.notes)


# Several coloured inputs


@pytest.mark.parametrize(
    "names", [("AR .9", "MA .5", "white"), ("AR .9", "AR .9"), ("MA .999", "ARMA(2,2)", "AR −.5")]
)
def test_several_inputs_against_the_truth(names: tuple[str, ...]) -> None:
    """Alike or not, in one network and in parts that do not meet."""
    weights = [PROCESSES.get(name, ([], [])) for name in names]
    processes: Any = [ARMA(*each) for each in weights]
    rng, count = np.random.default_rng(9), len(names)
    parts = [ensembles.normal(5, seed=k, spectral_radius=0.8).A for k in range(count)]
    apart = block_diag(*parts), np.kron(np.eye(count), np.ones((5, 1)))
    mixed = ensembles.normal(12, seed=9, spectral_radius=0.8).A, rng.standard_normal((12, count))
    for (A, C), solvers in ((mixed, (None, "cascade")), (apart, (None,))):
        known = truth(A, C, 24, arma=weights, horizons=5)
        for given in [processes, *processes[: len(set(names)) == 1]]:
            for solver in solvers:
                curve = memory_curve(LinearNetwork(A, C), 24, input=given, solver=solver)
                within(curve, known.memory, known.total, SEVERAL)
            ahead = forecasting_curve(LinearNetwork(A, C), given, 5)
            within(ahead, known.forecast, known.total_forecast, COLOURED)
