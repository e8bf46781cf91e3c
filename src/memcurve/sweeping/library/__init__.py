"""The studies that come with memcurve: a file each, and the sentence that it ends in.

A study of one's own may end in the same sentence, ``conclusion = "radius"``, if it has the axes and
quantities that the sentence speaks of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import resources
from typing import NamedTuple

from memcurve.sweeping.conclusions import SAME, general, range_text, same, word
from memcurve.sweeping.tables import Finished

#: Means that differ by less than so many of their standard errors do not show a change.
_CLEAR = 3.0


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
    head = f"The total is {range_text(totals)} for spectral radii from {least:g} to {last:g}"
    if same(totals):
        head = (
            f"The spectral radius does not change the total, {range_text(totals)} from {least:g} "
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
        where = f" ({word(low)}) to {means[high]:.3g} ({word(high)})"
        parts.append(f"{words} {means[low]:.3g}{where}")
    totals = table.spread("total")
    head = (
        "All architectures hold the same total"
        if same(totals)
        else "Architectures hold totals that differ"
    )
    return f"{head}, {range_text(totals)}, but not in a form of equal use: {', '.join(parts)}."


def _noise(table: Finished) -> str:
    levels = table.values("noise")
    spreads = {}
    for level in levels:
        means = table.means("ensemble", "total", noise=level)
        spreads[level] = max(means.values()) - min(means.values())
    level = max(spreads, key=lambda one: spreads[one])
    means = dict(sorted(table.means("ensemble", "total", noise=level).items(), key=lambda e: -e[1]))
    kept = ", ".join(f"{word(ensemble)} {total:.3g}" for ensemble, total in means.items())
    ranks = table.spread("rank")
    return (
        f"Without noise every network holds {range_text(ranks)}; the architectures differ most at "
        f"a noise of {word(level)}, where the total that is left is: {kept}."
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
