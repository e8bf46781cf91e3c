"""Sweeps: the same rows wherever they are computed, whatever the jobs do."""

import functools
import itertools
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sweep_jobs
from command import ended
from memcurve.studies.sweeping.engine import CaseCounts, Interrupted, run_cases
from memcurve.studies.sweeping.executors import (
    CaseRunner,
    UnusableWorkerError,
    open_executor,
    versions,
)
from memcurve.studies.sweeping.store import CaseResult, Store
from refusals import refuses
from sweep_jobs import cases


def swept(
    path: Path,
    job: Callable[[dict[str, Any]], dict[str, Any]],
    count: int,
    kind: str = "serial",
    content: dict[str, Any] | None = None,
    **options: Any,
) -> tuple[CaseCounts, list[CaseResult]]:
    """Run a job on so many cases, in two processes where it is not run here."""
    workers = {"workers": 2} if kind == "processes" else {}
    with open_executor(kind, **workers) as pool, Store.open(path) as store:
        wanted = functools.partial(cases, count, **(content or {}))
        counts = run_cases(store, wanted, job, pool, **options)
        return counts, list(store.rows(wanted))


def without_times(rows: list[CaseResult]) -> list[tuple[Any, ...]]:
    return [(row.key, row.status, row.values, row.error) for row in rows]


def test_rows_do_not_depend_on_where_they_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    counts, serial = swept(tmp_path / "serial.db", sweep_jobs.spectrum, 40)
    assert counts == CaseCounts(done=40, failed=0, pending=0)
    assert counts.total == 40
    assert all(row.seconds is not None and row.seconds > 0 for row in serial)
    assert all(row.values is not None and row.values["threads"] == [1] for row in serial)
    _, processes = swept(tmp_path / "processes.db", sweep_jobs.spectrum, 40, "processes")
    assert without_times(serial) == without_times(processes)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"


def test_jobs_that_raise_become_rows_with_their_error(tmp_path: Path) -> None:
    counts, rows = swept(tmp_path / "sweep.db", sweep_jobs.raising, 20)
    assert counts == CaseCounts(done=11, failed=9, pending=0)
    assert rows[3].error == "ValueError: `number` must not be divisible by three, got 3."
    assert rows[7].error == "TypeError: Object of type object is not JSON serializable"
    assert rows[7].values is None
    assert [row.status for row in rows[4:8]] == ["done", "done", "failed", "failed"]
    again, _ = swept(tmp_path / "sweep.db", sweep_jobs.nothing, 20)
    assert again == counts  # failed cases are tried again on request only


def test_progress_is_reported_at_most_ten_times_a_second(tmp_path: Path) -> None:
    reports: list[tuple[CaseCounts, float]] = []
    report = lambda counts: reports.append((counts, time.monotonic()))  # noqa: E731
    content = {"seconds": 0.005}
    swept(tmp_path / "sweep.db", sweep_jobs.digits, 100, content=content, progress=report)
    assert reports[0][0] == CaseCounts(done=0, failed=0, pending=100)
    assert reports[-1][0] == CaseCounts(done=100, failed=0, pending=0)
    times = [elapsed for _, elapsed in reports]
    assert min(b - a for a, b in itertools.pairwise(times[:-1])) > 0.09
    reports.clear()
    swept(tmp_path / "sweep.db", sweep_jobs.digits, 100, content=content, progress=report)
    assert [counts for counts, _ in reports] == [CaseCounts(done=100, failed=0, pending=0)]


def test_whoever_is_told_of_progress_can_stop_the_sweep(tmp_path: Path) -> None:
    path = tmp_path / "sweep.db"

    def enough(counts: CaseCounts) -> None:
        if counts.done > 5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        swept(path, sweep_jobs.digits, 200, content={"seconds": 0.01}, progress=enough)
    with Store.open(path) as store:
        assert 5 < store.counts(functools.partial(cases, 200, seconds=0.01))["done"] < 200


def test_a_script_without_a_guard_is_told_so_and_fails_no_case(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(sweep_jobs.__file__).parent)!r})\n"
        f"import sweep_jobs\nsweep_jobs.drive({str(tmp_path / 'sweep.db')!r}, 'processes', "
        f"'digits', '5')\n"
    )
    done = ended([sys.executable, str(script)])
    assert done.code == 1
    assert "under `if __name__ == '__main__':`" in done.err
    with Store.open(tmp_path / "sweep.db", read_only=True) as store:
        assert store.counts(lambda: cases(5)) == {"pending": 5, "done": 0, "failed": 0}


def test_workers_with_other_versions_are_refused() -> None:
    runner = CaseRunner(sweep_jobs.nothing, versions=versions() | {"numpy": "0.1"})
    refuses(UnusableWorkerError, ("numpy", "0.1"), runner.here, None)


@pytest.mark.parametrize(
    ("kind", "options", "fact"),
    [
        ("threads", {}, "`kind`"),
        ("serial", {"workers": 2}, "`workers`"),
        ("dask", {"workers": 2, "address": "x"}, "`workers`"),
        ("processes", {"workers": 0}, "`workers`"),
        ("processes", {"address": "x"}, "`address`"),
        ("dask", {}, "`address`"),
        ("dask", {"address": "x", "dask_timeout": 0}, "`dask_timeout`"),
    ],
)
def test_arguments_that_make_no_sense(kind: str, options: dict[str, Any], fact: str) -> None:
    refuses(ValueError, fact, open_executor(kind, **options).__enter__)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory as Linux tells it")
def test_memory_does_not_grow_with_the_number_of_cases(tmp_path: Path) -> None:
    """As in a study of a hundred thousand cases, on a tenth of them."""
    import resource

    path, count = tmp_path / "sweep.db", 10_000
    swept(path, sweep_jobs.nothing, 5000)  # which fills the caches of SQLite
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open_executor("serial") as pool, Store.open(path) as store:
        wanted = functools.partial(cases, count)
        assert run_cases(store, wanted, sweep_jobs.nothing, pool).done == count
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 5000  # kilobytes
