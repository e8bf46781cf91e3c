"""The sentence at the end of a sweep; its words are in ``conclusions.toml``."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memcurve.core.notes import counted
from memcurve.studies.sweeping.cases import QUANTITIES
from memcurve.studies.sweeping.tables import SAME, CaseTable, is_numeric, number_text

#: Cases from which a rank correlation is computed. Doubled: small searches have none.
_FEWEST = 8
#: Largest p-value of a rank correlation that is mentioned. Doubled: twice as many false ones.
_CHANCE = 0.01
PROSE: dict[str, str] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


def concluded(table: CaseTable) -> str:
    """The range of a quantity, and the axis along which its mean changes most in a grid."""
    study, rows = table.study, len(table.rows)
    drawn = study.picture.quantity or () if study is not None else ()
    quantities = list(dict.fromkeys([*drawn, *table.quantities]))  # what is drawn comes first
    if not quantities:
        return PROSE["nothing kept"]
    trivial = [name for name in quantities if table.counts_states(name)]
    quantity = next((name for name in quantities if name not in trivial), quantities[0])
    kind, overall = QUANTITIES[quantity], table.spread(quantity)
    low, high = overall["min"], overall["max"]
    is_same = high - low < SAME
    facts: dict[str, Any] = {
        "quantity": kind.label, "range": f"{low:.4g}" if is_same else f"{low:.4g} to {high:.4g}",
        "count": rows, "cases": counted(rows, "case"), "reason": kind.missing,
        "unknown": table.columns()[quantity].count(None),
    }  # fmt: skip
    if quantity in trivial:
        return PROSE["states"].format(**facts)
    head = PROSE["states too"].format(quantity=QUANTITIES[trivial[0]].label) if trivial else ""
    if math.isnan(overall["mean"]):
        return head + PROSE["unknown"].format(**facts)
    if facts["unknown"]:  # a mean over the others would be biased
        return head + PROSE["partly"].format(**facts)
    axes = [a for a in table.axes if a != "seed" and len(set(table.columns()[a])) > 1]
    if len(axes) > 1 and kind.counts_states:  # that a total grows with the size is no news
        axes = [axis for axis in axes if axis != "size"]
    design = study.design if study is not None else "zip"
    means = {axis: table.means(axis, quantity) for axis in axes if design == "grid"}
    axis = max(means, key=lambda one: _width(means[one]), default=None)
    if axis is not None and _width(means[axis]) >= SAME:
        along = means[axis]
        lowest, highest = min(along, key=along.__getitem__), max(along, key=along.__getitem__)
        ends: dict[str, Any] = {"low": along[lowest], "high": along[highest]}
        ends |= {"lowest": _word(lowest), "highest": _word(highest)}
        return head + PROSE["along"].format(axis=axis.replace("_", " "), **facts, **ends)
    trend = _trend(table, quantity, axes) if design == "random" and not is_same else ""
    return head + PROSE["range"].format(rest=trend, **facts)


def _trend(table: CaseTable, quantity: str, axes: Sequence[str]) -> str:
    """The strongest rank correlation in a random search, in which all axes vary at once."""
    from scipy.stats import spearmanr

    numbers = [axis for axis in axes if is_numeric(table.values(axis))]
    significant = {}
    for axis in numbers if len(table.rows) >= _FEWEST else ():
        correlation, p_value = spearmanr(table.columns()[axis], table.columns()[quantity])
        if p_value * len(numbers) < _CHANCE:
            significant[axis] = float(correlation)
    if not significant:
        return PROSE["no trend"]
    axis, rho = max(significant.items(), key=lambda one: abs(one[1]))
    changes = "rises" if rho > 0 else "falls"
    return PROSE["correlated"].format(changes=changes, axis=axis.replace("_", " "), rho=rho)


def _width(means: dict[Any, float]) -> float:
    return max(means.values()) - min(means.values())


def _word(value: Any) -> str:
    """A value of an axis within a sentence, with the options of a name."""
    if not isinstance(value, str):
        return "the default" if value is None else number_text(value)
    name, bracket, options = value.partition("(")
    return name.replace("_", " ") + (f" ({options}" if bracket else "")
