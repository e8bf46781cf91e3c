"""Coloured input: memory and forecasting against the truth, closed forms and invariances."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from memcurve import Float32, LinearNetwork, ensembles, forecasting_curve, memory_curve
from memcurve.inputs import ARMA, Autocovariance, InputProcess, White
from tolerances import COLOURED, EPS, agree, within
from truth import PROCESSES, truth

# Closed forms


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


# Identities


@pytest.mark.parametrize("name", PROCESSES)
@pytest.mark.parametrize("kind", ["normal", "symmetric", "orthogonal"])
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


@pytest.mark.parametrize(
    ("network", "phi", "most"),
    [
        # uncontrollable zeros are taken off as a delay: none is told from eigenvalues near
        *((ensembles.sparse_normal(50, density=0.03, seed=s), 0.8, 1e-10) for s in (1, 2, 3)),
        # poles that are stored are all that matters, though states grow by two from node to node
        (ensembles.chain(60), 0.9, 1e-8),
    ],
    ids=str,
)
def test_errors_of_cascades_are_small(network: LinearNetwork, phi: float, most: float) -> None:
    certified = memory_curve(network, 60, input=ARMA([phi]), method="certified")
    assert (certified.rank < memory_curve(network).diagnostics["reachable"]) == (phi == 0.8)
    curve = memory_curve(network, 60, input=ARMA([phi]), solver="cascade")
    assert curve.error.max() < most
    assert np.all(np.abs(curve.values - certified.values) <= curve.error)


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
