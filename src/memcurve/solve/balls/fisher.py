"""Fisher memory F_τ = Cᵀ(Aᵀ)^τ R⁻¹ A^τ C, R = Σ_j A^j (A^j)ᵀ, with proven errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.errors import UncertainResultError
from memcurve.result import Floats
from memcurve.solve.balls.arithmetic import energy, identity, krylov, solve_stein
from memcurve.solve.balls.general import rounded
from memcurve.solve.lags import MOST_DEFAULT_LAGS, Lags

FIRST_BITS, LAST_BITS = 192, 1 << 13
#: Radii, relative to the total, above which more bits are taken.
LARGEST_RADIUS = 2.0**-70


def enclose_fisher(A: Floats, C: Floats, lags: int | None) -> tuple[Floats, Floats, float, float]:
    """Fisher memory (lags, inputs) for unit noise and its error; the total and its error."""
    from flint import ctx

    bits = FIRST_BITS
    while bits <= LAST_BITS:
        with ctx.workprec(bits):
            found = _at_this_precision(A, C, lags)
        if found is not None:
            return found
        bits *= 2
    raise UncertainResultError(
        f"no enclosure was found with {LAST_BITS} bits; scale `A` further below spectral radius 1."
    )


def _at_this_precision(
    A: Floats, C: Floats, lags: int | None
) -> tuple[Floats, Floats, float, float] | None:
    from flint import arb_mat

    matrix, mask = arb_mat(A.tolist()), arb_mat(C.tolist())
    bound = energy(matrix)
    R = solve_stein(matrix, matrix, identity(len(A)), (bound, bound))
    G = solve_stein(matrix, matrix, mask * mask.transpose(), (bound, bound))
    count = lags or 4 * len(A) + 16
    try:
        total = R.solve(G).trace()
        while True:
            columns = krylov(matrix, mask, count)
            values = _inner(columns, R.solve(columns))
            summed = np.array([float(ball.mid()) for ball in values]).reshape(count, -1).sum(axis=1)
            listed = Lags(lags, 1.0)
            if listed.enough(summed / float(total.mid())):
                break
            count = min(2 * count, MOST_DEFAULT_LAGS)
    except ZeroDivisionError:
        return None
    wide = LARGEST_RADIUS * float(total.abs_upper())
    if any(not float(ball.rad()) <= wide for ball in (total, *values)):
        return None
    (middle,), (radius,) = rounded([total])
    memory, error = (part.reshape(count, -1)[: listed.count] for part in rounded(values))
    return memory, error, float(middle), float(radius)


def _inner(X: Any, Y: Any) -> list[Any]:
    """Inner products of the columns of two matrices."""
    from flint import arb

    rows, columns = range(X.nrows()), range(X.ncols())
    return [sum((X[i, j] * Y[i, j] for i in rows), arb(0)) for j in columns]
