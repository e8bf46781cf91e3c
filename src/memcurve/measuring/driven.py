"""Dossier: what a driven network does with its inputs, in facts, a verdict and a report.

Does it forget its start; is its response reproducible; how much does it remember, and of what kind;
how does that depend on how strongly it is driven.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from memcurve.arguments import Seed, generator, require_number
from memcurve.curve import MemoryCurve
from memcurve.data import Capacity, capacity_from_data, long_run_variance
from memcurve.errors import ModelError, UnstableNetworkError
from memcurve.measuring.forgetting import Draw, checked_run, forgetting, lyapunov_exponent
from memcurve.measuring.models import Model, as_model
from memcurve.measuring.run import drawn_inputs, measure
from memcurve.measuring.scales import SCALES, ScaleProfile, measure_scales
from memcurve.notes import Note, counted
from memcurve.progress import Progress, listening
from memcurve.report import Chart, Document, Reported, Section, Series, Table
from memcurve.result import Floats, installed_versions

#: Rows a state that consistency is estimated from, and rows at least.
ROWS_A_STATE, LEAST_ROWS = 30, 3000
#: Directions of the states below this share of the largest are rounding.
NEGLIGIBLE = 1e-9
#: Errors below this are not worth a word.
EXACT = 1e-6
#: Below this share of the states, a response is not reproducible.
REPRODUCIBLE = 0.9


@dataclass(frozen=True)
class Consistency:
    """How many directions of the states two runs of one input share, and half its interval.

    ``total`` is tr(Σ⁻¹Γ), with Σ the covariance of the states and Γ that between two runs with
    independent noise: between 0 and ``states``, the number of directions above rounding.
    """

    total: float
    error: float
    states: int

    @property
    def share(self) -> float:
        """Of the directions that the states have."""
        return self.total / max(self.states, 1)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Dossier(Reported):
    """The outcome of :func:`memcurve.audit` for a network that is run rather than solved.

    Attributes
    ----------
    model : str
        The model's name.
    states, inputs : int
        Numbers of states and of inputs.
    curve : MemoryCurve
        Its memory, measured.
    forgets : bool
        Whether two pasts become one under the same input.
    washout : int
        Steps that this takes.
    exponent, exponent_error : float
        Largest conditional Lyapunov exponent, a step, and half its interval; NaN where the model's
        own noise hides it.
    own_noise : float
        Distance of two runs of one input, 1 for unrelated ones.
    consistency : Consistency
        How much of the response is the same in both.
    capacity : Capacity or None
        Of products of past inputs, by degree; None for several inputs.
    scales : ScaleProfile or None
        Memory against the scale of the input.
    notes : tuple of Note
        Everything one should know before quoting the numbers.
    """

    FORMAT: ClassVar[str] = "memcurve.Dossier/1"
    DERIVED: ClassVar[tuple[str, ...]] = ("verdict",)

    model: str
    states: int
    inputs: int
    curve: MemoryCurve
    forgets: bool
    washout: int
    exponent: float
    exponent_error: float
    own_noise: float
    consistency: Consistency
    capacity: Capacity | None
    scales: ScaleProfile | None
    notes: tuple[Note, ...]
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    @property
    def total(self) -> float:
        """Total memory, as measured."""
        return self.curve.total

    @property
    def good(self) -> bool:
        """Whether the states are a reproducible function of the inputs."""
        return self.forgets and self.consistency.share >= REPRODUCIBLE

    @property
    def verdict(self) -> tuple[str, ...]:
        """The few sentences that matter."""
        said = (_remembers(self), _forgets(self), _reproduces(self), _computes(self), _driven(self))
        return tuple(sentence for sentence in said if sentence)

    def document(self) -> Document:
        """The report, whatever it is to be rendered as."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        sections = (_memory(self), _forgetting(self), _capacity(self), _scales(self))
        return Document(
            title=f"Memory of {self.model}",
            subtitle=f"{counted(self.states, 'state')}, {counted(self.inputs, 'input')}; driven "
            f"and measured, errors are half of 90 % intervals.",
            verdict=self.verdict,
            good=self.good,
            word="A memory" if self.good else "Not reproducible" if self.forgets else "No fading",
            figures=_figures(self),
            sections=[section for section in sections if section is not None],
            notes=self.notes,
            footer=f"{versions}.",
        )

    def columns(self) -> Mapping[str, Any]:
        """The memory curve, one row a lag."""
        return self.curve.columns()

    def _attributes(self) -> Mapping[str, Any]:
        return {**self.curve._attributes(), "verdict": " ".join(self.verdict)}

    def to_xarray(self) -> Any:
        """The memory curve as an xarray Dataset, the verdict among its attributes."""
        return self.curve.to_xarray().assign_attrs(verdict=" ".join(self.verdict))

    def plot(self, ax: Any = None) -> Any:
        """Draw the memory curve; ``to_html()`` has all pictures."""
        return self.curve.plot(ax=ax)

    def _derived(self) -> dict[str, Any]:
        return {"verdict": list(self.verdict)}

    def __repr__(self) -> str:
        return "\n".join([f"<Dossier of {self.model}>", *(f"  {line}" for line in self.verdict)])


def dossier(
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
) -> Dossier:
    """Everything that driving a model tells about its memory; see :class:`Dossier`.

    Parameters
    ----------
    model, precision, input, noise, seed, start, inputs, progress
        As for :func:`memcurve.measure`.
    budget : float, optional
        Seconds, of which half go into the memory itself and a third into the scales.
    degrees : int or dict
        Highest degree of the capacity, as for :func:`memcurve.capacity_from_data`.
    scales : sequence of float
        Of the input; empty leaves them out.
    """
    half = third = None
    if budget is not None:
        budget = require_number(budget, "budget", "above 0", lambda s: s > 0)
        half, third = budget / 2, budget / 3
    rng, subject = generator(seed), as_model(model, start=start, inputs=inputs)
    draw, _ = drawn_inputs(subject, input, rng)
    notes: list[Note] = []
    with listening(progress) as tell:
        tell("forgetting", 0, 5)
        settled = forgetting(subject, draw, 1e-12)
        exponent, error = lyapunov_exponent(subject, draw, settled, 0.9)
        tell("memory", 1, 5)
        asked: dict[str, Any] = {"input": input, "seed": rng, "progress": False}
        curve = measure(
            subject, precision=precision, noise=noise, budget=half, washout=settled, **asked
        )
        tell("consistency", 2, 5)
        states = int(curve.diagnostics["states"])
        consistency = _consistency(subject, draw, rng, noise, settled.washout, states)
        tell("capacity", 3, 5)
        capacity, more = _capacity_of(subject, draw, rng, noise, settled.washout, states, degrees)
        notes += more
        tell("input scales", 4, 5)
        profile = None
        if len(scales):
            try:
                profile = measure_scales(
                    model if start is None and inputs is None else subject,
                    scales, precision=max(precision, 0.02 * states), budget=third, **asked,
                )  # fmt: skip
            except (ModelError, UnstableNetworkError, ValueError) as problem:
                notes.append(Note("method", f"memory against input scale was left out: {problem}"))
        tell("input scales", 5, 5)
    return Dossier(
        model=subject.name,
        states=states,
        inputs=subject.inputs,
        curve=curve,
        forgets=settled.forgets,
        washout=settled.washout,
        exponent=exponent,
        exponent_error=error,
        own_noise=settled.own_noise,
        consistency=consistency,
        capacity=capacity,
        scales=profile,
        notes=(*curve.notes, *notes, *(profile.notes if profile else ())),
    )


def _series(
    model: Model, z: Floats, rng: np.random.Generator, noise: float, washout: int
) -> Floats:
    X = checked_run(model, z)[:, washout:]
    return X + noise * rng.standard_normal(X.shape) if noise else X


def _consistency(
    model: Model, draw: Draw, rng: np.random.Generator, noise: float, washout: int, states: int
) -> Consistency:
    """From two runs of one series, past the washout.

    The influence function of tr(Σ⁻¹Γ) is x·Σ⁻¹y − ½(x·Mx + y·My), M = Σ⁻¹ΓΣ⁻¹; its long-run
    variance gives the interval.
    """
    from scipy.stats import norm

    z = draw(1, washout + max(LEAST_ROWS, ROWS_A_STATE * states))
    x, y = (_series(model, z, rng, noise, washout)[0] for _ in range(2))
    middle, spread = (x.mean(axis=0) + y.mean(axis=0)) / 2, np.concatenate([x, y]).std(axis=0)
    used = spread > 0
    x, y = ((one[:, used] - middle[used]) / spread[used] for one in (x, y))
    _, sigma, directions = np.linalg.svd(np.concatenate([x, y]), full_matrices=False)
    kept = sigma > NEGLIGIBLE * sigma[0]
    scale = np.sqrt(2 * len(x)) / sigma[kept]
    x, y = ((one @ directions[kept].T) * scale for one in (x, y))  # Σ = 1 from here on
    cross = x.T @ y / len(x)
    gamma = (cross + cross.T) / 2
    influence = (x * y).sum(axis=1) - ((x @ gamma) * x + (y @ gamma) * y).sum(axis=1) / 2
    influence -= influence.mean()
    window = int(np.ceil(1.3 * len(x) ** (1 / 3)))
    variance = float(long_run_variance(influence[:, None], window)[0]) / len(x)
    width = float(norm.isf(0.05)) * math.sqrt(variance)
    return Consistency(float(np.trace(gamma)), width, int(kept.sum()))


def _capacity_of(
    model: Model,
    draw: Draw,
    rng: np.random.Generator,
    noise: float,
    washout: int,
    states: int,
    degrees: Any,
) -> tuple[Capacity | None, list[Note]]:
    if model.inputs > 1:
        return None, [Note("method", "capacity by degree was left out: it is for a single input")]
    z = draw(1, washout + max(LEAST_ROWS, 2 * ROWS_A_STATE * states))
    X = _series(model, z, rng, noise, washout)[0]
    found = capacity_from_data(X, z[0, washout:, 0], degrees=degrees, washout=0, name=model.name)
    return found, []


# --- In plain words.


def _within(value: float, error: float) -> str:
    if not error > EXACT:
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{value:.{digits}f} ± {error:.2g}"


def _remembers(found: Dossier) -> str:
    curve = found.curve
    text = f"It remembers {_within(curve.total, curve.total_error)} of its past inputs"
    half = curve.horizon(0.5)
    if found.inputs == 1 and half is not None and half > 0:
        text += f", less than half of one from lag {half} on"
    return f"{text}; with {counted(found.states, 'state')} it could be {found.states}."


def _forgets(found: Dossier) -> str:
    rate = ""
    if math.isfinite(found.exponent):
        rate = f" (exponent {_within(found.exponent, found.exponent_error)} a step)"
    if found.forgets:
        return f"It forgets its start within {counted(found.washout, 'step')}{rate}."
    cause = "it is chaotic" if found.exponent > found.exponent_error else "its past stays"
    return f"It does not forget its start: {cause}{rate}, so that no readout can be relied on."


def _reproduces(found: Dossier) -> str:
    known = found.consistency
    if found.own_noise == 0 and known.share > 0.999:
        return "Its response to an input is the same every time."
    share = f"{_within(known.total, known.error)} of {known.states} directions"
    return f"Of its response {share} are the same every time; the rest is noise of its own."


def _computes(found: Dossier) -> str:
    if found.capacity is None:
        return ""
    by = found.capacity.by_degree
    parts = [f"{value:.3g} of degree {degree}" for degree, value in by.items() if degree > 1]
    return f"Of products of past inputs it holds {by[1]:.3g} of degree 1, {', '.join(parts)}."


def _driven(found: Dossier) -> str:
    profile = found.scales
    if profile is None or profile.limit is None:
        return ""
    text = f"For small inputs it would remember {profile.limit.total:.4g}, exactly"
    share = found.total / profile.limit.total if profile.limit.total > 0 else math.nan
    return f"{text}; driven as it is, {share:.0%} of that." if math.isfinite(share) else f"{text}."


def _figures(found: Dossier) -> list[tuple[str, str]]:
    rows = [
        ("memory", _within(found.total, found.curve.total_error)),
        ("states", str(found.states)),
        ("washout", counted(found.washout, "step")),
        ("consistency", f"{found.consistency.share:.1%}"),
    ]
    if math.isfinite(found.exponent):
        rows.append(("Lyapunov exponent", _within(found.exponent, found.exponent_error)))
    if found.capacity is not None:
        total = _within(found.capacity.total, found.capacity.total_error)
        rows.append(("capacity", total))
    return rows


def _memory(found: Dossier) -> Section:
    curve = found.curve
    last = max(2, int(curve.diagnostics.get("end_lag", len(curve) - 1)) + 2)
    shown, bands = curve[:last], curve.bands
    low, high = (None, None) if bands is None else (bands[:last, 0], bands[:last, 1])
    lags = shown.lags.astype(float)
    series = [Series("measured", lags, shown.values, low=low, high=high)]
    limit = None if found.scales is None else found.scales.limit
    if limit is not None and len(limit) >= 2:
        part = limit[:last]
        series.append(
            Series("small inputs, exact", part.lags.astype(float), part.values, dashed=True)
        )
    chart = Chart("Memory by lag", "lag", "memory", tuple(series))
    return Section(
        "Memory", "How much of the input so many steps ago the states hold.", chart=chart
    )


def _forgetting(found: Dossier) -> Section:
    rows = [
        ("two pasts become one", "yes" if found.forgets else "no", f"after {found.washout} steps"),
        ("two runs of one input differ by", f"{found.own_noise:.2g}", "1 for unrelated states"),
        (
            "directions that are reproduced",
            _within(found.consistency.total, found.consistency.error),
            f"of {found.consistency.states} above rounding",
        ),
    ]
    if math.isfinite(found.exponent):
        value = _within(found.exponent, found.exponent_error)
        rows.insert(1, ("conditional Lyapunov exponent", value, "a step; below 0: it forgets"))
    table = Table(("", "found", ""), tuple(rows), frozenset({1}))
    return Section(
        "Forgetting and reproducing", "Whether its states are a function of its inputs.", table
    )


def _capacity(found: Dossier) -> Section | None:
    if found.capacity is None:
        return None
    known = found.capacity
    rows = [
        (str(degree), _within(value, known.errors[degree]), str(len(known.significant(degree))))
        for degree, value in known.by_degree.items()
    ]
    rows.append(("all", _within(known.total, known.total_error), str(len(known.targets))))
    table = Table(("degree", "capacity", "targets"), tuple(rows), frozenset({0, 1, 2}))
    text = f"Memory of inputs (degree 1) and of products of them; at most {known.rank} in all."
    return Section("Memory against nonlinearity", text, table)


def _scales(found: Dossier) -> Section | None:
    profile = found.scales
    if profile is None:
        return None
    low, high = profile.totals - profile.errors, profile.totals + profile.errors
    series = [Series("measured", profile.scales, profile.totals, low=low, high=high)]
    levels = () if profile.limit is None else (("small inputs, exact", profile.limit.total),)
    chart = Chart(
        "Memory against the scale of the input", "scale of the input", "total memory",
        tuple(series), log_x=True, levels=levels,
    )  # fmt: skip
    pairs = zip(profile.scales, profile.totals, profile.errors, strict=True)
    rows = tuple((f"{scale:.3g}", _within(total, error)) for scale, total, error in pairs)
    table = Table(("scale", "memory"), rows, frozenset({0, 1}))
    return Section("How strongly it is driven", "Inputs multiplied by a scale.", table, chart)
