"""Networks from functions and from each other, their files and simulations."""

import numpy as np
import pytest

import memcurve
import word_oracle
from memcurve.state_affine import (
    StateAffineNetwork,
    cascade,
    features,
    from_functions,
    laws,
    product,
    selective_layer,
    side_by_side,
)
from refusals import refuses
from tolerances import STANDARD_ERRORS
from word_oracle import drawn


def test_functions_find_the_same_network() -> None:
    network = drawn(3, 1)
    other = from_functions(
        lambda z: network.p[0] + z * network.p[1], lambda z: network.q[0] + z * network.q[1]
    )
    assert len(other.functions) == 2
    one, two = memcurve.capacities(network), memcurve.capacities(other)
    for word in word_oracle.words(1, 4):
        assert abs(one.of(word) - two.of(word)) <= one.error + two.error
    z = np.linspace(-1, 1, 20)
    assert np.abs(network.simulate(z) - other.simulate(z)).max() < 1e-12


def test_an_endless_alphabet_sums_to_the_rank() -> None:
    """P = ½cos z, q = sin z: every odd and even polynomial is a letter."""
    network = from_functions(lambda z: [[0.5 * np.cos(z)]], lambda z: [np.sin(z)])
    result = memcurve.capacities(network)
    assert result.total == 1
    assert abs(sum(result.by_degree.values()) - 1) < 1e-9
    assert {w for w, _ in result.largest(above=1e-2)} == {(1,), (0, 1), (0, 0, 1)}
    law = laws.uniform()
    s, c = np.sin(law.nodes), np.cos(law.nodes) / 2
    variance = law.weights @ s**2 / (1 - law.weights @ c**2)
    share = (law.weights @ (s * np.sqrt(3) * law.nodes)) ** 2 / variance
    assert abs(result.of((1,)) - share) < 1e-12


def test_closures_hold_their_parts() -> None:
    """What is read of a part is what the part alone has; totals are ranks of the whole."""
    one, two = drawn(2, 1), drawn(3, 2)
    alone = memcurve.capacities(one)
    both = side_by_side(one, two)
    assert memcurve.capacities(both).total == 5
    chain = cascade(one, two, np.ones((3, 2)))
    pair = product(one, two)
    assert memcurve.capacities(chain).total == 5
    assert pair.size == 2 + 3 + 6
    # states of `product` are y, x and x⊗y with (1, y) running fastest
    for network, rows in ((both, [0, 1]), (chain, [0, 1]), (pair, [3, 7])):
        read = memcurve.capacities(network.replace(readout=rows))
        for word in word_oracle.words(1, 4):
            assert abs(read.of(word) - alone.of(word)) < 1e-9


def test_networks_together_are_known_as_well_as_the_least_known() -> None:
    """Computed p and q have no last digits to count with, beside others either."""
    one = from_functions(lambda z: [[0.5 * np.cos(z)]], lambda z: [np.sin(z)])
    two = from_functions(lambda z: 0.4 * np.diag([np.cos(z), np.sin(z)]), lambda z: [z, np.sin(z)])
    alone, both = memcurve.capacities(one), memcurve.capacities(side_by_side(one, two))
    assert both.total == 3
    read = memcurve.capacities(side_by_side(one, two).replace(readout=[0]))
    for word in word_oracle.words(2, 3):
        assert abs(read.of(word) - alone.of(word)) <= read.error + alone.error
    gated = side_by_side(selective_layer([1, 2]), drawn(2, 1).replace(input="normal"))
    assert memcurve.capacities(gated).arithmetic == "balls"


def test_products_and_features_are_what_simulations_have() -> None:
    one, two = drawn(2, 3), drawn(2, 4)
    z = np.random.default_rng(1).uniform(-1, 1, 30)
    x, y = (np.column_stack([np.ones(30), n.simulate(z)]) for n in (one, two))
    both = product(one, two).simulate(z)
    # at the start the states are zero, so that products are zero as well
    assert np.abs(both - np.einsum("ti,tj->tij", x, y).reshape(30, -1)[:, 1:]).max() < 1e-12
    squares = features(one, 2).simulate(z)
    by_hand = [x[:, i] * x[:, j] for i in range(3) for j in range(i, 3)][1:]
    assert np.abs(squares - np.array(by_hand).T).max() < 1e-12


def test_features_of_a_delay_line_are_words_themselves() -> None:
    """Next-generation reservoir computing: 1 for every product of the delays, nothing else."""
    result = memcurve.capacities(features(memcurve.ensembles.delay_line(3), 2))
    assert result.total == 9
    assert {d: round(c, 9) for d, c in result.by_degree.items()} == {1: 3, 2: 6}
    for word in ((1,), (0, 0, 1), (2,), (1, 1), (1, 0, 1), (0, 1, 1)):
        assert abs(result.of(word) - 1) < 1e-9
    assert result.of((0, 0, 0, 1)) < 1e-12
    linear = memcurve.ensembles.normal(3, spectral_radius=0.7, seed=2)
    plain = memcurve.memory_curve(linear)
    squares = memcurve.capacities(features(linear, 2))
    # squares of states are even functions of the input: they add nothing to linear memory
    assert np.abs(squares.curve.values[:12] - plain.values[:12]).max() < 1e-9


@pytest.mark.parametrize("law", ["uniform", "normal", laws.discrete([0, 1], [0.25, 0.75])])
def test_files_keep_every_bit(law: object, tmp_path) -> None:
    network = drawn(3, 5).replace(input=law, readout=[0, 2], notes=["a note"])
    network.save(tmp_path / "net.npz")
    read = StateAffineNetwork.load(tmp_path / "net.npz")
    assert read.name == "net"
    assert np.array_equal(read.p, network.p)
    assert np.array_equal(read.q, network.q)
    assert np.array_equal(read.readout, network.readout)
    assert read.input.name == network.input.name
    assert list(read.notes) == ["a note"]
    assert memcurve.capacities(read).of((0, 1)) == memcurve.capacities(network).of((0, 1))


def test_files_refuse_what_they_cannot_hold(tmp_path) -> None:
    network = from_functions(lambda z: [[0.5 * np.cos(z)]], lambda z: [np.sin(z)])
    refuses(ValueError, "`network`", network.save, tmp_path / "net.npz")
    refuses(ValueError, ".npz", drawn(2, 1).save, tmp_path / "net.json")
    np.savez(tmp_path / "other.npz", A=np.eye(2))
    refuses(ValueError, "StateAffineNetwork", StateAffineNetwork.load, tmp_path / "other.npz")
    refuses(ValueError, "`weights`", cascade, drawn(2, 1), drawn(3, 1), np.eye(2))
    for one, two in (("uniform", "normal"), (laws.discrete([0, 1], [0.5, 0.5]),
                     laws.discrete([0, 1], [0.25, 0.75]))):  # fmt: skip
        pair = [drawn(2, 1).replace(input=law) for law in (one, two)]
        refuses(ValueError, "`networks`", side_by_side, *pair)
    refuses(ValueError, "`network`", features, network, 2)
    refuses(TypeError, "`network`", features, np.eye(2), 2)
    refuses(ValueError, ("`A`", "`C`"), memcurve.bilinear, np.eye(2), np.eye(2), np.ones(3))
    refuses(ValueError, "`p`", from_functions, lambda z: [[z, 1]], lambda z: [1])
    refuses(ValueError, "`input`", from_functions, lambda z: [[np.exp(z * z / 2)]], lambda z: [z],
        "normal")  # fmt: skip


@pytest.mark.parametrize("network", [drawn(4, 8), memcurve.quantum.ising_reservoir(3, seed=2)])
def test_simulated_capacities_agree(network: StateAffineNetwork) -> None:
    """R² of regressions on 200,000 steps, less its chance level, against the exact numbers."""
    z = np.random.default_rng(2).uniform(-1, 1, (200, 1100))
    x = network.simulate_replicas(z, 100).reshape(-1, network.read_states)
    x -= x.mean(axis=0)
    result = memcurve.capacities(network, degree=2)
    phi = [np.ones_like(z), np.sqrt(3) * z, np.sqrt(5) * (1.5 * z**2 - 0.5)]
    for word in ((1,), (0, 1), (1, 1), (1, 0, 1), (0, 0, 1), (2,)):
        y = np.prod([phi[k][:, 100 - j : 1100 - j] for j, k in enumerate(word)], axis=0).ravel()
        w = np.linalg.lstsq(x, y, rcond=None)[0]
        share = 1 - np.var(y - x @ w) / np.var(y)
        c = result.of(word)
        error = 2 * np.sqrt(3 * c / len(y)) + 4 / len(y)
        assert abs(share - c) < STANDARD_ERRORS * error
