"""Whitening: W with W M Wᵀ ≈ I for a positive definite matrix M of balls."""

from __future__ import annotations

from typing import Any, NamedTuple

from memcurve.enclosure.balls import beside, block, identity, size_of, widened

#: W is corrected until W M Wᵀ is that close to the identity.
CLOSE = 2.0**-120
CORRECTIONS = 3


class Whitening(NamedTuple):
    """Exact W, the product W M, and δ ≥ ‖W M Wᵀ − I‖."""

    W: Any
    WM: Any
    delta: Any

    def inverse(self) -> Any:
        """M Wᵀ: equal to W⁻¹·(I + E) with ‖E‖ ≤ δ."""
        return self.WM.transpose()

    def slack(self) -> Any:
        """Bound ‖(W M Wᵀ)⁻¹ − I‖ by δ/(1 − δ)."""
        return (self.delta / (1 - self.delta)).upper()


def whitening(M: Any) -> Whitening | None:
    """Whiten M, which proves it positive definite; None if the precision does not suffice.

    W needs no proof of its own, only W M Wᵀ does: W is an approximate inverse Cholesky factor.
    """
    W = _inverse_factor(M.mid())
    for _ in range(CORRECTIONS):
        if W is None:
            return None
        WM = W * M
        product = WM * W.transpose()
        delta = size_of(product - identity(M.nrows()))
        if delta < CLOSE:
            return Whitening(W, WM, delta)
        if not delta < 0.5:
            return None
        again = _inverse_factor(product.mid())
        W = None if again is None else (again * W).mid()
    return None


def _inverse_factor(M: Any) -> Any | None:
    """L⁻¹ for M ≈ L Lᵀ by halves; None where M is not positive definite at this precision.

    With M = [[M₁, Xᵀ], [X, M₂]] and Y = X W₁ᵀ the Schur complement is M₂ − Y Yᵀ, and
    W = [[W₁, 0], [−W₂ Y W₁, W₂]].
    """
    from flint import arb_mat

    size = M.nrows()
    if size == 1:
        pivot = M[0, 0]
        return arb_mat([[pivot.rsqrt().mid()]]) if pivot > 0 else None
    half = size // 2
    upper, lower = range(half), range(half, size)
    first = _inverse_factor(block(M, upper, upper))
    if first is None:
        return None
    Y = (block(M, lower, upper) * first.transpose()).mid()
    second = _inverse_factor((block(M, lower, lower) - Y * Y.transpose()).mid())
    if second is None:
        return None
    corner = (second * (Y * first) * -1).mid()
    top = beside(first, arb_mat(half, size - half)).tolist()
    return arb_mat(top + beside(corner, second).tolist())


def in_white_coordinates(whitened: Whitening, A: Any, to: Whitening | None = None) -> Any:
    """V A W⁻¹ for the whiteners W and V (V = W unless given), with W⁻¹ = M Wᵀ (W M Wᵀ)⁻¹."""
    target = whitened if to is None else to
    product = (target.W * A) * whitened.inverse()
    return widened(product, (size_of(product) * whitened.slack()).upper())
