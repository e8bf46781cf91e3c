"""State-affine networks x_t = (p₀ + p₁z_t) x_{t−1} + q₀ + q₁z_t: every capacity from moments.

For z uniform on [−1, 1] all expectations are those of polynomials, so that Gauss-Legendre nodes
give them exactly. With μ = E x and Σ = Cov x, the covariance u of the states with a product of
Legendre polynomials of past inputs obeys u ← E[p P_d] u + w E[q P_d] from the oldest lag to the
newest, w ← 0 once a degree is above 0; the capacity is uᵀΣ⁻¹u.
"""

from collections.abc import Sequence

import numpy as np

from memcurve.core.types import Floats

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


def _mean(values: Floats) -> Floats:
    return np.tensordot(_WEIGHTS / 2, values, 1)


class StateAffine:
    """A network of ``states`` states drawn at random, contracting in the mean square."""

    def __init__(self, states: int, seed: int, *, bilinear: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        scale = 1 / np.sqrt(states)
        self.p = np.stack([0.5 * scale * rng.standard_normal((states, states)),
                           bilinear * scale * rng.standard_normal((states, states))])  # fmt: skip
        self.q = np.stack([0.3 * rng.standard_normal(states), rng.standard_normal(states)])
        powers = np.stack([np.ones_like(_NODES), _NODES])
        self._p, self._q = (np.tensordot(powers.T, part, 1) for part in (self.p, self.q))
        pairs = _mean(np.einsum("tij,tkl->tikjl", self._p, self._p))
        square = pairs.reshape(states**2, states**2)
        assert np.abs(np.linalg.eigvals(square)).max() < 1, "no second moments"
        self.mu = np.linalg.solve(np.eye(states) - _mean(self._p), _mean(self._q))
        pushed = self._p @ self.mu
        outer = np.einsum("ti,tj->tij", pushed + self._q, pushed + self._q)
        outer -= np.einsum("ti,tj->tij", pushed, pushed)
        moments = np.linalg.solve(np.eye(states**2) - square, _mean(outer).ravel())
        self.covariance = moments.reshape(states, states) - np.outer(self.mu, self.mu)

    def step(self, x: Floats, z: Floats) -> Floats:
        """One step of states (N,) or (R, N)."""
        z = np.asarray(z)[..., None]
        return x @ self.p[0].T + z * (x @ self.p[1].T) + self.q[0] + z * self.q[1]

    def capacity(self, degrees: Sequence[int]) -> float:
        """Of Π_k P_{d_k}(z_{t−k}), ``degrees`` = (d_0, d_1, …)."""
        u, w = self.mu, 1.0
        for d in reversed(degrees):
            P = np.sqrt(2 * d + 1) * np.polynomial.legendre.legval(_NODES, [0] * d + [1])
            u = _mean(self._p * P[:, None, None]) @ u + w * _mean(self._q * P[:, None])
            w *= d == 0
        return float(u @ np.linalg.solve(self.covariance, u))

    def memory(self, lags: int) -> Floats:
        """Capacities of single past inputs."""
        return np.array([self.capacity([0] * k + [1]) for k in range(lags)])
