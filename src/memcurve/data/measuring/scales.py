"""Memory against the scale of the input: from the exact small-signal limit into saturation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import Seed, generator
from memcurve.core.errors import ModelError, UnstableNetworkError
from memcurve.core.notes import Note
from memcurve.core.progress import Progress, progress_callback
from memcurve.core.result import Result, installed_versions
from memcurve.core.types import Floats
from memcurve.data.measuring.models import as_model
from memcurve.data.measuring.run import measure
from memcurve.data.prose import note
from memcurve.inputs.noise import ObservationNoise
from memcurve.io.adapters import as_network
from memcurve.memory import MemoryCurve, memory_curve
from memcurve.rendering.report import Series

#: Scales by default.
SCALES = tuple(float(x) for x in np.logspace(-2, 1, 7))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ScaleProfile(Result):
    """Memory of a model whose inputs are multiplied by a scale.

    Attributes
    ----------
    model : str
        The model's name.
    scales, totals, errors : (n,) array
        What the inputs were multiplied by; the total memory, and half its interval.
    curves : tuple of MemoryCurve
        The memory at each scale.
    limit : MemoryCurve or None
        The exact memory of the linear network that the model is for small inputs, read with the
        noise floor of the measurement; None where there is none.
    notes, versions
        As for other results.

    Examples
    --------
    >>> import memcurve
    >>> weights = memcurve.ensembles.normal(5, spectral_radius=0.5, seed=1)
    >>> network = memcurve.NonlinearNetwork(weights.A, weights.C)
    >>> profile = memcurve.measure_scales(network, [0.1, 1.0], seed=1, precision=1)
    >>> profile.scales, round(profile.limit.total)
    (array([0.1, 1. ]), 5)
    """

    FORMAT: ClassVar[str] = "memcurve.ScaleProfile/1"

    model: str
    scales: Floats
    totals: Floats
    errors: Floats
    curves: tuple[MemoryCurve, ...]
    limit: MemoryCurve | None
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def columns(self) -> Mapping[str, Any]:
        """One row per scale: total and error."""
        return {"scale": self.scales, "total": self.totals, "error": self.errors}

    def _attributes(self) -> Mapping[str, Any]:
        return {"model": self.model, "limit": self.limit.total if self.limit else float("nan")}

    def plot(self, ax: Any = None) -> Any:
        """Draw total memory against the input's scale, with the small-signal limit."""
        from memcurve.rendering import plot

        limit = None if self.limit is None else self.limit.total
        low, high = self.totals - self.errors, self.totals + self.errors
        line = Series(self.model, self.scales, self.totals, low, high)
        drawing = plot.totals_chart(
            line, "scale of the input", "total memory", "small inputs, exact", limit
        )
        return plot.chart(drawing, ax=ax)

    def __repr__(self) -> str:
        rows = zip(self.scales, self.totals, self.errors, strict=True)
        lines = [f"  {scale:8.3g}  {total:9.3f} ± {error:.2g}" for scale, total, error in rows]
        if self.limit is not None:
            lines.append(f"    limit  {self.limit.total:9.3f}")
        head = f"<ScaleProfile of {self.model}\n     scale     memory"
        return "\n".join([head, *lines]) + ">"


def measure_scales(
    model: Any,
    scales: Sequence[float] = SCALES,
    *,
    precision: float = 0.2,
    input: Any = None,
    seed: Seed,
    budget: float | None = None,
    noise_floor: float = 1e-9,
    start: Any = None,
    inputs: int | None = None,
    progress: Progress = None,
    **options: Any,
) -> ScaleProfile:
    """Memory against input scale, with the exact small-signal limit beside it.

    Parameters
    ----------
    model, input, seed, start, inputs, progress, **options
        As for :func:`memcurve.measure`.
    scales : sequence of float
        What the inputs are multiplied by, one measurement each.
    precision, budget : float
        Precision of each total; seconds for all of them.
    noise_floor : float
        Noise that the states are read with, relative to each; the limit is read with it too, since
        directions below it are beyond any measurement.

    Examples
    --------
    >>> import memcurve
    >>> linear = memcurve.ensembles.orthogonal(10, spectral_radius=0.9, seed=1)
    >>> network = memcurve.NonlinearNetwork(linear.A, linear.C)
    >>> profile = memcurve.measure_scales(network, [0.01, 1.0], seed=1)
    >>> bool(profile.totals[0] > profile.totals[1])
    True
    """
    ordered = [float(scale) for scale in np.sort(np.asarray(scales, float))]
    subject = as_model(model, start=start, inputs=inputs)
    rng, notes = generator(seed), list[Note]()
    measured: dict[float, MemoryCurve] = {}
    with progress_callback(progress) as report_progress:
        for count, scale in enumerate(ordered):
            report_progress("input scales", count, len(ordered))
            try:
                measured[scale] = measure(
                    subject.scaled(scale),
                    precision=precision,
                    input=input,
                    seed=rng,
                    budget=None if budget is None else budget / len(ordered),
                    noise_floor=noise_floor,
                    progress=False,
                    **options,
                )
            except (ModelError, UnstableNetworkError) as error:
                notes.append(note("scale_left_out", scale=scale, problem=error))
        report_progress("input scales", len(ordered), len(ordered))
    if not measured:
        raise ModelError(f"no scale could be measured: {notes[0]}")
    limit, limit_notes = _limit(model, noise_floor, input)
    curves = tuple(measured.values())
    return ScaleProfile(
        model=subject.name,
        scales=np.array(list(measured)),
        totals=np.array([curve.total for curve in curves]),
        errors=np.array([curve.total_error for curve in curves]),
        curves=curves,
        limit=limit,
        notes=(*notes, limit_notes),
    )


def _limit(model: Any, floor: float, input: Any) -> tuple[MemoryCurve | None, Note]:
    """The exact curve for small inputs, read with a floor relative to each state's deviation."""
    if callable(input):
        input = None  # independent numbers: only their variance would matter, and it does not
    try:
        curve = memory_curve(as_network(model), noise=_OfEachState(floor), input=input)
    except (TypeError, ValueError, ArithmeticError) as error:
        return None, note("no_limit", problem=str(error).splitlines()[0])
    return curve, note("limit", floor=floor)


class _OfEachState(ObservationNoise):
    """The noise floor of measurements: a fraction of each state's own deviation."""

    is_relative = True

    def observation(self, state_deviations: Floats) -> Floats:
        return state_deviations
