"""Capacities: every capacity of a network, in total, by degree, by delay, and word by word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from memcurve.core.arguments import require_number, require_size
from memcurve.core.notes import Note, NoteTexts, counted, texts_beside
from memcurve.core.result import installed_versions
from memcurve.core.types import Floats
from memcurve.memory import MemoryCurve
from memcurve.rendering.report import Reported
from memcurve.rendering.report.document import Chart, Document, Section, Series, Table
from memcurve.state_affine.faults import fault
from memcurve.state_affine.tree import Tree, Word

LISTED = 20  # words that tables and reports list
VISIBLE = 1e-3  # share of the largest number of a picture below which nothing is seen
MOST_DEGREES = 12  # that one line of text each is printed for
_TEXTS = texts_beside(__file__)
#: Sentences of the report.
REPORT: dict[str, str] = _TEXTS["report"]
#: The note of a name, filled with facts.
note = NoteTexts(_TEXTS["notes"])


class WordCapacity(NamedTuple):
    """A word and its capacity."""

    word: Word
    capacity: float


class Listing(tuple[WordCapacity, ...]):
    """Words in decreasing order of capacity; ``remainder`` is what all others have together."""

    remainder: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Capacities(Reported):
    """Every capacity of a network, exactly.

    A word ``(k_0, k_1, …, k_m)``, newest first, stands for the target
    φ_{k_0}(z_t)·φ_{k_1}(z_{t−1})·…·φ_{k_m}(z_{t−m}) with orthonormal polynomials φ_k of degree k;
    its degree is k_0 + … + k_m.

    Attributes
    ----------
    total : float
        Of all words: the rank of the states read; with noise, its usable part.
    by_degree : dict
        Degree → total of all words of that degree. ``beyond`` is the total of higher degrees.
    by_delay, by_window : (m,) arrays
        Totals of all functions of z_{t−j}, z_{t−j−1}, … alone, j = 0, 1, …; and of all words whose
        oldest factor is z_{t−m}.
    table : (degrees, lags) array
        Total of all words of a degree and with an oldest lag: what :meth:`plot` draws.
    curve : MemoryCurve
        Capacities of z_{t−τ} itself, the memory curve.
    error : float
        Bound on the error of every number: estimated in floating point, proven in balls.
    rank, states : int
        Total without noise, exactly; and the number of states, or of outputs, that are read.
    arithmetic : str
        ``"floats"``, ``"balls"`` or ``"poles"`` (of a linear network).
    listed : tuple of WordCapacity
        The largest, in decreasing order.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.bilinear([[0.5]], [[0.3]], [1.0])
    >>> result = memcurve.capacities(network)
    >>> result.total
    1.0
    >>> round(result.of((0, 1)), 6), round(result.of((1, 1)), 6)
    (0.18, 0.0216)
    >>> [pair.word for pair in result.largest(3)]
    [(1,), (0, 1), (0, 0, 1)]
    """

    FORMAT: ClassVar[str] = "memcurve.Capacities/1"
    ATTRIBUTES: ClassVar[tuple[str, ...]] = ("total", "rank", "error")
    DERIVED: ClassVar[tuple[str, ...]] = ("beyond",)

    total: float
    by_degree: Mapping[int, float]
    by_delay: Floats
    by_window: Floats
    table: Floats
    curve: MemoryCurve
    error: float
    rank: int
    states: int
    arithmetic: str
    listed: tuple[WordCapacity, ...] = ()
    notes: tuple[Note, ...] = ()
    name: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rest", self.total - sum(pair.capacity for pair in self.listed))
        if self.table.ndim != 2:  # read from JSON, where no rows leave no columns
            object.__setattr__(self, "table", np.zeros((0, 0)))

    def with_tree(self, tree: Any, search: Any) -> Capacities:
        """The same, with the coordinates in which single words are computed."""
        object.__setattr__(self, "_tree", tree)
        object.__setattr__(self, "_search", search)
        return self

    @property
    def beyond(self) -> float:
        """Total of the degrees above those of ``by_degree``; exact, as the total is."""
        return max(0.0, self.total - sum(self.by_degree.values()))

    @property
    def remainder(self) -> float:
        """Total of all words but those last listed: by :meth:`largest`, at first ``listed``."""
        rest: float = self.__dict__["_rest"]
        return rest

    @property
    def tree(self) -> Tree:
        """Input-normal coordinates, which determine any capacity; files do not store them."""
        tree: Tree = self._coordinates()[0]
        return tree

    def _coordinates(self) -> tuple[Any, Any]:
        if "_tree" not in self.__dict__:
            raise ValueError(fault("from_file"))
        return self.__dict__["_tree"], self.__dict__["_search"]

    def of(self, word: Any) -> float:
        """The capacity of one word: degrees by lag, newest first, so that (0, 1) is z_{t−1}."""
        return float(self.tree.capacity(_checked_word(word)))

    def largest(self, count: int = LISTED, *, above: float | None = None) -> Listing:
        """The largest capacities in exactly decreasing order, and the exact remainder.

        Parameters
        ----------
        count : int
            How many.
        above : float, optional
            All words with at least this capacity instead: none is missing.
        """
        pairs: Any
        if above is not None:
            level = require_number(above, "above", "above 0", lambda c: c > 0)
            pairs = self._coordinates()[1].above(level)
        elif require_size(count, "count") <= len(self.listed):
            pairs = self.listed[:count]
        else:
            pairs = self._coordinates()[1].first(count)
        listing = Listing(WordCapacity(*pair) for pair in pairs)
        listing.remainder = self.total - sum(pair.capacity for pair in listing)
        object.__setattr__(self, "_rest", listing.remainder)
        return listing

    def columns(self) -> Mapping[str, Any]:
        """One row per degree: its total capacity and its error."""
        return {
            "degree": list(self.by_degree),
            "capacity": list(self.by_degree.values()),
            "error": [self.error] * len(self.by_degree),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw a bar for each oldest lag, stacked by degree."""
        from memcurve.rendering import plot

        return plot.chart(replace(self.chart(), kind="bars"), ax=ax)

    def chart(self) -> Chart:
        """A line for each degree, over the oldest lag, up to the last visible one."""
        count = self.table.shape[1]
        rows = {f"degree {d}": row for d, row in enumerate(self.table, 1)}
        if len(self.table):
            rows["higher degrees"] = np.maximum(self.by_window[:count] - self.table.sum(axis=0), 0)
        highest = max((row.max(initial=0.0) for row in rows.values()), default=0.0)
        seen = {name: row for name, row in rows.items() if row.max(initial=0.0) > VISIBLE * highest}
        last = max(
            (int(np.flatnonzero(y > VISIBLE * highest)[-1]) for y in seen.values()), default=0
        )
        lines = [Series(name, np.arange(last + 1.0), row[: last + 1]) for name, row in seen.items()]
        title = "Capacity by degree and oldest lag"
        empty = Series("degree 1", np.zeros(0), np.zeros(0))
        return Chart(title, "oldest lag (time steps)", "capacity", tuple(lines) or (empty,))

    def document(self) -> Document:
        """The report, independent of its rendering."""
        degrees = [(str(d), c) for d, c in self.by_degree.items()] + [("higher", self.beyond)]
        shares = tuple((d, f"{c:.6f}", f"{100 * c / (self.total or 1):.2f} %") for d, c in degrees)
        words = tuple((target_name(w), str(sum(w)), f"{c:.6f}") for w, c in self.listed)
        by_degree = Table(("degree", "capacity", "share"), shares, frozenset({0, 1, 2}))
        largest = Table(("target", "degree", "capacity"), words, frozenset({1, 2}))
        chart = self.chart()
        linear = self.by_degree.get(1, 0.0)
        rest = f"{self.total - linear:.6g}"
        return Document(
            title=REPORT["title"].format(name=self.name),
            subtitle=REPORT["subtitle"].format(states=counted(self.states, "state")),
            verdict=[
                REPORT["total"].format(total=f"{self.total:.6g}", rank=self.rank),
                REPORT["linear"].format(linear=f"{linear:.6g}", rest=rest),
            ],
            good=None,
            figures=[
                ("network", self.name),
                ("total capacity", f"{self.total:.10g} of {self.states} states"),
                ("linear memory", f"{linear:.6g}"),
                ("error of each number", f"{self.error:.1e} ({self.arithmetic})"),
            ],
            sections=[
                Section("Capacity by degree", REPORT["degrees"], table=by_degree),
                Section(chart.title, REPORT["lags"], chart=chart),
                Section("The largest capacities", REPORT["words"], table=largest),
            ],
            notes=self.notes,
            footer=", ".join(f"{name} {version}" for name, version in self.versions.items()) + ".",
        )

    def __repr__(self) -> str:
        shown = [(d, c) for d, c in self.by_degree.items() if c >= 1e-6 or d == 1][:MOST_DEGREES]
        rows = [f"  {d:6d}  {c:10.6f}" for d, c in shown]
        higher = self.total - sum(c for _, c in shown)
        rows += [f"  others  {higher:10.6f}"] * (higher >= 1e-6)
        head = f"<Capacities {self.name}, {self.states} states, rank {self.rank}"
        last = f"   total  {self.total:10.6f} ± {self.error:.1e}>"
        notes = [f"  note: {note}" for note in self.notes]
        return "\n".join([f"{head}\n  degree    capacity", *rows, last, *notes])


def target_name(word: Word) -> str:
    """E.g. ``p1[0]·p2[3]`` for φ₁(z_t)·φ₂(z_{t−3}), as measured capacities are called."""
    return "·".join(f"p{k}[{lag}]" for lag, k in enumerate(word) if k)


def _checked_word(word: Any) -> Word:
    listed = tuple(word) if isinstance(word, list | tuple | np.ndarray) else ()
    whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in listed)
    if not listed or not whole or min(listed) < 0 or not any(listed):
        raise ValueError(fault("word", got=word))
    while not listed[-1]:
        listed = listed[:-1]
    return tuple(int(k) for k in listed)
