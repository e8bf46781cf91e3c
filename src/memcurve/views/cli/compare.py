"""``memcurve compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memcurve.views.cli import options as opt
from memcurve.views.cli.console import print_table
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.studies.comparison import Comparison


@documented
def compare(
    file: Path | None = None,
    *,
    methods: Annotated[list[opt.Method] | None, opt.SEVERAL] = None,
    options: opt.NetworkOptions = opt.NETWORK,
    lags: opt.Whole | None = None,
    output: opt.OutputOptions = opt.OUTPUT,
) -> None:
    from memcurve.studies.comparison import compare as run

    output.require_other_than(file)
    network = options.network(file, "sparse_normal")
    quickly = {"osm_plus": {"masks": 100}}
    result = run(
        network, methods, lags=lags, seed=options.seed, options=quickly, **options.arguments()
    )
    output.show(result, _print)


def _print(result: Comparison) -> None:
    subject = "; ".join([str(result.exact.network), *result.setting])
    subject += f"; totals over lags 0 … {len(result.exact) - 1}"
    print_table(("network", subject), result.HEADER, result.table(), right=range(1, 4))
