"""Poles ↔ Schur parameters ↔ networks with white states.

An all-pass filter of degree n is equivalent to its n Schur parameters γ_0 … γ_{n−1}, any numbers in
(−1, 1), and a last γ_n = ±1: b_k is γ_k·Π_{i<k}(1 − γ_i²) and a function of the parameters before.
With Θ_k = [[γ_k, ρ_k], [ρ_k, −γ_k]], ρ_k = √(1 − γ_k²), the five-diagonal (CMV) matrix::

    U = (Θ_0 ⊕ Θ_2 ⊕ …)(1 ⊕ Θ_1 ⊕ Θ_3 ⊕ …)

is orthogonal, and without its first row and column a network with these poles: at most four weights
a node, one driven node, AAᵀ + CCᵀ = I. Rounding of γ can change the curve, never the stability.
"""

from typing import Any

import numpy as np

from memcurve.core.types import EPS, Complexes, Floats
from memcurve.solve import section_poles, system_matrix


def schur_parameters(poles: Complexes) -> Floats:
    """γ_0 … γ_n of the all-pass filter with these poles, by reflections and rotations alone."""
    from scipy.linalg import hessenberg

    H = np.asarray(hessenberg(system_matrix(section_poles(poles))))
    n = len(poles)
    signs = np.ones(n + 1)
    for k in range(n):  # subdiagonals are to be positive, as those of Θ are
        signs[k + 1] = signs[k] * (np.sign(H[k + 1, k]) or 1.0)
    H = signs[:, None] * H * signs
    parameters = np.empty(n + 1)
    for k in range(n):
        cosine, sine = H[k : k + 2, k] / np.hypot(*H[k : k + 2, k])
        parameters[k] = cosine
        H[k : k + 2, k:] = np.array([[cosine, sine], [sine, -cosine]]) @ H[k : k + 2, k:]
    parameters[n] = np.sign(H[n, n])
    parameters[np.abs(parameters) < EPS] = 0.0  # rounding noise would give badly scaled weights
    return parameters


def banded(parameters: Floats) -> tuple[Floats, Floats]:
    """The five-diagonal network (A, C) of Schur parameters."""
    from scipy.linalg import block_diag

    blocks: list[Any] = [*_rotations(parameters), parameters[-1:, None]]
    U = block_diag(*blocks[::2]) @ block_diag([[1.0]], *blocks[1::2])
    return U[1:, 1:].copy(), U[1:, 0].copy()


def dense(parameters: Floats) -> tuple[Floats, Floats]:
    """The Hessenberg network (A, C) of Schur parameters: full above its first subdiagonal."""
    U = np.eye(len(parameters))
    for k, rotation in enumerate(_rotations(parameters)):
        U[:, k : k + 2] = U[:, k : k + 2] @ rotation
    U[:, -1] *= parameters[-1]
    return U[1:, 1:].copy(), U[1:, 0].copy()


def _rotations(parameters: Floats) -> Floats:
    """Θ_0 … Θ_{n−1}."""
    inner = parameters[:-1]
    rho = np.sqrt((1 - inner) * (1 + inner))
    return np.array([[inner, rho], [rho, -inner]]).transpose(2, 0, 1)


def rounded(parameters: Floats, bits: int) -> Floats:
    """The parameters as signed numbers of so many bits, strictly between −1 and 1."""
    step = 2.0 ** (1 - bits)
    inner = np.clip(np.round(parameters[:-1] / step) * step, step - 1, 1 - step)
    return np.append(inner, parameters[-1])
