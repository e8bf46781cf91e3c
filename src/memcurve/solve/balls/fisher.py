"""Fisher memory F_τ = Cᵀ(Aᵀ)^τ R⁻¹ A^τ C, R = Σ_j A^j (A^j)ᵀ, with proven errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.errors import UncertainResultError
from memcurve.solve.balls.arithmetic import energy, identity, krylov, solve_stein
from memcurve.solve.balls.general import rounded
from memcurve.solve.lags import MOST_DEFAULT_LAGS, Lags
from memcurve.types import Floats


def enclose_fisher(
    A: Floats, C: Floats, lags: int | None, *, first_bits: int = 192, last_bits: int = 1 << 13
) -> tuple[Floats, Floats, float, float]:
    """Fisher memory (lags, inputs) for unit noise and its error; the total and its error."""
    from flint import ctx

    bits = first_bits
    while bits <= last_bits:
        with ctx.workprec(bits):
            found = _at_this_precision(A, C, lags)
        if found is not None:
            return found
        bits *= 2
    raise UncertainResultError(
        f"no enclosure was found with {last_bits} bits; scale `A` further below spectral radius 1."
    )


def _at_this_precision(
    A: Floats, C: Floats, lags: int | None, *, largest_radius: float = 2.0**-70
) -> tuple[Floats, Floats, float, float] | None:
    """The same; None where some radius, relative to the total, is larger than that."""
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
    wide = largest_radius * float(total.abs_upper())
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
