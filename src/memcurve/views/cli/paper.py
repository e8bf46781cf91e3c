"""``memcurve paper``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from memcurve.views.cli.console import Printer
from memcurve.views.cli.options import SEVERAL, Flag, Seed, Verbose, Whole


def paper(
    *,
    output: Path = Path("paper-figures"),
    figure: Annotated[list[Whole] | None, SEVERAL] = None,
    quick: Flag = False,
    claims: Flag = False,
    seed: Seed = 1,
    verbose: Verbose = False,
) -> None:
    """The figures and claims of "Memory of recurrent networks: Do we compute it right?".

    For example:

      memcurve paper --quick --claims --output paper-figures
      memcurve paper --figure 4
      memcurve paper --figure 1 2 --quick
      memcurve paper

    Parameters
    ----------
    output
        Folder for the figures (PNG and PDF) and the page index.html that shows them.
    figure
        Only these figures, 1 to 6; all by default.
    quick
        40 masks instead of 1000 and fewer sample sizes: less than half a minute.
    claims
        Check the paper's claims too, and add their table to the page.
    """
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
