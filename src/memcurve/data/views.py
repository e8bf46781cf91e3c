"""Recordings seen through another: fewer columns, other units, or another input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.io import Source

Floats = NDArray[np.float64]

#: Numbers beyond 2^±LARGEST_EXPONENT are rescaled.
LARGEST_EXPONENT = 300


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
class Rescaled(_View):
    """A recording with states and input measured in other powers of two, which is exact."""

    exponents: NDArray[np.integer]
    input_exponent: int

    def chunks(self, rows: int, start: int = 0) -> Iterator[tuple[Floats, Floats]]:
        """Consecutive rows, divided by the powers of two."""
        for X, z in self.source.chunks(rows, start):
            yield np.ldexp(X, -self.exponents), np.ldexp(z, -self.input_exponent)


def within_range(source: Source) -> Any:
    """The recording itself, or rescaled where squares of its numbers would leave float64."""
    X, z = next(iter(source.chunks(min(source.length, 10_000))))
    with np.errstate(invalid="ignore"):
        exponents = np.frexp(np.nanmax(np.abs(X), axis=0, initial=0.0))[1]
        input_exponent = int(np.frexp(np.nanmax(np.abs(z), initial=0.0))[1])
    if max(np.abs(exponents).max(initial=0), abs(input_exponent)) <= LARGEST_EXPONENT:
        return source
    return Rescaled(source, exponents, input_exponent)


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
