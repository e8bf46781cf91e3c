"""A smaller network in place of a large one: usable memory within the bound, at every lag."""

from typing import Any

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csr_array, diags_array, random_array

import memcurve
from draws import BADLY_SCALED
from memcurve import LinearNetwork, ensembles, memory_curve
from refusals import refuses


def sparse(size: int, radius: float, seed: int, inputs: int = 1) -> LinearNetwork:
    rng = np.random.default_rng(seed)
    A = random_array((size, size), density=10 / size, random_state=rng).toarray()
    A *= rng.choice([-1.0, 1.0], A.shape) if seed % 2 else 1.0
    A = csr_array(A * (radius / abs(np.linalg.eigvals(A)).max()))
    C = rng.standard_normal((size, inputs))
    return LinearNetwork(A, C if inputs > 1 else C[:, 0], name="drawn")


NETWORKS = {
    "signed": sparse(600, 0.9, 1),
    "positive": sparse(600, 0.99, 2),
    "two inputs": sparse(400, 0.8, 3, inputs=2),
    "some nodes": sparse(600, 0.9, 1).replace(readout=[1, 4, 100, 200, 300]),
    "complex": LinearNetwork(np.diag(0.9 * np.exp(1j * np.arange(1, 13) / 3)), np.ones(12)),
    "three nodes": LinearNetwork([[0.5, 0.1, 0], [0, 0.4, 0.2], [0.3, 0, 0]], [1, 0, 0]),
    "units": LinearNetwork(*BADLY_SCALED),
    "gain chain": LinearNetwork(
        csr_array(
            diags_array(
                [np.full(120, 0.2), np.concatenate([np.full(20, 1.15), np.full(99, 0.6)])],
                offsets=[0, -1],
            )
        ),
        np.eye(1, 120)[0],
    ),
}


@pytest.mark.filterwarnings("ignore::memcurve.RankWarning")  # far below the noise
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@pytest.mark.parametrize(("noise", "tolerance"), [(0.1, 1e-9), (1e-3, 1e-3), (1e-2, 0.1)])
def test_usable_memory_is_kept(network: LinearNetwork, noise: float, tolerance: float) -> None:
    small = memcurve.pruned(network, noise, tolerance)
    assert small.bound <= tolerance
    assert small.network.states <= network.states
    for level in (noise, 3 * noise, 1.0):
        known, found = (memory_curve(one, noise=level) for one in (network, small.network))
        count = min(len(known), len(found))
        off = np.abs(known[:count].values - found[:count].values)
        assert np.all(off <= known.error[:count] + found.error[:count] + small.bound)


def test_tolerances_make_networks_smaller() -> None:
    large = NETWORKS["positive"]
    sizes = [memcurve.pruned(large, 1e-3, t).network.size for t in (1e-9, 1e-3, 0.1)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[1] < 30
    small = memcurve.pruned(large, 1e-3).network
    assert small.name == "drawn"
    assert "noise of 0.001 or more" in small.notes[-1]
    assert small.notes[-1] in memory_curve(small, noise=0.1).notes
    coloured: dict[str, Any] = {"noise": 0.01, "input": memcurve.inputs.ARMA(ar=[0.7])}
    known, found = (memory_curve(one, **coloured).total for one in (large, small))
    assert found == pytest.approx(known, abs=1e-7)


def test_gaussian_network() -> None:
    network = ensembles.normal(400, spectral_radius=0.95, seed=1)
    assert memcurve.pruned(network, 1e-3, 1e-3).network.size <= 80


@pytest.mark.parametrize(
    "network",
    [ensembles.hippo_legs(30, step=0.05), ensembles.orthogonal(20, spectral_radius=0.98, seed=1)],
    ids=["LegS", "orthogonal"],
)
def test_where_nothing_can_be_cut_it_is_the_network(network: LinearNetwork) -> None:
    found = memcurve.pruned(network, 1e-3, 1e-6)
    assert found.network is network
    assert found.bound == 0
    assert not found.is_cut
    assert found.notes[-1].kind == "method"


def test_states_far_above_the_mask() -> None:
    """A chain whose states grow to 1e17: rounding makes its models unstable, and it stays."""
    chain = ensembles.chain(60, loop=0.5)
    small, choice = memcurve.pruned(chain, 2e-7, 1e-3), memcurve.best_readout(chain, 2e-7, 20)
    assert small.network is chain
    assert choice.value - choice.error <= choice.bound <= 20


@pytest.mark.parametrize("ending", ["npz", "mat", "safetensors", "csv", "npy"])
def test_it_is_saved_in_the_format_and_under_the_names_it_came_in(ending: str, tmp_path) -> None:
    network = ensembles.normal(20, seed=1)
    names = {"W": network.A, "Win": network.C.reshape(-1, 1)}
    if ending == "mat":
        savemat(tmp_path / "own.mat", names)
    elif ending == "safetensors":
        pytest.importorskip("safetensors.numpy").save_file(names, tmp_path / "own.safetensors")
    else:
        np.savez(tmp_path / "own.npz", **names)
    own = next(tmp_path.glob("own.*"))
    small, written = memcurve.pruned(memcurve.load_network(own), 0.1, 1e-2), tmp_path / "small"
    small.save_network(written.with_suffix(f".{ending}"), like=own)
    again = memcurve.load_network(written.with_suffix(f".{ending}"))
    assert np.array_equal(again.A, small.network.A)
    assert np.array_equal(again.C, small.network.C)
    if ending == "npz":
        assert set(np.load(written.with_suffix(".npz")).files) == {"W", "Win"}
    refuses(ValueError, ("`path`", ".mat"), small.save_network, "small.txt")
