"""What one should know of the values of a sweep before quoting their means."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from memcurve.sweeping.summary import summary

if TYPE_CHECKING:
    from memcurve.sweeping.results import Sweep


def notes_on_values(sweep: Sweep) -> list[str]:
    """Quantities that are not known of all finished cases, and versions that differ."""
    return [*_on_unknown(sweep), *_on_versions(sweep)]


def _on_unknown(sweep: Sweep) -> list[str]:
    notes = []
    for name in sweep.quantities:
        entries = summary(sweep, (name,))
        unknown = sum(entry["unknown"] for entry in entries)
        finished = unknown + sum(entry["count"] for entry in entries)
        partly = any(entry["unknown"] and entry["count"] for entry in entries)
        if unknown and beyond_lags(name):
            rest = ", which are in no mean of it: what is shown is too low" if partly else ""
            notes.append(
                f"{name} lies beyond the lags in {unknown:,} of {finished:,} finished cases{rest}; "
                f"take more `lags`"
            )
        elif partly:
            notes.append(
                f"{name} is not known of {unknown:,} of {finished:,} finished cases, which are in "
                f"no mean of it"
            )
    return notes


def beyond_lags(quantity: str) -> bool:
    """Whether a finished case without this quantity has more of it than its lags show."""
    return quantity.startswith("horizon_")


def _on_versions(sweep: Sweep) -> list[str]:
    found = Counter(row.memcurve_version for row in sweep.rows if row.status != "pending")
    if len(found) < 2:
        return []
    total = sum(found.values())
    parts = [f"{n:,} of {total:,} cases by memcurve {v or '(not known)'}" for v, n in found.items()]
    return [f"computed with different versions: {', '.join(parts)}"]
