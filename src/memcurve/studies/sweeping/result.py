"""Sweep: all results of a study, as tables, arrays and files, with their provenance."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from memcurve.core.cells import columns_of_text, table
from memcurve.core.optional import optional
from memcurve.core.result import Result, replacing
from memcurve.studies.sweeping.conclusions import PROSE, concluded
from memcurve.studies.sweeping.pictures import draw
from memcurve.studies.sweeping.store import CaseResult, Store
from memcurve.studies.sweeping.studies import Named, Study
from memcurve.studies.sweeping.tables import CaseTable, aligned

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FilePath = str | os.PathLike[str]
#: Runs by number: the text of their study, and their provenance.
Runs = Mapping[int, tuple[str, dict[str, Any]]]
#: Rows of printed tables at most; files have all. Doubled: longer tables.
_SHOWN_GROUPS = 40


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(CaseTable, Result):  # type: ignore[override]
    """The results of all cases of a study.

    Attributes
    ----------
    name : str
        The name of the study.
    text : str
        The study as TOML, verbatim.
    rows : tuple of CaseResult
        One per case, in the order of the study: ``key``, ``case``, ``status`` (``"done"``,
        ``"failed"`` or ``"pending"``), ``values``, ``error``, ``seconds``, and the ``run`` and
        ``memcurve_version`` that computed it.
    runs : tuple of dict
        The runs that computed them, with their versions.

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

    FORMAT: ClassVar[str] = "memcurve.Sweep/2"
    DERIVED: ClassVar[tuple[str, ...]] = ("seeds", "counts", "notes")
    INDEXED: ClassVar[bool] = False

    name: str
    text: str
    runs: tuple[dict[str, Any], ...]
    rows: tuple[CaseResult, ...]

    @classmethod
    def open(cls, store: FilePath, study: Study | None = None) -> Sweep:
        """Read the results in a store.

        Parameters
        ----------
        store : path
            The file that :func:`memcurve.sweep` writes, which may still be running.
        study : Study, optional
            Whose cases; by default the study that was run last.
        """
        with Store.open(store, read_only=True) as opened:
            runs = opened.runs()
            if study is None:
                if not runs:
                    raise ValueError(f"{opened.path} holds no study; run the sweep first.")
                text, provenance = runs[max(runs)]
                study = Study.from_text(text, provenance.get("name", "study"))
            return cls.of(study, opened.rows(study.keyed), runs)

    @classmethod
    def of(cls, study: Study, rows: Iterable[CaseResult], runs: Runs) -> Sweep:
        """The rows of a study, with those of the runs that computed them."""
        rows = tuple(rows)
        # a run that found everything done has computed nothing, and is not among them
        computed = sorted({row.run for row in rows if row.run is not None})
        records = tuple({"run": run, **runs[run][1]} for run in computed)
        result = cls(study.name, study.text, records, rows)
        vars(result)["study"] = study  # which need not be read again
        return result

    @cached_property
    def study(self) -> Study:  # type: ignore[override]
        """The study."""
        return Study.from_text(self.text, self.name)

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """The rows of failed cases; their ``error`` says why."""
        return tuple(row for row in self.rows if row.status == "failed")

    @cached_property
    def provenance(self) -> Mapping[str, Any]:
        """Provenance of the numbers: the study's text, the runs and their versions, the seeds."""
        seeds = sorted({row.case["seed"] for row in self.rows if "seed" in row.case})
        record = {"name": self.name, "study": self.text, "runs": list(self.runs), "seeds": seeds}
        return {"format": self.FORMAT, **record}

    @property
    def sentence(self) -> str:
        """The result in one sentence.

        Failed and pending cases are excluded, and the sentence says so.
        """
        missing = len(self) - self.counts["done"]
        if missing == len(self):
            return PROSE["none"]
        without = PROSE["without"].format(missing=missing, cases=len(self))
        return concluded(self.finished) + without * bool(missing)

    def plot(self, ax: Axes | None = None, *, quantity: str | None = None) -> Axes:
        """Draw the kept quantities against the axes of the study.

        Lines over the first axis of numbers, with the number of states as a dashed line, else bars;
        colours for the other axes, as far as they can be distinguished. Bands and whiskers are the
        range of all cases that share a point.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        quantity : str, optional
            The quantity to draw; by default the one that varies most clearly.
        """
        return draw(self, quantity, ax)

    def _attributes(self) -> Mapping[str, Any]:
        return self.provenance

    def to_xarray(self) -> Any:
        """An xarray Dataset over the axes of the study.

        NaN where a case failed or is pending. ``.sel({"method": "exact"})`` selects; as a keyword,
        ``method`` is xarray's own. ``.to_netcdf`` writes a file.
        """
        xr = optional("xarray", "this", "frames")
        table = self.columns()
        coordinates = {}
        for axis, values in self.study.axes.items():  # the rows are in the order of the study
            if len(values) > 1:
                shown = aligned(axis, [v.label if isinstance(v, Named) else v for v in values])
                coordinates[axis] = np.array(shown, object if isinstance(shown[0], str) else None)
        sizes = [len(values) for values in coordinates.values()]
        columns = {name: np.array(table[name], float) for name in (*self.quantities, "seconds")}
        for name in ("status", "error", "memcurve_version"):
            columns[name] = np.array([word or "" for word in table[name]], object)
        variables = {name: (tuple(coordinates), c.reshape(sizes)) for name, c in columns.items()}
        record = {"title": self.study.title, **self.provenance}
        attributes = {
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in record.items()
        }
        return xr.Dataset(variables, coordinates, attributes)

    def save(self, path: FilePath) -> None:
        """Write the sweep to a file, whole or not at all; its ending chooses the format.

        ``.json`` has everything, and :meth:`load` reads it back. ``.csv`` and ``.tex`` have all
        rows as text, with the provenance and the notes in a file beside it, of the same name and
        ``.json``.
        """
        super().save(path)
        if Path(path).suffix.lower() != ".json":
            record = {**self.provenance, "notes": self.notes}
            with replacing(f"{os.fspath(path)}.json") as stream:
                stream.write(json.dumps(record, indent=1, ensure_ascii=False).encode())

    def _derived(self) -> dict[str, Any]:
        notes = [{"kind": note.kind, "text": note} for note in self.notes]
        return {"seeds": self.provenance["seeds"], "counts": self.counts, "notes": notes}

    def __len__(self) -> int:
        return len(self.rows)

    def _head(self) -> str:
        return ", ".join(f"{n:,} {status}" for status, n in self.counts.items() if n) or "no cases"

    def __repr__(self) -> str:
        rows = columns_of_text(self.cells(_SHOWN_GROUPS))
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([f"<Sweep {self.name}: {self._head()}>", *rows, *notes])

    def _repr_html_(self) -> str:
        head, *body = self.cells(_SHOWN_GROUPS)
        title = f"<p><b>Sweep {escape(self.name)}</b>: {self._head()}</p>"
        return title + table(body, head, self.notes)
