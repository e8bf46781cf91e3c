"""Run a study: compute its cases on a pool of workers, save them in a store, read them back."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
from collections.abc import Iterable, Iterator
from typing import Any

from memcurve.core.arguments import require_number
from memcurve.core.limits import blas_libraries
from memcurve.core.progress import Progress, listening
from memcurve.core.result import installed_versions
from memcurve.studies.sweeping.cases import evaluate
from memcurve.studies.sweeping.engine import run_cases
from memcurve.studies.sweeping.executors import Job, open_executor
from memcurve.studies.sweeping.result import Sweep, read_sweep
from memcurve.studies.sweeping.store import Store
from memcurve.studies.sweeping.studies import Study

#: Cases from which a study needs confirmation. Doubled: slips of the pen run longer.
MANY_CASES = 1_000_000


def sweep(
    study: Study | str | os.PathLike[str],
    store: str | os.PathLike[str] | None = "sweep.sqlite",
    *,
    executor: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    allow_many: bool = False,
    case_timeout: float | None = None,
    progress: Progress = False,
) -> Sweep:
    """Compute all cases of a study in parallel and save each result as soon as it is computed.

    Cases that are already in the store are not computed again: an interrupted sweep continues, a
    changed study computes its new cases. Results do not depend on the executor, bit for bit.

    Parameters
    ----------
    study : Study or path
        A study, a study file, or the name of a built-in study.
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
    allow_many : bool
        Required for a study of more than a million cases.
    case_timeout : float, optional
        Seconds after which a case is killed and counts as failed; the sweep continues. No limit by
        default.
    progress : bool or callable
        Show progress on stderr; or a function called with the name of the study, the number of
        finished cases (those of earlier runs and failed ones included), and that of all.

    Returns
    -------
    Sweep
        All results; failed cases are included, with their errors.

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
    require_few(study, allow_many)
    cases = ((case.key, case.to_dict()) for case in study.cases())
    with finished_cases(
        evaluate, study.name, study.text, cases, store,
        executor=executor, workers=workers, address=address, retry_failed=retry_failed,
        case_timeout=case_timeout, progress=progress,
    ) as (opened, number):  # fmt: skip
        return read_sweep(opened, number, study)


@contextlib.contextmanager
def finished_cases(
    job: Job,
    name: str,
    text: str,
    cases: Iterable[tuple[str, dict[str, Any]]],
    store: str | os.PathLike[str] | None,
    *,
    executor: str,
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    case_timeout: float | None = None,
    progress: Progress = False,
) -> Iterator[tuple[Store, int]]:
    """Run a job on all cases of a study: store, worker pool and progress together.

    ``cases`` are keys and contents. Within the context the store is open and has all results, under
    the number of the study.
    """
    if case_timeout is not None:
        require_number(case_timeout, "case_timeout", "of seconds above 0", lambda s: s > 0)
    with (
        open_executor(executor, workers=workers, address=address) as pool,
        Store.open(store) as opened,
        listening(progress) as tell,
    ):
        report = lambda counts: tell(name, counts.finished, counts.total)  # noqa: E731
        opened.provenance = {"name": name, **provenance()}
        number = opened.begin_study(text, cases)
        if retry_failed:
            opened.retry_failed(number)
        run_cases(opened, number, job, pool, report, case_timeout=case_timeout)
        yield opened, number


def require_few(study: Study, allow_many: bool) -> None:
    """Raise for a study so large that it may be a mistake, unless confirmed."""
    if study.count > MANY_CASES and not allow_many:
        raise ValueError(
            f"{study.name}: has {study.count:,} cases, more than {MANY_CASES:,}; make its lists "
            f"shorter, or confirm with allow_many=True in Python, --yes in the command."
        )


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
