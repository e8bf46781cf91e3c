"""pyarrow: Feather and Parquet files, columns by name, and long blocks of text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.optional import optional
from memcurve.io.arrays import BLOCK, Array, Blocks, NetworkFileError, ending_of, fault_error

#: Files whose columns have names and types.
ARROW = (".feather", ".parquet")
#: Characters from which on a block of text is read by pyarrow, whose import takes 0.1 s.
_LONG = 2**17
#: A page of each column is held at a time (about 1 MB, packed and unpacked), no row group.
_SPARING = {"pre_buffer": False, "buffer_size": 2**16}
#: Types of columns that hold real numbers.
_REAL = ("is_integer", "is_floating", "is_boolean", "is_decimal")
#: What a table has where there is no value.
_EMPTY = ["", "NA", "N/A", "NaN", "nan", "na", "n/a", "null", "NULL", "None", "none"]


@dataclass(frozen=True)
class ArrowTable:
    """A Feather or Parquet file: the names of its columns, and its rows in batches."""

    file: Path
    names: list[str]
    kinds: list[Any]  # their types
    length: int

    def batches(self, names: Sequence[str], rows: int, start: int = 0) -> Iterator[Any]:
        """Some columns, in this order, about ``rows`` rows at a time, from a row on."""
        waiting, skip = list[Any](), start
        for batch in self._batches([*names], rows):
            cut = min(skip, batch.num_rows)
            skip -= cut
            waiting.append(batch.slice(cut).select([*names]))
            if sum(part.num_rows for part in waiting) >= rows:
                yield _joined(waiting)
                waiting = []
        if waiting:
            yield _joined(waiting)

    def _batches(self, names: list[str], rows: int) -> Iterator[Any]:
        if ending_of(self.file) == ".parquet":
            with _arrow("parquet", self.file).ParquetFile(self.file, **_SPARING) as opened:
                yield from opened.iter_batches(rows, columns=names)
            return
        ipc = _arrow("ipc", self.file)
        taken = ipc.IpcReadOptions(included_fields=[self.names.index(name) for name in names])
        with ipc.open_file(str(self.file), options=taken) as opened:
            yield from map(opened.get_batch, range(opened.num_record_batches))


def open_arrow(file: Path) -> ArrowTable:
    """Open a file by its ending; its columns are not read yet."""
    if ending_of(file) == ".parquet":
        with _arrow("parquet", file).ParquetFile(file) as opened:
            schema, length = opened.schema_arrow, opened.metadata.num_rows
    else:
        opened = _arrow("dataset", file).dataset(str(file), format="ipc")
        schema, length = opened.schema, opened.count_rows()
    names = list(schema.names)
    if len({*names}) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise NetworkFileError(f"{file}: has several columns {twice!r}; rename them.")
    return ArrowTable(file, names, list(schema.types), length)


def _arrow(part: str, file: Path) -> Any:
    return optional(f"pyarrow.{part}", f"{file}: reading it", "files")


def _joined(batches: list[Any]) -> Any:
    """Several batches as one; those of Feather files have 65,536 rows each."""
    return optional("pyarrow", "reading it", "files").Table.from_batches(batches).combine_chunks()


def distinct(column: Any) -> tuple[list[str], NDArray[Any]]:
    """The distinct entries of a column as text, empty for none, and the place of each entry."""
    encoded = column.combine_chunks().dictionary_encode()
    texts = [text.strip() for text in encoded.dictionary.cast("string").to_pylist()]
    places = encoded.indices.fill_null(len(texts)).to_numpy()
    return [*texts, ""] if encoded.null_count else texts, places


def open_columns(file: Path) -> Array:
    """Open a table of real numbers, such as a recording; empty fields are NaN."""
    table = open_arrow(file)
    types = optional("pyarrow", f"{file}: reading it", "files").types

    def read(columns: Sequence[int]) -> Blocks:
        names = [table.names[column] for column in columns]
        for name, kind in ((table.names[k], table.kinds[k]) for k in columns):
            if not any(getattr(types, is_kind)(kind) for is_kind in _REAL):
                raise fault_error(file, "files", "column", name=name, kind=kind)

        def blocks(start: int) -> Iterator[NDArray[Any]]:
            for batch in table.batches(names, max(1, BLOCK // (8 * len(names))), start):
                parts = [batch.column(name).to_numpy() for name in names]
                yield np.stack([np.asarray(part, float) for part in parts], axis=1)  # None: NaN

        return blocks

    shape, names = (table.length, len(table.names)), table.names
    return Array("the table", shape, np.dtype(float), file=file, names=names, select=read)


@cache
def _csv() -> Any | None:
    """The reader of text, where pyarrow is installed."""
    try:
        import_module("pyarrow.csv")
    except ImportError:
        return None
    return import_module("pyarrow")


def parsed_text(
    lines: Sequence[str],
    separator: str,
    decimal_point: str,
    width: int,
    numbers: Sequence[int],
    names: Sequence[int],
    has_empty: bool,
) -> Any | None:
    """Columns of some lines, float64 or text; None if they are few, or pyarrow rejects them."""
    joined = "\n".join(lines)
    if len(joined) < _LONG or f'{separator} "' in joined or "\0" in joined:
        return None
    if (arrow := _csv()) is None:
        return None
    kinds = {f"f{k}": arrow.float64() for k in numbers} | {f"f{k}": arrow.string() for k in names}
    data = joined.encode()
    try:
        table = arrow.csv.read_csv(
            arrow.py_buffer(data),
            arrow.csv.ReadOptions(
                block_size=len(data) + 1, column_names=[f"f{k}" for k in range(width)]
            ),
            arrow.csv.ParseOptions(delimiter=separator, ignore_empty_lines=False),
            arrow.csv.ConvertOptions(
                column_types=kinds,
                include_columns=[f"f{k}" for k in (*numbers, *names)],
                null_values=_EMPTY if has_empty else [],
                decimal_point=decimal_point,
            ),
        )
    except arrow.ArrowInvalid:
        return None
    return table if table.num_rows == len(lines) else None
