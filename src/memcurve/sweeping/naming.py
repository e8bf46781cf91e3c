"""What axes and quantities are called in pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memcurve.sweeping.columns import number_text, texts
from memcurve.sweeping.specification import Picture

#: Axes of words; all others are numbers, except noise where words are among its values.
WORDS = ("ensemble", "mask", "input", "method")
NAMES = {
    "total": "total memory",
    "total_error": "error bound of the total",
    "rank_robust": "robust rank",
    "usable_float64": "usable in float64",
    "usable_float32": "usable in float32",
    "usable_16bit": "usable with 16 bits",
    "usable_12bit": "usable with 12 bits",
    "horizon_half": "lag where half is left",
    "horizon_tenth": "lag where a tenth is left",
    "largest_error": "error bound",
    "error_against_exact": "error against the exact curve",
    "total_error_against_exact": "total, minus the exact one",
    "size": "number of nodes N",
    "spectral_radius": "spectral radius ρ",
    "density": "density (share of non-zero weights)",
    "noise": "standard deviation of the noise (input of unit variance)",
    "inputs": "number of inputs",
    "lags": "number of lags",
}


def hue_name(picture: Picture, hue: Any) -> str:
    """A value of the axis shown by colour, by the label that the study gives it."""
    if isinstance(hue, str):
        return picture.labels.get(hue, hue.replace("_", " "))
    return f"{short(picture.hue or '')} {'default' if hue is None else number_text(hue)}"


def short(axis: str) -> str:
    """An axis before a value."""
    return {"spectral_radius": "ρ =", "size": "N ="}.get(axis, axis)


def several(axis: str) -> str:
    """An axis after a number of its values."""
    return {
        "density": "densities",
        "spectral_radius": "radii",
        "lags": "lags",
        "inputs": "inputs",
    }.get(axis, f"{axis}s")


def ticks(values: Iterable[Any]) -> Iterable[str]:
    """The values of an axis beside it."""
    return texts(values).values()
