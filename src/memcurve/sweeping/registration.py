"""A study as it enters a store, case by case; one that is there already is recognised."""

from __future__ import annotations

import datetime as dt
import sqlite3


class Registration:
    """The cases of a study, compared with what the store holds under the same text.

    As long as they agree nothing is written, so that a sweep that goes on keeps its number. Where
    they differ, for instance since another version makes other cases of the same text, the study
    becomes a new one and the old one stays as it was. A registration that was interrupted is
    continued.
    """

    def __init__(self, connection: sqlite3.Connection, text: str) -> None:
        self.new = 0
        self.known = 0
        self._connection = connection
        self._text = text
        self._position = 0
        found = connection.execute(
            "SELECT id, complete FROM studies WHERE text = ? ORDER BY id DESC LIMIT 1", (text,)
        ).fetchone()
        self._study: int | None = None if found is None else int(found[0])
        self._complete = found is not None and bool(found[1])
        self._length = 0 if found is None else self._members()

    def add(self, key: str, content: str) -> None:
        """Take the next case; the caller has opened a transaction."""
        case = self._registered(key, content)
        place = None
        if self._study is not None:
            found = self._connection.execute(
                "SELECT position FROM members WHERE study_id = ? AND case_id = ?",
                (self._study, case),
            ).fetchone()
            place = None if found is None else found[0]
        if place is not None and place < self._position:
            return  # the study names it twice
        if place != self._position:
            if self._study is None or self._complete or self._position < self._length:
                self._branch()
            self._connection.execute(
                "INSERT INTO members VALUES (?, ?, ?)", (self._study, self._position, case)
            )
            self._length += 1
        self._position += 1

    def complete(self) -> int:
        """The number of the study, all of whose cases are there now."""
        if self._study is None or self._position < self._length:
            self._branch()
        self._connection.execute("UPDATE studies SET complete = 1 WHERE id = ?", (self._study,))
        assert self._study is not None
        return self._study

    def _registered(self, key: str, content: str) -> int:
        cursor = self._connection.execute(
            "INSERT INTO cases (key, content) VALUES (?, ?) ON CONFLICT (key) DO NOTHING",
            (key, content),
        )
        if cursor.rowcount == 1 and cursor.lastrowid is not None:
            self.new += 1
            return cursor.lastrowid
        case, there = self._connection.execute(
            "SELECT id, content FROM cases WHERE key = ?", (key,)
        ).fetchone()
        if there != content:
            raise ValueError(
                f"`cases` must have one content per key, but {key!r} is {there} in the store and "
                f"{content} now; give another --store."
            )
        self.known += 1
        return int(case)

    def _branch(self) -> None:
        """Go on as a new study that has the cases up to here in common with the old one."""
        old, finished = self._study, self._complete
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        self._study = self._connection.execute(
            "INSERT INTO studies (text, created) VALUES (?, ?)", (self._text, now)
        ).lastrowid
        self._complete, self._length = False, self._position
        if old is None:
            return
        self._connection.execute(
            "INSERT INTO members SELECT ?, position, case_id FROM members "
            "WHERE study_id = ? AND position < ?",
            (self._study, old, self._position),
        )
        if not finished:  # it never became a study
            self._connection.execute("DELETE FROM members WHERE study_id = ?", (old,))
            self._connection.execute("DELETE FROM studies WHERE id = ?", (old,))

    def _members(self) -> int:
        counted = self._connection.execute(
            "SELECT count(*) FROM members WHERE study_id = ?", (self._study,)
        ).fetchone()
        return int(counted[0])
