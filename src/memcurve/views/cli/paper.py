"""``memcurve paper``."""

from pathlib import Path
from typing import Annotated

from memcurve.views.cli.console import Printer
from memcurve.views.cli.options import SEVERAL, Flag, Seed, Verbose, Whole
from memcurve.views.cli.texts import documented


@documented
def paper(
    *,
    output: Path = Path("paper-figures"),
    figure: Annotated[list[Whole] | None, SEVERAL] = None,
    quick: Flag = False,
    claims: Flag = False,
    seed: Seed = 1,
    verbose: Verbose = False,
) -> None:
    from memcurve.studies.paper import Settings, reproduce

    page, outcomes = reproduce(
        output,
        figures=figure,
        settings=(Settings.quick if quick else Settings)(seed=seed),
        claims=claims,
        progress=True,
    )
    if outcomes:
        heads = ("where", "claim", "verdict", "figure")
        rows = [(one.where, one.statement, one.verdict, one.figure) for one in outcomes]
        Printer().table(heads, rows, indent=0)
    print(f"page: {page}")
