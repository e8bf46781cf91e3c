"""Recordings seen through another: fewer columns, or another input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.data.sources import Source

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _View:
    """Rows and name of another recording."""

    source: Source

    @property
    def length(self) -> int:
        """Number of rows."""
        return self.source.length

    @property
    def columns(self) -> int:
        """Number of states."""
        return self.source.columns

    @property
    def name(self) -> str:
        """Name of the recording."""
        return self.source.name


@dataclass(frozen=True, eq=False)
class SomeColumns(_View):
    """A recording without its constant and duplicate columns."""

    kept: NDArray[np.integer]

    @property
    def columns(self) -> int:
        """Number of states kept."""
        return len(self.kept)

    def chunks(self, rows: int, start: int = 0) -> Iterator[tuple[Floats, Floats]]:
        """Consecutive rows of the columns kept."""
        for X, z in self.source.chunks(rows, start):
            yield X[:, self.kept], z


@dataclass(frozen=True, eq=False)
class WithInputs(_View):
    """A recording whose input is replaced."""

    inputs: Floats

    def chunks(self, rows: int, start: int = 0) -> Iterator[tuple[Floats, Floats]]:
        """Consecutive states with the new inputs."""
        done = start
        for X, _ in self.source.chunks(rows, start):
            yield X, self.inputs[done : done + len(X)]
            done += len(X)
