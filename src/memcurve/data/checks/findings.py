"""What checks of a recording find, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Level = Literal["error", "warning", "info"]

#: Rows of a recording that are too few for any of this.
LEAST = 20
EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Finding:
    """One thing to know about a recording: ``name`` for programs, the rest for people."""

    level: Level
    name: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message}; {self.remedy}"


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Sequence[Finding]):
    """What :func:`memcurve.check_recording` found: a sequence of :class:`Finding`, and figures.

    Attributes
    ----------
    kept : int array
        Columns that are neither constant nor an affine copy of an earlier one.
    step : float or None
        Largest quantisation step of a column.
    shift : int
        Steps by which the states are late (positive) or lead (negative).
    washout : int
        Rows to drop at the start, counted in the recording as it was passed.
    coloured : bool
        Whether the input is not white.
    period : int or None
        Steps after which the input repeats.
    """

    found: tuple[Finding, ...]
    kept: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    step: float | None = None
    shift: int = 0
    washout: int = 0
    coloured: bool = False
    period: int | None = None

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings under which no memory number means anything."""
        return tuple(one for one in self.found if one.level == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that bias the numbers, or say that they mean something else."""
        return tuple(one for one in self.found if one.level == "warning")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def __str__(self) -> str:
        return "\n".join(map(str, self.found)) or "nothing to report"

    def __repr__(self) -> str:
        return f"<Findings: {len(self.errors)} errors, {len(self.warnings)} warnings>\n{self}"

    def _repr_html_(self) -> str:
        from html import escape

        rows = (f"<li><b>{f.level}</b>: {escape(f.message)}; {escape(f.remedy)}</li>" for f in self)
        return f"<ul>{''.join(rows)}</ul>" if self.found else "<p>nothing to report</p>"


def listed(indices: Iterable[int], most: int = 5) -> str:
    """The first few, separated by commas."""
    texts = [str(int(i)) for i in indices]
    return ", ".join(texts[:most]) + (" …" if len(texts) > most else "")
