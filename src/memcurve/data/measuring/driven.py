"""Measurement report: echo state property, consistency, memory and capacity of a driven model."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import Seed, generator, require_number
from memcurve.core.errors import ModelError, UnstableNetworkError
from memcurve.core.notes import Note, counted
from memcurve.core.progress import Progress, progress_callback
from memcurve.core.result import installed_versions
from memcurve.core.types import Floats
from memcurve.data import Capacity, capacity_from_data, long_run_variance
from memcurve.data.measuring.forgetting import settled_run
from memcurve.data.measuring.models import as_model
from memcurve.data.measuring.run import drawn_inputs, measure
from memcurve.data.measuring.scales import SCALES, ScaleProfile, measure_scales
from memcurve.data.prose import REPORT, note
from memcurve.memory import MemoryCurve
from memcurve.rendering.report import Chart, Document, Reported, Section, Series, Table

#: Rows per state that consistency is estimated from, and at least. Doubled: intervals narrower by
#: 1/√2, in twice the time.
ROWS_PER_STATE = 30
LEAST_ROWS = 3000
#: Principal components below this fraction of the largest are rounding. Doubled: hardly a change.
NEGLIGIBLE = 1e-9
#: Consistent fraction of the dimensions from which a response counts as consistent.
CONSISTENT = 0.9


@dataclass(frozen=True)
class Consistency:
    """Consistent dimensions, tr(Σ⁻¹Γ) of two runs of one input, of all; half the interval."""

    total: float
    error: float
    states: int

    @property
    def share(self) -> float:
        """Consistent fraction of the dimensions."""
        return self.total / max(self.states, 1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MeasurementReport(Reported):
    """Measurements of a model, from :func:`memcurve.measurement_report`.

    Attributes
    ----------
    model, states, inputs
        The model's name, and its numbers of states and of inputs.
    curve : MemoryCurve
        The measured memory.
    forgets, washout
        Whether different initial conditions converge under the same input, and within which steps.
    own_noise : float
        Distance of two runs of one input, 1 for unrelated runs.
    consistency : Consistency
        How much of the response is the same in both runs.
    capacity : Capacity or None
        Capacity for products of past inputs, by degree; None for several inputs.
    scales : ScaleProfile or None
        Memory against the input scale.
    notes, versions
        As for other results.

    Examples
    --------
    >>> import memcurve
    >>> linear = memcurve.ensembles.orthogonal(5, spectral_radius=0.8, seed=1)
    >>> network = memcurve.NonlinearNetwork(linear.A, linear.C, input_scale=0.5)
    >>> report = memcurve.measurement_report(network, precision=0.3, scales=[], seed=1)
    >>> report.forgets, report.states
    (True, 5)
    """

    FORMAT: ClassVar[str] = "memcurve.MeasurementReport/2"
    DERIVED: ClassVar[tuple[str, ...]] = ("verdict",)

    model: str
    states: int
    inputs: int
    curve: MemoryCurve
    forgets: bool
    washout: int
    own_noise: float
    consistency: Consistency
    capacity: Capacity | None
    scales: ScaleProfile | None
    notes: tuple[Note, ...]
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    @property
    def total(self) -> float:
        """The measured total memory."""
        return self.curve.total

    @property
    def good(self) -> bool:
        """Whether the states are a consistent function of the input history."""
        return self.forgets and self.consistency.share >= CONSISTENT

    @property
    def verdict(self) -> tuple[str, ...]:
        """The main results in a few sentences."""
        return tuple(_verdict(self))

    def document(self) -> Document:
        """The report, independent of its rendering."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return Document(
            title=f"Memory of {self.model}",
            subtitle=REPORT["subtitle"].format(
                states=counted(self.states, "state"), inputs=counted(self.inputs, "input")
            ),
            verdict=self.verdict,
            good=self.good,
            word=REPORT[
                "verdict" if self.good else "inconsistent" if self.forgets else "no_fading"
            ].capitalize(),
            figures=_figures(self),
            sections=list(_sections(self)),
            notes=self.notes,
            footer=f"{versions}.",
        )

    def columns(self) -> Mapping[str, Any]:
        """The memory curve, one row per lag."""
        return self.curve.columns()

    def _attributes(self) -> Mapping[str, Any]:
        return {**self.curve._attributes(), "verdict": " ".join(self.verdict)}

    def plot(self, ax: Any = None) -> Any:
        """Draw the memory curve; ``to_html()`` has all figures."""
        return self.curve.plot(ax=ax)

    def __repr__(self) -> str:
        head = f"<MeasurementReport of {self.model}>"
        return "\n".join([head, *(f"  {line}" for line in self.verdict)])


def measurement_report(
    model: Any,
    *,
    precision: float = 0.1,
    input: Any = None,
    noise: float = 0.0,
    seed: Seed,
    budget: float | None = None,
    degrees: Any = 3,
    scales: Any = SCALES,
    start: Any = None,
    inputs: int | None = None,
    progress: Progress = None,
) -> MeasurementReport:
    """Simulate a model and report on its memory; see :class:`MeasurementReport`.

    Parameters
    ----------
    model, precision, input, noise, seed, start, inputs, progress
        As for :func:`memcurve.measure`.
    budget : float, optional
        Seconds, half of them for the memory itself and a third for the input scales.
    degrees : int or dict
        Highest degree of the capacity, as for :func:`memcurve.capacity_from_data`.
    scales : sequence of float
        Input scales; an empty sequence leaves them out.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.data.measuring import measurement_report
    >>> linear = memcurve.ensembles.orthogonal(5, spectral_radius=0.8, seed=1)
    >>> network = memcurve.NonlinearNetwork(linear.A, linear.C, input_scale=0.5)
    >>> report = measurement_report(network, precision=0.3, scales=[], seed=1)
    >>> report.good
    True
    """
    if budget is not None:
        require_number(budget, "budget", "above 0", lambda s: s > 0)
    half, third = (budget and budget / part for part in (2, 3))
    rng, subject = generator(seed), as_model(model, start=start, inputs=inputs)
    draw, _ = drawn_inputs(subject, input, rng)
    notes: list[Note] = []
    with progress_callback(progress) as report_progress:
        report_progress("memory", 0, 4)
        common: dict[str, Any] = {"input": input, "seed": rng, "progress": False}
        curve = measure(subject, precision=precision, noise=noise, budget=half, **common)
        report_progress("consistency", 1, 4)
        states, washout = (int(curve.diagnostics[name]) for name in ("states", "washout"))
        z = draw(1, washout + max(LEAST_ROWS, ROWS_PER_STATE * states))
        runs = (settled_run(subject, z, washout, noise, rng)[0] for _ in range(2))
        consistency = _consistency(*runs)
        report_progress("capacity", 2, 4)
        capacity = None
        if subject.inputs > 1:
            notes.append(note("capacity_left_out"))
        else:
            z = draw(1, washout + max(LEAST_ROWS, 2 * ROWS_PER_STATE * states))
            X = settled_run(subject, z, washout, noise, rng)[0]
            capacity = capacity_from_data(X, z[0, washout:, 0], degrees, name=subject.name)
        report_progress("input scales", 3, 4)
        profile = None
        if len(scales):
            try:
                profile = measure_scales(
                    model if start is None and inputs is None else subject,
                    scales, precision=max(precision, 0.02 * states), budget=third, **common,
                )  # fmt: skip
            except (ModelError, UnstableNetworkError, ValueError) as problem:
                notes.append(note("scales_left_out", problem=problem))
        report_progress("input scales", 4, 4)
    return MeasurementReport(
        model=subject.name,
        states=states,
        inputs=subject.inputs,
        curve=curve,
        forgets=curve.diagnostics["forgets"],
        washout=washout,
        own_noise=curve.diagnostics["own_noise"],
        consistency=consistency,
        capacity=capacity,
        scales=profile,
        notes=(*curve.notes, *notes, *(profile.notes if profile else ())),
    )


def _consistency(one: Floats, other: Floats) -> Consistency:
    """From two runs (T, N) of one series.

    The influence function of tr(Σ⁻¹Γ) is x·Σ⁻¹y − ½(x·Mx + y·My), M = Σ⁻¹ΓΣ⁻¹; its long-run
    variance gives the interval.
    """
    from scipy.stats import norm

    both = np.concatenate([one, other])
    both = (both - both.mean(axis=0)) / np.where(both.std(axis=0) > 0, both.std(axis=0), 1.0)
    _, sigma, directions = np.linalg.svd(both, full_matrices=False)
    above = sigma > NEGLIGIBLE * sigma[0]
    white = both @ directions[above].T * (np.sqrt(len(both)) / sigma[above])  # Σ = 1 from here on
    x, y = np.split(white, 2)
    cross = x.T @ y / len(x)
    gamma = (cross + cross.T) / 2
    influence = (x * y).sum(axis=1) - ((x @ gamma) * x + (y @ gamma) * y).sum(axis=1) / 2
    influence -= influence.mean()
    variance = float(long_run_variance(influence[:, None])[0]) / len(x)
    width = float(norm.isf(0.05)) * math.sqrt(variance)
    return Consistency(float(np.trace(gamma)), width, int(above.sum()))


# --- Sentences, tables and charts.


def _within(value: float, error: float) -> str:
    if not error > 1e-6:
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.2g}"


def _verdict(report: MeasurementReport) -> Iterator[str]:
    """Sentences on memory, fading, consistency, capacity and the small-signal limit."""
    half = report.curve.horizon(0.5) if report.inputs == 1 else None
    yield REPORT["memory"].format(
        total=_within(report.total, report.curve.total_error),
        states=report.states,
        half=REPORT["half"].format(lag=half) if half else "",
    )
    kind = "forgets" if report.forgets else "persistent"
    yield REPORT[kind].format(washout=counted(report.washout, "step"))
    consistency = report.consistency
    is_deterministic = report.own_noise == 0 and consistency.share > 0.999
    yield REPORT["deterministic" if is_deterministic else "consistent"].format(
        total=_within(consistency.total, consistency.error), states=consistency.states
    )
    if report.capacity is not None:
        by_degree = report.capacity.by_degree.items()
        degrees = ", ".join(f"{value:.3g} of degree {degree}" for degree, value in by_degree)
        yield REPORT["capacity"].format(degrees=degrees)
    limit = None if report.scales is None else report.scales.limit
    if limit is not None:
        share = REPORT["share"].format(share=report.total / limit.total) if limit.total > 0 else ""
        yield REPORT["small_signal"].format(limit=limit.total, share=share)


def _figures(report: MeasurementReport) -> list[tuple[str, str]]:
    rows = [
        ("total memory", _within(report.total, report.curve.total_error)),
        ("states", str(report.states)),
        ("washout", counted(report.washout, "step")),
        ("consistency", f"{report.consistency.share:.1%}"),
    ]
    if report.capacity is not None:
        total = _within(report.capacity.total, report.capacity.total_error)
        rows.append(("capacity", total))
    return rows


def _sections(report: MeasurementReport) -> Iterator[Section]:
    """Memory, fading memory and consistency, capacity, input scale."""
    curve, profile, capacity = report.curve, report.scales, report.capacity
    limit = None if profile is None else profile.limit
    last = max(2, int(curve.diagnostics["end_lag"]) + 2)
    shown, bands = curve[:last], curve.bands
    low, high = (None, None) if bands is None else (bands[:last, 0], bands[:last, 1])
    series = [Series("measured", shown.lags.astype(float), shown.values, low=low, high=high)]
    if limit is not None and len(limit) >= 2:
        part = limit[:last]
        lags = part.lags.astype(float)
        series.append(Series("small-signal limit, exact", lags, part.values, dashed=True))
    chart = Chart("Memory curve", "lag τ", "memory MC_τ", tuple(series))
    yield Section("Memory", REPORT["curve"], chart=chart)

    consistent = _within(report.consistency.total, report.consistency.error)
    of = f"of {report.consistency.states} above rounding"
    forgets = "yes" if report.forgets else "no"
    rows = [
        ("forgets initial conditions", forgets, f"after {report.washout} steps"),
        ("distance of two runs of one input", f"{report.own_noise:.2g}", "1 for unrelated states"),
        ("consistent dimensions", consistent, of),
    ]
    table = Table(("", "value", ""), tuple(rows), frozenset({1}))
    yield Section("Fading memory and consistency", REPORT["fading"], table)

    if capacity is not None:
        rows = [
            (str(degree), _within(value, capacity.errors[degree]), str(significant))
            for (degree, value), significant in zip(
                capacity.by_degree.items(), capacity.columns()["significant"], strict=True
            )
        ]
        total = _within(capacity.total, capacity.total_error)
        rows.append(("all", total, str(len(capacity.targets))))
        headings = ("degree", "capacity", "significant targets")
        table = Table(headings, tuple(rows), frozenset({0, 1, 2}))
        text = REPORT["nonlinearity"].format(rank=capacity.rank)
        yield Section("Information processing capacity", text, table)

    if profile is not None:
        low, high = profile.totals - profile.errors, profile.totals + profile.errors
        measured = Series("measured", profile.scales, profile.totals, low=low, high=high)
        levels = () if limit is None else (("small-signal limit, exact", limit.total),)
        axes = "Memory against input scale", "input scale", "total memory"
        chart = Chart(*axes, (measured,), log_x=True, levels=levels)
        columns = zip(profile.scales, profile.totals, profile.errors, strict=True)
        cells = tuple((f"{scale:.3g}", _within(total, error)) for scale, total, error in columns)
        table = Table(axes[1:], cells, frozenset({0, 1}))
        yield Section("Input scale", REPORT["scales"], table, chart)
