"""The one sentence that a study ends in, computed from its rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from memcurve.sweeping.finished import FinishedRows

if TYPE_CHECKING:
    from memcurve.sweeping.results import Sweep

#: Totals that differ by less than this are the same to the reader.
_SAME = 1e-6


def conclude(sweep: Sweep) -> str:
    """What the rows say, in one sentence; that of the study's ``conclusion`` where it has one.

    Failed and pending cases do not take part, and the sentence says so.
    """
    if sweep.counts["done"] == 0:
        return "No case is finished, so that there is nothing to conclude."
    name = sweep.study.conclusion if sweep.study else None
    table = FinishedRows(sweep)
    sentence = _SENTENCES[name](table) if name else _general(table)
    missing = len(sweep) - sweep.counts["done"]
    if missing:
        sentence += f" (Without {missing:,} of {len(sweep):,} cases, which failed or are pending.)"
    return sentence


def _sparsity(table: FinishedRows) -> str:
    exact = table.means("density", "total", method="exact")
    wrong = [method for method in table.values("method") if method != "exact"]
    totals, ranks = (table.numbers(name, method="exact") for name in ("total", "rank"))
    agrees = all(abs(t - r) < _SAME for t, r in zip(totals, ranks, strict=True))
    full = _full_from(table)
    if not agrees or full is None or not wrong:
        return _general(table)
    seeming = []
    for method in wrong:
        naive = table.means("density", "total", method=method)
        naive = {density: total for density, total in naive.items() if density >= full}
        if len(naive) < 2:
            return _general(table)
        (low, first), (high, last) = min(naive.items()), max(naive.items())
        how = _NAIVE.get(method, f"method {method}")
        seeming.append(f"from {first:.3g} at density {low:g} to {last:.3g} at {high:g} by {how}")
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
    return (
        f"Memory seems to change with sparsity, {' and '.join(seeming)}, but the exact total is "
        f"the rank of each network, {size} at every density from {full:g} "
        f"on{rest}."
    )


_NAIVE = {
    "naive(inverse=pinv)": "the pseudo-inverse of the Gramian",
    "naive(inverse=projector)": "the pseudo-inverse of the Krylov matrix",
}


def _full_from(table: FinishedRows) -> float | None:
    """The smallest density from which on every exact total is the number of nodes."""
    full = None
    for density in reversed(table.values("density")):
        totals = table.numbers("total", method="exact", density=density)
        sizes = table.numbers("size", method="exact", density=density)
        if any(abs(t - n) > _SAME for t, n in zip(totals, sizes, strict=True)):
            break
        full = density
    return full


def _radius(table: FinishedRows) -> str:
    totals = table.spread("total")
    usable = table.means("spectral_radius", "usable_float32")
    coarse = table.means("spectral_radius", "usable_12bit")
    (least, first), best = min(usable.items()), max(usable, key=lambda radius: usable[radius])
    last = max(usable)
    beyond = f", and is {usable[last]:.3g} at {last:g}" if last != best else ""
    head = f"The total is {_range(totals)} for spectral radii from {least:g} to {last:g}"
    if _same(totals):
        head = (
            f"The spectral radius does not change the total, {_range(totals)} from {least:g} to "
            f"{last:g}"
        )
    return (
        f"{head}, but how much of it can be used: in single precision {first:.3g} at {least:g} "
        f"and {usable[best]:.3g} at {best:g}{beyond}, with 12 bits {coarse[least]:.3g} and "
        f"{coarse[best]:.3g}."
    )


def _architectures(table: FinishedRows) -> str:
    parts = []
    for quantity, words in (
        ("usable_float32", "in single precision"),
        ("usable_12bit", "with 12 bits"),
        ("horizon_half", "and less than half of an input is left from lag"),
    ):
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
    return f"{head}, {_range(totals)}, but not in a form of equal use: {', '.join(parts)}."


def _noise(table: FinishedRows) -> str:
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
        f"Without noise every network holds {_range(ranks)}; the architectures differ most at a "
        f"noise of {level:g}, where the total that is left is: {kept}."
    )


def _general(table: FinishedRows) -> str:
    """The axis along which the mean of the first quantity changes most."""
    quantity = next(iter(table.sweep.quantities))
    changes = {}
    for axis in table.sweep.axes:
        means = table.means(axis, quantity) if axis != "seed" else {}
        if len(means) > 1:
            changes[axis] = max(means.values()) - min(means.values())
    overall = table.spread(quantity)
    name = quantity.replace("_", " ")
    if math.isnan(overall["mean"]):
        return f"No finished case knows its {name}."
    if not changes or max(changes.values()) < _SAME:
        across = " and the ".join(axis.replace("_", " ") for axis in table.sweep.axes)
        return f"The {name} is {_range(overall)}{f', whatever the {across}' if across else ''}."
    axis = max(changes, key=lambda one: changes[one])
    means = table.means(axis, quantity)
    low, high = min(means, key=lambda v: means[v]), max(means, key=lambda v: means[v])
    return (
        f"The mean {name} changes most with the {axis.replace('_', ' ')}, from {means[low]:.4g} at "
        f"{_word(low)} to {means[high]:.4g} at {_word(high)}; over all cases it is "
        f"{_range(overall)}."
    )


def _range(numbers: dict[str, float]) -> str:
    low, high = numbers["min"], numbers["max"]
    return f"{low:.4g}" if _same(numbers) else f"{low:.4g} to {high:.4g}"


def _same(numbers: dict[str, float]) -> bool:
    return numbers["max"] - numbers["min"] < _SAME


def _word(value: Any) -> str:
    return value.partition("(")[0].replace("_", " ") if isinstance(value, str) else f"{value:g}"


_SENTENCES: dict[str, Callable[[FinishedRows], str]] = {
    "sparsity": _sparsity,
    "radius": _radius,
    "architectures": _architectures,
    "noise": _noise,
}
