"""The store of sweeps: every case once, every result saved as soon as it is computed.

A SQLite file (write-ahead log, one commit per batch of results) and a file lock.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import json
import os
import socket
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self
from urllib.parse import quote

from filelock import FileLock, SoftFileLock, Timeout

from memcurve.core.result import plain

#: Marks the file as a store of sweeps ("MCsw"), so that no other database is ever written to.
APPLICATION_ID = 0x4D437377
SCHEMA_VERSION = 1

#: A case without a result is pending, one whose result has an error failed, any other is done.
_SCHEMA = (
    "CREATE TABLE cases (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL)",
    "CREATE TABLE studies (id INTEGER PRIMARY KEY, text TEXT NOT NULL, created TEXT NOT NULL, "
    "complete INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE members (study_id INTEGER NOT NULL, position INTEGER NOT NULL, "
    "case_id INTEGER NOT NULL, PRIMARY KEY (study_id, position)) WITHOUT ROWID",
    "CREATE UNIQUE INDEX member_of ON members (study_id, case_id)",
    "CREATE TABLE runs (id INTEGER PRIMARY KEY, study_id INTEGER NOT NULL, begun TEXT NOT NULL, "
    "provenance TEXT NOT NULL)",
    'CREATE TABLE results (case_id INTEGER PRIMARY KEY, run_id INTEGER, "values" TEXT, curve TEXT, '
    "error TEXT, seconds REAL NOT NULL)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
#: Cases registered per transaction. Doubled: more memory, hardly faster.
_REGISTERED_AT_ONCE = 5000
#: Rows read at once. Doubled: readers hold the file longer.
_READ_AT_ONCE = 200

Status = Literal["pending", "done", "failed"]


class CaseOutcome(NamedTuple):
    """Outcome of one case as it is stored; ``error`` is None if and only if it succeeded."""

    key: str
    values: str | None
    curve: str | None
    error: str | None
    seconds: float

    @classmethod
    def of(cls, key: str, values: Any, curve: Any, error: str | None, seconds: float) -> Self:
        """Values and curve as canonical JSON, the error as one line."""
        values, curve = (None if part is None else canonical(part) for part in (values, curve))
        return cls(key, values, curve, None if error is None else one_line(error), seconds)


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
    curve: dict[str, Any] | None
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
        #: Versions and the like. The driver sets it, and it is kept with each study begun and with
        #: the results that follow.
        self.provenance: dict[str, Any] = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None, *, read_only: bool = False) -> Self:
        """Open the store at ``path``; one that is to be written to is created if missing.

        None is a temporary one, gone when it is closed. Raises OSError if another process writes
        to it, or if the file or its folder cannot be read or written; ValueError if it is no store,
        was written by a newer version, or is damaged.
        """
        with contextlib.ExitStack() as undo:
            if path is None:
                folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
                path = Path(undo.enter_context(folder), "sweep.sqlite")
            file = Path(path)
            _require_store_or_nothing(file, read_only=read_only)
            if not read_only:
                undo.enter_context(_writer_lock(file))
            connection = undo.enter_context(contextlib.closing(_connect(file, read_only=read_only)))
            return cls(file, connection, undo.pop_all().close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_study(self, text: str, cases: Iterable[tuple[str, dict[str, Any]]]) -> int:
        """Register a study, given as its text and the keys and contents of its cases.

        Returns its number. One that is there already goes on; the same text with other cases gets
        a number of its own. Equal keys must have equal content, and a case that is named twice is
        one. There may be millions: only some thousands are held at a time.
        """
        stream, position, execute = iter(cases), 0, self._connection.execute
        with _explained(self.path):
            query = "INSERT INTO studies (text, created) VALUES (?, ?)"
            number: Any = execute(query, (text, _now())).lastrowid
            while batch := list(itertools.islice(stream, _REGISTERED_AT_ONCE)):
                with _transaction(self._connection):
                    for key, case in batch:
                        position += self._register(number, position, key, canonical(case))
            with _transaction(self._connection):
                number = self._completed(number, text)
                # left are a copy of a study that is known, and what was interrupted
                rest = "SELECT id FROM studies WHERE NOT complete"
                execute(f"DELETE FROM members WHERE study_id IN ({rest})")
                execute("DELETE FROM studies WHERE NOT complete")
                query = "INSERT INTO runs (study_id, begun, provenance) VALUES (?, ?, ?)"
                self._run = execute(query, (number, _now(), canonical(self.provenance))).lastrowid
        return int(number)

    def _register(self, study: int, position: int, key: str, content: str) -> int:
        """Make a case a member of a study; returns 0 where it is one already."""
        execute = self._connection.execute
        found = execute("SELECT id, content FROM cases WHERE key = ?", (key,)).fetchone()
        query = "INSERT INTO cases (key, content) VALUES (?, ?)"
        case, there = found or (execute(query, (key, content)).lastrowid, content)
        if there != content:
            raise ValueError(
                f"`cases` must have one content per key, but {key!r} is {there} in the store and "
                f"{content} now; give another --store."
            )
        query = "INSERT OR IGNORE INTO members VALUES (?, ?, ?)"
        return execute(query, (study, position, case)).rowcount

    def _completed(self, study: int, text: str) -> int:
        """The number of a study whose cases are all there now: that of an equal one, if any."""
        members = "SELECT position, case_id FROM members WHERE study_id ="
        for (other,) in self._select("SELECT id FROM studies WHERE complete AND text = ?", text):
            differing = (
                self._select(f"{members} ? EXCEPT {members} ? LIMIT 1", *pair)
                for pair in ((study, other), (other, study))
            )
            if not any(differing):
                return int(other)
        self._connection.execute("UPDATE studies SET complete = 1 WHERE id = ?", (study,))
        return study

    def pending(self, study: int) -> Iterator[tuple[str, str]]:
        """Key and content (as JSON) of the cases without a result, in the study's order."""
        query = (
            "SELECT m.position, c.key, c.content FROM members m JOIN cases c ON c.id = m.case_id "
            "WHERE m.study_id = ? AND m.position > ? AND NOT EXISTS "
            "(SELECT 1 FROM results r WHERE r.case_id = m.case_id) ORDER BY m.position LIMIT ?"
        )
        for _, key, content in self._paged(query, study):
            yield key, content

    def rows(self, study: int | None = None) -> Iterator[CaseResult]:
        """The cases of a study (the latest one by default) in its order, with their results."""
        query = (
            'SELECT m.position, c.key, r.case_id, c.content, r."values", r.curve, r.error, '
            "r.seconds, r.run_id, json_extract(n.provenance, '$.versions.memcurve') "
            "FROM members m JOIN cases c ON c.id = m.case_id "
            "LEFT JOIN results r ON r.case_id = m.case_id LEFT JOIN runs n ON n.id = r.run_id "
            "WHERE m.study_id = ? AND m.position > ? ORDER BY m.position LIMIT ?"
        )
        for _, key, result, *texts, error, seconds, run, version in self._paged(query, study):
            status: Status = "pending" if result is None else "done" if error is None else "failed"
            case, values, curve = (text and json.loads(text) for text in texts)
            yield CaseResult(key, case, status, values, curve, error, seconds, run, version)

    def counts(self, study: int | None = None) -> dict[str, int]:
        """How many cases of a study are "pending", "done" and "failed"."""
        [(total, finished, failed)] = self._select(
            "SELECT count(*), count(r.case_id), count(r.error) FROM members m "
            "LEFT JOIN results r ON r.case_id = m.case_id WHERE m.study_id = ?",
            self.number(study),
        )
        return {"pending": total - finished, "done": finished - failed, "failed": failed}

    def retry_failed(self, study: int | None = None) -> int:
        """Make the failed cases of a study pending again; returns how many there were."""
        with _explained(self.path), _transaction(self._connection):
            return self._connection.execute(
                "DELETE FROM results WHERE error IS NOT NULL AND case_id IN "
                "(SELECT case_id FROM members WHERE study_id = ?)",
                (self.number(study),),
            ).rowcount

    def put(self, outcomes: Iterable[CaseOutcome]) -> None:
        """Keep outcomes; they are on the disk when this returns. What is done stays as it is."""
        with _explained(self.path), _transaction(self._connection):
            for outcome in outcomes:
                found = self._select("SELECT id FROM cases WHERE key = ?", outcome.key)
                if not found:
                    raise ValueError(f"`key` {outcome.key!r} is no case of {self.path}.")
                self._connection.execute(
                    "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (case_id) DO UPDATE "
                    'SET run_id = excluded.run_id, "values" = excluded."values", '
                    "curve = excluded.curve, error = excluded.error, seconds = excluded.seconds "
                    "WHERE results.error IS NOT NULL",
                    (found[0][0], self._run, *outcome[1:]),
                )

    def studies(self) -> dict[int, str]:
        """The texts of the studies by their numbers, the one begun last at the end."""
        latest = "SELECT max(r.id) FROM runs r WHERE r.study_id = studies.id"
        query = f"SELECT id, text FROM studies WHERE complete ORDER BY ({latest})"
        return dict(self._select(query))

    def number(self, study: int | None = None) -> int:
        """The number itself, of a study that is there; that of the latest by default."""
        numbers = list(self.studies())
        if not numbers:
            raise ValueError(f"{self.path} holds no study; run the sweep first.")
        if study is not None and study not in numbers:
            listed = ", ".join(map(str, numbers))
            raise ValueError(f"`study` must be one of {listed} in {self.path}; got {study!r}.")
        return numbers[-1] if study is None else study

    def provenances(self, study: int | None = None) -> list[dict[str, Any]]:
        """What the runs of a study gave as their provenance, the latest last, each once."""
        texts = self._select(
            "SELECT provenance FROM runs WHERE study_id = ? GROUP BY provenance ORDER BY max(id)",
            self.number(study),
        )
        return [json.loads(text) for (text,) in texts]

    def computed_by(self, study: int | None = None) -> dict[int, dict[str, Any]]:
        """The runs that computed results of a study's cases, by number, with their provenance."""
        runs = self._select(
            "SELECT id, provenance FROM runs WHERE id IN (SELECT r.run_id FROM results r "
            "JOIN members m ON m.case_id = r.case_id WHERE m.study_id = ?) ORDER BY id",
            self.number(study),
        )
        return {run: json.loads(text) for run, text in runs}

    def _select(self, query: str, *values: Any) -> list[Any]:
        with _explained(self.path):
            return self._connection.execute(query, values).fetchall()

    def _paged(self, query: str, study: int | None) -> Iterator[tuple[Any, ...]]:
        number, last = self.number(study), -1
        while page := self._select(query, number, last, _READ_AT_ONCE):
            yield from page
            last = page[-1][0]


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


@contextlib.contextmanager
def _writer_lock(path: Path) -> Iterator[None]:
    """Hold the right to write to ``path``, at most until the end of the process.

    It is a lock of the system on ``<path>.lock``, not the presence of that file: a process that was
    killed holds nothing, and the file may stay. Who holds it stands in ``<path>.writer``, since a
    locked file cannot be read on every system.
    """
    # of the process, not of the thread that opened the store
    lock, holder = FileLock(f"{path}.lock", thread_local=False), Path(f"{path}.writer")
    try:
        path.parent.stat()  # filelock would make the folder
        lock.acquire(blocking=False)
        kind: type = type(lock)
        if issubclass(kind, SoftFileLock):  # what filelock takes where the system has no locks
            raise NotImplementedError("the file system has no locks")
    except Timeout:
        try:
            who = "process {} on {}".format(*holder.read_text("utf-8").split())
        except (OSError, ValueError, IndexError):  # it has the lock, but has not said who it is
            who = "another process"
        raise OSError(
            f"another sweep ({who}) is writing to {path}; wait for it or give another --store."
        ) from None
    except NotImplementedError as error:
        lock.release()
        raise OSError(
            f"{path}: cannot be locked ({error}), so two sweeps could write at once; put the "
            f"store on a local disk."
        ) from error
    except OSError as error:
        raise OSError(
            f"{path}: cannot be written ({error.strerror}); check that its folder exists, may "
            f"be written to and has room, or give another --store."
        ) from error
    with contextlib.suppress(OSError):  # only its name: a full disk is told by what follows
        holder.write_text(f"{os.getpid()} {socket.gethostname()}\n", encoding="utf-8")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            holder.unlink(missing_ok=True)
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
        primary = code & 0xFF
        if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise _damaged(path, str(error)) from error
        remedy = {
            sqlite3.SQLITE_FULL: "make room on its disk",
            sqlite3.SQLITE_READONLY: "check that it and its folder may be written to",
            sqlite3.SQLITE_CANTOPEN: "check that its folder exists and may be written to",
            sqlite3.SQLITE_BUSY: "another program holds it; end that one",
        }.get(primary, "check its disk")
        raise OSError(
            f"{path}: {error}; {remedy}. Finished cases are saved; run the same command again to "
            f"continue."
        ) from error


def _connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open the store at ``path`` and create it where there is none."""
    log = path.with_name(path.name + "-wal")

    def opened(mode: str) -> sqlite3.Connection:
        uri = f"file:{quote(os.fsencode(path.resolve()))}?{mode}"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)

    def logged() -> bool:
        return log.exists() and log.stat().st_size > 0

    with _explained(path), contextlib.ExitStack() as undo:
        connection = opened("mode=ro" if read_only else "mode=rwc")
        undo.callback(lambda: connection.close())
        try:
            _number(connection, "user_version")
        except sqlite3.OperationalError:
            # SQLite keeps an index beside a file that is being written to, even for readers. In a
            # folder that cannot be written to there is no writer, and none is needed.
            if not read_only or logged():
                raise
            connection.close()
            connection = opened("immutable=1")
        version = _version(connection, path, read_only)
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")  # readers never wait
            # every commit reaches the disk: not even a power cut loses a result
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if version == 0:
                with _transaction(connection):
                    for statement in _SCHEMA:
                        connection.execute(statement)
        if not logged():  # which has some of the pages
            # cut off, e.g. by a copy that did not finish, a file has fewer pages than it says
            expected = _number(connection, "page_count") * _number(connection, "page_size")
            if (size := path.stat().st_size) < expected:
                raise _damaged(path, f"{size} of {expected} bytes are there")
        undo.pop_all()
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, also where the disk is full or the process is killed."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # some errors have rolled it back already
            connection.execute("ROLLBACK")
        raise


def _require_store_or_nothing(path: Path, *, read_only: bool) -> None:
    """What can be told before SQLite, which would write to the file, has seen it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; give a file in it, e.g. {path / 'sweep.db'}.")
    try:
        with path.open("rb") as stream:
            start = stream.read(16)
    except FileNotFoundError:
        if read_only:
            raise FileNotFoundError(
                f"{path}: there is no such store; check the path, or run the sweep first."
            ) from None
        return
    except OSError as error:
        raise OSError(f"{path}: cannot be read ({error.strerror}); check the path.") from error
    if start and start != b"SQLite format 3\0":
        raise ValueError(f"{path} is not a store of sweeps; give another --store.")


def _version(connection: sqlite3.Connection, path: Path, read_only: bool) -> int:
    """The format of the store, 0 where there is nothing yet."""
    application = _number(connection, "application_id")
    version = _number(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application == version == tables == 0:
        if read_only:
            raise ValueError(f"{path} is empty: no study has been begun in it.")
    elif application != APPLICATION_ID:
        raise ValueError(
            f"{path} is a database of another program, not a store of sweeps; give another --store."
        )
    elif version > SCHEMA_VERSION:
        raise ValueError(
            f"{path} was written by a newer memcurve (format {version}, this one reads up to "
            f"{SCHEMA_VERSION}); update memcurve to read it."
        )
    return version


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _damaged(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"{path} is damaged ({reason}); nothing was changed in it. Restore it from a copy or give "
        f"another --store."
    )
