"""Stein equations X − A X Bᵀ = Q with proven errors.

An approximate solution X, however found, with residual R = Q − X + A X Bᵀ is off by
Σ_k A^k R (B^k)ᵀ, whose entries are at most ‖R‖·√(Σ_k ‖A^k‖² · Σ_k ‖B^k‖²) (Frobenius norms).
So the work is done in float64, by refining the residual some forty bits at a time, and the proof is
one residual in balls. The sums come from doubling, with few bits; they also prove stability.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.enclosure.balls import (
    Floats,
    exponent_of,
    floats_of,
    identity,
    power_of_two,
    size_of,
    spread_of,
    widened,
)
from memcurve.errors import UncertainResultError, UnstableNetworkError

#: Time constants beyond 2^72 steps are taken for infinite.
MOST_DOUBLINGS = 72
#: Bits of the balls that prove stability: the first try, and the last.
FIRST_BITS, LAST_BITS = 128, 1 << 13
#: A refinement step that gains fewer bits than this is not worth its time.
LEAST_GAIN = 6
UNSTABLE = (
    "the network is unstable: proven in ball arithmetic, an eigenvalue that the input or the noise "
    "excites has modulus ≥ 1. Scale `A` below spectral radius 1."
)
_UNDECIDED = (
    "no enclosure was found: the spectral radius is 1 or so close to it that the memory of the "
    "states lasts more than 2^72 steps. Scale `A` further below 1."
)


def energy(A: Any) -> Any:
    """Upper bound on Σ_{k≥0} ‖A^k‖², which is finite iff A is stable.

    With ‖A^m‖ ≤ ½ the terms from k = m on are at most ‖A^m‖²/(1 − ‖A^m‖²) times those before, and
    Σ_{k<2m} A^k(A^k)ᵀ = G + A^m G (A^m)ᵀ doubles a sum G over k < m. An eigenvalue outside the
    unit circle is proven by |tr A^m| > n.
    """
    from flint import ctx

    bits = FIRST_BITS
    while bits <= LAST_BITS:
        with ctx.workprec(bits):
            powers = _powers_until_half(A)
            if powers is not None:
                total = identity(A.nrows())
                for power in powers[:-1]:
                    total += power * total * power.transpose()
                last = size_of(powers[-1])
                bound = total.trace().upper() / (1 - last * last)
                if bound.is_finite():
                    return bound.upper()
        bits *= 2
    raise UncertainResultError(_UNDECIDED)


def _powers_until_half(A: Any) -> list[Any] | None:
    """A, A², A⁴, … until the norm is at most ½; None if the balls are too wide."""
    size, powers = A.nrows(), [A]
    while not size_of(powers[-1]) <= 0.5:
        power = powers[-1]
        if power.trace().abs_lower() > size:
            raise UnstableNetworkError(UNSTABLE)
        if not spread_of(power) < 0.25:
            return None
        if len(powers) > MOST_DOUBLINGS:
            raise UncertainResultError(_UNDECIDED)
        powers.append(power * power)
    return powers


def solve_stein(A: Any, B: Any, Q: Any, energies: tuple[Any, Any]) -> Any:
    """Enclose X = Σ_k A^k Q (B^k)ᵀ at the current precision, given the energies of A and B."""
    from flint import arb_mat, ctx

    transposed = B.transpose()
    powers = _float_powers(floats_of(A), floats_of(B))
    X, R, norm = arb_mat(Q.nrows(), Q.ncols()), Q, size_of(Q)
    target = norm * power_of_two(-ctx.prec)
    while norm > target:
        change = _float_step(powers, R, norm) if powers else None
        in_floats = change is not None
        if change is None:
            change = _doubled(A, B, R)
        rest = R - change + A * change * transposed
        before, after = norm, size_of(rest)
        if after < before:
            X, R, norm = X + change, rest, after
        if after * power_of_two(LEAST_GAIN) > before:
            if not in_floats or spread_of(rest) * 4 > after:  # only wider numbers would help
                break
            powers = []
    root = (energies[0] * energies[1]).sqrt()
    return widened(X, (root * norm).upper())


def _float_step(powers: list[tuple[Floats, Floats]], R: Any, norm: Any) -> Any | None:
    """Σ_k A^k R (B^k)ᵀ in float64, or None where that overflows."""
    from flint import arb_mat

    exponent = exponent_of(norm)
    step = floats_of(R, exponent)
    with np.errstate(all="ignore"):
        for left, right in powers:
            step = step + left @ step @ right.T
    if not np.isfinite(step).all():
        return None
    return arb_mat(step.tolist()) * power_of_two(exponent)


def _float_powers(A: Floats, B: Floats) -> list[tuple[Floats, Floats]]:
    """A^(2^k) and B^(2^k) until their effect is below rounding; empty if they do not get there."""
    powers = []
    with np.errstate(all="ignore"):
        for _ in range(MOST_DOUBLINGS):
            powers.append((A, B))
            effect = float(np.linalg.norm(A) * np.linalg.norm(B))
            if effect < 1e-18:
                return powers
            A, B = A @ A, B @ B
    return []


def _doubled(A: Any, B: Any, Q: Any) -> Any:
    """Smith's doubling in the current precision, for what float64 cannot resolve; no proof."""
    from flint import ctx

    X, left, right = Q.mid(), A.mid(), B.mid()
    for _ in range(MOST_DOUBLINGS):
        X = (X + left * X * right.transpose()).mid()
        left, right = (left * left).mid(), (right * right).mid()
        if size_of(left) * size_of(right) < power_of_two(-ctx.prec):
            break
    return X
