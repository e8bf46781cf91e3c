"""``memcurve claims``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from memcurve.views.cli.console import Printer
from memcurve.views.cli.options import OUTPUT, OutputOptions, Seed
from memcurve.views.cli.process import UsageError
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.studies.literature import JudgedClaim

_COLOURS = {"right": "green", "right in another sense": "yellow", "an artefact": "red"}


@documented
def claims(name: str | None = None, *, seed: Seed = 1, output: OutputOptions = OUTPUT) -> None:
    from memcurve.studies.literature import CLAIMS, judge_claim

    if name is None:
        if output.plot or output.save or output.json:
            raise UsageError("--plot, --save and --json are about one claim; give its name.")
        rows = [(claim.name, claim.statement) for claim in CLAIMS.values()]
        Printer().table(("claim", "statement"), rows, indent=0)
        print("memcurve claims NAME examines one of them.", file=sys.stderr)
        return
    if name not in CLAIMS:
        raise UsageError(f"there is no claim {name!r}; `memcurve claims` lists them all.")
    output.show(judge_claim(name, seed=seed, progress=sys.stderr.isatty()), _print)


def _print(result: JudgedClaim) -> None:
    printer = Printer()
    names = {"claim": "statement", "by": "citation", "see": "link", "measured": "measured"}
    printer.named((head, getattr(result, name)) for head, name in names.items())
    rows = []
    for point in result.points:
        error = f"{point.error:.1e}" if point.error else ""
        gap = point.then - point.true
        off = f"{gap if abs(gap) > max(point.error, 1e-9) else 0:+.3g}"
        rows.append((point.label, f"{point.then:.4f}", f"{point.true:.4f}", error, off))
    printer.table(("", *result.compared, "± error", "difference"), rows, right=range(1, 5))
    printer.line((f"{result.word}: ", _COLOURS[result.word]), result.verdict)
