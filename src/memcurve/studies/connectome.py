"""Memory of a network compared with null models: how much is explained by the wiring.

Surrogates are cases of a sweep: each result is saved as soon as it is computed, and an interrupted
comparison continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from memcurve.core import arguments
from memcurve.core.cells import columns_of_text
from memcurve.core.errors import rank_among_notes
from memcurve.core.notes import Note, counted, texts_beside
from memcurve.core.progress import Progress
from memcurve.core.types import Floats
from memcurve.inputs.noise import ObservationNoise
from memcurve.io.adapters import as_network
from memcurve.memory import noise_profile
from memcurve.memory import rank as exact_rank
from memcurve.network import LinearNetwork
from memcurve.network.device import DeviceMatrix, on_host
from memcurve.network.operator import Operator
from memcurve.network.scaling import scale_to_spectral_radius
from memcurve.rendering import plot, report
from memcurve.rendering.report.document import listed
from memcurve.studies.nulls import NEEDS, NULLS, UNCHANGED, make
from memcurve.studies.sweeping.run import finished_cases
from memcurve.studies.sweeping.store import CaseResult, canonical
from memcurve.studies.sweeping.tables import number_text

#: Spectral radius that an unstable network is scaled to by default.
USUAL_RADIUS = 0.9
#: Decimals to which memories are compared. Doubled: rounding would count as a difference.
_DECIMALS = 8
#: Family-wise error rate. Doubled: twice as many false discoveries, with half as many surrogates.
_LEVEL = 0.05
#: Default noise levels.
USUAL_NOISE = (1e-3, 1e-6)
MOST_DRAWS = 1_000_000  # all are listed before the first is computed
#: Name in stores of why a surrogate can only be the network itself.
_FIXED = "unchanged"

#: Sentences of the report and its notes, by kind.
PROSE: dict[str, str] = texts_beside(__file__)

NullModel = str | tuple[str, Mapping[str, Any]]


class PermutationTest(NamedTuple):
    """Permutation test of one quantity of a network against the surrogates of one null model.

    Attributes
    ----------
    null, quantity, observed
        Null model, quantity, and its value for the network.
    mean, spread, z : float
        Mean and standard deviation of the surrogates, and the effect size (observed − mean) /
        spread, infinite if all surrogates agree on another value.
    p : float
        Two-sided p-value of this quantity alone: the fraction of surrogates and network together
        that are at least as far from their common mean. Its resolution is 1 / (draws + 1).
    adjusted : float
        The p-value corrected for testing all quantities: the fraction in which some quantity is at
        least as many standard deviations from the common mean (Westfall and Young 1993). Under the
        null model the probability that it is at most α for any quantity is at most α.
    below, above, draws : int
        Number of surrogates below and above the network, and of those with a value.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.studies.connectome import PermutationTest
    >>> PermutationTest.of("rewire", "total", 10.0, np.array([1.0, 2.0, 3.0, 4.0])).p
    0.2
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
    ) -> PermutationTest:
        """Test a number against those of the surrogates; NaN is not known."""
        values = np.round(drawn[np.isfinite(drawn)], _DECIMALS)
        own, count = round(observed, _DECIMALS), len(values)
        if not (count and math.isfinite(observed)):
            nan = math.nan
            return cls(null, quantity, observed, nan, nan, nan, nan, nan, 0, 0, count)
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
    """P-values corrected for testing several quantities, see :class:`PermutationTest`."""
    together = np.round(np.vstack([observed, drawn]), _DECIMALS)
    together = together[~np.isnan(together).all(axis=1)]
    distance = np.nan_to_num(_distances(together))
    adjusted = (distance.max(axis=1)[:, None] >= distance[0]).mean(axis=0)
    return np.where(np.isnan(observed), math.nan, adjusted)


def _distances(together: Any) -> Any:
    """Distances from the mean, in standard deviations."""
    count = np.maximum((~np.isnan(together)).sum(axis=0), 1)
    away = together - np.nansum(together, axis=0) / count
    spread = np.sqrt(np.nansum(away**2, axis=0) / count)
    return np.round(np.abs(away) / np.where(spread > 0, spread, 1.0), _DECIMALS)


@dataclass(frozen=True)
class Draws:
    """Surrogates of one null model, one row per surrogate, one column per quantity.

    NaN is not known, or failed for the reason in ``error``. There are no rows if the null model
    cannot change the network, for the reason in ``error``.
    """

    null: str
    values: Floats
    error: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class NullComparison(report.Reported):
    """Memory of a network compared with surrogates of null models.

    Attributes
    ----------
    network, size, edges
        Its name, nodes and non-zero weights.
    spectral_radius : float
        Of the network as compared, to which every surrogate was scaled, unless it is 0.
    quantities, observed
        What is compared: total (rank), usable memory and memory horizon at each noise level; and
        the values of the network.
    nulls : tuple of Draws
        Surrogates by null model, of this ``seed``.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(40, density=0.1, seed=1)
    >>> comparison = memcurve.compare_with_nulls(
    ...     network, "shuffle", draws=19, noise=1e-3, seed=1, executor="serial"
    ... )
    >>> [test.quantity for test in comparison.tests]
    ['total (rank)', 'usable memory (σ = 0.001)', 'memory horizon (σ = 0.001)']
    >>> all(test.p >= 1 / 20 for test in comparison.tests)
    True
    """

    FORMAT: ClassVar[str] = "memcurve.NullComparison/2"
    INDEXED: ClassVar[bool] = False
    DERIVED: ClassVar[tuple[str, ...]] = ("sentence", "tests")
    HEADER: ClassVar[tuple[str, ...]] = (
        "null model", "quantity", "network", "null mean", "±", "z", "surrogates below", "p",
        "adjusted p",
    )  # fmt: skip

    network: str
    size: int
    edges: int
    spectral_radius: float
    seed: int
    quantities: tuple[str, ...]
    observed: Floats
    nulls: tuple[Draws, ...]
    notes: tuple[Note, ...] = ()

    @property
    def tests(self) -> list[PermutationTest]:
        """Permutation tests by null model and quantity."""
        tests = []
        for draws in self.nulls:
            values = draws.values.reshape(-1, len(self.quantities))
            adjusted = adjusted_p_values(self.observed, values).tolist()
            for k, quantity in enumerate(self.quantities):
                own, drawn = float(self.observed[k]), values[:, k]
                tests.append(PermutationTest.of(draws.null, quantity, own, drawn, adjusted[k]))
        return tests

    @property
    def threshold(self) -> float:
        """Adjusted p-value up to which a quantity is significant: 0.05 / null models drawn."""
        return _LEVEL / max(1, len(self._drawn))

    @property
    def can_tell(self) -> bool:
        """Whether there are enough surrogates to reach :attr:`threshold`."""
        return all(1 / (len(draws.values) + 1) <= self.threshold for draws in self._drawn)

    @property
    def _drawn(self) -> list[Draws]:
        """Null models that can change the network."""
        return [draws for draws in self.nulls if len(draws.values)]

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        if not self.can_tell:
            counts = [counted(len(d.values), f"{d.null} surrogate") for d in self._drawn]
            about = {"network": self.network, "surrogates": listed(counts)}
            return PROSE["few"].format(level=self.threshold, **about)
        tests = self.tests
        parts = []
        for draws in self.nulls:
            if not len(draws.values):
                parts.append(PROSE["fixed"].format(null=draws.null, reason=draws.error))
                continue
            verdicts: dict[str, list[str]] = {}
            for test in tests:
                if test.null == draws.null:
                    verdict, words = self._verdict(test)
                    verdicts.setdefault(verdict, []).append(words)
            for verdict, names in verdicts.items():
                sentence, count = PROSE[verdict], len(draws.values)
                listing = ", ".join(names)
                parts.append(sentence.format(quantities=listing, count=count, null=draws.null))
        return f"{self.network}: {'; '.join(parts)}."

    def _verdict(self, test: PermutationTest) -> tuple[str, str]:
        """Kind of the sentence on one test, and the quantity with its numbers."""
        if math.isnan(test.p):
            return "unknown", test.quantity
        if test.adjusted > self.threshold:
            return "same", test.quantity
        numbers = PROSE["numbers"].format(
            quantity=test.quantity, observed=_number(test.observed), mean=_number(test.mean),
            spread=_rounded(test.spread),
        )  # fmt: skip
        return "higher" if test.observed > test.mean else "lower", numbers

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text under the ``HEADER``."""
        return [
            (
                s.null, s.quantity, _number(s.observed), _number(s.mean), _rounded(s.spread),
                _effect(s.z), str(s.below), _rounded(s.p), _rounded(s.adjusted),
            )
            for s in self.tests
        ]  # fmt: skip

    def document(self) -> report.Document:
        """The comparison as sentences, a table and charts of the surrogates."""
        numeric = frozenset(range(2, len(self.HEADER)))
        table = report.Table(self.HEADER, tuple(self.table()), numeric)
        charts = [self._chart(k) for k in range(len(self.quantities))]
        scale = "scaled to the same radius" if self.spectral_radius else "at their own scale"
        return report.Document(
            title=f"Memory compared with null models: {self.network}",
            subtitle=f"{self.size:,} nodes, {self.edges:,} edges, spectral radius "
            f"{self.spectral_radius:.6g}; surrogates {scale}; seed {self.seed}",
            verdict=[self.sentence],
            good=None,
            figures=[],
            sections=[
                report.Section("Permutation tests", text=PROSE["legend"], table=table),
                *(report.Section(f"Surrogates: {chart.title}", chart=chart) for chart in charts),
            ],
            notes=self.notes,
        )

    def _chart(self, k: int) -> report.Chart:
        """A row of points per null model, one for each surrogate, and a rule at the network."""
        series = []
        for row, draws in enumerate(self._drawn):
            values = draws.values[np.isfinite(draws.values[:, k]), k]
            # spread evenly over the height of the row, whatever the values are
            heights = row + 0.6 * (np.arange(len(values)) * (math.sqrt(5) - 1) / 2 % 1 - 0.5)
            series.append(report.Series(draws.null, values, heights))
        own, name = float(self.observed[k]), self.quantities[k]
        marks = ((f"network: {_number(own)}", own),) if math.isfinite(own) else ()
        unit = "time steps" if "horizon" in name else "past inputs"
        x_label = f"{name}, in {unit}"
        return report.Chart(name, x_label, "null model", tuple(series), kind="strip", marks=marks)

    def columns(self) -> Mapping[str, Any]:
        """The permutation tests, one row per null model and quantity."""
        return {
            name: [getattr(test, name) for test in self.tests] for name in PermutationTest._fields
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the network among its surrogates, see :func:`memcurve.plot.among_nulls`."""
        return plot.among_nulls(self, ax=ax)

    def _derived(self) -> dict[str, Any]:
        return {"sentence": self.sentence, "tests": [test._asdict() for test in self.tests]}

    def __repr__(self) -> str:
        lines = columns_of_text([self.HEADER, *self.table()], left=2)
        return "\n".join([f"<NullComparison of {self.network}>", *lines])


def compare_with_nulls(
    network: Any,
    nulls: NullModel | Iterable[NullModel] | None = None,
    *,
    blocks: Any = None,
    draws: int = 200,
    noise: float | Sequence[float] = USUAL_NOISE,
    seed: int,
    spectral_radius: float | None = None,
    rank: bool = True,
    store: str | os.PathLike[str] | None = None,
    executor: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    progress: Progress = False,
) -> NullComparison:
    """Compare the memory of a network with that of surrogates, rewired or reweighted at random.

    Three quantities are tested: the total memory without noise, which is the rank; the usable
    memory under observation noise of each level; and the memory horizon at that level, the first
    lag at which MC_τ drops below 0.5. The :class:`memcurve.NullComparison` has permutation tests.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        The network. All surrogates have its mask and readout.
    nulls : str, (str, dict), or several of them
        Null models of :data:`memcurve.nulls.NULLS`, each with its options if there are any:
        ``["rewire", ("shuffle", {"signs": "fixed"})]``. By default ``rewire`` and ``shuffle``; with
        ``blocks`` the first is ``blocks``, since rewiring without regard to classes makes direct
        connections between some that have few, such as from sensory to motor neurons.
    blocks : (N,) array, optional
        Class of each node, for the null model ``blocks``, which keeps all connections between them.
    draws : int
        Surrogates per null model. Adjusted p-values have a resolution of 1 / (draws + 1).
    noise : float or sequence of float
        Standard deviations of the observation noise, relative to input of unit variance.
    seed : int
        Seed; a surrogate depends on it, its null model and its number alone.
    spectral_radius : float, optional
        Scale the network to this first. By default it is used as given, or scaled to 0.9 if it is
        unstable, with a note. Each surrogate is scaled to the spectral radius of the network, which
        a null model changes.
    rank : bool
        Compare the total; leave it out for networks of more than some ten thousand nodes.
    store, executor, workers, address, retry_failed, progress
        As for :func:`memcurve.sweep`; without a store nothing is saved for a later run.

    Examples
    --------
    >>> import memcurve
    >>> ring = memcurve.ensembles.cyclic(20)
    >>> result = memcurve.compare_with_nulls(ring, "rewire", draws=19, seed=1, executor="serial")
    >>> result.tests[0].observed
    20.0
    """
    from scipy.sparse import csr_array

    subject, notes = _subject(as_network(network), spectral_radius)
    if (draws := arguments.require_size(draws, "draws")) > MOST_DRAWS:
        raise ValueError(f"`draws` must be at most {MOST_DRAWS:,}, got {draws:,}; give fewer.")
    seed = arguments.require_limit(seed, "seed")
    levels = dict.fromkeys(ObservationNoise(np.atleast_1d(noise)).levels.tolist())
    if nulls is None:
        nulls = ("rewire" if blocks is None else "blocks", "shuffle")
    models = _models(nulls, blocks)
    kind = complex if subject.is_complex else float
    edgeless = subject.replace(A=csr_array((subject.size, subject.size), dtype=kind))
    for model, options in models.values():  # refuses wrong options, before anything takes long
        make(model, edgeless, seed=1, **options)
    radius = subject.spectral_radius
    if radius == 0:
        notes = [*notes, Note("network", PROSE["no cycles"])]
    job = _Job(subject, models, tuple(levels), radius or None, rank)
    labels = [None, *models]
    cases = [
        _keyed(job.case(label, draw, seed))
        for label in labels
        for draw in range(1 if label is None else draws)
    ]
    name = subject.name or "network"
    rows, _ = finished_cases(
        job, name, f"# {name} against null models\n", lambda: cases, store,
        executor=executor, workers=workers, address=address, retry_failed=retry_failed,
        progress=progress,
    )  # fmt: skip
    own, *drawn = ([row for row in rows if row.case["null"] == label] for label in labels)
    if own[0].values is None:
        raise ValueError(f"`network` could not be computed: {own[0].error}")
    quantities = job.quantities
    surrogates = [
        Draws(label, *_values(results, quantities))
        for label, results in zip(models, drawn, strict=True)
    ]
    observed = np.array([own[0].values[name] for name in quantities], dtype=float)
    weights = subject.A if isinstance(subject.A, np.ndarray) else subject.A.data
    result = NullComparison(
        name, subject.size, int(np.count_nonzero(weights)), float(radius), seed, quantities,
        observed, tuple(surrogates), subject.notes + tuple(notes),
    )  # fmt: skip
    return replace(result, notes=(*result.notes, *_cautions(result, draws)))


def _subject(network: LinearNetwork, radius: float | None) -> tuple[LinearNetwork, list[Note]]:
    """The network as it is compared: scaled where that is asked for, or needed."""
    if isinstance(network.A, Operator):
        raise network.A.needs_matrix("null models")
    own, notes = network.spectral_radius, []
    if radius is None and own >= 1:
        radius = USUAL_RADIUS
        notes.append(Note("network", PROSE["scaled"].format(own=own, radius=radius)))
    if radius is None:
        return network, notes
    radius = arguments.require_number(radius, "spectral_radius", "above 0", lambda r: r > 0)
    return _scaled(network, radius), notes


def _scaled(network: LinearNetwork, radius: float) -> LinearNetwork:
    """The network at this spectral radius, where it was."""
    A = scale_to_spectral_radius(on_host(network.A), radius)
    return network.replace(A=network.A.like(A) if isinstance(network.A, DeviceMatrix) else A)


def _models(given: Any, blocks: Any = None) -> dict[str, tuple[str, dict[str, Any]]]:
    """Null models with their options, by what tables call them."""
    is_pair = isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Mapping)
    models: dict[str, tuple[str, dict[str, Any]]] = {}
    for one in [given] if isinstance(given, str) or is_pair or not np.iterable(given) else given:
        name, options = arguments.name_and_options(one, "nulls")
        arguments.table_entry(NULLS, name, "nulls")
        if name == "blocks" and blocks is not None:
            options = {"blocks": blocks, **options}
        words = [
            f"{key}={value}" if isinstance(value, str | int | float) else key
            for key, value in options.items()
            if key != NEEDS.get(name)
        ]
        label = f"{name}({', '.join(words)})" if words else name
        if label in models and canonical(models[label]) != canonical((name, options)):
            raise ValueError(PROSE["twice"].format(label=label))
        models[label] = name, dict(options)
    if not models:
        raise ValueError(f"`nulls` must name at least one of {', '.join(NULLS)}; got none.")
    return models


@dataclass(frozen=True)
class _Job:
    """The job of a case; it is sent to the workers with the network."""

    network: LinearNetwork
    models: dict[str, tuple[str, dict[str, Any]]]
    levels: tuple[float, ...]
    radius: float | None
    rank: bool

    def case(self, label: str | None, draw: int, seed: int) -> dict[str, Any]:
        """Everything that identifies a surrogate; the network by its digest."""
        model = None if label is None else [self.models[label], self.radius]
        setting = hashlib.sha256(canonical([self._digest, model]).encode()).hexdigest()
        return {
            "setting": setting, "null": label, "draw": draw, "seed": seed,
            "noise": list(self.levels), "rank": self.rank,
        }  # fmt: skip

    @cached_property
    def _digest(self) -> str:
        """SHA-256 of the network."""
        parts, A = hashlib.sha256(), self.network.A
        for part in (A.data, A.indices, A.indptr) if self.network.is_sparse else (A,):
            parts.update(np.ascontiguousarray(part).data)
        parts.update(self.network.C.tobytes())
        parts.update(canonical([list(self.network.C.shape), self.network.readout]).encode())
        return parts.hexdigest()

    def __call__(self, case: Mapping[str, Any]) -> dict[str, Any]:
        if case["null"] not in self._fixed:
            drawn = self._drawn(case)
            reasons = [note.partition(UNCHANGED)[2] for note in drawn.notes[-1:]]
            if case["null"] is None or not any(reasons):
                with rank_among_notes():  # the ranks themselves are compared
                    return self._values(drawn)
            self._fixed[case["null"]] = reasons[0]
        return {_FIXED: self._fixed[case["null"]]}

    @cached_property
    def _fixed(self) -> dict[str, str]:
        """Null models that cannot change the network, as a draw here has shown, and why."""
        return {}

    def _drawn(self, case: Mapping[str, Any]) -> LinearNetwork:
        label = case["null"]
        if label is None:
            return self.network
        name, options = self.models[label]
        # by the name, so that a draw is the same whatever other null models are asked for
        stream = np.random.SeedSequence([case["seed"], zlib.crc32(label.encode()), case["draw"]])
        drawn = make(name, self.network, seed=stream, **options)
        return drawn if self.radius is None else _scaled(drawn, self.radius)

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the quantities in tables and stores."""
        levels = [number_text(x).replace("e-0", "e-") for x in self.levels]
        names = [
            f"{what} (σ = {x})" for what in ("usable memory", "memory horizon") for x in levels
        ]
        return (*["total (rank)"] * self.rank, *names)

    def _values(self, network: LinearNetwork) -> dict[str, float | None]:
        profile = noise_profile(network, self.levels)
        usable = [None if math.isnan(total) else total for total in profile.known_totals.tolist()]
        horizons = [curve.horizon(0.5) for curve in profile]
        total = [exact_rank(network)] if self.rank else []
        return dict(zip(self.quantities, [*total, *usable, *horizons], strict=True))


def _keyed(case: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    text = json.dumps(["memcurve.NullDraw/4", case], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest(), case


def _values(rows: list[CaseResult], names: Sequence[str]) -> tuple[Floats, str | None]:
    """Values of the surrogates, and why there are none, or the first error."""
    if reasons := [row.values[_FIXED] for row in rows if row.values and _FIXED in row.values]:
        return np.zeros((0, len(names))), reasons[0]
    values = [[(row.values or {}).get(name) for name in names] for row in rows]
    error = next((row.error for row in rows if row.error), None)
    return np.array(values, dtype=float).reshape(len(rows), len(names)), error  # None is NaN


def _cautions(result: NullComparison, draws: int) -> Iterator[Note]:
    """Limits of the tests."""
    models = round(_LEVEL / result.threshold)
    text = PROSE["adjusted"].format(count=len(result.quantities), threshold=result.threshold)
    text += PROSE["models"].format(models=models) if models > 1 else ""
    if not result.can_tell:
        needed = math.ceil(1 / result.threshold) - 1
        surrogates = counted(draws, "surrogate")
        text += PROSE["unreachable"].format(surrogates=surrogates, needed=needed)
    yield Note("sweep", text)
    for one in result.nulls:
        about = {"null": one.null, "draws": draws, "reason": one.error}
        if not len(one.values):
            yield Note("sweep", PROSE["no p-value"].format(**about))
        lost = int(np.sum(np.isnan(one.values).all(axis=1)))
        if lost:
            yield Note("sweep", PROSE["failed"].format(lost=lost, **about))


def _number(value: float) -> str:
    return _rounded(value, ".0f" if value % 1 == 0 else ".4g")


def _rounded(value: float, digits: str = ".2g") -> str:
    return "—" if math.isnan(value) else f"{value:{digits}}"


def _effect(z: float) -> str:
    return _rounded(z, "+.1f").replace("-", "−").replace("inf", "∞") if z else "0"
