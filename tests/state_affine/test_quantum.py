"""Quantum reservoirs: against density matrices, symmetries, shots; and selective layers."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

import memcurve
from memcurve import quantum
from memcurve.state_affine import gated_layer, rg_lru_layer, selective_layer
from refusals import refuses
from tolerances import WORDS

X, Z = np.array([[0, 1], [1, 0]]), np.diag([1, -1])
H = np.kron(X, X) * 0.7 + np.kron(Z, np.eye(2)) + 0.4 * np.kron(np.eye(2), Z)


def _density(z: float, encoding: str) -> np.ndarray:
    if encoding == "diagonal":
        return (np.eye(2) - z * Z) / 2
    psi = np.sqrt([(1 - z) / 2, (1 + z) / 2])
    return np.outer(psi, psi)


@pytest.mark.parametrize("encoding", ["pure", "diagonal"])
def test_steps_are_those_of_density_matrices(encoding: str) -> None:
    """ρ ← U(σ(z) ⊗ tr₁ρ)U†, read at two virtual nodes, with dephasing."""
    rng = np.random.default_rng(1)
    network = quantum.spin_reservoir(
        H, 1.3, encoding=encoding, virtual_nodes=2, dephasing=0.1, observables=["ZI", "IZ", "XX"]
    )
    U = expm(-1j * H * 0.65)
    inputs = rng.uniform(-1, 1, 6)
    rho, found = np.eye(4, dtype=complex) / 4, []
    flips = [np.kron(Z, np.eye(2)), np.kron(np.eye(2), Z)]
    for z in inputs:
        kept = rho.reshape(2, 2, 2, 2).trace(axis1=0, axis2=2)
        rho, row = np.kron(_density(z, encoding), kept), []
        for _ in range(2):
            rho = U @ rho @ U.conj().T
            for flip in flips:  # coherences shrink by 0.9
                rho = 0.95 * rho + 0.05 * flip @ rho @ flip
            row += [np.trace(one @ rho).real for one in (*flips, np.kron(X, X))]
        found.append(row)
    assert np.abs(network.simulate(inputs) - found).max() < 1e-12


def test_conserved_parity_is_found_and_named() -> None:
    for qubits, reached, states in ((3, 7, 15), (4, 31, 63)):
        network = quantum.ising_reservoir(qubits, encoding="diagonal", time=1.0, seed=1)
        assert network.size == reached
        assert f"{reached} of {states}" in network.notes[0]
        assert "Z" * qubits in network.notes[0]
    assert quantum.ising_reservoir(4, encoding="pure", time=1.0, seed=1).size == 63
    alone = quantum.spin_reservoir(0.7 * np.kron(X, X) + np.kron(Z, np.eye(2)), 1.0)
    result = memcurve.capacities(alone)  # the other qubit stays mixed: nothing is remembered
    assert alone.notes[-1].startswith("the parity")
    assert result.total == 1 == round(result.by_window[0], 9)


def test_capacities_of_qubits_sum_and_shots_lose() -> None:
    network = quantum.ising_reservoir(3, seed=2)
    exact = memcurve.capacities(network, degree=4)
    assert exact.total == 3
    assert exact.error < 1e-9
    lost = [memcurve.capacities(network, noise=quantum.ShotNoise(n), degree=1).total
            for n in (10, 1000, 10**6)]  # fmt: skip
    assert 0 < lost[0] < lost[1] < lost[2] < 3
    virtual = memcurve.capacities(quantum.ising_reservoir(3, seed=2, virtual_nodes=4), degree=1)
    assert virtual.total == virtual.rank == 12


def test_parity_and_memory_are_lines_of_words() -> None:
    """Binary input: short-term memory is the word 0…01, parity 1…1 (Fujii and Nakajima)."""
    network = quantum.ising_reservoir(3, encoding="diagonal", time=1.0, input="rademacher", seed=1)
    result = memcurve.capacities(network, degree=6)
    parity = sum(result.of((1,) * k) for k in range(1, 12))
    assert 0.5 < parity < 3
    assert abs(sum(result.by_degree[d] for d in range(1, 7)) + result.beyond - 3) < WORDS
    assert result.of((2,)) == 0


def test_channels_from_kraus_operators() -> None:
    """The same spins, their reset written as a channel of the whole state."""
    U = expm(-1j * H)

    def kraus(z: float) -> list[np.ndarray]:
        psi = np.sqrt([(1 - z) / 2, (1 + z) / 2])
        resets = [np.outer(psi, np.eye(2)[k]) for k in range(2)]
        return [U @ np.kron(one, np.eye(2)) for one in resets]

    reads = [np.kron(Z, np.eye(2)), np.kron(np.eye(2), Z)]
    one = memcurve.capacities(quantum.channel_reservoir(kraus, reads), degree=2)
    two = memcurve.capacities(quantum.spin_reservoir(H, 1.0), degree=2)
    for word in ((1,), (0, 1), (1, 1), (2, 0, 1)):
        assert abs(one.of(word) - two.of(word)) < 1e-9

    refuses(ValueError, ("`kraus`", "trace"), quantum.channel_reservoir,
        lambda z: [0.9 * np.eye(2)], [Z])  # fmt: skip
    for bad in ([], [np.triu(X)], [Z, np.eye(3)]):
        refuses(ValueError, "`observables`", quantum.channel_reservoir, lambda z: [np.eye(2)], bad)
    large = quantum.channel_reservoir(kraus, [9 * one for one in reads])
    refuses(ValueError, "`noise`", memcurve.capacities, large, quantum.ShotNoise(10))


def test_objects_of_qutip_are_taken_as_they_are() -> None:
    """Hamiltonians, Kraus operators, and superoperators in every representation."""
    qt = pytest.importorskip("qutip")
    H = 0.7 * qt.tensor(qt.sigmax(), qt.sigmax()) + qt.tensor(qt.sigmaz(), qt.sigmaz() + 1)
    plain = quantum.spin_reservoir(H, 1.0)
    assert np.array_equal(plain.p, quantum.spin_reservoir(H.full(), 1.0).p)

    def kraus(z: float) -> list[Any]:
        psi = ((1 - z) / 2) ** 0.5 * qt.basis(2, 0) + ((1 + z) / 2) ** 0.5 * qt.basis(2, 1)
        U = (-1j * H).expm()
        return [U * qt.tensor(psi * qt.basis(2, k).dag(), qt.qeye(2)) for k in range(2)]

    reads, z = [qt.tensor(qt.sigmaz(), qt.qeye(2)), qt.tensor(qt.qeye(2), qt.sigmaz())], [0.3, -1.0]
    for kind in (list, qt.kraus_to_super, qt.kraus_to_choi,
                 lambda K: qt.to_chi(qt.kraus_to_super(K))):  # fmt: skip
        network = quantum.channel_reservoir(lambda z, k=kind: k(kraus(z)), reads)
        assert np.abs(network.simulate(z)[1] - plain.simulate(z)[1]).max() < 1e-12

    def driven(z: float) -> Any:  # of a master equation with loss
        return (qt.liouvillian(z * qt.sigmay(), [0.4 * qt.sigmam()]) * 1.5).expm()

    rho, found = qt.qeye(2) / 2, []
    for value in z:
        rho = qt.vector_to_operator(driven(value) * qt.operator_to_vector(rho))
        found.append([qt.expect(one, rho) for one in (qt.sigmax(), qt.sigmaz())])
    network = quantum.channel_reservoir(driven, [qt.sigmax(), qt.sigmaz()])
    assert np.abs(network.simulate(z) - found).max() < 1e-12
    dims = qt.to_super(qt.qeye(2)).dims
    for diagonal, fact in (
        ([0.9] * 4, "trace"), ([1, 1.2, 1.2, 1], "positive"), ([1, 1, -1, 1], "positive"),
        ([1] * 9, "9"),
    ):  # fmt: skip
        wrong = qt.Qobj(np.diag(diagonal), dims=dims if len(diagonal) == 4 else [[[3], [3]]] * 2)
        refuses(ValueError, ("`kraus`", fact), quantum.channel_reservoir,
            lambda z, w=wrong: w, [qt.sigmaz()])  # fmt: skip


@pytest.mark.parametrize(
    ("fact", "call", "options"),
    [
        (("`qubits`", "9"), quantum.ising_reservoir, {"qubits": 9}),
        ("`encoding`", quantum.ising_reservoir, {"qubits": 2, "encoding": "mixed"}),
        ("`observables`", quantum.ising_reservoir, {"qubits": 2, "observables": ["ZZZ"]}),
        ("`dephasing`", quantum.ising_reservoir, {"qubits": 2, "dephasing": 2}),
        ("`input`", quantum.ising_reservoir, {"qubits": 2, "input": "normal"}),
        ("`hamiltonian`", quantum.spin_reservoir, {"hamiltonian": np.triu(np.ones((4, 4)))}),
        ("`hamiltonian`", quantum.spin_reservoir, {"hamiltonian": np.eye(128)}),
        ("`shots`", quantum.ShotNoise, {"shots": 0}),
        ("`decays`", selective_layer, {"decays": [-1.0]}),
        ("`noise`", memcurve.capacities, {"network": memcurve.bilinear([[0.5]], [[0.2]], [1]),
                                          "noise": quantum.ShotNoise(10)}),
        ("`functions`", memcurve.capacities, {"network": memcurve.StateAffineNetwork(
            [[[0.5]]], [[0.0], [1.0]], functions=[lambda z: 0 * z + 1, np.sin],
            rounding="formula")}),
        ("`basis`", memcurve.capacities, {"network": rg_lru_layer([1.0]),
                                          "basis": [lambda z: 0 * z + 1]}),
    ],
)  # fmt: skip
def test_bad_reservoirs(fact: Any, call: Any, options: dict[str, Any]) -> None:
    refuses(ValueError, fact, call, **options)


# --- selective layers


def test_order_of_newer_inputs_is_invisible() -> None:
    """Gates commute: a word depends on its oldest letter and the multiset of the newer ones."""
    result = memcurve.capacities(selective_layer([1, 2, 3, 4]), degree=3)
    assert result.arithmetic == "balls"
    assert result.total == 4
    assert abs(result.of((1, 0, 1)) - result.of((0, 1, 1))) < WORDS
    assert abs(result.of((2, 1, 0, 1)) - result.of((0, 1, 2, 1))) < WORDS
    assert abs(result.of((1, 0, 1)) - 0.0437) < 5e-5


def test_one_gated_state_in_closed_form() -> None:
    """For p = exp(−(1 + e^z)): G = E r²/(1 − E p²), with another rule for the expectations."""
    layer = gated_layer([1.0], lambda z, m: 1 + m.exp(z), [(lambda z, m: z, 1.0)])
    result = memcurve.capacities(layer, degree=2)
    z, w = np.polynomial.hermite_e.hermegauss(120)
    w = w / w.sum()
    p = np.exp(-(1 + np.exp(z)))
    mean_q = w @ z
    mean = mean_q / (1 - w @ p)
    r = p * mean + z - mean
    variance = w @ r**2 / (1 - w @ p**2)
    for degree, phi in ((1, z), (2, (z**2 - 1) / np.sqrt(2))):
        first = (w @ (r * phi)) ** 2 / variance
        assert abs(result.of((degree,)) - first) < 1e-8
        assert abs(result.of((0, degree)) - first * (w @ p) ** 2) < 1e-8


def test_sixteen_states_of_a_selective_channel() -> None:
    """Figures of the derivation: linear 1.76 of 16, degrees above twelve 5.9."""
    result = memcurve.capacities(selective_layer(), degree=12)
    assert result.total == 16
    assert abs(result.by_degree[1] - 1.7618) < 1e-4
    assert abs(result.beyond - 5.8955) < 2e-3
    noisy = memcurve.capacities(selective_layer([1, 2, 3]), noise=0.01, degree=2)
    assert noisy.total < 3 == noisy.rank


def test_rg_lru_and_equal_decays() -> None:
    result = memcurve.capacities(rg_lru_layer([0.2, 1.0]), degree=3)
    assert result.total == 2
    assert result.of((1,)) > 0.2
    z = np.random.default_rng(1).standard_normal(50)
    x, gate = np.zeros(2), 1 / (1 + np.exp(-z))
    for g, one in zip(gate, z, strict=True):
        p = np.exp(-np.array([0.2, 1.0]) * g)
        x = p * x + np.sqrt(1 - p**2) * g * one  # both gates have the same weights here
    assert np.abs(rg_lru_layer([0.2, 1.0]).simulate(z)[-1] - x).max() < 1e-12
    assert memcurve.capacities(selective_layer([1, 1, 2]), degree=1).total == 2
    assert memcurve.capacities(rg_lru_layer([1, 1]), degree=1).total == 1
