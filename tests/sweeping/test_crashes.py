"""Sweeps that are killed, interrupted or lose their workers: real processes, real signals."""

import contextlib
import functools
import importlib.util
import os
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sweep_jobs
from memcurve.studies.sweeping.engine import run_cases
from memcurve.studies.sweeping.executors import open_executor
from memcurve.studies.sweeping.store import Store
from sweep_jobs import cases

HERE = Path(sweep_jobs.__file__).parent
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
needs_dask = pytest.mark.skipif(
    importlib.util.find_spec("distributed") is None, reason="distributed is not installed"
)


def _with_path(folder: Path) -> str:
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


class Driver:
    """A sweep in a process of its own, all of whose descendants bear its mark."""

    def __init__(self, path: Path, kind: str, *arguments: object):
        self.mark = f"SWEEP_TEST={os.getpid()}.{random.random()}"
        name, value = self.mark.split("=")
        command = [sys.executable, "sweep_jobs.py", path, kind, *arguments]
        self.process = subprocess.Popen(
            [*map(str, command)],
            cwd=HERE,
            env=os.environ | {name: value, "PYTHONPATH": _with_path(HERE)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def others(self) -> set[int]:
        """The processes that it started, or that these started, and that are alive."""
        return {p for p in _alive() if p != self.process.pid and self.mark in _about(p, "environ")}

    def workers(self) -> set[int]:
        """Those of them that compute."""
        return {p for p in self.others() if "spawn_main" in _about(p, "cmdline")}

    def end_of_others(self, within: float) -> None:
        """Wait until none of them is left."""
        _soon(lambda: not self.others(), within)

    def ended(self, within: float = 60) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=within)
        return self.process.returncode, out, err


@pytest.fixture
def drive() -> Iterator[Callable[..., Driver]]:
    """Start drivers that do not outlive a test that fails."""
    started: list[Driver] = []

    def start(*arguments: Any) -> Driver:
        started.append(Driver(*arguments))
        return started[-1]

    yield start
    for driver in started:
        if driver.process.returncode is None:
            os.killpg(driver.process.pid, signal.SIGKILL)
            driver.ended()


def _alive() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _about(process: int, what: str) -> str:
    try:
        return Path(f"/proc/{process}/{what}").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def _soon(holds: Callable[[], Any], within: float = 60) -> None:
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def _done(path: Path) -> int:
    try:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            query = "SELECT count(*) FROM results WHERE error IS NULL"
            return int(connection.execute(query).fetchone()[0])
    except sqlite3.Error:  # it has not got that far
        return 0


def _undisturbed(path: Path, count: int, seconds: float) -> list[tuple[Any, ...]]:
    """All rows but their times, of a store that is whole, once what is missing is computed."""
    wanted = functools.partial(cases, count, **({"seconds": seconds} if seconds else {}))
    with open_executor("serial") as pool, Store.open(path) as store:
        run_cases(store, wanted, sweep_jobs.digits_at_once, pool)
        rows = list(store.rows(wanted))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return [(row.key, row.case, row.status, row.values, row.error) for row in rows]


@needs_proc
@pytest.mark.parametrize(
    ("kind", "count", "kills"),
    [
        ("processes", 600, 3),
        pytest.param("serial", 6000, 25, marks=pytest.mark.slow),
        pytest.param("processes", 6000, 25, marks=pytest.mark.slow),
        pytest.param("dask", 6000, 25, marks=[needs_dask, pytest.mark.slow]),
    ],
)
def test_a_driver_that_is_killed_loses_and_doubles_nothing(
    drive: Callable[..., Driver], tmp_path, kind: str, count: int, kills: int
) -> None:
    """At random instants, every other time as soon as results come in again."""
    path, draw, reached = tmp_path / "killed.db", random.Random(1), [0]
    with _cluster(kind) as address:
        for number in range(kills):
            driver = drive(path, kind, "digits", count, 0.004, *address)
            if number % 2:
                _soon(lambda: _done(path) > reached[-1])
                time.sleep(draw.uniform(0.0, 0.2))
            else:
                time.sleep(draw.uniform(0.0, 1.5))
            assert driver.process.poll() is None
            driver.process.kill()
            driver.ended()
            driver.end_of_others(within=5)
            reached.append(_done(path))
    assert reached == sorted(reached)
    assert len(set(reached)) > kills // 2
    assert reached[-1] < count
    # what goes on after the last kill has all the rows that one run has
    assert _undisturbed(path, count, 0.004) == _undisturbed(tmp_path / "whole.db", count, 0.004)


@needs_proc
@pytest.mark.parametrize(
    ("kills", "count"), [(1, 300), pytest.param(20, 8000, marks=pytest.mark.slow)]
)
def test_no_worker_outlives_the_driver_and_none_is_missed(
    drive: Callable[..., Driver], tmp_path, kills: int, count: int
) -> None:
    """Of workers that are killed others take the cases; with the driver they all end, at once."""
    path, killed = tmp_path / "sweep.db", set[int]()
    driver = drive(path, "processes", "digits", count, 0.02)
    for _ in range(kills):
        before = _done(path)
        _soon(lambda: _done(path) > before + 5 and len(driver.workers() - killed) == 2)  # noqa: B023
        os.kill(victim := (driver.workers() - killed).pop(), signal.SIGKILL)
        killed.add(victim)
    _soon(lambda: _done(path) > before + 15 and not killed & driver.workers())
    assert driver.workers()
    driver.process.kill()
    driver.ended()
    driver.end_of_others(within=2)
    with Store.open(path) as store:
        assert store.counts(functools.partial(cases, count, seconds=0.02))["failed"] == 0
    assert _undisturbed(path, count, 0.02) == _undisturbed(tmp_path / "whole.db", count, 0.02)


@needs_proc
@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("processes", signal.SIGINT),
        ("serial", signal.SIGTERM),
        pytest.param("dask", signal.SIGINT, marks=[needs_dask, pytest.mark.slow]),
    ],
)
def test_an_interrupted_sweep_ends_soon_and_says_how_to_go_on(
    drive: Callable[..., Driver], tmp_path, kind: str, number: signal.Signals
) -> None:
    path = tmp_path / "sweep.db"
    with _cluster(kind) as address:
        driver = drive(path, kind, "digits", 40, 0.5, *address)  # some finish, others are under way
        _soon(lambda: _done(path) > 1)
        start = time.monotonic()
        os.killpg(driver.process.pid, number)  # as a terminal does: to the workers as well
        time.sleep(0.1)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(driver.process.pid, signal.SIGINT)  # impatience is safe
        code, _, err = driver.ended(within=10)
        assert time.monotonic() - start < 2.5
    assert driver.others() == set()
    assert code == 130
    pattern = (
        rf"stopped by \w+: (\d+) of 40 cases are finished and saved in {re.escape(str(path))}; "
        rf"run the same command again to continue\.\n"
    )
    told = re.fullmatch(pattern, err)
    assert told, err
    assert _done(path) == int(told[1]) > 0


@needs_proc
@pytest.mark.parametrize(
    ("kind", "hanging", "deadly"),
    [
        ("serial", [3], []),  # every process that is ended costs a second
        ("processes", [3], [11]),
        pytest.param("dask", [3, 11], [5], marks=[needs_dask, pytest.mark.slow]),
    ],
)
def test_cases_that_hang_or_kill_their_process_fail_alone(
    tmp_path, kind: str, hanging: list[int], deadly: list[int]
) -> None:
    """In C, where neither an exception nor a thread reaches it; the sweep goes on."""
    workers = {"workers": 2} if kind == "processes" else {}
    with (
        _cluster(kind) as address,
        open_executor(kind, address=next(iter(address), None), **workers) as pool,
        Store.open(tmp_path / "sweep.db") as store,
    ):
        wanted = functools.partial(cases, 20, hanging=hanging, deadly=deadly)
        counts = run_cases(store, wanted, sweep_jobs.hanging, pool, case_timeout=0.5)
        rows = list(store.rows(wanted))
    assert counts == (20 - len(hanging + deadly), len(hanging + deadly), 0)
    for number in hanging:
        assert rows[number].error == "TimeoutError: ended after 0.5 s, the limit per case"
        assert 0.5 <= rows[number].seconds < 5
    assert all(
        (rows[number].error or "").startswith("the worker process died") for number in deadly
    )
    values = [row[3] for row in _undisturbed(tmp_path / "whole.db", 20, 0)]
    others = set(range(20)) - {*hanging, *deadly}
    assert [rows[number].values for number in others] == [values[number] for number in others]
    _soon(lambda: not _children())


def _children() -> list[int]:
    """The processes of this one that compute."""
    stat = re.compile(rf"^\d+ \(.*\) [^Z] {os.getpid()} ")
    alive = [process for process in _alive() if stat.match(_about(process, "stat"))]
    return [process for process in alive if "spawn_main" in _about(process, "cmdline")]


@contextlib.contextmanager
def _dask(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and workers, each a process of its own, on this machine alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet: Any = {
        # a task is lost with the second worker that it kills
        "env": os.environ
        | {"PYTHONPATH": _with_path(HERE), "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"},
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
    }
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    dask = [sys.executable, "-m", "dask"]
    scheduler = [*dask, "scheduler", *local, "--port", str(port)]
    worker = [*dask, "worker", address, *local, "--nthreads", "1", "--no-nanny"]
    started = [subprocess.Popen(scheduler, **quiet)]
    try:
        quiet["stderr"] = subprocess.PIPE
        started += [subprocess.Popen(worker, **quiet) for _ in range(workers)]
        for process in started[1:]:
            assert process.stderr is not None
            assert any(b"Registered to" in line for line in process.stderr)
        yield address, started
    finally:
        for process in started:
            process.kill()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


@contextlib.contextmanager
def _cluster(kind: str) -> Iterator[list[str]]:
    """The address of a scheduler with two workers where that is needed."""
    with _dask(workers=2) if kind == "dask" else contextlib.nullcontext([]) as cluster:
        yield [*cluster[:1]]


@needs_dask
@needs_proc
@pytest.mark.slow
def test_dask_workers_that_die(drive: Callable[..., Driver], tmp_path) -> None:
    """The work of one goes to another; when none is left the sweep says so, and can go on."""
    path = tmp_path / "sweep.db"
    with _dask(workers=2) as (address, (_, *workers)):
        driver = drive(path, "dask", "digits", 150, 0.02, address, 2)
        _soon(lambda: _done(path) > 10)
        workers[0].kill()
        before = _done(path)
        _soon(lambda: _done(path) > before + 20)
        workers[1].kill()
        start = time.monotonic()
        code, _, err = driver.ended(within=20)
        assert 1 < time.monotonic() - start < 10  # the driver waits for two seconds
        assert code == 1
        assert f"no Dask worker at {address} for 2 s; start some with `dask worker" in err
        assert "Traceback" not in err
    assert 0 < _done(path) < 150
    assert _undisturbed(path, 150, 0.02) == _undisturbed(tmp_path / "whole.db", 150, 0.02)


@needs_dask
def test_a_dask_cluster_is_sent_the_job_once(tmp_path) -> None:
    """It has the network, which may be large."""
    with (
        _dask(workers=1) as (address, _),
        open_executor("dask", address=address) as pool,
        Store.open(tmp_path / "s.db") as store,
    ):
        run_cases(store, lambda: cases(30), sweep_jobs.Weighty(), pool)
        values = [row.values for row in store.rows(lambda: cases(30))]
    assert sweep_jobs.Weighty.sent == 1
    assert len({value["process"] for value in values if value}) == 1


@needs_dask
@needs_proc
@pytest.mark.slow
def test_a_dask_scheduler_that_ends(drive: Callable[..., Driver], tmp_path) -> None:
    path = tmp_path / "sweep.db"
    with _dask(workers=1) as (address, (scheduler, _)):
        driver = drive(path, "dask", "digits", 300, 0.02, address)
        _soon(lambda: _done(path) > 10)
        scheduler.kill()
        code, _, err = driver.ended(within=20)
    assert code == 1
    assert err.startswith(f"the Dask scheduler at {address} is gone; restart it.")
    assert _done(path) > 10


@needs_dask
def test_a_dask_scheduler_that_is_not_there(drive: Callable[..., Driver], tmp_path) -> None:
    code, _, err = drive(
        tmp_path / "sweep.db", "dask", "digits", 10, 0.02, "tcp://127.0.0.1:9"
    ).ended()
    assert code == 1
    assert err.startswith("no Dask scheduler answers at tcp://127.0.0.1:9")
