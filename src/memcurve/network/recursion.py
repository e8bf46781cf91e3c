"""A linear recursion with a drive, computed many steps at a time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from memcurve.result import Floats

#: Steps that are computed as one matrix product.
BLOCK = 16


class Driven:
    """p_t = A p_{t−1} + C·drive_t, several steps at a time.

    SciPy's BLAS, as LAPACK before and after: see :mod:`memcurve.solve.sensitivity`.
    """

    def __init__(self, A: Floats, C: Floats) -> None:
        from scipy.linalg.blas import dgemm

        self.A, self.C = A, C
        d = C.shape[1]
        power, carried = np.asfortranarray(A), np.asfortranarray(C)  # A^i C, i < BLOCK
        while carried.shape[1] < d * BLOCK:
            carried = np.hstack([carried, dgemm(1.0, power, carried)])
            power = dgemm(1.0, power, power)
        self._power = power
        self._columns = [np.asfortranarray(carried[:, k::d]) for k in range(d)]

    def blocks(self, first: Floats, drive: Callable[[int, int], Floats]) -> Iterator[Floats]:
        """Yield p_0 = ``first``, p_1, … in blocks (n, d·BLOCK), input by input.

        ``drive(a, b)`` gives the drives of times a … b − 1, a row an input or one for all.
        """
        from scipy.linalg.blas import dgemm

        n, d = self.C.shape
        shift = np.arange(BLOCK)[None, :] - np.arange(BLOCK)[:, None] + BLOCK - 1
        p, now, start = np.empty((n, d, BLOCK)), first, drive(0, BLOCK + 1)
        for t in range(BLOCK):
            p[:, :, t] = now
            now = self.A @ now + self.C * start[:, t + 1]
        block = np.asfortranarray(p.reshape(n, d * BLOCK))
        for time in itertools.count(BLOCK, BLOCK):
            yield block
            # p_t = A^BLOCK p_{t−BLOCK} + Σ_{i<BLOCK} A^i C·drive_{t−i}
            recent = drive(time - BLOCK + 1, time + BLOCK)
            block = dgemm(1.0, self._power, block)
            if recent.any():
                toeplitz = np.broadcast_to(recent, (d, 2 * BLOCK - 1))[:, shift]
                driven = [dgemm(1.0, self._columns[k], toeplitz[k]) for k in range(d)]
                block += np.hstack(driven)
