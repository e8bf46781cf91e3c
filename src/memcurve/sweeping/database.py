"""The SQLite file behind a store: opened with care, and errors that say what to do."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

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


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
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
            f"{path}: {error}; {remedy}. What was finished before is kept: run the same command "
            f"again to go on."
        ) from error


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """Open the store at ``path`` and create it where there is none."""
    with explained(path):
        connection = _connection(path, read_only)
        try:
            _require_version(connection, path, read_only)
            if not read_only:
                connection.execute("PRAGMA journal_mode = WAL")  # readers never wait
                # every commit reaches the disk: not even a power cut loses a result
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                _create(connection)
            _require_whole(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, also where the disk is full or the process is killed."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # some errors have rolled it back already
            connection.execute("ROLLBACK")
        raise


def require_store_or_nothing(path: Path, *, read_only: bool) -> None:
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


def _connection(path: Path, read_only: bool) -> sqlite3.Connection:
    where = quote(str(path.resolve()))

    def opened(mode: str) -> sqlite3.Connection:
        uri = f"file:{where}?{mode}"
        return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=10)

    if not read_only:
        return opened("mode=rwc")
    connection = opened("mode=ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # SQLite keeps an index beside a file that is being written to, even for readers. In a
        # folder that cannot be written to there is no writer, and none is needed.
        connection.close()
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise
        return opened("immutable=1")
    return connection


def _require_version(connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
    application = _number(connection, "application_id")
    version = _number(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application == 0 and version == 0 and tables == 0:
        if read_only:
            raise ValueError(f"{path} is empty: no study has been begun in it.")
        return
    if application != APPLICATION_ID:
        raise ValueError(
            f"{path} is a database of another program, not a store of sweeps; give another --store."
        )
    if version > SCHEMA_VERSION:
        raise ValueError(
            f"{path} was written by a newer memcurve (format {version}, this one reads up to "
            f"{SCHEMA_VERSION}); run: pip install --upgrade memcurve"
        )


def _create(connection: sqlite3.Connection) -> None:
    if _number(connection, "user_version") == 0:
        with transaction(connection):
            for statement in _SCHEMA:
                connection.execute(statement)


def _require_whole(connection: sqlite3.Connection, path: Path) -> None:
    """A file that was cut off, e.g. by a copy that did not finish, has fewer pages than it says."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return  # some of the pages are in there
    expected = _number(connection, "page_count") * _number(connection, "page_size")
    if path.stat().st_size < expected:
        raise _damaged(path, f"{path.stat().st_size} of {expected} bytes are there")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _damaged(path: Path, reason: str) -> ValueError:
    return ValueError(
        f"{path} is damaged ({reason}); nothing was changed in it. Restore it from a copy or give "
        f"another --store."
    )
