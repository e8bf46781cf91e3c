"""Measured networks and recordings, where they are at hand (MEMCURVE_REAL_DATA)."""

import gzip

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigs

from memcurve import (
    LinearNetwork,
    RecordingWarning,
    audit,
    best_mask,
    best_readout,
    load_network,
    memory_curve,
    memory_from_data,
    noise_profile,
    pruned,
    rank,
    structural_rank,
)
from repository import real_data, worm


def test_the_worm_remembers_286_inputs() -> None:
    """299 neurons, of which 13 modes are not driven; every mode counts one in total."""
    A = worm()
    curve = memory_curve(LinearNetwork(A, np.random.default_rng(1).standard_normal(len(A))))
    assert curve.rank == 286
    assert curve.total == pytest.approx(286, abs=1e-9)
    assert np.all(np.diff(curve.values) <= 1e-15)


def test_the_worm_driven_evenly_loses_one_mode_more() -> None:
    A = worm()
    curve = memory_curve(LinearNetwork(A, np.ones(len(A))), certify_up_to=0)
    assert curve.rank == 285
    assert curve.error.max() < 1e-9


def test_the_worm_can_use_few_of_them() -> None:
    """Against the singular values of 400 columns of the Krylov matrix; balls took minutes."""
    A = worm()
    network = LinearNetwork(A, np.random.default_rng(1).standard_normal(len(A)))
    curve = memory_curve(network, noise=1e-3)
    columns = [network.C]
    for _ in range(399):
        columns.append(A @ columns[-1])
    squares = np.linalg.svd(np.column_stack(columns), compute_uv=False) ** 2
    assert curve.total == pytest.approx((squares / (squares + 1e-6)).sum(), abs=1e-9)
    assert curve.total_error < 1e-9


def test_noise_below_rounding_is_not_made_up() -> None:
    """At the noise of double precision rounding of the products hides what the worm could use."""
    A = worm()
    profile = noise_profile(LinearNetwork(A, np.ones(len(A))), [1e-18, 1e-3])
    assert np.isnan(profile.known_totals[0]) == (profile.total_errors[0] > 0.5)
    assert profile.known_totals[1] == profile.totals[1]
    assert profile.total_errors[1] < 1e-9


def larva() -> LinearNetwork:
    """3,554 neurons, 119,010 connections, input on the 439 sensory ones."""
    with gzip.open(real_data("larva_edges.txt.gz"), "rt") as file:
        source, target, synapses = np.loadtxt(file).T
    neurons = np.unique([source, target])
    places = (np.searchsorted(neurons, target), np.searchsorted(neurons, source))
    A = csr_array((synapses, places), shape=(len(neurons), len(neurons)))
    A = A * (0.9 / abs(eigs(A, k=1, return_eigenvectors=False, v0=np.ones(len(neurons)))[0]))
    sensory = np.isin(neurons, np.loadtxt(real_data("larva_sensory.txt")))
    mask = np.zeros(len(neurons))
    mask[sensory] = np.random.default_rng(0).standard_normal(np.count_nonzero(sensory))
    return LinearNetwork(A, mask)


def test_the_larval_fly_brain_as_it_comes() -> None:
    """The file as a list of edges: the same network, names and sensory neurons."""
    network = load_network(
        real_data("larva_edges.txt.gz"), mask=real_data("larva_sensory.txt"), spectral_radius=0.9
    )
    by_hand = larva()
    assert abs(network.A - by_hand.A).max() < 1e-14
    np.testing.assert_array_equal(network.C, by_hand.C != 0)
    curve = memory_curve(network, noise=1e-3)
    assert curve.total == pytest.approx(9.653327, abs=1e-6)
    assert "119,010 edges between 3,554 nodes" in curve.notes[0]
    assert "7 of the 446 nodes" in curve.notes[1]


@pytest.mark.slow
def test_the_larval_fly_brain_remembers_3229_inputs(pytestconfig) -> None:
    if not pytestconfig.getoption("--thorough"):
        pytest.skip("all eigenvalues take minutes, with --thorough")
    curve = memory_curve(larva())
    assert curve.rank == curve.total == 3229
    assert curve.error.max() < 1e-9
    assert np.all(np.diff(curve.values) <= 1e-12)


def test_the_audit_of_the_larval_fly_brain_takes_no_eigenvalues() -> None:
    """41 neurons are not reached, 276 more than the wiring drives, 8 lost to the weights."""
    result = audit(larva())
    assert result.curve is None
    assert result.total == 3229
    losses = {loss.kind: loss.count for loss in result.rank_budget.losses}
    assert losses == {"unreached": 41, "wiring": 276, "other": 8}
    measured = result.usable.measured
    assert measured is not None
    assert measured.total == pytest.approx(7.561, abs=1e-3)
    assert len(result.usable.levels) > 10


def test_the_larval_fly_brain_is_wired_for_3237_inputs() -> None:
    """Eight of them are lost to the weights; no eigenvalue tells."""
    network, told = larva(), []
    wiring = structural_rank(network)
    assert wiring.rank == 3237
    assert len(wiring.unreached) == 41
    assert len(wiring.surplus) == 3554 - 41 - 3237
    assert rank(network, progress=lambda *step: told.append(step)) == 3229
    assert len({label for label, _, _ in told}) == 2  # below what the wiring allows: two primes


def test_the_larval_fly_brain_is_answered() -> None:
    """By sparse products."""
    profile = noise_profile(larva(), [1e-1, 1e-3, 1e-6, 1e-9])
    assert profile.totals == pytest.approx([3.99, 8.178711, 13.61, 18.14], abs=5e-3)
    assert profile.totals[1] == pytest.approx(8.178711, abs=1e-6)
    assert profile.total_errors.max() < 1e-8
    assert profile.rank is None  # not asked for: it would take a thousand times as long


def test_nanowires_remember_little() -> None:
    """Voltages of 15 electrodes, the sixteenth driven; the recording's caveats are warned of."""
    file = real_data("nanowires_131M.txt.gz")
    driven = {"input_name": "8_V[V]", "washout": 325}
    with pytest.warns(RecordingWarning):
        curve = memory_from_data(file, state_names="*_V[V]", **driven)
    assert 3 < curve.total < 4
    assert curve.total_error < 0.1
    assert curve.diagnostics["states"] == 15
    with pytest.warns(RecordingWarning):
        whole = memory_from_data(file, **driven)  # time, and columns of NaN, are seen
    assert whole.diagnostics["states"] == 17
    assert abs(whole.total - curve.total) < 0.1


def driven_worm() -> LinearNetwork:
    return LinearNetwork(worm(), np.random.default_rng(3).standard_normal(299))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("brain", "states", "readout", "gap", "random", "mask"),
    [(driven_worm, 12, 6.4, 1.01, np.inf, 4.82), (larva, 10, 4.7, 1.013, 2.0, 0.0)],
)
def test_choices(brain, states, readout, gap, random, mask) -> None:
    network = brain()
    network = network.replace(C=network.C / np.linalg.norm(network.C))
    assert pruned(network, 1e-3, 1e-3).network.size <= states
    choice = best_readout(network, 1e-3, 10)
    assert readout <= choice.value <= choice.bound <= gap * choice.value
    assert choice.random < random
    assert mask == 0 or best_mask(network, 0.1).value >= mask
