"""Letters: p and q expanded in functions that are orthonormal for the law of the input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.types import EPS, Floats
from memcurve.state_affine.laws import Law, projected
from memcurve.state_affine.network import StateAffineNetwork, no_mean
from memcurve.state_affine.tree import Outputs

DEGREES = 64  # up to which infinite alphabets, as of √(1 − z²), are followed
ORTHONORMAL = 1e-9  # how far functions given as a basis may be from it


class Letters(NamedTuple):
    """T_k = E[p φ_k], r_k = E[r φ_k] of the centred recursion, and the mean of the states.

    ``weights`` [d, k] is <φ_d, letter k> for the orthonormal polynomials φ_d: polynomial letter d
    is Σ_k weights[d, k] times letter k. ``outputs`` are those of the network, if it has any.
    ``sizes`` are those of what is added up to make T and r: their rounding is a share of these.
    """

    T: Floats
    r: Floats
    mean: Floats
    outputs: Outputs | None
    weights: Floats
    sizes: tuple[Floats, Floats]


def letters_of(
    network: StateAffineNetwork, basis: Sequence[Callable[[Any], Any]] | None = None
) -> Letters:
    """The letters of a network in floating point; ``basis`` takes the place of polynomials."""
    law = network.input
    root = np.sqrt(law.weights)
    rows, C = orthonormal(network.values(law.nodes) * root)
    T, Q = np.tensordot(C, network.p, 1), C @ network.q
    try:
        mean = np.linalg.solve(np.eye(network.size) - T[0], Q[0])
    except np.linalg.LinAlgError as error:
        raise no_mean() from error
    r = T @ mean + Q
    r[0] = 0.0
    size = np.tensordot(np.abs(C), np.abs(network.p), 1)
    sizes = size, size @ np.abs(mean) + np.abs(C) @ np.abs(network.q)
    if network.rounding == "absolute":  # entries of rounding alone would be letters
        for part in (T, r):
            part[np.abs(part) < 4 * EPS * np.abs(part).max()] = 0.0
        sizes = np.full_like(T, np.abs(T).max()), np.full_like(r, np.abs(r).max())
    sizes[1][0] = 0.0
    outputs = None
    if network.outputs is not None:
        out = np.tensordot(C, network.outputs[0], 1)
        direct = out @ mean + C @ network.outputs[1]
        outputs = Outputs(out, direct, direct[0].copy())
        direct[0] = 0.0
    if basis is not None:
        weights = (_checked(basis, law) * root) @ rows.T
    elif network.is_polynomial:  # letter k is the polynomial of degree k itself
        weights = np.eye(len(rows))
    else:
        degrees = len(law.nodes) - 1 if law.is_discrete else DEGREES
        weights = (law.polynomials(degrees) * root) @ rows.T
    weights[0], weights[1:, 0] = np.eye(len(rows))[0], 0.0
    return Letters(T, r, mean, outputs, weights, sizes)


def orthonormal(values: Floats) -> tuple[Floats, Floats]:
    """Orthonormal rows E and C with values = Cᵀ E, in order, without those that are dependent."""
    rows: list[Floats] = []
    C = np.zeros((len(values), len(values)))
    for i, value in enumerate(values):
        C[: len(rows), i], rest = projected(value, rows)
        length, whole = float(np.linalg.norm(rest)), max(float(np.linalg.norm(value)), 1e-300)
        C[np.abs(C[:, i]) < 8 * EPS * whole, i] = 0.0  # of odd and even functions
        if length > 64 * EPS * whole:
            C[len(rows), i] = length
            rows.append(rest / length)
    return np.array(rows), C[: len(rows)]


def _checked(basis: Sequence[Callable[[Any], Any]], law: Law) -> Floats:
    """Values of the functions of a basis at the nodes, if they are orthonormal."""
    values = np.array([np.broadcast_to(f(law.nodes), law.nodes.shape) for f in basis], dtype=float)
    if not len(values) or not np.allclose(values[0], 1):
        raise ValueError("`basis` must begin with the constant 1, e.g. lambda z: 0*z + 1.")
    gram = (values * law.weights) @ values.T
    gap = np.abs(gram - np.eye(len(values)))
    if not gap.max() <= ORTHONORMAL:
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"`basis` must be orthonormal for {law.name}, got E[b_{i} b_{j}] = {gram[i, j]:.6g} "
            f"instead of {int(i == j)}; normalise the functions, or leave `basis` out for "
            f"orthonormal polynomials."
        )
    return values
