"""Sums over the powers of a matrix, by doubling: Stein equations and norms of powers.

X = A X Bᵀ + Q is the sum Σ_k A^k Q (B^k)ᵀ. X ← X + P X Rᵀ, P ← P², R ← R² adds as many terms as
there are already. Each step is a product of powers that have decayed, so nothing grows that does
not grow in the sum itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, TINY, Floats

#: Time constants beyond so many doublings, 2^72 steps, are taken for infinite. Doubled: networks on
#: the unit circle take twice as long to be told from others.
MOST_DOUBLINGS = 72


def squarings(
    A: Floats, B: Floats, *, negligible: float = 2.0**-60
) -> Iterator[tuple[Floats, Floats, float]]:
    """Yield A^(2^k), B^(2^k), k = 0, 1, …, and the product of the norms of those that come next.

    That is in units of what is ``negligible``: callers break where it is below one, and small for
    what they add to. A sum that never gets there raises UncertainResultError. Overflow is theirs to
    silence.
    """
    same = A is B
    for _ in range(MOST_DOUBLINGS):
        next_A = A @ A
        next_B = next_A if same else B @ B
        size = float(np.sqrt((next_A**2).sum() * (next_B**2).sum()))
        yield A, B, size / negligible
        if not np.isfinite(size):
            break
        A, B = next_A, next_B
    raise UncertainResultError(
        "a sum over the powers of `A` does not settle in floating point; scale `A` further below "
        "spectral radius 1."
    )


def solve_stein(A: Any, Q: Floats, B: Any = None) -> Floats:
    """Return X with X = A X Bᵀ + Q (B = A by default), for A and B of spectral radius below one.

    Terms are left out where they are below rounding of the smallest row and column: a state that is
    driven a million times less than others may be the only one that is read.
    """
    A = np.asarray(A)
    B = A if B is None else np.asarray(B)
    X: Floats = np.array(Q)
    with np.errstate(over="ignore", invalid="ignore"):
        for left, right, rest in squarings(A, B):
            X += left @ X @ right.T
            if rest <= 1 and rest <= _range(X):
                break
    return np.asarray((X + X.T) / 2 if A is B else X)


def _range(X: Floats) -> float:
    """Shortest row and column that are not zero, relative to the longest."""
    if not X.any():
        return 1.0
    squares = [(X**2).sum(axis=axis) for axis in (0, 1)]
    least = [length.min(where=length > 0, initial=np.inf) / length.max() for length in squares]
    return float(np.sqrt(least[0] * least[1]))


def _norm(A: Floats) -> float:
    """The spectral norm of A, by some steps of the power method and a margin."""
    x: Any = np.random.default_rng(len(A)).standard_normal(A.shape[1])
    size = 0.0
    for _ in range(12):
        y = A @ x
        size = float(np.sqrt(float(y @ y) / max(float(x @ x), TINY)))
        x = np.asarray(A.T @ y) / max(size, TINY)
    return 1.5 * size


def residual_norm(A: Floats, X: Floats, Q: Floats) -> float:
    """Bound r on the spectral norm of X − A X Aᵀ − Q, rounding in it included.

    The error of X is Σ_k A^k E (A^k)ᵀ with −r ≤ E ≤ r, and so lies between ∓r·Σ_k A^k (A^k)ᵀ as
    symmetric matrices do.
    """
    rest = X - A @ X @ A.T - Q
    growth = 1 + np.square(_norm(A))
    rounding = 8 * EPS * growth * np.sqrt((X**2).sum())
    return float(np.sqrt((rest**2).sum()) + rounding)
