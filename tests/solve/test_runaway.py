"""Unstable modes of large sparse networks are found without all of their eigenvalues."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, diags_array, random_array

from memcurve import Float32, LinearNetwork, UnstableNetworkError, memory_curve
from memcurve.solve.analysis import Analysis

#: All modes of so many nodes take long.
MANY_MODES = 1000


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
    assert Analysis.of(silent).unstable_radius == 0
    assert memory_curve(silent, 1, noise=0.1).total > 1


@pytest.mark.parametrize("seed", range(2))
def test_one_of_a_crowd_is_found(seed: int) -> None:
    """Eigenvalues of random weights fill a disc, with many of about the largest modulus."""
    rng = np.random.default_rng(seed)
    nodes = random_array((2000, 2000), density=5e-3 / 2, rng=rng, data_sampler=rng.standard_normal)
    A = csr_array(1.3 * nodes / np.sqrt(5))
    reached = Analysis.of(LinearNetwork(A, rng.standard_normal(2000)))
    assert 1.2 < reached.unstable_radius < 2


def test_gain_without_an_unstable_mode() -> None:
    """Far from normal, what comes near an eigenvalue outside of the circle is none."""
    size = 1200
    A = diags_array([np.full(size, 0.5), np.full(size - 1, 1.2)], offsets=[0, -1], format="csr")
    A = csr_array(block_diag([A, [[0.9]]]))
    assert Analysis.of(LinearNetwork(A, np.ones(size + 1))).unstable_radius == 0


def test_a_mode_that_any_error_moves_is_not_sure(monkeypatch) -> None:
    """Left and right eigenvectors at right angles: what is found at 3 may be anywhere."""
    stable = network(0.8, 0.5, 1.0)
    e1, e2 = np.eye(stable.size)[:2]
    monkeypatch.setattr("memcurve.network.graph.leading_mode", lambda A: (3.0, e1, e2))
    assert Analysis.of(stable).unstable_radius == 0


def test_it_is_looked_for_before_all_eigenvalues(monkeypatch) -> None:
    """Of 6,000 nodes these take two minutes, to say that the network is unstable."""

    def all_of_them(*_: object, **__: object) -> None:
        raise AssertionError("all eigenvalues")

    monkeypatch.setattr(Analysis, "spectrum", property(all_of_them))
    with pytest.raises(UnstableNetworkError, match=r"modulus 1\.\d+, .* `spectral_radius=0\.9`"):
        memory_curve(network(1.5, 0.5, 1.0))
