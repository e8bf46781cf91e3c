"""Several methods on one network, side by side, each measured against the exact curve."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memcurve.arguments import Seed, table_entry
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, UnstableNetworkError, rank_among_notes
from memcurve.general import Problem
from memcurve.memory import memory_curve
from memcurve.methods import METHODS
from memcurve.network import LinearNetwork

#: What :func:`compare` runs by default, for the problem of the paper and for any other.
GENERAL_METHODS = ("naive", "montecarlo")
DEFAULT_METHODS = ("naive", "neutral", "osm", "osm_plus", "montecarlo")


@dataclass(frozen=True, eq=False)
class Row:
    """One method's outcome; ``curve`` is None where it failed, and ``note`` says why.

    ``total`` is over the lags compared, the same for all methods.
    """

    method: str
    curve: MemoryCurve | None
    total: float
    largest_error: float
    seconds: float
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The outcome of :func:`memcurve.compare`: the exact curve and one :class:`Row` a method.

    ``largest_error`` is the largest distance from the exact curve at any lag; for the exact method
    itself it is its own error bound. ``setting`` names the input and the noise, if any.
    """

    exact: MemoryCurve
    rows: tuple[Row, ...]
    setting: tuple[str, ...] = ()

    @property
    def curves(self) -> list[MemoryCurve]:
        """The curves of all methods that gave one, the exact one first."""
        return [row.curve for row in self.rows if row.curve is not None]

    def table(self) -> list[tuple[str, str, str, str, str]]:
        """Rows of (method, total, largest error, time, note), as text."""
        return [
            (
                row.method,
                f"{row.total:.6g}" if np.isfinite(row.total) else "—",
                f"{row.largest_error:.1e}" if np.isfinite(row.largest_error) else "—",
                f"{row.seconds:.3g} s",
                row.note,
            )
            for row in self.rows
        ]

    def __repr__(self) -> str:
        lines = ["{:12} {:>10} {:>14} {:>9}  {}".format(*HEADER)]
        lines += ["{:12} {:>10} {:>14} {:>9}  {}".format(*cells) for cells in self.table()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        rows = [f"<tr>{''.join(f'<th>{escape(h)}</th>' for h in HEADER)}</tr>"]
        for cells in self.table():
            rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
        return f"<table>{''.join(rows)}</table>"


HEADER = ("method", "total", "off by up to", "time", "note")


def compare(
    network: LinearNetwork,
    methods: Iterable[str] | None = None,
    *,
    lags: int | None = None,
    input: Any = None,
    noise: Any = None,
    seed: Seed | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> Comparison:
    """Run several methods on one network and measure them against the exact curve.

    Parameters
    ----------
    network : LinearNetwork
        The network.
    methods : iterable of str
        Names from the method table; the exact one is always run first. By default the paper's
        methods, or those of them that take coloured input, noise, several inputs and readouts.
    lags : int, optional
        Number of lags compared; 2N by default.
    input, noise
        As for :func:`memcurve.memory_curve`; a single noise level.
    seed : int, SeedSequence or Generator
        Required where a method draws random numbers.
    options : mapping
        Options by method, e.g. ``{"osm_plus": {"masks": 100}}``.

    Returns
    -------
    Comparison
        Shows itself as a table; ``.curves`` go to :func:`memcurve.plot.curves`.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(100, seed=1)
    >>> comparison = memcurve.compare(network, ["naive", "osm"])
    >>> [row.method for row in comparison.rows if row.largest_error > 0.1]
    ['naive', 'osm']
    """
    if not isinstance(network, LinearNetwork):
        raise TypeError(f"`network` must be a LinearNetwork, got {type(network).__name__}.")
    problem = Problem.of(network, lags, input=input, noise=noise)
    if problem.noise is not None and problem.noise.is_family:
        raise ValueError("`noise` must be a single level to compare methods, got a sequence.")
    if methods is None:
        methods = DEFAULT_METHODS if problem.is_plain else GENERAL_METHODS
    names = [
        name for name in ([methods] if isinstance(methods, str) else methods) if name != "exact"
    ]
    chosen = dict(options or {})
    for name in [*names, *chosen]:
        table_entry(METHODS, name, "method")
    count = 2 * network.states if lags is None else lags
    clock = _Clock("exact", problem)
    exact = _quiet_curve(problem, "exact", count, seed, chosen.get("exact", {}))
    rows = [_row(exact, float(exact.error.max()), clock.seconds(), network.notes)]
    for name in names:
        clock = _Clock(name, problem)
        try:
            curve = _quiet_curve(problem, name, count, seed, chosen.get(name, {}))
        except (UncertainResultError, UnstableNetworkError, np.linalg.LinAlgError) as error:
            rows.append(Row(name, None, np.nan, np.nan, clock.seconds(), f"failed: {error}"))
        else:
            seconds = clock.seconds()
            largest = float(np.abs(curve.channels - exact.channels).max())
            rows.append(_row(curve, largest, seconds, network.notes))
    return Comparison(exact, tuple(rows), _setting(problem))


def _setting(problem: Problem) -> tuple[str, ...]:
    parts = []
    if not problem.is_white:
        parts.append("input " + ", ".join(sorted({p.name for p in problem.processes})))
    if problem.noise is not None:
        scaled = f" {problem.levels[0]:g}" if problem.noise.is_scaled else ""
        parts.append(f"{problem.noise.label}{scaled}")
    return tuple(parts)


class _Clock:
    """Time of one method, from after its libraries are loaded: it is run on two nodes first."""

    def __init__(self, method: str, problem: Problem) -> None:
        masks = np.eye(2, problem.network.inputs)
        tiny = dataclasses.replace(problem, network=LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], masks))
        with contextlib.suppress(ValueError, UncertainResultError):  # the real run will tell
            _quiet_curve(tiny, method, 1, 0, {})
        self._start = time.perf_counter()

    def seconds(self) -> float:
        return time.perf_counter() - self._start


def _quiet_curve(
    problem: Problem, method: str, lags: int, seed: Seed | None, options: Mapping[str, Any]
) -> MemoryCurve:
    asked: dict[str, Any] = {
        "input": problem.processes,
        "noise": problem.noise,
        "method": method,
        "seed": seed,
    }
    with rank_among_notes():
        curve: Any = memory_curve(problem.network, lags, **asked, **options)
        return curve  # type: ignore[no-any-return]


def _row(curve: MemoryCurve, largest_error: float, seconds: float, known: Sequence[str]) -> Row:
    total = float(curve.values.sum())
    return Row(curve.method, curve, total, largest_error, seconds, _short(curve.notes, known))


def _short(notes: Sequence[str], known: Sequence[str]) -> str:
    """All notes but the network's own, those that say what is asked, and that there is no bound."""
    own = [note for note in notes if note not in known and not note.startswith(_KNOWN_BEFORE)]
    return "; ".join(own)


_KNOWN_BEFORE = ("no error bound", "usable memory under", "coloured input", "memory and forecast")
