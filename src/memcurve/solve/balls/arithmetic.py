"""Small tools for matrices of balls."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.solve.stein import MOST_DOUBLINGS, squarings
from memcurve.types import Floats


def size_of(matrix: Any) -> Any:
    """Upper bound on the Frobenius norm, an exact number."""
    return _length(entry.abs_upper() for entry in matrix.entries())


def spread_of(matrix: Any) -> Any:
    """Upper bound on the Frobenius norm of the radii."""
    return _length(entry.rad() for entry in matrix.entries())


def _length(numbers: Iterable[Any]) -> Any:
    """Upper bound on the root of the sum of squares."""
    from flint import arb, ctx

    with ctx.workprec(64):
        total = arb(0)
        for number in numbers:
            total += number * number
        return total.sqrt().upper()


def widened(matrix: Any, radius: Any) -> Any:
    """Add ``radius`` to the radius of every entry."""
    from flint import arb, arb_mat

    ball = arb(0, radius)
    rows, columns = matrix.nrows(), matrix.ncols()
    return arb_mat(rows, columns, [entry + ball for entry in matrix.entries()])


def block(matrix: Any, rows: Any, columns: Any) -> Any:
    """Rows and columns of a matrix, given as sequences of indices."""
    from flint import arb_mat

    chosen = [matrix[i, j] for i in rows for j in columns]
    return arb_mat(len(rows), len(columns), chosen)


def beside(*matrices: Any) -> Any:
    """Matrices of equal height side by side."""
    from flint import arb_mat

    tables = [matrix.tolist() for matrix in matrices]
    joined = [entry for rows in zip(*tables, strict=True) for row in rows for entry in row]
    return arb_mat(matrices[0].nrows(), sum(m.ncols() for m in matrices), joined)


def identity(size: int) -> Any:
    """The identity matrix."""
    return diagonal([1] * size)


def diagonal(values: Any) -> Any:
    """A diagonal matrix."""
    from flint import arb_mat

    values = list(values)
    matrix = arb_mat(len(values), len(values))
    for i, value in enumerate(values):
        matrix[i, i] = value
    return matrix


def exponent_of(number: Any) -> int:
    """An integer e with |number| ≤ 2^e ≤ 4·|number| or so, for an exact number that is not 0."""
    mantissa, exponent = number.man_exp()
    return int(mantissa).bit_length() + int(exponent)


def floats_of(matrix: Any, exponent: int = 0) -> Floats:
    """Midpoints times 2^−exponent, rounded to float64."""
    scaled = matrix.mid() * power_of_two(-exponent)
    return np.array([float(entry) for entry in scaled.entries()]).reshape(
        matrix.nrows(), matrix.ncols()
    )


def power_of_two(exponent: int) -> Any:
    """2^exponent, exact."""
    from flint import arb

    return arb((1, exponent))


def krylov(A: Any, start: Any, count: int, powers: list[Any] | None = None) -> Any:
    """[V, AV, A²V, …] with ``count`` powers, by doubling so that the balls stay small.

    ``powers`` holds A^(2^k), k = 0, 1, …, and is extended where needed.
    """
    powers = [A] if powers is None else powers
    columns, done, k = start, 1, 0
    while done < count:
        taken = min(done, count - done)
        whole = (
            columns
            if taken == done
            else block(columns, range(columns.nrows()), range(taken * start.ncols()))
        )
        columns = beside(columns, power_two(powers, k) * whole)
        done += taken
        k += 1
    return columns


def power_two(powers: list[Any], k: int) -> Any:
    """A^(2^k) from the list of such powers, which is extended where needed."""
    while len(powers) <= k:
        powers.append(powers[-1] * powers[-1])
    return powers[k]


def is_tight(matrix: Any, bits: int) -> bool:
    """Whether every radius is below 2^−bits."""
    limit = power_of_two(-bits)
    return all(entry.rad() < limit for entry in matrix.entries())


# --- Stein equations X − A X Bᵀ = Q with proven errors.
#
# An approximate solution X, however found, with residual R = Q − X + A X Bᵀ is off by
# Σ_k A^k R (B^k)ᵀ, whose entries are at most ‖R‖·√(Σ_k ‖A^k‖² · Σ_k ‖B^k‖²) (Frobenius norms).
# So the work is done in float64, by refining the residual some forty bits at a time, and the proof
# is one residual in balls. The sums come from doubling, with few bits; they also prove stability.

UNSTABLE = (
    "the network is unstable: proven in ball arithmetic, an eigenvalue that the input or the noise "
    "excites has modulus ≥ 1. Scale `A` below spectral radius 1."
)
_UNDECIDED = (
    "no enclosure was found: the spectral radius is 1 or so close to it that the memory of the "
    "states lasts more than 2^72 steps. Scale `A` further below 1."
)


class TooWideError(UncertainResultError):
    """The balls of a matrix are too wide to tell: it must be known to more bits."""


def energy(A: Any, *, first_bits: int = 128, last_bits: int = 1 << 13) -> Any:
    """Upper bound on Σ_{k≥0} ‖A^k‖², which is finite iff A is stable.

    With ‖A^m‖ ≤ ½ the terms from k = m on are at most ‖A^m‖²/(1 − ‖A^m‖²) times those before, and
    Σ_{k<2m} A^k(A^k)ᵀ = G + A^m G (A^m)ᵀ doubles a sum G over k < m. An eigenvalue outside the
    unit circle is proven by |tr A^m| > n. Precision is doubled from ``first_bits`` up to
    ``last_bits``. Raises TooWideError where A should have smaller balls.
    """
    from flint import ctx

    bits = first_bits
    while bits <= last_bits:
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
    raise TooWideError(_UNDECIDED)


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


def solve_stein(A: Any, B: Any, Q: Any, energies: tuple[Any, Any], *, least_gain: int = 6) -> Any:
    """Enclose X = Σ_k A^k Q (B^k)ᵀ at the current precision, given the energies of A and B.

    A refinement step that gains fewer bits than ``least_gain`` is not worth its time.
    """
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
        if after * power_of_two(least_gain) > before:
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
    with np.errstate(all="ignore"), contextlib.suppress(UncertainResultError):
        for left, right, rest in squarings(A, B):
            powers.append((left, right))
            if rest <= 1:
                return powers
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


# --- Whitening: W with W M Wᵀ ≈ I for a positive definite matrix M of balls.


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


def whitening(M: Any, *, close: float = 2.0**-120, corrections: int = 3) -> Whitening | None:
    """Whiten M, which proves it positive definite; None if the precision does not suffice.

    W needs no proof of its own, only W M Wᵀ does: W is an approximate inverse Cholesky factor,
    corrected until W M Wᵀ is that ``close`` to the identity.
    """
    W = _inverse_factor(M.mid())
    for _ in range(corrections):
        if W is None:
            return None
        WM = W * M
        product = WM * W.transpose()
        delta = size_of(product - identity(M.nrows()))
        if delta < close:
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
