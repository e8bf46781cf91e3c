"""Sweep: all rows of a study, as tables, arrays and files, with where they come from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memcurve.optional import optional
from memcurve.sweeping.axes import AXES, WHOLE
from memcurve.sweeping.columns import DEFAULTS, alike, case_columns
from memcurve.sweeping.fields import QUANTITIES
from memcurve.sweeping.notes import notes_on_values
from memcurve.sweeping.store import Row, Store
from memcurve.sweeping.studies import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Tables show so many rows; files have all.
_SHOWN_GROUPS = 40


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """What became of the cases of a study.

    Attributes
    ----------
    rows : tuple of Row
        One a case, in the order of the study: ``key``, ``case``, ``status`` (``"done"``,
        ``"failed"`` or ``"pending"``), ``values``, ``curve``, ``error``, ``seconds``, and the
        ``run`` and ``memcurve_version`` that computed it.
    study : Study or None
        None for cases that were given one by one.
    provenance : dict
        The study's text, the versions that computed it, the seeds.

    Examples
    --------
    >>> from memcurve import Study, sweep
    >>> study = Study.grid(ensemble="orthogonal", size=[5, 10], seed=[1, 2], keep="total")
    >>> result = sweep(study, None, executor="serial")
    >>> [(group["size"], group["count"], group["mean"]) for group in result.summary()]
    [(5, 2, 5.0), (10, 2, 10.0)]
    >>> result.to_pandas().shape[0]
    4
    """

    rows: tuple[Row, ...]
    study: Study | None
    provenance: Mapping[str, Any]

    @classmethod
    def open(cls, store: str | os.PathLike[str], study: Study | int | None = None) -> Sweep:
        """Read back the results in a store.

        Parameters
        ----------
        store : path
            The file that :func:`memcurve.sweep` wrote; it may still be at it.
        study : Study or int, optional
            Which of its studies, or the number of one; the latest by default.
        """
        if not os.path.isfile(store):
            raise FileNotFoundError(
                f"{os.fspath(store)}: there is no such store; check the path, or run the sweep."
            )
        from memcurve.sweeping.reading import read_sweep, study_number

        with Store.open(store, read_only=True) as opened:
            number = study_number(opened, study)
            return read_sweep(opened, number, study if isinstance(study, Study) else None)

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many cases are done, failed and pending."""
        found = Counter(row.status for row in self.rows)
        return {status: found.get(status, 0) for status in ("done", "failed", "pending")}

    @property
    def failed(self) -> tuple[Row, ...]:
        """The rows of failed cases; their ``error`` says why."""
        return tuple(row for row in self.rows if row.status == "failed")

    @property
    def name(self) -> str:
        """The name of the study."""
        return "cases" if self.study is None else self.study.name

    @cached_property
    def quantities(self) -> tuple[str, ...]:
        """What was kept, in the order of the documentation."""
        kept = {name for row in self.rows for name in row.case.get("keep", ())}
        return tuple(name for name in QUANTITIES if name in kept)

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """What varies between the cases."""
        if self.study is not None:
            return self.study.varied
        table = self.columns()
        return tuple(a for a in AXES if a in table and len({*map(str, table[a])}) > 1)

    def columns(self) -> dict[str, list[Any]]:
        """All rows as columns of equal length: the case, its values, status, error and time.

        None stands for what a case leaves at its default, and for what is not known.
        """
        cases = [case_columns(row.case, self.study) for row in self.rows]
        table: dict[str, list[Any]] = {}
        for axis in AXES:
            column = [case.get(axis) for case in cases]
            varied = self.study is not None and axis in self.study.varied
            if varied or any(value is not None for value in column):
                table[axis] = alike(DEFAULTS.get(axis), column)
        for name in self.quantities:
            table[name] = [(row.values or {}).get(name) for row in self.rows]
        for name in ("status", "error", "seconds", "run", "memcurve_version", "key"):
            table[name] = [getattr(row, name) for row in self.rows]
        return table

    def summary(self, quantities: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Count, mean, standard deviation, least and greatest, over the seeds.

        Returns
        -------
        list of dict
            One a quantity and combination of all axes but the seed, with the number of failed
            cases among them, and of those (``unknown``) that finished without a value.
            ``pandas.DataFrame(sweep.summary())`` is a table of them.
        """
        from memcurve.sweeping.summary import summary

        return summary(self, tuple(self.quantities if quantities is None else quantities))

    @property
    def sentence(self) -> str:
        """What the study found, in one sentence computed from the rows."""
        from memcurve.sweeping.conclusions import conclude

        return conclude(self)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the study's picture, see :func:`memcurve.sweeping.pictures.draw`."""
        from memcurve.sweeping.pictures import draw

        return draw(self, ax=ax)

    def to_pandas(self) -> Any:
        """A pandas DataFrame, one row a case; curves are left to the other formats."""
        pd = optional("pandas", "this", "frames")
        frame = pd.DataFrame(self.columns())
        for axis in WHOLE:  # pandas would make floats of them, which round seeds
            if axis in frame and frame[axis].hasnans:
                numbers = self.columns()[axis]
                frame[axis] = pd.array(numbers, dtype="Int64")
        frame.attrs.update(self.provenance)
        return frame

    def to_xarray(self) -> Any:
        """An xarray Dataset over the axes of a grid, else over the cases.

        ``found.sel({"method": "exact"})`` selects; as a keyword, ``method`` means something else.
        """
        from memcurve.sweeping.arrays import dataset

        return dataset(self)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all rows as text; lines of provenance before them begin with ``#``."""
        from memcurve.sweeping.exports import write_csv

        write_csv(self, path)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write all rows, and curves, to a Parquet file with the provenance in its metadata."""
        from memcurve.sweeping.exports import write_parquet

        write_parquet(self, path)

    def to_netcdf(self, path: str | os.PathLike[str]) -> None:
        """Write :meth:`to_xarray` to a netCDF file with the provenance among its attributes."""
        from memcurve.sweeping.exports import write_netcdf

        write_netcdf(self, path)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write all rows, curves and the provenance to a JSON file; floats keep every digit."""
        from memcurve.sweeping.exports import write_json

        write_json(self, path)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        counts = ", ".join(f"{n:,} {status}" for status, n in self.counts.items() if n)
        lines = [f"<Sweep {self.name}: {counts or 'no cases'}>"]
        head, *body = self._table()
        widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
        for cells in [head, *body] if body else []:
            padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
            lines.append("  ".join(padded).rstrip())
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes())])

    def _repr_html_(self) -> str:
        from html import escape

        head, *body = self._table()
        rows = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>"]
        rows += [f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in cells)}</tr>" for cells in body]
        counts = ", ".join(f"{n:,} {status}" for status, n in self.counts.items() if n)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes())
        return (
            f"<p><b>Sweep {escape(self.name)}</b>: {counts or 'no cases'}</p>"
            f"<table>{''.join(rows)}</table>" + (f"<ul>{notes}</ul>" if notes else "")
        )

    def _table(self) -> list[tuple[str, ...]]:
        from memcurve.sweeping.summary import cells

        return cells(self, most=_SHOWN_GROUPS)

    def notes(self) -> list[str]:
        """What one should know before quoting the numbers: what failed, what is missing."""
        notes = []
        if self.counts["failed"]:
            errors = Counter(row.error for row in self.failed)
            [(error, often)] = errors.most_common(1)
            others = f"; {len(errors) - 1} other errors" if len(errors) > 1 else ""
            count = self.counts["failed"]
            cases = "1 case failed and is" if count == 1 else f"{count:,} cases failed and are"
            notes.append(f"{cases} not counted; {often:,} ×: {error}{others}")
        if self.counts["pending"]:
            notes.append(f"{self.counts['pending']:,} cases are not computed yet")
        return [*notes, *notes_on_values(self)]
