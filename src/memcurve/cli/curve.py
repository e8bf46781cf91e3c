"""``memcurve curve``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from memcurve.cli.errors import UsageError
from memcurve.cli.options import (
    NETWORK,
    PROBLEM,
    Method,
    NetworkOptions,
    ProblemOptions,
    Whole,
    require_other_files,
    say_written,
)
from memcurve.terminal import print_curve, print_profile

if TYPE_CHECKING:
    from memcurve.network import LinearNetwork


def curve(
    file: Path | None = None,
    *,
    options: NetworkOptions = NETWORK,
    problem: ProblemOptions = PROBLEM,
    method: Method = "exact",
    lags: Whole | None = None,
    forecast: Annotated[bool, Parameter(negative="")] = False,
    fisher: Annotated[bool, Parameter(negative="")] = False,
    profile: Annotated[bool, Parameter(negative="")] = False,
    plot: Path | None = None,
    save: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    verbose: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Memory curve of a network from a file or of a built-in ensemble.

    For example:

      memcurve curve --plot memory.png
      memcurve curve --ensemble orthogonal --size 200 --spectral-radius 0.95
      memcurve curve network.mat --lags 50
      memcurve curve weights.npy --mask ones --method certified
      memcurve curve layer.safetensors --matrix rnn.A --mask rnn.B --json
      memcurve curve --input ar:0.9 --noise 1e-3
      memcurve curve --input ar:0.9 --forecast --lags 20
      memcurve curve --profile --plot usable.png
      memcurve curve --inputs 3 --readout 0-19

    Parameters
    ----------
    file
        Network to read: .npz, .mat or .safetensors holding A and C (or W and Win); .npy, .csv or
        .mtx holding A (with --mask) or [A | C]. Without a file, a built-in ensemble is used.
    options
        Where the network comes from.
    problem
        What drives the network, and what disturbs its states.
    method
        exact: rounding accuracy in milliseconds; certified: proven bounds; the others are the
        paper's, without an error bound.
    lags
        Number of lags, from 0 on. Default: enough to hold all but 1e-12 of the memory. With
        --forecast the number of steps ahead, 10 by default.
    forecast
        Forecasting capacity, for input that is not white, in place of memory.
    fisher
        Fisher memory, for state noise of the standard deviation --noise (default 1), in place of
        memory.
    profile
        Total usable memory against the noise level, with number formats marked.
    plot
        Draw the curve to this file (.png, .pdf, .svg).
    save
        Write the whole result to this .json file.
    json
        Print the result as JSON instead of a table.
    verbose
        Show the full traceback of an error.
    """
    from memcurve import MemoryCurve
    from memcurve.errors import rank_among_notes

    if file is not None and forecast and str(file).isdigit():
        raise UsageError(f"--forecast takes no number; --lags {file} gives the steps ahead.")
    require_other_files(file, plot, save)
    if sum((forecast, fisher, profile)) > 1:
        raise UsageError("--forecast, --fisher and --profile exclude each other; give one of them.")
    network = options.network(file, "normal")
    arguments = problem.arguments()
    with rank_among_notes():
        if forecast:
            result = _forecast(network, lags, method, arguments)
        elif fisher:
            result = _fisher(network, lags, method, arguments)
        elif profile:
            result = _profile(network, lags, method, arguments)
        else:
            from memcurve import memory_curve

            result = memory_curve(network, lags, method=method, seed=options.seed, **arguments)
    if save is not None:
        result.save(save)
    if plot is not None:
        from memcurve import plot as pictures

        draw = pictures.curves if isinstance(result, MemoryCurve) else pictures.profile
        pictures.save(draw(result), plot)
    if json:
        print(result.to_json())
    elif isinstance(result, MemoryCurve):
        print_curve(result)
    else:
        print_profile(result)
    say_written(picture=plot, result=save)
    return 0


def _forecast(
    network: LinearNetwork, lags: int | None, method: str, arguments: dict[str, Any]
) -> Any:
    from memcurve import forecasting_curve

    if "input" not in arguments:
        raise UsageError("--forecast needs an input that is not white, e.g. --input ar:0.9.")
    horizons = 10 if lags is None else lags
    return forecasting_curve(network, horizons=horizons, method=method, **arguments)


def _fisher(
    network: LinearNetwork, lags: int | None, method: str, arguments: dict[str, Any]
) -> Any:
    from memcurve import fisher_curve

    if method != "exact" or "input" in arguments:
        raise UsageError(
            "--fisher takes neither --method nor --input: Fisher memory is a property of the "
            "network and the noise alone."
        )
    noise = arguments.get("noise", 1.0)
    if not isinstance(noise, float):
        raise UsageError("--fisher takes one standard deviation, e.g. --noise 0.1.")
    if network.readout is not None:
        raise UsageError(
            "--fisher takes the network as read from all its nodes; leave out --readout."
        )
    return fisher_curve(network, noise, lags)


def _profile(
    network: LinearNetwork, lags: int | None, method: str, arguments: dict[str, Any]
) -> Any:
    from memcurve import noise_profile

    if lags is not None:
        raise UsageError("--profile is about totals over all lags; leave out --lags.")
    levels = arguments.pop("noise", None)
    return noise_profile(network, levels, method=method, **arguments)
