"""The unit disc with eigenvalues that can be taken and moved, as a widget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets
from numpy.typing import NDArray

from memcurve.auditing.structure import Eigenvalues

_HERE = Path(__file__).parent


class Disc(anywidget.AnyWidget):  # type: ignore[misc]
    """Eigenvalues in the unit disc; one of them can be dragged, or set by modulus and angle.

    ``eigenvalues`` are those in the upper half-plane, the largest first, as pairs (re, im), with
    their conjugates drawn below; ``silent`` are those that do not count. ``moved`` is
    ``[index, re, im]``, or empty while all are where they belong.
    """

    _esm = _HERE / "disc.js"
    _css = _HERE / "disc.css"

    eigenvalues = traitlets.List().tag(sync=True)
    silent = traitlets.List().tag(sync=True)
    movable = traitlets.Bool(True).tag(sync=True)
    moved = traitlets.List().tag(sync=True)


def disc_of(found: Eigenvalues, *, movable: bool) -> Disc:
    """A disc with the eigenvalues that count, and the others in the background."""
    shown = found.all if found.counting is None else found.counting
    upper = shown[shown.imag >= 0]
    upper = upper[np.argsort(-np.abs(upper), kind="stable")]
    silent = [] if found.all_count else _pairs(found.all)
    return Disc(eigenvalues=_pairs(upper), silent=silent, movable=movable and len(upper) > 0)


def moved_of(value: dict[str, Any]) -> tuple[complex, complex] | None:
    """Which eigenvalue was moved where, by what a disc says; None if none was."""
    moved, places = value.get("moved"), value.get("eigenvalues", [])
    if not moved or not 0 <= int(moved[0]) < len(places):
        return None
    start, to = complex(*places[int(moved[0])]), complex(moved[1], moved[2])
    return None if start == to else (start, to)


def _pairs(values: NDArray[np.complex128]) -> list[list[float]]:
    return [[float(value.real), float(value.imag)] for value in values]
