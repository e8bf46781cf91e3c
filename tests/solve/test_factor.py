"""Every source of the Krylov factor × questions × an exact oracle: errors hold."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from draws import of_radius, seeds
from hostile import FAMILIES, draw
from memcurve import (
    Float32,
    LinearNetwork,
    ObservationNoise,
    Quantised,
    ensembles,
    inputs,
    memory_curve,
)
from memcurve.core.errors import UncertainResultError
from memcurve.inputs.filters import filter_of
from memcurve.inputs.noise import Float64, Noise
from memcurve.solve.analysis import Analysis
from memcurve.solve.answer import Answer
from memcurve.solve.arnoldi import Arnoldi
from memcurve.solve.choose import LARGEST_ERROR, is_usable_memory
from memcurve.solve.factor import responses_to
from memcurve.solve.leaves import solve_arnoldi, solve_cascade, solve_hessenberg
from memcurve.solve.problem import Problem
from refusals import refuses
from truth import Truth, truth

LAGS = 30
LEVELS = [1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-20]


def exact(network: LinearNetwork, deviations: Any) -> Truth:
    """Memory and total for observation noise of these standard deviations."""
    variances = np.square(deviations)
    return truth(
        network.A, network.C, LAGS, observation=variances, readout=network.readout, bits=600
    )


#: Where the factor K = M·Wᵀ may come from.
SOURCES = {"hessenberg": solve_hessenberg, "arnoldi": solve_arnoldi, "cascade": solve_cascade}


def solved(
    network: LinearNetwork, noise: Noise, source: str = "hessenberg", **question: Any
) -> Answer:
    problem = Problem.of(network, LAGS, noise=noise, analysis=Analysis(network), **question)
    assert is_usable_memory(problem)
    with np.errstate(all="ignore"):
        return SOURCES[source](problem)


def holds(outcome: Answer, index: int, known: Truth) -> None:
    off, error = np.abs(outcome.memory[index] - known.memory), outcome.memory_error[index]
    assert np.all(off <= error), f"off by {off.max():.1e}, reported {error.max():.1e}"
    off_total = abs(outcome.total[index] - known.total)
    assert off_total <= outcome.total_error[index], f"total off by {off_total:.1e}"


def check(network: LinearNetwork, *, least: float = 0.0) -> None:
    """All sources at all levels at once, and each level on its own.

    From ``least`` on some source must be usable.
    """
    known = {level: exact(network, level) for level in LEVELS}
    usable = set()
    for source in SOURCES:
        for asked in [LEVELS, *([level] for level in LEVELS[:: 2 if source == "arnoldi" else 6])]:
            try:
                outcome = solved(network, ObservationNoise(asked), source)
            except UncertainResultError:
                continue
            for i, level in enumerate(asked):
                holds(outcome, i, known[level])
                if outcome.largest_error[i] <= LARGEST_ERROR:
                    usable.add(level)
    if least:
        assert usable >= {level for level in LEVELS if level >= least}


def kernel(size: int, width: float | None) -> np.ndarray:
    """A Hilbert matrix, or a Gaussian kernel: eigenvalues that decay to nothing."""
    i = np.arange(size)
    if width is None:
        return of_radius(1 / (i[:, None] + i + 1.0))
    return of_radius(np.exp(-(((i[:, None] - i) / (size * width)) ** 2)))


# Families of networks


@pytest.mark.parametrize("seed", seeds(2, 5))
@pytest.mark.parametrize("family", sorted(set(FAMILIES) - {"on_the_circle", "near_unit"}))
def test_hostile_families(family: str, seed: int) -> None:
    network = draw(family, seed)
    if network.size <= 16 and np.any(network.C):
        check(network)


@pytest.mark.parametrize("low", [1e-3, 0.03, 0.5])
def test_states_that_vanish_and_come_back(low: float) -> None:
    """Gains that first weaken and then strengthen: a lag without memory is not the last one."""
    gains = np.where(np.arange(39) < 20, low, 0.8 / low)
    check(LinearNetwork(np.diag(gains, -1), np.eye(40)[0]))


@pytest.mark.parametrize("width", [None, 0.3])
def test_kernels_read_beside_the_input(width: float | None) -> None:
    A, mask = kernel(16, width), np.eye(16)[8]
    for readout in (None, np.delete(np.arange(16), 8), np.arange(9, 16)):
        check(LinearNetwork(A, mask, readout=readout), least=1e-3)


def test_several_inputs() -> None:
    rng = np.random.default_rng(3)
    A = of_radius(rng.standard_normal((12, 12)))
    C = rng.standard_normal((12, 3))
    check(LinearNetwork(A, C), least=1e-6)
    check(LinearNetwork(A, C * [1, 1e-7, 1e5]))
    for apart in (1e-6, 1e-11, 1e-14):  # rounding of the masks themselves is seen at last
        nearly = np.stack([C[:, 0], 1.3 * C[:, 0] + apart * C[:, 1]], axis=1)
        check(LinearNetwork(A, nearly))


@pytest.mark.parametrize("scale", [1e-10, 1e10])
def test_scales_of_masks_and_states(scale: float) -> None:
    rng = np.random.default_rng(4)
    A, C = of_radius(rng.standard_normal((12, 12))), rng.standard_normal(12)
    check(LinearNetwork(A, C * scale))
    sizes = scale ** rng.uniform(-1, 1, 12)
    check(LinearNetwork(A * sizes[:, None] / sizes, C * sizes))


@pytest.mark.parametrize("weak", [1e-4, 1e-14])
def test_weak_connections_are_not_lost(weak: float) -> None:
    """What is below the rounding of a step may yet be above the noise."""
    check(LinearNetwork([[0.5, 0.0], [weak, 0.7]], [1.0, 0.0]))
    check(LinearNetwork([[0.1, 0.0], [0.0, 0.99]], [1.0, weak]))
    rng = np.random.default_rng(5)
    A = of_radius(rng.standard_normal((12, 12)))
    A[6:, :6] *= weak
    check(LinearNetwork(A, np.eye(12)[0]))


def test_rounding_of_products_that_cancel() -> None:
    """A q may be far smaller than its terms, its rounding is not: a second product is as wrong."""
    A, d, e = np.zeros((4, 4)), 2.0**-16, 2.0**-38
    A[:, 1], A[:, 2] = [-0.25, -0.25 + d, 0.125 + d / 2, 0.25], [0.5, 0.5 - 2 * d, -0.25 - d, -0.5]
    A[:, 3], A[2:, 0], A[0, 0] = [2 * e, d, d / 2, -4 * e], [e, 2 * e], -e
    network = LinearNetwork(csr_array(A), [1.0, 0.0, -2.0, -1.0])
    for level in 9.433985276476566e-07 * np.geomspace(0.1, 10, 21):
        outcome = solved(network, ObservationNoise(level))
        proven = memory_curve(network, LAGS, noise=level, method="certified")
        assert abs(outcome.total[0] - proven.total) <= outcome.total_error[0] + proven.total_error


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_a_single_direction_is_left_out(seed: int) -> None:
    """The only state outside of the basis is looked at, whichever way rounding points."""
    rng = np.random.default_rng(seed)
    A = np.diag(rng.uniform(-0.9, 0.9, 5))
    check(LinearNetwork(A, np.append(rng.standard_normal(4), 10 ** rng.uniform(-19, -15))))


@pytest.mark.parametrize("readout", [None, [0, 5, 30]])
def test_modes_of_a_state_space_layer_below_rounding(readout: list[int] | None) -> None:
    """Blocks of conjugate pairs hold memory far below eps: their states have a closed form."""
    A, C = ensembles.lru_ring(24, seed=3).real_pair()
    network = LinearNetwork(A.toarray(), C, readout)
    outcome = solved(network, ObservationNoise(1e-19), "cascade")
    assert outcome.largest_error.max() < 1e-11
    holds(outcome, 0, exact(network, 1e-19 * np.ones(network.size)))


@pytest.mark.parametrize("readout", [None, [0, 2, 7]])
def test_modes_that_are_hardly_driven(readout: list[int] | None) -> None:
    rng = np.random.default_rng(6)
    P, Q = rng.integers(-8, 9, (2, 5, 5)) / 64
    A, C = np.block([[P, Q], [Q, P]]), np.tile(rng.standard_normal(5), 2)
    check(LinearNetwork(A, C, readout=readout), least=1e-6)
    for off in (1e-15, 1e-11):  # nearly symmetric: nearly
        changed = A.copy()
        changed[0, 0] *= 1 + off
        check(LinearNetwork(changed, C, readout=readout))
    low = of_radius(rng.standard_normal((12, 2)) @ rng.standard_normal((2, 12)))
    check(LinearNetwork(low, rng.standard_normal(12), readout=readout))


@pytest.mark.parametrize("noise", [Quantised(1e-3), Quantised(1e-12), Float32(), Float64()])
def test_noise_of_number_formats(noise: Noise) -> None:
    rng = np.random.default_rng(7)
    A, C = of_radius(rng.standard_normal((12, 12))), rng.standard_normal(12)
    sizes = 10 ** rng.uniform(-3, 3, 12)
    chain = np.diag(rng.uniform(0.5, 2, 11), -1)
    for network in (
        LinearNetwork(A, C),
        LinearNetwork(A * sizes[:, None] / sizes, C * sizes, readout=[0, 4, 5, 11]),
        LinearNetwork(chain, np.eye(12)[0]),
    ):
        powers = [np.linalg.matrix_power(network.A, k) @ network.C for k in range(999)]
        deviations = noise.observation(np.linalg.norm(powers, axis=0))
        holds(solved(network, noise), 0, exact(network, deviations))


# Identities


def test_a_reduced_model_has_the_responses_of_the_network() -> None:
    rng = np.random.default_rng(10)
    A, C = of_radius(np.abs(rng.standard_normal((60, 60)))), rng.standard_normal((60, 1))
    model = Arnoldi().reduce(A, C, 1e-3)
    assert len(model.H) < 40
    K, R = (responses_to(*pair, 200) for pair in ((A, C), (model.H, model.c)))
    assert np.abs(K.T @ K - R.T @ R).max() <= 1e-10


def test_powers_that_do_not_decay_are_no_model() -> None:
    refuses(UncertainResultError, "decay", Arnoldi().reduce, np.eye(1), np.ones((1, 1)), 1e-12)


# Coloured input


PROCESSES = {
    "AR": inputs.ARMA(ar=[-0.9]),
    "AR .99": inputs.ARMA(ar=[0.99]),
    "oscillating": inputs.ARMA(ar=[1.2, -0.95]),
    "MA, zero on the circle": inputs.ARMA(ma=[-1.0]),
    "MA, zero outside": inputs.ARMA(ma=[0.3, 2.0]),
    "ARMA": inputs.ARMA(ar=[1.1, -0.4], ma=[0.5, 0.2]),
    "finite": inputs.Autocovariance([1.0, 0.4, 0.1]),
    "white": inputs.ARMA(),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_coloured_input(name: str) -> None:
    """Against proven enclosures; lags beyond those of a short network count as well."""
    rng = np.random.default_rng(11)
    A, C = of_radius(rng.standard_normal((10, 10))), rng.standard_normal((10, 2))
    delays = LinearNetwork(np.diag(np.full(4, 0.8), -1), np.eye(5)[0])
    several = (PROCESSES[name], PROCESSES["ARMA"])
    for network, process in (
        (LinearNetwork(A, C[:, 0]), PROCESSES[name]),
        (LinearNetwork(A, C, readout=[0, 3, 4]), several),
        (delays, PROCESSES[name]),
    ):
        for level in (1e-3, 1e-7):
            proven = memory_curve(network, LAGS, input=process, noise=level, method="certified")
            for source in SOURCES:
                if source == "cascade" and network.readout is not None:
                    continue  # two inputs whose states are read in part: left to the others
                outcome = solved(network, ObservationNoise(level), source, input=process)
                off = np.abs(outcome.memory[0] - proven.channels)
                assert np.all(off <= outcome.memory_error[0] + proven.channel_errors)
                allowed = float(outcome.total_error[0]) + proven.total_error
                assert abs(outcome.total[0] - proven.total) <= allowed
                assert outcome.largest_error[0] <= LARGEST_ERROR


@pytest.mark.parametrize("name", PROCESSES)
def test_a_filter_has_the_autocovariance_of_its_process(name: str) -> None:
    process, found = PROCESSES[name], filter_of(PROCESSES[name])
    correlation = np.correlate(found.psi, found.psi, "full")[len(found.psi) - 1 :][:50]
    known = process.autocovariance(50) / process.variance
    assert np.allclose(correlation, known[: len(correlation)], atol=1e-13)
    assert found.gain**2 >= process.density_bounds()[1] / process.variance * (1 - 1e-12)


def test_filters_that_are_too_long_are_left_alone() -> None:
    refuses(UncertainResultError, (), filter_of, inputs.ARMA(ar=[0.9999]))
    assert filter_of(inputs.Autocovariance([2.0, 1.0])).uncertainty == np.inf


@pytest.mark.parametrize("name", ["ARMA", "finite", "white"])
def test_sizes_of_states_by_products(name: str) -> None:
    rng = np.random.default_rng(12)
    A, C = of_radius(rng.standard_normal((30, 30))), rng.standard_normal((30, 2))
    processes = (PROCESSES[name], PROCESSES["AR"])
    found, dense = (
        Analysis(LinearNetwork(one, C)).deviations(processes) for one in (csr_array(A), A)
    )
    assert np.allclose(found, dense, rtol=1e-11)
