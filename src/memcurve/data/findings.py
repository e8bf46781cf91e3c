"""Findings of the checks of a recording."""

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from memcurve.core.notes import Note
from memcurve.core.result import Result
from memcurve.core.types import Integers

Level = Literal["error", "warning", "info"]
_COLOURS: dict[Level, str] = {"error": "#B00020", "warning": "#9A6700", "info": "#555555"}


@dataclass(frozen=True)
class Finding:
    """One thing to know about a recording.

    Attributes
    ----------
    level : str
        ``"error"`` (no memory number means anything), ``"warning"`` (numbers are biased, or mean
        something else) or ``"info"``.
    name : str
        A name for programs, e.g. ``"misaligned"``.
    message, remedy : str
        What was found, and what to do about it.
    """

    level: Level
    name: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.level}: {self.message}; {self.remedy}"


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Result, Sequence[Finding]):
    """What :func:`memcurve.check_recording` found: a sequence of :class:`Finding`, and figures.

    Attributes
    ----------
    found : tuple of Finding
        Errors first, then warnings.
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
    notes : tuple of Note
        On the checks themselves.
    """

    FORMAT: ClassVar[str] = "memcurve.Findings/1"
    INDEXED: ClassVar[bool] = False

    found: tuple[Finding, ...]
    kept: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    step: float | None = None
    shift: int = 0
    washout: int = 0
    coloured: bool = False
    period: int | None = None
    notes: tuple[Note, ...] = ()

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
        """Findings that bias the numbers, or change their meaning."""
        return tuple(one for one in self.found if one.level == "warning")

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def columns(self) -> Mapping[str, Any]:
        """One row a finding: level, name, message, remedy."""
        names = [item.name for item in dataclasses.fields(Finding)]
        return {name: [getattr(one, name) for one in self] for name in names}

    def _attributes(self) -> Mapping[str, Any]:
        """Facts besides the findings: None is left out; netCDF has no booleans."""
        names = ("step", "shift", "washout", "period")
        figures = {name: value for name in names if (value := getattr(self, name)) is not None}
        return {**figures, "coloured": int(self.coloured)}

    def plot(self, ax: Any = None) -> Any:
        """Write the findings into empty axes, coloured by level, and return these."""
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(10, 1 + len(self) / 2), layout="constrained").add_subplot()
        ax.set_axis_off()
        lines = [(str(one), _COLOURS[one.level]) for one in self] or [(str(self), _COLOURS["info"])]
        for k, (text, colour) in enumerate(lines):
            layout = {"y": 1 - (k + 0.5) / len(lines), "va": "center", "transform": ax.transAxes}
            ax.text(0, s=textwrap.fill(text, 110), color=colour, parse_math=False, **layout)
        return ax

    def __str__(self) -> str:
        return "\n".join(map(str, self.found)) or "nothing to report"

    def __repr__(self) -> str:
        return f"<Findings: {len(self.errors)} errors, {len(self.warnings)} warnings>\n{self}"
