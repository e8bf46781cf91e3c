"""MatrixMarket files (.mtx) → one dense or sparse array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def read_mtx(file: Path) -> Any:
    """Read MatrixMarket; scipy.io.mmread crashes Python on long or cut numbers (scipy #19949)."""
    from scipy.sparse import coo_array

    lines = file.read_text("utf-8", errors="replace").split("\n")
    mark, thing, layout, field, symmetry = lines[0].lower().split()
    tokens = [part for line in lines[1:] if line.lstrip()[:1] != "%" for part in line.split()]
    listed, half, strict = layout != "array", symmetry != "general", symmetry == "skew-symmetric"
    if (mark, thing) != ("%%matrixmarket", "matrix") or layout not in ("array", "coordinate"):
        raise ValueError(f"unknown first line {lines[0]!r}")
    rows, columns = map(int, tokens[:2])
    entries = int(tokens[2]) if listed else rows * (rows + 1 - 2 * strict) // 2
    entries = entries if listed or half else rows * columns
    width = {"pattern": 0, "real": 1, "double": 1, "integer": 1, "complex": 2}[field]
    step = width + 2 * listed
    tokens = tokens[2 + listed :]
    if step == 0 or len(tokens) != entries * step or (half and rows != columns):
        raise ValueError(f"{rows} x {columns}, {entries} entries announced, {len(tokens)} numbers")
    if listed:
        i, j = (np.array([int(index) - 1 for index in tokens[at::step]], int) for at in (0, 1))
    else:  # column after column
        j, i = np.triu_indices(rows, strict) if half else np.indices((columns, rows)).reshape(2, -1)
    read = int if field == "integer" else float
    values = np.array([read(value) for value in tokens[2 * listed :: step]]) if width else i * 0 + 1
    if width == 2:
        values = values + 1j * np.array([float(value) for value in tokens[step - 1 :: step]])
    if half:
        mirrored = {"symmetric": values, "skew-symmetric": -values, "hermitian": values.conj()}
        off = i != j
        values = np.append(values, mirrored[symmetry][off])
        i, j = np.append(i, j[off]), np.append(j, i[off])
    array = coo_array((values, (i, j)), shape=(rows, columns))
    return array.tocsr() if listed else array.toarray()
