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

if TYPE_CHECKING:
    from memcurve.memory import MemoryCurve

Estimator = Literal["regression", "in_sample", "ezekiel", "split", "k_fold", "thresholded"]

_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}


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
    """Memory of a network from its recorded states.

    For example:

      memcurve data states.npy --input input.npy --washout 500 --plot memory.png
      memcurve data recording.mat --states firing_rates --input stimulus
      memcurve data recording.csv --states x0-x2 --input u --rows 100:1500 --json
      memcurve data recording.h5 --noise-floor 0.01 --level 0.99

    Parameters
    ----------
    states
        Recording to read, in chunks: one row per time step, already driven by the input of that
        step. .npy holds the states; .npz, .mat and .h5 arrays by name; .parquet, .csv and .txt
        (also .csv.gz) columns, with the input among them or in --input FILE.
    input
        File of the input, if it is not in the file of the states; or the name of the input's array
        or column there, or names of the columns of several inputs. Default: z, u, input or inputs.
    state_names
        Name of the states' array (default: states, X or x), or names of the columns that are
        states (default: all but the input and clocks), also "ch*" and ch0-ch29. Columns without
        names have their numbers, from 0 on.
    drop
        Columns that are not states, named in the same way.
    rows
        Rows to use, FROM:TO or FROM:TO:STEP, counted from 0, without TO.
    every
        Take every n-th row, the last of each n: 10 for an input that is held for ten rows.
    shift
        Delay of the states in steps: row t + SHIFT of the states belongs to input t.
    skip_rows
        Lines of a text file above its table. Default: those above a header of words.
    lags
        Number of lags, from 0 on. Default: twice the number of states, or up to 100 for few states
        in many rows.
    washout
        Rows to discard at the start.
    noise_floor
        Observation noise, in units of each state's standard deviation.
    level
        Confidence level of the intervals.
    estimator
        regression has intervals; the others are in common use and have none.
    innovations
        Memory of the innovations of the input; otherwise the input is assumed white. Default: if
        the input is coloured.
    checks
        Check the recording for common problems first.
    """
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
    """Findings and notes, with what they name by its argument as it is called here."""
    options = {name: f"--{name.replace('_', '-')}" for name in inspect.signature(data).parameters}
    return as_options(text, options | {"state_names": "--states", "input_name": "--input"})


def print_memory(result: MemoryCurve) -> None:
    """What the checks found, totals, the memory at some lags, and the notes."""
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
        said = _as_options(f" {one['message']}; {one['remedy']}")
        text = styled(f"{level}:", _COLOURS[level]).append_text(styled(said))
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
