"""MatrixMarket files (.mtx): a matrix, listed entry by entry or in full."""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.core.arguments import LARGEST_EXACT_INTEGER
from memcurve.io.arrays import Array
from memcurve.io.text import content_lines

#: Numbers per entry, by the field of the first line.
_NUMBERS = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}


def open_market(file: Path) -> Array:
    """Open a matrix; scipy.io.mmread takes 1,5 for 1 and 1.5D3 for 1.5, and may end Python."""
    with file.open(encoding="utf-8", errors="replace") as stream:
        first = stream.readline()
    mark, kind, layout, field, symmetry = first.lower().split()
    if (mark, kind) != ("%%matrixmarket", "matrix") or layout not in ("array", "coordinate"):
        raise ValueError(f"unknown first line {first!r}")
    sizes = [int(size) for size in next(content_lines(file), (0, ""))[1].split()]
    rows, columns, *announced = sizes
    is_listed, is_half = layout == "coordinate", symmetry != "general"
    width = _NUMBERS[field] + 2 * is_listed

    def load() -> Any:
        from scipy.sparse import coo_array

        if is_listed:
            entries = announced[0]
        else:  # column after column, of half a matrix from the diagonal down
            first = int(symmetry == "skew-symmetric") if is_half else -rows * columns
            j, i = np.nonzero(np.tri(rows, columns, -first, dtype=bool).T)
            entries = len(i)
        lines = (line for _, line in islice(content_lines(file), 1, None))
        is_empty = entries == 0 or width == 0
        is_square = rows == columns or not is_half
        if entries < 0:
            raise ValueError(f"{entries} entries announced")
        numbers = np.zeros((0, width)) if is_empty else np.loadtxt(lines, ndmin=2, comments=None)
        if numbers.shape != (entries, width) or min(rows, columns) < 1 or not is_square:
            raise ValueError(
                f"{rows} x {columns}, {entries} entries of {width} numbers announced, got "
                f"{' x '.join(map(str, numbers.shape))}"
            )
        if is_listed:
            indices = numbers[:, :2].T - 1
            i, j = indices.astype(int)
            if (indices != (i, j)).any():
                raise ValueError(f"an index that is not whole, {indices[indices % 1 > 0][0] + 1}")
        values = np.ones(entries)
        if field != "pattern":
            values = numbers[:, 2 * is_listed]
        if field == "integer" and np.abs(values).max(initial=0) >= LARGEST_EXACT_INTEGER:
            raise ValueError("integers of 2**53 or beyond, which float64 may not represent")
        if field == "complex":
            values = values + 1j * numbers[:, -1]
        if is_half:
            mirrored = {"symmetric": values, "skew-symmetric": -values, "hermitian": values.conj()}
            off = i != j
            values = np.append(values, mirrored[symmetry][off])
            i, j = np.append(i, j[off]), np.append(j, i[off])
        matrix = coo_array((values, (i, j)), shape=(rows, columns))
        return matrix.tocsr() if is_listed else matrix.toarray()

    shape, dtype = (rows, columns), np.dtype(complex if field == "complex" else float)
    return Array("the matrix", shape, dtype, load, file=file, is_sparse=is_listed)
