"""Energies, Hankel values and information against Gramians in multi-precision."""

import dataclasses
import itertools
from typing import Any

import flint
import numpy as np
import pytest

import memcurve
from memcurve import (
    LinearNetwork,
    control_energy,
    ensembles,
    hankel_values,
    information,
    memory_curve,
)
from truth import gramian

KINDS = {"normal": ensembles.normal, "symmetric": ensembles.symmetric}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [12, 40, pytest.param(100, marks=pytest.mark.slow)])
def test_energies_to_the_last_digits(kind: str, size: int) -> None:
    network = KINDS[kind](size, spectral_radius=0.9, seed=1)
    target = np.linspace(-1, 1, size)
    found = control_energy(network, target)
    with flint.ctx.workprec(3000 if size > 50 else 1500):
        X = gramian(network.A, network.C)
        inverse = X.inv()
        x = flint.arb_mat([[float(v)] for v in target])
        energy = float((x.transpose() * inverse * x)[0, 0])
        traces, logarithm = float(inverse.trace()), float(X.det().log())
    worst = float(found.errors.max())
    assert worst < 1e-9
    assert (1 / found.values**2).sum() == pytest.approx(traces, rel=2 * worst)
    assert found.lambda_min >= 1 / traces * (1 - 4 * worst)
    off = 2 * float(found.errors.sum())
    assert 2 * np.log(found.values).sum() == pytest.approx(logarithm, abs=off)
    assert abs(found.energy / energy - 1) <= found.energy_error
    assert found.energy_error < 1e-6


def test_directions_that_no_input_steers() -> None:
    network = LinearNetwork(np.diag([0.5, 0.5, 0.3, 0.1]), [1.0, 1.0, 1.0, 0.0])
    found = control_energy(network, [0, 0, 0, 1])
    assert (found.rank, found.states) == (2, 4)
    assert found.lambda_min == 0
    assert np.isinf(found.energy)
    assert np.isfinite(control_energy(network, [1, 1, 1, 0]).energy)
    assert found.notes[-1].kind == "reach"
    power = np.square(memcurve.input_normal(network).T).sum()
    assert found.trace == pytest.approx(power, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("output", ["all", "one", "weights"])
def test_hankel_values_to_the_last_digits(kind: str, output: str) -> None:
    """Tr GQ = Σh², and det G·det Q = Πh⁴, whose smallest are 1e-30."""
    size = 20
    network = KINDS[kind](size, spectral_radius=0.9, seed=1)
    weights: Any = {
        "all": np.eye(size), "one": np.eye(size)[:, :1], "weights": np.linspace(-1, 2, size),
    }[output]  # fmt: skip
    found = hankel_values(network, None if output == "all" else weights)
    with flint.ctx.workprec(1500):
        G, Q = gramian(network.A, network.C), gramian(network.A.T, weights)
        squares, logarithm = float((G * Q).trace()), float((G.det() * Q.det()).log())
    assert len(found) == size
    assert found.errors.max() < 1e-8
    assert (found.values**2).sum() == pytest.approx(squares, rel=1e-11)
    assert 2 * np.log(found.values).sum() == pytest.approx(logarithm, abs=found.errors.sum())


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_very_different_size(seed: int) -> None:
    """What rounding does to small rows shows: Σh⁻² = Tr (GQ)⁻¹ and Σσ⁻² = Tr G⁻¹."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    A = rng.standard_normal((size, size)) * 10.0 ** -rng.uniform(0, 9, size)[:, None]
    A *= 0.9 / np.abs(np.linalg.eigvals(A)).max()
    network = LinearNetwork(A, rng.standard_normal(size))
    with flint.ctx.workprec(1500):
        G, Q = gramian(A, network.C), gramian(A.T, np.eye(size))
        sums = [float(X.trace()) for X in (G * Q, (G * Q).inv(), G, G.inv())]
    for result, (direct, inverse) in zip(
        (hankel_values(network), control_energy(network)), (sums[:2], sums[2:]), strict=True
    ):
        squares, errors = np.square(result.values), 2 * result.errors
        assert abs(squares.sum() - direct) <= (squares * errors).sum()
        assert abs((1 / squares).sum() - inverse) <= (errors / squares).sum() * (1 + errors.max())


def test_hankel_values_of_a_readout() -> None:
    network = ensembles.normal(10, spectral_radius=0.8, seed=2)
    one = hankel_values(network.replace(readout=[3])).values
    np.testing.assert_allclose(one, hankel_values(network, np.eye(10)[:, 3]).values, rtol=1e-9)
    np.testing.assert_allclose(hankel_values(ensembles.delay_line(4), [0, 0, 0, 1]).values, 1.0)
    unread = LinearNetwork(np.diag([0.5, 0.3]), [1.0, 0.0])
    assert not hankel_values(unread, [0.0, 1.0]).values.any()


def test_hankel_values_of_a_mask_whose_square_overflows() -> None:
    A, mask = [[0.5, 0.1], [0.0, 0.3]], np.array([1.0, 1e-150])
    plain, found = (hankel_values((A, scale * mask)) for scale in (1.0, 1e150))
    assert found.values[0] == pytest.approx(1e150 * plain.values[0], rel=found.errors[0])
    assert found.errors[0] < 1e-9


@pytest.mark.parametrize("noise", [1.0, 1e-2])
def test_information_by_the_chain_rule(noise: float) -> None:
    network = ensembles.normal(20, spectral_radius=0.9, seed=1)
    found = information(network, noise)
    G = memcurve.input_normal(network).T
    known = 0.5 * np.linalg.slogdet(np.eye(20) + G.T @ G / noise**2)[1]
    assert found.total == pytest.approx(known, rel=1e-10)
    assert found.given_newer.sum() == pytest.approx(found.total, rel=1e-9)
    alone = -0.5 * np.log(memory_curve(network, len(found.given_newer), noise=noise).loss)
    assert (alone <= found.given_newer + 1e-9).all()
    K = np.array([np.linalg.matrix_power(network.A, k) @ network.C for k in range(300)]).T
    older = noise**2 * np.eye(20) + K[:, 8:] @ K[:, 8:].T
    direct = 0.5 * np.log1p(K[:, 7] @ np.linalg.solve(older, K[:, 7]))
    assert found.given_newer[7] == pytest.approx(direct, rel=1e-6)


@pytest.mark.parametrize("noise", [1e-9, 0.1])
@pytest.mark.parametrize(
    "network",
    [
        LinearNetwork([[0.5]], [2.0]),
        LinearNetwork(np.diag([0.999, 0.5, -0.3]), [1.0, 1.0, 1.0]),
        LinearNetwork(0.3 * np.array([[1.0, 1, 0], [0, 1, -1], [1, 0, 1]]), np.eye(3)[:, :2]),
    ],
    ids=["one node", "slow", "two inputs"],
)
def test_lags_have_all_of_the_information(network: LinearNetwork, noise: float) -> None:
    """Inputs too faint for memory still tell something to those who know all newer ones."""
    found = information(network, noise)
    assert found.given_newer.sum() == pytest.approx(found.total, rel=1e-9)


@pytest.mark.parametrize("noise", [1.0, 1e-5, 2.8e-12])
def test_information_of_each_lag_is_within_its_error(noise: float) -> None:
    rng = np.random.default_rng(192)
    A = np.triu(8 * rng.standard_normal((7, 7)), 1) + np.diag(rng.uniform(-0.95, 0.95, 7))
    found = information(LinearNetwork(A, np.ones(7)), noise)
    with flint.ctx.workprec(2000):
        state, A = flint.arb_mat([[1]] * 7), flint.arb_mat(A.tolist())
        X, totals = gramian(np.array(A.tolist(), float), np.ones(7)), []
        for _ in range(31):
            scaled = X / flint.arb(noise) ** 2
            totals.append((scaled + flint.arb_mat(np.eye(7).tolist())).det().log() / 2)
            X, state = X - state * state.transpose(), A * state
        known = [float(older - newer) for older, newer in itertools.pairwise(totals)]
    assert np.abs(known - found.given_newer[:30]).max() <= found.given_newer_error
    assert found.given_newer_error < 1e-2
    assert abs(found.total - float(totals[0])) <= found.error


def test_information_at_lags_that_are_not_listed_is_told() -> None:
    slow = ensembles.normal(6, spectral_radius=0.99999, seed=1).replace(readout=[0])
    found = information(slow, 1e-8)
    assert found.notes[-1].kind == "lags"
    assert f"{found.total - found.given_newer.sum():.4g} nats" in found.notes[-1]
    assert not information(slow.replace(A=0.9 * slow.A), 1e-8).notes


def test_eigenvalues_below_the_smallest_number_are_told() -> None:
    found = control_energy(LinearNetwork(np.diag([0.5, 0.25]), [1.0, 1e-170]))
    assert found.lambda_min == 0
    assert found.values[-1] > 0
    assert "10^" in found.notes[-1]


def test_information_far_below_the_noise_of_floats() -> None:
    """At noise s below all σ it is Σ log σ/s, which Gramians do not know."""
    network = ensembles.symmetric(40, spectral_radius=0.9, seed=1)
    found, energy = information(network, 1e-30), control_energy(network)
    assert found.total == pytest.approx(
        np.log(energy.values).sum() + 40 * 30 * np.log(10), rel=1e-9
    )
    assert found.error < 1e-9 * found.total
    large = ensembles.sparse_normal(500, density=0.01, seed=1)
    assert information(large, 0.1).error < 1e-6


@pytest.mark.parametrize(
    "network",
    [
        ensembles.normal(40, spectral_radius=0.9, seed=1),
        ensembles.cyclic(20, spectral_radius=0.9),
        ensembles.delay_line(20),
        ensembles.hippo_legs(15),
    ],
    ids=["normal", "cyclic", "delay line", "LegS"],
)
def test_mean_age_and_spread_by_traces_and_by_sums(network: LinearNetwork) -> None:
    curve = memory_curve(network)
    assert "squared_traces" in curve.diagnostics
    ages = (curve.lags * curve.values).sum() / curve.total
    assert curve.mean_age == pytest.approx(ages, rel=1e-9)
    summed = dataclasses.replace(curve, diagnostics={})
    assert summed.mean_age == pytest.approx(curve.mean_age, rel=1e-9)
    assert summed.spread == pytest.approx(curve.spread, rel=1e-8, abs=1e-9)
    squares = ((2 * curve.lags + 1) * curve.values).sum() - curve.total**2
    assert curve.spread**2 == pytest.approx(squares, rel=1e-7, abs=1e-7)


def test_mean_age_of_other_curves() -> None:
    network = ensembles.normal(10, spectral_radius=0.8, seed=1)
    noisy = memory_curve(network, noise=0.1)
    assert noisy.mean_age == pytest.approx((noisy.lags * noisy.values).sum() / noisy.total)
    two = memory_curve(network.replace(C=np.eye(10)[:, :2]))
    assert two.mean_age == pytest.approx((two.lags * two.values).sum() / two.total)
    slow = memory_curve(ensembles.orthogonal(5, spectral_radius=0.99999, seed=1), 10)
    assert slow.mean_age > 1e4
    for curve in (noisy[1:], memory_curve(network, 3, noise=0.1)):
        with pytest.raises(ValueError, match="mean age"):
            _ = curve.mean_age
