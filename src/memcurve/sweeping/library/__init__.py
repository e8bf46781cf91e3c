"""The studies that come with memcurve: a file each, and the sentence that it ends in.

A study of one's own may end in the same sentence, ``conclusion = "radius"``, if it has the axes and
quantities that the sentence speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

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
    agrees = len(totals) == len(ranks) > 0 and np.allclose(totals, ranks, rtol=0, atol=SAME)
    full = _full_from(table) if agrees else None
    if full is None or not wrong:
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
            change = f"from {first:.3g} at density {low:g} to {last:.3g} at {high:g}"
            seeming.append(f"{change} by {how}")
    sizes = table.values("size")
    size = sizes[0] if len(sizes) == 1 else "the number of nodes"
    truth = f"exact total is the rank of each network, {size} at every density from {full:g} on"
    least = min(exact)
    if least < full:
        truth += (
            f"; below, where the weights are too few to keep the rank, the total falls with it, to "
            f"{exact[least]:.3g} at {least:g}"
        )
    if not seeming:
        return f"The {truth}."
    return f"Memory seems to change with sparsity, {' and '.join(seeming)}, but the {truth}."


_NAIVE = {
    "naive(inverse=pinv)": "the pseudo-inverse of the Gramian",
    "naive(inverse=projector)": "the pseudo-inverse of the Krylov matrix",
}


def _changes(table: Finished, method: str, low: float, high: float) -> bool:
    """Whether the mean total of a method differs between two densities by more than chance."""
    ends = [{"method": method, "density": density} for density in (low, high)]
    first, last = (table.spread("total", **at) for at in ends)
    counts = [len(table.numbers("total", **at)) for at in ends]
    change = abs(last["mean"] - first["mean"])
    # a single case has no deviation (NaN), and shows nothing by itself
    error = math.sqrt(first["sd"] ** 2 / counts[0] + last["sd"] ** 2 / counts[1])
    return change > _CLEAR * error and change > 0.01 * abs(first["mean"])


def _full_from(table: Finished) -> float | None:
    """The smallest density from which on every exact total is the number of nodes."""
    full = None
    for density in reversed(table.values("density")):
        at = {"method": "exact", "density": density}
        totals, sizes = (table.numbers(name, **at) for name in ("total", "size"))
        if not np.allclose(totals, sizes, rtol=0, atol=SAME):
            break
        full = density
    return full


def _radius(table: Finished) -> str:
    totals = table.spread("total")
    usable = table.means("spectral_radius", "usable_float32")
    coarse = table.means("spectral_radius", "usable_12bit")
    least, last, best = min(usable), max(usable), max(usable, key=usable.__getitem__)
    beyond = f", and is {usable[last]:.3g} at {last:g}" if last != best else ""
    head = f"The total is {_range_text(totals)} for spectral radii"
    if _same(totals):
        head = f"The spectral radius does not change the total, {_range_text(totals)}"
    return (
        f"{head} from {least:g} to {last:g}, but how much of it can be used: in single precision "
        f"{usable[least]:.3g} at {least:g} and {usable[best]:.3g} at {best:g}{beyond}, with 12 "
        f"bits {coarse[least]:.3g} and {coarse[best]:.3g}."
    )


def _architectures(table: Finished) -> str:
    quantities = {"usable_float32": "in single precision", "usable_12bit": "with 12 bits"}
    if None not in table.columns["horizon_half"]:  # else a mean would leave out the longest
        quantities["horizon_half"] = "and less than half of an input is left from lag"
    parts = []
    for quantity, words in quantities.items():
        means = table.means("ensemble", quantity)
        low, high = _ends(means)
        where = f" ({_word(low)}) to {means[high]:.3g} ({_word(high)})"
        parts.append(f"{words} {means[low]:.3g}{where}")
    totals = table.spread("total")
    hold = "All architectures hold the same total"
    head = hold if _same(totals) else "Architectures hold totals that differ"
    return f"{head}, {_range_text(totals)}, but not in a form of equal use: {', '.join(parts)}."


def _noise(table: Finished) -> str:
    left = {level: table.means("ensemble", "total", noise=level) for level in table.values("noise")}
    level, means = max(left.items(), key=lambda one: _width(one[1]))
    falling = sorted(means.items(), key=lambda one: -one[1])
    kept = ", ".join(f"{_word(ensemble)} {total:.3g}" for ensemble, total in falling)
    return (
        f"Without noise every network holds {_range_text(table.spread('rank'))}; the architectures "
        f"differ most at a noise of {_word(level)}, where the total that is left is: {kept}."
    )


SHIPPED = {
    study.name: study
    for study in (
        Shipped(
            "architectures", _architectures, ("ensemble",),
            ("total", "usable_float32", "usable_12bit", "horizon_half"),
        ),
        Shipped("noise", _noise, ("noise", "ensemble"), ("total", "rank")),
        Shipped(
            "radius", _radius, ("spectral_radius",), ("total", "usable_float32", "usable_12bit")
        ),
        Shipped("sparsity", _sparsity, ("density", "method"), ("total", "rank")),
    )
}  # fmt: skip


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
    if not trivial or not (telling or len({*table.columns["size"]}) > 1):
        return _about(table, quantities[0] if trivial else telling[0], "The")
    head = f"The {_name(trivial[0])} is the number of states in every case"
    if not telling:
        return f"{head}, {_range_text(table.spread(trivial[0]))}."
    return _about(table, telling[0], f"{head}; the")


def _about(table: Finished, quantity: str, the: str) -> str:
    """A sentence about a quantity, which begins with ``the`` where that goes before its name."""
    overall, kind, count = table.spread(quantity), QUANTITIES[quantity], len(table.rows)
    if math.isnan(overall["mean"]):
        where = ": in all of them it lies beyond the lags" if kind.share_left is not None else ""
        return f"No finished case knows its {_name(quantity)}{where}."
    unknown = table.columns[quantity].count(None)
    axes = [axis for axis in table.table.axes if len(set(table.columns[axis])) > 1]
    head = f"{the} {_name(quantity)} is {_range_text(overall)}"
    if unknown:  # a mean of those that are known would compare what is not alike
        rest = f"in {unknown:,} of {count:,} finished cases it is {kind.missing}"
        return f"{head} where it is known; {rest}."
    if _same(overall):
        across = " and the ".join(map(_name, axes))
        return f"{head}{f', whatever the {across}' if across else ''}."
    causes = [axis for axis in axes if axis != "seed"]
    design = table.table.study.design if table.table.study else "zip"
    if design == "random":
        return f"{head} over {count:,} cases{_trend(table, quantity, causes)}."
    if design == "zip" and not _stands_alone(table, causes, axes):
        moving = " and ".join(map(_name, axes))
        together = f", in which {moving} change together" if len(axes) > 1 else ""
        return f"{head} over {count:,} cases{together}."
    # that a total grows with the size is no news
    beside = "size" in causes and len(causes) > 1 and kind.counts_states
    others = [axis for axis in causes if not (beside and axis == "size")]
    means = {axis: table.means(axis, quantity) for axis in others}
    axis = max(others, key=lambda one: _width(means[one]), default=None)
    if axis is None or _width(means[axis]) < SAME:
        across = " or the ".join(map(_name, others))
        unmoved = f"; its mean does not change with the {across}" if across else ""
        return f"{head} over all cases{unmoved}."
    low, high = _ends(means[axis])
    return (
        f"{'Beside the size, the' if beside else the} mean {_name(quantity)} changes most with the "
        f"{_name(axis)}, from {means[axis][low]:.4g} at {_word(low)} to {means[axis][high]:.4g} at "
        f"{_word(high)}; over all cases it is {_range_text(overall)}."
    )


def _trend(table: Finished, quantity: str, axes: Sequence[str]) -> str:
    """Of a random search, where hardly two cases share a value and all axes move at once."""
    from scipy.stats import spearmanr

    numbers = [axis for axis in axes if is_numeric(table.values(axis))]
    found = {}
    for axis in numbers if len(table.rows) >= _FEWEST else ():
        correlation, chance = spearmanr(table.columns[axis], table.columns[quantity])
        if chance * len(numbers) < _CHANCE:
            found[axis] = float(correlation)
    if not found:
        return ", without a clear trend along any one axis"
    axis = max(found, key=lambda one: abs(found[one]))
    how = "rises" if found[axis] > 0 else "falls"
    return f"; it {how} most clearly with the {_name(axis)} (rank correlation {found[axis]:.2f})"


def _stands_alone(table: Finished, causes: Sequence[str], axes: Sequence[str]) -> bool:
    """Whether one axis changes alone, at most with the same seeds for each of its values."""
    if len(causes) != 1 or "seed" not in axes:
        return len(causes) == 1
    [axis] = causes
    places = [table.places(**{axis: value}) for value in table.values(axis)]
    seeds = [sorted(table.columns["seed"][k] or 0 for k in there) for there in places]
    return all(one == seeds[0] for one in seeds)


def _name(name: str) -> str:
    """An axis or a quantity within a sentence."""
    return name.replace("_", " ")


def _ends(means: dict[Any, float]) -> tuple[Any, Any]:
    """Where the least and the greatest mean are."""
    return min(means, key=means.__getitem__), max(means, key=means.__getitem__)


def _width(means: dict[Any, float]) -> float:
    return max(means.values()) - min(means.values())


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
