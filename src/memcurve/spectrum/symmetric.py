"""Excitations of the modes of a symmetric A without its eigenvectors.

A reflection turns C into a multiple of the first unit vector e₁, and the reduction to tridiagonal
form leaves e₁ alone. There the eigenvectors' first entries q_k, the excitations, follow from the
eigenvalues λ and those μ of the matrix without its first row and column::

    q_k² = Π_j (λ_k − μ_j) / Π_{j≠k} (λ_k − λ_j)

The μ lie between the λ, so that in order of size all factors (λ_k − μ_j)/(λ_k − λ_j') are between 0
and 1: the product is as accurate as the differences are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memcurve.spectrum.sensitivity import EPS

Floats = NDArray[np.float64]

#: Squared excitations from differences are trusted up to this relative error.
LARGEST_ERROR = 0.01


def symmetric_modes(A: Floats, C: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, and the excitations |w*C| by unit eigenvectors w."""
    found = _by_interlacing(A, C) if len(A) > 2 and C.any() else None
    if found is not None:
        return found
    values, W = np.linalg.eigh(A)
    return values, np.abs(W.T @ C)


def _by_interlacing(A: Floats, C: Floats) -> tuple[Floats, Floats] | None:
    from scipy.linalg import lapack
    from scipy.linalg.blas import dsymv, dsyr2

    size, length = len(A), float(np.sqrt((C**2).sum()))
    h = C / length
    h[0] += 1.0 if h[0] >= 0 else -1.0
    h /= float(np.sqrt((h**2).sum()))
    # (I − 2hhᵀ)A(I − 2hhᵀ) = A − hwᵀ − whᵀ; A is its own transpose, in the order LAPACK wants
    w = dsymv(1.0, A.T, h, lower=1)
    w = 2 * (w - (h @ w) * h)
    reflected = dsyr2(-1.0, h, w, a=A.T, lower=1)
    lwork = int(lapack.dsytrd_lwork(size, lower=1)[0])
    _, diagonal, beside, _, _ = lapack.dsytrd(reflected, lower=1, lwork=lwork, overwrite_a=1)
    values, failed = lapack.dsterf(diagonal, beside)
    between, failed_too = lapack.dsterf(diagonal[1:], beside[1:])
    if failed or failed_too:
        return None
    above = np.abs(values[:, None] - between)
    # without the diagonal, each λ_j' stands next to the μ_j on the far side of λ_k
    apart = np.abs(values[:, None] - values)[~np.eye(size, dtype=bool)].reshape(size, size - 1)
    with np.errstate(all="ignore"):
        squares = np.prod(above / apart, axis=1)
        rounding = EPS * size**0.5 * float(np.abs(values).max())
        error = 4 * rounding * ((1 / above).sum(axis=1) + (1 / apart).sum(axis=1))
    if not float(error.max()) <= LARGEST_ERROR:
        return None
    return values, length * np.sqrt(np.minimum(squares, 1.0))
