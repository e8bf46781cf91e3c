"""``memcurve compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

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
from memcurve.terminal import (
    comparison_content,
    print_comparison,
    print_comparison_as_json,
    strict_json,
)


def compare(
    file: Path | None = None,
    *,
    methods: Annotated[list[Method] | None, Parameter(consume_multiple=True, negative="")] = None,
    options: NetworkOptions = NETWORK,
    problem: ProblemOptions = PROBLEM,
    lags: Whole | None = None,
    masks: Whole = 100,
    samples: Whole = 10_000,
    plot: Path | None = None,
    save: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    verbose: Annotated[bool, Parameter(negative="")] = False,
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
    network = options.network(file, "sparse_normal")
    by_method = {"osm_plus": {"masks": masks}, "montecarlo": {"samples": samples}}
    comparison = run(
        network, methods, lags=lags, seed=options.seed, options=by_method, **problem.arguments()
    )
    if save is not None:
        from memcurve.writing import replacing

        with replacing(save) as stream:
            stream.write(strict_json(comparison_content(comparison, curves=True)).encode())
    if plot is not None:
        from memcurve import plot as pictures

        labels = [f"{row.method}: total {row.total:.4g}" for row in comparison.rows if row.curve]
        pictures.save(pictures.curves(*comparison.curves, labels=labels), plot)
    if json:
        print_comparison_as_json(comparison)
    else:
        print_comparison(comparison)
    say_written(picture=plot, result=save)
    return 0
