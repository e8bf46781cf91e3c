"""Letters: p and q expanded in functions that are orthonormal for the law of the input."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.types import EPS, SEED, Floats
from memcurve.state_affine.faults import fault
from memcurve.state_affine.laws import Law, projected
from memcurve.state_affine.network import StateAffineNetwork, no_mean
from memcurve.state_affine.tree import Outputs
from memcurve.state_affine.white import CHANGE, DRAWS, FEW_STATES

DEGREES = 64  # up to which infinite alphabets, as of √(1 − z²), are followed
NEAR = 1e3  # length of a function over that of what is new in it, above which rounding counts
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
    """The letters of a network in floating point; ``basis`` replaces polynomials."""
    law = network.input
    root = np.sqrt(law.weights)
    if network.is_polynomial and law.is_precise and basis is None:
        rows = C = C_size = polynomial_letters(law, len(network.functions))
    else:
        rows, C, C_size = orthonormal(network.values(law.nodes) * root)
    T, Q = np.tensordot(C, network.p, 1), C @ network.q
    size = np.tensordot(np.abs(C_size), np.abs(network.p), 1)
    sizes = size, np.abs(C_size) @ np.abs(network.q)
    mean, change = _mean(T[0], Q[0], sizes[0][0], sizes[1][0])
    r = T @ mean + Q
    r[0] = 0.0
    sizes[1][:] += size @ np.abs(mean) + np.abs(T) @ change
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


def _mean(A: Floats, b: Floats, size_A: Floats, size_b: Floats) -> tuple[Floats, Floats]:
    """μ = Aμ + b, and how far it moves, over ``CHANGE``, if A and b are changed by that share."""
    rng, eye = np.random.default_rng(SEED), np.eye(len(A))
    try:
        mean, moved = np.linalg.solve(eye - A, b), np.zeros_like(b)
        for _ in range(DRAWS if len(A) <= FEW_STATES else 1):
            near_A = A + CHANGE * size_A * rng.standard_normal(A.shape)
            near_b = b + CHANGE * size_b * rng.standard_normal(b.shape)
            moved = np.maximum(moved, np.abs(np.linalg.solve(eye - near_A, near_b) - mean))
    except np.linalg.LinAlgError as error:
        raise no_mean() from error
    return np.asarray(mean), moved / CHANGE


def polynomial_letters(law: Law, count: int) -> Floats:
    """C with z^i = Σ_k C[k, i] φ_k, by elimination in fractions: right to the last digit."""
    moments = [law.moment(k) for k in range(2 * count - 1)]
    gram, rows = [moments[k : k + count] for k in range(count)], list[list[float]]()
    for k in range(count):
        pivot = gram[k]
        if not pivot[k]:  # a law of finitely many values has no more
            break
        root = float(pivot[k]) ** 0.5
        rows.append([root * float(entry / pivot[k]) * (i >= k) for i, entry in enumerate(pivot)])
        for row in gram[k + 1 :]:
            share = row[k] / pivot[k]
            row[:] = [a - share * b for a, b in zip(row, pivot, strict=True)]
    return np.array(rows)


def orthonormal(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Orthonormal rows E, C with values = CᵀE, and sizes of which the rounding of C is a share."""
    rows, cancellation = list[Floats](), list[float]()
    C = np.zeros((len(values), len(values)))
    for i, value in enumerate(values):
        C[: len(rows), i], rest = projected(value, rows)
        length, whole = float(np.linalg.norm(rest)), max(float(np.linalg.norm(value)), 1e-300)
        C[np.abs(C[:, i]) < 8 * EPS * whole, i] = 0.0  # of odd and even functions
        if length > 64 * EPS * whole:
            C[len(rows), i] = length
            rows.append(rest / length)
            cancellation.append(whole / length)
    C = C[: len(rows)]
    # of functions that nearly depend on those before, rounding leaves less, in all directions
    leaks = np.where(np.array(cancellation) > NEAR, 8 * EPS / CHANGE * np.array(cancellation), 0.0)
    return np.array(rows), C, np.abs(C) + np.outer(leaks, np.linalg.norm(values, axis=1))


def _checked(basis: Sequence[Callable[[Any], Any]], law: Law) -> Floats:
    """Values of the functions of a basis at the nodes, if they are orthonormal."""
    values = np.array([np.broadcast_to(f(law.nodes), law.nodes.shape) for f in basis], dtype=float)
    if not len(values) or not np.allclose(values[0], 1):
        raise ValueError("`basis` must begin with the constant 1, e.g. lambda z: 0*z + 1.")
    gram = (values * law.weights) @ values.T
    gap = np.abs(gram - np.eye(len(values)))
    if not gap.max() <= ORTHONORMAL:
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        facts = {"i": i, "j": j, "got": gram[i, j], "wanted": int(i == j)}
        raise ValueError(fault("basis", law=law.name, **facts))
    return values
