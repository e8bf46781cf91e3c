"""Accuracy and time side by side: every contender on the same networks, against a proven curve."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import memcurve
from benchmarks import methods, neighbours
from benchmarks.contenders import Contender, Estimate
from benchmarks.timing import ABSENT, best_times, fresh, thread_counts
from memcurve import LinearNetwork, MemoryCurve, ensembles

Row = dict[str, Any]
#: The truth is computed to this many lags a node; no contender covers more.
LAGS_PER_NODE = 10


def networks(quick: bool) -> dict[str, LinearNetwork]:
    """The four networks of the comparison, or small ones of the same kinds."""
    large, medium, small = (20, 12, 8) if quick else (100, 50, 20)
    return {
        f"normal, N = {large}": ensembles.normal(large, spectral_radius=0.9, seed=1),
        f"orthogonal, N = {large}": ensembles.orthogonal(large, spectral_radius=0.9, seed=1),
        f"cyclic, N = {medium}": ensembles.cyclic(medium, spectral_radius=0.9),
        f"delay line, N = {small}": ensembles.delay_line(small),
    }


def contenders(masks: int) -> list[Contender]:
    """Everyone who takes part."""
    return methods.contenders(masks) + neighbours.contenders()


def compared(quick: bool, budget: float) -> list[Row]:
    """One row a network and contender, on one thread."""
    rows: list[Row] = []
    taking_part = contenders(masks_for(quick))
    load(taking_part)
    for name, network in networks(quick).items():
        rows += _on_one_network(name, network, taking_part, budget, 1)
    return rows


def load(taking_part: Sequence[Contender]) -> None:
    """Import all libraries: what is loaded later would not heed a limit on the threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for contender in taking_part:
            if not contender.missing:
                for module in contender.needs:
                    import_module(module)
    memcurve.memory_curve(ensembles.normal(5, seed=1))


def masks_for(quick: bool) -> int:
    """Masks of OSM+: those of the paper, or few."""
    return 5 if quick else methods.MASKS


def claimed(quick: bool, budget: float) -> list[Row]:
    """OSM+ against the exact method on one thread and on the default number of them."""
    name, network = next(iter(networks(quick).items()))
    chosen = (methods.EXACT, methods.PRINTED, methods.OPTIMISED)
    taking_part = [c for c in contenders(masks_for(quick)) if c.name in chosen]
    rows = []
    for count in thread_counts():
        found = list(_on_one_network(name, network, taking_part, budget, count))
        by_name = {row["method"]: row for row in found}
        exact_error = by_name[methods.EXACT].get("error")
        for row in found:
            row["threads"] = count
            row["error_ratio_to_exact"] = (
                row["error"] / exact_error if row.get("error") and exact_error else None
            )
        rows += found
    return rows


def _on_one_network(
    name: str, network: LinearNetwork, taking_part: Sequence[Contender], budget: float, count: int
) -> Iterator[Row]:
    lags = LAGS_PER_NODE * network.size
    truth: Any = memcurve.memory_curve(network, lags, method="certified")
    for contender in taking_part:
        row: Row = {
            "network": name,
            "states": network.size,
            "method": contender.name,
            "whose": contender.whose,
            "about": contender.about,
        }
        if contender.missing:
            yield row | {"status": f"{ABSENT}: {', '.join(contender.missing)}"}
            continue
        try:
            yield row | _measured(contender, network, truth, budget, count)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            yield row | {"status": f"failed: {_one_line(error)}"}


def _measured(
    contender: Contender, network: LinearNetwork, truth: MemoryCurve, budget: float, count: int
) -> Row:
    found: list[Estimate] = []

    def run() -> None:
        found[:] = [contender.measure(network)]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ill-conditioned matrices: the table says how much it cost
        exact, bare, seconds = best_times(
            lambda: memcurve.memory_curve(fresh(network)),
            lambda: np.linalg.eigvals(network.A),
            run,
            budget=budget,
            count=count,
        )
    [(first, values)] = found
    covered = min(len(values), len(truth) - first)
    values = values[:covered]
    true_values = truth.values[first : first + covered]
    row = {
        "status": "measured",
        "seconds": seconds,
        "ratio_to_exact": seconds / exact,
        "ratio_to_eigvals": seconds / bare,
        "error": float(np.abs(values - true_values).max()),
        "first_lag": first,
        "last_lag": first + covered - 1,
        "total": float(values.sum()),
        "true_total": float(true_values.sum()),
    }
    if contender.name == methods.EXACT:
        row["bound"] = float(memcurve.memory_curve(network).error.max())
    if contender.name == "certified":  # the truth itself: what is left is its proven radius
        row["error"] = float(truth.error.max())
    return row


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
