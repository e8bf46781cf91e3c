"""Sums of the powers of large networks, against powers that are known."""

import numpy as np
import pytest
from scipy.sparse import block_diag, coo_array, csr_array
from scipy.sparse.linalg import LinearOperator

from memcurve.network.operator import Operator
from memcurve.solve.powers import GrowingPowersError, sums_of_powers

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
    first, powers = A[:2, :2].toarray(), [np.eye(2)]
    for _ in range(20_000):
        powers.append(first @ powers[-1])
    return csr_array(A), np.linalg.norm(powers, 2, axis=(1, 2))


@pytest.mark.parametrize(("radius", "gain"), [(0.9, 3.0), (0.99, 0.0), (0.99, 3.0), (0.999, 3.0)])
def test_powers_are_bounded_by_few_products(radius: float, gain: float) -> None:
    A, norms = pairs(radius, gain)
    counted = Counted(A)
    found, known = sums_of_powers(Operator(counted.products)), sums_of_powers(A)
    for sums in (found, known):
        assert sums.norms >= norms.sum()
        assert sums.squares >= (norms**2).sum()
    assert counted.count < 270
    assert known.lasting / 2 <= found.lasting <= 20 * known.lasting  # one probe, and several


@pytest.mark.parametrize("size", [60, SIZE])
def test_spaces_that_are_exhausted(size: int) -> None:
    """All eigenvalues are of one size, but a ring of 60 nodes has no more than 60 directions."""
    ring = csr_array(0.99 * np.roll(np.eye(60), 1, axis=0))
    counted = Counted(csr_array(block_diag([ring] * (size // 60))))
    sums = sums_of_powers(Operator(counted.products))
    assert 1 / (1 - 0.99) <= sums.norms <= 1e7
    assert counted.count < 80


def test_a_circle_takes_one_power_after_the_other() -> None:
    """A basis would be no smaller than the powers are many."""
    turned = np.random.default_rng(2).permutation(SIZE)
    counted = Counted(csr_array((np.full(SIZE, 0.97), (np.arange(SIZE), turned)), (SIZE, SIZE)))
    sums = sums_of_powers(Operator(counted.products))
    assert sums.norms >= 1 / (1 - 0.97)
    assert counted.count > 200


def test_growth_is_found_by_products() -> None:
    A, _ = pairs(0.9, 1.0)
    counted = Counted(csr_array(1.2 * A))
    with pytest.raises(GrowingPowersError, match=r" 1\.07"):
        sums_of_powers(Operator(counted.products))
    assert counted.count < 3000
