"""Matrices of balls: norms, powers, Stein equations and whitening, each with a proven error.

Where the balls are too wide, a function raises :class:`TooWideError`, and :func:`with_rising_bits`
tries again with more bits.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.types import Floats
from memcurve.solve.powers import MOST_DOUBLINGS
from memcurve.solve.powers import solve_stein as solve_in_floats

#: Bits of a first try. Doubled: easy networks take twice as long.
FIRST_BITS = 192

Result = TypeVar("Result")
UNSTABLE = (
    "the network is unstable: proven in ball arithmetic, an eigenvalue that the input or the noise "
    "excites has modulus ≥ 1. Scale `A` below spectral radius 1."
)


class TooWideError(UncertainResultError):
    """The balls are too wide: more bits are needed."""


def with_rising_bits(
    attempt: Callable[[], Result], first: int, last: int = 2**15, *, growth: float = 1.6
) -> tuple[Result, int]:
    """The result of an attempt and the precision at which its balls were narrow enough."""
    from flint import ctx

    bits = first
    while bits <= last:
        with ctx.workprec(bits), contextlib.suppress(TooWideError):
            return attempt(), bits
        bits = int(growth * bits)
    raise TooWideError(
        f"no enclosure was found with {last} bits: the spectral radius is 1 up to that precision, "
        f"or the covariance of the states is too ill-conditioned. Scale `A` further below 1, add "
        f"observation noise, or read fewer states."
    )


def require(holds: Any) -> None:
    """Ask for more bits unless a comparison of balls holds for sure."""
    if not holds:
        raise TooWideError


def require_zero(rest: Any, rank: int) -> None:
    """Refuse networks of which a rank found modulo primes is proven wrong."""
    if not all(entry.contains(0) for entry in rest.entries()):
        raise UncertainResultError(
            f"the rank {rank} found modulo two primes is too low for this network, which is made "
            f"so that they fail; scale `C` by a factor that is no power of two."
        )


def solved(matrix: Any, right: Any) -> Any:
    """The solution of a linear system, unless the matrix may be singular."""
    try:
        return matrix.solve(right)
    except ZeroDivisionError:
        raise TooWideError from None


def inner(x: Sequence[Any], y: Sequence[Any]) -> Any:
    """Σ x_i y_i."""
    from flint import arb_mat

    return (arb_mat(1, len(x), x) * arb_mat(len(y), 1, y))[0, 0]


def norm(matrix: Any) -> Any:
    """Upper bound on the Frobenius norm, an exact number."""
    from flint import ctx

    with ctx.workprec(64):
        entries = matrix.entries()
        return inner(entries, entries).upper().sqrt().upper()


def spread(matrix: Any) -> Any:
    """Upper bound on the Frobenius norm of the radii."""
    return norm(matrix - matrix.mid())


def widened(matrix: Any, radius: Any) -> Any:
    """Add ``radius`` to the radius of every entry."""
    from flint import arb, arb_mat

    rows, columns = matrix.nrows(), matrix.ncols()
    return matrix + arb_mat(rows, columns, [arb(0, radius.upper())] * (rows * columns))


def columns_of(matrix: Any, columns: Iterable[int]) -> Any:
    """Some columns of a matrix of balls or residues."""
    return rows_of(matrix.transpose(), columns).transpose()


def rows_of(matrix: Any, rows: Iterable[int]) -> Any:
    """Some rows of a matrix of balls or residues."""
    table = matrix.tolist()
    chosen = [table[i] for i in rows]
    modulus = [matrix.modulus()] if hasattr(matrix, "modulus") else []
    entries = [entry for row in chosen for entry in row]
    return type(matrix)(len(chosen), matrix.ncols(), entries, *modulus)


def beside(*matrices: Any) -> Any:
    """Matrices of equal height side by side."""
    from flint import arb_mat

    rows = [row for matrix in matrices for row in matrix.transpose().tolist()]
    return arb_mat(rows).transpose()


def diagonal(values: Iterable[Any]) -> Any:
    """A diagonal matrix."""
    from flint import arb_mat

    values = list(values)
    matrix = arb_mat(len(values), len(values))
    for i, value in enumerate(values):
        matrix[i, i] = value
    return matrix


def power_of_two(exponent: int) -> Any:
    """2^exponent, exact."""
    from flint import arb

    return arb((1, exponent))


def floor_log2(number: Any) -> int:
    """⌊log₂|x|⌋ of the middle of a ball that is not around zero."""
    mantissa, exponent = number.mid().man_exp()
    return int(abs(mantissa)).bit_length() - 1 + int(exponent)


def rounded(balls: Sequence[Any], largest: float = np.inf) -> tuple[Floats, Floats]:
    """Midpoints of the balls, clipped to [0, largest], and upper bounds on the distance to them."""
    values = np.clip([float(ball.mid()) for ball in balls], 0.0, largest)
    pairs = zip(balls, values.tolist(), strict=True)
    bounds = [(ball - value).abs_upper() for ball, value in pairs]
    # only a difference that is exactly zero needs no room for the rounding of its bound
    error = [0.0 if bound == 0 else np.nextafter(float(bound), np.inf) for bound in bounds]
    return values, np.array(error)


class Powers:
    """A matrix F with its powers F^(2^k) and Σ_k ‖F^k‖², each computed when needed."""

    def __init__(self, F: Any) -> None:
        self.F = F
        self._squares = [F]

    def square(self, k: int) -> Any:
        """F^(2^k)."""
        while len(self._squares) <= k:
            self._squares.append(self._squares[-1] * self._squares[-1])
        return self._squares[k]

    def krylov(self, V: Any, count: int) -> Any:
        """[V, FV, F²V, …] with ``count`` powers, by doubling so that the balls stay small."""
        columns, wide, k = V, V.ncols(), 0
        while columns.ncols() < count * wide:
            few = min(columns.ncols(), count * wide - columns.ncols())
            columns = beside(columns, self.square(k) * columns_of(columns, range(few)))
            k += 1
        return columns

    @cached_property
    def energy(self) -> Any:
        """Upper bound on Σ_{k≥0} ‖F^k‖², which is finite iff F is stable.

        With ‖F^m‖ ≤ ½ later terms are at most ‖F^m‖²/(1 − ‖F^m‖²) times those before, and
        S + F^m S (F^m)ᵀ doubles a sum. |tr F^m| > n proves an eigenvalue outside.
        """
        from flint import ctx

        with ctx.workprec(128), contextlib.suppress(UncertainResultError, np.linalg.LinAlgError):
            return self._lyapunov_energy()
        return with_rising_bits(self._energy, 128, 2**13, growth=2)[0]

    def _lyapunov_energy(self) -> Any:
        """The same from a solution X of X − F X Fᵀ ≈ I in float64.

        With E = X − F X Fᵀ − I, ‖E‖ < 1, the sum over F^k(F^k)ᵀ is at most X/(1 − ‖E‖) where X > 0.
        It is, if X = L Lᵀ + D with ‖D‖·‖F‖² < 1 − ‖E‖.
        """
        from flint import arb_mat

        identity = np.eye(self.F.nrows())
        floats = solve_in_floats(floats_of(self.F), identity)
        X, L = (arb_mat(M.tolist()) for M in (floats, np.linalg.cholesky(floats)))
        E = norm(X - self.F * X * self.F.transpose() - diagonal([1] * X.nrows()))
        D, size = norm(X - L * L.transpose()), norm(self.F)
        require(E < 0.5 and D * size * size < 0.5)
        return (X.trace() / (1 - E)).upper()

    def _energy(self) -> Any:
        size, power = self.F.nrows(), self.F
        total = diagonal([1] * size)
        for _ in range(MOST_DOUBLINGS):
            if norm(power) <= 0.5:
                bound = total.trace().upper() / (1 - norm(power) * norm(power))
                require(bound.is_finite())
                return bound.upper()
            if power.trace().abs_lower() > size:
                raise UnstableNetworkError(UNSTABLE)
            require(spread(power) < 0.25)
            total += power * total * power.transpose()
            power = power * power
        raise UncertainResultError(
            "no enclosure was found: the spectral radius is 1 or so close to it that the memory of "
            "the states lasts more than 2^72 steps. Scale `A` further below 1."
        )


# --- Stein equations X − A X Bᵀ = Q with proven errors.
#
# An approximate solution X, however found, with residual R = Q − X + A X Bᵀ is off by
# Σ_k A^k R (B^k)ᵀ, whose entries are at most ‖R‖·√(Σ_k ‖A^k‖² · Σ_k ‖B^k‖²) (Frobenius norms).
# So the work is done in float64, by refining the residual some forty bits at a time, and the proof
# is one residual in balls. The sums come from doubling, with few bits; they also prove stability.


def solve_stein(A: Powers, B: Powers, Q: Any, *, least_gain: int = 6) -> Any:
    """Enclose X = Σ_k A^k Q (B^k)ᵀ; refinement steps gain ``least_gain`` bits at least."""
    from flint import arb_mat, ctx

    transposed, bound = B.F.transpose(), (A.energy * B.energy).sqrt()
    X, R, size = arb_mat(Q.nrows(), Q.ncols()), Q, norm(Q)
    target, wide = size * power_of_two(-ctx.prec), False
    while size > target:
        change = None if wide else _in_floats(A, B, R, size)
        if change is None:
            change, wide = _doubled(A.F, B.F, R), True
        rest = R - change + A.F * change * transposed
        before, after = size, norm(rest)
        if after < before:
            X, R, size = X + change, rest, after
        if not after * power_of_two(least_gain) <= before:
            if wide or spread(rest) * 4 > after:
                break
            wide = True  # only wider numbers would help
    return widened(X, bound * size)


def _in_floats(A: Powers, B: Powers, R: Any, size: Any) -> Any | None:
    """An approximate solution in float64, if the powers decay there; no proof."""
    from flint import arb_mat

    unit, left = power_of_two(floor_log2(size)), floats_of(A.F)
    right = left if A is B else floats_of(B.F)
    with contextlib.suppress(UncertainResultError):
        return arb_mat(solve_in_floats(left, floats_of(R, 1 / unit), right).tolist()) * unit
    return None


def floats_of(matrix: Any, scale: Any = 1) -> Floats:
    """Midpoints times a power of two, rounded to float64."""
    entries = [float(entry) for entry in (matrix.mid() * scale).entries()]
    return np.array(entries).reshape(matrix.nrows(), matrix.ncols())


def _doubled(A: Any, B: Any, Q: Any) -> Any:
    """The same by Smith's doubling in the current precision; no proof."""
    from flint import ctx

    X, left, right = Q.mid(), A.mid(), B.mid()
    for _ in range(MOST_DOUBLINGS):
        X = (X + left * X * right.transpose()).mid()
        left, right = (left * left).mid(), (right * right).mid()
        if norm(left) * norm(right) < power_of_two(-ctx.prec):
            break
    return X


# --- Whitening: W with W M Wᵀ ≈ I for a positive definite matrix M of balls.


class Whitening(NamedTuple):
    """Exact W, the product M Wᵀ, and a bound on ‖(W M Wᵀ)⁻¹ − I‖."""

    W: Any
    inverse: Any
    slack: Any

    def transformed(self, A: Any, to: Whitening | None = None) -> Any:
        """V A W⁻¹ for the whiteners W and V (V = W unless given), with W⁻¹ = M Wᵀ (W M Wᵀ)⁻¹."""
        product = ((to or self).W * A) * self.inverse
        return widened(product, norm(product) * self.slack)


def whitening(M: Any, close: float = 2.0**-120) -> Whitening:
    """Whiten M, which proves it positive definite: W M Wᵀ is that ``close`` to the identity."""
    W = _inverse_factor(M.mid())
    inverse = M * W.transpose()
    delta = norm(W * inverse - diagonal([1] * M.nrows()))
    require(delta < close)
    return Whitening(W, inverse, (delta / (1 - delta)).upper())


def _inverse_factor(M: Any) -> Any:
    """L⁻¹ for M ≈ L Lᵀ by halves.

    With M = [[M₁, Xᵀ], [X, M₂]] and Y = X W₁ᵀ the Schur complement is M₂ − Y Yᵀ, and
    W = [[W₁, 0], [−W₂ Y W₁, W₂]].
    """
    from flint import arb_mat

    size, half = M.nrows(), M.nrows() // 2
    if size == 1:
        require(M[0, 0] > 0)
        return arb_mat([[M[0, 0].rsqrt().mid()]])
    left, right = columns_of(M, range(half)), columns_of(M, range(half, size))
    lower = range(half, size)
    first = _inverse_factor(rows_of(left, range(half)))
    Y = (rows_of(left, lower) * first.transpose()).mid()
    second = _inverse_factor((rows_of(right, lower) - Y * Y.transpose()).mid())
    corner = (second * (Y * first) * -1).mid()
    top = beside(first, arb_mat(half, size - half)).tolist()
    return arb_mat(top + beside(corner, second).tolist())
