"""What can be taken home from the page: a picture, the data."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memcurve import plot
from memcurve.curve import MemoryCurve


def picture_of(curves: Sequence[MemoryCurve], names: Sequence[str], ending: str) -> bytes:
    """The curves as :func:`memcurve.plot.curves` draws them, as ``".png"`` or ``".svg"``."""
    with tempfile.TemporaryDirectory(prefix="memcurve-") as folder:
        file = Path(folder) / f"memory{ending}"
        labels = [
            f"{name}: total {curve.total:.6g}" for name, curve in zip(names, curves, strict=True)
        ]
        plot.save(plot.curves(*curves, labels=labels), file)
        return file.read_bytes()


def table_of(curves: Sequence[MemoryCurve], names: Sequence[str]) -> bytes:
    """Lags, values and errors of curves as CSV, with every digit."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    columns = [text for name in names for text in (name, f"{name} error")]
    writer.writerow(["lag", *columns])
    for lag in range(max(map(len, curves))):
        row: list[object] = [lag]
        for curve in curves:
            inside = lag < len(curve)
            row += (
                [repr(float(curve.values[lag])), repr(float(curve.error[lag]))]
                if inside
                else ["", ""]
            )
        writer.writerow(row)
    return stream.getvalue().encode()
