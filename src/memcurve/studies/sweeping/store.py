"""The store of sweeps: every case once, every result saved as soon as it is computed.

A SQLite file (write-ahead log, one commit per batch of results) and a file lock.
"""

import contextlib
import datetime as dt
import itertools
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import quote

from filelock import FileLock, Timeout

from memcurve.core.notes import Sentences, texts_beside
from memcurve.core.result import plain

#: Marks the file as a store of sweeps ("MCsw"), so that no other database is ever written to.
APPLICATION_ID = 0x4D437377
SCHEMA_VERSION = 3

#: A case without a result is pending, one whose result has an error failed, any other is done.
_SCHEMA = f"""
BEGIN;
CREATE TABLE runs (id INTEGER PRIMARY KEY, begun TEXT NOT NULL, study TEXT NOT NULL,
    provenance TEXT NOT NULL);
CREATE TABLE results (key TEXT PRIMARY KEY, "values" TEXT, error TEXT, seconds REAL NOT NULL,
    run_id INTEGER) WITHOUT ROWID;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
_PUT = """
INSERT INTO results (key, "values", error, seconds, run_id) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET run_id = excluded.run_id, "values" = excluded."values",
    error = excluded.error, seconds = excluded.seconds
WHERE results.error IS NOT NULL
"""
#: Results looked up at once. Doubled: readers hold the file longer.
_READ_AT_ONCE = 200
#: Makes the cases of a study, by key and content, as often as it is called: there may be millions.
Cases = Callable[[], Iterable[tuple[str, dict[str, Any]]]]
Status = Literal["pending", "done", "failed"]
#: Sentences of sweeps and what is called how, by kind.
TEXTS: dict[str, Any] = texts_beside(__file__, "sentences.toml")
#: What is wrong with a study, its workers or its store.
fault = Sentences(TEXTS["faults"])


class CaseOutcome(NamedTuple):
    """Outcome of one case as it is stored; ``error`` is None if and only if it succeeded."""

    key: str
    values: str | None
    error: str | None
    seconds: float

    @classmethod
    def of(cls, key: str, values: Any, error: str | None, seconds: float) -> Self:
        """Values as canonical JSON, the error as one line."""
        text = None if values is None else canonical(values)
        return cls(key, text, None if error is None else one_line(error), seconds)


def canonical(content: Any) -> str:
    """JSON with sorted keys and every digit; numbers that are not finite become strings."""
    return json.dumps(plain(content), sort_keys=True, allow_nan=False, separators=(",", ":"))


def one_line(text: str) -> str:
    """The same text without line breaks, and without characters that no file could hold."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")


@dataclass(frozen=True)
class CaseResult:
    """One case of a study and its result: "pending", "done" or "failed"."""

    key: str
    case: dict[str, Any]
    status: Status
    values: dict[str, Any] | None
    error: str | None
    seconds: float | None
    run: int | None = None
    memcurve_version: str | None = None


class Store(contextlib.AbstractContextManager["Store"]):
    """A file with the results of cases, by their keys; opened with :meth:`open`.

    A study is a list of cases, and the store knows no more of it than its text: studies that have
    cases in common share their results. One process writes at a time, any number can read (on the
    same machine: SQLite's log does not work across a network). Each result is on disk when
    :meth:`put` returns.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, close: Callable[[], None]):
        #: Close the file and let others write to it.
        self.close = close
        self.path, self._connection = path, connection
        self._run: int | None = None

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None, *, read_only: bool = False) -> Self:
        """Open the store at ``path``; one that is to be written to is created if missing.

        None is a temporary one. Raises OSError if another process writes to it or it cannot be read
        or written, ValueError if it is no store, of another version, or damaged.
        """
        with contextlib.ExitStack() as undo:
            if path is None:
                folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
                path = Path(undo.enter_context(folder), "sweep.sqlite")
            file = Path(path)
            if read_only and not file.is_file():
                raise FileNotFoundError(fault("no_store", file=file))
            if not read_only:
                undo.enter_context(_writer_lock(file))
            with _explained(file):
                mode = "ro" if read_only else "rwc"
                uri = f"file:{quote(os.fsencode(file.resolve()))}?mode={mode}"
                connection = sqlite3.connect(uri, uri=True, isolation_level="IMMEDIATE", timeout=10)
                undo.callback(connection.close)
                _require_store(connection, file, read_only=read_only)
            return cls(file, connection, undo.pop_all().close)

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_run(self, study: str, provenance: Mapping[str, Any]) -> None:
        """Say which study is run, and how; the results that follow are of this run."""
        values = dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), study, canonical(provenance)
        insert = "INSERT INTO runs (begun, study, provenance) VALUES (?, ?, ?)"
        with _explained(self.path), self._connection:
            self._run = self._connection.execute(insert, values).lastrowid

    def put(self, outcomes: Iterable[CaseOutcome]) -> None:
        """Save outcomes; they are on the disk when this returns. What is done stays as it is."""
        with _explained(self.path), self._connection:
            self._connection.executemany(_PUT, [(*outcome, self._run) for outcome in outcomes])

    def rows(self, cases: Cases) -> Iterator[CaseResult]:
        """The cases with their results, in their order."""
        runs = self.runs()
        for key, case, result in self._with_results(cases):
            if result is None:
                yield CaseResult(key, case, "pending", None, None, None)
                continue
            text, error, seconds, run = result
            status: Status = "done" if error is None else "failed"
            values = None if text is None else json.loads(text)
            _, record = runs.get(run, ("", {}))
            version = record.get("versions", {}).get("memcurve")
            yield CaseResult(key, case, status, values, error, seconds, run, version)

    def pending(self, cases: Cases, *, retry_failed: bool = False) -> Iterator[tuple[str, str]]:
        """Key and content (as JSON) of the cases without a result, or that failed."""
        for key, case, result in self._with_results(cases):
            if result is None or (retry_failed and result[1] is not None):
                yield key, canonical(case)

    def counts(self, cases: Cases) -> dict[str, int]:
        """How many of the cases are "pending", "done" and "failed"."""
        counts = dict.fromkeys(("pending", "done", "failed"), 0)
        for _, _, result in self._with_results(cases):
            counts["pending" if result is None else "done" if result[1] is None else "failed"] += 1
        return counts

    def runs(self) -> dict[int, tuple[str, dict[str, Any]]]:
        """All runs by number: the text of their study, and their provenance."""
        runs = self._select("SELECT id, study, provenance FROM runs ORDER BY id")
        return {run: (study, json.loads(text)) for run, study, text in runs}

    def _with_results(self, cases: Cases) -> Iterator[tuple[str, dict[str, Any], Any]]:
        """Each case with its values, error, seconds and run, or None."""
        stream, query = iter(cases()), 'SELECT key, "values", error, seconds, run_id FROM results'
        while batch := list(itertools.islice(stream, _READ_AT_ONCE)):
            marks = ", ".join("?" * len(batch))
            rows = self._select(f"{query} WHERE key IN ({marks})", *(key for key, _ in batch))
            results = {key: result for key, *result in rows}
            yield from ((key, case, results.get(key)) for key, case in batch)

    def _select(self, query: str, *values: Any) -> list[Any]:
        with _explained(self.path):
            return self._connection.execute(query, values).fetchall()


@contextlib.contextmanager
def _writer_lock(path: Path) -> Iterator[None]:
    """A file lock for writing, which the system releases if the process is killed."""
    # of the process, not of the thread that opened the store
    lock = FileLock(f"{path}.lock", thread_local=False)
    try:
        path.parent.stat()  # filelock would make the folder
        lock.acquire(blocking=False)
    except Timeout:
        raise OSError(fault("locked", path=path)) from None
    except (OSError, NotImplementedError) as error:
        raise OSError(fault("unwritable", path=path, error=error)) from error
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into an OSError or a ValueError that names the file and the remedy."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # a mistake in this package, not in the file
            raise
        if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise ValueError(fault("damaged", path=path, error=error)) from error
        raise OSError(fault("store_error", path=path, error=error)) from error


def _require_store(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    """Raise unless the file is a store, or an empty one that is to be written to: then make one."""

    def number(query: str) -> int:
        return int(connection.execute(query).fetchone()[0])

    is_empty = number("SELECT count(*) FROM sqlite_master") == 0
    if is_empty and read_only:
        raise ValueError(f"{path} is empty: no study has been begun in it.")
    if not is_empty and number("PRAGMA application_id") != APPLICATION_ID:
        raise ValueError(f"{path} is a database of another program; give another --store.")
    if not is_empty and (version := number("PRAGMA user_version")) != SCHEMA_VERSION:
        raise ValueError(fault("store_format", path=path, version=version, own=SCHEMA_VERSION))
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")  # readers never wait
        # every commit reaches the disk: not even a power cut loses a result
        connection.execute("PRAGMA synchronous = FULL")
        if is_empty:
            connection.executescript(_SCHEMA)
