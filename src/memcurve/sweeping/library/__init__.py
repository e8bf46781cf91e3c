"""The studies that come with memcurve: a file each, and the sentence that it ends in.

A study of one's own may end in the same sentence, ``conclusion = "radius"``, if it has the axes and
quantities that the sentence speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any, NamedTuple

from memcurve.sweeping.cases import QUANTITIES
from memcurve.sweeping.tables import SAME, Finished, is_numeric, number_text

#: Means that differ by less than so many of their standard errors do not show a change.
_CLEAR = 3.0
#: A rank correlation is named from so many cases on, and if chance makes it less often than this.
_FEWEST, _CHANCE = 8, 0.01


class Shipped(NamedTuple):
    """A study that comes with memcurve: its sentence, and the axes and quantities it speaks of."""

    name: str
    sentence: Callable[[Finished], str]
    axes: tuple[str, ...]
    quantities: tuple[str, ...]

    @property
    def text(self) -> str:
        """The study file."""
        return resources.files(__name__).joinpath(f"{self.name}.toml").read_text(encoding="utf-8")


def _sparsity(table: Finished) -> str:
    exact = table.means("density", "total", method="exact")
    wrong = [method for method in table.values("method") if method != "exact"]
    totals, ranks = (table.numbers(name, method="exact") for name in ("total", "rank"))
    known = totals and len(totals) == len(ranks)
    agrees = known and all(abs(t - r) < SAME for t, r in zip(totals, ranks, strict=True))
    full = _full_from(table) if agrees else None
    if not agrees or full is None or not wrong:
        return general(table)
    seeming = []
    for method in wrong:
        naive = table.means("density", "total", method=method)
        naive = {density: total for density, total in naive.items() if density >= full}
        if len(naive) < 2:
            return general(table)
        (low, first), (high, last) = min(naive.items()), max(naive.items())
        how = _NAIVE.get(method, f"method {method}")
        if _changes(table, method, low, high):
            seeming.append(
                f"from {first:.3g} at density {low:g} to {last:.3g} at {high:g} by {how}"
            )
    sizes = table.values("size")
    size = sizes[0] if len(sizes) == 1 else "the number of nodes"
    below = [density for density in exact if density < full]
    rest = ""
    if below:
        least = min(below)
        rest = (
            f"; below, where the weights are too few to keep the rank, the total falls with it, to "
            f"{exact[least]:.3g} at {least:g}"
        )
    truth = (
        f"exact total is the rank of each network, {size} at every density from {full:g} on{rest}."
    )
    if not seeming:
        return f"The {truth}"
    return f"Memory seems to change with sparsity, {' and '.join(seeming)}, but the {truth}"


_NAIVE = {
    "naive(inverse=pinv)": "the pseudo-inverse of the Gramian",
    "naive(inverse=projector)": "the pseudo-inverse of the Krylov matrix",
}


def _changes(table: Finished, method: str, low: float, high: float) -> bool:
    """Whether the mean total of a method differs between two densities by more than chance."""
    spreads = [table.spread("total", method=method, density=at) for at in (low, high)]
    counts = [len(table.numbers("total", method=method, density=at)) for at in (low, high)]
    change = abs(spreads[1]["mean"] - spreads[0]["mean"])
    if change <= 0.01 * abs(spreads[0]["mean"]):
        return False
    errors = [s["sd"] ** 2 / n for s, n in zip(spreads, counts, strict=True)]
    # a single case has no deviation (NaN), and shows nothing by itself
    return change > _CLEAR * math.sqrt(math.fsum(errors))


def _full_from(table: Finished) -> float | None:
    """The smallest density from which on every exact total is the number of nodes."""
    full = None
    for density in reversed(table.values("density")):
        totals = table.numbers("total", method="exact", density=density)
        sizes = table.numbers("size", method="exact", density=density)
        if any(abs(t - n) > SAME for t, n in zip(totals, sizes, strict=True)):
            break
        full = density
    return full


def _radius(table: Finished) -> str:
    totals = table.spread("total")
    usable = table.means("spectral_radius", "usable_float32")
    coarse = table.means("spectral_radius", "usable_12bit")
    (least, first), best = min(usable.items()), max(usable, key=lambda radius: usable[radius])
    last = max(usable)
    beyond = f", and is {usable[last]:.3g} at {last:g}" if last != best else ""
    head = f"The total is {_range_text(totals)} for spectral radii from {least:g} to {last:g}"
    if _same(totals):
        head = (
            f"The spectral radius does not change the total, {_range_text(totals)} from {least:g} "
            f"to {last:g}"
        )
    return (
        f"{head}, but how much of it can be used: in single precision {first:.3g} at {least:g} "
        f"and {usable[best]:.3g} at {best:g}{beyond}, with 12 bits {coarse[least]:.3g} and "
        f"{coarse[best]:.3g}."
    )


def _architectures(table: Finished) -> str:
    parts = []
    quantities = [("usable_float32", "in single precision"), ("usable_12bit", "with 12 bits")]
    if None not in table.columns["horizon_half"]:  # else a mean would leave out the longest
        quantities += [("horizon_half", "and less than half of an input is left from lag")]
    for quantity, words in quantities:
        means = table.means("ensemble", quantity)
        low, high = min(means, key=lambda e: means[e]), max(means, key=lambda e: means[e])
        where = f" ({_word(low)}) to {means[high]:.3g} ({_word(high)})"
        parts.append(f"{words} {means[low]:.3g}{where}")
    totals = table.spread("total")
    head = (
        "All architectures hold the same total"
        if _same(totals)
        else "Architectures hold totals that differ"
    )
    return f"{head}, {_range_text(totals)}, but not in a form of equal use: {', '.join(parts)}."


def _noise(table: Finished) -> str:
    levels = table.values("noise")
    spreads = {}
    for level in levels:
        means = table.means("ensemble", "total", noise=level)
        spreads[level] = max(means.values()) - min(means.values())
    level = max(spreads, key=lambda one: spreads[one])
    means = dict(sorted(table.means("ensemble", "total", noise=level).items(), key=lambda e: -e[1]))
    kept = ", ".join(f"{_word(ensemble)} {total:.3g}" for ensemble, total in means.items())
    ranks = table.spread("rank")
    return (
        f"Without noise every network holds {_range_text(ranks)}; the architectures differ most at "
        f"a noise of {_word(level)}, where the total that is left is: {kept}."
    )


_ALL = (
    Shipped(
        "architectures",
        _architectures,
        ("ensemble",),
        ("total", "usable_float32", "usable_12bit", "horizon_half"),
    ),
    Shipped("noise", _noise, ("noise", "ensemble"), ("total", "rank")),
    Shipped("radius", _radius, ("spectral_radius",), ("total", "usable_float32", "usable_12bit")),
    Shipped("sparsity", _sparsity, ("density", "method"), ("total", "rank")),
)
SHIPPED = {study.name: study for study in _ALL}


def general(table: Finished) -> str:
    """The axis along which the mean of a quantity changes most, where the design can tell."""
    study = table.table.study
    asked = study.picture.quantity or () if study is not None else ()
    # what the study draws is what it asks about
    quantities = list(dict.fromkeys([*asked, *table.table.quantities]))
    if not quantities:
        return "No quantity was kept."
    trivial = [name for name in quantities if table.counts_states(name)]
    telling = [name for name in quantities if name not in trivial]
    if not telling:
        whole = _range_text(table.spread(quantities[0]))
        return f"The {_name(quantities[0])} is the number of states in every case, {whole}."
    the = "The"
    if trivial:
        the = f"The {_name(trivial[0])} is the number of states in every case; the"
    return _about(table, telling[0], the)


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
            f"{the} {name} is {_range_text(overall)} where it is known; in {unknown:,} of "
            f"{len(table.rows):,} finished cases it is {QUANTITIES[quantity].missing}."
        )
    if _same(overall):
        across = " and the ".join(axis.replace("_", " ") for axis in axes)
        return (
            f"{the} {name} is {_range_text(overall)}{f', whatever the {across}' if across else ''}."
        )
    causes = [axis for axis in axes if axis != "seed"]
    design = table.table.study.design if table.table.study else "zip"
    if design == "random":
        numbers = [axis for axis in causes if is_numeric(table.values(axis))]
        return _trend(table, quantity, numbers, the)
    if design == "zip" and not _stands_alone(table, causes, axes):
        moving = " and ".join(axis.replace("_", " ") for axis in axes)
        together = f", in which {moving} change together" if len(axes) > 1 else ""
        return f"{the} {name} is {_range_text(overall)} over {len(table.rows):,} cases{together}."
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
        return f"{the} {name} is {_range_text(overall)} over all cases{unmoved}."
    axis = max(changes, key=lambda one: changes[one])
    means = table.means(axis, quantity)
    low, high = min(means, key=lambda v: means[v]), max(means, key=lambda v: means[v])
    return (
        f"{'Beside the size, the' if beside else the} mean {name} changes most with the "
        f"{axis.replace('_', ' ')}, from {means[low]:.4g} at {_word(low)} to {means[high]:.4g} at "
        f"{_word(high)}; over all cases it is {_range_text(overall)}."
    )


def _trend(table: Finished, quantity: str, axes: Sequence[str], the: str) -> str:
    """Of a random search, where hardly two cases share a value and all axes move at once."""
    from scipy.stats import spearmanr

    count = len(table.rows)
    head = f"{the} {_name(quantity)} is {_range_text(table.spread(quantity))} over {count:,} cases"
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


def _range_text(numbers: dict[str, float]) -> str:
    """The least and the greatest, or the one number that both are."""
    low, high = numbers["min"], numbers["max"]
    return f"{low:.4g}" if _same(numbers) else f"{low:.4g} to {high:.4g}"


def _same(numbers: dict[str, float]) -> bool:
    """Whether all numbers are the same to the reader."""
    return numbers["max"] - numbers["min"] < SAME


def _word(value: Any) -> str:
    """A value of an axis within a sentence, with the options of a name."""
    if not isinstance(value, str):
        return "the default" if value is None else number_text(value)
    name, bracket, options = value.partition("(")
    return name.replace("_", " ") + (f" ({options}" if bracket else "")
