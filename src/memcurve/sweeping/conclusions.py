"""The sentence of a study that has none of its own: what moves its quantity, as far as it shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from memcurve.sweeping.cases import ENSEMBLE_STATES, QUANTITIES
from memcurve.sweeping.tables import Finished, is_numeric, number_text

#: Totals that differ by less than this are the same to the reader.
SAME = 1e-6
#: A rank correlation is named from so many cases on, and if chance makes it less often than this.
_FEWEST, _CHANCE = 8, 0.01


def general(table: Finished) -> str:
    """The axis along which the mean of a quantity changes most, where the design can tell."""
    study = table.table.specification
    asked = study.picture.quantity or () if study is not None else ()
    # what the study draws is what it asks about
    quantities = list(dict.fromkeys([*asked, *table.table.quantities]))
    if not quantities:
        return "No quantity was kept."
    trivial = [name for name in quantities if is_number_of_states(table, name)]
    telling = [name for name in quantities if name not in trivial]
    if not telling:
        whole = range_text(table.spread(quantities[0]))
        return f"The {_name(quantities[0])} is the number of states in every case, {whole}."
    the = "The"
    if trivial:
        the = f"The {_name(trivial[0])} is the number of states in every case; the"
    return _about(table, telling[0], the)


def is_number_of_states(table: Finished, quantity: str) -> bool:
    """Whether every finished case has as much of a quantity as states, and sizes differ."""
    column = table.columns.get(quantity, [])
    if not QUANTITIES[quantity].counts_states or len(set(table.columns["size"])) < 2:
        return False
    cases = [row.case for row in table.rows]
    states = [case["size"] * ENSEMBLE_STATES.get(case["ensemble"], 1) for case in cases]
    return all(
        v is not None and abs(v - n) <= SAME * n for v, n in zip(column, states, strict=True)
    )


def _about(table: Finished, quantity: str, the: str) -> str:
    """A sentence about a quantity, which begins with ``the`` where that goes before its name."""
    name, overall = _name(quantity), table.spread(quantity)
    if math.isnan(overall["mean"]):
        is_horizon = QUANTITIES[quantity].share_left is not None
        where = ": in all of them it lies beyond the lags" if is_horizon else ""
        return f"No finished case knows its {name}{where}."
    unknown = sum(value is None for value in table.columns[quantity])
    axes = [axis for axis in table.table.axes if len(set(table.columns[axis])) > 1]
    if unknown:  # a mean of those that are known would compare what is not alike
        return (
            f"{the} {name} is {range_text(overall)} where it is known; in {unknown:,} of "
            f"{len(table.rows):,} finished cases it is {QUANTITIES[quantity].missing}."
        )
    if same(overall):
        across = " and the ".join(axis.replace("_", " ") for axis in axes)
        return (
            f"{the} {name} is {range_text(overall)}{f', whatever the {across}' if across else ''}."
        )
    causes = [axis for axis in axes if axis != "seed"]
    design = table.table.specification.design if table.table.specification else "zip"
    if design == "random":
        numbers = [axis for axis in causes if is_numeric(table.values(axis))]
        return _trend(table, quantity, numbers, the)
    if design == "zip" and not _stands_alone(table, causes, axes):
        moving = " and ".join(axis.replace("_", " ") for axis in axes)
        together = f", in which {moving} change together" if len(axes) > 1 else ""
        return f"{the} {name} is {range_text(overall)} over {len(table.rows):,} cases{together}."
    return _changes_most(table, quantity, causes, the)


def _changes_most(table: Finished, quantity: str, causes: Sequence[str], the: str) -> str:
    name, overall = _name(quantity), table.spread(quantity)
    # that a total grows with the size is no news
    beside = "size" in causes and len(causes) > 1 and QUANTITIES[quantity].counts_states
    others = [axis for axis in causes if not (beside and axis == "size")]
    changes = {}
    for axis in others:
        means = table.means(axis, quantity)
        changes[axis] = max(means.values()) - min(means.values())
    if not changes or max(changes.values()) < SAME:
        across = " or the ".join(axis.replace("_", " ") for axis in others)
        unmoved = f"; its mean does not change with the {across}" if across else ""
        return f"{the} {name} is {range_text(overall)} over all cases{unmoved}."
    axis = max(changes, key=lambda one: changes[one])
    means = table.means(axis, quantity)
    low, high = min(means, key=lambda v: means[v]), max(means, key=lambda v: means[v])
    return (
        f"{'Beside the size, the' if beside else the} mean {name} changes most with the "
        f"{axis.replace('_', ' ')}, from {means[low]:.4g} at {word(low)} to {means[high]:.4g} at "
        f"{word(high)}; over all cases it is {range_text(overall)}."
    )


def _trend(table: Finished, quantity: str, axes: Sequence[str], the: str) -> str:
    """Of a random search, where hardly two cases share a value and all axes move at once."""
    from scipy.stats import spearmanr

    count = len(table.rows)
    head = f"{the} {_name(quantity)} is {range_text(table.spread(quantity))} over {count:,} cases"
    found = {}
    for axis in axes if count >= _FEWEST else ():
        correlation, chance = spearmanr(table.columns[axis], table.columns[quantity])
        if chance * len(axes) < _CHANCE:
            found[axis] = float(correlation)
    if not found:
        return f"{head}, without a clear trend along any one axis."
    axis = max(found, key=lambda one: abs(found[one]))
    how = "rises" if found[axis] > 0 else "falls"
    return (
        f"{head}; it {how} most clearly with the {axis.replace('_', ' ')} (rank correlation "
        f"{found[axis]:.2f})."
    )


def _stands_alone(table: Finished, causes: Sequence[str], axes: Sequence[str]) -> bool:
    """Whether one axis changes alone, at most with the same seeds for each of its values."""
    if len(causes) != 1:
        return False
    [axis] = causes
    if "seed" not in axes:
        return True
    seeds = [
        sorted(table.columns["seed"][k] or 0 for k in table.places(**{axis: value}))
        for value in table.values(axis)
    ]
    return all(one == seeds[0] for one in seeds)


def _name(quantity: str) -> str:
    return quantity.replace("_", " ")


def range_text(numbers: dict[str, float]) -> str:
    """The least and the greatest, or the one number that both are."""
    low, high = numbers["min"], numbers["max"]
    return f"{low:.4g}" if same(numbers) else f"{low:.4g} to {high:.4g}"


def same(numbers: dict[str, float]) -> bool:
    """Whether all numbers are the same to the reader."""
    return numbers["max"] - numbers["min"] < SAME


def word(value: Any) -> str:
    """A value of an axis within a sentence, with the options of a name."""
    if not isinstance(value, str):
        return "the default" if value is None else number_text(value)
    name, bracket, options = value.partition("(")
    return name.replace("_", " ") + (f" ({options}" if bracket else "")
