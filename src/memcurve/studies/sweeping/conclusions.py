"""The sentence at the end of a sweep; its words are in ``sentences.toml``."""

import math
from typing import Any

from memcurve.core.notes import counted
from memcurve.studies.sweeping.cases import QUANTITIES
from memcurve.studies.sweeping.store import TEXTS
from memcurve.studies.sweeping.tables import SAME, CaseTable, number_text

PROSE: dict[str, str] = TEXTS["conclusions"]


def concluded(table: CaseTable) -> str:
    """The range of a quantity, and the axis along which its mean changes most."""
    rows, quantities = len(table.rows), table.quantities
    trivial = [name for name in quantities if table.counts_states(name)]
    quantity = next((name for name in quantities if name not in trivial), quantities[0])
    kind, overall = QUANTITIES[quantity], table.spread(quantity)
    low, high = overall["min"], overall["max"]
    spans = f"{low:.4g} to {high:.4g}" if high - low >= SAME else f"{low:.4g}"
    facts: dict[str, Any] = {
        "quantity": kind.label, "range": spans,
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
    means: dict[str, dict[Any, float]] = {}
    for name in axes:  # where anything is known
        spreads = {v: table.spread(quantity, **{name: v})["mean"] for v in table.values(name)}
        means[name] = {value: mean for value, mean in spreads.items() if not math.isnan(mean)}
    axis = max(means, key=lambda one: _width(means[one]), default=None)
    if axis is not None and _width(means[axis]) >= SAME:
        along = means[axis]
        lowest, highest = min(along, key=along.__getitem__), max(along, key=along.__getitem__)
        ends: dict[str, Any] = {"low": along[lowest], "high": along[highest]}
        ends |= {"lowest": _word(lowest), "highest": _word(highest)}
        return head + PROSE["along"].format(axis=axis.replace("_", " "), **facts, **ends)
    return head + PROSE["range"].format(**facts)


def _width(means: dict[Any, float]) -> float:
    return max(means.values()) - min(means.values())


def _word(value: Any) -> str:
    """A value of an axis within a sentence, with the options of a name."""
    if not isinstance(value, str):
        return "the default" if value is None else number_text(value)
    name, bracket, options = value.partition("(")
    return name.replace("_", " ") + (f" ({options}" if bracket else "")
