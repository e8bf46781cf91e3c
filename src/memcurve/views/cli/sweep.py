"""``memcurve sweep``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memcurve.core.notes import counted
from memcurve.views.cli import options as opt
from memcurve.views.cli.console import Printer, styled
from memcurve.views.cli.process import FAILED, FINE, stoppable, warn
from memcurve.views.cli.texts import documented

# completion offers them, and help does without their files
StudyName = Literal["architectures", "noise", "radius", "sparsity"]

if TYPE_CHECKING:
    from memcurve.studies.sweeping import Sweep


@documented
def sweep(
    study: StudyName | str | None = None,
    /,
    *,
    store: Path | None = None,
    quick: opt.Flag = False,
    status: opt.Flag = False,
    executor: opt.ExecutorOptions = opt.EXECUTOR,
    case_timeout: float | None = None,
    output: opt.OutputOptions = opt.OUTPUT,
) -> int:
    if study is None:
        return _list()
    where = executor.arguments()
    from memcurve.studies.sweeping import Study, Sweep, shipped
    from memcurve.studies.sweeping import sweep as run

    chosen = Study.load(study, quick=quick)
    path = store or Path(f"{chosen.name}.sqlite")
    output.require_other_than(Path(study), path, what="study")
    if study in shipped() and not Path(study).is_file() and not status:
        output = replace(output, plot=output.plot or Path(f"{chosen.name}.png"))
    if status:
        result = Sweep.open(path, chosen)
    else:
        with stoppable(path):
            result = run(
                chosen,
                path,
                retry_failed=executor.retry_failed,
                case_timeout=case_timeout,
                progress=True,
                **where,
            )
    if not result.counts["done"]:  # there is nothing to draw
        output = replace(output, plot=None)
    output.show(result, _print)
    if not (failed := result.counts["failed"]):
        return FINE
    cases = f"{counted(failed, 'case')} of {len(result):,} failed"
    warn(f"{cases}; --save writes the errors, --retry-failed computes them again.")
    return FAILED


def _print(result: Sweep) -> None:
    """The summary over seeds, what failed, and the sentence."""
    printer = Printer()
    if result.study.title:
        printer.line((result.study.title, "bold"))
    # a terminal shows so many groups, a file or pipe all of them
    head, *body = result.cells(limit=60 if sys.stdout.isatty() else None)
    words = ("ensemble", "file", "mask", "input", "method")
    numbers = [k for k, name in enumerate(head) if name not in words]
    printer.table(head, body, right=numbers)
    if any("±" in cell for row in body for cell in row):
        printer.paragraph("± is the standard deviation over the cases counted.", "dim")
    printer.notes(result.notes)
    printer.wrapped(styled(result.sentence))


def _list() -> int:
    from memcurve.studies.sweeping import Study, shipped

    studies = [Study.load(name) for name in shipped()]
    rows = [(study.name, f"{study.count:,}", study.title) for study in studies]
    Printer().table(("study", "cases", "question"), rows, right=(1,), indent=0)
    return FINE
