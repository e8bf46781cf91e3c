"""Several methods on one network, each measured against the exact curve."""

import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import Seed, name_and_options, table_entry
from memcurve.core.cells import columns_of_text, table
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.limits import TooLargeError
from memcurve.core.notes import Note
from memcurve.core.result import Result
from memcurve.io.adapters import as_network
from memcurve.memory import METHODS, MemoryCurve, ask, one_level
from memcurve.network import LinearNetwork
from memcurve.rendering import plot
from memcurve.solve import Problem

#: Kinds of notes that are not about a method, but about the network or the question.
_KNOWN_BEFORE = ("network", "linear", "unused", "question", "unbounded")


@dataclass(frozen=True, eq=False)
class ComparisonRow:
    """One method's outcome over the lags compared; ``note`` says why there is no ``curve``."""

    method: str
    label: str
    curve: MemoryCurve | None
    total: float
    largest_error: float
    seconds: float
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """The outcome of :func:`memcurve.compare`: the exact curve and one row per method.

    ``largest_error`` is the largest distance from the exact curve at any lag; for the exact method
    itself it is its own error bound. ``setting`` names the input and the noise, if any.

    Examples
    --------
    >>> import memcurve
    >>> comparison = memcurve.compare(memcurve.ensembles.cyclic(20), ["naive", "osm"])
    >>> [row.label for row in comparison.rows]
    ['exact', 'naive', 'osm']
    >>> round(comparison.rows[1].total, 6)
    19.995631
    """

    FORMAT: ClassVar[str] = "memcurve.Comparison/1"
    HEADER: ClassVar[tuple[str, ...]] = ("method", "total", "largest error", "time", "note")

    exact: MemoryCurve
    rows: tuple[ComparisonRow, ...]
    setting: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Notes of the exact curve."""
        return self.exact.notes

    @property
    def curves(self) -> list[MemoryCurve]:
        """The curves of all methods that succeeded, the exact one first."""
        return [row.curve for row in self.rows if row.curve is not None]

    def table(self) -> list[tuple[str, str, str, str, str]]:
        """Rows of (method, total, largest error, time, note), as text."""
        return [
            (
                row.label,
                f"{row.total:.6g}" if np.isfinite(row.total) else "—",
                f"{row.largest_error:.1e}" if np.isfinite(row.largest_error) else "—",
                f"{row.seconds:.3g} s" if np.isfinite(row.seconds) else "—",
                row.note,
            )
            for row in self.rows
        ]

    def columns(self) -> Mapping[str, Any]:
        """One row per method."""
        names = ("total", "largest_error", "seconds", "note")
        columns = {name: [getattr(row, name) for row in self.rows] for name in names}
        return {"method": [row.label for row in self.rows]} | columns

    def plot(self, ax: Any = None) -> Any:
        """Draw all curves, see :func:`memcurve.plot.curves`."""
        labels = [f"{row.label}: {row.total:.4g}" for row in self.rows if row.curve is not None]
        return plot.curves(*self.curves, labels=labels, ax=ax)

    def __repr__(self) -> str:
        lines = columns_of_text([row[:4] for row in (self.HEADER, *self.table())], left=1)
        notes = (self.HEADER[4], *(row.note for row in self.rows))
        return "\n".join(f"{a}  {b}".rstrip() for a, b in zip(lines, notes, strict=True))

    def _repr_html_(self) -> str:
        return table(self.table(), self.HEADER)


def compare(
    network: Any,
    methods: Iterable[str | tuple[str, Mapping[str, Any]]] | None = None,
    *,
    lags: int | None = None,
    input: Any = None,
    noise: Any = None,
    seed: Seed | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
) -> Comparison:
    """Run several methods on one network and measure them against the exact curve.

    The :class:`memcurve.Comparison` is a table; its ``curves`` go to :func:`memcurve.plot.curves`.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        The network.
    methods : iterable of str or (str, dict)
        Names from the method table, or pairs of a name and its options, so that one method can be
        compared with itself: ``["osm", ("naive", {"inverse": "pinv"})]``. The exact one is always
        run first. By default the paper's methods, or those of them that answer the question.
    lags : int, optional
        Number of lags compared; 2N by default.
    input, noise
        As for :func:`memcurve.memory_curve`; a single noise level.
    seed : int, SeedSequence or Generator
        Required where a method draws random numbers.
    options : mapping
        Options by method, e.g. ``{"osm_plus": {"masks": 100}}``, for methods given by name.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(100, seed=1)
    >>> comparison = memcurve.compare(network, ["naive", "osm"])
    >>> [row.method for row in comparison.rows if row.largest_error > 0.1]
    ['naive', 'osm']
    """
    subject = as_network(network)
    lags = 2 * subject.states if lags is None else lags
    problem = Problem.of(subject, lags, input=input, noise=one_level(noise))
    chosen = dict(options or {})
    runs = _methods(methods, problem, chosen)
    for name in [*(name for name, _, _ in runs), *chosen]:
        table_entry(METHODS, name, "method")
    seconds, exact = _timed(problem, "exact", chosen.get("exact", {}), None)
    rows = [_row(exact, "exact", float(exact.channel_errors.max()), seconds)]
    for name, label, method_options in runs:
        try:
            seconds, curve = _timed(problem, name, method_options, seed)
        except (
            UncertainResultError, UnstableNetworkError, TooLargeError, np.linalg.LinAlgError,
        ) as error:  # fmt: skip
            # without the remedies, which are about the network
            why = str(error).partition(". ")[0] if isinstance(error, TooLargeError) else str(error)
            rows.append(ComparisonRow(name, label, None, np.nan, np.nan, np.nan, f"failed: {why}"))
        else:
            largest = float(np.abs(curve.channels - exact.channels).max())
            rows.append(_row(curve, label, largest, seconds))
    return Comparison(exact, tuple(rows), problem.setting())


def _methods(
    methods: Any, problem: Problem, options: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Name, label and options of the methods to run besides the exact one."""
    if methods is None:
        methods = [m.name for m in METHODS.values() if m.compared and m.can_answer(problem)]
    runs = []
    for one in [methods] if isinstance(methods, str) or not np.iterable(methods) else methods:
        name, pair_options = name_and_options(one, "methods")
        words = ", ".join(f"{option}={value}" for option, value in pair_options.items())
        method_options = options.get(name, {}) if isinstance(one, str) else pair_options
        runs.append((name, f"{name} ({words})" if words else name, method_options))
    return [entry for entry in runs if entry[1] != "exact"]  # with options it is another row


def _timed(
    problem: Problem, method: str, options: Mapping[str, Any], seed: Seed | None
) -> tuple[float, MemoryCurve]:
    """The curve of one method, and its time once a run on two nodes has loaded its libraries."""
    masks = np.eye(2, problem.network.inputs)
    tiny = LinearNetwork([[0.5, 0.2], [-0.2, 0.4]], masks)
    small = Problem(tiny, problem.processes, problem.noise, 1)
    with contextlib.suppress(ValueError, UncertainResultError):  # the real run will report it
        ask(small, method, seed=0, options={})
    start = time.perf_counter()
    curve = ask(problem, method, seed=seed, options=options)
    return time.perf_counter() - start, curve


def _row(curve: MemoryCurve, label: str, largest_error: float, seconds: float) -> ComparisonRow:
    note = "; ".join(note for note in curve.notes if note.kind not in _KNOWN_BEFORE)
    return ComparisonRow(
        curve.method, label, curve, float(curve.values.sum()), largest_error, seconds, note
    )
