"""LinearNetwork: what it accepts, refuses and simulates."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix

from memcurve import LinearNetwork, ensembles
from memcurve.core.notes import Note
from memcurve.network import linear
from refusals import refuses

A2 = np.array([[0.5, 0.1], [0.0, 0.3]])


def test_numbers_are_kept_exactly() -> None:
    single = np.array([[0.1, 0.2], [0.3, 0.4]], dtype=np.float32)
    assert np.array_equal(LinearNetwork(single, [1, 1]).A, single.astype(float))
    assert LinearNetwork(np.eye(2, dtype=bool), [1, 1]).A.dtype == float
    assert LinearNetwork(A2.tolist(), [1, 2]).C.dtype == float
    assert LinearNetwork([[2**60]], [1]).A[0, 0] == 2.0**60


def test_frozen() -> None:
    given = A2.copy()
    network = LinearNetwork(given, [1, 1])
    given[0, 0] = 99
    assert network.A[0, 0] == 0.5
    assert not network.A.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        network.A = A2


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, coo_array])
def test_sparse_stays_sparse_and_the_given_one_unchanged(kind: type) -> None:
    unsorted = csr_array((np.array([2.0, 1.0, 3.0]), [1, 0, 1], [0, 2, 3]), shape=(2, 2))
    before = unsorted.toarray()
    network = LinearNetwork(kind(unsorted), [1, 1])
    assert network.is_sparse
    assert np.array_equal(network.A.toarray(), before)
    assert np.array_equal(unsorted.toarray(), before)
    assert network.replace(C=[1, 2]).is_sparse


def test_repr_and_properties() -> None:
    network = LinearNetwork(csr_array(A2) * 1j, np.ones((2, 3)), readout=[1], name="mine")
    assert repr(network) == (
        "LinearNetwork('mine', size=2, inputs=3, complex, sparse, readout=1 nodes)"
    )


def test_the_spectral_radius_is_computed_once(monkeypatch) -> None:
    network = LinearNetwork(A2, [1, 1])
    assert network.spectral_radius == 0.5
    monkeypatch.setattr(linear, "largest_modulus", None)
    assert network.spectral_radius == network.replace(C=[1, 2]).spectral_radius == 0.5


def test_simulation_is_the_convolution_with_the_impulse_response() -> None:
    network = ensembles.normal(6, seed=1)
    z = np.random.default_rng(1).standard_normal(40)
    states = network.simulate(z, washout=10)
    assert states.shape == (30, 6)
    last = sum(np.linalg.matrix_power(network.A, k) @ network.C * z[-1 - k] for k in range(40))
    assert np.allclose(states[-1], last, rtol=0, atol=1e-13)
    # the first row kept is the state already driven by inputs[washout]
    assert np.allclose(network.simulate(z)[10:], states, rtol=0, atol=0)


def test_simulation_with_shift_readout_several_inputs_and_sparse() -> None:
    z = np.random.default_rng(2).standard_normal((20, 2))
    full = LinearNetwork(A2, [[1, 0], [2, 1]], shift=[1, -1])
    part = full.replace(A=csr_array(A2), readout=[1])
    assert np.allclose(part.simulate(z)[:, 0], full.simulate(z)[:, 1], rtol=0, atol=1e-15)
    fixed_point = np.linalg.solve(np.eye(2) - A2, [1, -1])
    assert np.allclose(full.simulate(np.zeros((200, 2)))[-1], fixed_point)


def test_complex_network_is_read_through_real_and_imaginary_parts() -> None:
    network = LinearNetwork(np.diag([0.9j, 0.5]), [1 + 1j, 1])
    z = np.random.default_rng(3).standard_normal(30)
    states = network.simulate(z)
    assert states.dtype == float
    assert states.shape == (30, 4)
    A, C = network.real_pair()
    real = LinearNetwork(A, C[:, 0]).simulate(z)
    assert np.allclose(states, real, rtol=0, atol=1e-15)
    sparse_A, _ = network.replace(A=csr_array(network.A)).real_pair()
    assert np.array_equal(sparse_A.toarray(), A)


@pytest.mark.parametrize("size", [5, 220])
def test_replicas_are_single_simulations(size: int) -> None:
    """Series side by side: dense, nearly empty, complex, with two inputs, shift and readout."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((size, size)) * (rng.random((size, size)) < 3 / size) * 0.3
    z = rng.standard_normal((3, 12, 2))
    mask = rng.standard_normal((size, 2)) + 1j * rng.standard_normal((size, 2))
    for C in (mask, mask.real):
        network = LinearNetwork(A, C, readout=[3, 1], shift=np.ones(size))
        states = network.simulate_replicas(z, 2)
        for single, series in zip(states, z, strict=True):
            assert np.allclose(single, network.simulate(series, 2), rtol=0, atol=1e-13)


def test_notes() -> None:
    network = LinearNetwork(A2, [1, 1], notes=["one", Note("rank", "two")])
    assert network.notes == network.replace(name="n").notes == ("one", "two")
    assert [note.kind for note in network.replace(name="n").notes] == ["network", "rank"]
    assert network.replace(notes=()).notes == LinearNetwork(A2, [1, 1]).notes == ()


def test_tables_whose_labels_are_in_another_order() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(0.1 * np.arange(9.0).reshape(3, 3), list("abc"), list("abc"))
    mask = pd.Series([1.0, 2.0, 3.0], list("abc"))
    assert LinearNetwork(table, mask).size == 3
    assert LinearNetwork(table, mask.reset_index(drop=True)).size == 3
    refuses(ValueError, ("`A`", "order"), LinearNetwork, table[["b", "a", "c"]], mask)
    refuses(ValueError, ("`C`", "order"), LinearNetwork, table, mask[["c", "a", "b"]])
