"""The cases of a sweep as columns: a label for each ensemble, and text that tells values apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memcurve.sweeping.cases import LIFTED
from memcurve.sweeping.fields import label

if TYPE_CHECKING:
    from memcurve.sweeping.axes import Named
    from memcurve.sweeping.studies import Study

#: What a case means where it says nothing.
DEFAULTS = {"noise": 0.0, "input": "white", "inputs": 1, "mask": "own"}


def case_columns(case: Mapping[str, Any], study: Study | None) -> dict[str, Any]:
    """The fields of a case, with ensemble and method as the study names them."""
    columns = dict(case)
    columns["ensemble"] = label(case["ensemble"], case.get("ensemble_options", {}))
    columns["method"] = label(case["method"], case.get("options", {}))
    axes = study.axes if study is not None else {}
    for ensemble in axes.get("ensemble", ()):
        if _is_meant(case, ensemble, axes):
            columns["ensemble"] = ensemble.label
    return columns


def _is_meant(case: Mapping[str, Any], ensemble: Named, axes: Iterable[str]) -> bool:
    """Whether a case is of this entry of the axis: all options agree, those not given as well.

    A density, say, given with the name of an ensemble is a field of the case, and is then no axis.
    """
    own = {name: value for name, value in ensemble.options.items() if name not in LIFTED}
    if ensemble.name != case["ensemble"] or own != case.get("ensemble_options", {}):
        return False
    beside = [name for name in LIFTED if name not in axes]
    return all(case.get(name) == ensemble.options.get(name) for name in beside)


def alike(default: Any, column: Sequence[Any]) -> list[Any]:
    """A column of one type, with the default where nothing is said: words where there are words."""
    filled = [default if value is None else value for value in column]
    if any(isinstance(value, str) for value in filled):
        return [v if v is None or isinstance(v, str) else number_text(v) for v in filled]
    return filled


def number_text(value: float) -> str:
    """A number in six digits, or in as many as it takes to read it back."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def texts(values: Iterable[Any]) -> dict[Any, str]:
    """Each value as text; in six digits, unless two of them would then read the same."""
    apart = list(dict.fromkeys(values))
    short = {value: _text(value) for value in apart}
    if len(set(short.values())) == len(apart):
        return short
    return {v: repr(v) if isinstance(v, float) else _text(v) for v in apart}


def _text(value: Any) -> str:
    if value is None:
        return "—"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
