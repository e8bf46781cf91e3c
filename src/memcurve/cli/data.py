"""``memcurve data``."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from memcurve.cli.console import SHOWN_LAGS, Printer, json_text, writing
from memcurve.cli.options import SEVERAL, Flag, Verbose, Whole
from memcurve.cli.process import UsageError, require_other_files

if TYPE_CHECKING:
    from memcurve.curve import MemoryCurve
    from memcurve.data.capacity import Capacity
    from memcurve.notes import Note

Estimator = Literal["regression", "in_sample", "ezekiel", "split", "k_fold", "thresholded"]

_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}
# what errors name by its argument, as it is called here
_WORDS = {
    "checks=False": "--no-checks",
    "`inputs` as array or path": "--input FILE",
    "`input_name`": "--input-name",
    "input_name=": "--input-name ",
    "`state_names`": "--state-names",
    "state_names=": "--state-names ",
}


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RecordingOptions:
    """Where the recording is, and how its memory is estimated.

    Parameters
    ----------
    input
        File of the input, where it is not in that of the states.
    state_names
        Name of the states' array (default: states, X or x), or names of the columns that are
        states (default: all but the input).
    input_name
        Name of the input's array or column. Default: z, u, input or inputs.
    lags
        Number of lags, from 0 on. Default: twice the number of states, or up to 100 for few states
        in many rows.
    washout
        Rows to leave out at the start.
    noise_floor
        Measurement noise, in units of each state's own standard deviation.
    level
        Level of the intervals.
    estimator
        regression: with intervals; the others are those people use, without.
    innovations
        Memory of the innovations of the input, rather than of the input itself. Default: where
        the input is coloured.
    checks
        Look for what is wrong with the recording first.
    """

    input: Path | None = None
    state_names: Annotated[list[str] | None, SEVERAL] = None
    input_name: str | None = None
    lags: Whole | None = None
    washout: Whole = 0
    noise_floor: float = 1e-12
    level: float = 0.9
    estimator: Estimator = "regression"
    innovations: bool | None = None
    checks: bool = True

    def curve(self, states: Path, **changes: Any) -> MemoryCurve:
        """The memory curve, with what is given in place of the options."""
        import warnings

        from memcurve import RecordingWarning, memory_from_data

        arguments = {**vars(self), **self._names(), "progress": sys.stderr.isatty(), **changes}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordingWarning)  # among the findings
            return memory_from_data(states, arguments.pop("input"), **arguments)

    def all_curves(self, states: Path) -> list[MemoryCurve]:
        """The curves of all estimators; the recording is checked once, unless columns go."""
        from memcurve.data.estimators import ESTIMATORS
        from memcurve.io import open_recording

        first = self.curve(states)
        columns = open_recording(states, self.input, **self._names()).columns
        same = {
            "checks": self.checks and first.diagnostics["states"] < columns,
            "innovations": "ar_order" in first.diagnostics,
        }
        return [first, *(self.curve(states, estimator=name, **same) for name in ESTIMATORS)]

    def capacity(self, states: Path) -> Capacity:
        """The capacity by degree; the recording is loaded whole."""
        from memcurve import capacity_from_data
        from memcurve.io import open_recording

        source = open_recording(states, self.input, **self._names())
        X, z = next(iter(source.chunks(source.length)))
        return capacity_from_data(X, z, washout=self.washout, name=source.name)

    def _names(self) -> dict[str, Any]:
        names = self.state_names
        states = names[0] if names is not None and len(names) == 1 else names
        return {"state_names": states, "input_name": self.input_name}


RECORDING = RecordingOptions()


def data(
    states: Path,
    *,
    recording: RecordingOptions = RECORDING,
    capacity: Flag = False,
    compare: Flag = False,
    plot: Path | None = None,
    save: Path | None = None,
    json: Flag = False,
    verbose: Verbose = False,
) -> int:
    """Memory of a network known by its recorded states.

    For example:

      memcurve data states.npy --input input.npy --washout 500 --plot memory.png
      memcurve data recording.npz --lags 200
      memcurve data recording.mat --state-names firing_rates --input-name stimulus
      memcurve data recording.csv --state-names x0 x1 x2 --input-name u --json
      memcurve data recording.h5 --noise-floor 0.01 --level 0.99
      memcurve data recording.npz --capacity
      memcurve data recording.npz --compare --plot compare.png

    Parameters
    ----------
    states
        Recording to read, in chunks: a row for each time, already driven by the input of that
        time. .npy holds the states; .npz, .mat and .h5 arrays by name, .parquet, .csv and .txt
        columns, with the input among them or in --input FILE.
    capacity
        Also the nonlinear capacity by degree: of products of past inputs; the recording is then
        loaded whole. With --json both are printed, as "memory" and "capacity".
    compare
        All estimators side by side, in place of one; the recording is then loaded whole.
    plot
        Draw the memory curve with its intervals to this file (.png, .pdf, .svg); with --compare
        those of all estimators.
    save
        Write the memory curve to this .json file; with --compare that of the regression.
    json
        Print the result as JSON instead of tables.
    """
    for file in (states, recording.input):
        require_other_files(file, plot, save, what="recording")
    if compare and (capacity or recording.estimator != "regression"):
        raise UsageError("--compare takes all estimators; leave out --estimator and --capacity.")
    try:
        curves = recording.all_curves(states) if compare else [recording.curve(states)]
        processing = recording.capacity(states) if capacity else None
    except ValueError as error:
        if len(error.args) == 1:
            text = str(error)
            for argument, option in _WORDS.items():
                text = text.replace(argument, option)
            error.args = (text,)
        raise
    with writing(curves[0], plot=plot, save=save, draw=lambda: _drawn(curves)):
        if json:
            print(_json(curves, processing))
        elif compare:
            _print_estimators(curves)
        else:
            _print_curve(curves[0])
            if processing is not None:
                _print_capacity(processing)
    return 0


def _drawn(curves: list[MemoryCurve]) -> Any:
    from memcurve import plot

    labels = [f"{one.options['estimator']}: total {one.total:.4g}" for one in curves]
    return plot.curves(*curves, labels=labels if len(curves) > 1 else None)


def _json(curves: list[MemoryCurve], processing: Capacity | None) -> str:
    """A single curve as its own JSON, which MemoryCurve.from_json reads."""
    from json import loads

    if processing is not None:
        both = {"memory": curves[0], "capacity": processing}
        return json_text({name: loads(result.to_json()) for name, result in both.items()})
    if len(curves) == 1:
        return curves[0].to_json()
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
    return json_text({"recording": curves[0].network, "estimators": rows})


def _print_curve(result: MemoryCurve) -> None:
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
        printer.named([("checks", "left out" if findings is None else "nothing to report")])
        return
    for k, one in enumerate(findings):
        head, level = ("" if k else "checks"), one["level"]
        said = f" {one['message']}; {one['remedy']}"
        printer.line((f"{head:>14}", "bold"), "  ", (f"{level}:", _COLOURS[level]), said)


def _other_notes(result: MemoryCurve) -> list[Note]:
    """The notes besides the findings."""
    return [note for note in result.notes if note.kind != "finding"]


def _summary(result: MemoryCurve) -> list[tuple[str, str]]:
    known = result.diagnostics
    error = "" if math.isnan(result.total_error) else f" ± {result.total_error:.2g}"
    span = f"over lags {result.lags[0]} … {known.get('end_lag', result.lags[-1])}"
    rows = [
        ("recording", f"{result.network}: {known['rows']} rows of {known['states']} states"),
        ("estimator", str(result.options["estimator"])),
        ("total memory", f"{result.total:.4f}{error} {span}"),
    ]
    if "total_cut" in known:
        cut = f"{known['total_cut']:.4f} ± {known['total_cut_error']:.2g}"
        rows.append(("total cut", f"{cut} up to the last significant lag, {known['last_lag']}"))
    if "raw_total" in known:
        text = f"{known['raw_total']:.4f} of the coloured input itself, lags not being independent"
        rows.append(("raw total", text))
    return rows


def _print_capacity(result: Capacity) -> None:
    """One row a degree, the total, and the notes."""
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
