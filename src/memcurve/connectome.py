"""The memory of a network beside that of its null models: which of it is due to how it is wired.

Draws are cases of a sweep: each is kept as soon as it is done, in a store that survives, wherever
it is computed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from memcurve import nulls, report
from memcurve.adapters import as_network
from memcurve.arguments import name_and_options, require_options, require_size, table_entry
from memcurve.errors import rank_among_notes
from memcurve.memory import noise_profile
from memcurve.memory import rank as exact_rank
from memcurve.network import LinearNetwork
from memcurve.network.operator import Operator
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.noise import ObservationNoise
from memcurve.notes import Note, counted
from memcurve.optional import optional
from memcurve.progress import Progress
from memcurve.report.document import listed
from memcurve.sweeping.engine import run_cases
from memcurve.sweeping.executors import open_executor
from memcurve.sweeping.run import provenance, told
from memcurve.sweeping.store import Row, Store, canonical
from memcurve.types import Floats

#: What an unstable network is scaled to, unless told otherwise.
USUAL_RADIUS = 0.9
#: Decimals to which memories are compared: what is computed twice agrees to more than these.
_DECIMALS = 8
#: The chance that some quantity stands out where no null model is wrong.
_LEVEL = 0.05
#: Levels of noise unless others are given.
USUAL_NOISE = (1e-3, 1e-6)

#: What the columns and rows of the table are.
_LEGEND = (
    "Usable is the memory left under errors of reading of that standard deviation, for input of "
    "unit variance; horizon the first lag from which on less than half of the input is left. Nulls "
    "are means of the draws, ± their standard deviations, z the distance in these, below counts "
    "the draws that have less. p is of one quantity alone, adjusted of all that are looked at."
)

NullModel = str | tuple[str, Mapping[str, Any]]


class Standing(NamedTuple):
    """Where a network stands among the draws of one null model, in one quantity.

    Attributes
    ----------
    null, quantity : str
        What is compared.
    observed : float
        The network's own.
    mean, spread : float
        Mean and standard deviation of the draws.
    z : float
        Effect size (observed − mean) / spread; infinite where all draws agree on another value.
    p : float
        Two-sided p-value of this quantity alone: the share of all, draws and network, that are as
        far from the mean of all. Its resolution is 1 / (draws + 1).
    adjusted : float
        The p-value where all quantities are looked at: the share of all, draws and network, in
        which some quantity is as many standard deviations from the mean of all (Westfall and Young
        1993). It is never below p, its resolution is 1 / (draws + 1), and under the null model the
        chance that it is at most α for any quantity is at most α.
    below, above : int
        How many draws have less, and more.
    draws : int
        Draws that have this quantity.
    """

    null: str
    quantity: str
    observed: float
    mean: float
    spread: float
    z: float
    p: float
    adjusted: float
    below: int
    above: int
    draws: int

    @classmethod
    def of(
        cls, null: str, quantity: str, observed: float, drawn: Floats, adjusted: float = math.nan
    ) -> Standing:
        """Compare a number with those drawn; NaN is not known."""
        values = np.round(drawn[np.isfinite(drawn)], _DECIMALS)
        own, count = round(observed, _DECIMALS), len(values)
        if not (count and math.isfinite(observed)):
            unknown = math.nan
            return cls(
                null, quantity, observed, unknown, unknown, unknown, unknown, unknown, 0, 0, count
            )
        mean, spread = float(values.mean()), float(values.std(ddof=1)) if count > 1 else math.nan
        if count > 1 and np.ptp(values) == 0:  # not what rounding makes of the mean of equal ones
            mean, spread = float(values[0]), 0.0
        away = own - mean
        z = away / spread if spread else math.copysign(math.inf, away) if away else 0.0
        below, above = int(np.sum(values < own)), int(np.sum(values > own))
        distance = _distances(np.append(own, values))
        p = float((distance >= distance[0]).mean())
        adjusted = float(np.maximum(p, adjusted))  # draws that lack others may make it smaller
        return cls(null, quantity, observed, mean, spread, z, p, adjusted, below, above, count)


def adjusted_p_values(observed: Floats, drawn: Floats) -> Floats:
    """P-values of all quantities that take into account that there are several, see `Standing`.

    Rows of ``drawn`` are draws. Each, and the network, is measured against the mean of all: under
    the null model none of them is special.
    """
    together = np.round(np.vstack([observed, drawn]), _DECIMALS)
    together = together[~np.isnan(together).all(axis=1)]
    distance = np.nan_to_num(_distances(together))
    found = (distance.max(axis=1)[:, None] >= distance[0]).mean(axis=0)
    return np.where(np.isnan(observed), math.nan, found)


def _distances(together: Any) -> Any:
    """How far numbers are from their mean, in standard deviations of them all."""
    known = ~np.isnan(together)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, together, 0.0).sum(axis=0) / count
    spread = np.sqrt(np.where(known, (together - mean) ** 2, 0.0).sum(axis=0) / count)
    return np.round(np.abs(together - mean) / np.where(spread > 0, spread, 1.0), _DECIMALS)


@dataclass(frozen=True)
class Draws:
    """The draws of one null model: its name, what it keeps, a row a draw and a column a quantity.

    NaN is what is not known, or failed, for the reason in ``error``. There are no rows where the
    null model cannot change the network, for that reason.
    """

    null: str
    keeps: str
    values: Floats
    error: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class NullComparison(report.Reported):
    """The memory of a network beside that of its null models.

    Attributes
    ----------
    network : str
        Its name.
    size, edges : int
        Nodes and non-zero weights.
    spectral_radius : float
        Of the network as compared.
    rescaled : bool
        Whether every draw was scaled to that radius.
    seed : int
        Where the draws start.
    quantities : tuple of str
        What is compared: the total (rank), usable memory and horizon at each level of noise.
    observed : array
        The network's own, one a quantity.
    nulls : tuple of Draws
        What was drawn, by null model.
    notes : tuple of Note
        What one should know before quoting the numbers.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(40, density=0.1, seed=1)
    >>> found = memcurve.compare_with_nulls(
    ...     network, "shuffle", draws=19, noise=1e-3, seed=1, executor="serial"
    ... )
    >>> [(standing.quantity, standing.p >= 1 / 20) for standing in found.standings]
    [('total (rank)', True), ('usable at 0.001', True), ('horizon at 0.001', True)]
    """

    FORMAT: ClassVar[str] = "memcurve.NullComparison/1"
    INDEXED: ClassVar[bool] = False
    DERIVED: ClassVar[tuple[str, ...]] = ("sentence", "standings")
    HEADER: ClassVar[tuple[str, ...]] = (
        "null", "quantity", "network", "nulls", "±", "z", "below", "p", "adjusted",
    )  # fmt: skip

    network: str
    size: int
    edges: int
    spectral_radius: float
    rescaled: bool
    seed: int
    quantities: tuple[str, ...]
    observed: Floats
    nulls: tuple[Draws, ...]
    notes: tuple[Note, ...] = ()

    @property
    def standings(self) -> list[Standing]:
        """Where the network stands, by null model and quantity."""
        found = []
        for draws in self.nulls:
            values = draws.values.reshape(-1, len(self.quantities))
            adjusted = adjusted_p_values(self.observed, values).tolist()
            for k, quantity in enumerate(self.quantities):
                own, drawn = float(self.observed[k]), values[:, k]
                found.append(Standing.of(draws.null, quantity, own, drawn, adjusted[k]))
        return found

    @property
    def threshold(self) -> float:
        """The adjusted p-value up to which a quantity stands out: 0.05 by null models drawn."""
        return _LEVEL / max(1, len(self._drawn))

    @property
    def can_tell(self) -> bool:
        """Whether there are draws enough for an adjusted p-value of :attr:`threshold`."""
        return all(1 / (len(draws.values) + 1) <= self.threshold for draws in self._drawn)

    @property
    def _drawn(self) -> list[Draws]:
        """Null models that can change the network."""
        return [draws for draws in self.nulls if len(draws.values)]

    @property
    def sentence(self) -> str:
        """What was found, in one sentence computed from the draws."""
        if not self.can_tell:
            drawn = [
                f"{counted(len(draws.values), 'draw')} of {draws.null}" for draws in self._drawn
            ]
            return f"{self.network}: {listed(drawn)}: too few to tell anything from chance."
        parts = []
        for draws in self.nulls:
            if not len(draws.values):
                parts.append(f"{draws.null} cannot change it ({draws.error})")
                continue
            judged: dict[str, list[str]] = {}
            for s in self.standings:
                if s.null == draws.null:
                    verdict, words = self._judged(s)
                    judged.setdefault(verdict, []).append(words)
            told = [f"{verdict}{', '.join(words)}" for verdict, words in judged.items()]
            parts.append(f"against {len(draws.values)} draws of {draws.null} {', '.join(told)}")
        return f"{self.network}: {'; '.join(parts)}."

    def _judged(self, s: Standing) -> tuple[str, str]:
        """Where the network stands in one quantity, in words, and with which numbers."""
        if math.isnan(s.p):
            return "not known: ", s.quantity
        if s.adjusted > self.threshold:
            return "within chance in ", s.quantity
        more = "more" if s.observed > s.mean else "less"
        numbers = f"({_number(s.observed)}, draws {_number(s.mean)} ± {_rounded(s.spread)})"
        return f"{more} than by chance in ", f"{s.quantity} {numbers}"

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text under the ``HEADER``."""
        return [
            (
                s.null, s.quantity, _number(s.observed), _number(s.mean), _rounded(s.spread),
                _effect(s.z), str(s.below), _rounded(s.p), _rounded(s.adjusted),
            )
            for s in self.standings
        ]  # fmt: skip

    def document(self) -> report.Document:
        """The comparison as sentences, a table and charts of the draws."""
        numeric = frozenset(range(2, len(self.HEADER)))
        table = report.Table(self.HEADER, tuple(self.table()), numeric)
        charts = [self._chart(k) for k in range(len(self.quantities))]
        drawn = "scaled to the same radius" if self.rescaled else "at their own scale"
        return report.Document(
            title=f"Memory against null models: {self.network}",
            subtitle=f"{self.size:,} nodes, {self.edges:,} edges, spectral radius "
            f"{self.spectral_radius:.6g}; null models {drawn}; seed {self.seed}",
            verdict=[self.sentence],
            good=None,
            figures=[],
            sections=[
                report.Section("The network among its null models", text=_LEGEND, table=table),
                *(report.Section(f"Draws: {chart.y_label}", chart=chart) for chart in charts),
            ],
            notes=self.notes,
        )

    def _chart(self, k: int) -> report.Chart:
        """The draws in order: a value is at the share of draws up to it."""
        series = []
        for draws in self._drawn:
            values = np.sort(draws.values[np.isfinite(draws.values[:, k]), k])
            shares = (np.arange(len(values)) + 0.5) / max(1, len(values))
            series.append(report.Series(draws.null, shares, values))
        own = float(self.observed[k])
        levels = ((f"network: {_number(own)}", own),) if math.isfinite(own) else ()
        name = self.quantities[k]
        return report.Chart(name, "share of draws", name, tuple(series), levels=levels)

    def columns(self) -> Mapping[str, Any]:
        """Where the network stands, one row a null model and quantity."""
        return {name: [getattr(s, name) for s in self.standings] for name in Standing._fields}

    def to_xarray(self) -> Any:
        """An xarray Dataset of all draws over null, draw and quantity."""
        xr = optional("xarray", "this", "frames")
        most = max(len(draws.values) for draws in self.nulls)
        drawn = np.full((len(self.nulls), most, len(self.quantities)), math.nan)
        for place, draws in enumerate(self.nulls):
            drawn[place, : len(draws.values)] = draws.values
        data = {
            "observed": ("quantity", self.observed),
            "drawn": (("null", "draw", "quantity"), drawn),
        }
        coordinates = {"null": [d.null for d in self.nulls], "quantity": list(self.quantities)}
        about = {"network": self.network, "seed": self.seed, "sentence": self.sentence}
        return xr.Dataset(data, coords=coordinates, attrs=about)

    def plot(self, ax: Any = None) -> Any:
        """Draw the network among its null models, see :func:`memcurve.plot.among_nulls`."""
        from memcurve import plot

        return plot.among_nulls(self, ax=ax)

    def _derived(self) -> dict[str, Any]:
        return {"sentence": self.sentence, "standings": [s._asdict() for s in self.standings]}

    def __repr__(self) -> str:
        cells = [self.HEADER, *self.table()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = (
            "  ".join(f"{c:<{w}}" if k < 2 else f"{c:>{w}}" for k, (c, w) in enumerate(row))
            for row in (list(zip(line, widths, strict=True)) for line in cells)
        )
        return "\n".join([f"<NullComparison of {self.network}>", *lines])


def compare_with_nulls(
    network: Any,
    nulls: NullModel | Iterable[NullModel] = ("rewire", "shuffle"),
    *,
    draws: int = 200,
    noise: float | Sequence[float] = USUAL_NOISE,
    seed: int,
    spectral_radius: float | None = None,
    rescale: bool = True,
    rank: bool = True,
    store: str | os.PathLike[str] | None = None,
    executor: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    progress: Progress = False,
) -> NullComparison:
    """Compare the memory of a network with that of networks wired, or weighted, at random.

    Three things are compared: the total memory without noise, which is the rank; the memory that
    is usable under errors of reading of each ``noise``; and its horizon, the first lag from which
    on less than half of the input is left.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        The network. All draws have its mask and readout.
    nulls : str, (str, dict), or several of them
        Null models of :data:`memcurve.nulls.NULLS`, each with its options if there are any:
        ``["rewire", ("blocks", {"blocks": classes})]``.
    draws : int
        Draws of each. Adjusted p-values have a resolution of 1 / (draws + 1).
    noise : float or sequence of float
        Standard deviations of errors in the states, relative to input of unit variance.
    seed : int
        Where the draws start; a draw depends on it, its null model and its number alone.
    spectral_radius : float, optional
        Scale the network to this first. By default it is taken as it is, or scaled to 0.9 where it
        is unstable, which a note tells.
    rescale : bool
        Scale each draw to the spectral radius of the network (the default), which a null model
        changes; else draws keep their weights, and those that are unstable fail.
    rank : bool
        Compare the total; leave it out for networks of more than some ten thousand nodes.
    store, executor, workers, address, retry_failed, progress
        As for :func:`memcurve.sweep`; without a store nothing is kept for a later run.

    Returns
    -------
    NullComparison
        A table, a picture, a sentence.

    Examples
    --------
    >>> import memcurve
    >>> ring = memcurve.ensembles.cyclic(20)
    >>> found = memcurve.compare_with_nulls(ring, "rewire", draws=19, seed=1, executor="serial")
    >>> found.standings[0].observed
    20.0
    """
    subject, notes = _subject(as_network(network), spectral_radius)
    draws = require_size(draws, "draws")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"`seed` must be a whole number from 0 on, got {seed!r}; take e.g. 1.")
    levels = ObservationNoise(np.atleast_1d(noise)).levels.tolist()
    models = _models(nulls)
    radius = subject.spectral_radius
    if rescale and radius == 0:
        text = "the network has no cycles, so a spectral radius of 0: draws keep their own scale"
        notes, rescale = [*notes, Note("network", text)], False
    job = _Job(subject, models, tuple(levels), radius if rescale else None, rank)
    fixed = {label: job.why_fixed(label, int(seed)) for label in models}
    labels = [None, *models]
    cases = [
        job.case(label, draw, int(seed))
        for label in labels
        for draw in range(1 if label is None else 0 if fixed[label] else draws)
    ]
    name = subject.name or "network"
    with (
        open_executor(executor, workers=workers, address=address) as pool,
        Store.open(store) as opened,
        told(name, progress) as tell,
    ):
        opened.provenance = {"name": name, **provenance()}
        number = opened.begin_study(f"# {name} against null models\n", map(_keyed, cases))
        if retry_failed:
            opened.retry_failed(number)
        run_cases(opened, number, job, pool, tell)
        rows = list(opened.rows(number))
    own, *drawn = ([row for row in rows if row.case["null"] == label] for label in labels)
    if own[0].values is None:
        cycles = " It has no cycles: undirected edges are to be listed in both directions."
        text = f"`network` could not be computed: {own[0].error}"
        raise ValueError(text + cycles * (radius == 0))
    quantities = tuple(job.quantities)
    found = [
        Draws(label, _kept(models[label][0]), *_values(listed, quantities, fixed[label]))
        for label, listed in zip(models, drawn, strict=True)
    ]
    observed = np.array([_or_nan(own[0].values[quantity]) for quantity in quantities])
    result = NullComparison(
        name, subject.size, int(np.count_nonzero(_entries(subject.A))), float(radius),
        rescale, int(seed), quantities, observed, tuple(found), subject.notes + tuple(notes),
    )  # fmt: skip
    return replace(result, notes=(*result.notes, *_cautions(result, draws)))


def _subject(network: LinearNetwork, radius: float | None) -> tuple[LinearNetwork, list[Note]]:
    """The network as it is compared: scaled where that is asked for, or needed."""
    if isinstance(network.A, Operator):
        raise network.A.needs_matrix("null models")
    own, notes = network.spectral_radius, []
    if radius is None and own >= 1:
        radius = USUAL_RADIUS
        text = f"its spectral radius, {own:.4g}, is not below 1: scaled to {radius}"
        notes.append(Note("network", text))
    if radius is None:
        return network, notes
    return network.replace(A=scale_to_spectral_radius(network.A, radius)), notes


def _models(given: Any) -> dict[str, tuple[str, dict[str, Any]]]:
    """Null models with their options, by what tables call them."""
    is_pair = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    listed = [given] if isinstance(given, str) or is_pair or not np.iterable(given) else given
    for one in listed:
        name, options = name_and_options(one, "nulls")
        null = table_entry(nulls.NULLS, name, "nulls")
        require_options(null.draw, {"network": None, "seed": None, **options})
        if null.needs is not None and options.get(null.needs) is None:
            raise ValueError(
                f"`{null.needs}` must be given for the null model {name!r}: "
                f"nulls=[({name!r}, {{'{null.needs}': …}})]."
            )
        words = [
            f"{key}={value}" if isinstance(value, str | int | float) else key
            for key, value in options.items()
            if key != null.needs
        ]
        label = base = f"{name}({', '.join(words)})" if words else name
        for number in itertools.count(2):
            if label not in found or canonical(found[label]) == canonical((name, options)):
                break
            label = f"{base} {number}"  # other arrays, which have no words
        found[label] = name, dict(options)
    if not found:
        raise ValueError(f"`nulls` must name at least one of {', '.join(nulls.NULLS)}; got none.")
    return found


def _kept(name: str) -> str:
    return nulls.NULLS[name].keeps


@dataclass(frozen=True)
class _Job:
    """What is computed of a case; it goes to the workers with the network."""

    network: LinearNetwork
    models: dict[str, tuple[str, dict[str, Any]]]
    levels: tuple[float, ...]
    radius: float | None
    rank: bool

    def case(self, label: str | None, draw: int, seed: int) -> dict[str, Any]:
        """All that tells one draw from another, the network by its digest."""
        parts = hashlib.sha256()
        A = self.network.A
        for part in (A.data, A.indices, A.indptr) if self.network.is_sparse else (A,):
            parts.update(np.ascontiguousarray(part).tobytes())
        parts.update(self.network.C.tobytes())
        parts.update(canonical([list(self.network.C.shape), self.network.readout]).encode())
        if label is not None:
            parts.update(canonical([self.models[label], self.radius]).encode())
        return {
            "setting": parts.hexdigest(), "null": label, "draw": draw, "seed": seed,
            "noise": list(self.levels), "rank": self.rank,
        }  # fmt: skip

    def __call__(self, case: Mapping[str, Any]) -> dict[str, Any]:
        with rank_among_notes():  # the ranks themselves are compared
            return {"values": self._values(self._drawn(case)), "curve": None}

    def _drawn(self, case: Mapping[str, Any]) -> LinearNetwork:
        label = case["null"]
        if label is None:
            return self.network
        drawn = self._null(label, case["seed"], case["draw"])
        if self.radius is None:
            return drawn
        return drawn.replace(A=scale_to_spectral_radius(drawn.A, self.radius))

    def why_fixed(self, label: str, seed: int) -> str | None:
        """Why a null model draws nothing but the network itself; None if it draws others."""
        (note,) = self._null(label, seed, 0).notes[-1:]
        _, is_fixed, reason = note.partition(nulls.AS_IT_WAS)
        return reason if is_fixed else None

    def _null(self, label: str, seed: int, draw: int) -> LinearNetwork:
        name, options = self.models[label]
        # by the name, so that a draw is the same whatever other null models are asked for
        stream = np.random.SeedSequence([seed, zlib.crc32(label.encode()), draw])
        return nulls.make(name, self.network, seed=stream, **options)

    @property
    def quantities(self) -> list[str]:
        """What is computed of each network."""
        short = (f"{x:g}" if float(f"{x:g}") == x else repr(x) for x in self.levels)
        named = [text.replace("e-0", "e-") for text in short]
        kinds = [f"{kind} at {name}" for kind in ("usable", "horizon") for name in named]
        return ["total (rank)"] * self.rank + kinds

    def _values(self, network: LinearNetwork) -> dict[str, float | None]:
        profile = noise_profile(network, self.levels)
        usable = [None if math.isnan(total) else total for total in profile.known_totals.tolist()]
        horizons = [curve.horizon(0.5) for curve in profile]
        total = [exact_rank(network)] if self.rank else []
        return dict(zip(self.quantities, [*total, *usable, *horizons], strict=True))


def _keyed(case: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    text = json.dumps(["memcurve.NullDraw/2", case], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest(), case


def _values(
    rows: list[Row], quantities: Sequence[str], error: str | None
) -> tuple[Floats, str | None]:
    """The draws as numbers, and why there are none, or why the first of those that failed did."""
    values = [[_or_nan((row.values or {}).get(name)) for name in quantities] for row in rows]
    error = next((row.error for row in rows if row.error), error)
    return np.array(values, dtype=float).reshape(len(rows), len(quantities)), error


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _entries(A: Any) -> Any:
    return A if isinstance(A, np.ndarray) else A.data


def _cautions(result: NullComparison, draws: int) -> Iterator[Note]:
    """What the draws do not tell."""
    text = "p is of one quantity alone; adjusted takes into account that there are "
    text += f"{len(result.quantities)}. What stands out has adjusted ≤ {result.threshold:.2g}"
    models = round(_LEVEL / result.threshold)
    text += f" (0.05 / {models} null models)" * (models > 1)
    if not result.can_tell:
        needed = math.ceil(1 / result.threshold) - 1
        text += f"; {counted(draws, 'draw')} cannot show that, {needed} could"
    yield Note("sweep", text)
    for one in result.nulls:
        if not len(one.values):
            text = f"{one.null} cannot change this network ({one.error}): nothing was drawn, and "
            yield Note("sweep", f"{text}there is no p-value")
        lost = int(np.sum(np.isnan(one.values).all(axis=1)))
        if lost:
            yield Note(
                "sweep",
                f"{lost} of {draws} draws of {one.null} failed and are left out, so that the "
                f"others are no longer a fair draw; the first: {one.error}",
            )
    if not result.rescaled:
        yield Note("sweep", "draws keep their own scale, so that their spectral radii differ")


def _number(value: float) -> str:
    if math.isnan(value):
        return "—"
    return f"{value:.0f}" if value == int(value) else f"{value:.4g}"


def _rounded(value: float) -> str:
    return "—" if math.isnan(value) else f"{value:.2g}"


def _effect(z: float) -> str:
    if math.isnan(z):
        return "—"
    return f"{z:+.1f}".replace("-", "−").replace("inf", "∞") if z else "0"
