"""Sums of the powers of large networks, against powers that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, coo_array, csr_array
from scipy.sparse.linalg import aslinearoperator

from memcurve.network.operator import Operator
from memcurve.solve.powers import GrowingPowersError, sums_of_powers

SIZE = 6000


def pairs(radius: float, gain: float) -> tuple[csr_array, np.ndarray]:
    """Blocks [[λ, g], [0, λ/2]], and ‖A^m‖ of the largest of them, m = 0, 1, …"""
    poles = np.append(radius, np.random.default_rng(1).uniform(-radius, radius, SIZE // 2 - 1))
    A = block_diag([coo_array([[pole, gain], [0.0, pole / 2]]) for pole in poles], format="csr")
    first, powers = A[:2, :2].toarray(), [np.eye(2)]
    for _ in range(20_000):
        powers.append(first @ powers[-1])
    return csr_array(A), np.linalg.norm(powers, 2, axis=(1, 2))


@pytest.mark.parametrize(("radius", "gain"), [(0.9, 3.0), (0.99, 0.0), (0.99, 3.0), (0.999, 3.0)])
def test_powers_are_bounded(radius: float, gain: float) -> None:
    A, norms = pairs(radius, gain)
    found, known = sums_of_powers(Operator(aslinearoperator(A))), sums_of_powers(A)
    for sums in (found, known):
        assert sums.norms >= norms.sum()
        assert sums.squares >= (norms**2).sum()
    assert known.lasting / 2 <= found.lasting <= 20 * known.lasting  # one probe, and several


@pytest.mark.parametrize("size", [60, SIZE])
def test_rings(size: int) -> None:
    ring = csr_array(0.99 * np.roll(np.eye(60), 1, axis=0))
    A = csr_array(block_diag([ring] * (size // 60)))
    assert 1 / (1 - 0.99) <= sums_of_powers(Operator(aslinearoperator(A))).norms <= 1e7


def test_growth_is_found_by_products() -> None:
    A, _ = pairs(0.9, 1.0)
    with pytest.raises(GrowingPowersError, match=r"by a factor of 1\.07"):
        sums_of_powers(Operator(aslinearoperator(csr_array(1.2 * A))))
