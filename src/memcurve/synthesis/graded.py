"""White coordinates x = Tξ whose smallest directions keep their digits.

G = TTᵀ, and the singular values of T are known to relative accuracy where eigenvalues of G lose
every digit: columns of T are graded, and one-sided Jacobi rotations respect that. T comes from the
eigenvectors, T = V diag(c) Φ, with the orthonormal rational functions Φ_ik = φ_k(λ_i) of the poles
in Leja's order (Takenaka and Malmquist), which make it lower triangular; or from the input-normal
realization of :func:`memcurve.input_normal`, where eigenvectors are nearly parallel.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, SEED, Complexes, Floats
from memcurve.network import LinearNetwork
from memcurve.solve import Analysis, input_normal_realization
from memcurve.synthesis.directions import SAFETY, directions_of, rounded_network

#: Where no way leads to all directions, those above this share of the mask are. Doubled: fewer.
FAR_BELOW = 1e-8
#: Eigenvectors of a larger condition number are not used. Doubled: nothing, errors tell.
WORST_VECTORS = 1e10


def jacobi(M: Floats) -> tuple[Floats, Floats]:
    """Singular values, largest first, and right singular vectors, each to relative accuracy.

    By LAPACK's dgejsv, rows and columns in any scale.
    """
    from scipy.linalg.lapack import dgejsv

    unit = int(np.frexp(np.abs(M).max(initial=0.0))[1])
    M = np.ldexp(M, -unit)
    wide = len(M) < M.shape[1]
    tall = np.asfortranarray(M.T if wide else M)
    values, U, V, work, _, info = dgejsv(tall, joba=2, jobu=0, jobv=0, jobr=0, jobt=0, jobp=0)
    if info != 0 or not np.isfinite(values).all():
        raise UncertainResultError(f"LAPACK's dgejsv ends with info = {info}.")
    sigma = values * (work[0] / work[1])
    order = np.argsort(-sigma, kind="stable")
    vectors = (U[:, : len(sigma)] if wide else V)[:, order]
    return np.ldexp(sigma[order], unit), np.asarray(vectors)


def singular_values(M: Floats | Complexes) -> Floats:
    """The same without vectors, also of complex matrices: their real form has each value twice."""
    if np.iscomplexobj(M):
        return jacobi(np.block([[M.real, -M.imag], [M.imag, M.real]]))[0][::2]
    return jacobi(np.asarray(M, dtype=float))[0]


def leja_order(poles: Complexes) -> Any:
    """The poles one by one, each where the orthonormal functions of those before are largest."""
    weights = -np.log((1 - np.abs(poles)) * (1 + np.abs(poles)))
    left, order = np.arange(len(poles)), list[int]()
    while len(left):
        best = int(np.argmax(weights))
        chosen = int(left[best])
        order.append(chosen)
        left, weights = np.delete(left, best), np.delete(weights, best)
        p, rest = poles[chosen], poles[left]
        with np.errstate(divide="ignore"):
            weights = weights + 2 * np.log(np.abs((rest - p) / (1 - np.conj(p) * rest)))
    return np.array(order)


def rational_basis(poles: Complexes) -> Complexes:
    """Φ_ik = φ_k(λ_i), lower triangular for poles in this order."""
    n = len(poles)
    basis, passed = np.zeros((n, n), complex), np.ones(n, complex)
    for k, p in enumerate(poles):
        below = 1 - np.conj(p) * poles
        basis[:, k] = passed * np.sqrt((1 - abs(p)) * (1 + abs(p))) / below
        passed = passed * (poles - p) / below
        passed[: k + 1] = 0
    return basis


def modal_parts(analysis: Analysis) -> tuple[Complexes, Complexes, Complexes]:
    """Poles in Leja's order, their eigenvectors (states, n), and the excitation of each."""
    A, C = analysis.A, analysis.C
    if analysis.inputs > 1 or analysis.rank < len(analysis):
        raise UncertainResultError("some modes are not excited, or by several inputs.")
    if np.array_equal(A, A.T):
        values, V = np.linalg.eigh(A)
        c = V.T @ C[:, 0]
    else:
        values, V = np.linalg.eig(A)
        if not np.linalg.cond(V) < WORST_VECTORS:
            raise UncertainResultError("eigenvectors are nearly parallel.")
        c = np.linalg.solve(V, C[:, 0])
    order = leja_order(values.astype(complex))
    return values[order].astype(complex), V[:, order].astype(complex), c[order].astype(complex)


def _by_modes(analysis: Analysis) -> Complexes | Floats:
    values, V, c = modal_parts(analysis)
    T = (V * c) @ rational_basis(values)
    return np.ascontiguousarray(T.real) if not values.imag.any() and not V.imag.any() else T


def _by_responses(analysis: Analysis) -> Floats:
    return input_normal_realization(analysis)[2]


def state_maps(network: LinearNetwork) -> list[Any]:
    """Maps T (states that are reached, n) in the network's own units, one for each way to it."""
    analysis, found = Analysis.of(network), []
    for way in (_by_modes, _by_responses):
        with contextlib.suppress(UncertainResultError), np.errstate(all="ignore"):
            T = way(analysis)
            scale = np.ldexp(1.0, analysis.exponents)[:, None]
            found.append((way.__name__, T * scale))
    if not found:  # the larger directions alone, to rounding of the largest
        whole = network.replace(readout=None)
        level = FAR_BELOW * float(np.linalg.norm(analysis.mask))
        rows = directions_of(whole, level, seen=1.0).rows(whole)
        found.append(("directions", rows[analysis.nodes]))
    return found


def measured(
    network: LinearNetwork, compute: Callable[[LinearNetwork], dict[str, Floats]]
) -> tuple[Floats, Floats]:
    """Positive numbers by several ways, of which the one that rounding moves least; its errors.

    Errors are relative: the largest change of a logarithm among networks rounded at random.
    """
    rng, base = np.random.default_rng(SEED), compute(network)
    others = [compute(rounded_network(network, rng)) for _ in range(3)]
    best: tuple[Floats, Floats] | None = None
    for way, values in base.items():
        alike = [o[way] for o in others if way in o]
        if len(alike) < len(others):
            continue
        values = values[: min(map(len, alike))]
        with np.errstate(all="ignore"):
            changes = [np.log(one[: len(values)]) - np.log(values) for one in alike]
            change = np.where(values > 0, np.abs(changes).max(axis=0), 0.0)
        error = np.where(np.isfinite(change), SAFETY * change, np.inf) + 16 * EPS
        if best is None or float(error.max()) < float(best[1].max()):
            best = values, error
    if best is None:
        raise UncertainResultError(
            "no white coordinates in floating point: rounding hides which directions are "
            "controllable; ask for a part of the network, or for usable memory at some noise."
        )
    return best
