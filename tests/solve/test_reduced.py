"""The small network that stands for a large one: the same usable memory, within both errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, random_array

import memcurve
from memcurve import LinearNetwork, memory_curve
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
    "three nodes": LinearNetwork([[0.5, 0.1, 0], [0, 0.4, 0.2], [0.3, 0, 0]], [1, 0, 0]),
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
@pytest.mark.parametrize("noise", [0.1, 1e-3])
def test_usable_memory_is_that_of_the_large_network(network: LinearNetwork, noise: float) -> None:
    small, good_for, error = memcurve.reduced(network, noise)
    assert good_for == noise
    assert error < 1e-8
    assert small.size <= network.size + len(network.readout if network.readout is not None else [])
    for level in (noise, 3 * noise, 1.0):
        known, found = (memory_curve(one, noise=level) for one in (network, small))
        count = min(len(known), len(found))
        off = np.abs(known[:count].values - found[:count].values)
        assert np.all(off <= known.error[:count] + found.error[:count] + error)
        assert found.total == pytest.approx(known.total, abs=1e-8)


def test_it_is_small_and_says_what_it_is_good_for() -> None:
    large = NETWORKS["positive"]
    small, _, _ = memcurve.reduced(large, 1e-3)
    assert small.size < 100
    assert small.name == "drawn"
    assert "under noise of 0.001 or more" in small.notes[-1]
    assert small.notes[-1] in memory_curve(small, noise=0.1).notes
    coloured: dict[str, Any] = {"noise": 0.01, "input": memcurve.inputs.ARMA(ar=[0.7])}
    known, found = (memory_curve(one, **coloured).total for one in (large, small))
    assert found == pytest.approx(known, abs=1e-8)


def test_what_cannot_be_reduced() -> None:
    network = NETWORKS["three nodes"]
    refuses(ValueError, ("`noise`", "0"), memcurve.reduced, network, 0)
    refuses(ValueError, "`network`", memcurve.reduced, network.replace(C=[0, 0, 0]), 0.1)
    unstable = network.replace(A=3 * network.A)
    with pytest.raises(memcurve.UncertainResultError, match=r"powers of A grow|do not fade"):
        memcurve.reduced(unstable, 0.1)
