"""The working store of sweeps: every case once, every result kept from the moment it arrives."""

from __future__ import annotations

import datetime as dt
import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from memcurve.sweeping.database import connect, explained, require_store_or_nothing, transaction
from memcurve.sweeping.encoding import Encoded, canonical, one_line
from memcurve.sweeping.lock import WriterLock
from memcurve.sweeping.registration import Registration

#: Cases registered in one transaction, and rows read at once: large enough to be quick, small
#: enough that neither memory nor the time for which readers hold the file grows with the study.
_REGISTERED_AT_ONCE = 5000
_READ_AT_ONCE = 200


@dataclass(frozen=True)
class Outcome:
    """What became of one case; ``error`` is None if and only if it succeeded."""

    values: dict[str, Any] | None
    curve: dict[str, Any] | None
    error: str | None
    seconds: float


@dataclass(frozen=True)
class Row:
    """One case of a study as it stands: "pending", "done" or "failed"."""

    key: str
    case: dict[str, Any]
    status: str
    values: dict[str, Any] | None
    curve: dict[str, Any] | None
    error: str | None
    seconds: float | None
    run: int | None = None
    memcurve_version: str | None = None


class Store:
    """A file with studies, their cases and what became of these; opened with :meth:`open`.

    One process writes at a time, any number may read meanwhile (on the same machine: SQLite's log
    does not work across a network). Each result is on the disk when :meth:`put` returns.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._run: int | None = None
        #: Versions and the like. The driver sets it, and it is kept with each study begun and with
        #: the results that follow; in a store opened to read it is that of the latest study.
        self.provenance: dict[str, Any] = {}

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> Self:
        """Open the store at ``path``; one that is to be written to is created if missing.

        Raises
        ------
        OSError
            If another process writes to it, or if the file or its folder cannot be read or written.
        ValueError
            If the file is no store, was written by a newer version, or is damaged.
        """
        file = Path(path)
        require_store_or_nothing(file, read_only=read_only)
        lock = None if read_only else WriterLock(file)
        try:
            store = cls(file, connect(file, read_only=read_only), lock)
            if read_only and store.studies():
                store.provenance = store.provenances()[-1]
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return store

    def close(self) -> None:
        """Close the file and let others write to it."""
        self._connection.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin_study(
        self, text: str, cases: Iterable[tuple[str, dict[str, Any]]]
    ) -> tuple[int, int, int]:
        """Register a study and its cases in their order; one that is there already goes on.

        Parameters
        ----------
        text : str
            The study as the user wrote it.
        cases : iterable of (str, dict)
            Key and content of each case. Equal keys must have equal content; a case that is named
            twice is one. They may be millions: only some thousands are held at a time.

        Returns
        -------
        (int, int, int)
            The study's number, and how many of its cases the store did not know and did know. A
            study with the same text but other cases gets a number of its own.
        """
        stream = iter(cases)
        with explained(self.path):
            study = Registration(self._connection, text)
            while batch := list(itertools.islice(stream, _REGISTERED_AT_ONCE)):
                with transaction(self._connection):
                    for key, case in batch:
                        study.add(key, canonical(case))
            with transaction(self._connection):
                number = study.complete()
                now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
                self._run = self._connection.execute(
                    "INSERT INTO runs (study_id, begun, provenance) VALUES (?, ?, ?)",
                    (number, now, canonical(self.provenance)),
                ).lastrowid
        return number, study.new, study.known

    def pending(self, study_id: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Key and content of the cases without a result, in the study's order."""
        for key, content in self.pending_texts(study_id):
            yield key, json.loads(content)

    def pending_texts(self, study_id: int) -> Iterator[tuple[str, str]]:
        """Like :meth:`pending`, with the content as the JSON that is stored."""
        query = (
            "SELECT m.position, c.key, c.content FROM members m JOIN cases c ON c.id = m.case_id "
            "WHERE m.study_id = ? AND m.position > ? AND NOT EXISTS "
            "(SELECT 1 FROM results r WHERE r.case_id = m.case_id) ORDER BY m.position LIMIT ?"
        )
        for _, key, content in self._paged(query, study_id):
            yield key, content

    def rows(self, study_id: int | None = None) -> Iterator[Row]:
        """The cases of a study (the latest one by default) in its order, with their results."""
        query = (
            'SELECT m.position, c.key, c.content, r.case_id, r."values", r.curve, r.error, '
            "r.seconds, r.run_id FROM members m JOIN cases c ON c.id = m.case_id "
            "LEFT JOIN results r ON r.case_id = m.case_id "
            "WHERE m.study_id = ? AND m.position > ? ORDER BY m.position LIMIT ?"
        )
        known: dict[int | None, str | None] = {}
        for _, key, content, result, *found, seconds, run in self._paged(query, study_id):
            values, curve, error = found
            if run is not None and run not in known:
                known[run] = self._run_provenance(run).get("versions", {}).get("memcurve")
            status = "pending" if result is None else "done" if error is None else "failed"
            case, values, curve = (t and json.loads(t) for t in (content, values, curve))
            yield Row(key, case, status, values, curve, error, seconds, run, known.get(run))

    def counts(self, study_id: int | None = None) -> dict[str, int]:
        """How many cases of a study are "pending", "done" and "failed"."""
        with explained(self.path):
            total, finished, failed = self._connection.execute(
                "SELECT count(*), count(r.case_id), count(r.error) FROM members m "
                "LEFT JOIN results r ON r.case_id = m.case_id WHERE m.study_id = ?",
                (self._known(study_id),),
            ).fetchone()
        return {"pending": total - finished, "done": finished - failed, "failed": failed}

    def retry_failed(self, study_id: int | None = None) -> int:
        """Make the failed cases of a study pending again; returns how many there were."""
        with explained(self.path), transaction(self._connection):
            return self._connection.execute(
                "DELETE FROM results WHERE error IS NOT NULL AND case_id IN "
                "(SELECT case_id FROM members WHERE study_id = ?)",
                (self._known(study_id),),
            ).rowcount

    def put(self, key: str, outcome: Outcome) -> None:
        """Keep the outcome of a case; it is on the disk when this returns."""
        values, curve = (
            None if c is None else canonical(c) for c in (outcome.values, outcome.curve)
        )
        error = None if outcome.error is None else one_line(outcome.error)
        self.put_encoded([Encoded(key, values, curve, error, outcome.seconds)])

    def put_encoded(self, outcomes: Iterable[Encoded]) -> None:
        """Keep several outcomes in one transaction; a case that is done stays as it is."""
        with explained(self.path), transaction(self._connection):
            for outcome in outcomes:
                found = self._connection.execute(
                    "SELECT id FROM cases WHERE key = ?", (outcome.key,)
                ).fetchone()
                if found is None:
                    raise ValueError(f"`key` {outcome.key!r} is no case of {self.path}.")
                self._connection.execute(
                    "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (case_id) DO UPDATE "
                    'SET run_id = excluded.run_id, "values" = excluded."values", '
                    "curve = excluded.curve, error = excluded.error, seconds = excluded.seconds "
                    "WHERE results.error IS NOT NULL",
                    (found[0], self._run, *outcome[1:]),
                )

    def studies(self) -> list[tuple[int, str, str]]:
        """Number, text and time of creation of the studies, the one begun last at the end."""
        with explained(self.path):
            return self._connection.execute(
                "SELECT id, text, created FROM studies WHERE complete "
                "ORDER BY (SELECT max(r.id) FROM runs r WHERE r.study_id = studies.id)"
            ).fetchall()

    def provenances(self, study_id: int | None = None) -> list[dict[str, Any]]:
        """What the runs of a study gave as their provenance, the latest last, each once."""
        with explained(self.path):
            found = self._connection.execute(
                "SELECT provenance FROM runs WHERE study_id = ? GROUP BY provenance "
                "ORDER BY max(id)",
                (self._known(study_id),),
            ).fetchall()
        return [json.loads(text) for (text,) in found]

    def computed_by(self, study_id: int | None = None) -> dict[int, dict[str, Any]]:
        """The runs that computed results of a study's cases, by number, with their provenance."""
        with explained(self.path):
            found = self._connection.execute(
                "SELECT DISTINCT r.run_id FROM results r JOIN members m ON m.case_id = r.case_id "
                "WHERE m.study_id = ? AND r.run_id IS NOT NULL ORDER BY r.run_id",
                (self._known(study_id),),
            ).fetchall()
        return {run: self._run_provenance(run) for (run,) in found}

    def keys(self, study_id: int) -> set[str]:
        """The keys of the cases of a study."""
        with explained(self.path):
            found = self._connection.execute(
                "SELECT c.key FROM members m JOIN cases c ON c.id = m.case_id WHERE m.study_id = ?",
                (self._known(study_id),),
            )
            return {key for (key,) in found}

    def _run_provenance(self, run: int) -> dict[str, Any]:
        with explained(self.path):
            found = self._connection.execute(
                "SELECT provenance FROM runs WHERE id = ?", (run,)
            ).fetchone()
        content: dict[str, Any] = {} if found is None else json.loads(found[0])
        return content

    def _paged(self, query: str, study_id: int | None) -> Iterator[tuple[Any, ...]]:
        study_id, last = self._known(study_id), -1
        while True:
            with explained(self.path):
                page = self._connection.execute(query, (study_id, last, _READ_AT_ONCE)).fetchall()
            if not page:
                return
            yield from page
            last = page[-1][0]

    def _known(self, study_id: int | None) -> int:
        known = [number for number, _, _ in self.studies()]
        if not known:
            raise ValueError(f"{self.path} holds no study; run the sweep first.")
        if study_id is not None and study_id not in known:
            raise ValueError(f"`study_id` must be one of {known} in {self.path}; got {study_id!r}.")
        return known[-1] if study_id is None else study_id
