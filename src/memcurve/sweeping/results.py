"""Sweep: all rows of a study, as tables, arrays and files, with where they come from."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memcurve.optional import optional
from memcurve.sweeping.axes import AXES, Named
from memcurve.sweeping.fields import QUANTITIES, label
from memcurve.sweeping.store import Row, Store
from memcurve.sweeping.studies import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "memcurve.Sweep/1"
#: The text of a study that is a list of cases begins so.
LISTED = "# cases given one by one"
#: Tables show so many rows; files have all.
_SHOWN_GROUPS = 40
_MOST_SEEDS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """What became of the cases of a study.

    Attributes
    ----------
    rows : tuple of Row
        One a case, in the order of the study: ``key``, ``case``, ``status`` (``"done"``,
        ``"failed"`` or ``"pending"``), ``values``, ``curve``, ``error`` and ``seconds``.
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
        with Store.open(store, read_only=True) as opened:
            return read_sweep(opened, _study_number(opened, study))

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
        named = self.study.axes.get("ensemble", ()) if self.study is not None else ()
        cases = [_case_columns(row.case, named) for row in self.rows]
        table: dict[str, list[Any]] = {}
        for axis in AXES:
            column = [case.get(axis) for case in cases]
            if any(value is not None for value in column):
                table[axis] = _alike(_DEFAULTS.get(axis), column)
        for name in self.quantities:
            table[name] = [(row.values or {}).get(name) for row in self.rows]
        for name in ("status", "error", "seconds", "key"):
            table[name] = [getattr(row, name) for row in self.rows]
        return table

    def summary(self, quantities: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Count, mean, standard deviation, least and greatest, over the seeds.

        Returns
        -------
        list of dict
            One a quantity and combination of all axes but the seed, with the number of failed
            cases among them. ``pandas.DataFrame(sweep.summary())`` is a table of them.
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
        return notes


def read_sweep(store: Store, number: int) -> Sweep:
    """The results of the study ``number`` of a store that is open."""
    text = next(text for known, text, _ in store.studies() if known == number)
    rows = tuple(store.rows(number))
    runs = store.provenances(number)
    name = next((run["name"] for run in reversed(runs) if "name" in run), "study")
    study = None if text.startswith(LISTED) else Study.from_text(text, name)
    seeds = sorted({row.case["seed"] for row in rows if "seed" in row.case})
    shown: Any = seeds
    if len(seeds) > _MOST_SEEDS:
        shown = {"from": seeds[0], "to": seeds[-1], "count": len(seeds)}
    provenance = {"format": FORMAT, "name": name, "study": text, "runs": runs, "seeds": shown}
    return Sweep(rows, study, provenance)


def _study_number(store: Store, study: Study | int | None) -> int:
    known = store.studies()
    if not known:
        raise ValueError(f"{store.path} holds no study; run the sweep first.")
    if study is None:
        return known[-1][0]
    if isinstance(study, int):
        if study not in [number for number, _, _ in known]:
            numbers = ", ".join(str(number) for number, _, _ in known)
            raise ValueError(f"`study` must be one of {numbers} in {store.path}; got {study}.")
        return study
    for number, text, _ in reversed(known):
        if text == study.text:
            return number
    raise ValueError(
        f"{store.path} has no results of study {study.name!r} as it is now; it holds "
        f"{len(known)} other(s). Run it, or leave `study` out for the latest."
    )


#: What a case means where it says nothing.
_DEFAULTS = {"noise": 0.0, "input": "white", "inputs": 1, "mask": "own"}


def _case_columns(case: Mapping[str, Any], named: Iterable[Named]) -> dict[str, Any]:
    columns = dict(case)
    options = case.get("ensemble_options", {})
    columns["ensemble"] = label(case["ensemble"], options)
    columns["method"] = label(case["method"], case.get("options", {}))
    known = columns | options
    for ensemble in named:  # a study may give a density, say, with the name of an ensemble
        if ensemble.name == case["ensemble"] and all(
            known.get(key) == value for key, value in ensemble.options.items()
        ):
            columns["ensemble"] = ensemble.label
    return columns


def _alike(default: Any, column: Sequence[Any]) -> list[Any]:
    """A column of one type, with the default where nothing is said: words where there are words."""
    filled = [default if value is None else value for value in column]
    if any(isinstance(value, str) for value in filled):
        return [v if v is None or isinstance(v, str) else f"{v:g}" for v in filled]
    return filled
