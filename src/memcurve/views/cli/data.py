"""``memcurve data``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from memcurve.core.notes import Note
from memcurve.views.cli.console import SHOWN_LAGS, Printer, styled
from memcurve.views.cli.options import OUTPUT, SEVERAL, Flag, OutputOptions, Whole
from memcurve.views.cli.process import UsageError, as_options

if TYPE_CHECKING:
    from memcurve.data import Capacity
    from memcurve.memory import MemoryCurve

Estimator = Literal["regression", "in_sample", "ezekiel", "split", "k_fold", "thresholded"]

_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RecordingOptions:
    """Where the recording is, and how its memory is estimated.

    Parameters
    ----------
    input
        File of the input, if it is not in the file of the states; otherwise --input-name.
    state_names
        Name of the states' array (default: states, X or x), or names of the columns that are
        states (default: all but the input and clocks), also "ch*" and ch0-ch29. Columns without
        names have their numbers, from 0 on.
    input_name
        Name of the input's array or column, or names of the columns of several inputs. Default: z,
        u, input or inputs.
    drop
        Columns that are not states, named in the same way.
    rows
        Rows to use, FROM:TO or FROM:TO:STEP, counted from 0, without TO.
    every
        Take the last of each so many rows: 10 for an input that is held for ten rows.
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

    input: Annotated[list[str] | None, SEVERAL] = None
    state_names: Annotated[
        list[str] | None, SEVERAL, Parameter(name=("--states", "--state-names"))
    ] = None
    input_name: Annotated[list[str] | None, SEVERAL] = None
    drop: Annotated[list[str] | None, SEVERAL] = None
    rows: str | None = None
    every: Whole = 1
    shift: Whole = 0
    skip_rows: Whole | None = None
    lags: Whole | None = None
    washout: Whole = 0
    noise_floor: float = 1e-12
    level: float = 0.9
    estimator: Estimator = "regression"
    innovations: bool | None = None
    checks: bool = True

    @property
    def input_file(self) -> Path | None:
        """The file that --input names, if it does."""
        from memcurve.io import RECORDING_FORMATS, ending_of

        path = Path(self.input[0]) if self.input is not None and len(self.input) == 1 else None
        is_file = path is not None and (ending_of(path) in RECORDING_FORMATS or path.is_file())
        return path if is_file else None

    def curve(self, states: Path, **changes: Any) -> MemoryCurve:
        """The memory curve, with ``changes`` to the options."""
        import warnings

        from memcurve import RecordingWarning, memory_from_data

        names = ("lags", "washout", "noise_floor", "level", "estimator", "innovations", "checks")
        given = {name: getattr(self, name) for name in names}
        arguments = {**given, **self._which(), "progress": True, **changes}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordingWarning)  # among the findings
            return memory_from_data(states, self.input_file, **arguments)

    def all_curves(self, states: Path) -> list[MemoryCurve]:
        """The curves of all estimators; the recording is checked once, unless some of it goes."""
        from memcurve.data import ESTIMATORS

        first = self.curve(states)
        same = {
            "checks": self.checks and not {"kept", "stuck"}.isdisjoint(first.diagnostics),
            "innovations": "ar_order" in first.diagnostics,
        }
        return [first, *(self.curve(states, estimator=name, **same) for name in ESTIMATORS)]

    def capacity(self, states: Path, memory: MemoryCurve) -> Capacity:
        """The capacity by degree, of the columns its memory is of; they are loaded whole."""
        from memcurve import capacity_from_data
        from memcurve.io import open_recording

        source = open_recording(states, self.input_file, **self._which())
        X, z = next(iter(source.chunks(source.length)))
        X = X[:, memory.diagnostics.get("kept", slice(None))]
        return capacity_from_data(X, z, washout=self.washout, name=source.name)

    def _which(self) -> dict[str, Any]:
        """The arrays, columns and rows to take."""
        names, name = self.state_names, self.input_name
        if self.input is not None and self.input_file is None:
            if name is not None:
                given = " ".join(self.input)
                raise UsageError(f"--input {given} is no file, and --input-name is given too.")
            name = self.input
        return {
            "state_names": names[0] if names is not None and len(names) == 1 else names,
            "input_name": name[0] if name is not None and len(name) == 1 else name,
            "drop": self.drop or (),
            "rows": self.rows,
            "every": self.every,
            "shift": self.shift,
            "skip_rows": self.skip_rows,
        }


RECORDING = RecordingOptions()
# what findings and notes name by its argument, as it is called here
_OPTIONS = {name: f"--{name.replace('_', '-')}" for name in vars(RECORDING)}
_OPTIONS |= {"state_names": "--states"}


def data(
    states: Path,
    /,
    *,
    recording: RecordingOptions = RECORDING,
    capacity: Flag = False,
    compare: Flag = False,
    output: OutputOptions = OUTPUT,
) -> None:
    """Memory of a network from its recorded states.

    For example:

      memcurve data states.npy --input input.npy --washout 500 --plot memory.png
      memcurve data recording.npz --lags 200
      memcurve data recording.mat --states firing_rates --input stimulus
      memcurve data recording.csv --states x0-x2 --input u --rows 100:1500 --json
      memcurve data recording.csv.gz --drop x1 --washout 100
      memcurve data recording.h5 --noise-floor 0.01 --level 0.99
      memcurve data recording.npz --capacity
      memcurve data recording.npz --compare --plot compare.png

    Parameters
    ----------
    states
        Recording to read, in chunks: one row per time step, already driven by the input of that
        step. .npy holds the states; .npz, .mat and .h5 arrays by name; .parquet, .csv and .txt
        (also .csv.gz) columns, with the input among them or in --input FILE.
    capacity
        Also the nonlinear capacity by degree, for products of past inputs; the recording is then
        loaded whole. With --json both are printed, as "memory" and "capacity".
    compare
        All estimators side by side; the recording is then loaded whole. --plot draws all of them,
        --save writes the regression.
    """
    for file in (states, recording.input_file):
        output.require_other_than(file, what="recording")
    if compare and (capacity or recording.estimator != "regression"):
        raise UsageError("--compare runs all estimators; leave out --estimator and --capacity.")
    curves = recording.all_curves(states) if compare else [recording.curve(states)]
    processing = recording.capacity(states, curves[0]) if capacity else None
    several = compare or processing is not None

    def printed(memory: MemoryCurve) -> None:
        _print_estimators(curves) if compare else print_memory(memory)
        if processing is not None:
            print_capacity(processing)

    content = partial(_content, curves, processing) if several else None
    output.show(curves[0], printed, draw=partial(_drawn, curves), content=content)


def _drawn(curves: list[MemoryCurve]) -> Any:
    from memcurve.rendering import plot

    labels = [f"{one.options['estimator']}: total {one.total:.4g}" for one in curves]
    return plot.curves(*curves, labels=labels if len(curves) > 1 else None)


def _content(curves: list[MemoryCurve], processing: Capacity | None) -> dict[str, Any]:
    """What JSON has of several results; a single curve is its own."""
    if processing is not None:
        both = {"memory": curves[0], "capacity": processing}
        return {name: json.loads(result.to_json()) for name, result in both.items()}
    rows = [
        {
            "estimator": curve.options["estimator"],
            "total": curve.total,
            "total_error": curve.total_error,
            "values": curve.values.tolist(),
            "notes": curve.notes,
        }
        for curve in curves
    ]
    return {"recording": curves[0].network, "estimators": rows}


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
        interval = "unknown" if bands is None else "{:.5f} … {:.5f}".format(*bands[k])
        significant = "last significant lag" if lag == end else ""
        rows.append((str(lag), f"{result.values[k]:.5f}", interval, significant))
    level = "" if result.bands is None else f"{100 * result.options['level']:g} % "
    printer.table(("lag", "memory", f"{level}interval", ""), rows, right=range(3))
    printer.notes(_other_notes(result))


def _print_estimators(curves: Sequence[MemoryCurve]) -> None:
    """Estimators of one recording side by side, each with its first note; the rest of the first."""
    printer, first = Printer(), curves[0]
    _print_findings(printer, first)
    printer.named(_summary(first)[:1])
    rows = []
    for curve in curves:
        error = "unknown" if math.isnan(curve.total_error) else f"{curve.total_error:.2g}"
        rows.append((curve.options["estimator"], f"{curve.total:.4f}", error, curve.notes[0]))
    printer.table(("estimator", "total", "± error", "note"), rows, right=(1, 2))
    printer.notes(_other_notes(first)[1:])


def _print_findings(printer: Printer, result: MemoryCurve) -> None:
    findings = result.diagnostics.get("findings")
    if not findings:
        printer.named([("checks", "skipped" if findings is None else "nothing to report")])
        return
    for k, one in enumerate(findings):
        head, level = ("" if k else "checks"), one["level"]
        said = as_options(f" {one['message']}; {one['remedy']}", _OPTIONS)
        text = styled(f"{level}:", _COLOURS[level]).append_text(styled(said))
        printer.wrapped(text, f"{head:>14}  ", "bold", hanging=True)


def _other_notes(result: MemoryCurve) -> list[Note]:
    """The notes besides the findings."""
    notes = [note for note in result.notes if note.kind != "finding"]
    return [Note(note.kind, as_options(note, _OPTIONS)) for note in notes]


def _summary(result: MemoryCurve) -> list[tuple[str, str]]:
    known = result.diagnostics
    error = "" if math.isnan(result.total_error) else f" ± {result.total_error:.2g}"
    end = known.get("end_lag", result.lags[-1])
    span = f"over lags {result.lags[0]} … {end}" if end >= 0 else "(no lag stands out from noise)"
    rows = [
        ("recording", f"{result.network}: {known['rows']:,} rows of {known['states']} states"),
        ("estimator", str(result.options["estimator"])),
        ("total memory", f"{result.total:.4f}{error} {span}"),
    ]
    if known.get("last_lag", -1) >= 0:
        cut = f"{known['total_cut']:.4f} ± {known['total_cut_error']:.2g}"
        rows.append(("total cut", f"{cut} up to the last significant lag, {known['last_lag']}"))
    for k, value in enumerate(known.get("channel_totals", [])):
        rows.append((f"input {k}", f"{value:.4f} ± {known['channel_errors'][k]:.2g}"))
    if "raw_total" in known:
        text = f"{known['raw_total']:.4f} for the coloured input itself, whose lags are dependent"
        rows.append(("raw total", text))
    return rows


def print_capacity(result: Capacity) -> None:
    """One row per degree, the total, and the notes."""
    figures: list[tuple[Any, ...]] = [
        (degree, value, result.errors[degree], result.significant(degree), result.count[degree])
        for degree, value in result.by_degree.items()
    ]
    count = sum(result.count.values())
    figures.append(("total", result.total, result.total_error, result.targets, count))
    rows = [
        (str(name), f"{value:.4f}", f"{error:.2g}", f"{len(found)} of {count} targets")
        for name, value, error, found, count in figures
    ]
    printer = Printer()
    printer.table(("degree", "capacity", "± error", "significant"), rows, right=range(4))
    printer.line(f"at most {result.rank}, the number of linearly independent states")
    printer.notes(result.notes)
