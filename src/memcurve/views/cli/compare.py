"""``memcurve compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from memcurve.views.cli.console import Printer, json_text, writing
from memcurve.views.cli.options import (
    NETWORK,
    SEVERAL,
    Json,
    Method,
    NetworkOptions,
    Picture,
    Saved,
    Verbose,
    Whole,
    options_by_method,
)
from memcurve.views.cli.process import require_other_files


def compare(
    file: Path | None = None,
    *,
    methods: Annotated[list[Method] | None, SEVERAL] = None,
    options: NetworkOptions = NETWORK,
    lags: Whole | None = None,
    masks: Whole = 100,
    samples: Whole = 10_000,
    plot: Picture = None,
    save: Saved = None,
    json: Json = False,
    verbose: Verbose = False,
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
    lags
        Number of lags compared, from 0 on. Default: twice the number of states.
    masks
        Number of random masks of osm_plus.
    samples
        Number of samples of montecarlo.
    """
    from memcurve.studies.comparison import compare as run

    require_other_files(file, plot, save)
    comparison = run(
        options.network(file, "sparse_normal"),
        methods,
        lags=lags,
        seed=options.seed,
        options=options_by_method(masks=masks, samples=samples),
        **options.arguments(),
    )
    with writing(comparison, plot=plot, save=save):
        if json:
            rows = [{k: v for k, v in vars(row).items() if k != "curve"} for row in comparison.rows]
            setting = {"network": comparison.exact.network, "setting": list(comparison.setting)}
            print(json_text(setting | {"rows": rows}))
        else:
            exact, printer = comparison.exact, Printer()
            about = "; ".join([f"  {exact.network}", *comparison.setting])
            printer.line(("network", "bold"), f"{about}; totals over lags 0 … {len(exact) - 1}")
            printer.table(comparison.HEADER, comparison.table(), right=range(1, 4))
    return 0
