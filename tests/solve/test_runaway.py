"""Unstable modes of large sparse networks are found without all of their eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, random_array

from memcurve import Float32, LinearNetwork, UnstableNetworkError, memory_curve
from memcurve.solve.analysis import Analysis
from memcurve.solve.states import MANY_MODES


def network(scale: float, loop: float, drive: float) -> LinearNetwork:
    """Random nodes, and one with a loop that it keeps to itself, driven by so much."""
    rng = np.random.default_rng(1)
    nodes = random_array(
        (MANY_MODES, MANY_MODES), density=5 / MANY_MODES, rng=rng, data_sampler=rng.standard_normal
    )
    A = block_diag([scale * csr_array(nodes) / np.sqrt(5), [[loop]]], format="csr")
    return LinearNetwork(A, np.append(rng.standard_normal(MANY_MODES), drive))


@pytest.mark.parametrize("noise", [1e-3, Float32()])
def test_an_excited_mode_is_named(noise: object) -> None:
    with pytest.raises(UnstableNetworkError, match=r"an eigenvalue of modulus 40\.5,"):
        memory_curve(network(0.8, 40.5, 1.0), noise=noise)


def test_what_the_input_does_not_reach_does_no_harm() -> None:
    silent = network(0.8, 40.5, 0.0)
    assert Analysis.of(silent).reached.runaway == 0
    assert memory_curve(silent, 1, noise=0.1).total > 1


def test_stable_networks_have_none() -> None:
    assert Analysis.of(network(0.8, 0.5, 1.0)).reached.runaway == 0
