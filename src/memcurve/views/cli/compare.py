"""``memcurve compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memcurve.views.cli.console import print_table
from memcurve.views.cli.options import (
    NETWORK,
    OUTPUT,
    SEVERAL,
    Method,
    NetworkOptions,
    OutputOptions,
    Whole,
)

if TYPE_CHECKING:
    from memcurve.studies.comparison import Comparison


def compare(
    file: Path | None = None,
    *,
    methods: Annotated[list[Method] | None, SEVERAL] = None,
    options: NetworkOptions = NETWORK,
    lags: Whole | None = None,
    output: OutputOptions = OUTPUT,
) -> None:
    """Several methods on one network, measured against the exact curve.

    For example:

      memcurve compare --plot compare.png
      memcurve compare --ensemble orthogonal --methods naive osm
      memcurve compare network.mat --lags 50
      memcurve compare --input ar:0.9 --noise 1e-6 --save compare.json

    Parameters
    ----------
    file
        Network to read, as for `memcurve curve`; without one, a built-in ensemble is used.
    methods
        Methods to compare with the exact one. Default: naive neutral osm osm_plus montecarlo;
        naive and montecarlo for coloured input, noise, several inputs or a readout. osm_plus is
        averaged over 100 masks.
    lags
        Number of lags compared, from 0 on. Default: twice the number of states.
    """
    from memcurve.studies.comparison import compare as run

    output.require_other_than(file)
    network = options.network(file, "sparse_normal")
    quickly = {"osm_plus": {"masks": 100}}
    result = run(
        network, methods, lags=lags, seed=options.seed, options=quickly, **options.arguments()
    )
    output.show(result, _print)


def _print(result: Comparison) -> None:
    about = "; ".join([str(result.exact.network), *result.setting])
    about += f"; totals over lags 0 … {len(result.exact) - 1}"
    print_table(("network", about), result.HEADER, result.table(), right=range(1, 4))
