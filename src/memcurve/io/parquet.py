"""Parquet files: columns by name, read by pyarrow a batch of rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.optional import optional
from memcurve.io.arrays import BLOCK, Blocks, Columns, NetworkFileError

#: A page of each column is held at a time (about 1 MB, packed and unpacked), no row group.
_SPARING = {"pre_buffer": False, "buffer_size": 2**16}
#: Types of columns that hold real numbers.
_REAL = ("is_integer", "is_floating", "is_boolean", "is_decimal")


def open_parquet(file: Path) -> Columns:
    """Open the columns of a file; empty fields are NaN."""
    parquet = optional("pyarrow.parquet", f"{file}: reading it", "files")
    types = optional("pyarrow", f"{file}: reading it", "files").types
    with parquet.ParquetFile(file) as opened:
        schema, groups = opened.schema_arrow, opened.metadata
        ends = np.cumsum([groups.row_group(k).num_rows for k in range(groups.num_row_groups)])
        length = int(groups.num_rows)
    if len({*schema.names}) < len(schema.names):
        twice = Counter(schema.names).most_common(1)[0][0]
        raise NetworkFileError(f"{file}: has several columns {twice!r}; rename them.")

    def read(columns: Sequence[int]) -> Blocks:
        names = [schema.names[column] for column in columns]
        for name in names:
            kind = schema.field(name).type
            if not any(getattr(types, is_kind)(kind) for is_kind in _REAL):
                raise NetworkFileError(
                    f"{file}: column {name!r} holds {kind}, not real numbers; convert it, or list "
                    f"the columns to read with state_names=[...]."
                )

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            first = int(np.searchsorted(ends, start, side="right"))
            skip = start - int(ends[first - 1] if first else 0)
            with parquet.ParquetFile(file, **_SPARING) as opened:
                for batch in opened.iter_batches(
                    batch_size=max(1, BLOCK // (8 * len(names))),
                    row_groups=range(first, len(ends)),
                    columns=names,
                ):
                    cut = min(skip, batch.num_rows)
                    skip -= cut
                    rows = batch.slice(cut)
                    parts = [rows.column(name).to_numpy(zero_copy_only=False) for name in names]
                    yield np.stack([np.asarray(part, float) for part in parts], axis=1)  # None: NaN

        return blocks

    return Columns(file, list(schema.names), length, len(schema.names), read)
