"""``memcurve measure``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from memcurve.core.notes import Note
from memcurve.views.cli import options as opt
from memcurve.views.cli.console import Printer
from memcurve.views.cli.data import print_memory
from memcurve.views.cli.process import UsageError, require_at_most_one
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.data.measuring import ScaleProfile

Activation = Literal["tanh", "relu", "identity"]


@documented
def measure(
    model: str | None = None,
    *,
    activation: Activation | None = None,
    input_scale: float | None = None,
    command: str | None = None,
    options: opt.NetworkOptions = opt.NETWORK,
    precision: float | None = None,
    budget: float | None = None,
    steps: opt.Whole | None = None,
    lags: opt.Whole | None = None,
    scales: Annotated[list[float] | None, opt.SEVERAL] = None,
    report: opt.Flag = False,
    output: opt.ReportOptions = opt.REPORT,
) -> None:
    report = report or output.html is not None or output.markdown is not None
    require_at_most_one(report=report, scales=scales)
    for name, value in (("steps", steps), ("lags", lags)):
        alone: dict[str, Any] = {name: value is not None, "report": report, "scales": scales}
        require_at_most_one(**alone)
    subject, more = _subject(model, options, command, activation, input_scale)
    output.require_other_than(None if model is None else Path(model))
    arguments: dict[str, Any] = {"precision": precision, "budget": budget}
    arguments = {name: value for name, value in arguments.items() if value is not None}
    arguments |= {"seed": options.seed, "progress": True, **options.arguments()}
    from memcurve.data import measuring

    if report:
        output.show_document(_with_notes(measuring.measurement_report(subject, **arguments), more))
    elif scales is not None:
        profile = _with_notes(measuring.measure_scales(subject, scales, **arguments), more)
        output.show(profile, _print_profile)
    else:
        curve = measuring.measure(subject, lags, steps=steps, **arguments)
        output.show(_with_notes(curve, more), print_memory)


def _print_profile(profile: ScaleProfile) -> None:
    print(profile)
    Printer().notes(profile.notes)


def _with_notes(result: Any, notes: Sequence[Note]) -> Any:
    """The result with the notes of the file before its own."""
    return dataclasses.replace(result, notes=(*notes, *result.notes))


def _subject(
    model: str | None,
    options: opt.NetworkOptions,
    command: str | None,
    activation: Activation | None,
    input_scale: float | None,
) -> tuple[Any, tuple[Note, ...]]:
    """The model to run, and notes of its file."""
    if command is not None or (model is not None and ".py:" in model):
        # it has its own weights and activation
        for name, value in (("activation", activation), ("input_scale", input_scale)):
            require_at_most_one(**{name: value, "command": command, "model": model})
        if model is not None:
            options.require_none(model)
            return opt.from_python(model), ()
        from memcurve.data.measuring import models

        options.require_none("--command", "inputs")
        return models.Command(str(command), inputs=options.inputs or 1), ()
    from memcurve import NonlinearNetwork

    activation = activation or "tanh"
    network, leak = options.driven(None if model is None else Path(model), "normal")
    if network.is_complex or network.readout is not None:
        raise UsageError(
            "a simulated network must be real and read from all nodes; see memcurve data."
        )
    notes = tuple(note for note in network.notes if note.kind != "linear")
    if leak is not None and options.leak is None:
        text = "the leak rate of the file is that of the network: x ← (1 − lr)·x + lr·"
        text += f"{activation}(W x + Win z{'' if network.shift is None else ' + bias'})"
        notes = (Note("network", text), *notes)
    driven = NonlinearNetwork(
        network.A,
        network.C,
        activation=activation,
        leak=1.0 if leak is None else leak.item() if getattr(leak, "size", 0) == 1 else leak,
        input_scale=1.0 if input_scale is None else input_scale,
        shift=network.shift,
        name=f"{network.name} ({activation})" if network.name else None,
    )
    return driven, notes
