"""``memcurve sweep``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from memcurve.core.notes import counted
from memcurve.views.cli.console import Printer, json_text, say_written, styled
from memcurve.views.cli.options import (
    EXECUTOR,
    ExecutorOptions,
    Exported,
    Flag,
    Json,
    Picture,
    Verbose,
    usage,
)
from memcurve.views.cli.process import (
    FAILED,
    FINE,
    require_other_files,
    stoppable,
    warn,
)

# completion offers them, and help does without their files
StudyName = Literal["architectures", "noise", "radius", "sparsity"]

if TYPE_CHECKING:
    from memcurve.studies.sweeping import Sweep


def sweep(
    study: StudyName | str | None = None,
    /,
    *,
    store: Path | None = None,
    quick: Flag = False,
    status: Flag = False,
    executor: ExecutorOptions = EXECUTOR,
    case_timeout: float | None = None,
    export: Exported = None,
    plot: Picture = None,
    yes: Flag = False,
    json: Json = False,
    verbose: Verbose = False,
) -> int:
    """Parameter studies: one question for many networks, with a picture and a summary.

    Saves each result as soon as it is computed: a sweep that was stopped resumes with the same
    command, and a changed study computes only what is new. Exits with code 1 if cases failed; the
    others are computed all the same, and the errors are in the store.

    For example:

      memcurve sweep
      memcurve sweep sparsity --quick --plot sparsity.png
      memcurve sweep study.toml --workers 2 --export study.csv
      memcurve sweep study.toml --serial --store results.sqlite --plot study.png

    Parameters
    ----------
    study
        A study file (.toml), or the name of a built-in study, which is drawn to its name with .png;
        without it, the built-in studies are listed.
    store
        File that stores the results. Default: the study's name with .sqlite, in this folder.
    quick
        A smaller version, by the study's [quick] table.
    status
        Print the progress of the sweep, without computing; --export and --plot use what is there.
    case_timeout
        Seconds after which a case counts as failed, and the sweep goes on. Default: no limit.
    yes
        Run a study of more than a million cases.
    """
    if study is None:
        return _list(json)
    where = executor.arguments()
    from memcurve.studies.sweeping import Study, Sweep, shipped
    from memcurve.studies.sweeping.run import require_few
    from memcurve.studies.sweeping.run import sweep as run

    chosen = Study.load(study, quick=quick)
    named = study in shipped() and not Path(study).is_file()
    place = store or Path(f"{chosen.name}.sqlite")
    require_other_files(Path(study), place, export, plot, what="study")
    if named and not status:
        plot = plot or Path(f"{chosen.name}.png")
    if status:
        result = Sweep.open(place, chosen)
    else:
        with usage():
            require_few(chosen, yes)
        with stoppable(place):
            result = run(
                chosen,
                place,
                retry_failed=executor.retry_failed,
                case_timeout=case_timeout,
                allow_many=yes,
                progress=True,
                **where,
            )
    return _shown(result, place, export, plot, json)


def _shown(
    result: Sweep, store: Path, export: Path | None, plot: Path | None, as_json: bool
) -> int:
    # first what cannot fail: a picture that cannot be drawn must not cost the numbers
    if as_json:
        content = {
            "study": result.name,
            "store": str(store),
            "counts": result.counts,
            "sentence": result.sentence,
            "summary": result.summary(),
            "failed": [{"case": row.case, "error": row.error} for row in result.failed],
        }
        print(json_text(content))
    else:
        _print(result)
    if result.counts["failed"]:
        failed = f"{counted(result.counts['failed'], 'case')} of {len(result):,} failed"
        warn(f"{failed}; --export writes the errors, --retry-failed computes them again.")
    if export is not None:
        result.save(export)
        say_written(table=export)
    if plot is not None and result.counts["done"]:
        from memcurve.rendering import plot as pictures

        pictures.save(result.plot(), plot)
        say_written(picture=plot)
    return FAILED if result.counts["failed"] else FINE


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
    printer.notes(result.notes)
    printer.wrapped(styled(result.sentence))


def _list(as_json: bool) -> int:
    from memcurve.studies.sweeping import Study, shipped

    studies = [Study.load(name) for name in shipped()]
    if as_json:
        print(json_text({study.name: study.title for study in studies}))
    else:
        rows = [(study.name, f"{study.count:,}", study.title) for study in studies]
        Printer().table(("study", "cases", "question"), rows, right=(1,), indent=0)
    return FINE
