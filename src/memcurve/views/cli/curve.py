"""``memcurve curve``."""

from __future__ import annotations

import math
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from memcurve.views.cli import options as opt
from memcurve.views.cli.console import SHOWN_LAGS, Printer, print_table
from memcurve.views.cli.process import UsageError, over_ranks, require_at_most_one
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.memory import MemoryCurve, NoiseProfile

#: Noise levels printed at most. Doubled: two screens.
MOST_LEVELS = 24
# inputs whose own curves are shown: as many as fit into 80 columns
_SHOWN_INPUTS = 5


@documented
def curve(
    file: Path | None = None,
    *,
    options: opt.NetworkOptions = opt.NETWORK,
    method: opt.Method = "exact",
    lags: opt.Whole | None = None,
    tolerance: float | None = None,
    forecast: opt.Flag = False,
    fisher: opt.Flag = False,
    profile: opt.Flag = False,
    mpi: opt.Flag = False,
    output: opt.OutputOptions = opt.OUTPUT,
) -> None:
    import memcurve
    from memcurve.core.errors import rank_among_notes

    several = len(options.noise or ()) > 1
    result: Any  # a curve, or a profile of noise levels
    with over_ranks(mpi) as ranks, rank_among_notes():  # of which one speaks, also of errors
        require_at_most_one(forecast=forecast, fisher=fisher, profile=profile)
        require_at_most_one(profile=profile, lags=lags is not None)  # totals are over all lags
        if forecast and (options.input is None or several):
            raise UsageError(
                "--forecast needs an input that is not white, e.g. --input ar:0.9, and takes one "
                "level of --noise."
            )
        if fisher and (method != "exact" or tolerance or options.input or options.readout):
            raise UsageError(
                "--fisher takes no --method, --tolerance, --input or --readout: Fisher memory is a "
                "property of the whole network and of the noise."
            )
        if mpi and (forecast or fisher or method != "exact" or not (profile or options.noise)):
            raise UsageError(
                "--mpi is for usable memory by the exact method: give --noise, e.g. --noise 1e-3, "
                "or --profile, and no --method, --forecast or --fisher; or leave out --mpi."
            )
        output.require_other_than(file)
        arguments = {"method": method, **options.arguments()}
        if tolerance is not None:
            arguments["tolerance"] = tolerance
        network = options.network(file, "normal", ranks)
        if forecast:
            result = memcurve.forecasting_curve(network, horizons=lags or 10, **arguments)
        elif fisher:
            result = memcurve.fisher_curve(network, arguments.get("noise", 1.0), lags)
        elif profile or several:
            levels = arguments.pop("noise", None)
            if isinstance(levels, memcurve.StateNoise):
                arguments["state_noise"], levels = True, levels.deviation
            elif not isinstance(levels, float | list | NoneType):
                raise UsageError("--profile takes standard deviations, e.g. --noise 1e-2 1e-3.")
            result = memcurve.noise_profile(
                network, levels, lags=lags, seed=options.seed, **arguments
            )
        else:
            result = memcurve.memory_curve(network, lags, seed=options.seed, **arguments)
    if ranks is not None and ranks.number:
        return
    if profile:
        output.show(result, _print_profile)
    elif several:
        from memcurve.rendering import plot

        output.show(result, _print_family, draw=lambda: plot.curves(*result.curves))
    else:
        output.show(result, _print_curve)


def _print_curve(result: MemoryCurve) -> None:
    """The main figures, the memory at some lags, and the notes."""
    printer = Printer()
    printer.named(result.summary())
    inputs = result.channels.shape[1]
    channels = [f"input {k}" for k in range(min(inputs, _SHOWN_INPUTS))] if inputs > 1 else []
    levels = (0.5, 0.1) if result.kind == "memory" and inputs == 1 else ()
    horizons = {level: result.horizon(level) for level in levels}
    shown = sorted({*SHOWN_LAGS, *(h for h in horizons.values() if h is not None)})
    first, last = int(result.lags[0]), int(result.lags[-1])
    rows = []
    for lag in [s for s in shown if first <= s < last] + [last]:
        k = lag - first
        value = f"{result.values[k]:.{15 if inputs == 1 else 9}f}"
        error = "unknown" if math.isnan(result.error[k]) else f"{result.error[k]:.1e}"
        parts = [f"{part:.6f}" for part in result.channels[k, : len(channels)]]
        firsts = " and ".join(f"{level:g}" for level, h in horizons.items() if h == lag)
        below = f"below {firsts} from here" if firsts else ""
        rows.append((str(lag), value, error, *parts, below))
    steps = "horizon" if result.kind == "forecasting" else "lag"
    heads = [steps, result.kind, "± error", *channels, ""]
    printer.table(heads, rows, right=range(len(heads) - 1))
    printer.notes(result.notes)


def _print_family(family: NoiseProfile) -> None:
    """One column per noise level: its total, and its memory at some lags."""
    rows = [
        ("total", *(f"{total:.6f}" for total in family.totals)),
        ("± error", *(f"{error:.1e}" for error in family.total_errors)),
    ]
    for k in [k for k in SHOWN_LAGS if k < len(family.lags)]:
        rows.append((f"lag {family.lags[k]}", *(f"{value:.6f}" for value in family.values[:, k])))
    heads = ("", *(f"noise {level:g}" for level in family.levels))
    subject = ("network", f"{family.curves[0].network}; {family.noise}")
    print_table(subject, heads, rows, right=range(len(heads)), notes=family.notes)


def _print_profile(profile: NoiseProfile) -> None:
    """One row per noise level, and the number formats."""
    formats = sorted(profile.marks.items(), key=lambda mark: mark[1])
    levels = sorted(zip(profile.levels, profile.totals, profile.total_errors, strict=True))
    step = math.ceil(len(levels) / MOST_LEVELS)
    rows = []
    for level, total, error in levels[::step]:
        passed = [f"{mark}: {value:.1e}" for mark, value in formats if value <= level]
        formats = formats[len(passed) :]
        above = f"above {', '.join(passed)}" if passed else ""
        rows.append((f"{level:.2e}", f"{total:.6f}", f"{error:.1e}", above))
    subject = ("network", f"{profile.curves[0].network}; {profile.noise}")
    heads = ("noise", "usable memory", "± error", "")
    more = f"Every {step}th level is shown; --save and --plot have all." if step > 1 else ""
    print_table(subject, heads, rows, right=range(3), more=more, notes=profile.notes)
