"""Sweeps: the same rows wherever they are computed, whatever the jobs do; the store loses none."""

import functools
import itertools
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
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
from memcurve.studies.sweeping.store import CaseOutcome, CaseResult, Store
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


def test_rows_do_not_depend_on_where_they_are_computed(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    counts, serial = swept(tmp_path / "serial.db", sweep_jobs.spectrum, 40)
    assert counts == CaseCounts(done=40, failed=0, pending=0)
    assert counts.total == 40
    assert all(row.seconds is not None and row.seconds > 0 for row in serial)
    assert all(row.values is not None and row.values["threads"] == [1] for row in serial)
    _, processes = swept(tmp_path / "processes.db", sweep_jobs.spectrum, 40, "processes")
    assert without_times(serial) == without_times(processes)
    assert os.environ["OPENBLAS_NUM_THREADS"] == "2"


def test_jobs_that_raise_become_rows_with_their_error(tmp_path) -> None:
    counts, rows = swept(tmp_path / "sweep.db", sweep_jobs.raising, 20)
    assert counts == CaseCounts(done=11, failed=9, pending=0)
    assert rows[3].error == "ValueError: `number` must not be divisible by three, got 3."
    assert rows[7].error == "TypeError: Object of type object is not JSON serializable"
    assert rows[7].values is None
    assert [row.status for row in rows[4:8]] == ["done", "done", "failed", "failed"]
    again, _ = swept(tmp_path / "sweep.db", sweep_jobs.nothing, 20)
    assert again == counts  # failed cases are tried again on request only


def test_progress_is_reported_at_most_ten_times_a_second(tmp_path) -> None:
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


def test_whoever_is_told_of_progress_can_stop_the_sweep(tmp_path) -> None:
    path = tmp_path / "sweep.db"

    def enough(counts: CaseCounts) -> None:
        if counts.done > 5:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        swept(path, sweep_jobs.digits, 200, content={"seconds": 0.01}, progress=enough)
    with Store.open(path) as store:
        assert 5 < store.counts(functools.partial(cases, 200, seconds=0.01))["done"] < 200


def test_a_script_without_a_guard_is_told_so_and_fails_no_case(tmp_path) -> None:
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
    refuses(UnusableWorkerError, ("numpy", "0.1"), runner.run_here, None)


@pytest.mark.parametrize(
    ("kind", "options", "fact"),
    [
        ("threads", {}, "`executor`"),
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
def test_memory_does_not_grow_with_the_number_of_cases(tmp_path) -> None:
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


VALUES = {"a": 1 / 3, "mc": [1.0, 0.1]}


def done(key: str) -> list[CaseOutcome]:
    return [CaseOutcome.of(key, VALUES, None, 0.5)]


def failed(key: str) -> list[CaseOutcome]:
    return [CaseOutcome.of(key, None, "ValueError:\nno", 0.1)]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "sweep.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


def test_cases_keep_their_order_and_results_every_digit(store: Store) -> None:
    """What is done stays, and what failed can be tried again."""
    wanted = functools.partial(cases, 500)
    keys = [key for key, _ in wanted()]
    assert [key for key, _ in store.pending(wanted)] == keys
    for put in (done(keys[3]), failed(keys[3]), failed(keys[4])):
        store.put(put)
    rows = list(store.rows(wanted))
    assert [row.key for row in rows] == keys
    assert [row.case["number"] for row in rows] == list(range(500))
    assert (rows[3].status, rows[3].values) == ("done", VALUES)
    assert (rows[3].error, rows[3].seconds) == (None, 0.5)
    assert (rows[4].status, rows[4].values, rows[4].error) == ("failed", None, "ValueError: no")
    assert (rows[5].status, rows[5].seconds) == ("pending", None)
    assert store.counts(wanted) == {"pending": 498, "done": 1, "failed": 1}
    assert [key for key, _ in store.pending(wanted)] == keys[:3] + keys[5:]
    again = [key for key, _ in store.pending(wanted, retry_failed=True)]
    assert again == keys[:3] + keys[4:]
    store.put(done(keys[4]))
    other = functools.partial(cases, 5)  # which has cases in common
    assert store.counts(other) == {"pending": 3, "done": 2, "failed": 0}
    assert list(store.rows(other))[4].values == VALUES


def test_one_process_writes_and_others_read(path: Path) -> None:
    code = "import sys, memcurve.studies.sweeping.store as s\ns.Store.open(sys.argv[1])"
    wanted = functools.partial(cases, 5)
    first, second, *_ = (key for key, _ in wanted())
    with Store.open(path) as store:
        store.begin_run("text", {})
        store.put(done(first))
        other = ended([sys.executable, "-c", code, str(path)])
        assert f"another sweep is writing to {path}" in other.err
        refuses(OSError, ("another", "--store"), Store.open, path)
        with Store.open(path, read_only=True) as reader:
            assert reader.counts(wanted) == {"pending": 4, "done": 1, "failed": 0}
            store.put(done(second))
            assert reader.counts(wanted)["done"] == 2
            refuses(OSError, path.name, reader.put, done(first))
    with Store.open(path) as store:
        assert store.counts(wanted)["done"] == 2
        assert store.runs() == {1: ("text", {})}


def _changed(path: Path, command: str) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(command)
    connection.close()


def _truncated(path: Path) -> None:
    with Store.open(path) as store:
        for key, _ in cases(500):
            store.put(done(key))
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    ("make", "fact"),
    [
        (lambda path: path.mkdir(), "store"),
        (lambda path: path.write_text("a,b\n1,2\n" * 200), "store"),
        (lambda path: _changed(path, "CREATE TABLE t (x)"), "another program"),
        (
            lambda path: Store.open(path).close() or _changed(path, "PRAGMA user_version = 99"),
            "99",
        ),
        (_truncated, "damaged"),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_no_store_is_refused_and_left_alone(
    path: Path, make: Any, fact: str, read_only: bool
) -> None:
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with (
        pytest.raises((ValueError, OSError)) as refused,
        Store.open(path, read_only=read_only) as store,
    ):
        store.counts(lambda: cases(500))
    assert str(path) in str(refused.value)
    assert fact in str(refused.value)
    assert "\n" not in str(refused.value)
    assert before == (path.read_bytes() if path.is_file() else b"")


def test_a_store_or_a_folder_that_is_missing_is_named(path: Path) -> None:
    refuses(FileNotFoundError, str(path), Store.open, path, read_only=True)
    refuses(OSError, (str(path.parent / "none"), "folder"), Store.open, path.parent / "none" / "x")
    path.touch()
    refuses(ValueError, (str(path), "empty"), Store.open, path, read_only=True)
    Store.open(path).close()


_WRITE = """
import sys
from memcurve.studies.sweeping.store import CaseOutcome, Store
from sweep_jobs import cases
try:
    with Store.open(sys.argv[1]) as store:
        for key, _ in cases(3000):
            store.put([CaseOutcome.of(key, {"a": "x" * 500}, None, 0.0)])
except (OSError, ValueError) as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def _written(path: Path, before: str = "") -> str:
    here = str(Path(sweep_jobs.__file__).parent)
    return ended([sys.executable, "-c", before + _WRITE, str(path)], cwd=here).err


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_file_that_may_not_grow(path: Path) -> None:
    # as a full disk would, for those who may not mount one
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_200_000, 1_200_000))\n"
    message = _written(path, before=limit)
    assert message.startswith("OSError")
    assert "Finished cases are saved" in message
    with Store.open(path) as store:
        counts = store.counts(lambda: cases(3000))
    assert counts["done"] > 10
    assert counts["pending"] > 10
