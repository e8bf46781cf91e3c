"""Sweeps as files that others read; each is written whole or not at all, with its provenance."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memcurve.optional import optional
from memcurve.writing import plain, replacing

if TYPE_CHECKING:
    from memcurve.sweeping.results import Sweep

FilePath = str | os.PathLike[str]


def write_csv(sweep: Sweep, path: FilePath) -> None:
    """Rows with a head; ``pandas.read_csv(path, comment="#")`` reads them back."""
    table = _with_curves(sweep)
    lines = [
        f"# {key}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in sweep.provenance.items()
    ]
    lines.append(",".join(table))
    lines += [",".join(map(_cell, cells)) for cells in zip(*table.values(), strict=True)]
    with replacing(path) as stream:
        stream.write(("\n".join(lines) + "\n").encode())


def write_parquet(sweep: Sweep, path: FilePath) -> None:
    """Rows and curves; the metadata of the schema has the provenance under ``memcurve``."""
    pa = optional("pyarrow", "writing Parquet", "files")
    parquet = optional("pyarrow.parquet", "writing Parquet", "files")
    table = pa.table(_with_curves(sweep))
    metadata = {"memcurve": json.dumps(sweep.provenance, ensure_ascii=False)}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **metadata})
    with replacing(path) as stream:
        parquet.write_table(table, stream)


def write_netcdf(sweep: Sweep, path: FilePath) -> None:
    """The Dataset of :meth:`Sweep.to_xarray`, in netCDF 4."""
    optional("h5netcdf", "writing netCDF", "frames")
    content = sweep.to_xarray()
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "sweep.nc"
        content.to_netcdf(draft, engine="h5netcdf")
        with replacing(path) as stream, draft.open("rb") as written:
            shutil.copyfileobj(written, stream)


def write_json(sweep: Sweep, path: FilePath) -> None:
    """Everything there is."""
    with replacing(path) as stream:
        stream.write(json.dumps(content(sweep), ensure_ascii=False, allow_nan=False).encode())


def content(sweep: Sweep) -> dict[str, Any]:
    """The provenance and all rows, as JSON has them."""
    return {
        **plain(sweep.provenance),
        "counts": sweep.counts,
        "rows": [plain(vars(row)) for row in sweep.rows],
    }


#: What :func:`export` writes, by the ending of the file.
WRITERS: dict[str, Callable[[Sweep, FilePath], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".nc": write_netcdf,
    ".json": write_json,
}


def require_writer(path: FilePath) -> Callable[[Sweep, FilePath], None]:
    """The function that writes a file of this name."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise ValueError(
            f"`path` must end in one of {', '.join(WRITERS)}, got {os.fspath(path)!r}."
        )
    return WRITERS[ending]


#: Packages without which a file of some ending cannot be written, and the extras that have them.
_NEEDED = {
    ".parquet": (("pyarrow", "writing Parquet", "files"),),
    ".nc": (("xarray", "writing netCDF", "frames"), ("h5netcdf", "writing netCDF", "frames")),
}


def require_libraries(path: FilePath) -> None:
    """Raise where a package that writes this file is missing."""
    for package, purpose, extra in _NEEDED.get(Path(path).suffix.lower(), ()):
        optional(package, purpose, extra)


def export(sweep: Sweep, path: FilePath) -> None:
    """Write a sweep to a file; the ending of its name chooses the format."""
    require_writer(path)(sweep, path)


def _with_curves(sweep: Sweep) -> dict[str, list[Any]]:
    table = sweep.columns()
    if any(row.curve for row in sweep.rows):
        table["memory"] = [None if row.curve is None else row.curve["values"] for row in sweep.rows]
    return table


def _cell(value: Any) -> str:
    """A cell; what could be taken for the end of it, or for a comment, stands in quotes."""
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    text = json.dumps(value) if isinstance(value, list) else str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"#\r\n') else text
