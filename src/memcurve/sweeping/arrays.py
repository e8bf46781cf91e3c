"""A sweep as an xarray Dataset."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from memcurve.optional import optional
from memcurve.sweeping.axes import shown
from memcurve.sweeping.columns import number_text
from memcurve.sweeping.fields import QUANTITIES

if TYPE_CHECKING:
    from memcurve.sweeping.results import Sweep


def dataset(sweep: Sweep) -> Any:
    """The values over the axes of the grid, NaN where a case failed or is pending.

    Curves are ``memory`` over a further dimension ``lag``, NaN beyond the lags of a case.
    """
    xr = optional("xarray", "this", "frames")
    dimensions, coordinates = _dimensions(sweep)
    names, shape = tuple(dimensions), tuple(dimensions.values())
    table = sweep.columns()
    variables: dict[str, Any] = {}
    for name in (*sweep.quantities, "seconds"):
        numbers = np.array([math.nan if v is None else v for v in table[name]], dtype=float)
        about = {"description": QUANTITIES.get(name, "time of the computation in seconds")}
        variables[name] = (names, numbers.reshape(shape), about)
    for name in ("status", "error", "memcurve_version"):
        words = np.array([word or "" for word in table[name]], dtype=object)
        variables[name] = (names, words.reshape(shape))
    lags, curves = _curves(sweep)
    if len(lags):
        coordinates["lag"] = ("lag", lags)
        memory = curves.reshape(*shape, len(lags))
        variables["memory"] = ((*names, "lag"), memory, {"description": "memory at each lag"})
    attributes = {"title": sweep.study.title if sweep.study else "", "study": ""}
    attributes |= {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in sweep.provenance.items()
    }
    return xr.Dataset(variables, coordinates, attributes)


def _dimensions(sweep: Sweep) -> tuple[dict[str, int], dict[str, Any]]:
    study = sweep.study
    if study is None or study.design != "grid" or study.count != len(sweep.rows):
        table = sweep.columns()
        coordinates = {axis: ("case", _coordinate(table[axis])) for axis in sweep.axes}
        return {"case": len(sweep.rows)}, coordinates
    for place in (0, len(sweep.rows) - 1):  # the rows of a store are in the order of the study
        if study.case_at(place).key != sweep.rows[place].key:
            raise ValueError("the rows are not in the order of their study; open the store again.")
    axes = {axis: values for axis, values in study.axes.items() if len(values) > 1}
    coordinates = {}
    for axis, values in axes.items():
        default = {"noise": 0.0, "input": "white"}.get(axis)
        named = [default if value is None else shown(value) for value in values]
        coordinates[axis] = (axis, _coordinate(named))
    return {axis: len(values) for axis, values in axes.items()}, coordinates


def _coordinate(values: list[Any]) -> Any:
    if any(isinstance(value, str) for value in values):
        words = ["" if v is None else v if isinstance(v, str) else number_text(v) for v in values]
        return np.array(words, dtype=object)
    if any(value is None for value in values):
        return np.array([math.nan if v is None else v for v in values], dtype=float)
    return np.array(values)


def _curves(sweep: Sweep) -> tuple[Any, Any]:
    kept = [row.curve for row in sweep.rows]
    most = max((curve["lags"][-1] + 1 for curve in kept if curve and curve["lags"]), default=0)
    memory = np.full((len(kept), most), math.nan)
    for place, curve in enumerate(kept):
        if curve:
            memory[place, curve["lags"]] = curve["values"]
    return np.arange(most), memory
