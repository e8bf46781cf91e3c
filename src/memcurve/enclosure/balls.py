"""Small tools for matrices of balls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
