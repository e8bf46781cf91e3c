"""``memcurve compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from memcurve.cli.console import (
    json_text,
    print_line,
    print_table,
    save_plot,
    say_written,
    stdout_console,
)
from memcurve.cli.options import (
    NETWORK,
    PROBLEM,
    SEVERAL,
    Flag,
    Method,
    NetworkOptions,
    ProblemOptions,
    Whole,
    options_by_method,
    require_other_files,
)

if TYPE_CHECKING:
    from memcurve.comparison import Comparison


def compare(
    file: Path | None = None,
    *,
    methods: Annotated[list[Method] | None, SEVERAL] = None,
    options: NetworkOptions = NETWORK,
    problem: ProblemOptions = PROBLEM,
    lags: Whole | None = None,
    masks: Whole = 100,
    samples: Whole = 10_000,
    plot: Path | None = None,
    save: Path | None = None,
    json: Flag = False,
    verbose: Flag = False,
) -> int:
    """Several methods on one network, measured against the exact curve.

    For example:

      memcurve compare --plot compare.png
      memcurve compare --ensemble orthogonal --methods naive osm
      memcurve compare network.mat --masks 1000
      memcurve compare --input ar:0.9 --noise 1e-6
      memcurve compare --save compare.json --json

    Parameters
    ----------
    file
        Network to read, as for `memcurve curve`; without one, a built-in ensemble is used.
    methods
        Methods to compare with the exact one. Default: naive neutral osm osm_plus montecarlo;
        naive and montecarlo for coloured input, noise, several inputs or a readout.
    options
        Where the network comes from.
    problem
        What drives the network, and what disturbs its states.
    lags
        Number of lags compared, from 0 on. Default: twice the number of states.
    masks
        Number of random masks of osm_plus.
    samples
        Number of samples of montecarlo.
    plot
        Draw all curves to this file (.png, .pdf, .svg).
    save
        Write the rows and their whole curves to this .json file.
    json
        Print the rows as JSON instead of a table.
    verbose
        Show the full traceback of an error.
    """
    from memcurve.comparison import compare as run

    require_other_files(file, plot, save)
    comparison = run(
        options.network(file, "sparse_normal"),
        methods,
        lags=lags,
        seed=options.seed,
        options=options_by_method(masks=masks, samples=samples),
        **problem.arguments(),
    )
    if save is not None:
        comparison.save(save)
    if plot is not None:
        save_plot(comparison, plot)
    if json:
        print(json_text(_content(comparison)))
    else:
        _print(comparison)
    say_written(picture=plot, result=save)
    return 0


def _print(comparison: Comparison) -> None:
    """One row a method."""
    console = stdout_console()
    setting = "".join(f"; {part}" for part in comparison.setting)
    exact = comparison.exact
    about = f"  {exact.network}{setting}; totals over lags 0 … {len(exact) - 1}"
    print_line(console, ("network", "bold"), about)
    print_table(console, comparison.HEADER, comparison.table(), right=range(1, 4))


def _content(comparison: Comparison) -> dict[str, Any]:
    """The rows without their curves."""
    rows = [{k: v for k, v in vars(row).items() if k != "curve"} for row in comparison.rows]
    return {"network": comparison.exact.network, "setting": list(comparison.setting), "rows": rows}
