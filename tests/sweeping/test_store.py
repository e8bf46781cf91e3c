"""The working store of sweeps: nothing lost, nothing doubled, and errors that say what to do."""

import functools
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sweep_jobs
from command import ended
from memcurve.studies.sweeping.store import CaseOutcome, Store
from refusals import refuses
from sweep_jobs import cases

VALUES = {"a": 1 / 3, "mc": [1.0, 0.1]}


def done(key: str) -> list[CaseOutcome]:
    return [CaseOutcome.of(key, VALUES, None, 0.5)]


def failed(key: str) -> list[CaseOutcome]:
    return [CaseOutcome.of(key, None, "ValueError:\nno", 0.1)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
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


def _newer(path: Path) -> None:
    Store.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
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
        (_foreign, "another program"),
        (_newer, "99"),
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
