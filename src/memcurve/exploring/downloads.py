"""What can be taken home from the page: a picture, the data."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path

from memcurve import plot
from memcurve.curve import MemoryCurve


def picture_of(curves: Mapping[str, MemoryCurve], ending: str) -> bytes:
    """The curves as :func:`memcurve.plot.curves` draws them, as ``".png"`` or ``".svg"``."""
    with tempfile.TemporaryDirectory(prefix="memcurve-") as folder:
        file = Path(folder) / f"memory{ending}"
        labels = [f"{name}: total {curve.total:.6g}" for name, curve in curves.items()]
        plot.save(plot.curves(*curves.values(), labels=labels), file)
        return file.read_bytes()


def table_of(curves: Mapping[str, MemoryCurve]) -> bytes:
    """Lags, values and errors of curves as CSV, with every digit."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["lag", *(text for name in curves for text in (name, f"{name} error"))])
    for lag in range(max(map(len, curves.values()))):
        row: list[object] = [lag]
        for curve in curves.values():
            inside = lag < len(curve)
            row += [float(curve.values[lag]), float(curve.error[lag])] if inside else ["", ""]
        writer.writerow(row)
    return stream.getvalue().encode()


def json_of(curves: Mapping[str, MemoryCurve]) -> bytes:
    """The curve asked for, the last one, with all that is known of it."""
    return list(curves.values())[-1].to_json().encode()
