"""The store of sweeps: every case once, every result saved as soon as it is computed.

A SQLite file (write-ahead log, one commit per batch of results) and a file lock.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import quote

from filelock import FileLock, Timeout

from memcurve.core.result import plain

#: Marks the file as a store of sweeps ("MCsw"), so that no other database is ever written to.
APPLICATION_ID = 0x4D437377
SCHEMA_VERSION = 2

#: A case without a result is pending, one whose result has an error failed, any other is done.
_SCHEMA = f"""
BEGIN;
CREATE TABLE cases (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL);
CREATE TABLE studies (id INTEGER PRIMARY KEY, text TEXT NOT NULL, created TEXT NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0);
CREATE TABLE members (study_id INTEGER NOT NULL, position INTEGER NOT NULL,
    case_id INTEGER NOT NULL, PRIMARY KEY (study_id, position)) WITHOUT ROWID;
CREATE UNIQUE INDEX member_of ON members (study_id, case_id);
CREATE TABLE runs (id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL, begun TEXT NOT NULL,
    provenance TEXT NOT NULL);
CREATE TABLE results (case_id INTEGER PRIMARY KEY, run_id INTEGER, "values" TEXT, error TEXT,
    seconds REAL NOT NULL);
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {SCHEMA_VERSION};
COMMIT;
"""
_PUT = """
INSERT INTO results (case_id, run_id, "values", error, seconds)
SELECT id, ?, ?, ?, ? FROM cases WHERE key = ?
ON CONFLICT (case_id) DO UPDATE SET run_id = excluded.run_id, "values" = excluded."values",
    error = excluded.error, seconds = excluded.seconds
WHERE results.error IS NOT NULL
"""
_PENDING = """
SELECT m.position, c.key, c.content FROM members m JOIN cases c ON c.id = m.case_id
WHERE m.study_id = ? AND m.position > ?
    AND NOT EXISTS (SELECT 1 FROM results r WHERE r.case_id = m.case_id)
ORDER BY m.position LIMIT ?
"""
_ROWS = """
SELECT m.position, c.key, r.case_id, c.content, r."values", r.error, r.seconds, r.run_id,
    json_extract(n.provenance, '$.versions.memcurve')
FROM members m JOIN cases c ON c.id = m.case_id
LEFT JOIN results r ON r.case_id = m.case_id LEFT JOIN runs n ON n.id = r.run_id
WHERE m.study_id = ? AND m.position > ? ORDER BY m.position LIMIT ?
"""
#: Cases registered per transaction. Doubled: more memory, hardly faster.
_REGISTERED_AT_ONCE = 5000
#: Rows read at once. Doubled: readers hold the file longer.
_READ_AT_ONCE = 200
Status = Literal["pending", "done", "failed"]


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


class Store:
    """A file with studies, their cases and results; opened with :meth:`open`.

    One process writes at a time, any number can read (on the same machine: SQLite's log does not
    work across a network). Each result is on disk when :meth:`put` returns.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, close: Callable[[], None]):
        #: Close the file and let others write to it.
        self.close = close
        self.path, self._connection = path, connection
        self._run: int | None = None
        #: Versions and the like; saved with each study begun, and so with the results that follow.
        self.provenance: dict[str, Any] = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None, *, read_only: bool = False) -> Self:
        """Open the store at ``path``; one that is to be written to is created if missing.

        None is a temporary one. Raises OSError if another process writes to it or it cannot be read
        or written, ValueError if it is no store, of a newer version, or damaged.
        """
        with contextlib.ExitStack() as undo:
            if path is None:
                folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
                path = Path(undo.enter_context(folder), "sweep.sqlite")
            file = Path(path)
            if read_only and not file.is_file():
                raise FileNotFoundError(
                    f"{file}: there is no such store; check the path, or run the sweep first."
                )
            if not read_only:
                undo.enter_context(_writer_lock(file))
            with _explained(file):
                connection = _connect(file, read_only=read_only)
                undo.callback(connection.close)
                _require_store(connection, file, read_only=read_only)
            return cls(file, connection, undo.pop_all().close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_study(self, text: str, cases: Iterable[tuple[str, dict[str, Any]]]) -> int:
        """Register a study by its text and the keys and contents of its cases; returns its number.

        One that is there already goes on; the same text with other cases gets a number of its own.
        There may be millions of cases: only some thousands are held at a time.
        """
        stream, connection = enumerate(cases), self._connection
        insert_study = "INSERT INTO studies (text, created) VALUES (?, ?)"
        with _explained(self.path):
            with connection:
                number: Any = connection.execute(insert_study, (text, _now())).lastrowid
            while batch := list(itertools.islice(stream, _REGISTERED_AT_ONCE)):
                with connection:
                    connection.executemany(
                        "INSERT OR IGNORE INTO cases (key, content) VALUES (?, ?)",
                        ((key, canonical(case)) for _, (key, case) in batch),
                    )
                    connection.executemany(
                        "INSERT OR IGNORE INTO members SELECT ?, ?, id FROM cases WHERE key = ?",
                        ((number, position, key) for position, (key, _) in batch),
                    )
            with connection:
                number = self._completed(number, text)
                # left are a copy of a study that is known, and what was interrupted
                rest = "SELECT id FROM studies WHERE NOT complete"
                connection.execute(f"DELETE FROM members WHERE study_id IN ({rest})")
                connection.execute("DELETE FROM studies WHERE NOT complete")
                self._run = connection.execute(
                    "INSERT INTO runs (study_id, begun, provenance) VALUES (?, ?, ?)",
                    (number, _now(), canonical(self.provenance)),
                ).lastrowid
        return int(number)

    def _completed(self, study: int, text: str) -> int:
        """The number of a study whose cases are all there now: that of an equal one, if any."""
        members = "SELECT position, case_id FROM members WHERE study_id ="
        differing = f"{members} ? EXCEPT {members} ? LIMIT 1"
        for (other,) in self._select("SELECT id FROM studies WHERE complete AND text = ?", text):
            if not self._select(differing, study, other) + self._select(differing, other, study):
                return int(other)
        self._connection.execute("UPDATE studies SET complete = 1 WHERE id = ?", (study,))
        return study

    def pending(self, study: int) -> Iterator[tuple[str, str]]:
        """Key and content (as JSON) of the cases without a result, in the study's order."""
        for _, key, content in self._paged(_PENDING, study):
            yield key, content

    def rows(self, study: int | None = None) -> Iterator[CaseResult]:
        """The cases of a study (the latest one by default) in its order, with their results."""
        for _, key, result, *texts, error, seconds, run, version in self._paged(_ROWS, study):
            status: Status = "pending" if result is None else "done" if error is None else "failed"
            case, values = (text and json.loads(text) for text in texts)
            yield CaseResult(key, case, status, values, error, seconds, run, version)

    def counts(self, study: int | None = None) -> dict[str, int]:
        """How many cases of a study are "pending", "done" and "failed"."""
        [(total, finished, failed)] = self._select(
            "SELECT count(*), count(r.case_id), count(r.error) FROM members m "
            "LEFT JOIN results r ON r.case_id = m.case_id WHERE m.study_id = ?",
            study or self.latest(),
        )
        return {"pending": total - finished, "done": finished - failed, "failed": failed}

    def retry_failed(self, study: int | None = None) -> int:
        """Make the failed cases of a study pending again; returns how many there were."""
        members = "SELECT case_id FROM members WHERE study_id = ?"
        query = f"DELETE FROM results WHERE error IS NOT NULL AND case_id IN ({members})"
        with _explained(self.path), self._connection:
            return self._connection.execute(query, (study or self.latest(),)).rowcount

    def put(self, outcomes: Iterable[CaseOutcome]) -> None:
        """Save outcomes; they are on the disk when this returns. What is done stays as it is."""
        with _explained(self.path), self._connection:
            self._connection.executemany(
                _PUT, [(self._run, *outcome[1:], outcome.key) for outcome in outcomes]
            )

    def studies(self) -> dict[int, str]:
        """The texts of the studies by their numbers, the one begun last at the end."""
        latest = "SELECT max(r.id) FROM runs r WHERE r.study_id = studies.id"
        query = f"SELECT id, text FROM studies WHERE complete ORDER BY ({latest})"
        return dict(self._select(query))

    def latest(self) -> int:
        """The number of the study begun last."""
        if not (numbers := list(self.studies())):
            raise ValueError(f"{self.path} holds no study; run the sweep first.")
        return numbers[-1]

    def runs(self) -> dict[int, tuple[int, dict[str, Any]]]:
        """All runs by number: which study they were begun for, and their provenance."""
        runs = self._select("SELECT id, study_id, provenance FROM runs ORDER BY id")
        return {run: (study, json.loads(text)) for run, study, text in runs}

    def _select(self, query: str, *values: Any) -> list[Any]:
        with _explained(self.path):
            return self._connection.execute(query, values).fetchall()

    def _paged(self, query: str, study: int | None) -> Iterator[tuple[Any, ...]]:
        number, last = study or self.latest(), -1
        while page := self._select(query, number, last, _READ_AT_ONCE):
            yield from page
            last = page[-1][0]


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@contextlib.contextmanager
def _writer_lock(path: Path) -> Iterator[None]:
    """Hold the right to write, by a lock of the system, of which a killed process holds nothing."""
    # of the process, not of the thread that opened the store
    lock = FileLock(f"{path}.lock", thread_local=False)
    try:
        path.parent.stat()  # filelock would make the folder
        lock.acquire(blocking=False)
    except Timeout:
        raise OSError(
            f"another sweep is writing to {path}; wait for it or give another --store."
        ) from None
    except (OSError, NotImplementedError) as error:
        raise OSError(
            f"{path}: cannot be written ({error}); check that its folder exists, may be written "
            f"to, has room and is on a local disk, or give another --store."
        ) from error
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
            raise ValueError(
                f"{path} is damaged, or no store of sweeps ({error}); nothing was changed in it. "
                f"Restore it from a copy or give another --store."
            ) from error
        raise OSError(
            f"{path}: {error}; check that its disk has room, that it and its folder may be written "
            f"to, and that no other program holds it. Finished cases are saved; run the same "
            f"command again to continue."
        ) from error


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    uri = f"file:{quote(os.fsencode(path.resolve()))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level="IMMEDIATE", timeout=10)


def _require_store(connection: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    """Raise unless the file is a store, or an empty one that is to be written to: then make one."""

    def number(query: str) -> int:
        return int(connection.execute(query).fetchone()[0])

    is_empty = number("SELECT count(*) FROM sqlite_master") == 0
    if is_empty and read_only:
        raise ValueError(f"{path} is empty: no study has been begun in it.")
    if not is_empty and number("PRAGMA application_id") != APPLICATION_ID:
        raise ValueError(f"{path} is a database of another program; give another --store.")
    if (version := number("PRAGMA user_version")) > SCHEMA_VERSION:
        raise ValueError(
            f"{path} was written by a newer memcurve (format {version}, this one reads up to "
            f"{SCHEMA_VERSION}); update memcurve to read it."
        )
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")  # readers never wait
        # every commit reaches the disk: not even a power cut loses a result
        connection.execute("PRAGMA synchronous = FULL")
        if is_empty:
            connection.executescript(_SCHEMA)
