"""``memcurve data``."""

from __future__ import annotations

import inspect
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from memcurve.core.notes import Note
from memcurve.views.cli.console import SHOWN_LAGS, Printer, styled
from memcurve.views.cli.options import OUTPUT, SEVERAL, OutputOptions, Whole
from memcurve.views.cli.process import as_options
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.memory import MemoryCurve

Estimator = Literal["regression", "in_sample", "ezekiel", "split", "k_fold", "thresholded"]

_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}


@documented
def data(
    states: Path,
    /,
    *,
    input: Annotated[list[str] | None, SEVERAL] = None,
    state_names: Annotated[list[str] | None, SEVERAL, Parameter(name="--states")] = None,
    drop: Annotated[list[str] | None, SEVERAL] = None,
    rows: str | None = None,
    every: Whole = 1,
    shift: Whole = 0,
    skip_rows: Whole | None = None,
    lags: Whole | None = None,
    washout: Whole = 0,
    noise_floor: float = 1e-12,
    level: float = 0.9,
    estimator: Estimator = "regression",
    innovations: bool | None = None,
    checks: bool = True,
    output: OutputOptions = OUTPUT,
) -> None:
    import warnings

    from memcurve import RecordingWarning, memory_from_data
    from memcurve.io import RECORDING_FORMATS, ending_of

    file = Path(input[0]) if input is not None and len(input) == 1 else None
    if file is not None and ending_of(file) not in RECORDING_FORMATS and not file.is_file():
        file = None
    for recording in (states, file):
        output.require_other_than(recording, what="recording")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordingWarning)  # among the findings
        curve = memory_from_data(
            states,
            file,
            lags,
            state_names=_one_or_all(state_names),
            input_name=_one_or_all(input) if file is None else None,
            drop=drop or (),
            rows=rows,
            every=every,
            shift=shift,
            skip_rows=skip_rows,
            washout=washout,
            noise_floor=noise_floor,
            level=level,
            estimator=estimator,
            innovations=innovations,
            checks=checks,
            progress=True,
        )
    output.show(curve, print_memory)


def _one_or_all(names: list[str] | None) -> Any:
    return names[0] if names is not None and len(names) == 1 else names


def _as_options(text: str) -> str:
    """Findings and notes, with arguments replaced by the options of this command."""
    options = {name: f"--{name.replace('_', '-')}" for name in inspect.signature(data).parameters}
    return as_options(text, options | {"state_names": "--states", "input_name": "--input"})


def print_memory(result: MemoryCurve) -> None:
    """Findings of the checks, totals, the memory at some lags, and the notes."""
    printer = Printer()
    _print_findings(printer, result)
    printer.named(_summary(result))
    first, last = int(result.lags[0]), int(result.lags[-1])
    end = result.diagnostics.get("last_lag", -1)
    rows = []
    for lag in [s for s in sorted({*SHOWN_LAGS, end, last}) if first <= s <= last]:
        k, bands = lag - first, result.bands
        interval = "unknown" if bands is None else "{:z.5f} … {:z.5f}".format(*bands[k])
        significant = "last significant lag" if lag == end else ""
        rows.append((str(lag), f"{result.values[k]:z.5f}", interval, significant))
    level = "" if result.bands is None else f"{100 * result.options['level']:g} % "
    printer.table(("lag", "memory", f"{level}interval", ""), rows, right=range(3))
    printer.notes(_other_notes(result))


def _print_findings(printer: Printer, result: MemoryCurve) -> None:
    findings = result.diagnostics.get("findings")
    if not findings:
        printer.named([("checks", "skipped" if findings is None else "nothing to report")])
        return
    for k, one in enumerate(findings):
        head, level = ("" if k else "checks"), one["level"]
        words = _as_options(f" {one['message']}; {one['remedy']}")
        text = styled(f"{level}:", _COLOURS[level]).append_text(styled(words))
        printer.wrapped(text, f"{head:>14}  ", "bold", hanging=True)


def _other_notes(result: MemoryCurve) -> list[Note]:
    """The notes besides the findings."""
    notes = [note for note in result.notes if note.kind != "finding"]
    return [Note(note.kind, _as_options(note)) for note in notes]


def _summary(result: MemoryCurve) -> list[tuple[str, str]]:
    facts = result.diagnostics
    error = "" if math.isnan(result.total_error) else f" ± {result.total_error:.2g}"
    end = facts.get("end_lag", result.lags[-1])
    span = f"over lags {result.lags[0]} … {end}" if end >= 0 else "(no lag is significant)"
    rows = [
        ("recording", f"{result.network}: {facts['rows']:,} rows of {facts['states']} states"),
        ("estimator", str(result.options["estimator"])),
        ("total memory", f"{result.total:.4f}{error} {span}"),
    ]
    for k, value in enumerate(facts.get("channel_totals", [])):
        rows.append((f"input {k}", f"{value:.4f} ± {facts['channel_errors'][k]:.2g}"))
    if "raw_total" in facts:
        text = f"{facts['raw_total']:.4f} for the coloured input itself, whose lags are dependent"
        rows.append(("raw total", text))
    return rows
