"""Capacities of bilinear networks in python-flint, from the stored numbers: an independent way.

Moments, a covariance by a sum of positive terms, and c'G⁻¹c; no white coordinates.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import flint
import numpy as np
from flint import arb, arb_mat

from memcurve import StateAffineNetwork, bilinear
from memcurve.core.types import Floats

Word = tuple[int, ...]


def words(letters: int, longest: int) -> list[Word]:
    """All words of up to so many letters 0 … letters that end with one that is not 0."""
    every = (itertools.product(range(letters + 1), repeat=n) for n in range(1, longest + 1))
    return [word for some in every for word in some if word[-1]]


def drawn(size: int, seed: int) -> StateAffineNetwork:
    """A bilinear network with a bias, all of it random, well within ρ(Φ) < 1."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, size, size)) / np.sqrt(size)
    return bilinear(0.5 * A, 0.4 * B, rng.standard_normal(size), bias=0.2 * np.ones(size))


def contracting(size: int, seed: int, share: float = 0.5) -> StateAffineNetwork:
    """x_t = (p₀ + p₁z_t) x_{t−1} + q₀ + q₁z_t at random, with so much of p₁ beside a p₀ of 0.5."""
    rng = np.random.default_rng(seed)
    p = rng.standard_normal((2, size, size)) / np.sqrt(size) * [[[0.5]], [[share]]]
    return StateAffineNetwork(p, rng.standard_normal((2, size)) * [[0.3], [1.0]])


def step_of(network: StateAffineNetwork) -> Callable[[Any, Any], Any]:
    """One step of states (N,) or (R, N)."""
    (p, P), (q, Q) = network.p, network.q

    def step(x: Any, z: Any) -> Any:
        z = np.asarray(z)[..., None]
        return x @ p.T + z * (x @ P.T) + q + z * Q

    return step


def _matrix(x: Any) -> Any:
    return arb_mat([[arb(float(v)) for v in row] for row in np.atleast_2d(x)])


def capacities(
    network: StateAffineNetwork, asked: Sequence[Word], bits: int = 900, noise: float = 0.0,
    readout: Any = None,
) -> Floats:  # fmt: skip
    """Of a network of degree 1 under uniform input, its states or Dx read with noise."""
    before, flint.ctx.prec = flint.ctx.prec, bits
    try:
        D = np.eye(network.size) if readout is None else readout
        return _capacities(network, asked, bits // 2, noise, _matrix(D))
    finally:
        flint.ctx.prec = before


def _capacities(
    network: StateAffineNetwork, asked: Sequence[Word], digits: int, noise: float, D: Any
) -> Floats:
    root = arb(3).sqrt()
    T = [_matrix(network.p[0]), _matrix(network.p[1]) / root]
    q = [_matrix(network.q[0]).transpose(), _matrix(network.q[1]).transpose() / root]
    size = network.size
    mean = (_matrix(np.eye(size)) - T[0]).solve(q[0])
    r = (T[1] * mean + q[1]).mid()
    powers = [T[0].mid()]
    while _largest(powers[-1]) > 2.0 ** (-digits / 2 - 20):
        powers.append((powers[-1] * powers[-1]).mid())

    def over_delays(X: Any) -> Any:
        for A in powers:
            X = (X + A * X * A.transpose()).mid()
        return X

    term = over_delays((r * r.transpose()).mid())
    G = term
    while _largest(term) > 2.0**-digits * _largest(G):
        term = over_delays((T[1] * term * T[1].transpose()).mid())
        G = (G + term).mid()
    columns = []
    for word in asked:
        c = r
        for k in word[-2::-1]:
            c = (T[k] * c).mid()
        columns.append([c[i, 0] for i in range(size)])
    C, rows = D * arb_mat(columns).transpose(), D.nrows()
    X = (D * G * D.transpose() + _matrix(np.eye(rows)) * arb(noise) ** 2).solve(C)
    shares = [sum((C[i, j] * X[i, j] for i in range(rows)), arb(0)) for j in range(len(asked))]
    return np.array([float(v.mid()) for v in shares])


def _largest(matrix: Any) -> float:
    return max(abs(float(v.mid())) for v in matrix.entries())
