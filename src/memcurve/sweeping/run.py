"""Run a study: its cases into a store, wherever they are computed, and the results out of it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memcurve.curve import installed_versions
from memcurve.sweeping.cases import Case
from memcurve.sweeping.engine import Progress, run_cases
from memcurve.sweeping.evaluation import evaluate
from memcurve.sweeping.executors import open_executor
from memcurve.sweeping.reading import LISTED, read_sweep
from memcurve.sweeping.reporting import Reporter
from memcurve.sweeping.results import Sweep
from memcurve.sweeping.store import Store
from memcurve.sweeping.studies import MANY_CASES, Study


def sweep(
    study: Study | str | os.PathLike[str] | Mapping[str, Any] | Iterable[Case | Mapping[str, Any]],
    store: str | os.PathLike[str] | None = "sweep.sqlite",
    *,
    executor: str = "processes",
    workers: int | None = None,
    address: str | None = None,
    retry_failed: bool = False,
    allow_many: bool = False,
    progress: bool = False,
    on_progress: Progress | None = None,
) -> Sweep:
    """Compute all cases of a study, wherever there is room, and keep each as soon as it is done.

    What a store holds already is not computed again: a sweep that was stopped goes on, a study that
    was changed computes what is new. The numbers do not depend on the executor, to the bit.

    Parameters
    ----------
    study : Study, path, mapping or iterable of Case
        A study, a study file, the name of a shipped one, the tables of a file, or cases.
    store : path or None
        The file that keeps the results; None for a temporary one.
    executor : str
        ``"processes"`` (default), ``"serial"``, ``"dask"`` or ``"mpi"``.
    workers : int, optional
        Number of processes; one a core by default.
    address : str, optional
        Of a Dask scheduler, e.g. ``"tcp://127.0.0.1:8786"``; without one a local one is started.
    retry_failed : bool
        Compute failed cases again.
    allow_many : bool
        Required for a study of more than a million cases.
    progress : bool
        Show progress on stderr.
    on_progress : callable, optional
        Called with the numbers of cases done and failed, that of all, and the seconds so far.

    Returns
    -------
    Sweep
        All rows; a case that failed is one too, with its error.

    Examples
    --------
    >>> import memcurve
    >>> study = memcurve.Study.grid(ensemble=["cyclic", "delay_line"], size=[5, 10], keep="total")
    >>> result = memcurve.sweep(study, None, executor="serial")
    >>> result.to_xarray()["total"].values.tolist()
    [[5.0, 10.0], [5.0, 10.0]]
    """
    chosen, text, cases = _plan(study)
    name = chosen.name if chosen else "cases"
    if chosen is not None:
        require_few(chosen, allow_many)
    with (
        _place(store) as path,
        open_executor(executor, workers=workers, address=address) as pool,
        # under MPI only the rank that drives comes here
        Store.open(path) as opened,
        Reporter(name, show=progress) as reporter,
    ):
        opened.provenance = {"name": name, **provenance()}
        number, _, _ = opened.begin_study(text, cases())
        if retry_failed:
            opened.retry_failed(number)
        told = _both(reporter, on_progress) if progress else on_progress
        run_cases(opened, number, evaluate, pool, on_progress=told)
        return read_sweep(opened, number)


def require_few(study: Study, allow_many: bool) -> None:
    """Raise for a study so large that it may be a mistake, unless it is said that it is none."""
    if study.count > MANY_CASES and not allow_many:
        raise ValueError(
            f"{study.file}: has {study.count:,} cases, more than {MANY_CASES:,}; make its lists "
            f"shorter, or say that so many are meant: allow_many=True in Python, --yes in the "
            f"command."
        )


@functools.cache
def provenance() -> dict[str, Any]:
    """What the digits of results depend on, besides the study."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    blas = sorted(
        {
            f"{library['internal_api']} {library['version']} {library.get('architecture', '')}"
            for library in threadpool_info()
            if library["user_api"] == "blas"
        }
    )
    return {
        "versions": dict(installed_versions()),
        "blas": blas,
        "blas_threads": 1,
        "machine": f"{platform.system()} {platform.machine()}",
    }


def _plan(
    study: Any,
) -> tuple[Study | None, str, Callable[[], Iterator[tuple[str, dict[str, Any]]]]]:
    """The study, its text, and its cases with their keys."""
    if isinstance(study, str | os.PathLike):
        study = Study.load(study)
    elif isinstance(study, Mapping):
        study = Study.from_dict(study)
    if isinstance(study, Study):
        return study, study.text, lambda: ((case.key, case.to_dict()) for case in study.cases())
    try:
        listed = [case if isinstance(case, Case) else Case.from_dict(case) for case in study]
    except TypeError as error:
        raise TypeError(
            f"`study` must be a Study, a file, the name of a shipped study, or cases; got "
            f"{study!r:.100} ({error})."
        ) from None
    if not listed:
        raise ValueError("`study` must have at least one case, got none.")
    digest = hashlib.sha256("".join(case.key for case in listed).encode()).hexdigest()
    text = f"{LISTED}: {len(listed)} of them, sha256 of their keys {digest}\n"
    return None, text, lambda: ((case.key, case.to_dict()) for case in listed)


@contextlib.contextmanager
def _place(store: str | os.PathLike[str] | None) -> Iterator[Path]:
    if store is not None:
        yield Path(store)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "sweep.sqlite"


def _both(first: Progress, second: Progress | None) -> Progress:
    def tell(done: int, failed: int, total: int, seconds: float) -> None:
        first(done, failed, total, seconds)
        if second is not None:
            second(done, failed, total, seconds)

    return tell
