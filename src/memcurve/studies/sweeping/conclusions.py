"""The sentence at the end of a sweep: that of a built-in study, or a general one."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memcurve.core.notes import counted
from memcurve.studies.sweeping.cases import QUANTITIES
from memcurve.studies.sweeping.tables import SAME, CaseTable, is_numeric, number_text

#: Standard errors by which two means must differ. Doubled: weaker effects are not mentioned.
_CLEAR = 3.0
#: Cases from which a rank correlation is computed. Doubled: small searches have none.
_FEWEST = 8
#: Largest p-value of a rank correlation that is mentioned. Doubled: twice as many false ones.
_CHANCE = 0.01

PROSE: dict[str, str] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
#: Methods of the sparsity study, by their labels.
_NAIVE = {
    "naive(inverse=pinv)": "the pseudo-inverse of the Gramian",
    "naive(inverse=projector)": "the pseudo-inverse of the Krylov matrix",
}


def concluded(table: CaseTable) -> str:
    """The finished cases in one sentence: the one that the study asks for, or a general one."""
    study, sentence = table.study, ""
    if study is not None and study.conclusion == "sparsity" and study.design == "grid":
        has_all = {"density", "method", "total", "rank"} <= {*study.axes, *study.keep}
        sentence = _sparsity(table) if has_all else ""
    return sentence or general(table)


def _sparsity(table: CaseTable) -> str:
    """Whether memory changes with the density by standard formulas; empty if that is not known."""
    methods = [method for method in table.values("method") if method != "exact"]
    totals, ranks = (table.numbers(name, method="exact") for name in ("total", "rank"))
    agrees = len(totals) == len(ranks) > 0 and np.allclose(totals, ranks, rtol=0, atol=SAME)
    full = _full_from(table) if agrees else None
    if full is None or not methods:
        return ""
    changes = []
    for method in methods:
        means = table.means("density", "total", method=method)
        means = {density: total for density, total in means.items() if density >= full}
        if len(means) < 2:
            return ""
        (low, first), (high, last) = min(means.items()), max(means.items())
        if _changes(table, method, low, high):
            name = _NAIVE.get(method, f"method {method}")
            values = {"first": first, "low": low, "last": last, "high": high}
            changes.append(PROSE["change"].format(method=name, **values))
    exact, sizes = table.means("density", "total", method="exact"), table.values("size")
    least = min(exact)
    falling = PROSE["falling"].format(total=exact[least], density=least) if least < full else ""
    size = sizes[0] if len(sizes) == 1 else "the number of nodes"
    return PROSE["artefact" if changes else "sparsity"].format(
        changes=" and ".join(changes), size=size, full=full, falling=falling
    )


def _changes(table: CaseTable, method: str, low: float, high: float) -> bool:
    """Whether the mean total of a method differs significantly between two densities."""
    ends = [{"method": method, "density": density} for density in (low, high)]
    first, last = (table.spread("total", **at) for at in ends)
    counts = [len(table.numbers("total", **at)) for at in ends]
    change = abs(last["mean"] - first["mean"])
    # a single case has no deviation (NaN), and shows nothing by itself
    error = math.sqrt(first["sd"] ** 2 / counts[0] + last["sd"] ** 2 / counts[1])
    return change > _CLEAR * error and change > 0.01 * abs(first["mean"])


def _full_from(table: CaseTable) -> float | None:
    """The smallest density from which on every exact total is the number of nodes."""
    full = None
    for density in reversed(table.values("density")):
        at = {"method": "exact", "density": density}
        totals, sizes = (table.numbers(name, **at) for name in ("total", "size"))
        if not np.allclose(totals, sizes, rtol=0, atol=SAME):
            break
        full = density
    return full


def general(table: CaseTable) -> str:
    """The range of a quantity, and the axis along which its mean changes most in a grid."""
    study, rows = table.study, len(table.rows)
    drawn = study.picture.quantity or () if study is not None else ()
    quantities = list(dict.fromkeys([*drawn, *table.quantities]))  # what is drawn comes first
    if not quantities:
        return PROSE["nothing kept"]
    trivial = [name for name in quantities if table.counts_states(name)]
    quantity = next((name for name in quantities if name not in trivial), quantities[0])
    kind, overall = QUANTITIES[quantity], table.spread(quantity)
    facts: dict[str, Any] = {
        "quantity": kind.label, "range": _range_text(overall), "count": rows,
        "cases": counted(rows, "case"), "unknown": table.columns()[quantity].count(None),
        "reason": kind.missing,
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
        return head + PROSE["along"].format(axis=_name(axis), **facts, **_ends(means[axis]))
    trend = _trend(table, quantity, axes) if design == "random" and not _same(overall) else ""
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
    axis = max(significant, key=lambda one: abs(significant[one]))
    changes = "rises" if significant[axis] > 0 else "falls"
    return PROSE["correlated"].format(changes=changes, axis=_name(axis), rho=significant[axis])


def _name(name: str) -> str:
    """An axis within a sentence."""
    return name.replace("_", " ")


def _ends(means: dict[Any, float]) -> dict[str, Any]:
    """The lowest and the highest mean, and where they are."""
    lowest, highest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    values = {"low": means[lowest], "high": means[highest]}
    return values | {"lowest": _word(lowest), "highest": _word(highest)}


def _width(means: dict[Any, float]) -> float:
    return max(means.values()) - min(means.values())


def _range_text(numbers: dict[str, float]) -> str:
    """The least and the greatest, or the one number that both are."""
    low, high = numbers["min"], numbers["max"]
    return f"{low:.4g}" if _same(numbers) else f"{low:.4g} to {high:.4g}"


def _same(numbers: dict[str, float]) -> bool:
    """Whether all numbers are equal to the printed digits."""
    return numbers["max"] - numbers["min"] < SAME


def _word(value: Any) -> str:
    """A value of an axis within a sentence, with the options of a name."""
    if not isinstance(value, str):
        return "the default" if value is None else number_text(value)
    name, bracket, options = value.partition("(")
    return name.replace("_", " ") + (f" ({options}" if bracket else "")
