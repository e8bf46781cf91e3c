"""Sums of the powers of large networks, against powers that are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, coo_array, csr_array
from scipy.sparse.linalg import LinearOperator

from memcurve.network.operator import Operator
from memcurve.solve.sensitivity import power_sizes, sums_of_powers

SIZE = 6000


class Counted:
    """A matrix as products, which are counted."""

    def __init__(self, A: csr_array) -> None:
        self.A, self.count = A, 0

    @property
    def products(self) -> LinearOperator:
        return LinearOperator(self.A.shape, matvec=self._times, matmat=self._times, dtype=float)

    def _times(self, x: np.ndarray) -> np.ndarray:
        self.count += 1 if x.ndim == 1 else x.shape[1]
        return self.A @ x


def pairs(radius: float, gain: float) -> tuple[csr_array, np.ndarray]:
    """Blocks [[λ, g], [0, λ/2]], and ‖A^m‖ of the largest of them, m = 0, 1, …"""
    poles = np.append(radius, np.random.default_rng(1).uniform(-radius, radius, SIZE // 2 - 1))
    A = block_diag([coo_array([[pole, gain], [0.0, pole / 2]]) for pole in poles], format="csr")
    first, power, norms = A[:2, :2].toarray(), np.eye(2), []
    for _ in range(20_000):
        norms.append(np.linalg.norm(power, 2))
        power = first @ power
    return csr_array(A), np.array(norms)


@pytest.mark.parametrize(("radius", "gain"), [(0.99, 0.0), (0.99, 3.0), (0.999, 3.0)])
def test_powers_are_bounded_by_few_products(radius: float, gain: float) -> None:
    A, norms = pairs(radius, gain)
    counted = Counted(A)
    operator = Operator(counted.products)
    sizes = power_sizes(operator)
    assert np.all(sizes >= norms[: len(sizes)] * (1 - 1e-12))
    assert sizes[-1] <= 0.5
    assert counted.count < 600
    assert len(sizes) > 300
    assert sums_of_powers(A).norms >= norms.sum()


def test_a_ring_takes_one_power_after_the_other() -> None:
    """All eigenvalues are of one size: a basis would be no smaller than the powers are many."""
    ring = csr_array(0.99 * np.roll(np.eye(60), 1, axis=0))
    A = csr_array(block_diag([ring] * (SIZE // 60)))
    sizes = power_sizes(Operator(Counted(A).products))
    assert np.all(sizes >= 0.99 ** np.arange(len(sizes)) * (1 - 1e-12))
