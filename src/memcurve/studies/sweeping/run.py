"""Run a study: compute its cases on a pool of workers, save them in a store, read them back."""

import functools
import os
import platform
from typing import Any

from memcurve.core.arguments import require_number
from memcurve.core.limits import blas_libraries
from memcurve.core.progress import Progress, progress_callback
from memcurve.core.result import installed_versions
from memcurve.studies.sweeping.cases import evaluate
from memcurve.studies.sweeping.engine import run_cases
from memcurve.studies.sweeping.executors import Job, open_executor
from memcurve.studies.sweeping.result import Runs, Sweep
from memcurve.studies.sweeping.store import CaseResult, Cases, Store, fault
from memcurve.studies.sweeping.studies import Study

#: Cases of a sweep at most, whose rows are held in memory. Doubled: 3 GB, and a minute to look up
#: which of them are done.
MOST_CASES = 1_000_000


def sweep(
    study: Study | str | os.PathLike[str],
    store: str | os.PathLike[str] | None = "sweep.sqlite",
    *,
    executor: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    case_timeout: float | None = None,
    progress: Progress = False,
) -> Sweep:
    """Compute all cases of a study in parallel and save each result as soon as it is computed.

    The :class:`memcurve.Sweep` has failed cases, too, with their errors.

    Cases that are already in the store are not computed again: an interrupted sweep continues, a
    changed study computes its new cases. Results do not depend on the executor, bit for bit.

    Parameters
    ----------
    study : Study or path
        A study of up to a million cases, a study file, or the name of a built-in study.
    store : path or None
        File in which results are saved; None for a temporary one.
    executor : str
        ``"processes"`` (default), ``"serial"`` or ``"dask"``.
    workers : int, optional
        Number of processes; one per core by default.
    address : str, optional
        Address of a Dask scheduler, e.g. ``"tcp://127.0.0.1:8786"``.
    retry_failed : bool
        Compute failed cases again.
    case_timeout : float, optional
        Seconds after which a case is killed and counts as failed; the sweep continues. No limit by
        default.
    progress : bool or callable
        Show progress on stderr; or a function called with the name of the study, the number of
        finished cases (those of earlier runs and failed ones included), and that of all.

    Examples
    --------
    >>> import memcurve
    >>> study = memcurve.Study.grid(ensemble=["cyclic", "delay_line"], size=[5, 10], keep="total")
    >>> result = memcurve.sweep(study, None, executor="serial")
    >>> result.to_xarray()["total"].values.tolist()
    [[5.0, 10.0], [5.0, 10.0]]
    """
    if not isinstance(study, Study):
        study = Study.load(study)
    if study.count > MOST_CASES:
        longest = max(study.axes, key=lambda axis: len(study.axes[axis]))
        facts = {"count": study.count, "axis": longest, "values": len(study.axes[longest])}
        raise ValueError(fault("many_cases", most=MOST_CASES, **facts))
    rows, runs = finished_cases(
        evaluate, study.name, study.text, study.keyed, store,
        executor=executor, workers=workers, address=address, retry_failed=retry_failed,
        case_timeout=case_timeout, progress=progress,
    )  # fmt: skip
    return Sweep.of(study, rows, runs)


def finished_cases(
    job: Job,
    name: str,
    text: str,
    cases: Cases,
    store: str | os.PathLike[str] | None,
    *,
    executor: str,
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    case_timeout: float | None = None,
    progress: Progress = False,
) -> tuple[list[CaseResult], Runs]:
    """Run a study's job; its cases with their results, and the runs that the store knows."""
    if case_timeout is not None:
        require_number(case_timeout, "case_timeout", "of seconds above 0", lambda s: s > 0)
    with (
        open_executor(executor, workers=workers, address=address) as pool,
        Store.open(store) as opened,
        progress_callback(progress) as notify,
    ):
        report = lambda counts: notify(name, counts.finished, counts.total)  # noqa: E731
        opened.begin_run(text, {"name": name, **provenance()})
        run_cases(
            opened, cases, job, pool, report, case_timeout=case_timeout, retry_failed=retry_failed
        )
        return list(opened.rows(cases)), opened.runs()


@functools.cache
def provenance() -> dict[str, Any]:
    """What the digits of results depend on, besides the study."""
    blas = {
        f"{library['internal_api']} {library['version']} {library.get('architecture', '')}"
        for library in blas_libraries().info()
        if library["user_api"] == "blas"
    }
    return {
        "versions": dict(installed_versions()),
        "blas": sorted(blas),
        "blas_threads": 1,
        "machine": f"{platform.system()} {platform.machine()}",
    }
