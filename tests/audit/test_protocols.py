"""Other libraries' protocols, against the libraries themselves."""

import numpy as np
import pytest

from memcurve import ensembles
from memcurve.studies.auditing.estimates import PROTOCOLS

#: The same sums in another order.
SAME_SUMS = 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_reservoirpy_itself(seed: int) -> None:
    from reservoirpy.nodes import Reservoir, Ridge
    from reservoirpy.observables import memory_capacity

    network = ensembles.normal(30, spectral_radius=0.9, seed=1)
    reservoir = Reservoir(
        W=network.A, Win=network.C[:, None], bias=np.zeros(30), activation="identity", lr=1.0
    )
    theirs = memory_capacity(reservoir >> Ridge(ridge=1e-4), k_max=60, as_list=True, seed=seed)
    ours = PROTOCOLS["reservoirpy"](30).measure(network, np.random.default_rng(seed))
    np.testing.assert_allclose(ours, theirs, atol=SAME_SUMS)


def test_conn2res_settings() -> None:
    """Ridge(alpha=0.5) without intercept, 70 % for training, |r|: written out with numpy alone."""
    network = ensembles.orthogonal(8, seed=1)
    protocol = PROTOCOLS["conn2res"](8)
    z = np.random.default_rng(3).uniform(-1, 1, protocol.samples)
    x = network.simulate(z)[16:]
    y = np.column_stack([z[16 - k : len(z) - k] for k in range(1, 17)])
    train = round(0.7 * len(x))
    W = np.linalg.solve(x[:train].T @ x[:train] + 0.5 * np.eye(8), x[:train].T @ y[:train])
    r = [abs(np.corrcoef(a, b)[0, 1]) for a, b in zip((x[train:] @ W).T, y[train:].T, strict=True)]
    ours = protocol.measure(network, np.random.default_rng(3))
    np.testing.assert_allclose(ours, r, atol=SAME_SUMS)


def test_braph_settings() -> None:
    """``GlobalMemoryCapacity``: 5 % are discarded, no constant term, r over the rows fitted to."""
    network = ensembles.orthogonal(6, spectral_radius=0.9, seed=1)
    protocol = PROTOCOLS["braph_35"](6)
    z = 0.5 + 0.5 * np.random.default_rng(3).uniform(-1, 1, 20_000)
    x = network.simulate(z[35:])[999:]
    y = np.column_stack([z[1034 - k : 20_000 - k] for k in range(1, 36)])
    W = np.linalg.lstsq(x, y, rcond=None)[0]
    r = [np.corrcoef(a, b)[0, 1] for a, b in zip((x @ W).T, y.T, strict=True)]
    np.testing.assert_allclose(protocol.measure(network, np.random.default_rng(3)), r, atol=1e-6)


def test_a_node_that_never_moves() -> None:
    network = ensembles.delay_line(4)
    dead = network.replace(C=np.zeros(4))
    scores = PROTOCOLS["conn2res"](4).measure(dead, np.random.default_rng(1))
    assert (scores == 0).all()
